/* The bad side is walked first: its paths are kept, and the blocks of its first run. Then each good
 * run is compared with that run while it is walked, and only leaves hashes of what it has executed.
 */
#include "postproc/paths/difference.h"

#include <stdlib.h>
#include <string.h>

#define KEY_STOPS 2 /* behind the last item of a path */
#define KEY_RETURNS 3

struct maker {
	struct post_path_difference *difference;
	enum post_path_side side;
	const struct post_process *process;
	struct post_path_tracker tracker;
	uint64_t steps;                                   /* of the run */
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
	return &maker->difference->sides.keys[maker->side];
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

static void find_callers(const struct post_path_piece *piece, struct post_path_finding *finding)
{
	const struct post_path_thread *thread = piece->thread;

	for (size_t i = 0; i < POST_PATH_CALLERS && i < piece->depth; i++) {
		const struct post_path_code *code = thread->open[piece->depth - i - 1].code;
		const uint32_t caller = post_path_caller(thread, piece->depth - i);

		if (caller == POST_NONE)
			break;
		finding->callers[i] = post_path_spot_of_end(code, caller);
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

static void take_step(void *context, const struct post_path_step *step)
{
	struct maker *maker = context;

	if (step->kind != POST_PATH_BLOCK && step->kind != POST_PATH_GAP)
		return;
	maker->steps++;
	if (step->kind == POST_PATH_GAP)
		maker->difference->gaps++;
	if (maker->side == POST_PATH_GOOD)
		post_path_parting_follow(&maker->difference->parting, step);
	else if (maker->difference->runs[POST_PATH_BAD] == 0)
		post_path_parting_keep(&maker->difference->parting, step);
	post_path_track(&maker->tracker, step);
}

/* Of the good program: each function, as it is there. */
static void add_functions(struct maker *maker)
{
	struct post_path_difference *difference = maker->difference;
	struct post_path_codes *codes = &difference->sides.codes[POST_PATH_GOOD];
	struct post_session *session = difference->sides.sessions[POST_PATH_GOOD];

	for (size_t i = 0; i < codes->count; i++) {
		const struct post_path_code *code = codes->items[i];

		if (!code || post_path_is_same_build(&difference->sides.keys[POST_PATH_GOOD], code))
			continue;
		for (uint32_t j = 0; j < code->count; j++) {
			if (code->blocks[j].function != j)
				continue;
			const uint32_t number = post_session_function(session, code->module,
								      code->blocks[j].block.start);

			add(&maker->functions,
			    post_path_mix_text(
				    post_path_fingerprint(&difference->sides.keys[POST_PATH_GOOD],
							  code, j),
				    session->functions[number].name));
		}
	}
}

static bool is_changed(struct maker *maker, const struct post_path_finding *finding)
{
	struct post_path_difference *difference = maker->difference;
	struct post_path_key_table *keys = &difference->sides.keys[POST_PATH_BAD];
	struct post_session *session = difference->sides.sessions[POST_PATH_BAD];

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
	if (left)
		qsort(difference->findings, left, sizeof(*difference->findings), by_meaning);
}

static void walk_side(struct maker *maker, enum post_path_side side)
{
	struct post_path_difference *difference = maker->difference;
	struct post_session *session = difference->sides.sessions[side];
	struct post_path_totals totals = {0};

	maker->side = side;
	for (size_t i = 0; i < session->process_count; i++) {
		maker->process = session->processes[i];
		if (!maker->process->trace || !maker->process->trace->bits_count)
			continue;
		maker->tracker = (struct post_path_tracker){.take = take_piece, .context = maker};
		maker->steps = 0;
		post_paths_walk(session, maker->process, &difference->sides.codes[side], take_step,
				maker, &totals);
		post_path_track_end(&maker->tracker);
		if (side == POST_PATH_BAD && !difference->runs[side])
			difference->parting.bad_pid = maker->process->trace->header.pid;
		if (side == POST_PATH_GOOD)
			post_path_parting_end(&difference->parting,
					      maker->process->trace->header.pid);
		difference->runs[side]++;
	}
}

void post_path_difference_make(struct post_session *good, struct post_session *bad,
			       struct post_path_difference *difference)
{
	struct maker maker = {.difference = difference};

	*difference = (struct post_path_difference){
		.sides = {.sessions = {good, bad},
			  .keys = {{.session = good, .other = bad},
				   {.session = bad, .other = good}}},
		.parting.sides = &difference->sides,
	};
	walk_side(&maker, POST_PATH_BAD);
	walk_side(&maker, POST_PATH_GOOD);
	add_functions(&maker);
	choose(&maker);
	free(maker.path);
	post_table_release(&maker.findings);
	post_table_release(&maker.paths);
	post_table_release(&maker.items);
	post_table_release(&maker.pairs);
	post_table_release(&maker.functions);
}

void post_path_difference_release(struct post_path_difference *difference)
{
	for (size_t i = 0; i < difference->count; i++)
		free_finding(&difference->findings[i]);
	free(difference->findings);
	post_path_parting_release(&difference->parting);
	for (size_t i = 0; i < 2; i++) {
		post_path_codes_release(&difference->sides.codes[i]);
		post_path_keys_release(&difference->sides.keys[i]);
	}
	*difference = (struct post_path_difference){0};
}
