/* A gmon.out, which gprof reads together with the program: one record for each call site and
 * callee. It has no room for the name of a module, so the calls inside the one that is
 * traced are written, of several the one with most calls.
 *
 * The format is gprof's own, "gmon_out.h" of the GNU C library: a header {"gmon", version 1,
 * 12 bytes}, then records that begin with a byte: 0, a histogram, where the program was
 * sampled; 1, an arc: {from, self, count}. Numbers have 4 bytes in the byte order of the
 * program. */
#include "postproc/formats/format.h"

#include <stdlib.h>

#define TAG_HISTOGRAM 0
#define TAG_ARC 1

/* Ticks a second, which nobody but the program knows. */
#define RATE 100

static void put_word(FILE *file, bool big_endian, uint32_t word)
{
	for (unsigned i = 0; i < 4; i++)
		putc((int)(word >> (big_endian ? 24 - 8 * i : 8 * i) & 0xff), file);
}

static bool is_inside(const struct post_call *call, uint32_t module)
{
	return !call->hidden && call->site_module == module && call->callee_module == module;
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
static void write_profile(FILE *file, bool big_endian, const struct post_trace *trace)
{
	const size_t count = trace->profile.count;

	putc(TAG_HISTOGRAM, file);
	put_word(file, big_endian, trace->profile.low);
	put_word(file, big_endian, (uint32_t)(trace->profile.low + count * trace->profile.bytes));
	put_word(file, big_endian, (uint32_t)count);
	put_word(file, big_endian, RATE);
	fwrite("seconds\0\0\0\0\0\0\0\0s", 1, 16, file);
	for (size_t i = 0; i < count; i++) {
		uint32_t bin =
			trace->profile.bins[i] > UINT16_MAX ? UINT16_MAX : trace->profile.bins[i];

		putc((int)(big_endian ? bin >> 8 : bin & 0xff), file);
		putc((int)(big_endian ? bin & 0xff : bin >> 8), file);
	}
}

static void finish(struct post_output *output)
{
	const struct post_session *session = output->session;
	uint32_t module = busiest_module(session);
	const struct post_image *image = session->modules[module].image;
	bool big_endian = image && image->big_endian;

	fputs("gmon", output->file);
	put_word(output->file, big_endian, 1);
	for (unsigned i = 0; i < 3; i++)
		put_word(output->file, big_endian, 0);
	for (size_t i = 0; i < session->process_count; i++)
		if (session->processes[i]->trace->profile.bins)
			write_profile(output->file, big_endian, session->processes[i]->trace);
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
	.summary = "a gmon.out for gprof(1): how often each call was made",
	.binary = true,
	.finish = finish,
};
