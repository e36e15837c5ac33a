#include "postproc/energy/machine.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define MOST_MACHINES 64
#define WORDS 12

struct reading {
	struct energy_machines *machines;
	const char *path;
	struct litifut_error *error;
	unsigned line;
};

static enum litifut_status wrong(const struct reading *reading, const char *what, const char *word)
{
	return litifut_error_set(reading->error, LITIFUT_ERROR_FORMAT, reading->path, NULL,
				 LITIFUT_NO_ADDRESS, "line %u: %s%s%.60s%s", reading->line, what,
				 word ? " \"" : "", word ? word : "", word ? "\"" : "");
}

/* "150us", "6mW", "?" (NAN) */
static bool quantity(const char *text, bool power, double *value)
{
	static const struct {
		const char *name;
		bool power;
		double scale;
	} units[] = {{"s", false, 1}, {"ms", false, 1e-3}, {"us", false, 1e-6}, {"ns", false, 1e-9},
		     {"W", true, 1},  {"mW", true, 1e-3},  {"uW", true, 1e-6}};
	char *end;

	if (!strcmp(text, "?")) {
		*value = NAN;
		return true;
	}
	*value = strtod(text, &end);
	if (end == text || !(*value >= 0) || !isfinite(*value))
		return false;
	if (*value == 0 && !*end)
		return true;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (units[i].power == power && !strcmp(units[i].name, end)) {
			*value *= units[i].scale;
			return true;
		}
	}
	return false;
}

static int state_named(const struct energy_machine *machine, const char *name)
{
	for (unsigned i = 0; i < machine->state_count; i++) {
		if (!strcmp(machine->states[i].name, name))
			return (int)i;
	}
	return -1;
}

/* state NAME [power P] [duration T] */
static enum litifut_status read_state(struct reading *reading, struct energy_machine *machine,
				      char **words, unsigned count)
{
	struct energy_state *state = &machine->states[machine->state_count];

	if (count < 2 || count % 2 || strlen(words[1]) >= sizeof(state->name))
		return wrong(reading, "a state is: state NAME [power P] [duration T]", NULL);
	if (machine->state_count == ENERGY_STATES)
		return wrong(reading, "the machine has too many states", NULL);
	if (state_named(machine, words[1]) >= 0)
		return wrong(reading, "the state is there already:", words[1]);
	*state = (struct energy_state){.watts = machine->state_count ? NAN : 0};
	snprintf(state->name, sizeof(state->name), "%s", words[1]);
	for (unsigned i = 2; i < count; i += 2) {
		bool power = !strcmp(words[i], "power");
		if (!power && strcmp(words[i], "duration"))
			return wrong(reading, "power or duration is expected, not", words[i]);
		if (!quantity(words[i + 1], power, power ? &state->watts : &state->seconds))
			return wrong(reading,
				     power ? "a power is a number with W, mW or uW, or ?, not"
					   : "a duration is a number with s, ms, us or ns, not",
				     words[i + 1]);
		if (!power && isnan(state->seconds))
			return wrong(reading, "a duration must be known (`energy learn` finds it)",
				     NULL);
	}
	machine->state_count++;
	reading->machines->state_count++;
	return LITIFUT_OK;
}

static struct energy_transition *add_transition(struct energy_machine *machine)
{
	if (machine->transition_count == ENERGY_TRANSITIONS)
		return NULL;
	return &machine->transitions[machine->transition_count++];
}

