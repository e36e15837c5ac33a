/* The bad side is walked first: its paths are kept, and the blocks of its first run. Then each good
 * run is compared with that run while it is walked, and only leaves hashes of what it has executed.
 */
#include "postproc/paths/difference.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/model/lines.h"

#define KEPT_MOST (UINT64_C(1) << 23) /* blocks of the first bad run */
#define KEY_GAP 1                     /* in the place of an item */
#define KEY_STOPS 2                   /* behind the last item of a path */
#define KEY_RETURNS 3

struct kept_step {
	uint32_t module; /* POST_NONE: a gap */
	uint32_t block, depth;
};

/* A thread of the first bad run. */
struct lane {
	uint32_t thread;
	struct kept_step *steps;
	size_t count, capacity;
};

/* A thread of a good run beside its lane. */
struct follower {
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

struct maker {
	struct post_path_difference *difference;
	enum post_path_side side;
	const struct post_process *process;
	struct post_path_tracker tracker;
	uint64_t steps; /* of the run */
	uint64_t kept;
	struct lane *lanes;
	size_t lane_count, lane_capacity;
	struct follower *followers;
	size_t follower_count, follower_capacity;
	struct post_table findings;                       /* hash of a path -> number */
	struct post_table paths, items, pairs, functions; /* of good runs */
	struct post_path_key *path;                       /* of the piece that is looked at */
	size_t path_count, path_capacity;
};

static struct post_key split(uint64_t hash)
{
	return (struct post_key){{(uint32_t)hash, (uint32_t)(hash >> 32)}};
}

static bool has(const struct post_table *set, uint64_t hash)
{
	return post_table_find(set, split(hash)) != POST_NONE;
}

static void add(struct post_table *set, uint64_t hash)
{
	if (!has(set, hash))
		post_table_put(set, split(hash), 0);
}

static struct post_path_key_table *keys_of(struct maker *maker)
{
	return &maker->difference->keys[maker->side];
}

/* What a path ends with, in the place of one more item. */
static uint64_t ending_of(struct maker *maker, const struct post_path_piece *piece)
{
	const struct post_path_code *code = piece->thread->open[piece->depth].code;

	if (piece->ending == POST_PATH_LOOPS)
		return post_path_keys(keys_of(maker), code, piece->loops_to)->items[0].key;
	return piece->ending == POST_PATH_STOPS ? KEY_STOPS : KEY_RETURNS;
}

/* The items of the path, and its hash. In two builds the same line may be several blocks. */
static uint64_t read_path(struct maker *maker, const struct post_path_piece *piece)
{
	const struct post_path_code *code = piece->thread->open[piece->depth].code;
	uint64_t hash = 5;

	maker->path_count = 0;
	for (size_t i = 0; i < piece->count; i++) {
		const struct post_path_keys *keys =
			post_path_keys(keys_of(maker), code, piece->blocks[i]);

		for (uint32_t j = 0; j < keys->count; j++) {
			if (maker->path_count &&
			    maker->path[maker->path_count - 1].key == keys->items[j].key)
				continue;
			POST_GROW(maker->path, maker->path_count, maker->path_capacity);
			maker->path[maker->path_count++] = keys->items[j];
			hash = post_path_mix(hash, keys->items[j].key);
		}
	}
	return post_path_mix(hash, ending_of(maker, piece));
}

static void take_good(struct maker *maker, const struct post_path_piece *piece, uint64_t hash)
{
	const uint64_t ending = ending_of(maker, piece);

	if (has(&maker->paths, hash))
		return;
	add(&maker->paths, hash);
	for (size_t i = 0; i < maker->path_count; i++) {
		add(&maker->items, maker->path[i].key);
		add(&maker->pairs,
		    post_path_mix(maker->path[i].key,
				  i + 1 < maker->path_count ? maker->path[i + 1].key : ending));
	}
}

static struct post_path_spot spot_of_end(const struct post_path_code *code, uint32_t block)
{
	const struct litifut_block *about = &code->blocks[block].block;

