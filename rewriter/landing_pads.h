/* Exception landing pads: code that only the unwinder jumps to, so that no branch and no
 * pointer leads to it. */
#ifndef LITIFUT_REWRITER_LANDING_PADS_H
#define LITIFUT_REWRITER_LANDING_PADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rewriter/image.h"
#include "rewriter/targets.h"

/* Bytes of a table. Behind the end, `failed` is set and all is 0. */
struct litifut_reader {
	const uint8_t *at;
	const uint8_t *end;
	bool big_endian;
	bool failed;
};

/* Adds the landing pads in the table of call sites that C++ and C with the cleanup
 * attribute have for the function at `function`; `reader` stands at its start. */
void litifut_landing_pads_read(struct litifut_reader *reader, uint32_t function,
			       struct litifut_targets *targets);

/* Adds those of all functions that .eh_frame lists. Of a damaged one, those before. */
void litifut_landing_pads_of_frames(const struct litifut_image *image,
				    struct litifut_targets *targets);

/* Why no code may be moved that can fault, or NULL. The runtimes of Go and of Ada throw an
 * exception out of the handler of a fault, and the unwinder knows nothing of code that was moved.
 * C++ does so with -fnon-call-exceptions only, of which an image does not say. */
const char *litifut_throws_from_handlers(const struct litifut_image *image);

#endif
