/* Rebuilt nesting against nesting that is known, because it is simulated.
 *
 * Over 500 lines, because all cases share the simulation and the comparison with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "postproc/timeline/entries.h"
#include "postproc/timeline/nesting.h"

enum {
	MAIN,
	FIB,
	LEAF,
	SORT,
	COMPARE,
	WALK,
	START,
	START_MAIN,
	ONE_INITIALISER,
	OTHER_INITIALISER,
	REGISTER,
	ONE_EVENT,
	OTHER_EVENT,
	FUNCTIONS
};
enum {
	MAIN_FIB,
	FIB_FIRST,
	FIB_SECOND,
	FIB_LEAF,
	MAIN_SORT,
	COMPARE_LEAF,
	MAIN_WALK,
	WALK_WALK,
	START_STARTS_MAIN,
	ONE_INITIALISER_ENDS,
	OTHER_INITIALISER_ENDS,
	ONE_INITIALISER_REGISTERS,
	OTHER_INITIALISER_REGISTERS,
	MAIN_ENDS,
	WALK_SORTS,
	ONE_EVENT_WALKS,
	WALK_ENDS,
	ONE_EVENT_SORTS,
	OTHER_EVENT_ENDS,
	CALLS
};

static struct post_module modules[] = {
	{.name = (char *)"?"},
	{.name = (char *)"app", .traced = true},
	{.name = (char *)"libc.so", .traced = false},
};

static struct post_function functions[FUNCTIONS] = {
	[MAIN] = {1, 0x100, "main", "main", false},
	[FIB] = {1, 0x200, "fib", "fib", false},
	[LEAF] = {1, 0x300, "leaf", "leaf", false},
	[SORT] = {2, 0x400, "qsort", "qsort", false},
	[COMPARE] = {1, 0x500, "compare", "compare", false},
	[WALK] = {1, 0x600, "walk", "walk", false},
	[START] = {1, 0x700, "_start", "_start", false},
	[START_MAIN] = {2, 0x710, "__libc_start_main", "__libc_start_main", false},
	[ONE_INITIALISER] = {1, 0x800, "_GLOBAL__sub_I_one", "_GLOBAL__sub_I_one", false},
	[OTHER_INITIALISER] = {1, 0x900, "_GLOBAL__sub_I_other", "_GLOBAL__sub_I_other", false},
	[REGISTER] = {2, 0xa00, "__cxa_atexit", "__cxa_atexit", false},
	[ONE_EVENT] = {1, 0xb00, "one_event", "one_event", false},
	[OTHER_EVENT] = {1, 0xc00, "other_event", "other_event", false},
};

static struct post_call calls[CALLS] = {
	[MAIN_FIB] = {.site_module = 1, .site_address = 0x110, .caller = MAIN, .callee = FIB},
	[FIB_FIRST] = {.site_module = 1, .site_address = 0x210, .caller = FIB, .callee = FIB},
	[FIB_SECOND] = {.site_module = 1, .site_address = 0x220, .caller = FIB, .callee = FIB},
	[FIB_LEAF] = {.site_module = 1, .site_address = 0x230, .caller = FIB, .callee = LEAF},
	[MAIN_SORT] = {.site_module = 1, .site_address = 0x120, .caller = MAIN, .callee = SORT},
	[COMPARE_LEAF] = {.site_module = 1,
			  .site_address = 0x510,
			  .caller = COMPARE,
			  .callee = LEAF},
	[MAIN_WALK] = {.site_module = 1, .site_address = 0x130, .caller = MAIN, .callee = WALK},
	[WALK_WALK] = {.site_module = 1, .site_address = 0x610, .caller = WALK, .callee = WALK},
#define PLAIN(where, from, to)                                                                     \
	{                                                                                          \
		.site_module = 1, .site_address = where, .caller = from, .callee = to              \
	}
#define TAIL(where, from, to)                                                                      \
	{                                                                                          \
		.site_module = 1, .site_address = where, .caller = from, .callee = to,             \
		.tail = true                                                                       \
	}
	[START_STARTS_MAIN] = PLAIN(0x710, START, START_MAIN),
	[ONE_INITIALISER_ENDS] = TAIL(0x820, ONE_INITIALISER, REGISTER),
	[OTHER_INITIALISER_ENDS] = TAIL(0x920, OTHER_INITIALISER, REGISTER),
	[ONE_INITIALISER_REGISTERS] = PLAIN(0x810, ONE_INITIALISER, REGISTER),
	[OTHER_INITIALISER_REGISTERS] = PLAIN(0x910, OTHER_INITIALISER, REGISTER),
	[MAIN_ENDS] = TAIL(0x140, MAIN, REGISTER),
	[WALK_SORTS] = TAIL(0x620, WALK, SORT),
	[ONE_EVENT_WALKS] = TAIL(0xb10, ONE_EVENT, WALK),
	[WALK_ENDS] = TAIL(0x630, WALK, REGISTER),
	[ONE_EVENT_SORTS] = TAIL(0xb20, ONE_EVENT, SORT),
	[OTHER_EVENT_ENDS] = TAIL(0xc10, OTHER_EVENT, REGISTER),
};

static struct post_process process;
static struct post_process *processes[] = {&process};

static struct post_session session = {
	.processes = processes,
	.process_count = 1,
	.modules = modules,
	.module_count = 3,
	.functions = functions,
	.function_count = FUNCTIONS,
	.calls = calls,
	.call_count = CALLS,
};

struct simulation {
	struct post_nesting nesting;
	struct post_timeline_sink sink;
	struct post_thread thread;
	unsigned entered, left; /* functions entered by code that is not traced */
	unsigned events, wrong;
	struct post_timeline_event last; /* enter */
	uint64_t clock;
};

