/* What the rewriter must know of a CPU besides struct cpu, to find calls in an image and to
 * lead them to the tracer: one const table for each CPU, found by litifut_arch_find(). More than
 * 500 lines, because the contract of each member stands beside it. */
#ifndef LITIFUT_REWRITER_ARCH_H
#define LITIFUT_REWRITER_ARCH_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "cpu/cpu.h"
#include "rewriter/counters.h"
#include "rewriter/frames.h"
#include "rewriter/image.h"
#include "rewriter/spawners.h"
#include "rewriter/targets.h"
#include "rewriter/thunk.h"

/* The most entry points that the tracer of any CPU has, or an island. */
#define LITIFUT_ENTRIES_MAX 28

/* The room for trampolines beside the tracer. As the name of an entry point it
 * stands for the gate; there is none in an image with no such room. */
#define LITIFUT_TRAMPOLINES "litifut_trampolines"

/* The most bytes that an island has. */
#define LITIFUT_ISLAND_BYTES_MAX 512

/* See write_onward in struct litifut_arch. */
#define LITIFUT_ONWARD_BYTES_MAX 64
#define LITIFUT_ONWARD_INTERVAL 1024

struct litifut_code_range {
	uint32_t start;
	uint32_t end;
	enum litifut_code_state state;
};

/* In place of the address of a callee: it is in another module, and this is the number of its
 * symbol in .dynsym. */
#define LITIFUT_CALLEE_SYMBOL(number) ((number) << 1 | 1u)
#define LITIFUT_CALLEE_IS_SYMBOL(callee) ((callee)&1u)
#define LITIFUT_CALLEE_SYMBOL_OF(callee) ((callee) >> 1)

/* A call that can't be patched in place, with the code around it: one that is
 * too short for a branch to the tracer, or a tail call, which sets no link
 * register that would tell the tracer where it comes from. */
struct litifut_cramped_call {
	uint32_t address;
	struct litifut_instruction instruction;
	bool tail;
	const struct litifut_section *section;
	uint32_t function_start; /* of the function that it stands in; 0, 0: unknown */
	uint32_t function_end;
	/* Lengths of the instructions before it, the nearest first; 0: none, or data. */
	uint8_t before[LITIFUT_REMEMBERED];
	bool behind_site; /* the nearest of them is a site itself, and can't be moved */
	/* Other code near by that makes room for it, see find_stone(); 0 bytes: none. */
	uint32_t stone;
	uint32_t stone_bytes;
	/* The function of the image that the register through which callees are called
	 * holds here, see known_callee(); 0: not known. */
	uint32_t known_callee;
	uint32_t argument_room; /* of its function, see struct litifut_function_facts */
	bool spawns;            /* see struct litifut_spawners */
	bool may_link;      /* a way to other code may be a call, which changes lr or the like */
	unsigned arguments; /* see struct litifut_found_site */
};

/* What a trampoline needs to replace in the original code. */
struct litifut_detour {
	uint32_t address;          /* of the bytes to be replaced */
	unsigned length;           /* of them */
	uint8_t code[8];           /* what they are replaced with */
	unsigned trampoline_bytes; /* written, a multiple of 4 */
	/* Tail calls, and calls whose link register must be kept: what the trampoline leaves in the
	 * link register for the tracer, the call's key in the instruction DB, and the instruction
	 * there. */
	uint32_t return_address;
	uint32_t instruction; /* other calls: 0, or the one for the DB if it is not theirs */
	uint32_t entry;       /* where the new code leads; 0: to the trampoline */
	bool thunk;           /* the trampoline uses a thunk */
	/* With a stone: what its bytes become, a branch to its own trampoline and,
	 * 4 bytes later, what the branch at the call leads to. */
	uint32_t stone;
	unsigned stone_bytes;
	uint8_t stone_code[12];
	uint32_t stone_trampoline;
	/* For the call frame information of the trampoline, and of the stone's. */
	struct litifut_frame_code frames[2];
};

