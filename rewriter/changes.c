#include "rewriter/changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/parallel.h"
#include "rewriter/sort.h"

/* Code that is copied, changed and written in one go: it stays in the cache. */
#define PIECE_BYTES (128u << 10)

bool litifut_changes_reserve(struct litifut_changes *changes, size_t count)
{
	void *items;

	if (count <= changes->capacity)
		return true;
	items = litifut_memory_resized(changes->items, count, sizeof(*changes->items));
	if (!items)
		return false;
	changes->items = items;
	changes->capacity = count;
	return true;
}

/* A new one at the end; NULL: no memory. */
static struct litifut_change *next(struct litifut_changes *changes)
{
	if (changes->count < changes->capacity ||
	    litifut_changes_reserve(changes, 2 * changes->capacity + 64))
		return &changes->items[changes->count++];
	changes->no_memory = true;
	return NULL;
}

void litifut_changes_add(struct litifut_changes *changes, uint32_t address, const uint8_t *code,
			 uint32_t length, uint32_t entry, enum litifut_code_state state)
{
	for (uint32_t done = 0; done < length; done += LITIFUT_CHANGE_BYTES) {
		const uint32_t left = length - done;
		const uint32_t bytes = left < LITIFUT_CHANGE_BYTES ? left : LITIFUT_CHANGE_BYTES;
		struct litifut_change *change = next(changes);

		if (!change)
			return;
		change->address = address + done;
		change->entry = done ? 0 : entry;
		change->length = bytes;
		change->state = state;
		change->in_place = false;
		memcpy(change->code, code + done, bytes);
	}
}

enum litifut_status litifut_changes_add_place(struct litifut_changes *changes,
					      struct litifut_image *image, uint32_t address,
					      uint32_t length, struct litifut_error *error)
{
	struct litifut_change *change = next(changes);

	if (change)
		*change = (struct litifut_change){
			.address = address, .length = length, .in_place = true};
	return litifut_image_unlock(image, address, length, error);
}

static uint32_t address_of(const void *item)
{
	return ((const struct litifut_change *)item)->address;
}

enum litifut_status litifut_changes_sort(struct litifut_changes *changes,
					 const struct litifut_image *image,
					 struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;

	if (changes->no_memory)
		return litifut_error_memory(error, image->path);
	status = litifut_sort_runs(changes->items, changes->count, sizeof(*changes->items),
				   address_of, error);
	for (size_t i = 1; i < changes->count && !status; i++) {
		const struct litifut_change *before = &changes->items[i - 1];

		if (changes->items[i].address - before->address < before->length)
			status = litifut_error_set(error, LITIFUT_ERROR_INTERNAL, image->path, NULL,
						   changes->items[i].address,
						   "would be changed twice");
	}
	return status;
}

/* The first change that ends behind `address`. */
static size_t first_behind(const struct litifut_changes *changes, uint32_t address)
{
	size_t low = 0;
	size_t high = changes->count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct litifut_change *change = &changes->items[middle];

		if (change->address < address && address - change->address >= change->length)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct saving {
	const struct litifut_changes *changes;
	const struct litifut_image *image;
	const struct litifut_section *section;
	int descriptor;
	uint8_t *buffers; /* one for each worker */
	int failed;       /* errno, changed atomically */
};

/* The bytes from `offset` in the section on, as they will be. */
static void make_piece(const struct saving *saving, uint32_t offset, uint32_t size, uint8_t *bytes)
{
	const struct litifut_changes *changes = saving->changes;
	const uint32_t start = saving->section->address + offset;

	memcpy(bytes, saving->section->bytes + offset, size);
	for (size_t i = first_behind(changes, start); i < changes->count; i++) {
		const struct litifut_change *change = &changes->items[i];
		int64_t at = (int64_t)change->address - start;

		if (at >= size)
			break;
		if (change->in_place)
			continue;
		if (at >= 0 && at + LITIFUT_CHANGE_BYTES <= size) {
			/* nearly all are, and a copy of known size is one instruction */
			if (change->length == 4)
				memcpy(bytes + at, change->code, 4);
			else
				memcpy(bytes + at, change->code, change->length);
			continue;
		}
		for (uint32_t byte = 0; byte < change->length; byte++)
			if (at + byte >= 0 && at + byte < size)
				bytes[at + byte] = change->code[byte];
	}
}

static void save_piece(void *context, size_t worker, size_t item)
{
	struct saving *saving = context;
	const struct litifut_section *section = saving->section;
	const uint32_t offset = (uint32_t)item * PIECE_BYTES;
	const uint32_t left = section->size - offset;
	const uint32_t size = left < PIECE_BYTES ? left : PIECE_BYTES;
	const off_t place = section->bytes - saving->image->file.bytes + (off_t)offset;
	uint8_t *bytes = saving->buffers + worker * PIECE_BYTES;
	uint32_t done = 0;

	make_piece(saving, offset, size, bytes);
	while (done < size && !__atomic_load_n(&saving->failed, __ATOMIC_RELAXED)) {
		ssize_t written =
			pwrite(saving->descriptor, bytes + done, size - done, place + (off_t)done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			__atomic_store_n(&saving->failed, written ? errno : EIO, __ATOMIC_RELAXED);
		else
			done += (uint32_t)written;
	}
}

enum litifut_status litifut_changes_save(const struct litifut_changes *changes,
					 const struct litifut_image *image,
					 const struct litifut_section *section, int descriptor,
					 struct litifut_error *error)
{
	struct saving saving = {changes, image, section, descriptor, NULL, 0};

	saving.buffers = malloc(litifut_parallel_workers() * PIECE_BYTES);
	if (!saving.buffers)
		return litifut_error_set(error, LITIFUT_ERROR_IO, image->path, section->name,
					 LITIFUT_NO_ADDRESS, "out of memory");
	litifut_parallel((section->size + PIECE_BYTES - 1) / PIECE_BYTES, save_piece, &saving);
	free(saving.buffers);
	return saving.failed ? litifut_error_set(error, LITIFUT_ERROR_IO, image->path,
						 section->name, LITIFUT_NO_ADDRESS,
						 "cannot write: %s", strerror(saving.failed))
			     : LITIFUT_OK;
}

void litifut_changes_release(struct litifut_changes *changes)
{
	free(changes->items);
	memset(changes, 0, sizeof(*changes));
}
