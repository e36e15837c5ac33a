/* What rewriting a firmware needs of a CPU: one const table for each. Pure code, on bytes
 * and addresses. */
#ifndef LITIFUT_REWRITER_FIRMWARE_CPU_H
#define LITIFUT_REWRITER_FIRMWARE_CPU_H

#include "rewriter/arch.h"
#include "rewriter/sites.h"

#define LITIFUT_FIRMWARE_STUB_BYTES_MAX 128
#define LITIFUT_FIRMWARE_PATCHES 2

/* One site, and what its stub is to do. */
struct litifut_firmware_call {
	struct litifut_cramped_call call;
	bool detour;      /* its code has to move, see can_detour in struct litifut_arch */
	bool pointer;     /* through a register */
	bool vector;      /* an entry of the vector table; `call` has its address only */
	bool small;       /* for size */
	bool times;       /* records have times */
	bool spans;       /* calls and returns are events, */
	bool stream;      /* or calls only */
	bool timed;       /* and this call is timed, by the code at count_small */
	bool switched;    /* the program switches recording off and on: see `step' */
	bool far;         /* no branch at the stub reaches the callee */
	bool baseline;    /* the CPU has the small instruction set (v6-M, v8-M Baseline) */
	uint32_t callee;  /* of a direct call: where the stub goes on to, bit 0 set: Thumb */
	uint32_t number;  /* of its event, or of the first word of its entry in the table */
	uint32_t counter; /* address of that word */
	uint32_t step;    /* of the variable whose bit 0 is 0 while nothing is recorded */
	/* Addresses of the shared code that counts. */
	uint32_t count_small;
	uint32_t count_pointer;
	uint32_t count_carry;
	uint32_t count_return; /* see calls_in_stub */
};

/* New bytes for the code of the program. */
struct litifut_firmware_patch {
	uint32_t address;
	uint8_t bytes[12];
	unsigned length;
	uint32_t target;    /* where the branch in them leads */
	unsigned branch_at; /* its offset */
	bool is_address;    /* they are not code, but the address of code */
};

struct litifut_firmware_stub {
	uint8_t code[LITIFUT_FIRMWARE_STUB_BYTES_MAX];
	unsigned bytes; /* a multiple of 4, whatever the addresses are */
	/* The site, and other code if that has to make room for it (see find_stone in struct
	 * litifut_arch); a length of 0 ends the list. */
	struct litifut_firmware_patch patches[LITIFUT_FIRMWARE_PATCHES];
};

