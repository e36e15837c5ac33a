/* How small sequences of 16-bit entries and of branches become: by what a node can do (patterns
 * mined before, run lengths; a predictor), and by what needs more memory (LZW, Sequitur). */
#ifndef LITIFUT_POSTPROC_PATHS_COMPRESS_H
#define LITIFUT_POSTPROC_PATHS_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATH_MOST_PATTERNS 16u
#define PATH_PATTERN_MIN 2u
#define PATH_PATTERN_MAX 26u
#define PATH_BUFFER_ENTRIES 96u /* 192 bytes: what a node compresses at once */

/* Entries that stand for one symbol: those of the program, or symbols of patterns before it. */
struct path_pattern {
	uint32_t entries[PATH_PATTERN_MAX];
	unsigned count;
	uint64_t uses; /* when it was mined */
};

/* Symbols of patterns, above all 16-bit entries. */
#define PATH_SYMBOL(pattern) (0x10000u + (pattern))

/* Finds the sequence that saves most when a symbol takes its place, then the next one in what is
 * left, and so on. Returns how many there are; `most` is at most PATH_MOST_PATTERNS. */
size_t path_mine(const uint16_t *entries, size_t count, struct path_pattern *patterns, size_t most);

/* Bytes when each buffer is compressed by itself with these patterns and run lengths. */
uint64_t path_pattern_bytes(const uint16_t *entries, size_t count,
			    const struct path_pattern *patterns, size_t pattern_count);

/* Bytes with LZW (Welch 1984), in codes of 9 to 16 bits. */
uint64_t path_lzw_bytes(const uint16_t *entries, size_t count);

/* Bytes of the grammar that Sequitur (Nevill-Manning and Witten 1997) makes, each symbol in as
 * many bits as their number takes, with the list of entries that occur. */
uint64_t path_sequitur_bytes(const uint16_t *entries, size_t count);
/* The symbols on the right-hand sides of that grammar, and its rules; for tests. */
void path_sequitur_grammar(const uint16_t *entries, size_t count, size_t *symbols, size_t *rules);

/* Bits of branches (each 0 or 1) that a predictor leaves: it expects what has followed the last
 * `history` branches the last time, and what is written is how far its misses are apart, in
 * Exp-Golomb codes of order 2. Its table has 2^history bits. */
uint64_t path_predicted_bits(const uint8_t *branches, size_t count, unsigned history);

#endif