/* on enter|exit FUNCTION: FROM -> TO      after FROM -> TO */
static enum litifut_status read_transition(struct reading *reading, struct energy_machine *machine,
					   char **words, unsigned count)
{
	const bool after = !strcmp(words[0], "after");
	const unsigned first = after ? 1 : 3;
	struct energy_transition *transition;

	if (count != first + 3 || strcmp(words[first + 1], "->"))
		return wrong(
			reading,
			"a transition is: on enter|exit FUNCTION: FROM -> TO, or after FROM -> "
			"TO",
			NULL);
	transition = add_transition(machine);
	if (!transition)
		return wrong(reading, "the machine has too many transitions", NULL);
	transition->when = ENERGY_AFTER;
	if (!after) {
		size_t length = strlen(words[2]);
		if (strcmp(words[1], "enter") && strcmp(words[1], "exit"))
			return wrong(reading, "enter or exit is expected, not", words[1]);
		transition->when = words[1][1] == 'n' ? ENERGY_ON_ENTER : ENERGY_ON_EXIT;
		if (length && words[2][length - 1] == ':')
			words[2][--length] = '\0';
		if (!length || length >= sizeof(transition->function))
			return wrong(reading, "the function's name is missing or too long", NULL);
		snprintf(transition->function, sizeof(transition->function), "%s", words[2]);
	}
	transition->from = state_named(machine, words[first]);
	transition->to = state_named(machine, words[first + 2]);
	if (transition->from < 0 && strcmp(words[first], "*"))
		return wrong(reading, "there is no state", words[first]);
	if (transition->to < 0)
		return wrong(reading, "there is no state", words[first + 2]);
	if (after && (transition->from < 0 || !(machine->states[transition->from].seconds > 0)))
		return wrong(reading,
			     "a state without a duration does not end by time:", words[first]);
	return LITIFUT_OK;
}

static enum litifut_status read_machine(struct reading *reading, char **words, unsigned count)
{
	struct energy_machines *machines = reading->machines;

	if (count != 2 || strlen(words[1]) >= sizeof(machines->items->name))
		return wrong(reading, "a machine is: machine NAME", NULL);
	if (machines->count == MOST_MACHINES)
		return wrong(reading, "there are too many machines", NULL);
	struct energy_machine *more =
		realloc(machines->items, (machines->count + 1) * sizeof(*more));
	if (!more)
		return wrong(reading, "not enough memory", NULL);
	machines->items = more;
	more[machines->count] =
		(struct energy_machine){.first_state = (unsigned)machines->state_count};
	snprintf(more[machines->count].name, sizeof(more->name), "%s", words[1]);
	machines->count++;
	return LITIFUT_OK;
}

static enum litifut_status read_line(struct reading *reading, char *line)
{
	struct energy_machines *machines = reading->machines;
	char *words[WORDS], *rest = line, *word;
	unsigned count = 0;

	line[strcspn(line, "#\r")] = '\0';
	while ((word = strsep(&rest, " \t"))) {
		if (!*word)
			continue;
		if (count == WORDS)
			return wrong(reading, "too many words", NULL);
		words[count++] = word;
	}
	if (!count)
		return LITIFUT_OK;
	if (!strcmp(words[0], "machine"))
		return read_machine(reading, words, count);
	if (!machines->count)
		return wrong(reading, "a line \"machine NAME\" comes first", NULL);
	struct energy_machine *machine = &machines->items[machines->count - 1];
	if (!strcmp(words[0], "state"))
		return read_state(reading, machine, words, count);
	if (!strcmp(words[0], "on") || !strcmp(words[0], "after"))
		return read_transition(reading, machine, words, count);
	return wrong(reading, "it does not begin with machine, state, on or after, but with",
		     words[0]);
}

enum litifut_status energy_machines_read(struct energy_machines *machines, const char *path,
					 const char *text, size_t size, struct litifut_error *error)
{
	struct reading reading = {machines, path, error, 0};
	const char *at = text, *end = text + size;
	enum litifut_status status = LITIFUT_OK;

	while (at < end && status == LITIFUT_OK) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		char line[512];
		size_t length = (size_t)((stop ? stop : end) - at);
		reading.line++;
		if (length >= sizeof(line) || memchr(at, '\0', length))
			return wrong(&reading, "the line is too long or not text", NULL);
		memcpy(line, at, length);
		line[length] = '\0';
		status = read_line(&reading, line);
		at = stop ? stop + 1 : end;
	}
	for (size_t i = 0; status == LITIFUT_OK && i < machines->count; i++) {
		if (machines->items[i].state_count < 2 || !machines->items[i].transition_count)
			status =
				wrong(&reading,
				      "a machine needs two states and a transition; it lacks them:",
				      machines->items[i].name);
	}
	return status;
}

