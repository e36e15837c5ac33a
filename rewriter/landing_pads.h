/* Exception landing pads: code that only the unwinder jumps to, so that no branch and no
 * pointer leads to it. */
#ifndef LITIFUT_REWRITER_LANDING_PADS_H
#define LITIFUT_REWRITER_LANDING_PADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rewriter/arch.h"
#include "rewriter/image.h"
#include "rewriter/targets.h"

/* Bytes of a table. Behind the end, `failed` is set and all is 0. */
struct litifut_reader {
	const uint8_t *at;
	const uint8_t *end;
	bool big_endian;
	bool failed;
};

/* Takes a record of such a table: an exception out of [start, end) goes on at `pad`; 0: it leaves
 * the function. */
typedef void litifut_take_region(void *context, uint32_t start, uint32_t end, uint32_t pad);

/* Takes the records of the table that C++ and C with the cleanup attribute have for the function
 * at `function`; `reader` stands at its start. */
void litifut_landing_pads_read(struct litifut_reader *reader, uint32_t function,
			       litifut_take_region *take, void *context);

/* Those of all functions that .eh_frame lists. Of a damaged one, those before. */
void litifut_landing_pads_of_frames(const struct litifut_image *image, litifut_take_region *take,
				    void *context);

/* Adds the landing pads of an image. */
void litifut_landing_pads_add(const struct litifut_image *image, const struct litifut_arch *arch,
			      struct litifut_targets *targets);

#endif
