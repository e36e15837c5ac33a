/* The blocks of the program's code, and what leads from one to another. */
#ifndef LITIFUT_REWRITER_GRAPH_H
#define LITIFUT_REWRITER_GRAPH_H

#include <litifut/module_format.h>
#include <stddef.h>
#include <stdint.h>

#include "rewriter/arch.h"
#include "rewriter/image.h"
#include "rewriter/rewriter.h"
#include "rewriter/targets.h"

struct litifut_graph_block {
	struct litifut_block block; /* as it will stand in .litifut.blocks */
	uint32_t function; /* that it stands in: its number in the image's symbols, and 1 */
	uint32_t callee;   /* of its end through a register, as known_callee() has it (callees.h) */
	uint16_t section;
	uint8_t last;         /* bytes of the instruction before the branch in the block; 0: none */
	uint8_t length;       /* bytes of the branch alone */
	uint8_t slot;         /* of its delay slot */
	bool likely;          /* that is executed only when it is taken */
	bool in_block;        /* the branch is made conditional by another instruction (`it`) */
	bool last_in_block;   /* so is the one before */
	bool exclusive;       /* the branch stands between an exclusive load and its store */
	bool first_exclusive; /* so does the first instruction */
	bool led_to;          /* it is the next block, or the target, of another */
	/* No way to it is known, and it is not only what fills up to data or to the end of its
	 * function: something may lead there unseen, as a goto out of a nested function does. */
	bool unreached;
	bool unrecorded;    /* the same of one whose branch is not recorded */
	bool scratch_lives; /* what the CPU's edges use may hold something in its function */
	bool behind_call;   /* the block before calls, and the callee may not return */
	uint8_t shift; /* so many bytes at its start become the delay slot of the entry before it */
	bool spawns;   /* its end may lead to a function that makes a child, see spawning.h */
	bool is_last;  /* its end may lead to a function that ends the program */
	/* LITIFUT_MODE=paths: its end is a jump whose code records where it leads, as the blocks
	 * there do not: one more than the register that says so; 0: it is not. */
	uint8_t jump_register;
	/* LITIFUT_MODE=paths: its start in the code of its edge, behind the record of that; 0: it
	 * is not recorded, that code is not written yet, or it can't begin there. */
	uint32_t behind;
};

/* What is recorded of a block. */
enum litifut_edge_way { LITIFUT_WAY_PASSED, LITIFUT_WAY_TAKEN, LITIFUT_WAY_ENTERED };

/* A conditional branch in code that belongs to no function, as assembly without `.type` (A32): it
 * has no block. */
struct litifut_graph_stray {
	uint32_t address;
	uint32_t target;
	uint16_t section;
	uint8_t length;
	bool thumb;
};

struct litifut_graph {
	struct litifut_graph_block *items; /* by address */
	size_t count;
	size_t capacity;
	struct litifut_graph_stray *strays;
	size_t stray_count;
	size_t stray_capacity;
	/* Where control can arrive but from the instruction before; the first holds what no branch
	 * says: tables, pointers, exceptions, symbols and addresses that code forms. */
	struct litifut_targets labels;
	struct litifut_targets formed; /* those whose address code forms: see formed.h */
	struct litifut_targets targets;
};

/* Finds the blocks of all functions that may be changed. Release with litifut_graph_release(), on
 * failure as well. */
enum litifut_status litifut_graph_make(const struct litifut_image *image,
				       const struct litifut_arch *arch,
				       const struct litifut_arch_context *context,
				       const struct litifut_rewrite_options *options,
				       struct litifut_graph *graph, struct litifut_error *error);

/* The number of the first block that ends behind `address`, `count` if there is none. */
size_t litifut_graph_first_behind(const struct litifut_graph *graph, uint32_t address);

/* The block that has the code at `address`, or NULL. */
const struct litifut_graph_block *litifut_graph_with(const struct litifut_graph *graph,
						     uint32_t address);

/* The block that starts at `address`, or NULL. */
struct litifut_graph_block *litifut_graph_at(const struct litifut_graph *graph, uint32_t address);

/* Is one of the blocks from `first` to before `end` unreached, and not found to be a label since?
 */
bool litifut_graph_has_unreached(const struct litifut_graph *graph, size_t first, size_t end);

void litifut_graph_release(struct litifut_graph *graph);

#endif
