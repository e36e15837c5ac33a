/* The function of the program that sets its pin. Like a recorder of the user's own, it may change
 * floating-point registers, which hold arguments where it is called. */

#include "tracer/recorder/marks.h"

#include <litifut/litifut.h>

#include "floating.h"

typedef void litifut_recorded(const struct litifut_call *call);

void litifut_marks_call(uint32_t level)
{
	static uint32_t litifut_floating;
	void (*set)(int) = litifut_mark_pin;
	void (*guarded)(litifut_recorded *, const struct litifut_call *, uint32_t) =
		litifut_record_guarded;

	if (!litifut_floating)
		litifut_floating = litifut_port_floating();
	/* by its address, or the linker puts a veneer between recorder and tracer */
	__asm__("" : "+r"(guarded));
	/* its argument is a word, as the level is */
	guarded((litifut_recorded *)(uint32_t)set, (const struct litifut_call *)level,
		litifut_floating);
}
