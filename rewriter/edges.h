/* Recording where control went: a flag for each way out of each conditional branch, and for each
 * block that is not reached by recorded branches alone. With LITIFUT_MODE=paths bits are recorded
 * in place of flags, in order (paths.h). The code that sets a flag stands beside the tracer, and
 * the branch leads there:
 *
 *	site:	beq  target		b    code
 *	next:	...			...
 *				code:	beq  taken
 *					set the flag `passed`
 *					b    next
 *				taken:	set the flag `taken`
 *					b    target
 *
 * All registers and condition flags are kept, but for registers that hold nothing (dead.h). */
#ifndef LITIFUT_REWRITER_EDGES_H
#define LITIFUT_REWRITER_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rewriter/callees.h"
#include "rewriter/changes.h"
#include "rewriter/frames.h"
#include "rewriter/graph.h"
#include "rewriter/numbers.h"
#include "rewriter/rooms.h"
#include "rewriter/session.h"

/* One that is recorded: at the end of a block, or at its start. */
struct litifut_edge {
	uint32_t block; /* number in the graph */
	bool entry;     /* the start of the block */
	/* Of an entry: not the start but the end of a block that makes a child, or whose
	 * `jump_register` is not 0, or with LITIFUT_MODE=units of a block that ends a unit. In the
	 * first case nothing is recorded, but the recorder is prepared. */
	bool end;
	bool whole;       /* LITIFUT_MODE=units: of an entry: the block up to its end moves */
	uint32_t address; /* of the code that is replaced, without a stone */
	uint8_t bytes;    /* of that */
	uint8_t before;   /* so many of them stand before the branch, */
	uint8_t after;    /* and so many behind it */
	uint8_t shift;    /* what leads to its code stands so many bytes behind `address` */
	bool shifts;      /* of an entry: the next block moves, and its edge has `shift` */
	bool enters;      /* of a branch at the start of its block: records that as well */
	bool needed;      /* of an entry, with LITIFUT_MODE=paths: else its function is left */
	bool near;        /* no island can lead to its code, */
	bool borrows;     /* unless the step of another entry of its function leads to the island */
	uint32_t step; /* where the branch of an entry that is a step leads; 0: it is not a step */
	/* Of one that is lent: `step` is the borrower's address; of a borrower: that of the step,
	 * 0: there is none. */
	bool lends;
	uint32_t borrowed;
	bool wants_stone; /* see struct litifut_exit */
	uint8_t stone_bytes;
	uint32_t stone;
	/* By enum litifut_edge_way: which registers hold nothing there, as the CPU's code counts
	 * it; 0: all may hold something. */
	uint8_t free[3];
};

struct litifut_edges {
	struct litifut_graph graph;
	struct litifut_edge *items; /* in the order of session->sites */
	size_t count;
	uint32_t flags_bytes; /* that the room for flags must have; 0: bits are recorded */
	struct litifut_numbers numbers; /* LITIFUT_MODE=balllarus */
};

/* Which registers hold nothing at a place, as the CPU counts them, in the function at [start, end);
 * all 0: that is not known yet. */
struct litifut_edge_dead {
	uint32_t start, end;
	uint32_t dead;
};

/* What is known when one is judged, or written. */
struct litifut_edge_place {
	const struct litifut_image *image;
	const struct litifut_arch_context *context;
	const struct litifut_section *section;
	const struct litifut_graph *graph;
	const struct litifut_graph_block *block;
	const struct litifut_graph_block *next; /* that follows it at once, or NULL */
	const struct litifut_targets *taken;    /* every halfword that is changed already */
	uint32_t function_end;
	bool far; /* an entry that must be near is out of reach */
	/* LITIFUT_MODE=paths, of a block that is too short for its entry: may the next block make
	 * room (`shifts` of the edge), and is the start of that block recorded as well? */
	bool may_shift;
	bool next_wanted;
	/* For each word of the code from its start on; NULL: nothing is kept. */
	struct litifut_edge_dead *dead;
	/* Where the way leads that the block has to its `target`, with the Thumb bit: to that, or
	 * with LITIFUT_MODE=paths behind the record of its start. */
	uint32_t target;
};