/* Where trampolines go on to: the shared code at the start of their room, and
 * the entry points of the tracer or of the island beside them. */
struct litifut_gate {
	uint32_t address;
	const uint32_t *entries;
	/* The thunk that serves this call, bit 0 set: T32 code; 0: none. The
	 * trampoline of a tail call then goes on to the callee by itself, behind
	 * the call of the thunk, where its key is. */
	uint32_t thunk;
};

/* Room for one branch in the middle of a function, see relays.h. */
struct litifut_relay {
	uint32_t address;    /* of the code that goes elsewhere */
	uint32_t trampoline; /* where it goes */
	uint32_t target;     /* where the branch leads */
	bool numbered;       /* that is a trampoline, and may be too far for a branch */
};

/* Facts about one image that its rewriting depends on. */
struct litifut_arch_context {
	struct cpu_context cpu; /* its `facts` are the session's to free */
	/* Tables in data may hold distances of code from here (MIPS: $gp); 0: they do not. */
	uint32_t offset_base;
	struct litifut_pointers pointers;
	bool thunks;    /* calls use thunks where they can */
	bool returns;   /* of calls are recorded */
	unsigned clock; /* enum litifut_clock: the one that thunks read, if any */
	bool edges;     /* branches are recorded, not calls */
	bool bits;      /* LITIFUT_MODE=paths: branches record bits, not flags */
	bool units;     /* LITIFUT_MODE=units: `bits` is set then, but few edges record anything */
	bool numbers;   /* LITIFUT_MODE=balllarus: the same, but numbers of paths are recorded */
	bool tokens;    /* tokens.h: `units' and `numbers' are set then */
	/* The code of edges that is out of their reach has numbers, of 16 bits, and stands at
	 * multiples of 1 << grain; 0: there are no edges, or they need no numbers. */
	unsigned grain;
	/* Trampolines, or the code of edges, out of reach of their sites have numbers, in so many
	 * tables: see table_bytes of struct litifut_arch_borrow. */
	unsigned tables;
	bool system; /* it is a module for Linux, not a firmware */
	bool table;  /* events have the stack pointer and the time, see <litifut/fold.h> */
	bool counts; /* LITIFUT_MODE=counts: calls are counted where they are made */
	struct litifut_counters counters; /* then, where */
	/* Many of them stand in functions with no argument_room: thunks that serve all
	 * callers make room of their own. */
	bool own_room;
	bool symbols; /* the symbols of callees in other modules are of use */
	/* A call of a function in another module is recorded without its callee, if its lazy
	 * stub names that: a PLT entry's calls are recorded so, too. */
	bool names;
	struct litifut_spawners spawners;
};

/* A table by which unwinders find the frames of code, with an entry for each piece of
 * it, in the order of their addresses. */
struct litifut_unwind_table {
	const char *section;
	const char *relocations; /* the section of its relocations */
	uint32_t type;           /* sh_type */
	unsigned entry_bytes;
	/* How many entries are reserved where trampolines have some, and how many more for each
	 * trampoline of a call; and where none has. */
	size_t least_entries;
	size_t fixed_entries;
	size_t call_entries;
	/* Writes entries that keep their room through a link. */
	void (*reserve)(uint8_t *bytes, size_t entries);
	/* Fills them for `codes`, trampolines in the order in which they were made, as far
	 * as these stand in `room`. Returns the section that was changed; NULL: the image
	 * has no such entries. */
	const struct litifut_section *(*write)(const struct litifut_image *image,
					       const struct litifut_arch_context *context,
					       const struct litifut_symbol *room,
					       const struct litifut_frame_code *codes,
					       size_t count);
};

/* See hosts.h. */
#define LITIFUT_HOST_PIECES 4

struct litifut_host_piece {
	size_t bytes;            /* at the start of a function that makes room */
	size_t trampoline_bytes; /* for what stood there */
};

