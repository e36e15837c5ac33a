/* Folders of output files. */
#include "postproc/formats/folder.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

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
	if (lane >= pieces->count) {
		size_t count = output->session->lane_capacity;
		pieces->items = post_reallocate(pieces->items, count, sizeof(*pieces->items));
		memset(pieces->items + pieces->count, 0,
		       (count - pieces->count) * sizeof(*pieces->items));
		pieces->count = count;
	}
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

void post_pieces_release(struct post_pieces *pieces)
{
	for (size_t i = 0; i < pieces->count; i++)
		free(pieces->items[i].bytes);
	free(pieces->items);
	*pieces = (struct post_pieces){0};
}
