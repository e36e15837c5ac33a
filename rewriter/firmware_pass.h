/* Between the files of the pass over a firmware's image: firmware.c, which writes the stubs of the
 * sites, firmware_runtime.c and firmware_save.c. */
#ifndef LITIFUT_REWRITER_FIRMWARE_PASS_H
#define LITIFUT_REWRITER_FIRMWARE_PASS_H

#include <litifut/module_format.h>

#include "rewriter/session.h"

struct litifut_firmware_cpu;
struct litifut_firmware_options;
struct litifut_firmware_stub;

/* The function a call of which leaves calls open that never return. */
#define LITIFUT_FIRMWARE_JUMP "longjmp"

/* Why nothing is recorded that needs memory which is written once. */
#define LITIFUT_FIRMWARE_NO_RAM                                                                    \
	"the reset handler calls neither __libc_init_array nor main, so that it is not known "     \
	"where .bss is cleared: name the function that it calls then by LITIFUT_MAIN"

/* The entry of SysTick in the vector table of a Cortex-M. */
#define LITIFUT_FIRMWARE_SYSTICK 15

#define LITIFUT_FIRMWARE_ROOMS_MOST 5 /* LITIFUT_FIRMWARE_FAR_MOST and one in .text */

/* What stubs in other memory go to by way of a branch beside them. */
enum litifut_firmware_way {
	LITIFUT_FIRMWARE_WAY_CALL,
	LITIFUT_FIRMWARE_WAY_NOTE,
	LITIFUT_FIRMWARE_WAY_POINTER,
	LITIFUT_FIRMWARE_WAYS
};

/* Where stubs stand. */
struct litifut_firmware_room {
	const struct litifut_symbol *symbol; /* only when the image is to be changed */
	uint32_t bytes;                      /* so far */
	unsigned section;                    /* that has their sites, if these are far */
	uint32_t site;                       /* the first of them */
	bool has_way[LITIFUT_FIRMWARE_WAYS];
	uint32_t ways[LITIFUT_FIRMWARE_WAYS];
};

struct litifut_firmware_pass {
	const struct litifut_firmware_options *options;
	struct litifut_rewrite_options sites_options; /* those in it, and `needed` */
	uint32_t needed[3];                           /* functions at whose calls the tracer acts */
	struct litifut_image image;
	struct litifut_arch arch;
	struct litifut_arch_detour detour; /* of it */
	struct litifut_arch_context context;
	struct litifut_site_list sites;
	const struct litifut_firmware_cpu *cpu;
	bool baseline;
	uint32_t send_at;   /* address of options->send_at; 0: there is none */
	uint32_t ends_at;   /* the same, also where nothing is linked in that could send */
	uint32_t sample_at; /* of options->sample_at; 0: there is none */
	uint32_t timer_at;  /* of options->timer_at, likewise */
	uint32_t transmits; /* entry of the vector table for options->transmitter */
	bool samples;
	bool jumps;        /* a site calls longjmp() */
	bool ticks;        /* SysTick is counted for the clock */
	bool pin;          /* and sets a pin */
	bool timer;        /* a timer is counted for sending */
	bool ram_is_known; /* where .bss is cleared */
	bool *changed;     /* by number of the section */
	/* The first is in .text, for all sites that it is in reach of. */
	struct litifut_firmware_room rooms[LITIFUT_FIRMWARE_ROOMS_MOST];
	unsigned room_count;    /* at least 1 */
	uint32_t code_at;       /* about where the first one is */
	uint32_t table_words;   /* the same */
	uint32_t patched;       /* sites, the same */
	uint32_t calibration;   /* number of the first word of a record that no site has */
	uint32_t byte_counters; /* with counters of a byte: room for them in the table */
	uint32_t bytes_used;    /* of that, so far */
	bool sends;
	bool starts;
	bool pointers;
	/* LITIFUT_MODE=paths and coverage: */
	struct litifut_session session; /* of the same image, with its edges */
	uint8_t *unrecorded; /* by number of the symbol: why its function is left, or 0 */
	uint32_t *fixed;     /* calls that lead to the sender */
	uint32_t *tasks;     /* code that reads or sets the stack pointer of tasks */
	size_t task_count, task_capacity;
	uint8_t *blocks; /* the contents of .litifut.blocks */
	size_t blocks_bytes;
	struct litifut_module module; /* as it is saved */
	/* Only when the image is to be changed. */
	const struct litifut_symbol *table; /* NULL: no section has it, see options->kept */
	uint32_t count_small;
	uint32_t count_pointer;
	uint32_t count_carry;
	uint32_t time_call;
	uint32_t span_note;
	uint32_t span_return;
	uint32_t span_high; /* upper bits of the numbers that the former record, see number_bits */
	uint32_t jump_gate;
	uint32_t start_gate;
	uint32_t step;    /* see struct litifut_firmware_call; 0: recording is never switched off */
	uint32_t main_at; /* likewise */
	uint32_t start_at; /* address of options->start_at; 0: there is none */
	uint32_t send_gate;
};