/* A direct branch or call to `target` in the same function, or a jump through a register. */
struct litifut_function_branch {
	uint32_t target;
	uint32_t address;
};

#define LITIFUT_BRANCH_BY_REGISTER 0u

/* Where control can arrive other than from the instruction before. */
struct litifut_arrivals {
	const struct litifut_targets *all; /* as litifut_targets_of_all() has it */
	struct litifut_targets data;       /* of these what data may name, but for symbols */
	/* Landing pads, and where branches lead from one function into another. */
	struct litifut_targets elsewhere;
};

/* What thunks need of the code of a whole function. */
struct litifut_function_facts {
	/* Address of the instruction that makes room for callees' arguments on the stack; 0:
	 * it makes none, or may keep something else there. */
	uint32_t argument_room;
	uint32_t pointer; /* the global pointer that it takes, at link time; 0: not known */
	unsigned pointer_register; /* that holds it, once computed, up to the end; 0: none */
	/* Sorted by target; to be freed. SIZE_MAX: not all that leads to its code is known. */
	struct litifut_function_branch *branches;
	size_t branch_count;
};

/* How much the code that the rewriter makes takes, roughly: the linker wrapper reserves it. */
struct litifut_arch_sizes {
	bool indirect_in_db; /* calls through a register have an entry in the DB */
	/* What the trampolines of a cramped call and of a tail call take, with some
	 * slack. */
	size_t call_trampoline_bytes;
	size_t tail_trampoline_bytes;
	/* What a thunk takes, of which each callee has one, and one that leads to code of
	 * this encoding. */
	size_t thunk_bytes;
	size_t near_thunk_bytes;
	unsigned thunk_encoding;
	/* The same where the code is not for newer CPUs (struct cpu_objects), the second one of
	 * code that is in another encoding than thunk_encoding; 0: there are none. */
	size_t older_thunk_bytes;
	size_t older_near_thunk_bytes;
	/* With thunks, one direct call of this many has an entry in the DB all the same, at
	 * the most. */
	unsigned direct_in_db;
	/* How far a call that was patched gets, at the least, either way; and one in
	 * another encoding than that of thunks. */
	uint32_t reach;
	uint32_t far_reach;
	/* Bytes of code from one island to the next when their places are exact. Half
	 * of it lies before an island and half behind; the rest is for the code that
	 * a map does not show, such as padding. */
	uint32_t island_interval;
};

/* Takes an address that code forms, the last part of it at `at`. */
typedef void litifut_take_formed(void *context, uint32_t at, uint32_t address);

/* What depends on the CPU in where control goes. Each member may be NULL. */
struct litifut_arch_flow {
	/* What the code at the target of this direct call, where no function starts, makes
	 * of it: a call through a register, `call` is changed then; or no call at all, as
	 * refuse() says it. It stands in `function` (may be NULL) and in `range` of
	 * `section`. NULL: a CPU has no such code. */
	unsigned (*judge_target)(const struct litifut_image *image,
				 const struct litifut_arch_context *context,
				 const struct litifut_section *section,
				 const struct litifut_code_range *range,
				 const struct litifut_symbol *function,
				 struct litifut_instruction *call);

	/* `branch` leads to a nameless stub, which the linker has put in between because
	 * of an erratum: returns where that leads, Thumb bit included, and gives `branch`
	 * the condition that the linker has moved into the stub, with that target. 0:
	 * the stub is of no known form. NULL: a CPU has none. */
	uint32_t (*behind_stub)(const struct litifut_image *image,
				struct litifut_instruction *branch);
	/* Is this LITIFUT_CLASS_BRANCH_INDIRECT or _COMPUTED for certain a tail call, not
	 * a return, a switch or a computed goto? `data` holds the addresses that data names
	 * (litifut_targets_add_data()). NULL: indirect tail calls are not traced. */
	bool (*is_indirect_tail)(const struct litifut_image *image,
				 const struct litifut_arch_context *context,
				 const struct litifut_cramped_call *call,
				 const struct litifut_targets *data);
	/* May one that is not for certain a tail call be one all the same? It is listed then.
	 * NULL: none is. */
	bool (*may_be_tail)(const struct litifut_image *image,
			    const struct litifut_arch_context *context,
			    const struct litifut_cramped_call *call);