/* `number` is that of its block in the graph. */
struct litifut_edge_place litifut_edge_place_of(const struct litifut_session *session,
						size_t number, const struct litifut_targets *taken);

/* None of these bytes is changed already. */
static inline bool litifut_edge_is_free(const struct litifut_edge_place *place, uint32_t address,
					unsigned bytes)
{
	for (uint32_t at = address; at < address + bytes; at += 2)
		if (litifut_targets_has(place->taken, at))
			return false;
	return true;
}

/* The block ends at `at`, and control does not come from there to what follows in its function, nor
 * from anywhere else that the graph has: two bytes of that may be overwritten. */
static inline bool litifut_edge_is_unused(const struct litifut_edge_place *place, uint32_t at)
{
	return place->block->block.ends != LITIFUT_ENDS_CALL && place->next &&
	       place->next->block.start == at && !place->next->led_to &&
	       place->next->function == place->block->function &&
	       !litifut_targets_has(&place->graph->targets, at) &&
	       litifut_edge_is_free(place, at, 2);
}

static inline uint32_t litifut_edge_flag(const struct litifut_block *block,
					 enum litifut_edge_way way)
{
	return way == LITIFUT_WAY_PASSED  ? block->passed
	       : way == LITIFUT_WAY_TAKEN ? block->taken
					  : block->entered;
}

/* Do direct ways lead behind the records of where they lead (edges_behind.c)? In firmware an
 * interrupt may come at each of them, and with numbers the start of a function begins a path. */
static inline bool litifut_edges_skip_records(const struct litifut_arch_context *context)
{
	return context->bits && context->system && !context->units && !context->numbers;
}

#define LITIFUT_BITS_MOST 5
#define LITIFUT_BIT_NONE ((unsigned)LITIFUT_BITS_MOST)

/* Where bits are recorded: which of `bits` in struct litifut_edge_code does so, or
 * LITIFUT_BIT_NONE.
 */
static inline unsigned litifut_edge_bit(const struct litifut_arch_context *context,
					const struct litifut_block *block,
					enum litifut_edge_way way)
{
	const uint32_t flag = litifut_edge_flag(block, way);

	if (context->units && !flag)
		return LITIFUT_BIT_NONE;
	if (context->units || way == LITIFUT_WAY_ENTERED)
		return LITIFUT_ENTERED_KIND(flag) > 1 ? LITIFUT_ENTERED_KIND(flag) : 1;
	return way;
}

/* A step stands behind the 8 bytes that lead to the code of its entry. */
#define LITIFUT_EDGE_STEP 8
#define LITIFUT_EDGE_STEP_BYTES 8

#define LITIFUT_EDGE_BYTES_MAX 256
#define LITIFUT_EDGE_WAY_BYTES 24

/* The code of one. */
struct litifut_edge_code {
	uint32_t flags; /* address of the room for flags */
	uint32_t mark;  /* of the code that sets one, where all share it */
	/* LITIFUT_MODE=paths: of the tracer's code that records a 0, a 1, that a block is
	 * entered, its number; with the Thumb bit. */
	uint32_t bits[LITIFUT_BITS_MOST];
	/* LITIFUT_MODE=balllarus: what is to be recorded, by enum litifut_edge_way; `bits' are
	 * those of enum litifut_numbers_code then. */
	struct litifut_number_calls numbers[3];
	/* The same of a firmware, for what stands behind an instruction that reads, or sets, the
	 * stack pointer of tasks; 0: nothing does. */
	uint32_t tasks[2];
	uint32_t interrupt; /* the same for the start of an interrupt handler; 0: it does not start
			       one */
	/* The same for what stands before the end of a block that makes a child, and of one whose
	 * `jump_register` is not 0. */
	uint32_t spawns;
	uint32_t jumps;
	uint32_t gate; /* of the room that it stands in */
	const struct litifut_landings *landings;
	uint8_t code[LITIFUT_EDGE_BYTES_MAX];
	unsigned bytes; /* of it, a multiple of 4 */
	/* LITIFUT_MODE=paths: of an entry: how many of them stand before the first one that is
	 * behind the record of the start; 0: control can't begin there. */
	unsigned behind;
	bool leads; /* it has the way to `target` of the place */
	struct litifut_detour detour;
};

