#include "postproc/paths/divergence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/model/lines.h"

#define KEPT_MOST (UINT64_C(1) << 23) /* blocks of the bad run */
#define KEY_GAP 1                     /* in the place of an item */

struct kept_step {
	uint32_t module; /* POST_NONE: a gap */
	uint32_t block, depth;
};

/* A thread of the first bad run. */
struct post_path_lane {
	uint32_t thread;
	struct kept_step *steps;
	size_t count, capacity;
};

/* A thread of a good run beside its lane. */
struct post_path_follower {
	uint32_t thread;
	size_t step, item; /* the next one of the lane */
	size_t last_step;  /* that both have */
	uint32_t last_address;
	uint64_t last_good, last_bad; /* keys */
	uint64_t same;
	bool differs;
	size_t bad_step; /* what follows */
	uint32_t bad_address;
	bool bad_ends;
	char good[256];
};

bool post_path_spot_text(const struct post_session *session, const struct post_path_spot *spot,
			 char *text, size_t size)
{
	const char *file;
	unsigned line;

	if (!spot->code) {
		snprintf(text, size, "its end");
		return false;
	}
	if (!post_lines_place(session, spot->code->module, spot->address, &file, &line)) {
		snprintf(text, size, "%s 0x%" PRIx32, session->modules[spot->code->module].name,
			 spot->address);
		return false;
	}
	snprintf(text, size, "%s:%u", strrchr(file, '/') ? strrchr(file, '/') + 1 : file, line);
	return true;
}

struct post_path_spot post_path_spot_of_end(const struct post_path_code *code, uint32_t block)
{
	const struct litifut_block *about = &code->blocks[block].block;

	return (struct post_path_spot){code, about->branch ? about->branch : about->start};
}

static struct post_path_lane *lane_of(struct post_path_parting *parting, uint32_t thread)
{
	for (size_t i = 0; i < parting->lane_count; i++)
		if (parting->lanes[i].thread == thread)
			return &parting->lanes[i];
	POST_GROW(parting->lanes, parting->lane_count, parting->lane_capacity);
	parting->lanes[parting->lane_count] = (struct post_path_lane){.thread = thread};
	return &parting->lanes[parting->lane_count++];
}

/* Of the first bad run. */
void post_path_parting_keep(struct post_path_parting *parting, const struct post_path_step *step)
{
	struct post_path_lane *lane = lane_of(parting, step->thread);

	if (parting->kept++ >= KEPT_MOST)
		return;
	POST_GROW(lane->steps, lane->count, lane->capacity);
	lane->steps[lane->count++] = (struct kept_step){step->code ? step->code->module : POST_NONE,
							step->block, step->depth};
}

/* Step number `step` of a lane, with its keys; NULL: a gap. */
static const struct post_path_keys *kept_keys(struct post_path_parting *parting,
					      const struct post_path_lane *lane, size_t step,
					      const struct post_path_code **code)
{
	struct post_path_sides *sides = parting->sides;
	const struct kept_step *kept = &lane->steps[step];

	if (kept->module == POST_NONE)
		return NULL;
	*code = post_path_code(&sides->codes[POST_PATH_BAD], sides->sessions[POST_PATH_BAD],
			       kept->module);
	return post_path_keys(&sides->keys[POST_PATH_BAD], *code, kept->block);
}

/* The next item of the lane that differs from the one before; 0: it has ended. */
static uint64_t next_bad(struct post_path_parting *parting, const struct post_path_lane *lane,
			 struct post_path_follower *follower, uint32_t *address)
{
	while (follower->step < lane->count) {
		const struct post_path_code *code;
		const struct post_path_keys *keys = kept_keys(parting, lane, follower->step, &code);
		const bool gap = !keys;
		const uint64_t key = gap ? KEY_GAP : keys->items[follower->item].key;

		follower->bad_step = follower->step;
		*address = gap ? 0 : keys->items[follower->item].address;
		if (gap || ++follower->item == keys->count) {
			follower->step++;
			follower->item = 0;
		}
		if (key == follower->last_bad)
			continue;
		follower->last_bad = key;
		return key;
	}
	return 0;
}

/* `key` is the next item of the thread of the good run; 0: it has ended. */
static void compare(struct post_path_parting *parting, size_t number, uint64_t key,
		    const struct post_path_spot *spot)
{
	struct post_path_follower *follower = &parting->followers[number];
	uint32_t address = 0;
	uint64_t bad;

	if (follower->differs || (key && key == follower->last_good) ||
	    number >= parting->lane_count)
		return;
	follower->last_good = key;
	bad = next_bad(parting, &parting->lanes[number], follower, &address);
	if (bad == key) {
		follower->same++;
		follower->last_step = follower->bad_step;
		follower->last_address = address;
		return;
	}
	/* what was not kept is not known */
	if (!bad && parting->kept > KEPT_MOST)
		return;
	follower->differs = true;
	follower->bad_ends = !bad;
	follower->bad_address = address;
	if (key)
		post_path_spot_text(parting->sides->sessions[POST_PATH_GOOD], spot, follower->good,
				    sizeof(follower->good));
}

