/* Folders of output files. */
#include "postproc/formats/folder.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/model/clock.h"

static FILE *open_file(struct post_output *output, const char *name, const char *how)
{
	char path[PATH_MAX];
	FILE *file = NULL;

	errno = ENAMETOOLONG;
	if (snprintf(path, sizeof(path), "%s/%s", output->folder, name) < PATH_MAX)
		file = fopen(path, how);
	if (!file)
		post_problem_at(output->session->problems, path, LITIFUT_NO_ADDRESS, "%s",
				strerror(errno));
	return file;
}

FILE *post_folder_open(struct post_output *output, const char *name)
{
	return open_file(output, name, "we");
}

struct post_piece *post_pieces_of(struct post_pieces *pieces, const struct post_output *output,
				  uint32_t lane)
{
	POST_WIDEN(pieces->items, pieces->count, lane, output->session->lane_capacity);
	if (!pieces->items[lane].bytes)
		pieces->items[lane].bytes = post_allocate(POST_PIECE_BYTES, 1);
	return &pieces->items[lane];
}

void post_pieces_write(struct post_pieces *pieces, struct post_output *output,
		       struct post_piece *piece, const char *name, const void *head,
		       size_t head_bytes)
{
	FILE *file = pieces->failed ? NULL : open_file(output, name, "ae");

	if (file) {
		fwrite(head, 1, head_bytes, file);
		fwrite(piece->bytes, 1, piece->used, file);
		if (fclose(file)) {
			post_problem_at(output->session->problems, name, LITIFUT_NO_ADDRESS, "%s",
					strerror(errno));
			pieces->failed = true;
		}
	} else {
		pieces->failed = true;
	}
	piece->used = 0;
}

void post_folder_start(struct post_output *output)
{
	output->state = post_allocate(1, sizeof(struct post_folder));
}

struct post_folder_lane *post_folder_lane(struct post_output *output, uint32_t lane)
{
	struct post_folder *folder = output->state;

	POST_WIDEN(folder->lanes, folder->lane_count, lane, output->session->lane_capacity);
	return &folder->lanes[lane];
}

void post_folder_show(struct post_output *output, uint32_t function)
{
	struct post_folder *folder = output->state;

	POST_WIDEN(folder->shown, folder->function_count, function,
		   output->session->function_capacity);
	folder->shown[function] = true;
}

uint64_t post_folder_time(const struct post_output *output, const struct post_timeline_event *event)
{
	const struct post_process *process = post_event_process(output, event);

	return post_clock_runs(process) ? post_clock_ns(process, post_event_clock(event))
					: post_event_sequence(output, event) * 1000;
}

void post_folder_flush(struct post_output *output,
		       void (*write)(struct post_output *output, uint32_t lane))
{
	const struct post_folder *folder = output->state;

	for (uint32_t i = 0; i < folder->pieces.count; i++) {
		if (folder->pieces.items[i].used)
			write(output, i);
	}
}

void post_folder_finish(struct post_output *output)
{
	struct post_folder *folder = output->state;

	for (size_t i = 0; i < folder->pieces.count; i++)
		free(folder->pieces.items[i].bytes);
	free(folder->pieces.items);
	free(folder->lanes);
	free(folder->shown);
	free(folder);
}