static void push(void *context, const struct post_timeline_event *event)
{
	struct simulation *simulation = context;
	const struct post_stack *stack = simulation->thread.stack;

	if (event->kind == POST_EVENT_ENTER) {
		assert_int_equal(event->depth, stack->depth - 1);
		simulation->entered += event->site == POST_NONE;
		simulation->last = *event;
	} else {
		assert_int_equal(event->kind, POST_EVENT_LEAVE);
		assert_int_equal(event->depth, stack->depth);
		assert_true(event->flags & POST_EVENT_GUESSED);
		simulation->left++;
	}
	assert_int_equal(post_nesting_frame(&session, event)->function, event->callee);
	assert_int_equal(event->time, simulation->clock);
}

static void begin(struct simulation *simulation)
{
	static struct post_thread *lanes[1];

	*simulation =
		(struct simulation){.nesting = {.session = &session, .sink = &simulation->sink},
				    .sink = {.push = push, .context = simulation, .nested = true}};
	for (uint32_t call = 0; call < CALLS; call++) {
		calls[call].site = call;
		calls[call].behind = calls[call].callee;
	}
	session.site_count = CALLS;
	lanes[0] = &simulation->thread;
	session.lanes = lanes;
	session.lane_count = 1;
}

static void end(struct simulation *simulation)
{
	post_nesting_end(&simulation->nesting, &simulation->thread);
	assert_int_equal(simulation->left, simulation->events + simulation->entered);
	post_nesting_release(&simulation->nesting);
}

/* A call whose callee really is at `depth`. */
static const struct post_timeline_event *happen(struct simulation *simulation, uint32_t call,
						uint32_t depth)
{
	struct post_nesting_item item = {.time = ++simulation->clock, .shown = true};

	post_nesting_call(&simulation->nesting, &simulation->thread, call, &item);
	simulation->events++;
	assert_int_equal(simulation->last.site, call);
	assert_int_equal(simulation->last.callee, calls[call].callee);
	simulation->wrong += simulation->last.depth != depth;
	return &simulation->last;
}

static void fib(struct simulation *simulation, unsigned n, uint32_t depth)
{
	if (n < 2)
		return;
	happen(simulation, FIB_FIRST, depth + 1);
	fib(simulation, n - 1, depth + 1);
	happen(simulation, FIB_SECOND, depth + 1);
	fib(simulation, n - 2, depth + 1);
	happen(simulation, FIB_LEAF, depth + 1);
}

/* The order of call sites tells the activations of a recursive function apart. */
static void recursion_is_told_apart_by_sites(void **state)
{
	struct simulation simulation;

	(void)state;
	begin(&simulation);
	happen(&simulation, MAIN_FIB, 1);
	fib(&simulation, 14, 1);
	assert_true(simulation.events > 1500);
	assert_int_equal(simulation.wrong, 0);
	end(&simulation);
}

static void only_recursion_is_a_guess(void **state)
{
	struct simulation simulation;

	(void)state;
	begin(&simulation);
	assert_false(happen(&simulation, MAIN_FIB, 1)->flags & POST_EVENT_GUESSED);
	assert_false(happen(&simulation, FIB_FIRST, 2)->flags & POST_EVENT_GUESSED);
	assert_true(happen(&simulation, FIB_FIRST, 3)->flags & POST_EVENT_GUESSED);
	assert_false(happen(&simulation, MAIN_FIB, 1)->flags & POST_EVENT_GUESSED);
	end(&simulation);
}