void post_path_parting_follow(struct post_path_parting *parting, const struct post_path_step *step)
{
	size_t number = 0;

	while (number < parting->follower_count &&
	       parting->followers[number].thread != step->thread)
		number++;
	if (number == parting->follower_count) {
		POST_GROW(parting->followers, parting->follower_count, parting->follower_capacity);
		parting->followers[parting->follower_count++] =
			(struct post_path_follower){.thread = step->thread};
	}
	if (parting->followers[number].differs)
		return;
	if (step->kind == POST_PATH_GAP) {
		compare(parting, number, KEY_GAP, &(struct post_path_spot){0});
		return;
	}
	const struct post_path_keys *keys =
		post_path_keys(&parting->sides->keys[POST_PATH_GOOD], step->code, step->block);

	for (uint32_t i = 0; i < keys->count; i++)
		compare(parting, number, keys->items[i].key,
			&(struct post_path_spot){step->code, keys->items[i].address});
}

/* Which activation of its function is it that has executed the last item that both have? */
static void find_activation(struct post_path_parting *parting, const struct post_path_lane *lane,
			    size_t last_step, struct post_path_divergence *divergence)
{
	struct post_path_tracker tracker = {0};
	struct post_path_sides *sides = parting->sides;
	const uint32_t function =
		divergence->last.code->blocks[lane->steps[last_step].block].function;
	const struct post_path_thread *thread;

	for (size_t i = 0; i <= last_step; i++) {
		const struct kept_step *kept = &lane->steps[i];
		struct post_path_step step = {.kind = POST_PATH_GAP, .thread = lane->thread};

		if (kept->module != POST_NONE)
			step = (struct post_path_step){
				POST_PATH_BLOCK, lane->thread,
				post_path_code(&sides->codes[POST_PATH_BAD],
					       sides->sessions[POST_PATH_BAD], kept->module),
				kept->block, kept->depth};
		if (post_path_track(&tracker, &step) && step.code == divergence->last.code &&
		    step.block == function)
			divergence->activation++;
	}
	thread = post_path_thread(&tracker, lane->thread);
	if (thread && thread->count > 1) {
		const uint32_t caller = post_path_caller(thread, thread->count - 1);

		if (caller != POST_NONE)
			divergence->caller =
				post_path_spot_of_end(thread->open[thread->count - 2].code, caller);
	}
	post_path_track_end(&tracker);
}

/* The run that has just been walked is the same for longer than those before. */
static void keep_divergences(struct post_path_parting *parting, uint32_t good_pid)
{
	const struct post_path_code *code;

	free(parting->divergences);
	parting->count = 0;
	parting->divergences =
		post_allocate(parting->follower_count + 1, sizeof(*parting->divergences));
	parting->good_pid = good_pid;
	for (size_t i = 0; i < parting->follower_count && i < parting->lane_count; i++) {
		const struct post_path_follower *follower = &parting->followers[i];
		const struct post_path_lane *lane = &parting->lanes[i];
		struct post_path_divergence *divergence = &parting->divergences[parting->count++];

		*divergence = (struct post_path_divergence){.differs = follower->differs,
							    .same = follower->same,
							    .thread = lane->thread};
		if (!follower->differs)
			continue;
		memcpy(divergence->good, follower->good, sizeof(divergence->good));
		if (!follower->bad_ends && kept_keys(parting, lane, follower->bad_step, &code))
			divergence->bad = (struct post_path_spot){code, follower->bad_address};
		if (follower->same && kept_keys(parting, lane, follower->last_step, &code)) {
			divergence->last = (struct post_path_spot){code, follower->last_address};
			find_activation(parting, lane, follower->last_step, divergence);
		}
	}
}

void post_path_parting_end(struct post_path_parting *parting, uint32_t good_pid)
{

	for (size_t i = 0; i < parting->follower_count; i++)
		compare(parting, i, 0, NULL);
	if (parting->follower_count &&
	    (!parting->count || !parting->followers[0].differs ||
	     (parting->divergences[0].differs &&
	      parting->followers[0].same > parting->divergences[0].same)))
		keep_divergences(parting, good_pid);
	parting->follower_count = 0;
}

void post_path_parting_release(struct post_path_parting *parting)
{
	for (size_t i = 0; i < parting->lane_count; i++)
		free(parting->lanes[i].steps);
	free(parting->lanes);
	free(parting->followers);
	free(parting->divergences);
	*parting = (struct post_path_parting){0};
}
