/* The ring of events of a Cortex-M that outlasts a reset (LITIFUT_RAM), in memory that neither the
 * start-up code nor the program touches: this struct, the symbol `litifut_kept', and the ring
 * behind it. It is taken over at the next start when all words up to `check' are right, which
 * memory that has just been switched on has by chance once in 2^160 times. The positions of the
 * events go on, and a LITIFUT_SPAN_RESET (<litifut/spans_format.h>) stands between the two runs. */
#ifndef LITIFUT_KEPT_FORMAT_H
#define LITIFUT_KEPT_FORMAT_H

#define KEPT_HEAD 20 /* the offset, for assembly */
#define KEPT_BYTES 32
#define KEPT_ALIGNMENT 8

#define LITIFUT_KEPT_MAGIC 0x4b46544cu /* "LTFK" in memory, little endian */

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

struct litifut_kept {
	uint32_t magic;
	uint32_t hash[2]; /* of struct litifut_identity: an event is nothing to another build */
	uint32_t events;  /* that the ring has room for */
	uint32_t check;   /* litifut_kept_check() */
	volatile uint32_t head; /* the position of the next event */
	uint32_t resets;        /* since the memory was taken into use */
	uint32_t reserved;
};

_Static_assert(sizeof(struct litifut_kept) == KEPT_BYTES, "kept layout");
_Static_assert(offsetof(struct litifut_kept, head) == KEPT_HEAD, "kept layout");

/* FNV-1a, by words, of what does not change. */
static inline uint32_t litifut_kept_check(const struct litifut_kept *kept)
{
	uint32_t check = 0x811c9dc5;

	check = (check ^ kept->magic) * 0x01000193;
	check = (check ^ kept->hash[0]) * 0x01000193;
	check = (check ^ kept->hash[1]) * 0x01000193;
	return (check ^ kept->events) * 0x01000193;
}
#endif

#endif
