/* What the recorder keeps of a trace file. */
#ifndef LITIFUT_TRACER_TRACE_FILE_H
#define LITIFUT_TRACER_TRACE_FILE_H

#include <stdint.h>

#include <litifut/trace_format.h>

/* Bytes of a file before its first chunk of full size, see litifut_trace_create(), and
 * what is in them besides the header: a chunk for module records and one for events, so
 * that a short process needs two pages. The second one ends where they end, at a multiple
 * of LITIFUT_THUNK_STOP_BYTES and of the size of full chunks. */
#define LITIFUT_HEADER_BYTES 16384
#define LITIFUT_FIRST_METADATA 1024
#define LITIFUT_FIRST_METADATA_BYTES (4096 - LITIFUT_FIRST_METADATA)
#define LITIFUT_FIRST_EVENTS_BYTES 4096
#define LITIFUT_FIRST_EVENTS (LITIFUT_HEADER_BYTES - LITIFUT_FIRST_EVENTS_BYTES)

/* Threads may copy the same file at the same time. */
struct litifut_copies {
	uint32_t begun; /* how many; each has a temporary name of its own */
	uint32_t read;  /* how many have all of the file as it was then */
	uint32_t named; /* which of those has the name, or was the last to have it */
};

struct litifut_sink;

/* A trace file of this process, or of a guest. */
struct litifut_trace_file {
	uint32_t process; /* id of the process that it is for */
	long descriptor;  /* negative: closed */
	uint32_t identity[3];
	uint32_t name_number;                /* in the names of its files: the first free one */
	struct litifut_trace_header *header; /* mapped at the start of the file */
	const struct litifut_sink *sink;
	uint32_t settles;      /* what was written may not be there: see sink.c */
	uint64_t max_bytes;    /* the file does not get larger; 0: there is no bound */
	uint32_t first_events; /* its first chunk of events is in use */
	uint32_t chunk_count;  /* handed out in the file so far; of a ring: the next place */
	uint32_t *ring;        /* for each place: 1: in use; NULL: the file is not a ring */
	uint32_t ring_places;
	uint32_t last_number; /* of a chunk */
};

#endif
