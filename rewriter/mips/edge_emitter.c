#include "rewriter/mips/edge_emitter.h"

void litifut_mips_note(struct litifut_mips_emitter *emitter, unsigned stack, uint32_t saved)
{
	litifut_frame_note_saved(&emitter->code->detour.frames[0], 4 * emitter->count, stack,
				 saved);
}

void litifut_mips_put_link(struct litifut_mips_emitter *emitter, uint32_t target)
{
	const uint32_t call = litifut_mips_jump(&emitter->place->context->cpu, true,
						litifut_mips_here(emitter), target);

	emitter->failed |= !call;
	litifut_mips_put(emitter, call);
}
