/* A gmon.out, which gprof reads together with the program: one record for each call site and
 * callee. It has no room for the name of a module, so the calls inside the one that is
 * traced are written, of several the one with most calls. gprof refuses histograms of two
 * scales, so where the program was sampled, the times that were measured are left out: the samples
 * were asked for besides, and have the code that is not traced, too.
 *
 * The format is gprof's own, "gmon_out.h" of the GNU C library: a header {"gmon", version 1,
 * 12 bytes}, then records that begin with a byte: 0, a histogram, where the program was
 * sampled; 1, an arc: {from, self, count}. Numbers have 4 bytes in the byte order of the
 * program. */
#include "postproc/formats/format.h"
#include "postproc/measure/measure.h"

#include <stdlib.h>

#define TAG_HISTOGRAM 0
#define TAG_ARC 1

/* Ticks a second, where the trace has no number. */
#define RATE 100

/* Of times: small enough that no two functions share a bin. */
#define BIN_BYTES 2u
#define GAP_BYTES 0x10000u
#define MOST_RATE 1e9

static void put_word(FILE *file, bool big_endian, uint32_t word)
{
	for (unsigned i = 0; i < 4; i++)
		putc((int)(word >> (big_endian ? 24 - 8 * i : 8 * i) & 0xff), file);
}

static bool is_inside(const struct post_call *call, uint32_t module)
{
	return !call->hidden && !call->plt && call->site_module == module &&
	       call->callee_module == module;
}

static uint32_t busiest_module(const struct post_session *session)
{
	uint64_t *counts = post_allocate(session->module_count + 1, sizeof(*counts));
	uint32_t best = 0;

	for (size_t i = 0; i < session->call_count; i++)
		if (is_inside(&session->calls[i], session->calls[i].site_module))
			counts[session->calls[i].site_module] += session->calls[i].count;
	for (uint32_t i = 1; i < session->module_count; i++)
		if (session->modules[i].traced && (!best || counts[i] > counts[best]))
			best = i;
	free(counts);
	return best;
}

/* A histogram of addresses: {low, high, bins, ticks a second, unit}, then 16 bits a bin. */
static void write_histogram_head(FILE *file, bool big_endian, uint32_t low, size_t count,
				 uint32_t bytes, uint32_t rate)
{
	putc(TAG_HISTOGRAM, file);
	put_word(file, big_endian, low);
	put_word(file, big_endian, (uint32_t)(low + count * bytes));
	put_word(file, big_endian, (uint32_t)count);
	put_word(file, big_endian, rate);
	fwrite("seconds\0\0\0\0\0\0\0\0s", 1, 16, file);
}

static bool was_sampled(const struct post_process *process)
{
	for (size_t i = 0; process->trace->profile.bins && i < process->trace->profile.count; i++)
		if (process->trace->profile.bins[i])
			return true;
	return false;
}

static bool is_of_module(const struct post_process *process, uint32_t module)
{
	for (size_t i = 0; i < process->mapping_count; i++)
		if (process->mappings[i].module == module)
			return true;
	return false;
}

static bool have_same_bins(const struct post_trace *left, const struct post_trace *right)
{
	return left->profile.low == right->profile.low &&
	       left->profile.bytes == right->profile.bytes &&
	       left->profile.count == right->profile.count &&
	       left->profile.hertz == right->profile.hertz;
}

static void put_bin(FILE *file, bool big_endian, uint32_t bin)
{
	putc((int)(big_endian ? bin >> 8 : bin & 0xff), file);
	putc((int)(big_endian ? bin & 0xff : bin >> 8), file);
}

static void write_profile(FILE *file, bool big_endian, const struct post_trace *trace)
{
	const size_t count = trace->profile.count;

	write_histogram_head(file, big_endian, trace->profile.low, count, trace->profile.bytes,
			     trace->profile.hertz ? trace->profile.hertz : RATE);
	for (size_t i = 0; i < count; i++) {
		uint32_t bin =
			trace->profile.bins[i] > UINT16_MAX ? UINT16_MAX : trace->profile.bins[i];

		put_bin(file, big_endian, bin);
	}
}

/* The samples of all runs of the module; false: there are none. gprof adds histograms with the same
 * bins, and refuses others. */
static bool write_samples(struct post_output *output, uint32_t module, bool big_endian)
{
	const struct post_session *session = output->session;
	const struct post_trace *first = NULL;

	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_process *process = session->processes[i];

		if (!was_sampled(process))
			continue;
		if (!is_of_module(process, module) ||
		    (first && !have_same_bins(process->trace, first))) {
			post_note_at(session->problems, process->trace->path, LITIFUT_NO_ADDRESS,
				     "its samples are left out, as a gmon.out has those of one "
				     "program and one rate: write one for this file alone");
			continue;
		}
		if (!first)
			first = process->trace;
		write_profile(output->file, big_endian, process->trace);
	}
	return first != NULL;
}