	/* Adds to `targets` what depends on the CPU: table branches, pointers in code. `ranges`
	 * are those of code_ranges() for `section` of `image`. */
	void (*add_targets)(const struct litifut_image *image,
			    const struct litifut_arch_context *context,
			    const struct litifut_section *section,
			    const struct litifut_code_range *ranges, size_t count,
			    struct litifut_targets *targets);
	/* Adds where jumps in `range` to addresses that code computes may lead, and rather more:
	 * none of these need be a label. NULL: nothing is known of such jumps. */
	void (*add_computed)(const struct litifut_image *image,
			     const struct litifut_section *section,
			     const struct litifut_code_range *range,
			     struct litifut_targets *targets);
	/* Takes the addresses that code of `section` forms, as far as the instructions show
	 * them, and some that only look like it: those of each function in a row. */
	void (*form_addresses)(const struct litifut_image *image,
			       const struct litifut_arch_context *context,
			       const struct litifut_section *section,
			       const struct litifut_code_range *ranges, size_t count,
			       litifut_take_formed *take, void *with);
	/* Where an instruction leads that ends a block by a register, if it stands for a branch
	 * that is too far for one; 0: it does not, or that is not known. NULL: there are none. They
	 * are among what add_targets() adds. */
	uint32_t (*far_target)(const struct litifut_image *image,
			       const struct litifut_arch_context *context,
			       const struct litifut_section *section, uint32_t address);
	/* Is the code nothing but what fills up to where something else begins? NULL: that is not
	 * known of any. */
	bool (*only_fills)(const uint8_t *code, uint32_t bytes, bool thumb);
	/* Takes what the exception tables of `image` say of its code, see landing_pads.h. */
	void (*landing_pads)(const struct litifut_image *image,
			     void (*take)(void *context, uint32_t start, uint32_t end,
					  uint32_t pad),
			     void *context);
	/* Adds the routines of the program that its tables for the unwinder name. NULL: there the
	 * addresses are data as others are. */
	void (*add_personalities)(const struct litifut_image *image,
				  struct litifut_targets *targets);
};

/* For calls that can't be patched in place, and for tail calls: trampolines, in rooms that begin
 * with a gate. Members that say so may be NULL or 0. */
