/* Where a thread goes on that control has come to otherwise than by a call, a return or a branch:
 * by longjmp() or an exception, which end calls. */
#include "postproc/paths/walker.h"

/* Has the function of the place ended, in code that is not followed? */
static bool has_ended(const struct post_walk_place *place)
{
	const unsigned ends = post_walk_block(place)->block.ends;

	return place->state == POST_WALK_JUMP &&
	       (ends == LITIFUT_ENDS_ON || ends == LITIFUT_ENDS_BRANCH);
}

bool post_walk_is_of_function(const struct post_walk_place *place,
			      const struct post_path_code *code, uint32_t block)
{
	return place->state != POST_WALK_NOWHERE && place->code == code &&
	       code->blocks[place->block].function == code->blocks[block].function;
}

bool post_walk_is_in_function(const struct post_walk_place *place,
			      const struct post_path_code *code, uint32_t block)
{
	return post_walk_is_of_function(place, code, block) && !has_ended(place);
}

bool post_walk_unwind_outside(struct post_walk *walk, struct post_walker *walker)
{
	size_t left = walker->count;

	if (walker->at.state == POST_WALK_JUMP &&
	    post_walk_block(&walker->at)->block.ends != LITIFUT_ENDS_CALL)
		return false;
	while (left && !walker->frames[left - 1].between)
		left--;
	if (!left || walker->frames[left - 1].interrupt)
		return false;
	post_walk_unwind(walk, walker, left);
	post_walk_leave(walker);
	return true;
}

bool post_walk_lands_at(const struct post_walk_place *place, const struct post_path_code *code,
			uint32_t address)
{
	uint32_t call = place->block;

	if (place->code != code || place->state == POST_WALK_NOWHERE ||
	    place->state == POST_WALK_BRANCH || place->state == POST_WALK_RECORDED)
		return false;
	if (place->state != POST_WALK_JUMP && (!call || code->blocks[--call].next != place->block))
		return false;
	const struct litifut_block *block = &code->blocks[call].block;

	return block->ends == LITIFUT_ENDS_CALL && !(block->flags & LITIFUT_BLOCK_CONDITIONAL) &&
	       block->passed == address;
}

/* What the thread is at when so many calls are left. */
static const struct post_walk_place *place_of(const struct post_walker *walker, size_t left)
{
	return left == walker->count ? &walker->at : &walker->frames[left].back;
}

bool post_walk_unwind_to(struct post_walk *walk, struct post_walker *walker,
			 const struct post_path_code *code, uint32_t block, uint32_t label)
{
	const uint32_t address = code->blocks[label].block.start;
	size_t left = walker->count + 1;

	while (left && !post_walk_lands_at(place_of(walker, left - 1), code, address))
		left--;
	if (!left)
		for (left = walker->count + 1; left; left--)
			if (post_walk_is_in_function(place_of(walker, left - 1), code, block))
				break;
	if (!left)
		return false;
	post_walk_unwind(walk, walker, left - 1);
	return true;
}

/* Behind a call of code that is not followed which does not return: as a bit comes, and a record
 * would have to, or as the call throws. */
static bool is_behind_throw(const struct post_walker *walker)
{
	return walker->at.state == POST_WALK_ENTRY && post_walk_is_outside(walker) &&
	       (post_walk_block(&walker->at)->block.entered == LITIFUT_ENTERED_RECORD ||
		post_walk_throws(walker));
}

void post_walk_come_back(struct post_walk *walk, struct post_walker *walker)
{
	const uint32_t begun = walker->begun;

	while (walker->at.state == POST_WALK_CALL || walker->at.state == POST_WALK_JUMP ||
	       is_behind_throw(walker)) {
		if (walker->at.state == POST_WALK_CALL && !post_walk_throws(walker))
			walker->at.state = POST_WALK_ENTRY;
		else if (!post_walk_unwind_outside(walk, walker)) {
			if (walker->at.state == POST_WALK_ENTRY)
				return;
			if (walker->at.state == POST_WALK_CALL)
				walker->at.state = POST_WALK_ENTRY;
			else
				post_walk_leave(walker);
		}
		if (walker->at.state == POST_WALK_ENTRY && walker->at.block == begun)
			walker->begun = begun;
		post_walk_advance(walk, walker);
	}
}
