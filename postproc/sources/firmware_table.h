/* The calls of a firmware, from the numbers of its table. */
#ifndef LITIFUT_POSTPROC_SOURCES_FIRMWARE_TABLE_H
#define LITIFUT_POSTPROC_SOURCES_FIRMWARE_TABLE_H

#include "postproc/problems.h"
#include "postproc/sources/captured.h"
#include "postproc/sources/image.h"
#include "postproc/sources/trace.h"

/* Goes through the sites in the order of the table. What numbers say that have not come, or can't
 * be right, is left out; the latter is reported. */
enum litifut_status post_firmware_count_sites(const char *path, const struct post_image *image,
					      const struct post_capture *capture,
					      struct post_trace *trace,
					      struct post_problems *problems,
					      struct litifut_error *error);

/* Says that the clock has not moved: else the times look as if they had been measured. */
void post_firmware_report_clock(const char *path, struct post_problems *problems);

#endif