void energy_machines_release(struct energy_machines *machines)
{
	free(machines->items);
	*machines = (struct energy_machines){0};
}

void energy_machines_write(const struct energy_machines *machines, FILE *file)
{
	for (size_t i = 0; i < machines->count; i++) {
		const struct energy_machine *machine = &machines->items[i];
		fprintf(file, "machine %s\n", machine->name);
		for (unsigned k = 0; k < machine->state_count; k++) {
			const struct energy_state *state = &machine->states[k];
			fprintf(file, "  state %s", state->name);
			if (k && isnan(state->watts))
				fprintf(file, " power ?");
			else if (k)
				fprintf(file, " power %.6gmW", state->watts * 1e3);
			if (state->seconds > 0)
				fprintf(file, " duration %.6gus", state->seconds * 1e6);
			fputc('\n', file);
		}
		for (unsigned k = 0; k < machine->transition_count; k++) {
			const struct energy_transition *t = &machine->transitions[k];
			const char *from = t->from < 0 ? "*" : machine->states[t->from].name;
			if (t->when == ENERGY_AFTER)
				fprintf(file, "  after %s -> %s\n", from,
					machine->states[t->to].name);
			else
				fprintf(file, "  on %s %s: %s -> %s\n",
					t->when == ENERGY_ON_ENTER ? "enter" : "exit", t->function,
					from, machine->states[t->to].name);
		}
	}
}

const struct energy_machine *energy_machine_of(const struct energy_machines *machines, size_t state)
{
	for (size_t i = 0; i < machines->count; i++) {
		if (state < machines->items[i].first_state + machines->items[i].state_count)
			return &machines->items[i];
	}
	return NULL;
}

/* ---- running them ---- */

struct running {
	int state;
	double since;
	uint32_t cause;
};

struct run {
	const struct energy_machines *machines;
	const struct energy_tree *tree;
	const struct energy_hook *hook;
	struct running *now;
	struct energy_occupations *occupations;
	/* for each function: has any transition its name? */
	uint8_t *concerned;
	const char *const *names;
	size_t name_count;
	double end;
	double time;
	bool failed;
};

static void occupy(struct run *run, const struct energy_machine *machine, const struct running *now,
		   double to)
{
	struct energy_occupations *all = run->occupations;
	const struct energy_state *state = &machine->states[now->state];

	if (now->state == 0 || to <= now->since)
		return;
	if (all->count == all->capacity) {
		size_t wanted = all->capacity ? 2 * all->capacity : 256;
		struct energy_occupation *more =
			litifut_memory_resized(all->items, wanted, sizeof(*more));
		if (!more) {
			run->failed = true;
			return;
		}
		all->items = more;
		all->capacity = wanted;
	}
	all->items[all->count++] =
		(struct energy_occupation){.from = now->since,
					   .to = to,
					   .state = machine->first_state + (uint32_t)now->state,
					   .cause = now->cause,
					   .share = {1},
					   .watts = isnan(state->watts) ? 0 : state->watts};
}

/* States that end by time, up to `time`. */
static void pass_time(struct run *run, size_t number, double time)
{
	const struct energy_machine *machine = &run->machines->items[number];
	struct running *now = &run->now[number];

	for (;;) {
		const struct energy_state *state = &machine->states[now->state];
		int to = -1;
		for (unsigned i = 0; i < machine->transition_count; i++) {
			if (machine->transitions[i].when == ENERGY_AFTER &&
			    machine->transitions[i].from == now->state)
				to = machine->transitions[i].to;
		}
		if (to < 0 && state->seconds > 0)
			to = 0; /* its time is over and nothing is said: off */
		if (to < 0 || !(now->since + state->seconds <= time) || run->failed)
			return;
		occupy(run, machine, now, now->since + state->seconds);
		now->since += state->seconds;
		now->state = to;
		if (to == 0 && !(machine->states[0].seconds > 0))
			return;
	}
}

