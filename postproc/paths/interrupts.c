/* Interrupts and tasks of a firmware. A handler says where it came and where the registers of the
 * interrupted code are; what it reads of, and sets as, the stack pointer of tasks says which task
 * goes on. */
#include "postproc/paths/walker.h"

#include "cpu/cpu.h"
#include "cpu/step.h"

/* The interrupt handler that the thread is in, as far as is known; NULL: in none. Blocks are
 * followed to their end at once, so it may have been left already. */
static struct post_walk_frame *handler_of(struct post_walker *walker)
{
	size_t at = walker->count;

	while (at && !walker->frames[at - 1].between)
		at--;
	return at && !walker->left ? &walker->frames[at - 1] : NULL;
}

/* A handler has read the stack pointer of the task that it has interrupted. */
void post_walk_take_saved(struct post_walker *walker, uint32_t stack)
{
	walker->is_task = true;
	walker->stack = stack;
}

/* The handler returns to the task with this stack pointer. That of the other task is where the CPU
 * has put its registers: what reads it, in an instruction with a condition, say, need not be
 * recorded. */
void post_walk_take_resumed(struct post_walker *walker, uint32_t stack)
{
	struct post_walk_frame *handler = handler_of(walker);
	const bool open = handler && handler->registers;
	const uint32_t registers = open ? handler->registers : walker->handled;

	if (registers & 1)
		post_walk_take_saved(walker, registers & ~1u);
	if (open) {
		handler->switches = true;
		handler->task = stack;
		return;
	}
	walker->handled = 0;
	walker->switching = true;
	walker->next_task = stack;
}

static bool may_execute(const struct post_walker *walker)
{
	return walker->at.state == POST_WALK_ENTRY &&
	       !post_walk_block(&walker->at)->block.entered && !walker->switching;
}

/* Does the thread stand in this block, or may it come there before anything else is recorded? */
static bool is_expected(const struct post_walker *walker, const struct post_path_code *code,
			uint32_t block)
{
	const struct post_path_block *last =
		&walker->at.code->blocks[walker->last < walker->at.code->count ? walker->last : 0];
	const struct post_walk_ahead ahead = post_walk_ahead(walker, code, block);

	return walker->last == block || ahead.leads_to || ahead.passes || ahead.jumps_to ||
	       (code->blocks[block].block.flags & LITIFUT_BLOCK_FUNCTION &&
		(ahead.may_call || last->block.ends == LITIFUT_ENDS_JUMP ||
		 (last->block.ends == LITIFUT_ENDS_CALL && last->target == POST_NONE)));
}

/* Does the address stand before the first instruction of the block, to which the thread has come?
 */
static bool is_before(const struct post_walker *walker, const struct post_path_code *code,
		      uint32_t block, uint32_t address)
{
	return walker->at.block == block && code->blocks[block].block.start == address;
}

/* Control has come to the block, but that was not recorded yet. */
static void begin(struct post_walk *walk, struct post_walker *walker,
		  const struct post_path_code *code, uint32_t block)
{
	const struct post_walk_place before = walker->at;

	if (walker->begun != POST_NONE)
		return;
	walker->at = post_walk_start_of(code, block);
	post_walk_give(walk, walker, POST_PATH_BLOCK);
	walker->at = before;
	walker->begun = block;
}

/* What the instruction at the address does. Returns its length, or 0 if it can't be read. */
static unsigned step_at(const struct post_path_code *code, const struct post_image *image,
			uint32_t at, bool thumb, unsigned *conditional, struct cpu_step *step)
{
	const struct cpu_context context = {.big_endian = image->big_endian_code};
	uint8_t bytes[4];

	*step = (struct cpu_step){0};
	if (!code->cpu->step || !post_image_bytes(image, at, bytes, sizeof(bytes)))
		return 0;
	return code->cpu->step(&context, bytes, sizeof(bytes), at,
			       thumb ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN, conditional, step);
}

