/* Finding debug files. */
#include "postproc/sources/debug_file.h"

#include <dlfcn.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/hex.h"
#include "postproc/table.h"

#define UNPACKED_LIMIT (256u << 20) /* of mini debug info: far above any real one */

static bool same_build(const struct post_image *image, const struct post_image *debug)
{
	if (image->cpu != debug->cpu || image->file.big_endian != debug->file.big_endian)
		return false;
	if (!image->build_id_bytes || !debug->build_id_bytes)
		return true;
	return image->build_id_bytes == debug->build_id_bytes &&
	       !memcmp(image->build_id, debug->build_id, image->build_id_bytes);
}

static bool keep(struct post_image *image, struct post_image *debug)
{
	size_t room = sizeof(image->further) / sizeof(*image->further);

	for (size_t i = 0; i < room && same_build(image, debug); i++) {
		if (image->further[i])
			continue;
		image->further[i] = debug;
		return true;
	}
	post_image_close(debug);
	return false;
}

static bool try_path(struct post_image *image, const char *path)
{
	struct post_image *debug;

	return post_image_open(path, &debug, NULL) == LITIFUT_OK && keep(image, debug);
}

static bool by_build_id(struct post_image *image, const char *directory)
{
	char path[4096], hex[POST_BUILD_ID_BYTES * 2 + 1];

	if (image->build_id_bytes < 2)
		return false;
	litifut_hex(image->build_id, image->build_id_bytes, hex);
	int length =
		snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", directory, hex, hex + 2);
	return length > 0 && (size_t)length < sizeof(path) && try_path(image, path);
}

/* The name alone decides where to look; the build-id, where both files have
 * one, whether it is the right file. */
static bool by_link(struct post_image *image, const struct post_debug_places *places)
{
	GElf_Shdr header;
	Elf_Data *data = elf_file_section(&image->file, ".gnu_debuglink", &header);
	char path[4096];

	if (!data || !data->d_buf || !memchr(data->d_buf, '\0', data->d_size))
		return false;
	const char *name = data->d_buf;
	if (!*name || strchr(name, '/'))
		return false;
	const char *slash = strrchr(image->path, '/');
	int folder = slash ? (int)(slash - image->path) : 1;
	const char *start = slash ? image->path : ".";
	static const char *const between[] = {"/", "/.debug/"};
	for (size_t i = 0; i < 2; i++) {
		int length =
			snprintf(path, sizeof(path), "%.*s%s%s", folder, start, between[i], name);
		if (length > 0 && (size_t)length < sizeof(path) && strcmp(path, image->path) &&
		    try_path(image, path))
			return true;
	}
	for (size_t i = 0; places && places->directories && places->directories[i]; i++) {
		int length = snprintf(path, sizeof(path), "%s/%s", places->directories[i], name);
		if (length > 0 && (size_t)length < sizeof(path) && try_path(image, path))
			return true;
	}
	return false;
}

/* Mini debug info: an ELF file with the local functions, packed with xz. */
static void unpack_mini(struct post_image *image)
{
	GElf_Shdr header;
	Elf_Data *data = elf_file_section(&image->file, ".gnu_debugdata", &header);
	lzma_stream stream = LZMA_STREAM_INIT;
	uint8_t *unpacked = NULL;
	size_t room = 0;
	lzma_ret result;

	if (!data || !data->d_buf || lzma_stream_decoder(&stream, UNPACKED_LIMIT, 0) != LZMA_OK)
		return;
	stream.next_in = data->d_buf;
	stream.avail_in = data->d_size;
	do {
		if (stream.total_out == room) {
			room = room ? room * 2 : 64 * 1024;
			unpacked = post_reallocate(unpacked, room, 1);
		}
		stream.next_out = unpacked + stream.total_out;
		stream.avail_out = room - stream.total_out;
		result = lzma_code(&stream, LZMA_FINISH);
	} while (result == LZMA_OK && room < UNPACKED_LIMIT);
	struct post_image *debug;
	if (result == LZMA_STREAM_END &&
	    post_image_open_memory(unpacked, stream.total_out, image->path, &debug, NULL) ==
		    LITIFUT_OK)
		keep(image, debug);
	lzma_end(&stream);
	free(unpacked);
}

static void beside(struct post_image *image, const char *suffix)
{
	char path[4096];
	int length = snprintf(path, sizeof(path), "%s%s", image->path, suffix);

	if (length > 0 && (size_t)length < sizeof(path))
		try_path(image, path);
}

bool post_debug_file_add(struct post_image *image, const char *path)
{
	return try_path(image, path);
}

/* From the servers in DEBUGINFOD_URLS, if the user has set it. libdebuginfod is loaded only then:
 * it brings a client of HTTP with it, and need not be installed. */
static bool from_server(struct post_image *image)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	static void *library;
	static bool tried;
	GElf_Shdr header;
	char *path = NULL;
	bool found = false;

	if (!servers || !*servers || !image->build_id_bytes ||
	    elf_file_section(&image->file, ".symtab", &header))
		return false;
	if (!tried)
		library = dlopen("libdebuginfod.so.1", RTLD_NOW);
	tried = true;
	if (!library)
		return false;
	/* as in <elfutils/debuginfod.h> */
	void *(*begin)(void);
	int (*find)(void *client, const unsigned char *build_id, int bytes, char **path);
	void (*end)(void *client);
	*(void **)&begin = dlsym(library, "debuginfod_begin");
	*(void **)&find = dlsym(library, "debuginfod_find_debuginfo");
	*(void **)&end = dlsym(library, "debuginfod_end");
	void *client = begin && find && end ? begin() : NULL;
	if (!client)
		return false;
	int file = find(client, image->build_id, (int)image->build_id_bytes, &path);
	if (file >= 0) {
		close(file);
		found = try_path(image, path);
	}
	free(path);
	end(client);
	return found;
}

void post_debug_files_find(struct post_image *image, const struct post_debug_places *places)
{
	bool found = false;
	GElf_Shdr header;

	for (size_t i = 0; places && places->directories && places->directories[i] && !found; i++)
		found = by_build_id(image, places->directories[i]);
	if (!found)
		found = by_link(image, places);
	if (!found)
		found = from_server(image);
	if (!found)
		unpack_mini(image);
	/* where LITIFUT_DB=file has kept it out of the file */
	beside(image, LITIFUT_SITES_SUFFIX);
	/* it may be left from an earlier link, which had -s */
	if (!elf_file_section(&image->file, ".symtab", &header))
		beside(image, LITIFUT_NAMES_SUFFIX);
}