/* qsort is not traced; what it calls back belongs below it. */
static void callbacks_are_below_the_code_that_makes_them(void **state)
{
	struct simulation simulation;

	(void)state;
	begin(&simulation);
	happen(&simulation, MAIN_SORT, 1);
	for (unsigned i = 0; i < 5; i++)
		happen(&simulation, COMPARE_LEAF, 3); /* main, qsort, compare, leaf */
	assert_int_equal(simulation.wrong, 0);
	assert_int_equal(simulation.entered, 2); /* main, and compare once */
	happen(&simulation, MAIN_FIB, 1);
	assert_int_equal(simulation.wrong, 0);
	end(&simulation);
}

static void an_interruption_starts_anew(void **state)
{
	struct simulation simulation;

	(void)state;
	begin(&simulation);
	happen(&simulation, MAIN_FIB, 1);
	happen(&simulation, COMPARE_LEAF, 1); /* by a signal handler, say */
	happen(&simulation, MAIN_FIB, 1);
	assert_int_equal(simulation.wrong, 0);
	assert_int_equal(simulation.entered, 3);
	end(&simulation);
}

/* One site in a loop looks like ever deeper recursion; memory has an end. */
static void depth_is_bounded(void **state)
{
	struct simulation simulation;

	(void)state;
	begin(&simulation);
	happen(&simulation, MAIN_WALK, 1);
	for (unsigned i = 0; i < 100000; i++)
		happen(&simulation, WALK_WALK, 0);
	assert_true(simulation.thread.stack->depth < 4096);
	assert_true(simulation.thread.stack->capacity < 8192);
	happen(&simulation, MAIN_WALK, 1);
	assert_int_equal(simulation.thread.stack->depth, 2);
	end(&simulation);
}

static void recorded(struct simulation *simulation, uint32_t call)
{
	const struct post_nesting_item item = {.recorded = true, .shown = true};

	post_nesting_call(&simulation->nesting, &simulation->thread, call, &item);
}

static void push_recorded(void *context, const struct post_timeline_event *event)
{
	struct simulation *simulation = context;

	simulation->entered += event->kind == POST_EVENT_ENTER && event->site == POST_NONE;
}

/* A library's function may have returned unseen if the return from its call is not recorded;
 * if it is, it has called back. */
static void a_return_that_is_not_recorded_is_not_a_callback(void **state)
{
	struct simulation simulation;

	(void)state;
	for (unsigned sure = 0; sure < 2; sure++) {
		begin(&simulation);
		simulation.sink.push = push_recorded;
		calls[MAIN_FIB].returns = true;
		calls[MAIN_SORT].returns = sure;
		recorded(&simulation, MAIN_FIB);
		const struct post_nesting_item back = {.recorded = true, .shown = true};
		post_nesting_return(&simulation.nesting, &simulation.thread, MAIN_FIB, &back);
		recorded(&simulation, MAIN_SORT);
		recorded(&simulation, MAIN_WALK);
		/* main, qsort, main called back, walk; or main, walk */
		assert_int_equal(simulation.thread.stack->depth, sure ? 4 : 2);
		assert_int_equal(simulation.entered, sure ? 2 : 1);
		post_nesting_release(&simulation.nesting);
	}
	calls[MAIN_FIB].returns = calls[MAIN_SORT].returns = false;
}

/* An interrupt ends when its handler returns, not with the next event of what it has interrupted.
 */
static void an_interrupt_ends_with_its_handler(void **state)
{
	const struct post_nesting_item back = {.time = 7, .recorded = true, .shown = true};
	struct simulation simulation;

	(void)state;
	begin(&simulation);
	simulation.sink.push = push_recorded;
	calls[MAIN_FIB].returns = calls[COMPARE_LEAF].returns = true;
	calls[COMPARE_LEAF].interrupt = true;
	recorded(&simulation, MAIN_FIB);
	for (unsigned i = 1; i <= 2; i++) {
		recorded(&simulation, COMPARE_LEAF);
		assert_int_equal(simulation.thread.stack->depth, 4);
		post_nesting_return(&simulation.nesting, &simulation.thread, COMPARE_LEAF, &back);
		assert_int_equal(simulation.thread.stack->depth, 2);
		assert_int_equal(simulation.entered, 1 + i);
	}
	calls[COMPARE_LEAF].interrupt = false;
	recorded(&simulation, COMPARE_LEAF);
	post_nesting_return(&simulation.nesting, &simulation.thread, COMPARE_LEAF, &back);
	assert_int_equal(simulation.thread.stack->depth, 3); /* a callback may go on */
	calls[MAIN_FIB].returns = calls[COMPARE_LEAF].returns = false;
	post_nesting_release(&simulation.nesting);
}

