#include "rewriter/session.h"

struct litifut_thunk litifut_session_thunk(const struct litifut_session *session,
					   const struct litifut_cramped_call *call)
{
	const struct litifut_spawners *spawners = &session->context.spawners;
	bool direct = call->instruction.class == LITIFUT_CLASS_CALL_DIRECT ||
		      call->instruction.class == LITIFUT_CLASS_BRANCH_DIRECT;

	if (call->spawns || litifut_site_has_arguments(&session->arguments, call->arguments) ||
	    litifut_spawners_has(spawners, call->known_callee) ||
	    (direct && litifut_spawners_has(spawners, call->instruction.target)))
		return (struct litifut_thunk){.kind = LITIFUT_THUNK_NONE};
	return session->arch->thunks->thunk(&session->image, &session->context, call);
}