/* firmware_rooms.c. Are the two addresses too far from each other for a branch? */
bool litifut_firmware_is_far(const struct litifut_firmware_pass *pass, uint32_t one,
			     uint32_t other);

/* The addresses from the first to behind the last of the code in reach of .text. */
void litifut_firmware_code_range(const struct litifut_firmware_pass *pass, uint32_t *start,
				 uint32_t *end);

/* Finds the rooms of the image. */
void litifut_firmware_find_rooms(struct litifut_firmware_pass *pass);

/* Where the stub of the site stands; NULL: nothing in its reach. */
struct litifut_firmware_room *litifut_firmware_room_for(struct litifut_firmware_pass *pass,
							const struct litifut_found_site *site);

/* Where a stub in the room branches so that it comes to the tracer's code at `*target`. */
enum litifut_status litifut_firmware_lead(struct litifut_firmware_pass *pass,
					  struct litifut_firmware_room *room,
					  enum litifut_firmware_way way, uint32_t *target,
					  struct litifut_error *error);

/* Puts the code of a stub at the end of the room. LITIFUT_ERROR_SPACE: it is full. */
enum litifut_status litifut_firmware_put_stub(struct litifut_firmware_pass *pass,
					      struct litifut_firmware_room *room,
					      const struct litifut_firmware_stub *stub,
					      struct litifut_error *error);

/* Sets the error that the image lacks this symbol, and returns its status. */
enum litifut_status litifut_firmware_missing(const struct litifut_firmware_pass *pass,
					     const char *symbol, struct litifut_error *error);

/* Changes code or data in the image's memory. False: no section has these bytes. */
bool litifut_firmware_change(struct litifut_firmware_pass *pass, uint32_t address,
			     const uint8_t *bytes, uint32_t size);

/* Finds pass->transmits, before the vector table is changed. */
enum litifut_status litifut_firmware_find_transmitter(struct litifut_firmware_pass *pass,
						      struct litifut_error *error);

/* Finds the tracer's symbols, and checks where the linker has put them. */
enum litifut_status litifut_firmware_find_runtime(struct litifut_firmware_pass *pass,
						  struct litifut_error *error);

/* Finds the code that records the call of the site with this number (number_bits in struct
 * litifut_firmware_cpu). */
enum litifut_status litifut_firmware_find_recorders(struct litifut_firmware_pass *pass,
						    uint32_t number, struct litifut_error *error);

/* firmware_tasks.c. Where the word is that says which task runs, and where a task has its name (see
 * LITIFUT_TASK_NAME_POINTER). *address is 0 if there is none. An error: what the user has named is
 * not there. */
enum litifut_status litifut_firmware_find_task(const struct litifut_firmware_pass *pass,
					       uint32_t *address, uint32_t *name,
					       struct litifut_error *error);