#define INSTRUCTIONS_MOST 16 /* of the code of an edge that are looked at */

uint32_t post_walk_way_out(const struct post_path_code *code, const struct post_image *image,
			   uint32_t at, bool thumb, bool *records)
{
	uint32_t skips_to = 0; /* AVR: where an instruction leads that passes over this one */
	unsigned conditional = 0;

	*records = false;
	for (unsigned i = 0; i < INSTRUCTIONS_MOST; i++) {
		struct cpu_step step;
		const struct post_symbol *symbol;
		const unsigned length = step_at(code, image, at, thumb, &conditional, &step);

		symbol = post_symbols_find(&image->symbols, step.target & ~1u);
		if (!length || step.way == LITIFUT_ENDS_RETURN || step.way == LITIFUT_ENDS_JUMP)
			return 0;
		if (step.way == LITIFUT_ENDS_CALL && symbol && post_symbol_is_tracer(symbol))
			*records = true;
		else if (step.way != LITIFUT_ENDS_ON && !step.conditional &&
			 skips_to != at + length) {
			if (!code->cpu->interrupts_exactly || !symbol ||
			    symbol != post_symbols_find(&image->symbols, at))
				return step.target & ~1u;
			/* it leads on within the code beside the program's, to the bit 0 */
			at = step.target;
			skips_to = 0;
			continue;
		}
		skips_to = step.conditional ? step.target : 0;
		at += length;
	}
	return 0;
}

/* A branch in a block that does not reach the code of its edge leads to another branch, which
 * stands in the code of a further block and leads there (rewriter/arm/stone.h). Returns where that
 * code is if such a branch stands at `at`, else `at`. */
static uint32_t past_stone(const struct post_path_code *code, const struct post_image *image,
			   uint32_t at)
{
	const uint32_t block = post_image_block(image, at);
	const struct post_path_edge *edge;
	struct cpu_step step;
	unsigned conditional = 0;

	/* AVR has none of them */
	if (block == POST_NONE || code->cpu->interrupts_exactly ||
	    !step_at(code, image, at, code->blocks[block].block.flags & LITIFUT_BLOCK_THUMB,
		     &conditional, &step) ||
	    step.conditional || !step.target)
		return at;
	edge = post_path_edge(code, step.target & ~1u);
	return edge && edge->address == (step.target & ~1u) && edge->block != block ? edge->address
										    : at;
}

/* Does the block record its start at the address, an instruction of the program's own, or behind
 * it?
 */
static bool records_behind(const struct post_image *image, const struct post_path_code *code,
			   uint32_t block, uint32_t address)
{
	const struct litifut_block *of = &code->blocks[block].block;
	unsigned conditional = 0;
	unsigned length;

	if (address < of->start)
		return false;
	for (uint32_t at = address; at < of->end; at += length) {
		const struct post_path_edge *edge;
		struct cpu_step step;

		length = step_at(code, image, at, of->flags & LITIFUT_BLOCK_THUMB, &conditional,
				 &step);
		if (!length)
			return false;
		edge = step.target
			       ? post_path_edge(code, past_stone(code, image, step.target & ~1u))
			       : NULL;
		if (edge && edge->block == block)
			return edge->entry || edge->both;
	}
	return false;
}

/* The thread goes on into the block, to the instruction at the address. `entering': it is about to
 * record that it has come there, so that code which is not followed may have led to the block. */
