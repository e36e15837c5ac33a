/* The times of a firmware's tasks, out of a capture into a trace. */
#include "postproc/sources/firmware_tasks.h"

#include <stdio.h>

#include "postproc/sources/firmware_image.h"
#include "postproc/table.h"

static const char *name_of_task(const struct post_image *image, const struct litifut_task *task)
{
	uint32_t place, none;

	if (task->task == LITIFUT_TASK_OTHERS)
		return "(others)";
	/* the address of nothing, unless tasks have numbers */
	if (!task->task && post_firmware_object(image, "litifut_task_name", &place, &none) &&
	    place != LITIFUT_TASK_NAMELESS)
		return "(none)";
	return task->name;
}

void post_firmware_take_tasks(struct post_trace *trace, const struct post_image *image,
			      const struct post_capture *capture)
{
	for (size_t i = 0; i < capture->task_count; i++) {
		const struct litifut_task *task = &capture->tasks[i];
		struct post_task *taken;

		POST_GROW(trace->tasks, trace->task_count, trace->task_capacity);
		taken = &trace->tasks[trace->task_count++];
		*taken = (struct post_task){
			.id = task->task,
			.calls = task->calls,
			.ticks = (uint64_t)task->ticks_high << 32 | task->ticks_low,
		};
		snprintf(taken->name, sizeof(taken->name), "%s", name_of_task(image, task));
		for (char *at = taken->name; *at; at++) /* the memory may have had anything there */
			if (*at < ' ' || *at > '~')
				*at = '?';
	}
}
