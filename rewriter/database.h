/* The instruction DB as it stands in a program: see litifut/module_format.h. */
#ifndef LITIFUT_REWRITER_DATABASE_H
#define LITIFUT_REWRITER_DATABASE_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "rewriter/image.h"

/* `bytes` is room of `image` for a header and `capacity` entries, of which the first `count`
 * have been filled in any order. Sorts these and writes the header. The only error is a lack
 * of memory. */
enum litifut_status litifut_database_finish(const struct litifut_image *image, uint8_t *bytes,
					    size_t count, size_t capacity,
					    struct litifut_error *error);

#endif