/* The outermost call of a recursion is the outermost one that has a time. */
static void a_call_without_a_time_hides_none_in_it(void **state)
{
	struct simulation simulation;

	(void)state;
	begin(&simulation);
	simulation.sink.push = push_recorded;
	calls[WALK_WALK].returns = true;
	recorded(&simulation, MAIN_WALK); /* its return is not recorded */
	recorded(&simulation, WALK_WALK);
	recorded(&simulation, WALK_WALK);
	const struct post_frame *frames = simulation.thread.stack->frames;
	assert_int_equal(simulation.thread.stack->depth, 4);
	assert_false(frames[1].sure || frames[1].sure_same);
	assert_true(frames[2].sure);
	assert_false(frames[2].sure_same);
	assert_true(frames[3].sure && frames[3].sure_same);
	calls[WALK_WALK].returns = false;
	post_nesting_release(&simulation.nesting);
}

/* Returns of calls that were made before recording began, above many that are open: a search
 * through all of these for each would take minutes. */
static void returns_without_a_call_need_no_search(void **state)
{
	const struct post_nesting_item back = {.recorded = true, .shown = true};
	const unsigned many = 200000;
	struct simulation simulation;

	(void)state;
	begin(&simulation);
	simulation.sink.push = push_recorded;
	calls[WALK_WALK].returns = calls[MAIN_WALK].returns = true;
	recorded(&simulation, MAIN_WALK);
	for (unsigned i = 0; i < many; i++)
		recorded(&simulation, WALK_WALK);
	for (unsigned i = 0; i < many; i++)
		post_nesting_return(&simulation.nesting, &simulation.thread, FIB_LEAF, &back);
	assert_int_equal(simulation.thread.stack->unmatched, many);
	assert_int_equal(simulation.thread.stack->depth, many + 2);
	for (unsigned i = 0; i < many; i++)
		post_nesting_return(&simulation.nesting, &simulation.thread, WALK_WALK, &back);
	assert_int_equal(simulation.thread.stack->depth, 2);
	post_nesting_return(&simulation.nesting, &simulation.thread, WALK_WALK, &back);
	assert_int_equal(simulation.thread.stack->unmatched, many + 1);
	post_nesting_return(&simulation.nesting, &simulation.thread, MAIN_WALK, &back);
	assert_int_equal(simulation.thread.stack->depth, 1);
	calls[WALK_WALK].returns = calls[MAIN_WALK].returns = false;
	post_nesting_release(&simulation.nesting);
}

/* Calls, and how deep their callees are in order; COMPARE_LEAF is a callback where it comes after
 * SORT. */
struct expected {
	uint32_t call, depth;
};

static void expect_depths(const struct expected *expected, size_t count, bool is_recorded)
{
	struct simulation simulation;

	begin(&simulation);
	simulation.sink.push = push_recorded;
	for (size_t i = 0; i < count; i++) {
		const struct post_nesting_item item = {
			.time = i + 1, .recorded = is_recorded, .shown = true};

		post_nesting_call(&simulation.nesting, &simulation.thread, expected[i].call, &item);
		assert_int_equal(simulation.thread.stack->depth - 1, expected[i].depth);
	}
	post_nesting_release(&simulation.nesting);
}

#define EXPECT_DEPTHS(is_recorded, ...)                                                            \
	do {                                                                                       \
		static const struct expected expected[] = {__VA_ARGS__};                           \
		expect_depths(expected, sizeof(expected) / sizeof(*expected), is_recorded);        \
	} while (0)

