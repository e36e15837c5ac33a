/* What host programs must know of a CPU: one const table for each, found by cpu_find(). All
 * functions work on bytes and addresses, so they are unit-tested on any machine and every
 * host program links them. What the rewriter must know besides, to make room for code of the
 * tracer, is struct litifut_arch. docs/porting.md says what a new CPU needs. */
#ifndef LITIFUT_CPU_CPU_H
#define LITIFUT_CPU_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <litifut/module_format.h>

#include "cpu/instruction.h"
#include "cpu/linkage.h"
#include "cpu/objects.h"
#include "cpu/parameters.h"

struct cpu_frame;
struct cpu_step;

/* How instructions of one image are read and written. */
struct cpu_context {
	bool big_endian;
	bool position_independent; /* absolute jumps have no known region */
	/* What only the CPU of the image understands; made by `examine` of struct
	 * litifut_arch, malloc'ed by it or NULL, which stands for all zeros. */
	void *facts;
};

/* What the CPU's linkers leave in images. Optional members are NULL or 0 where there is no
 * such thing. */
struct cpu_linkage {
	/* Types of the dynamic relocations of slots that calls go through. */
	unsigned jump_slot;
	unsigned global_data;
	unsigned indirect_function;   /* optional: IRELATIVE */
	uint32_t byte_invariant_flag; /* optional: in e_flags of a big-endian file whose code is
					 little-endian */
	/* Where a PLT entry, a veneer or a lazy stub at `address` leads (bit 0 set: a compressed
	 * instruction set). Other code gives LITIFUT_LEADS_NOWHERE, or, when it looks like a
	 * veneer, where it branches. */
	struct litifut_lead (*follow)(const struct litifut_code_reader *code, uint32_t address);
	/* Optional: does the linker give this name to code that only passes a call on? */
	bool (*is_veneer)(const char *name);
	/* Optional: the label at the start of a row of veneers that have no names. */
	const char *veneer_row;
	/* Optional: is this the name of a mapping symbol, and of which code? *state is set. */
	bool (*mapping)(const char *name, enum litifut_code_state *state);
};

struct cpu {
	unsigned machine; /* e_machine */
	const char *name; /* "arm", "mips": that of its folders */
	const char *title;
	/* The compiler's option for debugging information that libdw reads; NULL: -g. */
	const char *debug_option;
	struct cpu_linkage linkage;
	/* For the linker wrapper, before there is an image. */
	const struct cpu_objects *objects;

	/* Decodes the instruction at `code` (of which `available` bytes can be read),
	 * which stands at link-time address `address`. Returns its length in bytes, or
	 * 0 when fewer bytes are available than it needs. */
	unsigned (*decode)(const struct cpu_context *context, const uint8_t *code, size_t available,
			   uint32_t address, enum litifut_code_state state,
			   struct litifut_instruction *instruction);

	/* Optional. How many bytes from `code` on hold only instructions that are none of the
	 * calls, branches and others of which decode() returns more than their length. It may
	 * stop at any of them; 0: the first one must be decoded. *before gets the lengths of
	 * those passed over, the nearest in the lowest byte, and what was there before above
	 * them. Most code is passed over by it. */
	uint32_t (*skip)(const struct cpu_context *context, const uint8_t *code, uint32_t available,
			 enum litifut_code_state state, uint64_t *before);

	/* Optional. `setter` has left the address after `branch` in the link register: turns
	 * that into the call that it is, with `linked` set. `adjacent`: nothing stands between
	 * the two. */
	void (*link)(const struct litifut_instruction *setter, bool adjacent,
		     struct litifut_instruction *branch);

	/* Optional. Where control goes behind the instruction at `code`, see cpu/step.h. Returns
	 * its length, without a delay slot; 0 as decode() does. *block is how many instructions of
	 * a block that one of them makes conditional (`it`) are to come; 0 at the start. */
	unsigned (*step)(const struct cpu_context *context, const uint8_t *code, size_t available,
			 uint32_t address, enum litifut_code_state state, unsigned *block,
			 struct cpu_step *step);

