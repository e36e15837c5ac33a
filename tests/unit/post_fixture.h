/* A small program and library for every CPU, assembled on the spot from
 * post_fixture/ with the same layout everywhere, and traces of it. What the
 * post-processor makes of them is the same text for all CPUs. */
#ifndef LITIFUT_TESTS_POST_FIXTURE_H
#define LITIFUT_TESTS_POST_FIXTURE_H

#include <stdbool.h>

#include "postproc/formats/format.h"
#include "postproc/formats/run.h"

struct fixture_target {
	const char *name;
	const char *compiler;
	const char *flags;
	const char *macros; /* file in post_fixture/ */
	bool big_endian;
	bool thumb;
	uint32_t machine;
};

#define FIXTURE_TARGETS 5
extern const struct fixture_target fixture_targets[FIXTURE_TARGETS];

struct fixture {
	const struct fixture_target *target;
	char folder[64];             /* temporary; holds app, libshape.so, and what is saved */
	uint32_t plt_area, plt_walk; /* link-time addresses in app */
};

/* Where the fixture's modules are loaded. */
#define FIXTURE_APP_BIAS 0u
#define FIXTURE_LIBRARY_BIAS 0x40000000u

/* Assembles and links into a new folder. Gives false when the compiler for the
 * target is not installed; any other failure ends the test. */
bool fixture_build(struct fixture *fixture, const struct fixture_target *target);

/* Removes the folder. */
void fixture_remove(const struct fixture *fixture);

/* One fixture for each target that has a compiler here; the others have no
 * target. The first two are setup and teardown of a cmocka group. */
extern struct fixture fixtures[FIXTURE_TARGETS];
int fixtures_build(void **state);
int fixtures_remove(void **state);

/* The next one that was built after `previous` (NULL: from the start), NULL
 * after the last. */
struct fixture *fixture_next(const struct fixture *previous);

/* Writes trace/app.100.trace (threads 100 and 101), trace/app.200.trace and the
 * two maps files into the folder. `timed`: with a clock. */
void fixture_write_traces(const struct fixture *fixture, bool timed);

struct trace_builder;

/* A trace by hand: begins that of process 300, with the modules of the fixture and a clock;
 * and saves it as the only one in the folder. */
void fixture_begin_trace(const struct fixture *fixture, struct trace_builder *builder,
			 uint32_t chunk_bytes);
void fixture_save_trace(const struct fixture *fixture, struct trace_builder *builder);

struct fixture_options {
	struct post_options session;
	struct post_output_options output;
	struct post_window window;
	struct post_filter_options filter;
};

/* What the command line means by itself. */
struct fixture_options fixture_defaults(void);

/* The same with the events in compact blocks. */
void fixture_write_packed_traces(const struct fixture *fixture, bool timed, bool packed);

/* Runs a format over everything in the folder; the caller frees the text.
 * Addresses of PLT entries, which differ between CPUs, are replaced by
 * PLT-AREA and PLT-WALK. `totals`, `options` may be NULL. */
char *fixture_run(const struct fixture *fixture, const char *format,
		  const struct fixture_options *options, struct post_totals *totals);

#endif
