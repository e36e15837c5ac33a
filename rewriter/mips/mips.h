/* Between the files of the MIPS back end. */
#ifndef LITIFUT_REWRITER_MIPS_MIPS_H
#define LITIFUT_REWRITER_MIPS_MIPS_H

#include "cpu/mips/mips.h"
#include "rewriter/arch.h"

struct litifut_called;

extern const struct litifut_arch litifut_arch_mips;
extern const struct litifut_arch_borrow litifut_mips_borrow;

/* The tables of addresses of an image, above all the first; all 0: there is none. */
struct litifut_mips_got {
	uint32_t address;
	uint32_t end;          /* of the last of them */
	uint32_t local;        /* entries that hold addresses in the image, at its start */
	uint32_t global;       /* entries of dynamic symbols, behind them */
	uint32_t first_symbol; /* number of the first of these symbols */
	bool alone;            /* there are no others with pointers of their own */
};

/* `facts` of struct cpu_context. */
struct litifut_mips_facts {
	uint32_t global_pointer; /* link-time value of $gp, 0 when there is none */
	struct litifut_mips_got got;
	struct litifut_pages pages;
};

static inline const struct litifut_mips_facts *
litifut_mips_facts(const struct litifut_arch_context *context)
{
	static const struct litifut_mips_facts none;

	return context->cpu.facts ? context->cpu.facts : &none;
}

/* The word that puts into $at the number of what stands `offset` bytes behind the gate, and the
 * entry of an island for that number. False: that has none. */
bool litifut_mips_number(const struct litifut_arch_context *context, uint32_t offset,
			 uint32_t *word, unsigned *entry);
void litifut_mips_write_island(const struct litifut_arch_context *context, uint32_t address,
			       const uint32_t *entries, uint8_t *code, uint32_t *island_entries);

/* Indices of the entry points in litifut_arch_mips.entry_names. An island has
 * NUMBERED, where sites with a trampoline arrive, in the place of TAIL, and no
 * GATE. */
enum {
	LITIFUT_MIPS_ENTRY_CALL = 0,
	LITIFUT_MIPS_ENTRY_T9 = 1,
	LITIFUT_MIPS_ENTRY_TAIL = 2,
	LITIFUT_MIPS_ENTRY_NUMBERED = 2,
	LITIFUT_MIPS_ENTRY_GATE = 3,
	/* of the thunk engine */
	LITIFUT_MIPS_ENTRY_THUNK_T9 = 4,
	LITIFUT_MIPS_ENTRY_THUNK_NEAR = 5,
	LITIFUT_MIPS_ENTRY_THUNK_TAIL = 6,
	LITIFUT_MIPS_ENTRY_THUNK_CALL = 7,
	LITIFUT_MIPS_ENTRY_THUNK_TAIL_NEAR = 8,
	LITIFUT_MIPS_ENTRY_THUNK_TAIL_BACK = 9,
	/* of callers without room for arguments */
	LITIFUT_MIPS_ENTRY_THUNK_T9_OWN = 10,
	LITIFUT_MIPS_ENTRY_THUNK_NEAR_OWN = 11,
	LITIFUT_MIPS_ENTRY_THUNK_CALL_OWN = 12,
	/* of an island: NUMBERED for the trampolines behind the first megabyte of them */
	LITIFUT_MIPS_ENTRY_TABLES = 13
};

/* Numbers have 16 bits: there is a table of so many bytes of trampolines for each, and so many
 * tables. */
#define LITIFUT_MIPS_TABLE_BYTES ((uint32_t)LITIFUT_MIPS_TRAMPOLINE_BYTES << 16)
#define LITIFUT_MIPS_TABLES 16
/* Of table number 0, 1, ... */
#define LITIFUT_MIPS_ENTRY_TABLE(table)                                                            \
	((table) ? LITIFUT_MIPS_ENTRY_TABLES - 1 + (table) : LITIFUT_MIPS_ENTRY_NUMBERED)

_Static_assert(LITIFUT_MIPS_ENTRY_TABLE(LITIFUT_MIPS_TABLES) == LITIFUT_ENTRIES_MAX,
	       "entries of an island");

/* What an island hands to the gate; else the number of a trampoline, whose lower half is 0. */
enum { LITIFUT_MIPS_CAME_BY_T9 = -1, LITIFUT_MIPS_CAME_BY_CALL = 0x7fff };