struct litifut_arch_detour {
	/* Room before the first trampoline for code that all share; the most bytes of one. */
	size_t gate_bytes;
	uint8_t gate_rules[16]; /* how the stack changes in it: DW_CFA_...; or 0s */
	/* Trampolines must be in reach of their call, so islands hold some as well. */
	bool trampolines_in_islands;
	size_t trampoline_bytes_max;
	void (*write_gate)(const struct litifut_arch_context *context, uint32_t address,
			   const uint32_t *entries, uint8_t *code);
	/* Do the branches of that code reach `entries`? NULL: always. */
	bool (*gate_works)(const uint32_t *entries);
	/* In a large room the tracer gets out of reach of trampolines. Writes to `code`, standing
	 * at `address` (multiple of 16), ways that lead on to `entries`, and puts their own
	 * addresses into `entries`, in the place of those that they serve. Returns how many bytes,
	 * a multiple of 16, at most LITIFUT_ONWARD_BYTES_MAX; 0, and nothing changed: it is near
	 * enough still, or too far. It is asked at least every LITIFUT_ONWARD_INTERVAL bytes.
	 * NULL: a CPU has no such rooms. */
	size_t (*write_onward)(const struct litifut_arch_context *context, uint32_t address,
			       uint32_t *entries, uint8_t *code);
	/* Can this call go through a trampoline, with the code around it moved there
	 * if need be? */
	bool (*can_detour)(const struct litifut_arch_context *context,
			   const struct litifut_cramped_call *call,
			   const struct litifut_targets *targets);
	/* For a call that can_detour() has denied: finds code in reach of it that can
	 * make room for it, sets stone and stone_bytes of `call` and returns true.
	 * `ranges` are those of its section; `taken` holds every halfword that other
	 * sites change. May be NULL. */
	bool (*find_stone)(const struct litifut_arch_context *context,
			   const struct litifut_code_range *ranges, size_t count,
			   const struct litifut_targets *targets,
			   const struct litifut_targets *taken, struct litifut_cramped_call *call);
	/* 0, or how far from a call it finds such code, if it looks for it only in the function
	 * that `call` names, which may be another one than that of the call. */
	uint32_t stone_reach;
	/* Writes the trampoline of a call for which one of the two holds to `trampoline`,
	 * standing at `address` (multiple of 4), and fills `detour`. False: out of reach. */
	bool (*write_detour)(const struct litifut_arch_context *context,
			     const struct litifut_cramped_call *call, uint32_t address,
			     const struct litifut_gate *gate, uint8_t *trampoline,
			     struct litifut_detour *detour);

	/* As write_detour for a call out of whose reach the trampoline is: its new code
	 * goes to the island with `island_entries` and names the trampoline by a
	 * number. False: that is out of reach as well. NULL: a CPU has no such thing,
	 * and puts rooms for trampolines beside islands. */
	bool (*encode_numbered)(const struct litifut_arch_context *context,
				const struct litifut_cramped_call *call, uint32_t address,
				const struct litifut_gate *gate, const uint32_t *island_entries,
				uint8_t *trampoline, struct litifut_detour *detour);
};

/* For CPUs whose branches are short: code of the tracer in functions of the program that make
 * room for it, at their start (hosts.h) and in the middle (relays.h). */
struct litifut_arch_borrow {
	/* The pieces of an island, each for a function of its own. The first does for
	 * all calls, the others are for thunks. Their number is 0 or LITIFUT_HOST_PIECES. */
	struct litifut_host_piece host_pieces[LITIFUT_HOST_PIECES];
	size_t host_piece_count;
	/* An island has a place to lead to for each table of trampolines, of so many bytes, and so
	 * many others. */
	size_t table_bytes;
	unsigned tables_max;
	unsigned other_places;
	/* Can the first `bytes` of the function at `address`, of `size` bytes in
	 * `section`, be moved away? They are those of a piece. */
	bool (*can_host)(const struct litifut_arch_context *context,
			 const struct litifut_section *section, uint32_t address, uint32_t size,
			 size_t bytes, const struct litifut_targets *targets);
	/* Writes the trampoline of such a function to `moved`, standing at `trampoline`,
	 * and a piece of an island, with the way to the trampoline, over the function's
	 * start, `code`. The first piece fills *island_entries as write_island does, the
	 * others, which lead to it, change what is there. */
	void (*write_host)(const struct litifut_arch_context *context, size_t piece,
			   uint32_t address, uint32_t trampoline, const uint32_t *entries,
			   uint8_t *code, uint8_t *moved, uint32_t *island_entries);

