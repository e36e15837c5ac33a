/* What can happen to a thread next, as far as the code alone says: whether a record fits there
 * shows what it is the record of. */
#include <string.h>

#include "postproc/paths/walker.h"

#define AHEAD_MOST 64 /* blocks */

/* Of blocks that follow from the code alone; bounds what damaged files can take. */
#define STRAIGHT_MOST ((size_t)1 << 24)

bool post_walk_is_in_circle(struct post_walk_circle *circle, const struct post_walker *walker)
{
	const struct post_walk_place *at = &walker->at;

	if (!circle->steps++)
		circle->outermost = walker->count;
	if (walker->count < circle->outermost)
		circle->outermost = walker->count;
	/* a function that calls itself without a decision does so again and again */
	if (circle->steps > STRAIGHT_MOST || walker->count - circle->outermost > at->code->count)
		return true;
	/* the same function has not returned since */
	if (circle->code == at->code && circle->block == at->block &&
	    circle->depth == walker->count)
		return true;
	if (circle->steps >= circle->next || walker->count < circle->depth) {
		circle->next = 2 * circle->steps;
		circle->code = at->code;
		circle->block = at->block;
		circle->depth = walker->count;
	}
	return false;
}

/* How many functions on top of the stack end in code that is not followed, so that nothing is
 * recorded when they return. A callback or a handler that does goes back to code that is not
 * followed either, or to the block that it came before. Behind a call that has nothing behind it no
 * function returns. */
static size_t ends_unseen(const struct post_walker *walker)
{
	const struct post_walk_place *place = &walker->at;
	size_t ends = 0;

	while (place->state == POST_WALK_JUMP && ends < walker->count) {
		const struct post_walk_frame *frame = &walker->frames[walker->count - ++ends];

		if (post_walk_block(place)->block.ends == LITIFUT_ENDS_CALL)
			return 0;
		place = &frame->back;
		if (!frame->between &&
		    (place->state != POST_WALK_ENTRY || post_walk_block(place)->block.entered))
			return 0;
	}
	return place->state == POST_WALK_CALL || place->state == POST_WALK_ENTRY ? ends : 0;
}

/* In code that is not followed, which records nothing when it returns? */
bool post_walk_returns_unseen(const struct post_walker *walker)
{
	return walker->at.state == POST_WALK_CALL || ends_unseen(walker);
}

void post_walk_leave_unseen(struct post_walker *walker)
{
	for (size_t ends = ends_unseen(walker); ends; ends--)
		post_walk_leave(walker);
}

bool post_walk_is_outside(const struct post_walker *walker)
{
	const struct post_walk_place *place = &walker->at;
	const struct post_path_block *last;

	if (place->state == POST_WALK_CALL || place->state == POST_WALK_JUMP)
		return true;
	if (place->state != POST_WALK_ENTRY || !post_walk_block(place)->block.entered ||
	    walker->last >= place->code->count)
		return false;
	last = &place->code->blocks[walker->last];
	return last->block.ends == LITIFUT_ENDS_CALL && last->target == POST_NONE &&
	       last->next == place->block;
}

/* The function that ended in such code returns. False: to where is not known. */
static bool comes_back(struct post_walker *ahead, const struct post_walker *walker,
		       const struct post_walk_frame *own, size_t *own_count)
{
	if (*own_count) {
		ahead->at = own[--*own_count].back;
		return true;
	}
	if (!ahead->count || walker->frames[ahead->count - 1].interrupt)
		return false;
	ahead->frames = walker->frames;
	post_walk_leave(ahead);
	return true;
}

static bool has_name(const struct post_path_code *code, uint32_t function, const char *name)
{
	size_t count = 0;
	const struct post_symbol *symbol =
		name ? post_symbols_named(&code->image->symbols, name, &count) : NULL;

	for (size_t i = 0; symbol && i < count; i++)
		if (symbol[i].address == code->blocks[function].block.start)
			return true;
	return false;
}