static void go_into(struct post_walk *walk, struct post_walker *walker,
		    const struct post_path_code *code, uint32_t block, uint32_t address,
		    bool entering)
{
	const struct post_walk_ahead ahead = post_walk_ahead(walker, code, block);
	const bool returns = entering && ahead.returns_to;
	/* the next round of a loop */
	const bool anew =
		(ahead.leads_to || ahead.jumps_to) && !code->cpu->interrupts_exactly &&
		records_behind(walk->session->modules[code->module].image, code, block, address);

	if (!ahead.passes && !ahead.leads_to && !ahead.jumps_to && !ahead.may_call && !returns &&
	    !(entering && ahead.outside &&
	      code->blocks[block].block.flags & LITIFUT_BLOCK_FUNCTION))
		return;
	/* it may have been executed before */
	for (size_t i = 0; i < code->count; i++) {
		if (returns && walker->at.state == POST_WALK_JUMP) {
			post_walk_leave(walker);
			continue;
		}
		/* a call of code that is not followed has returned */
		if (walker->at.state == POST_WALK_CALL && (ahead.passes || ahead.leads_to))
			walker->at.state = POST_WALK_ENTRY;
		if (!may_execute(walker))
			break;
		if (is_before(walker, code, block, address) ||
		    (!ahead.passes && !anew && walker->last == block))
			break;
		/* if it ends an interrupt, the last one is that of the code that goes on */
		const bool there = walker->at.code == code && walker->at.block == block;

		post_walk_execute(walk, walker);
		if (there || walker->last == block)
			break;
	}
	if (walker->last != block && code->blocks[block].block.start != address &&
	    code->blocks[block].block.entered)
		begin(walk, walker, code, block);
	post_walk_prove(walk, walker);
}

/* The same in the code of an edge, on a CPU where the address says whether something is stored. If
 * a call has moved to the start of that code, from the block before, nothing else leads there, and
 * the block has begun when the call of the tracer's code is under way. */
static void find_in_edge(struct post_walk *walk, struct post_walker *walker,
			 const struct post_path_code *code, const struct post_path_edge *edge,
			 uint32_t link, bool under_way)
{
	const struct post_image *image = walk->session->modules[code->module].image;
	const uint32_t block = edge->block;
	const bool thumb = code->blocks[block].block.flags & LITIFUT_BLOCK_THUMB;
	uint32_t out, next;
	bool records, first;

	post_walk_way_out(code, image, edge->address, thumb, &first);
	out = post_walk_way_out(code, image, link, thumb, &records);
	next = out && !records ? post_image_block_start(image, out) : POST_NONE;
	if (edge->entry && !first && link == edge->address && block)
		go_into(walk, walker, code, block - 1, link, false);
	else if (records)
		go_into(walk, walker, code, block,
			edge->entry && !first && !under_way ? code->blocks[block].block.start
							    : link,
			post_walk_is_entering(code, edge, link) &&
				(edge->entry || link == edge->address));
	else if (next != POST_NONE && !(code->blocks[next].block.flags & LITIFUT_BLOCK_LEFT))
		/* a call that has moved has returned */
		go_into(walk, walker, code, next, out, false);
}

/* The code of the edge records that control has come to the block, and that call of the tracer is
 * not `ahead' any more. A function may have returned since then, as nothing more need be recorded
 * of it. */
static bool was_recorded(const struct post_path_code *code, const struct post_path_edge *edge,
			 bool ahead)
{
	return !ahead && edge->entry &&
	       code->blocks[edge->block].block.entered == LITIFUT_ENTERED_RECORD;
}

/* Does code of the edge before the address call the tracer's? */
static bool has_called(const struct post_path_code *code, const struct post_image *image,
		       const struct post_path_edge *edge, uint32_t address)
{
	const bool thumb = code->blocks[edge->block].block.flags & LITIFUT_BLOCK_THUMB;
	unsigned conditional = 0;
	unsigned length;

	for (uint32_t at = edge->address; at < address; at += length) {
		struct cpu_step step;
		const struct post_symbol *symbol;

		length = step_at(code, image, at, thumb, &conditional, &step);
		if (!length)
			return false;
		symbol = post_symbols_find(&image->symbols, step.target & ~1u);
		if (step.way == LITIFUT_ENDS_CALL && symbol && post_symbol_is_tracer(symbol))
			return true;
	}
	return false;
}

/* Is the address one of the code of the edge? Behind its end may stand instructions of other
 * blocks, which have made room. */