	/* What each takes of the code, at what offset of that the new branch stands, and
	 * the room for what was there. */
	size_t relay_bytes;
	size_t relay_entry;
	size_t relay_trampoline_bytes;
	/* Which runs of relay_bytes of the function at [start, end) of `section` can go
	 * elsewhere? `targets` are those of litifut_targets_of_all(). `runs`, with room for
	 * all that there can be, gets their addresses, ascending; returns how many. */
	size_t (*find_runs)(const struct litifut_image *image,
			    const struct litifut_arch_context *context,
			    const struct litifut_section *section, uint32_t start, uint32_t end,
			    const struct litifut_targets *targets, uint32_t *runs);
	/* Writes the relay over its run, `code`, and what was there to `moved`, standing at
	 * relay->trampoline; `frames` gets the two pieces of that. What is too far is reached
	 * over the island with `island_entries`. False, and nothing written: that is too far
	 * as well. */
	bool (*write_relay)(const struct litifut_arch_context *context,
			    const struct litifut_relay *relay, const struct litifut_gate *gate,
			    const uint32_t *island_entries, uint8_t *code, uint8_t *moved,
			    struct litifut_frame_code *frames);
	/* As write_detour, for a call that leads to `step` first, the branch of a relay which
	 * leads to the start of the trampoline. */
	bool (*write_step)(const struct litifut_arch_context *context,
			   const struct litifut_cramped_call *call, uint32_t address,
			   const struct litifut_gate *gate, uint32_t step, uint8_t *trampoline,
			   struct litifut_detour *detour);
};

/* For the thunk engine. Members that say so may be NULL. */
struct litifut_arch_thunks {
	/* Fills `facts` for the function at [start, end) of `section`; free facts->branches.
	 * NULL: thunks need to know nothing of functions. */
	void (*function_facts)(const struct litifut_image *image,
			       const struct litifut_arch_context *context,
			       const struct litifut_section *section, uint32_t start, uint32_t end,
			       struct litifut_function_facts *facts);

	/* The function that the register which this call goes through, or would go
	 * through but for the linker, holds for certain: a link-time address in the
	 * image; or LITIFUT_CALLEE_SYMBOL, if that is one of struct litifut_spawners or all are of
	 * use; 0: not known. `facts` are those of its function. NULL: a CPU has no such
	 * register. */
	uint32_t (*known_callee)(const struct litifut_image *image,
				 const struct litifut_arch_context *context,
				 const struct litifut_cramped_call *call,
				 const struct litifut_function_facts *facts,
				 const struct litifut_arrivals *arrivals);
	/* For it: adds to `elsewhere` where branches lead from one function into another. */
	void (*add_elsewhere)(const struct litifut_image *image,
			      const struct litifut_arch_context *context,
			      struct litifut_targets *elsewhere);

	/* Why this image can't use thunks, for people; static; NULL: it can. It may run on
	 * CPUs that they don't run on, or with a C library that does not suit them. */
	const char *(*refuses_thunks)(const struct litifut_image *image);
	/* The same of LITIFUT_MODE=counts, whose thunks use nothing of the C library. NULL: all
	 * images can. */
	const char *(*refuses_counters)(const struct litifut_image *image);
	/* Sites share thunks, which find the counter of a site by its return address. Else each
	 * site has a thunk with its counter. */
	bool counts_by_return;
	/* Which thunk serves this call? */
	struct litifut_thunk (*thunk)(const struct litifut_image *image,
				      const struct litifut_arch_context *context,
				      const struct litifut_cramped_call *call);
	/* A trampoline that uses a thunk has an entry in the DB all the same, for
	 * when the thunk can't store its event. */
	bool thunks_need_db;
	/* Writes the thunk to `code`, standing at `address` (multiple of 4). `entries`
	 * are those of its room. Returns its size; 0: what it leads to is out of reach. */
	unsigned (*write_thunk)(const struct litifut_arch_context *context,
				const struct litifut_thunk *thunk, uint32_t address,
				const uint32_t *entries, uint8_t *code);

	/* Where the tracer brings thunks that several callees share, which read no clock: writes
	 * those that do to `code`, standing at `address` (multiple of 16), and puts their
	 * addresses into the `entries` of the tracer. Returns the size of all, shared_bytes;
	 * `frames` gets what is to be known of them and may be NULL. NULL: a CPU has none. */
	size_t (*write_shared)(const struct litifut_arch_context *context, uint32_t address,
			       uint32_t *entries, uint8_t *code, struct litifut_frames *frames);
	size_t shared_bytes;
	/* The recorder can read the counter that thunks would. */
	bool has_counter;