struct litifut_firmware_cpu {
	unsigned machine;
	enum litifut_code_state state; /* of all code */
	/* See litifut_firmware_runtime(). */
	const char *(*runtime)(unsigned elf_flags, const uint8_t *bytes, uint32_t size);
	/* Optional: the section that these bytes are in. */
	const char *attributes;
	/* Completes `context`, which `examine` has made, for the CPU of the runtime `name`. Returns
	 * whether it has the small instruction set, see struct litifut_firmware_call. */
	bool (*prepare)(const char *name, struct litifut_arch_context *context);
	/* Optional: makes functions of the labels that are called; the symbol table in the
	 * image's bytes is changed. */
	enum litifut_status (*name_functions)(struct litifut_image *image,
					      struct litifut_error *error);
	/* Adds to `sites`, which stay sorted, the entries of the vector table. */
	enum litifut_status (*add_vectors)(const struct litifut_image *image,
					   struct litifut_site_list *sites,
					   struct litifut_error *error);
	/* Optional: the address that the stack is empty at when the program starts, 0: not known.
	 */
	uint32_t (*first_stack)(const struct litifut_image *image);
	/* Optional: where the CPU begins, if the ELF header may say another address. */
	uint32_t (*reset)(const struct litifut_image *image);
	/* The start-up code makes calls before it has cleared .bss. */
	bool calls_before_ram;
	/* Optional, for it: where the call or jump through a register at `site`, in the function at
	 * `function`, leads; 0: not known. */
	uint32_t (*pointed_callee)(const struct litifut_image *image,
				   const struct litifut_arch_context *context, uint32_t function,
				   uint32_t site);
	/* The same of the first jump through a register of that function which leads to a known
	 * place. */
	uint32_t (*pointed_jump)(const struct litifut_image *image,
				 const struct litifut_arch_context *context, uint32_t function);
	/* Its runtime can time calls. */
	bool times;
	/* Words of a record with times, whose sums are carried if it has less than
	 * LITIFUT_RECORD_TIMES; 0: that many. */
	unsigned times_words;
	/* Calls are timed by code that finds the record of a stub by its address. What it adds to a
	 * call is known: no calls on the device measure it. */
	bool times_are_small;
	/* Bytes of an entry of the pool of open calls, where calls are timed; NULL: OPEN_BYTES of
	 * <litifut/firmware_pool.h>. */
	unsigned (*open_bytes)(const struct litifut_arch_context *context);
	/* Bytes of an event in the ring; 0: its runtime does not record events. */
	unsigned event_bytes;
	unsigned ring_alignment; /* of the ring in the memory, a power of two */
	/* The stubs of events make the calls themselves: there is no pool of open calls, any call
	 * returns to its stub, and the return of a tail call is not recorded. */
	bool calls_in_stub;
	/* The code that records a call has the bits above these of the number of its event, so that
	 * there is one for each value of them that a program needs. 0: there is one for all. */
	unsigned number_bits;
	/* Optional: the entry of the vector table for the interrupt of the timer that is the clock.
	 * LITIFUT_ERROR_UNSUPPORTED: that timer is not known, or the interrupt is not free. */
	enum litifut_status (*clock_vector)(const struct litifut_image *image, uint32_t *entry,
					    struct litifut_error *error);
	/* Optional: the number of another interrupt of that timer for which the program has a
	 * handler, so that it uses the timer itself; 0: there is none. */
	uint32_t (*clock_user)(const struct litifut_image *image);
	/* With it: the name of a function that sets that timer up; NULL: there is none. */
	const char *(*clock_setter)(const struct litifut_image *image);
	/* Optional: what a name that is not a symbol of the program stands for, as headers of this
	 * CPU have it; NULL: nothing is known of it. Static. */
	const char *(*explain_name)(const char *name);
	/* Optional: how the names of functions of the compiler's library begin behind which control
	 * goes on within the function that has called them, or has jumped to them, where a table or
	 * a register says. The last one is NULL. */
	const char *const *helpers;
	/* Optional: an error if the device of the image lacks the peripheral that this port of the
	 * tracer uses, at this address. */
	enum litifut_status (*check_port)(const struct litifut_image *image, const char *port,
					  uint32_t address, struct litifut_error *error);
	/* Optional: the entry for the interrupt with this number, as the device's manual counts.
	 * False: there is none, or the program has its own handler. */
	bool (*free_vector)(const struct litifut_image *image, uint32_t number, uint32_t *entry);
	/* It can time the tasks of a kernel. */
	bool tasks;
	/* It can switch recording off and on. */
	bool switches;
	bool switches_fast; /* also in stubs for speed */
	/* Its branches can be recorded, and in order. */
	bool edges;
	bool bits;
	bool numbers; /* the same of LITIFUT_MODE=balllarus, */
	bool tokens;  /* and of tokens.h */
	/* How many quarters of the size that is asked for the ring of bits takes: where the size of
	 * an event is not a power of two, that of events takes less than all. */
	uint8_t ring_quarters;
	/* Bits of a full word of that ring, and of a part that is stored at once. */
	uint8_t word_bits, word_step;
	/* For a CPU that has a separate stack pointer for tasks, which kernels exchange in a
	 * handler: does the instruction of 4 bytes at `code` read (1) or set (2) it? NULL: the CPU
	 * has none. */
	unsigned (*task_access)(const uint8_t *code);
	/* For one that has a single stack pointer: does the program set it to one that it has
	 * saved, as a kernel does that changes the task? NULL: it is looked for by task_access. */
	bool (*changes_tasks)(const struct litifut_image *image,
			      const struct litifut_arch_context *context);
	/* The functions that the CPU enters by itself and that may record what they interrupt, at
	 * most `most`; NULL: none. Returns how many. */
	size_t (*handlers)(const struct litifut_image *image, uint32_t *handlers, size_t most);
	/* Writes the code that does the instruction of 4 bytes at `code`, calls `target` and goes
	 * on to `next`, standing at `address`. Returns its bytes; 0: out of reach. */
	unsigned (*write_call)(const uint8_t *code, uint32_t address, uint32_t target,
			       uint32_t next, struct litifut_firmware_stub *stub);
	/* Writes the code, standing at `address`, that an entry of the vector table leads to before
	 * `handler`: it calls `target`, and `behind`, if that is not 0, when the handler has
	 * returned. Where a handler's own code can't do so. The rest as above. */
	unsigned (*write_gate)(const struct litifut_arch_context *context, uint32_t address,
			       uint32_t target, uint32_t handler, uint32_t behind,
			       struct litifut_firmware_stub *stub);
	/* A branch of 4 bytes from `address` to `target`. False: out of reach. */
	bool (*write_branch)(uint32_t address, uint32_t target, uint8_t *code);
	/* The call or jump of `length` bytes at `code`, which stands at `address`, leads to
	 * `target` then. False: it is out of reach, or of another form. */
	bool (*redirect)(const struct litifut_arch_context *context, uint8_t *code, unsigned length,
			 uint32_t address, uint32_t target);
	/* As in struct litifut_arch. */
	bool (*can_detour)(const struct litifut_arch_context *context,
			   const struct litifut_cramped_call *call,
			   const struct litifut_targets *targets);
	bool (*find_stone)(const struct litifut_arch_context *context,
			   const struct litifut_code_range *ranges, size_t count,
			   const struct litifut_targets *targets,
			   const struct litifut_targets *taken, struct litifut_cramped_call *call);
	uint32_t stone_reach; /* likewise, of one with the small instruction set */
	/* Writes the stub of `call`, standing at `address` (multiple of 4), and the patches
	 * that lead to it. False: something is out of reach or has no such form; `stub->bytes` is
	 * right all the same. */
	bool (*write_stub)(const struct litifut_firmware_call *call, uint32_t address,
			   struct litifut_firmware_stub *stub);
	/* Writes what leads on to the function at `target` from `address`, which is in the tracer's
	 * code or an entry of the vector table, into `code`, which has 4 bytes. Returns how many of
	 * them it takes; 0: out of reach. */
	unsigned (*write_way)(const struct litifut_arch_context *context, uint32_t address,
			      uint32_t target, uint8_t *code);
	/* Optional: does the function at the address keep its return address other than on its
	 * stack? Then it may return there more than once. */
	bool (*keeps_return)(const struct litifut_image *image, uint32_t function);
	/* Optional: may the return address of the branch at `address` be one that an ordinary
	 * branch can't go back to? */
	bool (*leaves_state)(const struct litifut_image *image, uint32_t address);
	/* So far a branch to a stub reaches, with some room to spare; 0: everywhere. */
	uint32_t branch_reach;
	/* Optional, where that is not 0: writes the code that goes on to `target`, wherever that
	 * is, and keeps all registers. */
	void (*write_far_branch)(bool baseline, uint32_t target,
				 struct litifut_firmware_stub *stub);
	/* Optional, where the linker does not know it: does the image fit into the device? */
	enum litifut_status (*check_memory)(const struct litifut_image *image,
					    struct litifut_error *error);
};

extern const struct litifut_firmware_cpu litifut_firmware_arm;
extern const struct litifut_firmware_cpu litifut_firmware_avr;

#endif