	/* Optional: for a CPU with exclusive accesses, which step() reports. Returns how many bytes
	 * stand before the first place in `code` that may be one, or `available`. */
	uint32_t (*find_exclusive)(const struct cpu_context *context, const uint8_t *code,
				   uint32_t available, enum litifut_code_state state);

	/* Optional. `code` is that of a function from its start to a call or a jump by a register,
	 * which are the last of its `bytes`. May the register hold an address from the module's
	 * table of names (MIPS: the GOT)? On other CPUs such calls lead to code of the linker. */
	bool (*leads_by_name)(const struct cpu_context *context, const uint8_t *code, size_t bytes);

	/* Optional. What the instruction at `code` does to the frame of its function, see
	 * cpu/frame.h. Returns its length in bytes; 0 as decode() does. */
	unsigned (*track)(const struct cpu_context *context, const uint8_t *code, size_t available,
			  enum litifut_code_state state, struct cpu_frame *frame);

	/* Optional: bytes of the return address that a call pushes, by e_flags. Without it there is
	 * a link register. */
	unsigned (*pushed)(unsigned elf_flags);

	/* Return address of a call at `address`: what the link register holds. */
	uint32_t (*return_address)(const struct litifut_instruction *instruction, uint32_t address);

	/* How far, in bytes either way, the instruction that replaces this call gets;
	 * UINT32_MAX: everywhere. Slightly less than the exact limit. */
	uint32_t (*reach)(const struct cpu_context *context,
			  const struct litifut_instruction *instruction);

	/* Writes to `code` the instruction that replaces the call at `address` and goes
	 * to the code at `entry` (ARM: bit 0 set when it is T32); as long as the
	 * original. False: out of reach, or it can't change the state. */
	bool (*encode_call)(const struct cpu_context *context,
			    const struct litifut_instruction *instruction, uint32_t address,
			    uint32_t entry, uint8_t *code);

	/* Optional, for verifying with capstone: cs_arch and cs_mode of code in `state`. */
	void (*disassembler)(const struct cpu_context *context, enum litifut_code_state state,
			     int *cs_arch, int *cs_mode);
	/* With disassembler: is this cs_insn, which has its details, a call or a jump to an
	 * immediate? *target is set, bit 0 clear or not. */
	bool (*disassembled_target)(const void *instruction, uint32_t *target);

	/* For images whose list of sites is lost. The address of the call instruction that
	 * leaves `return_address` (as the link register holds it) behind. */
	uint32_t (*site_before)(uint32_t return_address);
	/* The call site of an entry of the instruction DB. The DB does not have the place of a
	 * tail call: its address is 0. Kind 0: not a call. */
	struct litifut_site (*site_of_entry)(struct litifut_db_entry entry);

	/* Optional. Where the parameters of a function are, see cpu/parameters.h. */
	cpu_place_parameters *place_parameters;

	/* LITIFUT_MODE=paths: how many bytes behind the start of an edge's code the call that
	 * records the start of a block returns to, at most, and no other one: of plain code and of
	 * Thumb code; 0: there is no such mode. */
	uint8_t edge_call_bytes[2];
	/* And of a firmware: the address of an interrupt says whether the bit or record that the
	 * tracer's code was to store is stored: if not, it is that of the call of that code, with
	 * bit 0 set. On other CPUs it is behind that call in both cases. */
	bool interrupts_exactly;
};

/* The CPU with this e_machine, or NULL. */
const struct cpu *cpu_find(unsigned machine);

/* The CPU with this number, counted from 0; NULL: there are no more. */
const struct cpu *cpu_number(size_t number);

static inline bool cpu_is_veneer(const struct cpu *cpu, const char *name)
{
	return cpu->linkage.is_veneer && cpu->linkage.is_veneer(name);
}

#endif