	/* What stands on the stack where in that thunk; `frame` has its start and its
	 * size by then. NULL: nothing. */
	void (*thunk_frame)(const struct litifut_arch_context *context,
			    const struct litifut_thunk *thunk, struct litifut_frame_code *frame);
};

struct litifut_arch_edges;
struct litifut_exit;
struct litifut_exit_code;
struct litifut_exit_place;
struct litifut_exit_ways;

/* Recording of returns, see exits.h. Without it, none are. */
struct litifut_arch_returns {
	/* Bytes between a call instruction and the one behind it that is executed before the
	 * callee. */
	uint8_t slot_bytes;
	/* Is everything known that leads into the code of the function at [start, end)? May
	 * add to `targets`, and what of that is not led to by branches to `labels` as well.
	 * NULL: that of every function is. */
	bool (*knows_function)(const struct litifut_image *image,
			       const struct litifut_arch_context *context,
			       const struct litifut_section *section, uint32_t start, uint32_t end,
			       struct litifut_targets *targets, struct litifut_targets *labels);
	/* Why the return point exit->address can't be patched, or LITIFUT_EXIT_PATCHED: how
	 * many bytes move is in *exit then. */
	unsigned (*judge_exit)(const struct litifut_exit_place *place, struct litifut_exit *exit);
	/* May more code move from this return point, which has been judged, than it takes? Sets
	 * `bytes`, and in *room where the rest stands, to which branches to another return point
	 * are led. NULL: no code lends room. */
	bool (*can_lend)(const struct litifut_exit_place *place, struct litifut_exit *exit,
			 uint32_t *room);
	/* The instruction at `address`, of code that the walk over the code does not know all
	 * branches of. NULL: it does. */
	struct litifut_instruction (*branch_at)(const struct litifut_arch_context *context,
						const struct litifut_section *section,
						uint32_t address);
	/* Makes the branch in `code`, of `length` bytes at `address`, lead to `target`. False: that
	 * is out of its reach. */
	bool (*lead_branch)(const struct litifut_arch_context *context,
			    enum litifut_code_state state, uint32_t address, unsigned length,
			    uint32_t target, uint8_t *code);
	/* Writes the trampoline, standing at `address`. False: something is out of reach. */
	bool (*write_exit)(const struct litifut_arch_context *context,
			   const struct litifut_cramped_call *call, const struct litifut_exit *exit,
			   uint32_t address, const struct litifut_exit_ways *ways,
			   struct litifut_exit_code *code);
	size_t exit_bytes_max; /* of a trampoline, without that of a stone */
	/* About what that of a usual call takes, with its stone; and where it is
	 * position-independent and not in the reach of a branch. */
	uint8_t exit_bytes_usual[2];
	uint8_t bits_bytes_usual; /* LITIFUT_MODE=paths: so many more, with branches around it */
	uint32_t exit_thunk_bit;  /* in the address of the thunk: its encoding */
};

/* What unwinders and debuggers must know of the code that the rewriter makes. Without it, it
 * has no frames. */
struct litifut_arch_frames {
	struct litifut_frame_registers frame_registers;
	const struct litifut_named_frame *named_frames; /* or NULL */
	uint32_t debug_section_type;                    /* sh_type of .debug_frame */
	const struct litifut_unwind_table *unwind;      /* NULL: unwinders use .eh_frame */
	uint32_t frame_relocation; /* of an address in .eh_frame, if the tracer's code has an entry
				    */
};

