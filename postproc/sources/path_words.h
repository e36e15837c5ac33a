/* The words in which a firmware records its branches (LITIFUT_MODE=paths,
 * <litifut/paths_format.h>), from a dump of its memory or from frames, and what a trace of Linux
 * would have for them. */
#ifndef LITIFUT_POSTPROC_SOURCES_PATH_WORDS_H
#define LITIFUT_POSTPROC_SOURCES_PATH_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <litifut/packed_format.h>

#include "postproc/sources/trace.h"

/* A kind of record that no device has, and a word behind it: times of a pattern in its lowest 8
 * bits, the number of the pattern above. */
#define POST_PATH_WORDS_PATTERN 31

struct post_path_words {
	uint32_t *items; /* of the device, in order; owned */
	size_t count, capacity;
	uint32_t next; /* position of the word behind the last one */
	uint32_t end;  /* and of the one behind the last one that there is */
	bool begun;
	uint64_t missing;  /* words before or between them */
	uint32_t lost;     /* bits and records, by the device, */
	uint32_t reported; /* and of these, what words of buffers in a compact form have said */
	uint32_t restarts; /* of the device */
	uint32_t stops;    /* so often recording was switched off, */
	bool off;          /* and is off at the end */
	/* Of a buffer in its compact form: what has come of it, and what was known before it. */
	uint8_t *packed;
	size_t packed_size, packed_capacity;
	struct litifut_packed_model model;
	bool model_known;
};

/* The ring as it stands in a memory: all of its words, its address and the address of the newest
 * word. False: that is not in it. */
bool post_path_words_memory(struct post_path_words *words, const uint32_t *ring, size_t count,
			    uint32_t address, uint32_t newest);

/* Another word behind those. */
void post_path_words_add(struct post_path_words *words, uint32_t word);

/* Payloads of LITIFUT_FRAME_BRANCHES and LITIFUT_FRAME_WORDS. False: it makes no sense. */
bool post_path_words_begin(struct post_path_words *words, const uint8_t *payload, size_t size);
bool post_path_words_take(struct post_path_words *words, const uint8_t *payload, size_t size);

/* Payloads of LITIFUT_FRAME_PACKED (`begins') and LITIFUT_FRAME_PACKED_MORE. `follows': no frame
 * before it is missing. False: the buffer before this one makes no sense. What is not whole is left
 * out. */
bool post_path_words_pack(struct post_path_words *words, bool begins, bool follows,
			  const uint8_t *payload, size_t size);

/* Whatever comes next does not belong to the last buffer. False: it makes no sense. */
bool post_path_words_unpack(struct post_path_words *words);

/* `position' is that of the next word. */
void post_path_words_skip_to(struct post_path_words *words, uint32_t position);

/* Puts the words of patterns in their places, from the table of the flash. */
void post_path_words_expand(struct post_path_words *words, const uint32_t *table, size_t count);

/* Words that have not come. */
uint64_t post_path_words_missing(const struct post_path_words *words);

/* Gives `trace`, which has a header already, its chunk. */
void post_path_words_make(struct post_path_words *words, struct post_trace *trace);

/* Reports what the device has lost, of the trace at `path'. */
void post_path_words_losses(const struct post_path_words *words, const struct post_trace *trace,
			    const char *path, struct post_problems *problems);

void post_path_words_release(struct post_path_words *words);

#endif
