/* The recorder's settings (docs/litifut.1). */
#ifndef LITIFUT_TRACER_SETTINGS_H
#define LITIFUT_TRACER_SETTINGS_H

#include <litifut/trace_format.h>
#include <stdint.h>

#define LITIFUT_PATH_BYTES 512
#define LITIFUT_MAX_MB_UNSET UINT32_MAX
#define LITIFUT_CLOCK_UNSET 0xff /* none was asked for */

/* Full chunks of events are written in compact form. */
enum litifut_compacting {
	LITIFUT_COMPACT_OFF = 0,
	LITIFUT_COMPACT_ON = 1,
	LITIFUT_COMPACT_SOME = 2 /* as many as it takes to stay at four bytes an event */
};

/* How what is recorded gets into the file. */
enum litifut_file_way {
	LITIFUT_FILE_UNSET = 0, /* as the file system can be trusted */
	LITIFUT_FILE_MAP = 1,
	LITIFUT_FILE_WRITE = 2
};

struct litifut_settings {
	char directory[LITIFUT_PATH_BYTES];
	char copy_to[LITIFUT_PATH_BYTES]; /* "": nowhere */
	uint32_t bulk_kb;                 /* 0: write each event at once */
	uint32_t ring_kb;                 /* 0: none */
	uint32_t max_mb;                  /* 0: no bound; LITIFUT_MAX_MB_UNSET */
	uint32_t dir_mb;                  /* of all traces in the folder; 0: no bound */
	uint32_t clock;                   /* enum litifut_clock */
	uint32_t dedup;
	uint32_t compact; /* enum litifut_compacting */
	uint32_t bloom_kb;
	uint32_t start_off;
	uint32_t signal; /* 0: none */
	uint32_t file;   /* enum litifut_file_way */
	uint32_t sum;    /* of the words of each full chunk */
	uint32_t verbose;
	uint32_t raw;      /* what the tracer takes is not measured */
	uint32_t no_calls; /* no system calls once recording has begun */
	/* see struct litifut_trace_header */
	uint32_t wrong;
	char unknown[LITIFUT_UNKNOWN_BYTES];
};

#endif