/* Its pieces: three ways to the gate, shorter ones to trampolines, two thunks. */
#define LITIFUT_MIPS_WAYS_BYTES 48
#define LITIFUT_MIPS_NUMBERED_BYTES 112
#define LITIFUT_MIPS_NEAR_BYTES 112
#define LITIFUT_MIPS_INDIRECT_BYTES 112
#define LITIFUT_MIPS_ISLAND_BYTES                                                                  \
	(LITIFUT_MIPS_WAYS_BYTES + LITIFUT_MIPS_NUMBERED_BYTES + LITIFUT_MIPS_NEAR_BYTES +         \
	 LITIFUT_MIPS_INDIRECT_BYTES)
#define LITIFUT_MIPS_GATE_BYTES 64
#define LITIFUT_MIPS_TRAMPOLINE_BYTES 16

/* The way from the start of a host to its trampoline, and back. */
#define LITIFUT_MIPS_WAY_BYTES 20
/* The most that a piece of an island takes of a host. */
#define LITIFUT_MIPS_HOST_BYTES (LITIFUT_MIPS_WAY_BYTES + LITIFUT_MIPS_INDIRECT_BYTES)
/* Of a piece: a multiple of LITIFUT_MIPS_TRAMPOLINE_BYTES, which are numbered. */
#define LITIFUT_MIPS_HOST_TRAMPOLINE_BYTES(bytes)                                                  \
	((2 * LITIFUT_MIPS_WAY_BYTES + (bytes) + LITIFUT_MIPS_TRAMPOLINE_BYTES - 1) &              \
	 ~(LITIFUT_MIPS_TRAMPOLINE_BYTES - 1))

/* A multiple of LITIFUT_MIPS_TRAMPOLINE_BYTES. */
#define LITIFUT_MIPS_THUNK_BYTES 80
#define LITIFUT_MIPS_TIMED_THUNK_BYTES 96
#define LITIFUT_MIPS_TABLE_THUNK_BYTES 112
/* The most that the trampoline of a return point takes, the same. */
#define LITIFUT_MIPS_EXIT_BYTES 80
/* Of litifut_mips_write_shared(), the same. */
#define LITIFUT_MIPS_SHARED_BYTES (7 * 128)

/* Of a relay (relay.c): what it takes of the code, where in it the branch stands that
 * leads on, and the trampoline of what was moved, a multiple of
 * LITIFUT_MIPS_TRAMPOLINE_BYTES. */
#define LITIFUT_MIPS_RELAY_BYTES 16
#define LITIFUT_MIPS_RELAY_ENTRY 8
#define LITIFUT_MIPS_RELAY_TRAMPOLINE_BYTES 64

/* `number` of a LITIFUT_THUNK_CALLEE that makes room of its own. */
#define LITIFUT_MIPS_OWN_ROOM 1

/* How a function computes its global pointer from its own address in $t9. */
struct litifut_mips_pointer {
	unsigned number; /* of the register that it is left in */
	unsigned words;  /* from the start of the function to behind its computation */
	uint32_t value;  /* at link time */
};

/* So many instructions into a function that is looked for. */
#define LITIFUT_MIPS_POINTER_WORDS 24

/* Do the first of `count` instructions, of the function at `address`, compute its
 * global pointer? */
bool litifut_mips_finds_pointer(const struct litifut_arch_context *context, uint32_t address,
				const uint32_t *words, unsigned count,
				struct litifut_mips_pointer *pointer);
/* The same for the function at `address` of `image`. */
bool litifut_mips_has_pointer(const struct litifut_image *image,
			      const struct litifut_arch_context *context, uint32_t address,
			      struct litifut_mips_pointer *pointer);

/* As `form_addresses` of struct litifut_arch_flow. */
void litifut_mips_form_addresses(const struct litifut_image *image,
				 const struct litifut_arch_context *context,
				 const struct litifut_section *section,
				 const struct litifut_code_range *ranges, size_t count,
				 litifut_take_formed *take, void *with);

/* Fills facts->got, when there is a global pointer; `facts` are those of `context`. */
void litifut_mips_find_got(const struct litifut_image *image,
			   const struct litifut_arch_context *context,
			   struct litifut_mips_facts *facts);
/* Sets pointer and pointer_register of `facts` for the function at [start, end). */
void litifut_mips_function_pointer(const struct litifut_image *image,
				   const struct litifut_arch_context *context,
				   const struct litifut_section *section, uint32_t start,
				   uint32_t end, struct litifut_function_facts *facts);
