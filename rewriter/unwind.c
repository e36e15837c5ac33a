#include "rewriter/unwind.h"

#include <stdlib.h>
#include <string.h>

void litifut_unwind_note(struct litifut_unwind *unwind, const struct litifut_frame_code *code)
{
	if (unwind->count == unwind->capacity) {
		size_t capacity = unwind->capacity ? 2 * unwind->capacity : 256;
		void *items = realloc(unwind->items, capacity * sizeof(*unwind->items));

		if (!items)
			return;
		unwind->items = items;
		unwind->capacity = capacity;
	}
	unwind->items[unwind->count++] = *code;
}

const struct litifut_section *litifut_unwind_write(const struct litifut_unwind *unwind,
						   const struct litifut_session *session)
{
	const struct litifut_unwind_table *table = LITIFUT_ARCH_GET(session->arch, frames, unwind);

	return table && session->room ? table->write(&session->image, &session->context,
						     session->room, unwind->items, unwind->count)
				      : NULL;
}

void litifut_unwind_release(struct litifut_unwind *unwind)
{
	free(unwind->items);
	memset(unwind, 0, sizeof(*unwind));
}
