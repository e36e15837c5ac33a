/* Does code of an image throw exceptions out of handlers of faults? */
#ifndef LITIFUT_REWRITER_FAULT_THROWS_H
#define LITIFUT_REWRITER_FAULT_THROWS_H

#include "rewriter/arch.h"
#include "rewriter/image.h"

/* Why no code may be moved that can fault, or NULL. */
const char *litifut_throws_from_handlers(const struct litifut_image *image,
					 const struct litifut_arch *arch,
					 const struct litifut_arch_context *context);

#endif
