/* Every setting, LITIFUT_NAME=VALUE, once. Of a link the wrapper reads them from the environment
 * and from the file LITIFUT_CONFIG; of a traced program the recorder does, from its environment
 * or from LITIFUT_DEFAULTS of its link. The recorder reads on the device, where messages may
 * not be seen: the trace says what it did not understand. The wrapper checks those of a link.
 * `make lint', which looks for each name in the manual pages, reads this file as text: one
 * row a line. */
#ifndef LITIFUT_SETTINGS_H
#define LITIFUT_SETTINGS_H

enum litifut_setting_kind {
	LITIFUT_SETTING_NUMBER, /* decimal */
	LITIFUT_SETTING_SIGNAL, /* the same; of a signal that is not sent by the CPU */
	LITIFUT_SETTING_TEXT,   /* may be empty */
	LITIFUT_SETTING_PLACE,  /* a path; an empty value sets none */
	LITIFUT_SETTING_OBJECT, /* the same, of a link */
	LITIFUT_SETTING_LIST,   /* globs, separated by commas */
	LITIFUT_SETTING_ITEMS,  /* text of items, separated by semicolons */
	LITIFUT_SETTING_CLOCK, /* none, mono, cycle, or page, which is for tests; of firmware any */
	LITIFUT_SETTING_FILE,  /* map or write */
	LITIFUT_SETTING_ENGINE,   /* thunk or db */
	LITIFUT_SETTING_MODE,     /* calls, spans, table, counts, coverage, paths, units, ... */
	LITIFUT_SETTING_DATABASE, /* loaded, section or file */
	LITIFUT_SETTING_ON,       /* 1: on; anything else is off, of a link 0 */
	LITIFUT_SETTING_OFF,      /* off; anything else is on */
	LITIFUT_SETTING_NEVER,    /* never; anything else is auto */
};

/* What has no row where a table is made for one reader. */
#define LITIFUT_SETTING_NONE(name, kind, member)

/* ROW(name without LITIFUT_, kind, member of the reader's struct), where ROW is
 *   LINK      read by the wrapper, into struct settings
 *   RUN       read by the recorder, into struct litifut_settings
 *   BOTH      read by each, for itself
 * The number of a RUN or BOTH row among these is what the header of a trace names: new rows
 * of these kinds go to the end. */
// clang-format off
#define LITIFUT_SETTINGS(LINK, RUN, BOTH) \
	LINK("CONFIG", OBJECT, config) \
	LINK("EXCLUDE", LIST, exclude) \
	LINK("INCLUDE", LIST, include) \
	LINK("EXCLUDE_CALLEES", LIST, exclude_callees) \
	LINK("EXCLUDE_OBJECTS", LIST, exclude_objects) \
	LINK("EXCLUDE_LIBS", LIST, exclude_libs) \
	LINK("INCLUDE_OBJECTS", LIST, include_objects) \
	LINK("INCLUDE_LIBS", LIST, include_libs) \
	LINK("RECORDER", OBJECT, recorder) \
	LINK("DEFAULTS", TEXT, defaults) \
	LINK("PORT", TEXT, port) \
	LINK("SEND", TEXT, send) \
	LINK("STUBS", TEXT, stubs) \
	LINK("SAMPLE", TEXT, sample) \
	LINK("RAM", TEXT, ram) \
	LINK("PATTERNS", OBJECT, patterns) \
	LINK("DEPTH", NUMBER, depth) \
	LINK("CALLEES", NUMBER, callees) \
	LINK("CARRIES", NUMBER, carries) \
	LINK("START_AT", TEXT, start_at) \
	LINK("MAIN", TEXT, main_at) \
	LINK("TASK", TEXT, task) \
	LINK("MARK_SET", TEXT, mark_set) \
	LINK("MARK_CLEAR", TEXT, mark_clear) \
	LINK("MARK_EVERY", NUMBER, mark_every) \
	LINK("UNITS", LIST, units) \
	LINK("ARGS", ITEMS, arguments) \
	LINK("ARGS_BYTES", NUMBER, argument_bytes) \
	LINK("TRIGGER", ITEMS, trigger) \
	LINK("ENGINE", ENGINE, engine) \
	LINK("DB", DATABASE, database) \
	LINK("MODE", MODE, recorded) \
	LINK("TAIL", ON, tail_calls) \
	LINK("EXACT", ON, exact) \
	LINK("STRICT", ON, strict) \
	LINK("LINK_TWICE", ON, link_twice) \
	RUN("DIR", PLACE, directory) \
	RUN("COPY_TO", TEXT, copy_to) \
	RUN("BULK_KB", NUMBER, bulk_kb) \
	RUN("MAX_MB", NUMBER, max_mb) \
	BOTH("CLOCK", CLOCK, clock) \
	RUN("DEDUP", ON, dedup) \
	RUN("BLOOM_KB", NUMBER, bloom_kb) \
	RUN("START", OFF, start_off) \
	RUN("SIGNAL", SIGNAL, signal) \
	BOTH("VERBOSE", ON, verbose) \
	BOTH("COMPACT", NUMBER, compact) \
	BOTH("RING_KB", NUMBER, ring_kb) \
	RUN("SUM", ON, sum) \
	RUN("FILE", FILE, file) \
	RUN("SYSCALLS", NEVER, no_calls) \
	RUN("DIR_MB", NUMBER, dir_mb) \
	RUN("RAW", ON, raw)
// clang-format on

/* Those of the recorder alone. */
#define LITIFUT_RUN_SETTINGS(ROW) LITIFUT_SETTINGS(LITIFUT_SETTING_NONE, ROW, ROW)

#define LITIFUT_LINK_SETTINGS(ROW) LITIFUT_SETTINGS(ROW, LITIFUT_SETTING_NONE, ROW)

#endif