/* A function with its self time, in ticks of the clock. */
struct timed {
	uint32_t address;
	uint64_t self;
};

static int by_address(const void *left, const void *right)
{
	const struct timed *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

/* How many of the sorted functions one histogram holds: up to a gap, such as the one between flash
 * and RAM of a microcontroller, whose empty bins would take gigabytes. */
static size_t run_of(const struct timed *timed, size_t count)
{
	size_t run = 1;

	while (run < count && timed[run].address - timed[run - 1].address < GAP_BYTES)
		run++;
	return run;
}

static void write_run(FILE *file, bool big_endian, const struct timed *timed, size_t run,
		      double ticks, uint32_t rate)
{
	uint32_t low = timed[0].address & ~(BIN_BYTES - 1);
	size_t count = (timed[run - 1].address - low) / BIN_BYTES + 1;
	size_t bin = 0;

	write_histogram_head(file, big_endian, low, count, BIN_BYTES, rate);
	for (size_t i = 0; i < count; i++) {
		double self = 0;
		for (; bin < run && (timed[bin].address - low) / BIN_BYTES == i; bin++)
			self += (double)timed[bin].self * ticks;
		put_bin(file, big_endian, self > UINT16_MAX ? UINT16_MAX : (uint16_t)(self + 0.5));
	}
}

/* Self times that were measured, as if the program had been sampled: all of a function's time is
 * in the bin of its first instruction. A bin has 16 bits, so the largest time decides how many
 * ticks a second has. */
static bool write_times(struct post_output *output, uint32_t module, bool big_endian)
{
	const struct post_session *session = output->session;
	const struct post_metrics *functions = output->measures->functions;
	struct timed *timed = post_allocate(session->function_count + 1, sizeof(*timed));
	uint64_t most = 0;
	size_t count = 0;

	for (uint32_t i = 0; i < session->function_count; i++) {
		const struct post_function *function = &session->functions[i];
		uint64_t self = functions[i].value[POST_METRIC_SELF];
		if (function->module != module || !self)
			continue;
		timed[count++] = (struct timed){function->address, self};
		most = self > most ? self : most;
	}
	if (!most || !output->measures->hertz) {
		free(timed);
		return false;
	}
	qsort(timed, count, sizeof(*timed), by_address);
	double seconds = (double)most / (double)output->measures->hertz;
	double rate = UINT16_MAX / seconds < MOST_RATE ? UINT16_MAX / seconds : MOST_RATE;
	rate = rate < 1 ? 1 : (uint32_t)rate;
	for (size_t i = 0, run; i < count; i += run) {
		run = run_of(timed + i, count - i);
		write_run(output->file, big_endian, timed + i, run,
			  rate / (double)output->measures->hertz, (uint32_t)rate);
	}
	free(timed);
	return true;
}

/* gprof divides by the rate of the histogram: without one it prints "nan" in the place of times. */
static void write_no_times(struct post_output *output, uint32_t module, bool big_endian)
{
	const struct post_session *session = output->session;
	uint32_t low = UINT32_MAX;

	for (uint32_t i = 0; i < session->function_count; i++)
		if (session->functions[i].module == module && session->functions[i].address < low)
			low = session->functions[i].address;
	write_histogram_head(output->file, big_endian, low & ~(BIN_BYTES - 1), 1, BIN_BYTES, RATE);
	put_bin(output->file, big_endian, 0);
}

static void finish(struct post_output *output)
{
	const struct post_session *session = output->session;
	uint32_t module = busiest_module(session);
	const struct post_image *image = session->modules[module].image;
	bool big_endian = image && image->file.big_endian;

	fputs("gmon", output->file);
	put_word(output->file, big_endian, 1);
	for (unsigned i = 0; i < 3; i++)
		put_word(output->file, big_endian, 0);
	const bool sampled = write_samples(output, module, big_endian);
	const bool measured =
		output->measures && post_measures_timing(output->measures) == POST_TIMING_MEASURED;

	if (sampled && measured)
		post_note_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
			     "gmon: the samples are written, and the measured times left out, as "
			     "gprof reads one of the two: see -f report for the times");
	if (!sampled && !(measured && write_times(output, module, big_endian)))
		write_no_times(output, module, big_endian);
	for (size_t i = 0; i < session->call_count; i++) {
		const struct post_call *call = &session->calls[i];

		if (!is_inside(call, module))
			continue;
		for (uint64_t left = call->count; left;) {
			uint32_t part = left > UINT32_MAX ? UINT32_MAX : (uint32_t)left;

			putc(TAG_ARC, output->file);
			put_word(output->file, big_endian, call->site_address);
			put_word(output->file, big_endian, call->callee_address);
			put_word(output->file, big_endian, part);
			left -= part;
		}
	}
}

const struct post_format post_format_gmon = {
	.name = "gmon",
	.summary = "a gmon.out for gprof(1): counted calls, and self times",
	.measured = true,
	.binary = true,
	.finish = finish,
};
