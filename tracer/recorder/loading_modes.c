/* loading.c for the recorder that has the modes whose data is in mapped memory (coverage, counts,
 * paths): the same code, and what it takes that a confined process may end (docs/recorder.md). */
#define LITIFUT_WITH_MODES true
#include "tracer/recorder/loading.c"
