#include "common/version.h"

#ifdef LITIFUT_COMMIT
const char litifut_version[] = LITIFUT_VERSION " (" LITIFUT_COMMIT ")";
#else
const char litifut_version[] = LITIFUT_VERSION;
#endif
