/* The lines about a run on standard error: what was recorded, what is missing, and why. */
#include "postproc/outcome.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "postproc/formats/wrong_settings.h"

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void print_line(void *context, const char *line)
{
	(void)context;
	fprintf(stderr, "litifut-post: %s\n", line);
}

static void print_summary(const struct post_totals *totals, double seconds,
			  const struct post_format *format)
{
	const bool profiled = format && format->profiled && totals->covered == totals->processes;
	const bool flags = format && (format->flags || format->paths || profiled);
	uint64_t events = totals->events - totals->own;
	/* LITIFUT_MODE=coverage and paths record none */
	bool calls = events || !totals->covered || totals->covered < totals->processes;

	fprintf(stderr, "litifut-post: %s",
		totals->cut ? "only a part was read, as the output ended early: " : "");
	if (calls)
		fprintf(stderr, "%" PRIu64 " call%s", events, plural(events));
	if (totals->shown != events)
		fprintf(stderr, " (%" PRIu64 " shown)", totals->shown);
	fprintf(stderr, "%s%s%" PRIu64 " lost", calls ? ", " : "",
		totals->lost_at_least ? "at least " : "", totals->lost);
	if (totals->lost && strcmp(totals->lost_what, "calls") != 0)
		fprintf(stderr, " (%s)", totals->lost_what);
	fprintf(stderr, ", %zu process%s", totals->processes, totals->processes == 1 ? "" : "es");
	if (totals->threads) /* not known of counters */
		fprintf(stderr, ", %zu thread%s", totals->threads, plural(totals->threads));
	fprintf(stderr, ", %zu module%s, %" PRIu64 " unresolved", totals->modules,
		plural(totals->modules), totals->unresolved);
	if (seconds >= 0)
		fprintf(stderr, ", %.2f s", seconds);
	putc('\n', stderr);
	post_wrong_settings_each(totals, print_line, NULL);
	if (totals->lost && totals->lost_to > 0)
		fprintf(stderr,
			"litifut-post: %s were lost from %.3f s to %.3f s after the start%s\n",
			totals->lost_what, totals->lost_from, totals->lost_to,
			totals->processes > 1 ? " of the process that lost most" : "");
	if (totals->overwritten)
		fprintf(stderr,
			"litifut-post: %" PRIu64 " chunk%s of the ring %s overwritten by newer "
			"calls (LITIFUT_RING_KB)\n",
			totals->overwritten, plural(totals->overwritten),
			totals->overwritten == 1 ? "was" : "were");
	if (totals->killed)
		fprintf(stderr,
			"litifut-post: %zu process%s still ran, had ended without exit() (killed, "
			"_exit) or went on as another program (exec); what was written by then is "
			"shown\n",
			totals->killed, totals->killed == 1 ? "" : "es");
	if (totals->covered && !flags)
		fprintf(stderr,
			"litifut-post: %zu process%s recorded which code was executed, and no "
			"calls (LITIFUT_MODE=coverage, paths, units): see -f coverage, branches, "
			"lcov, html; of paths report, callers-of, callgrind, path, blocks, gdb, "
			"units\n",
			totals->covered, totals->covered == 1 ? "" : "es");
	if (totals->unfollowed)
		fprintf(stderr,
			"litifut-post: %" PRIu64 " call%s led through a pointer, to functions that "
			"LITIFUT_MODE=counts does not record: shown as ?; LITIFUT_MODE=table "
			"records them\n",
			totals->unfollowed, plural(totals->unfollowed));
	if (totals->clockless)
		fprintf(stderr,
			"litifut-post: %zu process%s recorded returns without times, as no clock "
			"can be "
			"read cheaply there; LITIFUT_CLOCK=mono on the device reads one with each "
			"event\n",
			totals->clockless, totals->clockless == 1 ? "" : "es");
	if (totals->deduplicated)
		fprintf(stderr,
			"litifut-post: %zu process%s recorded each call site and callee only once "
			"(LITIFUT_DEDUP); up to %.3f %% of them may be missing\n",
			totals->deduplicated, totals->deduplicated == 1 ? "" : "es",
			100 * totals->missing);
	if (totals->holes)
		fprintf(stderr,
			"litifut-post: %" PRIu64 " event%s begun and not finished when the "
			"program ended\n",
			totals->holes, plural(totals->holes));
}

void post_outcome_print(const struct post_outcome *outcome, const char *note,
			const struct post_format *format)
{
	const char *const lines[] = {
		outcome->nothing
			? "no call was recorded: recording was off (LITIFUT_START, "
			  "LITIFUT_START_AT, LITIFUT_TRIGGER; litifut control switches it on), or "
			  "no traced function has made a call (LITIFUT_INCLUDE; litifut info "
			  "--skipped)"
			: "",
		note, outcome->left, outcome->builds, outcome->mixed};

	for (size_t run = 0; run < outcome->runs; run++)
		print_summary(&outcome->totals[run], outcome->seconds[run], format);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (*lines[i])
			print_line(NULL, lines[i]);
	for (size_t i = 0; i < outcome->needless_count && i < POST_MOST_NEEDLESS; i++)
		print_line(NULL, outcome->needless[i]);
	if (outcome->needless_count > POST_MOST_NEEDLESS)
		fprintf(stderr, "litifut-post: and %zu more files were not needed\n",
			outcome->needless_count - POST_MOST_NEEDLESS);
	if (outcome->runs == 2)
		fprintf(stderr, "litifut-post: %zu edge%s differ%s\n", outcome->differing,
			plural(outcome->differing), outcome->differing == 1 ? "s" : "");
}