/* Writes the address of that variable into the word `symbol` of the tracer. */
enum litifut_status litifut_firmware_set_task(struct litifut_firmware_pass *pass,
					      const char *symbol, struct litifut_error *error);

/* Sets the word of the tracer's at this symbol. False: there is none. */
bool litifut_firmware_set_word(struct litifut_firmware_pass *pass, const char *name,
			       uint32_t value);

/* Why the program may not have records that both of its cores would write to, static; NULL: it has
 * one core, or the user has chosen what is recorded. */
const char *litifut_firmware_second_core(const struct litifut_firmware_pass *pass);

/* The same for tasks that may use neither a clock nor the mask of interrupts; NULL: none is known.
 */
const char *litifut_firmware_unprivileged(const struct litifut_firmware_pass *pass);

/* Marks sites, and functions in pass->unrecorded, that run before the memory is ready, or while the
 * results are sent. */
enum litifut_status litifut_firmware_leave_functions(struct litifut_firmware_pass *pass,
						     struct litifut_error *error);

/* firmware_nearest.c. The function of the program that was probably meant by this name, or the one
 * of `others`, a NULL-terminated list or NULL; NULL: none. */
const char *litifut_firmware_nearest(const struct litifut_firmware_pass *pass, const char *name,
				     const char *const *others);

/* Reports that LITIFUT_CLOCK names neither a clock of the tracer nor a function. */
enum litifut_status litifut_firmware_no_clock(const struct litifut_firmware_pass *pass,
					      const char *clock, struct litifut_error *error);

/* firmware_end.c. Can the program come to the call at which the results are sent? *ends is false
 * where only start-up code behind main() makes it, and main() never returns. */
enum litifut_status litifut_firmware_finds_end(const struct litifut_firmware_pass *pass, bool *ends,
					       struct litifut_error *error);

/* LITIFUT_MODE=paths and coverage: finds the edges of the code and the bytes that theirs takes,
 * once the call sites are known. */
enum litifut_status litifut_firmware_edges_find(struct litifut_firmware_pass *pass,
						struct litifut_error *error);

/* Writes them into the image's memory, and what else leads to the tracer; call sites have no stubs.
 * LITIFUT_ERROR_SPACE: plan again. Then the edges are the sites of the pass. */
enum litifut_status litifut_firmware_edges_write(struct litifut_firmware_pass *pass,
						 struct litifut_error *error);

/* The patterns of LITIFUT_PATTERNS, as words of the ring (<litifut/packed_format.h>): how many
 * words their table has; 0: there are none. */
uint32_t litifut_firmware_patterns_words(const struct litifut_firmware_cpu *cpu,
					 const struct litifut_firmware_options *options);

/* Fills the table, once the code of edges has been written. A pattern of which a block is not
 * recorded is never found by the device. */
enum litifut_status litifut_firmware_patterns_write(struct litifut_firmware_pass *pass,
						    struct litifut_error *error);

void litifut_firmware_edges_release(struct litifut_firmware_pass *pass);

/* Puts what else is to happen when the interrupt of this site, a vector, comes before its stub. */
enum litifut_status litifut_firmware_put_gates(struct litifut_firmware_pass *pass,
					       const struct litifut_site *site, uint32_t stub,
					       struct litifut_error *error);

/* After all sites: is there room for their records, and the code that they use? */
enum litifut_status litifut_firmware_check_room(const struct litifut_firmware_pass *pass,
						struct litifut_error *error);

/* Fills in what the tracer's code reads, and where its gates lead. */
enum litifut_status litifut_firmware_fill_runtime(struct litifut_firmware_pass *pass,
						  struct litifut_error *error);

/* Fills the module record and the identity, and writes the file, with the list of sites. */
enum litifut_status litifut_firmware_save(struct litifut_firmware_pass *pass, size_t patched,
					  struct litifut_error *error);

#endif