static bool is_of_edge(const struct post_path_code *code, const struct post_image *image,
		       const struct post_path_edge *edge, uint32_t address)
{
	const bool thumb = code->blocks[edge->block].block.flags & LITIFUT_BLOCK_THUMB;
	uint32_t furthest = 0; /* to which a branch within it leads, also one that is always taken
				  (Cortex-M55) */
	unsigned conditional = 0;
	unsigned length;

	for (uint32_t at = edge->address; at < address; at += length) {
		struct cpu_step step;
		const struct post_symbol *symbol;

		length = step_at(code, image, at, thumb, &conditional, &step);
		if (!length)
			return false;
		if (step.conditional ||
		    ((step.target & ~1u) > at && (step.target & ~1u) <= address)) {
			if ((step.target & ~1u) > furthest)
				furthest = step.target & ~1u;
			continue;
		}
		/* a call of an address where no function starts is a jump (Cortex-M0) */
		symbol = post_symbols_find(&image->symbols, step.target & ~1u);
		if (step.way == LITIFUT_ENDS_CALL &&
		    (!step.target || (symbol && post_symbol_is_tracer(symbol)) ||
		     (symbol && symbol->address == (step.target & ~1u))))
			continue;
		if (step.way != LITIFUT_ENDS_ON && furthest <= at)
			return false;
	}
	return true;
}

/* It is not known where the thread is, but the interrupt came in code that was about to record a
 * branch, or that control has come to a block. */
static void find_place(struct post_walk *walk, struct post_walker *walker,
		       const struct post_path_code *code, uint32_t link)
{
	const struct post_image *image = walk->session->modules[code->module].image;
	const struct post_path_edge *edge = image && post_image_block(image, link) == POST_NONE
						    ? post_path_edge(code, link)
						    : NULL;
	bool records = false, enters;

	if (!edge || !walker->lost ||
	    post_symbols_find(&image->symbols, link) !=
		    post_symbols_find(&image->symbols, edge->address))
		return;
	post_walk_way_out(code, image, link,
			  code->blocks[edge->block].block.flags & LITIFUT_BLOCK_THUMB, &records);
	if (!records)
		return;
	enters = edge->entry || (edge->both && code->blocks[edge->block].block.entered &&
				 !has_called(code, image, edge, link));
	walker->at = post_walk_start_of(code, edge->block);
	if (!enters)
		walker->at.state = POST_WALK_BRANCH;
	walker->lost = false;
	if (!enters)
		post_walk_give(walk, walker, POST_PATH_BLOCK);
	else
		begin(walk, walker, code, edge->block);
}

/* An interrupt has come before the instruction at the address. What was executed by then
 * follows from the last decision and from the code behind it. */