	return (struct post_path_spot){code, about->branch ? about->branch : about->start};
}

static void find_callers(const struct post_path_piece *piece, struct post_path_finding *finding)
{
	const struct post_path_thread *thread = piece->thread;

	for (size_t i = 0; i < POST_PATH_CALLERS && i < piece->depth; i++) {
		const struct post_path_code *code = thread->open[piece->depth - i - 1].code;
		const uint32_t caller = post_path_caller(thread, piece->depth - i);

		if (caller == POST_NONE)
			break;
		finding->callers[i] = spot_of_end(code, caller);
	}
}

static void take_bad(struct maker *maker, const struct post_path_piece *piece, uint64_t hash)
{
	struct post_path_difference *difference = maker->difference;
	const struct post_path_activation *activation = &piece->thread->open[piece->depth];
	const uint32_t run = difference->runs[POST_PATH_BAD];
	uint32_t number = post_table_find(&maker->findings, split(hash));
	struct post_path_finding *finding;

	if (number == POST_NONE) {
		number = (uint32_t)difference->count;
		post_table_put(&maker->findings, split(hash), number);
		POST_GROW(difference->findings, difference->count, difference->capacity);
		finding = &difference->findings[difference->count++];
		*finding = (struct post_path_finding){
			.code = activation->code,
			.function = activation->function,
			.items = post_allocate(maker->path_count, sizeof(*finding->items)),
			.fresh = post_allocate(maker->path_count, sizeof(*finding->fresh)),
			.count = (uint32_t)maker->path_count,
			.first_at = UINT64_MAX,
			.ending = ending_of(maker, piece),
			.last_run = run,
			.runs = 1,
		};
		memcpy(finding->items, maker->path, maker->path_count * sizeof(*finding->items));
		find_callers(piece, finding);
	}
	finding = &difference->findings[number];
	finding->times++;
	if (finding->last_run != run) {
		finding->runs++;
		finding->last_run = run;
	}
	if (maker->steps < finding->first_at)
		finding->first_at = maker->steps;
}

static void take_piece(void *context, const struct post_path_piece *piece)
{
	struct maker *maker = context;
	const uint64_t hash = read_path(maker, piece);

	if (maker->side == POST_PATH_GOOD)
		take_good(maker, piece, hash);
	else
		take_bad(maker, piece, hash);
}

static struct lane *lane_of(struct maker *maker, uint32_t thread)
{
	for (size_t i = 0; i < maker->lane_count; i++)
		if (maker->lanes[i].thread == thread)
			return &maker->lanes[i];
	POST_GROW(maker->lanes, maker->lane_count, maker->lane_capacity);
	maker->lanes[maker->lane_count] = (struct lane){.thread = thread};
	return &maker->lanes[maker->lane_count++];
}

/* Of the first bad run. */
static void keep(struct maker *maker, const struct post_path_step *step)
{
	struct lane *lane = lane_of(maker, step->thread);

	if (maker->kept++ >= KEPT_MOST)
		return;
	POST_GROW(lane->steps, lane->count, lane->capacity);
	lane->steps[lane->count++] = (struct kept_step){step->code ? step->code->module : POST_NONE,
							step->block, step->depth};
}

/* Step number `step` of a lane, with its keys; NULL: a gap. */
static const struct post_path_keys *kept_keys(struct maker *maker, const struct lane *lane,
					      size_t step, const struct post_path_code **code)
{
	struct post_path_difference *difference = maker->difference;
	const struct kept_step *kept = &lane->steps[step];

	if (kept->module == POST_NONE)
		return NULL;
	*code = post_path_code(&difference->codes[POST_PATH_BAD],
			       difference->sessions[POST_PATH_BAD], kept->module);
	return post_path_keys(&difference->keys[POST_PATH_BAD], *code, kept->block);
}

/* The next item of the lane that differs from the one before; 0: it has ended. */
static uint64_t next_bad(struct maker *maker, const struct lane *lane, struct follower *follower,
			 uint32_t *address)
{
	while (follower->step < lane->count) {
		const struct post_path_code *code;
		const struct post_path_keys *keys = kept_keys(maker, lane, follower->step, &code);
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
static void compare(struct maker *maker, size_t number, uint64_t key,
		    const struct post_path_spot *spot)
{
	struct follower *follower = &maker->followers[number];
	uint32_t address = 0;
	uint64_t bad;

	if (follower->differs || (key && key == follower->last_good) || number >= maker->lane_count)
		return;
	follower->last_good = key;
	bad = next_bad(maker, &maker->lanes[number], follower, &address);
	if (bad == key) {
		follower->same++;
		follower->last_step = follower->bad_step;
		follower->last_address = address;
		return;
	}
	/* what was not kept is not known */
	if (!bad && maker->kept > KEPT_MOST)
		return;
	follower->differs = true;
	follower->bad_ends = !bad;
	follower->bad_address = address;
	if (key)
		post_path_spot_text(maker->difference->sessions[POST_PATH_GOOD], spot,
				    follower->good, sizeof(follower->good));
}

static void follow(struct maker *maker, const struct post_path_step *step)
{
	size_t number = 0;

	while (number < maker->follower_count && maker->followers[number].thread != step->thread)
		number++;
	if (number == maker->follower_count) {
		POST_GROW(maker->followers, maker->follower_count, maker->follower_capacity);
		maker->followers[maker->follower_count++] =
			(struct follower){.thread = step->thread};
	}
	if (maker->followers[number].differs)
		return;
	if (step->kind == POST_PATH_GAP) {
		compare(maker, number, KEY_GAP, &(struct post_path_spot){0});
		return;
	}
	const struct post_path_keys *keys = post_path_keys(keys_of(maker), step->code, step->block);

	for (uint32_t i = 0; i < keys->count; i++)
		compare(maker, number, keys->items[i].key,
			&(struct post_path_spot){step->code, keys->items[i].address});
}

static void take_step(void *context, const struct post_path_step *step)
{
	struct maker *maker = context;

	if (step->kind != POST_PATH_BLOCK && step->kind != POST_PATH_GAP)
		return;
	maker->steps++;
	if (step->kind == POST_PATH_GAP)
		maker->difference->gaps++;
	if (maker->side == POST_PATH_GOOD)
		follow(maker, step);
	else if (maker->difference->runs[POST_PATH_BAD] == 0)
		keep(maker, step);
	post_path_track(&maker->tracker, step);
}

/* Which activation of its function is it that has executed the last item that both have? */
static void find_activation(struct maker *maker, const struct lane *lane, size_t last_step,
			    struct post_path_divergence *divergence)
{
	struct post_path_tracker tracker = {0};
	struct post_path_difference *difference = maker->difference;
	const uint32_t function =
		divergence->last.code->blocks[lane->steps[last_step].block].function;
	const struct post_path_thread *thread;

	for (size_t i = 0; i <= last_step; i++) {
		const struct kept_step *kept = &lane->steps[i];
		struct post_path_step step = {.kind = POST_PATH_GAP, .thread = lane->thread};

		if (kept->module != POST_NONE)
			step = (struct post_path_step){
				POST_PATH_BLOCK, lane->thread,
				post_path_code(&difference->codes[POST_PATH_BAD],
					       difference->sessions[POST_PATH_BAD], kept->module),
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
				spot_of_end(thread->open[thread->count - 2].code, caller);
	}
	post_path_track_end(&tracker);
}

/* The run that has just been walked is the same for longer than those before. */
static void keep_divergences(struct maker *maker)
{
	struct post_path_difference *difference = maker->difference;
	const struct post_path_code *code;

	free(difference->divergences);
	difference->divergence_count = 0;
	difference->divergences =
		post_allocate(maker->follower_count + 1, sizeof(*difference->divergences));
	difference->good_pid = maker->process->trace->header.pid;
	for (size_t i = 0; i < maker->follower_count && i < maker->lane_count; i++) {
		const struct follower *follower = &maker->followers[i];
		const struct lane *lane = &maker->lanes[i];
		struct post_path_divergence *divergence =
			&difference->divergences[difference->divergence_count++];

		*divergence = (struct post_path_divergence){.differs = follower->differs,
							    .same = follower->same,
							    .thread = lane->thread};
		if (!follower->differs)
			continue;
		memcpy(divergence->good, follower->good, sizeof(divergence->good));
		if (!follower->bad_ends && kept_keys(maker, lane, follower->bad_step, &code))
			divergence->bad = (struct post_path_spot){code, follower->bad_address};
		if (follower->same && kept_keys(maker, lane, follower->last_step, &code)) {
			divergence->last = (struct post_path_spot){code, follower->last_address};
			find_activation(maker, lane, follower->last_step, divergence);
		}
	}
}

static void finish_good_run(struct maker *maker)
{
	const struct post_path_difference *difference = maker->difference;

	for (size_t i = 0; i < maker->follower_count; i++)
		compare(maker, i, 0, NULL);
	if (maker->follower_count &&
	    (!difference->divergence_count || !maker->followers[0].differs ||
	     (difference->divergences[0].differs &&
	      maker->followers[0].same > difference->divergences[0].same)))
		keep_divergences(maker);
	maker->follower_count = 0;
}

/* Of the good program: each function, as it is there. */
static void add_functions(struct maker *maker)
{
	struct post_path_difference *difference = maker->difference;
	struct post_path_codes *codes = &difference->codes[POST_PATH_GOOD];
	struct post_session *session = difference->sessions[POST_PATH_GOOD];

	for (size_t i = 0; i < codes->count; i++) {
		const struct post_path_code *code = codes->items[i];

		if (!code || post_path_is_same_build(&difference->keys[POST_PATH_GOOD], code))
			continue;
		for (uint32_t j = 0; j < code->count; j++) {
			if (code->blocks[j].function != j)
				continue;
			const uint32_t number = post_session_function(session, code->module,
								      code->blocks[j].block.start);

			add(&maker->functions,
			    post_path_mix_text(post_path_fingerprint(
						       &difference->keys[POST_PATH_GOOD], code, j),
					       session->functions[number].name));
		}
	}
}

static bool is_changed(struct maker *maker, const struct post_path_finding *finding)
{
	struct post_path_difference *difference = maker->difference;
	struct post_path_key_table *keys = &difference->keys[POST_PATH_BAD];
	struct post_session *session = difference->sessions[POST_PATH_BAD];

	if (post_path_is_same_build(keys, finding->code))
		return false;
	const uint32_t number =
		post_session_function(session, finding->code->module,
				      finding->code->blocks[finding->function].block.start);

	return !has(&maker->functions, post_path_mix_text(post_path_fingerprint(keys, finding->code,
										finding->function),
							  session->functions[number].name));
}

static void judge(struct maker *maker, struct post_path_finding *finding)
{
	for (uint32_t i = 0; i < finding->count; i++) {
		const uint64_t next =
			i + 1 < finding->count ? finding->items[i + 1].key : finding->ending;

		finding->fresh[i] = !has(&maker->items, finding->items[i].key);
		finding->unseen |= !has(&maker->pairs, post_path_mix(finding->items[i].key, next));
	}
	finding->changed = is_changed(maker, finding);
}

static int by_meaning(const void *left, const void *right)
{
	const struct post_path_finding *a = left, *b = right;
	const bool new_a = a->unseen || a->changed, new_b = b->unseen || b->changed;

	if (a->runs != b->runs)
		return a->runs > b->runs ? -1 : 1;
	if (new_a != new_b)
		return new_a ? -1 : 1;
	if (a->first_at != b->first_at)
		return a->first_at < b->first_at ? -1 : 1;
	return a->times < b->times ? -1 : a->times > b->times;
}

static void free_finding(struct post_path_finding *finding)
{
	free(finding->items);
	free(finding->fresh);
}

/* Leaves what no good run has, the most telling first. */
static void choose(struct maker *maker)
{
	struct post_path_difference *difference = maker->difference;
	struct post_slot *slots = maker->findings.slots;
	size_t left = 0;

	for (size_t i = 0; i < maker->findings.capacity; i++) {
		struct post_path_finding *finding;

		if (slots[i].value == POST_NONE)
			continue;
		finding = &difference->findings[slots[i].value];
		if (post_table_find(&maker->paths, slots[i].key) == POST_NONE) {
			judge(maker, finding);
			continue;
		}
		free_finding(finding);
		finding->count = 0;
	}
	for (size_t i = 0; i < difference->count; i++)
		if (difference->findings[i].count)
			difference->findings[left++] = difference->findings[i];
	difference->count = left;
	qsort(difference->findings, left, sizeof(*difference->findings), by_meaning);
}

static void walk_side(struct maker *maker, enum post_path_side side)
{
	struct post_path_difference *difference = maker->difference;
	struct post_session *session = difference->sessions[side];
	struct post_path_totals totals = {0};

	maker->side = side;
	for (size_t i = 0; i < session->process_count; i++) {
		maker->process = session->processes[i];
		if (!maker->process->trace || !maker->process->trace->bits_count)
			continue;
		maker->tracker = (struct post_path_tracker){.take = take_piece, .context = maker};
		maker->steps = 0;
		post_paths_walk(session, maker->process, &difference->codes[side], take_step, maker,
				&totals);
		post_path_track_end(&maker->tracker);
		if (side == POST_PATH_BAD && !difference->runs[side])
			difference->bad_pid = maker->process->trace->header.pid;
		if (side == POST_PATH_GOOD)
			finish_good_run(maker);
		difference->runs[side]++;
	}
}

void post_path_difference_make(struct post_session *good, struct post_session *bad,
			       struct post_path_difference *difference)
{
	struct maker maker = {.difference = difference};

	*difference = (struct post_path_difference){
		.sessions = {good, bad},
		.keys = {{.session = good, .other = bad}, {.session = bad, .other = good}},
	};
	walk_side(&maker, POST_PATH_BAD);
	walk_side(&maker, POST_PATH_GOOD);
	add_functions(&maker);
	choose(&maker);
	for (size_t i = 0; i < maker.lane_count; i++)
		free(maker.lanes[i].steps);
	free(maker.lanes);
	free(maker.followers);
	free(maker.path);
	post_table_release(&maker.findings);
	post_table_release(&maker.paths);
	post_table_release(&maker.items);
	post_table_release(&maker.pairs);
	post_table_release(&maker.functions);
}

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

void post_path_difference_release(struct post_path_difference *difference)
{
	for (size_t i = 0; i < difference->count; i++)
		free_finding(&difference->findings[i]);
	free(difference->findings);
	free(difference->divergences);
	for (size_t i = 0; i < 2; i++) {
		post_path_codes_release(&difference->codes[i]);
		post_path_keys_release(&difference->keys[i]);
	}
	*difference = (struct post_path_difference){0};
}
