/* A copy of /proc/PID/maps. */
#ifndef LITIFUT_POSTPROC_SOURCES_MAPS_H
#define LITIFUT_POSTPROC_SOURCES_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "postproc/problems.h"

struct post_map {
	uint32_t start;
	uint32_t end; /* last byte + 1; 0xffffffff for the last page */
	uint32_t offset;
	bool executable;
	char *path; /* "" for anonymous memory */
};

struct post_maps {
	char *path; /* of the maps file */
	struct post_map *items;
	size_t count, capacity;
};

/* Parses the text. Lines that make no sense are reported and left out. */
enum litifut_status post_maps_parse(const char *text, size_t size, const char *name,
				    struct post_maps *maps, struct post_problems *problems);

/* Opens a plain, .gz or .zst file. */
enum litifut_status post_maps_open(const char *path, struct post_maps *maps,
				   struct post_problems *problems, struct litifut_error *error);

void post_maps_release(struct post_maps *maps);

#endif