static void what_ends_with_a_tail_call_is_over_when_the_next_one_is_entered(void **state)
{
	(void)state;
	for (int is_recorded = 0; is_recorded < 2; is_recorded++) {
		EXPECT_DEPTHS(is_recorded, {ONE_INITIALISER_REGISTERS, 1},
			      {ONE_INITIALISER_ENDS, 1}, {OTHER_INITIALISER_ENDS, 1}, {MAIN_FIB, 1},
			      {FIB_LEAF, 2}, {ONE_INITIALISER_ENDS, 1});
		EXPECT_DEPTHS(is_recorded, {START_STARTS_MAIN, 1}, {ONE_INITIALISER_ENDS, 3},
			      {OTHER_INITIALISER_ENDS, 3}, {MAIN_FIB, 3});
		/* of several tail calls, too */
		EXPECT_DEPTHS(is_recorded, {ONE_EVENT_WALKS, 1}, {WALK_ENDS, 2},
			      {OTHER_EVENT_ENDS, 1}, {ONE_EVENT_WALKS, 1}, {WALK_ENDS, 2});
	}
}

static void an_initialiser_is_over_when_the_next_one_is_entered(void **state)
{
	(void)state;
	for (int is_recorded = 0; is_recorded < 2; is_recorded++) {
		EXPECT_DEPTHS(is_recorded, {START_STARTS_MAIN, 1}, {ONE_INITIALISER_REGISTERS, 3},
			      {OTHER_INITIALISER_REGISTERS, 3}, {MAIN_FIB, 3});
		/* which calls no main back, but may call others */
		EXPECT_DEPTHS(is_recorded, {ONE_EVENT_SORTS, 1}, {COMPARE_LEAF, 3}, {MAIN_FIB, 1});
		EXPECT_DEPTHS(is_recorded, {ONE_INITIALISER_REGISTERS, 1}, {COMPARE_LEAF, 3});
	}
}

static void a_tail_call_that_calls_back_is_not_over(void **state)
{
	(void)state;
	for (int is_recorded = 0; is_recorded < 2; is_recorded++) {
		EXPECT_DEPTHS(is_recorded, {ONE_EVENT_SORTS, 1}, {COMPARE_LEAF, 3},
			      {COMPARE_LEAF, 3});
		EXPECT_DEPTHS(is_recorded, {MAIN_WALK, 1}, {WALK_SORTS, 2}, {COMPARE_LEAF, 4},
			      {MAIN_FIB, 1});
		/* main may end with a call of what makes all further ones */
		EXPECT_DEPTHS(is_recorded, {MAIN_ENDS, 1}, {ONE_EVENT_WALKS, 3}, {WALK_ENDS, 4},
			      {OTHER_EVENT_ENDS, 3});
	}
	/* its caller's return is recorded and has not come */
	calls[MAIN_WALK].returns = true;
	EXPECT_DEPTHS(true, {MAIN_WALK, 1}, {WALK_ENDS, 2}, {OTHER_EVENT_ENDS, 4},
		      {ONE_EVENT_WALKS, 4});
	calls[MAIN_WALK].returns = false;
}

static void names_say_what_calls_back(void **state)
{
	(void)state;
	assert_true(post_calls_back("qsort", "compare"));
	assert_true(post_calls_back("__pthread_once", "make"));
	assert_true(post_calls_back("bsearch@plt", "compare"));
	assert_false(post_calls_back("qsort_of_mine", "compare"));
	assert_false(post_calls_back("qs", "compare"));
	assert_false(post_calls_back("?", "compare"));
	assert_false(post_calls_back("", "compare"));
	assert_true(post_calls_back("dlopen", "_GLOBAL__sub_I_one"));
	assert_true(post_calls_back("dlopen", "constructor"));
	assert_false(post_calls_back("dlopen", "main"));
	assert_false(post_calls_back("qsort", "_GLOBAL__sub_I_one"));
	assert_true(post_calls_back("__libc_start_main", "main"));
	assert_true(post_calls_back("__libc_start_main", "_GLOBAL__sub_I_one"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(returns_without_a_call_need_no_search),
		cmocka_unit_test(a_return_that_is_not_recorded_is_not_a_callback),
		cmocka_unit_test(a_call_without_a_time_hides_none_in_it),
		cmocka_unit_test(an_interrupt_ends_with_its_handler),
		cmocka_unit_test(recursion_is_told_apart_by_sites),
		cmocka_unit_test(only_recursion_is_a_guess),
		cmocka_unit_test(callbacks_are_below_the_code_that_makes_them),
		cmocka_unit_test(an_interruption_starts_anew),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(what_ends_with_a_tail_call_is_over_when_the_next_one_is_entered),
		cmocka_unit_test(an_initialiser_is_over_when_the_next_one_is_entered),
		cmocka_unit_test(a_tail_call_that_calls_back_is_not_over),
		cmocka_unit_test(names_say_what_calls_back),
	};
	return cmocka_run_group_tests_name("post: nesting", tests, NULL, NULL);
}