static void find_interrupted(struct post_walk *walk, struct post_walker *walker, uint32_t address)
{
	const struct post_path_code *code;
	const struct post_path_edge *edge;
	const struct post_image *image;
	uint32_t module, link, block, out;
	const bool under_way = address & 1;
	bool records, again = false;

	if (!post_session_place(walk->process, walker->epoch, address, &module, &link))
		return;
	link &= ~1u;
	code = post_path_code(walk->codes, walk->session, module);
	image = walk->session->modules[module].image;
	if (image)
		link = past_stone(code, image, link);
	if (walker->at.state == POST_WALK_NOWHERE && !code->cpu->interrupts_exactly) {
		find_place(walk, walker, code, link);
		return;
	}
	if (walker->at.state == POST_WALK_NOWHERE && !walker->returned)
		return;
	block = image ? post_image_block(image, link) : POST_NONE;
	if (block != POST_NONE && !(code->blocks[block].block.flags & LITIFUT_BLOCK_LEFT)) {
		go_into(walk, walker, code, block, link,
			code->blocks[block].block.entered &&
				(code->cpu->interrupts_exactly
					 ? code->blocks[block].block.start == link
					 : records_behind(image, code, block, link)));
		return;
	}
	edge = block == POST_NONE ? post_path_edge(code, link) : NULL;
	block = POST_NONE;
	/* in other code, which is not followed: to there */
	if (edge && post_symbols_find(&image->symbols, link) !=
			    post_symbols_find(&image->symbols, edge->address))
		edge = NULL;
	if (edge && code->cpu->interrupts_exactly) {
		find_in_edge(walk, walker, code, edge, link, under_way);
		return;
	}
	if (edge) {
		block = edge->block;
		out = post_walk_way_out(code, image, link,
					code->blocks[block].block.flags & LITIFUT_BLOCK_THUMB,
					&records);
		/* its bit is not there yet */
		if (records && post_walk_ahead(walker, code, block).passes) {
			go_into(walk, walker, code, block, link, false);
			return;
		}
		/* beside it stands what makes room for it, which is of any block; or code that is
		 * not followed has returned to it */
		if ((!is_expected(walker, code, block) ||
		     (!records && !is_of_edge(code, image, edge, link))) &&
		    !(records && post_walk_is_entering(code, edge, link) &&
		      post_walk_ahead(walker, code, block).returns_to)) {
			block = out && !records ? post_image_block(image, out - 1) : POST_NONE;
			if (block != POST_NONE)
				go_into(walk, walker, code, block, link, false);
			return;
		}
		/* in the next round of a loop, if what the last one has recorded is ahead */
		if (records) {
			const struct post_walk_ahead ahead = post_walk_ahead(walker, code, block);

			again = ahead.leads_to || ahead.jumps_to;
			/* code that is not followed has returned by then */
			if (ahead.leads_to ? post_walk_returns_unseen(walker)
					   : again && walker->at.state == POST_WALK_CALL)
				post_walk_pass(walk, walker, true);
		}
	}
	for (size_t i = 0;
	     i < code->count && may_execute(walker) && (again || walker->last != block); i++)
		post_walk_execute(walk, walker);
	if (edge && (again || walker->last != block) && post_walk_is_entering(code, edge, link) &&
	    !was_recorded(code, edge, records))
		begin(walk, walker, code, block);
	post_walk_prove(walk, walker);
}

/* The registers of an interrupt are on the stack at `registers`, bit 0 set: it has interrupted no
 * handler. Has a handler whose own are at `before` returned by then? */
static bool has_returned(uint32_t before, uint32_t registers)
{
	return before && (registers & 1 || (!(before & 1) && before <= registers));
}

/* The handlers that have returned before the next one came, which nothing need have recorded. */
static void leave_handlers(struct post_walk *walk, struct post_walker *walker, uint32_t registers)
{
	size_t depth = 0;

	while (depth < walker->count && !has_returned(walker->frames[depth].registers, registers))
		depth++;
	if (depth == walker->count)
		return;
	/* what a handler goes back to may be unknown, and then has no code */
	for (size_t i = 0;
	     walker->count > depth && may_execute(walker) && i < walker->at.code->count; i++)
		post_walk_execute(walk, walker);
	/* through code that is not followed */
	if (walker->count > depth) {
		walker->count = depth + 1;
		post_walk_leave(walker);
	}
}

struct post_walker *post_walk_take_interrupt(struct post_walk *walk, struct post_walker *walker,
					     uint32_t address, uint32_t registers)
{
	/* words before it are missing */
	if (walker->lost && walker->rootless && !walker->stops) {
		post_walk_begin_anew(walk, walker);
		walker->amid = true;
	}
	if (!walker->stops) {
		leave_handlers(walk, walker, registers);
		while (walker->switching) {
			post_walk_prove(walk, walker);
			walker->switching = false;
			walker = post_walk_task(walk, walker, walker->next_task);
		}
	}
	/* a handler that has interrupted another one may have been left here too early */
	if (!walker->stops && (registers & 1 || handler_of(walker)))
		find_interrupted(walk, walker, address);
	walker->outer = walker->stops ? walker->registers : 0;
	walker->registers = registers;
	walker->stops++;
	return walker;
}