void litifut_mips_function_facts(const struct litifut_image *image,
				 const struct litifut_arch_context *context,
				 const struct litifut_section *section, uint32_t start,
				 uint32_t end, struct litifut_function_facts *facts);
uint32_t litifut_mips_callee(const struct litifut_image *image,
			     const struct litifut_arch_context *context,
			     const struct litifut_cramped_call *call,
			     const struct litifut_function_facts *facts,
			     const struct litifut_arrivals *arrivals);

/* As litifut_mips_decode(), also of branches by the conditions of coprocessors. */
struct litifut_instruction litifut_mips_branch_at(const struct litifut_arch_context *context,
						  const struct litifut_section *section,
						  uint32_t address);
/* addu or or with $zero */
bool litifut_mips_is_move(uint32_t word);

/* One of the two thunks of an island, standing at `address`; `entry` says which. */
void litifut_mips_write_island_thunk(const struct litifut_arch_context *context, unsigned entry,
				     uint32_t address, uint8_t *code, uint32_t *island_entries);
/* Its pieces, in this order. */
enum litifut_mips_piece {
	LITIFUT_MIPS_PIECE_WAYS = 0,
	LITIFUT_MIPS_PIECE_NUMBERED = 1,
	LITIFUT_MIPS_PIECE_NEAR = 2,
	LITIFUT_MIPS_PIECE_INDIRECT = 3
};
/* The piece of an island that stands at `address`: *island_entries is filled by
 * piece 0, and changed by the others, which lead to it. */
void litifut_mips_write_piece(const struct litifut_arch_context *context, size_t piece,
			      uint32_t address, const uint32_t *entries, uint8_t *code,
			      uint32_t *island_entries);
/* Is it ll or sc? Nothing may be stored between the two. */
static inline bool litifut_mips_is_exclusive(uint32_t word)
{
	return word >> 26 == 0x30 || word >> 26 == 0x38;
}

/* Is the instruction `word` known to do the same anywhere? */
bool litifut_mips_can_move(uint32_t word);
/* May it read $at? As litifut_mips_writes(), by its fields. */
bool litifut_mips_may_read_at(uint32_t word);
/* Does it put ra into $at, which -pg makes for the next call? */
bool litifut_mips_saves_ra_in_at(uint32_t word);
/* Is what was in $at lost behind it, whatever that was? */
bool litifut_mips_sets_at(uint32_t word);
bool litifut_mips_can_host(const struct litifut_arch_context *context,
			   const struct litifut_section *section, uint32_t address, uint32_t size,
			   size_t bytes, const struct litifut_targets *targets);
void litifut_mips_write_host(const struct litifut_arch_context *context, size_t piece,
			     uint32_t address, uint32_t trampoline, const uint32_t *entries,
			     uint8_t *code, uint8_t *moved, uint32_t *island_entries);
size_t litifut_mips_find_runs(const struct litifut_image *image,
			      const struct litifut_arch_context *context,
			      const struct litifut_section *section, uint32_t start, uint32_t end,
			      const struct litifut_targets *targets, uint32_t *runs);
bool litifut_mips_write_relay(const struct litifut_arch_context *context,
			      const struct litifut_relay *relay, const struct litifut_gate *gate,
			      const uint32_t *island_entries, uint8_t *code, uint8_t *moved,
			      struct litifut_frame_code *frames);
bool litifut_mips_write_step(const struct litifut_arch_context *context,
			     const struct litifut_cramped_call *call, uint32_t address,
			     const struct litifut_gate *gate, uint32_t step, uint8_t *trampoline,
			     struct litifut_detour *detour);
bool litifut_mips_is_indirect_tail(const struct litifut_image *image,
				   const struct litifut_arch_context *context,
				   const struct litifut_cramped_call *call,
				   const struct litifut_targets *data);
bool litifut_mips_can_detour(const struct litifut_arch_context *context,
			     const struct litifut_cramped_call *call,
			     const struct litifut_targets *targets);
bool litifut_mips_write_detour(const struct litifut_arch_context *context,
			       const struct litifut_cramped_call *call, uint32_t address,
			       const struct litifut_gate *gate, uint8_t *trampoline,
			       struct litifut_detour *detour);
bool litifut_mips_encode_numbered(const struct litifut_arch_context *context,
				  const struct litifut_cramped_call *call, uint32_t address,
				  const struct litifut_gate *gate, const uint32_t *island_entries,
				  uint8_t *trampoline, struct litifut_detour *detour);