struct litifut_arch {
	const struct cpu *cpu;
	/* Name of the tracer's entry points, by the index that entry() returns. */
	const char *entry_names[LITIFUT_ENTRIES_MAX];
	size_t entry_count;
	/* Those from this number on may be absent, in a tracer for images that use none of them.
	 * 0: all are there. */
	size_t common_entries;
	/* Bytes of one island (see write_island). */
	size_t island_bytes;
	/* For estimates of the linker wrapper, before there is an image. */
	const struct litifut_arch_sizes *sizes;

	/* Refuses an image that is of this machine and can't be traced (R6, n32, big-endian
	 * ARM, ...) with one clear message, and fills `context` otherwise. NULL: no image is
	 * refused, and the CPU needs no facts. */
	enum litifut_status (*examine)(const struct litifut_image *image,
				       struct litifut_arch_context *context,
				       struct litifut_error *error);

	/* Splits the code of one executable section into ranges, ascending, without
	 * overlap. *ranges is malloc'ed, the caller frees it. */
	enum litifut_status (*code_ranges)(const struct litifut_image *image,
					   const struct litifut_section *section,
					   struct litifut_code_range **ranges, size_t *count,
					   struct litifut_error *error);

	/* Why this call must be left alone: an enum litifut_site_reason;
	 * LITIFUT_SITE_PATCHED when it need not. `following` is the code after the
	 * instruction (delay slot), `following_bytes` 0 at the end of the section, and
	 * `preceding_bytes` stand before the instruction; `callee_name` is the symbol at
	 * a direct target if its name is a reserved one, else "". NULL: there is no reason. */
	unsigned (*refuse)(const struct litifut_arch_context *context,
			   const struct litifut_instruction *instruction, uint32_t address,
			   const uint8_t *following, size_t following_bytes, size_t preceding_bytes,
			   const char *callee_name);

	/* Which entry point serves this call: index into entry_names. NULL: the first. */
	unsigned (*entry)(const struct litifut_arch_context *context,
			  const struct litifut_instruction *instruction);

	/* True when the tracer finds the callee of this call in the instruction DB. NULL: of
	 * every call. */
	bool (*needs_db)(const struct litifut_arch_context *context,
			 const struct litifut_instruction *instruction);

	/* Writes one island of island_bytes, standing at `address` (8-byte aligned):
	 * code for each entry point that jumps to the tracer's own entry, `entries`,
	 * keeping every register. *island_entries gets the address of each. NULL: no site of
	 * a program is too far from the tracer. */
	void (*write_island)(const struct litifut_arch_context *context, uint32_t address,
			     const uint32_t *entries, uint8_t *code, uint32_t *island_entries);

	/* Each is NULL where a CPU does without; see LITIFUT_ARCH_GET(). */
	const struct litifut_arch_flow *flow;
	const struct litifut_arch_detour *detour;
	const struct litifut_arch_borrow *borrow;
	const struct litifut_arch_thunks *thunks;
	const struct litifut_arch_frames *frames;
	const struct litifut_arch_returns *returns;
	const struct litifut_arch_edges *edges; /* see edges.h; without it, none are recorded */
};

/* A number or a pointer of one of these tables; 0 without the table. */
#define LITIFUT_ARCH_GET(arch, table, member) ((arch)->table ? (arch)->table->member : 0)

static inline unsigned litifut_arch_entry(const struct litifut_arch *arch,
					  const struct litifut_arch_context *context,
					  const struct litifut_instruction *instruction)
{
	return arch->entry ? arch->entry(context, instruction) : 0;
}

static inline bool litifut_arch_needs_db(const struct litifut_arch *arch,
					 const struct litifut_arch_context *context,
					 const struct litifut_instruction *instruction)
{
	return !arch->needs_db || arch->needs_db(context, instruction);
}

/* The table of the CPU with this e_machine, or NULL. */
const struct litifut_arch *litifut_arch_find(unsigned machine);

/* The table of the CPU with this number, counted from 0; NULL: there are no more. */
const struct litifut_arch *litifut_arch_number(size_t number);

#endif
