/* SHA-1, as the linker's own ids are by default, of pieces one after the other: each is hashed,
 * and its hash with that of all before it. */
#include "rewriter/identity.h"

#include <stdlib.h>
#include <string.h>

#include "elf/sections.h"

/* Of libiberty, which has no header for it: the 20 bytes of SHA-1, to `result`. */
extern void *sha1_buffer(const char *bytes, size_t size, void *result);

#define SHA1_BYTES 20
#define SITES_AT_ONCE 1024

struct digest {
	uint8_t bytes[SHA1_BYTES];
};

static void mix(struct digest *digest, const void *bytes, size_t size)
{
	uint8_t both[2 * SHA1_BYTES];

	memcpy(both, digest->bytes, SHA1_BYTES);
	sha1_buffer(bytes, size, both + SHA1_BYTES);
	sha1_buffer((const char *)both, sizeof(both), digest->bytes);
}

static void mix_sites(struct digest *digest, const struct litifut_site_list *list, bool big_endian)
{
	uint8_t bytes[SITES_AT_ONCE * sizeof(struct litifut_site)];
	size_t used = 0;

	for (size_t i = 0; i < list->count; i++) {
		elf_write_site(big_endian, bytes + used, &list->items[i].site);
		used += sizeof(struct litifut_site);
		if (used == sizeof(bytes) || i + 1 == list->count) {
			mix(digest, bytes, used);
			used = 0;
		}
	}
}

static void mix_module(struct digest *digest, const struct litifut_module *module, bool big_endian)
{
	struct litifut_module known = *module;
	uint8_t bytes[sizeof(known)] = {0};

	memset(known.build_id, 0, sizeof(known.build_id));
	memset(known.name, 0, sizeof(known.name));
	memset(known.defaults, 0, sizeof(known.defaults));
	elf_write_module(big_endian, bytes, &known);
	mix(digest, bytes, sizeof(bytes));
}

/* As many bytes as the id had, which may be more than a hash has. */
static void spread(struct digest digest, uint8_t *id, size_t size)
{
	for (size_t at = 0; at < size; at += SHA1_BYTES) {
		memcpy(id + at, digest.bytes, size - at < SHA1_BYTES ? size - at : SHA1_BYTES);
		mix(&digest, "", 0);
	}
}

enum litifut_status litifut_identity_mix(const struct litifut_image *image,
					 const struct litifut_identity_facts *facts, bool keeps,
					 struct litifut_module *module,
					 struct litifut_build_id *note, struct litifut_error *error)
{
	const bool big = image->file.big_endian;
	size_t size = 0;
	const uint8_t *id = elf_file_build_id(&image->file, &size);
	struct digest digest = {{0}};

	*note = (struct litifut_build_id){0};
	if (keeps)
		return LITIFUT_OK;
	/* a module without a note has an id all the same */
	mix(&digest, id ? id : module->build_id, id ? size : module->build_id_bytes);
	mix_module(&digest, module, big);
	mix(&digest, facts->db->bytes, facts->db->size);
	mix_sites(&digest, facts->sites, big);
	if (facts->blocks)
		mix(&digest, facts->blocks, facts->blocks_bytes);
	spread(digest, module->build_id, module->build_id_bytes);
	if (!id)
		return LITIFUT_OK;
	note->bytes = malloc(size);
	if (!note->bytes)
		return litifut_error_memory(error, image->path);
	note->size = size;
	spread(digest, note->bytes, size);
	return LITIFUT_OK;
}