static void happened(struct run *run, uint32_t node, int when)
{
	uint32_t function = run->tree->nodes[node].function;

	if (function >= run->name_count || !run->concerned[function])
		return;
	for (size_t i = 0; i < run->machines->count; i++) {
		const struct energy_machine *machine = &run->machines->items[i];
		struct running *now = &run->now[i];
		pass_time(run, i, run->time);
		for (unsigned k = 0; k < machine->transition_count; k++) {
			const struct energy_transition *t = &machine->transitions[k];
			if ((int)t->when != when || (t->from >= 0 && t->from != now->state) ||
			    fnmatch(t->function, run->names[function], 0))
				continue;
			occupy(run, machine, now, run->time);
			/* what was off was switched on by this call */
			if (now->state == 0 || t->from < 0)
				now->cause = node;
			now->state = t->to;
			now->since = run->time;
			break;
		}
	}
}

static void enter(void *context, struct energy_lane *lane, struct energy_frame *frame,
		  uint32_t under, enum energy_event_kind kind)
{
	struct run *run = context;

	(void)lane, (void)under, (void)kind;
	run->time = frame->entered + run->hook->enter_after;
	happened(run, frame->node, ENERGY_ON_ENTER);
}

static void leave(void *context, struct energy_lane *lane, struct energy_frame *frame,
		  uint32_t under, enum energy_event_kind kind, double time)
{
	struct run *run = context;

	(void)lane, (void)under;
	run->time = kind == ENERGY_EVENT_LEAVE ? time - run->hook->exit_before : time;
	if (kind != ENERGY_EVENT_LOST)
		happened(run, frame->node, ENERGY_ON_EXIT);
}

static int by_start(const void *left, const void *right)
{
	const struct energy_occupation *a = left, *b = right;

	return (a->from > b->from) - (a->from < b->from);
}

bool energy_machines_concern(const struct energy_machines *machines, const char *name)
{
	for (size_t i = 0; i < machines->count; i++) {
		const struct energy_machine *machine = &machines->items[i];
		for (unsigned k = 0; k < machine->transition_count; k++) {
			const struct energy_transition *t = &machine->transitions[k];
			if (t->when != ENERGY_AFTER && !fnmatch(t->function, name, 0))
				return true;
		}
	}
	return false;
}

enum litifut_status
energy_machines_run(const struct energy_machines *machines, const struct energy_events *events,
		    const struct energy_clock *clock, const struct energy_hook *hook,
		    const char *const *names, size_t name_count, const struct energy_result *result,
		    struct energy_occupations *occupations, struct litifut_error *error)
{
	struct energy_tree tree;
	struct energy_walk_counts counts;
	struct run run = {.machines = machines,
			  .tree = &tree,
			  .hook = hook,
			  .occupations = occupations,
			  .names = names,
			  .name_count = name_count,
			  .end = result->end};
	struct energy_visitor visitor = {.context = &run, .enter = enter, .leave = leave};
	enum litifut_status status = LITIFUT_OK;

	occupations->count = 0;
	occupations->shift = clock->shift;
	energy_tree_start(&tree);
	run.now = calloc(machines->count + 1, sizeof(*run.now));
	run.concerned = calloc(name_count + 1, 1);
	run.failed = !run.now || !run.concerned;
	for (size_t f = 0; f < name_count && !run.failed; f++)
		run.concerned[f] = energy_machines_concern(machines, names[f]);
	if (!run.failed)
		status = energy_walk(events, clock, &tree, result->begin, result->end, &visitor,
				     &counts, error);
	for (size_t i = 0; i < machines->count && !run.failed; i++) {
		pass_time(&run, i, result->end);
		occupy(&run, &machines->items[i], &run.now[i], result->end);
	}
	if (occupations->count)
		qsort(occupations->items, occupations->count, sizeof(*occupations->items),
		      by_start);
	if (run.failed)
		status = litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					   "not enough memory for the machines");
	energy_tree_release(&tree);
	free(run.now);
	free(run.concerned);
	return status;
}
