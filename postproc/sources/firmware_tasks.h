/* The times of a firmware's tasks, out of a capture into a trace. */
#ifndef POST_SOURCES_FIRMWARE_TASKS_H
#define POST_SOURCES_FIRMWARE_TASKS_H

#include "postproc/sources/capture.h"

struct post_image;
struct post_trace;

/* Adds the tasks of `capture` to `trace`, with the names that they had on the device. */
void post_firmware_take_tasks(struct post_trace *trace, const struct post_image *image,
			      const struct post_capture *capture);

#endif