/* The symbols of `bits` in struct litifut_edge_code. */
#define LITIFUT_BITS_SYMBOLS                                                                       \
	{                                                                                          \
		"litifut_bit_zero", "litifut_bit_one", "litifut_bits_enter"                        \
	}
/* And that of the last of them, which not all CPUs have: without it no block has a number. */
#define LITIFUT_BITS_NUMBER "litifut_bits_number"
#define LITIFUT_NUMBERS_SYMBOLS                                                                    \
	{                                                                                          \
		"litifut_path_add", "litifut_path_end", "litifut_path_next", "litifut_path_begin", \
			"litifut_path_whole"                                                       \
	}
/* And that of `spawns`. */
#define LITIFUT_BITS_SPAWN "litifut_bits_spawn"
/* And that of `jumps`, which not all CPUs have. */
#define LITIFUT_BITS_JUMP "litifut_bits_jump"
/* A word of that code which is changed when the code is copied: the distance from it to other code
 * of the tracer's. */
#define LITIFUT_BITS_DISTANCE "litifut_bits_distance"

/* Each function that returns unsigned says why not: an enum litifut_site_reason. */
struct litifut_arch_edges {
	/* May the code of the function with these blocks of the graph move? Not where something
	 * may lead into it that is not known. NULL: that of all functions may. May add to the
	 * targets of the graph. */
	unsigned (*judge_function)(const struct litifut_image *image,
				   const struct litifut_arch_context *context,
				   struct litifut_graph *graph, size_t first, size_t end);
	/* Fill what the comment of struct litifut_edge says. */
	unsigned (*judge_branch)(const struct litifut_edge_place *place, struct litifut_edge *edge);
	unsigned (*judge_entry)(const struct litifut_edge_place *place, struct litifut_edge *edge);
	/* LITIFUT_MODE=paths: may the code of this branch, which has been judged, record the start
	 * of its block as well? May make it begin there. NULL: it may if it begins there. */
	bool (*join)(const struct litifut_edge_place *place, struct litifut_edge *edge);
	/* LITIFUT_MODE=paths: does the jump at the end of the block lead by a table that stands in
	 * the code, so that it can't leave its function? NULL: that is not known of any. */
	bool (*reads_table)(const struct litifut_edge_place *place);
	/* Finds what code only reads to call functions that `graph` follows, in which callees are
	 * known. Release with litifut_called_release(). NULL: nothing is. */
	void (*find_called)(const struct litifut_image *image, const struct litifut_arch *arch,
			    const struct litifut_arch_context *context,
			    const struct litifut_graph *graph, struct litifut_called *called);
	/* Adds the addresses that code of the section forms, and rather more; but for those that
	 * are for calls alone, by `called`. */
	void (*add_addresses)(const struct litifut_image *image,
			      const struct litifut_arch_context *context,
			      const struct litifut_section *section,
			      const struct litifut_code_range *ranges, size_t count,
			      const struct litifut_called *called, struct litifut_targets *targets);
	/* May the call at `call`, in the function at [start, end) of the section, lead by a
	 * pointer to a function of another module that has one of these names, a list that ends
	 * with NULL, or to one of these places? `call` 0: may any of the function. NULL: there are
	 * no such calls. */
	bool (*may_call)(const struct litifut_image *image,
			 const struct litifut_arch_context *context,
			 const struct litifut_section *section, uint32_t start, uint32_t end,
			 uint32_t call, const char *const *names,
			 const struct litifut_spawners *places);
	/* Why bits can't be recorded in the image, static; NULL: they can. */
	const char *(*refuses_bits)(const struct litifut_image *image);
	/* Writes the code, standing at `address`. False: out of reach. */
	bool (*write)(const struct litifut_edge_place *place, const struct litifut_edge *edge,
		      uint32_t address, struct litifut_edge_code *code);
	/* LITIFUT_MODE=paths: writes to `code` the 4 bytes that the direct call or jump at the end
	 * of the block becomes to lead to `target` of the place, in the same state. False: out of
	 * reach, or it is not such an instruction. */
	bool (*lead)(const struct litifut_edge_place *place, uint8_t *code);
	/* LITIFUT_MODE=paths: writes to `code`, standing at `address`, a way to what stands behind
	 * the record of the start of the block; `edge` is that of its start, or NULL.
	 * `by_register`: the register by which functions are called has the address of the start.
	 * Returns how many bytes it takes, at most LITIFUT_EDGE_WAY_BYTES; 0: it can't be done
	 * there. NULL: `lead` reaches all. */
	unsigned (*write_way)(const struct litifut_edge_place *place,
			      const struct litifut_edge *edge, uint32_t address, bool by_register,
			      uint8_t *code);
	/* Is it known that this register holds the address at the end of the block? */
	bool (*holds)(const struct litifut_edge_place *place, uint32_t address);
	/* What all share, and writes it, standing at `address`, a multiple of 16; or 0, NULL. */
	size_t mark_bytes;
	void (*write_mark)(const struct litifut_arch_context *context, uint32_t address,
			   uint8_t *code);
	/* LITIFUT_MODE=paths: bytes of the tracer's code, from the first of its symbols on, that
	 * edges call in copies beside them; 0: they call it where it is. */
	size_t bits_bytes;
	/* How far apart an edge and its code may be without an island; 0: far enough. Then code
	 * that is farther has numbers: see `grain` of the context. */
	uint32_t near_bytes;
	/* May this entry, which has been judged, take LITIFUT_EDGE_STEP_BYTES more? They get a
	 * branch to a landing, and are a landing for others (edge_steps.c). */
	bool (*can_step)(const struct litifut_edge_place *place, const struct litifut_edge *edge);
	/* Writes a step that leads to `target`, by one of the landings of `ways` if a branch does
	 * not reach it. Returns the address that its branch leads to, 0: out of reach. */
	uint32_t (*write_step)(const struct litifut_arch_context *context,
			       const struct litifut_exit_ways *ways, uint32_t address,
			       uint32_t target, uint8_t *code);
	unsigned step_entry; /* what a landing has it in the place of */
	size_t bytes_max;    /* of the code of one, with a stone */
	/* Functions of its libraries jump into the middle of others. */
	bool shares_code;
};

