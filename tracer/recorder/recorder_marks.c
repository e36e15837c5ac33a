/* The default recorder of a link with LITIFUT_MARK_EVERY: the same code, with arguments and marks.
 */
#define LITIFUT_WITH_ARGUMENTS true
#define LITIFUT_WITH_MARKS true
#include "tracer/recorder/recorder.c"
