/* Rewriting a firmware: a program without an operating system, at fixed addresses, in a
 * memory that its linker script lays out. Each call site gets a stub of its own, which adds
 * to the site's counter, or times the call, and goes on to the callee: nothing is searched on
 * the device, and nothing but the table is kept there. <litifut/frames_format.h> has the layout.
 *
 *   1. link the program as it is; litifut_firmware_plan() reads that image and reports how
 *      many bytes the stubs and the table need;
 *   2. litifut_firmware_write_object() makes an object that reserves them in sections named
 *      .text, .bss and .data, which every script has a place for; link again with it and
 *      with the runtime; litifut_firmware_apply() writes the stubs and patches the sites.
 */
#ifndef LITIFUT_REWRITER_FIRMWARE_H
#define LITIFUT_REWRITER_FIRMWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "rewriter/rewriter.h"

/* The symbols of the object. */
#define LITIFUT_FIRMWARE_STUBS "litifut_stubs"
#define LITIFUT_FIRMWARE_FAR_STUBS "litifut_far_stubs_" /* and a number from 0 on */
#define LITIFUT_FIRMWARE_TABLE "litifut_table"
#define LITIFUT_FIRMWARE_IDENTITY "litifut_identity"
#define LITIFUT_FIRMWARE_PROFILE "litifut_profile"
#define LITIFUT_FIRMWARE_OPEN "litifut_open"
#define LITIFUT_FIRMWARE_OVERFLOW "litifut_overflow"
#define LITIFUT_FIRMWARE_HEADER "litifut_header"
#define LITIFUT_FIRMWARE_PATTERNS "litifut_patterns"
#define LITIFUT_FIRMWARE_CARRIES "litifut_carries"

/* Code that .text is out of reach of (RAM, a second flash) has its stubs beside it, in as many
 * output sections. */
#define LITIFUT_FIRMWARE_FAR_MOST 4
#define LITIFUT_FIRMWARE_SECTION_NAME_MOST 128

/* Bytes of a function's name in a message. */
#define LITIFUT_FIRMWARE_CLOCK_SETTER 80

/* Bins of the histogram of addresses, of 2 bytes each, and where there is no room for so many. */
#define LITIFUT_FIRMWARE_BINS 1024
#define LITIFUT_FIRMWARE_FEW_BINS 128

/* Of a pattern: control comes to a block, which is recorded, and these branches follow. */
struct litifut_pattern_unit {
	char *function;
	uint32_t offset; /* of the block in it */
	char *bits;      /* of 0 and 1 */
	bool begins;     /* a pattern */
};

struct litifut_firmware_options {
	struct litifut_rewrite_options common;
	/* The user has named functions, objects or libraries that alone are traced, or that are
	 * left; `common' has them. */
	bool includes;
	bool excludes;
	/* For the CPU of the objects, where the image has no attributes that say which one that is;
	 * see litifut_firmware_runtime(). NULL: it must have them. */
	const char *runtime;
	bool small; /* stubs for size, not for speed */
	bool bytes; /* LITIFUT_STUBS=byte: stubs for speed, with counters of a byte */
	/* The results are sent when this function is called; NULL: by no call. */
	const char *send_at;
	bool send_asked; /* it must exist; else `exit' does as well, where it alone exists */
	/* The handler of the timer whose interrupts are counted for sending, where
	 * litifut_tick_gate is linked in; NULL: that of SysTick. */
	const char *timer_at;
	/* The port of the tracer that sends them, and its address; NULL: none that has one. */
	const char *port;
	uint32_t port_at;
	bool transmits; /* the interrupt of the transmitter, which has this number, sends them */
	uint32_t transmitter;
	/* The interrupt with this handler samples the address that it has interrupted; NULL: none
	 * does. */
	const char *sample_at;
	bool few_bins; /* for these samples */
	bool ticks;    /* the tracer does something at each interrupt of SysTick */
	/* Recording begins when this function is called; NULL: at once. */
	const char *start_at;
	/* Start-up code calls this function when .data is copied and .bss is cleared; NULL:
	 * __libc_init_array or main. */
	const char *main_at;
	/* The program switches recording off and on; `small` is set then, unless the plan has
	 * `switches_fast`. */
	bool switched;
	bool times; /* LITIFUT_MODE=table: of calls, from where they are made to their return */
	/* LITIFUT_MODE=spans: calls and returns are events in a ring; `times` is set then. */
	bool spans;
	/* LITIFUT_MODE=stream: events of calls only, without times; `spans` is set then, and
	 * `times` is not. */
	bool stream;
	/* LITIFUT_MODE=paths: branches are bits in such a ring. Neither `times` nor `spans`. */
	bool paths;
	bool units;   /* LITIFUT_MODE=units: `paths' is set then; `common' has their names */
	bool numbers; /* LITIFUT_MODE=balllarus: `paths' is set then */
	bool tokens;  /* tokens.h: `units' and `numbers' are set then */
	bool packed;  /* the ring is sent in its compact form, */
	/* and words of it that are patterns are sent as one */
	const struct litifut_pattern_unit *pattern_units;
	size_t pattern_unit_count;
	size_t ring_bytes; /* of that, at most; 0, if it is sent so: two buffers */
	/* LITIFUT_MODE=coverage: branches have flags in the table. None of `times', `spans',
	 * `paths'.
	 */
	bool coverage;
	/* The ring outlasts a reset: it stands at `kept_at`, behind a struct litifut_kept, in
	 * memory that no section has. */
	bool kept;
	uint32_t kept_at;
	/* The function of the program that reads the clock; NULL: the program has none. */
	const char *clock;
	/* The variable of the program that says which task runs, with `+OFFSET' behind it or not;
	 * "none": none; NULL: that of a known kernel. */
	const char *task;
	bool tasks;     /* LITIFUT_MODE=table: tasks are timed, see the plan's `task' */
	unsigned depth; /* calls that can be open at the same time, in all stacks */
	/* Callees of calls through pointers that have room, besides the first one of each call;
	 * 0: LITIFUT_OVERFLOW_TRIED. */
	unsigned callees;
	uint32_t byte_counters; /* of the plan, with `bytes`; 0 while there is none */
	/* Counters of a byte that have room for what exceeds it; 0: a fourth of them. */
	unsigned carries;
	/* Where the linker has put input sections named .text. */
	uint32_t code_at;
};

