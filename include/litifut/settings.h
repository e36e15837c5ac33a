/* The settings of the recorder: LITIFUT_NAME=VALUE in the environment of a traced
 * program, or in LITIFUT_DEFAULTS of its link. The recorder reads them on the device,
 * where nobody may look: of a mistake the trace tells. The linker wrapper checks those of
 * a link. */
#ifndef LITIFUT_SETTINGS_H
#define LITIFUT_SETTINGS_H

enum litifut_setting_kind {
	LITIFUT_SETTING_NUMBER, /* decimal */
	LITIFUT_SETTING_TEXT,   /* may be empty */
	LITIFUT_SETTING_PLACE,  /* a path; an empty one is none */
	LITIFUT_SETTING_CLOCK,  /* none, mono, cycle, or page, which is for tests */
	LITIFUT_SETTING_FILE,   /* map or write */
	LITIFUT_SETTING_ON,     /* 1: on; anything else is off */
	LITIFUT_SETTING_OFF,    /* off; anything else is on */
	LITIFUT_SETTING_NEVER,  /* never; anything else is auto */
};

/* X(name without LITIFUT_, kind, member of the recorder's struct litifut_settings) */
#define LITIFUT_SETTINGS(X)                                                                        \
	X("DIR", PLACE, directory)                                                                 \
	X("COPY_TO", TEXT, copy_to)                                                                \
	X("BULK_KB", NUMBER, bulk_kb)                                                              \
	X("MAX_MB", NUMBER, max_mb)                                                                \
	X("CLOCK", CLOCK, clock)                                                                   \
	X("DEDUP", ON, dedup)                                                                      \
	X("BLOOM_KB", NUMBER, bloom_kb)                                                            \
	X("START", OFF, start_off)                                                                 \
	X("SIGNAL", NUMBER, signal)                                                                \
	X("VERBOSE", ON, verbose)                                                                  \
	X("COMPACT", NUMBER, compact)                                                              \
	X("RING_KB", NUMBER, ring_kb)                                                              \
	X("SUM", ON, sum)                                                                          \
	X("FILE", FILE, file)                                                                      \
	X("SYSCALLS", NEVER, no_calls)

#endif
