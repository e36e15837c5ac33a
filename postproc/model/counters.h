/* The counters of call sites that LITIFUT_MODE=counts leaves in a trace. */
#ifndef LITIFUT_POSTPROC_MODEL_COUNTERS_H
#define LITIFUT_POSTPROC_MODEL_COUNTERS_H

#include "postproc/model/session.h"

/* Adds them to session->calls[]. The callee of a call through a register is not counted, and known
 * only where the code shows it. Problems: modules whose file, or its list of sites, is not there. */
void post_counters_take(struct post_session *session, struct post_process *process);

#endif