struct litifut_firmware_far {
	uint32_t site;  /* an address in the code that the stubs are to stand beside */
	uint32_t bytes; /* of stubs */
	/* Of an input section there; the caller sets it. NULL: it is not known. */
	const char *section;
};

struct litifut_firmware_plan {
	unsigned machine; /* e_machine */
	unsigned elf_flags;
	unsigned char elf_data;
	size_t sites;      /* to be patched */
	size_t stub_bytes; /* of code in .text */
	struct litifut_firmware_far far[LITIFUT_FIRMWARE_FAR_MOST];
	unsigned far_count;
	size_t table_words;      /* of 4 bytes; where calls are events: of the ring */
	size_t overflow_words;   /* behind them */
	unsigned overflow_mask;  /* of the places where a search in these begins */
	size_t byte_counters;    /* of these words: bytes that are counters */
	unsigned carries;        /* entries of the table that counts them, a power of two, or 0 */
	unsigned ring_alignment; /* in the memory; 0: it does not matter */
	size_t ring_events;      /* that it has room for, a power of two */
	unsigned recorders;      /* pieces of code that record calls, besides the first one */
	bool kept;               /* no section is to have the ring */
	uint32_t bss;            /* an address in the memory of .bss */
	size_t pattern_words;    /* in the flash */
	bool header;             /* of frames, as a sender is linked in; the caller sets it */
	bool blocks;             /* the file is to have the blocks of the code */
	bool pointers;           /* some of the sites call through a pointer */
	bool sends;              /* a site calls options->send_at, */
	bool starts;             /* or options->start_at */
	bool never_ends;         /* but the program does not come to it */
	bool can_switch;         /* recording off and on, see `switched` */
	bool switches_fast;      /* also with stubs for speed */
	bool can_reset;          /* what has been recorded */
	bool samples;            /* an interrupt has the handler options->sample_at */
	unsigned bins;           /* for them */
	/* The word that says which task runs; 0: there is none, or nothing is timed. */
	uint32_t task;
	uint32_t task_name; /* see LITIFUT_TASK_NAME_POINTER */
	bool small_times;  /* calls are timed by code that finds the record of a stub by its address
			    */
	bool jumps;        /* longjmp() is called, and calls are timed */
	size_t open_bytes; /* of the pool of open calls */
	uint32_t clock_user; /* see struct litifut_firmware_cpu; 0: no call is timed */
	/* The same of clock_setter, cut to what fits; empty: there is none. */
	char clock_setter[LITIFUT_FIRMWARE_CLOCK_SETTER];
	/* Why calls can't be timed, whatever the options are; NULL: they can. Static. */
	const char *untimed;
};

/* Is an object or image with these e_flags and, for ARM, bytes of .ARM.attributes made for a CPU
 * of firmware that can be rewritten? Returns the name of the runtime for it ("v6m", "avr5"),
 * static; NULL: it is not. `bytes` may be NULL. */
const char *litifut_firmware_runtime(unsigned machine, unsigned elf_flags, const uint8_t *bytes,
				     uint32_t size);

/* The section of an object whose bytes litifut_firmware_runtime() reads on this machine. NULL: it
 * needs none. */
const char *litifut_firmware_attributes(unsigned machine);

/* Reads the image at `path`; nothing is written. */
enum litifut_status litifut_firmware_plan(const char *path,
					  const struct litifut_firmware_options *options,
					  struct litifut_firmware_plan *plan,
					  struct litifut_error *error);

enum litifut_status litifut_firmware_write_object(const struct litifut_firmware_plan *plan,
						  const char *path, struct litifut_error *error);

/* Does the image at `path` fit into its device? Where the linker has seen to that, the answer is
 * LITIFUT_OK. */
enum litifut_status litifut_firmware_check_memory(const char *path, struct litifut_error *error);

/* Patches the image at `path` in place. LITIFUT_ERROR_SPACE: the room that was reserved in
 * it is too small, plan again. */
enum litifut_status litifut_firmware_apply(const char *path,
					   const struct litifut_firmware_options *options,
					   struct litifut_rewrite_summary *summary,
					   struct litifut_error *error);

#endif