bool litifut_mips_gate_works(const uint32_t *entries);
size_t litifut_mips_write_onward(const struct litifut_arch_context *context, uint32_t address,
				 uint32_t *entries, uint8_t *code);
void litifut_mips_write_gate(const struct litifut_arch_context *context, uint32_t address,
			     const uint32_t *entries, uint8_t *code);
/* addresses.c, as struct litifut_arch_flow has them: where the `jr at` at `address` leads, if it
 * stands for a branch that is too far, and all such places. */
uint32_t litifut_mips_far_target(const struct litifut_image *image,
				 const struct litifut_arch_context *context,
				 const struct litifut_section *section, uint32_t address);
void litifut_mips_add_targets(const struct litifut_image *image,
			      const struct litifut_arch_context *context,
			      const struct litifut_section *section,
			      const struct litifut_code_range *ranges, size_t count,
			      struct litifut_targets *targets);
/* addresses.c: as struct litifut_arch_edges has them. */
void litifut_mips_add_addresses(const struct litifut_image *image,
				const struct litifut_arch_context *context,
				const struct litifut_section *section,
				const struct litifut_code_range *ranges, size_t count,
				const struct litifut_called *called,
				struct litifut_targets *targets);
/* Fills facts->pages, when those of the GOT are known; `facts` are those of `context`. */
void litifut_mips_find_pages(const struct litifut_image *image,
			     struct litifut_arch_context *context,
			     struct litifut_mips_facts *facts);
bool litifut_mips_may_call(const struct litifut_image *image,
			   const struct litifut_arch_context *context,
			   const struct litifut_section *section, uint32_t start, uint32_t end,
			   uint32_t call, const char *const *names,
			   const struct litifut_spawners *places);
/* Is it known where the code of the function jumps through registers? */
bool litifut_mips_knows_jumps(const struct litifut_image *image,
			      const struct litifut_arch_context *context,
			      const struct litifut_section *section, uint32_t start, uint32_t end);
/* relay.c: is every way into the code of the function among the targets? Adds those
 * that branches of the general kind do not name. */
bool litifut_mips_knows_function(const struct litifut_image *image,
				 const struct litifut_arch_context *context,
				 const struct litifut_section *section, uint32_t start,
				 uint32_t end, struct litifut_targets *targets,
				 struct litifut_targets *labels);
/* The two words at `from` that lead to the code at `address` in the room beside the tracer, and
 * what is branched to first. False: that is out of reach, and has no number. $at is lost if it is
 * not near. */
bool litifut_mips_lead(const struct litifut_arch_context *context,
		       const struct litifut_exit_ways *ways, uint32_t from, uint32_t address,
		       uint32_t *words, uint32_t *entry);
unsigned litifut_mips_judge_exit(const struct litifut_exit_place *place, struct litifut_exit *exit);
bool litifut_mips_can_lend(const struct litifut_exit_place *place, struct litifut_exit *exit,
			   uint32_t *room);
bool litifut_mips_lead_branch(const struct litifut_arch_context *context,
			      enum litifut_code_state state, uint32_t address, unsigned length,
			      uint32_t target, uint8_t *code);
bool litifut_mips_write_exit(const struct litifut_arch_context *context,
			     const struct litifut_cramped_call *call,
			     const struct litifut_exit *exit, uint32_t address,
			     const struct litifut_exit_ways *ways, struct litifut_exit_code *code);
const char *litifut_mips_refuses_thunks(const struct litifut_image *image);
uint32_t litifut_mips_argument_room(const struct litifut_arch_context *context,
				    const struct litifut_section *section, uint32_t start,
				    uint32_t end);
struct litifut_thunk litifut_mips_thunk(const struct litifut_image *image,
					const struct litifut_arch_context *context,
					const struct litifut_cramped_call *call);
void litifut_mips_thunk_frame(const struct litifut_arch_context *context,
			      const struct litifut_thunk *thunk, struct litifut_frame_code *frame);
size_t litifut_mips_write_shared(const struct litifut_arch_context *context, uint32_t address,
				 uint32_t *entries, uint8_t *code, struct litifut_frames *frames);
unsigned litifut_mips_write_thunk(const struct litifut_arch_context *context,
				  const struct litifut_thunk *thunk, uint32_t address,
				  const uint32_t *entries, uint8_t *code);

#endif