static bool ends_calls(const char *name)
{
	static const char *const names[] = {"__cxa_throw",    "__cxa_rethrow", "__cxa_end_cleanup",
					    "_Unwind_Resume", "longjmp",       "_longjmp",
					    "siglongjmp",     "__longjmp_chk"};

	for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* The name by which the code at the place has led to what is not followed, or NULL. */
static const char *callee_at(const struct post_walk_place *place)
{
	uint32_t call = place->block;

	if (place->state == POST_WALK_JUMP)
		return place->code->blocks[call].callee;
	if (place->state != POST_WALK_CALL)
		return NULL;
	/* a delay slot to which a branch leads is a block in between */
	for (unsigned steps = 0; call && steps < 2; steps++)
		if (place->code->blocks[--call].block.ends == LITIFUT_ENDS_CALL)
			return place->code->blocks[call].next == place->block
				       ? place->code->blocks[call].callee
				       : NULL;
	return NULL;
}

bool post_walk_is_switch_to(const struct post_walk_place *place, const struct post_path_code *code,
			    uint32_t label)
{
	return post_walk_block(place)->block.ends == LITIFUT_ENDS_JUMP &&
	       code->blocks[label].block.flags & LITIFUT_BLOCK_LABEL &&
	       post_walk_is_of_function(place, code, label);
}

/* From there, and if that is in code that is not followed, when it returns. */
struct post_walk_ahead post_walk_ahead(const struct post_walker *walker,
				       const struct post_path_code *code, uint32_t number)
{
	struct post_walker ahead = *walker;
	struct post_walk_frame frames[AHEAD_MOST];
	struct post_walk_ahead seen = {0};
	size_t own = 0;       /* of them */
	bool through = false; /* code that is not followed, whose return is recorded */

	seen.outside = post_walk_is_outside(&ahead);
	/* the record of a label by its number shows that control has come there */
	seen.jumps_to = (ahead.at.state == POST_WALK_JUMP ||
			 (ahead.at.state == POST_WALK_RECORDED &&
			  post_walk_block(&ahead.at)->block.flags & LITIFUT_BLOCK_JUMPS_WITHIN)) &&
			post_walk_is_switch_to(&ahead.at, code, number);
	post_walk_leave_unseen(&ahead);
	for (unsigned steps = 0; steps < AHEAD_MOST; steps++) {
		const struct post_path_block *block;
		size_t before;

		seen.outside |= post_walk_is_outside(&ahead);
		if (ahead.at.state == POST_WALK_CALL)
			ahead.at.state = POST_WALK_ENTRY;
		seen.jumps_to |= !through && ahead.at.state == POST_WALK_JUMP &&
				 post_walk_is_switch_to(&ahead.at, code, number);
		if (ahead.at.state == POST_WALK_JUMP && comes_back(&ahead, walker, frames, &own)) {
			through = true;
			continue;
		}
		if (ahead.at.state != POST_WALK_ENTRY) {
			/* the outermost function that is known has returned */
			seen.outside |=
				ahead.at.state == POST_WALK_NOWHERE && (steps || ahead.returned);
			break;
		}
		block = post_walk_block(&ahead.at);
		const bool there = ahead.at.code == code && ahead.at.block == number;

		seen.returns_to |= through && there;
		if (block->block.entered && !ahead.at.behind) {
			seen.leads_to = !through && there;
			break;
		}
		seen.passes |= !through && there;
		if (block->block.flags & LITIFUT_BLOCK_CONDITIONAL)
			break;
		seen.jumps_to |= !through && post_walk_is_switch_to(&ahead.at, code, number);
		seen.may_call |=
			!through &&
			(block->block.ends == LITIFUT_ENDS_JUMP ||
			 (block->block.ends == LITIFUT_ENDS_CALL && block->target == POST_NONE));
		seen.pointer |= !through && block->pointer;
		seen.named |= !through && has_name(code, number, block->callee);
		seen.throws |= !through && ends_calls(block->callee);
		ahead.last = ahead.at.block;
		if (block->block.ends == LITIFUT_ENDS_RETURN && own) {
			ahead.at = frames[--own].back;
			continue;
		}
		/* calls are pushed to a stack of this function's own */
		before = ahead.count;
		ahead.frames = frames;
		ahead.count = own;
		ahead.capacity = AHEAD_MOST + 1;
		if (block->block.ends == LITIFUT_ENDS_RETURN) {
			ahead.frames = walker->frames;
			ahead.count = before;
			post_walk_leave(&ahead);
			continue;
		}
		post_walk_end_block(&ahead);
		own = ahead.count;
		ahead.count = before;
	}
	return seen;
}

bool post_walk_leads_by_name(const struct post_walk_place *place, const struct post_path_code *code,
			     uint32_t function)
{
	return !place->calls && has_name(code, function, callee_at(place));
}

bool post_walk_throws(const struct post_walker *walker)
{
	return ends_calls(walker->at.state == POST_WALK_ENTRY
				  ? walker->at.code->blocks[walker->last].callee
				  : callee_at(&walker->at));
}

bool post_walk_throws_later(const struct post_walker *walker, const struct post_path_code *code,
			    uint32_t number)
{
	return walker->at.state == POST_WALK_CALL && !ends_calls(callee_at(&walker->at)) &&
	       !post_walk_lands_at(&walker->at, code, code->blocks[number].block.start);
}

void post_walk_pass_by_name(struct post_walk *walk, struct post_walker *walker,
			    const struct post_path_code *code, uint32_t function)
{
	const char *name;

	post_walk_leave_unseen(walker);
	do {
		if (walker->at.state == POST_WALK_CALL)
			walker->at.state = POST_WALK_ENTRY;
		post_walk_advance(walk, walker);
		name = callee_at(&walker->at);
	} while (walker->at.state == POST_WALK_CALL &&
		 !(function == POST_NONE ? ends_calls(name) : has_name(code, function, name)));
}

/* Is the thread behind a call through a pointer? */
static bool is_behind_pointer(const struct post_walker *walker)
{
	return walker->at.state == POST_WALK_CALL && walker->at.code->blocks[walker->last].pointer;
}

/* What the function ends in is taken for code that calls none, until one has come from there. */
bool post_walk_is_answered(const struct post_walker *walker)
{
	struct post_walker behind = *walker;

	while (behind.at.state == POST_WALK_JUMP) {
		const struct post_path_block *block = post_walk_block(&behind.at);

		if (block->block.ends == LITIFUT_ENDS_CALL || block->pointer != behind.at.calls ||
		    !behind.count || behind.frames[behind.count - 1].interrupt)
			return false;
		post_walk_leave(&behind);
	}
	return behind.at.state == POST_WALK_ENTRY ||
	       (is_behind_pointer(&behind) && behind.at.calls);
}

void post_walk_pass(struct post_walk *walk, struct post_walker *walker, bool to_block)
{
	post_walk_leave_unseen(walker);
	post_walk_advance(walk, walker);
	while (walker->at.state == POST_WALK_CALL &&
	       (to_block || walker->at.calls || !is_behind_pointer(walker))) {
		walker->at.state = POST_WALK_ENTRY;
		post_walk_advance(walk, walker);
	}
}

bool post_walk_has_gone_on(const struct post_walker *walker, const struct post_path_code *code,
			   uint32_t function)
{
	const struct post_walk_frame *handler =
		walker->count ? &walker->frames[walker->count - 1] : NULL;
	struct post_walker behind = *walker;
	struct post_walk_ahead ahead;

	if (!handler || !handler->between || !handler->interrupt || handler->switches ||
	    walker->at.state != POST_WALK_JUMP || !walker->at.calls ||
	    post_walk_block(&walker->at)->block.ends != LITIFUT_ENDS_JUMP ||
	    handler->back.state == POST_WALK_NOWHERE)
		return false;
	behind.count--;
	behind.at = handler->back;
	behind.last = handler->last;
	ahead = post_walk_ahead(&behind, code, function);
	return ahead.leads_to || ahead.may_call;
}
