/* A program may be killed at any instruction while its events are folded. What is then in the file
 * is folded by a reader, and at most the call is missing that was being summed up. Here a process
 * folds and is stepped, instruction by instruction; after each that changes the file it could have
 * been killed. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <litifut/fold_words.h>

#define ENTRIES 8
#define DEPTH 16
#define WORDS 600
#define ADDRESS(number) (0x20000u + 16 * (number))
#define EXIT(number) (0x30000u + 16 * (number))
#define SP 0x7fff0000u
#define CALLEE 0x40000u

/* What is in the file. */
struct file {
	struct litifut_table_call calls[ENTRIES];
	struct litifut_open_calls open;
	struct litifut_open_call frames[DEPTH];
	uint32_t words[WORDS];
};

static struct litifut_fold_index file_index(void *context)
{
	return (struct litifut_fold_index){.slots = context};
}

static uint32_t find(void *context, uint32_t address, uint32_t callee, bool tail)
{
	const struct file *file = context;

	(void)tail;
	for (uint32_t i = 0; i < ENTRIES; i++)
		if (file->calls[i].address == address && file->calls[i].callee == callee)
			return i + 1;
	return 0;
}

static uint32_t look(const struct litifut_fold_index *index, uint32_t address, uint32_t callee)
{
	return find((void *)(uintptr_t)index->slots, address, callee, false);
}

static uint32_t look_not(const struct litifut_fold_index *index, uint32_t address, uint32_t callee)
{
	(void)index;
	(void)address;
	(void)callee;
	return 0;
}

static struct litifut_table_call *entry(void *context, uint32_t handle)
{
	return &((struct file *)context)->calls[handle - 1];
}

static bool returns_by(void *context, struct litifut_table_call *call, uint32_t exit)
{
	(void)context;
	return call->exit == exit;
}

static void begin_epoch(void *context, uint32_t epoch)
{
	(void)context;
	(void)epoch;
}

static const struct litifut_fold_ways recorder_ways = {file_index, look,       find,
						       entry,      returns_by, begin_epoch};
static const struct litifut_fold_ways reader_ways = {file_index, look_not,   find,
						     entry,      returns_by, begin_epoch};

static void fold(struct file *file, const struct litifut_fold_ways *ways, bool skip)
{
	const struct litifut_fold all = {
		.open = &file->open, .frames = file->frames, .limit = DEPTH, .context = file};

	litifut_fold_words(&all, ways, file->words, file->words + WORDS, skip);
}

static uint32_t *put(uint32_t *word, uint32_t first, uint32_t address, uint32_t time)
{
	*word++ = first;
	*word++ = address;
	*word++ = time;
	return word;
}

/* Calls in calls, direct and through a register, a tail call, and one whose return is not recorded.
 */
static void begin(struct file *file)
{
	uint32_t *word = file->words;
	uint32_t time = 0;

	memset(file, 0, sizeof(*file));
	for (unsigned i = 0; i < ENTRIES; i++)
		file->calls[i] =
			(struct litifut_table_call){.address = ADDRESS(i),
						    .callee = i == 4 ? CALLEE : 0,
						    .exit = i == 3 ? LITIFUT_TABLE_TAIL : EXIT(i),
						    .minimum_inverted = ~UINT64_C(0),
						    .maximum = 1000};
	while (word + 40 < file->words + WORDS) {
		word = put(word, SP, ADDRESS(0), time += 7);
		word = put(word, SP - 16, ADDRESS(1), time += 5);
		word = put(word, SP - 16 + LITIFUT_FOLD_RETURN, EXIT(1), time += 3);
		word = put(word, SP - 16, ADDRESS(2), time += 2);
		word = put(word, SP - 16 + LITIFUT_FOLD_TAIL, ADDRESS(3), time += 2);
		word = put(word, SP - 16 + LITIFUT_FOLD_RETURN, EXIT(2), time += 2);
		*word++ = SP - 16 + LITIFUT_FOLD_CALL_POINTER;
		word = put(word, ADDRESS(4), CALLEE, time += 4);
		word = put(word, SP - 16 + LITIFUT_FOLD_RETURN, EXIT(4), time += 9);
		word = put(word, SP - 16, ADDRESS(5), time += 4);
		word = put(word, SP + LITIFUT_FOLD_RETURN, EXIT(0), time += 11);
	}
}

/* One call may be missing, with its time, and nothing is there twice. */
static void is_whole(const struct file *file, const struct file *truth)
{
	unsigned missing = 0;
	unsigned untimed = 0;

	for (unsigned i = 0; i < ENTRIES; i++) {
		const struct litifut_table_call *have = &file->calls[i];
		const struct litifut_table_call *want = &truth->calls[i];

		assert_in_range(have->count, want->count ? want->count - 1 : 0, want->count);
		assert_in_range(have->sum, want->sum < 100 ? 0 : want->sum - 100, want->sum);
		missing += have->count != want->count;
		untimed += have->sum != want->sum;
	}
	assert_in_range(missing, 0, 1);
	assert_in_range(untimed, 0, 2); /* a tail call ends with the call that made it */
	/* if its return was emptied last of all, it is open */
	assert_in_range(file->open.depth, truth->open.depth, truth->open.depth + 1);
}

static void can_be_killed_at_any_instruction(void **state)
{
	static struct file before;
	static struct file killed;
	static struct file truth;
	struct file *file = mmap(NULL, sizeof(*file), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned changes = 0;
	int status;
	pid_t child;

	(void)state;
	assert_ptr_not_equal(file, MAP_FAILED);
	begin(&truth);
	fold(&truth, &reader_ways, true);
	assert_true(truth.calls[4].count > 5);
	begin(file);
	before = *file;
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(77);
		raise(SIGSTOP);
		fold(file, &recorder_ways, false);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	while (WIFSTOPPED(status)) {
		if (memcmp(&before, file, sizeof(before))) {
			before = *file;
			killed = *file;
			fold(&killed, &reader_ways, true);
			is_whole(&killed, &truth);
			changes++;
		}
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) ||
		    waitpid(child, &status, 0) != child)
			break;
	}
	munmap(file, sizeof(*file));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("no process may be stepped here\n");
		skip();
	}
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	assert_true(changes > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(can_be_killed_at_any_instruction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
