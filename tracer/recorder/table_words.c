/* Events as they are folded into tables. */

#include "tracer/recorder/table_words.h"

#include "tracer/recorder/fold.h"

uint32_t litifut_table_words(const struct litifut_call *call, uint64_t now, uint32_t *words)
{
	uint32_t low = (uint32_t)now;
	uint32_t last = 2;

	words[0] = call->stack_pointer & ~3u;
	words[1] = call->return_address;
	switch (call->kind) {
	case LITIFUT_SITE_DIRECT:
		words[0] += litifut_is_return(call) ? LITIFUT_FOLD_RETURN : LITIFUT_FOLD_CALL;
		break;
	case LITIFUT_SITE_TAIL_DIRECT:
		words[0] += LITIFUT_FOLD_TAIL;
		break;
	default:
		words[0] = (words[0] & ~7u) + (call->kind == LITIFUT_SITE_INDIRECT
						       ? LITIFUT_FOLD_CALL_POINTER
						       : LITIFUT_FOLD_TAIL_POINTER);
		words[last++] = call->callee;
		break;
	}
	words[last] = low ? low : 1;
	return last + 1;
}