/* Room for their code. */
size_t litifut_edges_bytes(const struct litifut_session *session);

/* Writes them, behind what there is in the rooms. With LITIFUT_MODE=paths session->edges and
 * session->sites are found anew when something is out of reach: the functions in which it is are
 * left. LITIFUT_ERROR_SPACE: no room, or out of reach and options->all_in_reach. */
enum litifut_status litifut_edges_write(struct litifut_session *session,
					const struct litifut_rewrite_options *options,
					struct litifut_rooms *rooms, struct litifut_frames *frames,
					struct litifut_changes *changes,
					struct litifut_error *error);

/* edges_table.c: the contents of .litifut.blocks, once all has been written and `changes` are
 * sorted; malloc'ed, NULL: no memory. */
uint8_t *litifut_edges_table(const struct litifut_session *session,
			     const struct litifut_changes *changes, size_t *bytes);

void litifut_edges_release(struct litifut_edges *edges);

/* May a call be out of reach of the code of edges? */
static inline bool litifut_edges_need_ways(const struct litifut_session *session)
{
	return session->arch->edges->write_way && session->context.cpu.position_independent;
}

/* LITIFUT_MODE=paths, edges_behind.c. Where the way that the block has to its target may lead,
 * which is behind the record of the start of that, with the Thumb bit; 0: to the target. */
uint32_t litifut_edges_behind_target(const struct litifut_session *session,
				     const struct litifut_graph_block *block);

/* The same: lets calls and jumps that no edge has moved lead there, once all edges are written.
 * LITIFUT_ERROR_SPACE as with litifut_edges_write(). */
enum litifut_status litifut_edges_lead_behind(struct litifut_session *session,
					      const struct litifut_rewrite_options *options,
					      const struct litifut_rooms *rooms,
					      struct litifut_frames *frames,
					      struct litifut_changes *changes,
					      struct litifut_error *error);

/* edge_steps.c: chooses steps, sets `step` of their edges, and fills `landings` with those of the
 * session and the steps behind them. Release `landings->items` with free(). */
enum litifut_status litifut_edge_steps_choose(struct litifut_session *session,
					      struct litifut_landings *landings,
					      struct litifut_error *error);

#endif
