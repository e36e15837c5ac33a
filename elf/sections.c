#include "elf/sections.h"

#include <string.h>

#include "common/bytes.h"

static uint32_t word(const struct elf_contents *section, size_t offset)
{
	return litifut_get32(section->big_endian, section->bytes + offset);
}

static enum litifut_status fail(const struct elf_contents *section, const char *name,
				enum litifut_status status, struct litifut_error *error,
				const char *message)
{
	return litifut_error_set(error, status, section->path, name, LITIFUT_NO_ADDRESS, "%s",
				 message);
}

/* Struct litifut_module consists of 32-bit words but for these bytes. */
struct range {
	size_t start;
	size_t end;
};

static const struct range module_words[] = {
	{0, offsetof(struct litifut_module, build_id)},
	{offsetof(struct litifut_module, entry), sizeof(struct litifut_module)},
};

enum litifut_status elf_read_module(const struct elf_contents *section,
				    struct litifut_module *module, struct litifut_error *error)
{
	const size_t version_at = offsetof(struct litifut_module, version);
	uint8_t *members = (uint8_t *)module;
	uint32_t bytes;

	memset(module, 0, sizeof(*module));
	if (section->size < LITIFUT_MODULE_BYTES_1 ||
	    word(section, offsetof(struct litifut_module, magic)) != LITIFUT_MODULE_MAGIC)
		return fail(section, LITIFUT_SECTION_MODULE, LITIFUT_ERROR_FORMAT, error,
			    "damaged module record");
	if (LITIFUT_MODULE_VERSION_OF(word(section, version_at)) > LITIFUT_MODULE_VERSION)
		return fail(section, LITIFUT_SECTION_MODULE, LITIFUT_ERROR_UNSUPPORTED, error,
			    "rewritten by a newer version than this program");
	bytes = LITIFUT_MODULE_BYTES_OF(word(section, version_at));
	if (bytes < LITIFUT_MODULE_BYTES_1 || bytes % 4 || bytes > section->size)
		return fail(section, LITIFUT_SECTION_MODULE, LITIFUT_ERROR_FORMAT, error,
			    "damaged module record");
	if (bytes > sizeof(*module))
		bytes = sizeof(*module);
	memcpy(module, section->bytes, bytes);
	for (size_t i = 0; i < sizeof(module_words) / sizeof(*module_words); i++)
		for (size_t at = module_words[i].start; at < module_words[i].end; at += 4) {
			uint32_t value = litifut_get32(section->big_endian, members + at);

			memcpy(members + at, &value, sizeof(value));
		}
	return LITIFUT_OK;
}

void elf_write_module(bool big_endian, uint8_t *bytes, const struct litifut_module *module)
{
	memcpy(bytes, module, sizeof(*module));
	for (size_t i = 0; i < sizeof(module_words) / sizeof(*module_words); i++)
		for (size_t at = module_words[i].start; at < module_words[i].end; at += 4) {
			uint32_t value;

			memcpy(&value, bytes + at, sizeof(value));
			litifut_put32(big_endian, bytes + at, value);
		}
}

enum litifut_status elf_read_sites(const struct elf_contents *section, struct elf_records *records,
				   struct litifut_error *error)
{
	const size_t header = sizeof(struct litifut_sites_header);
	uint32_t version;

	memset(records, 0, sizeof(*records));
	if (section->size < header ||
	    word(section, offsetof(struct litifut_sites_header, magic)) != LITIFUT_SITES_MAGIC)
		return fail(section, LITIFUT_SECTION_SITES, LITIFUT_ERROR_FORMAT, error,
			    "damaged list of call sites");
	version = word(section, offsetof(struct litifut_sites_header, version));
	if (version != LITIFUT_SITES_VERSION)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, section->path,
					 LITIFUT_SECTION_SITES, LITIFUT_NO_ADDRESS,
					 "version %u of the list of call sites is not known",
					 version);
	records->bytes = section->bytes + header;
	records->count = word(section, offsetof(struct litifut_sites_header, count));
	records->stride = word(section, offsetof(struct litifut_sites_header, record_bytes));
	records->big_endian = section->big_endian;
	if (records->stride < LITIFUT_SITE_BYTES_MIN ||
	    records->count > (section->size - header) / records->stride)
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, section->path,
					 LITIFUT_SECTION_SITES, LITIFUT_NO_ADDRESS,
					 "%u call sites of %u bytes do not fit in %zu bytes",
					 records->count, records->stride, section->size - header);
	return LITIFUT_OK;
}

struct litifut_site elf_read_site(const struct elf_records *records, uint32_t index)
{
	const uint8_t *bytes = records->bytes + (size_t)index * records->stride;
	const bool big = records->big_endian;
	struct litifut_site site = {
		.address = litifut_get32(big, bytes + offsetof(struct litifut_site, address)),
		.return_address =
			litifut_get32(big, bytes + offsetof(struct litifut_site, return_address)),
		.instruction =
			litifut_get32(big, bytes + offsetof(struct litifut_site, instruction)),
		.callee = litifut_get32(big, bytes + offsetof(struct litifut_site, callee)),
		.kind = bytes[offsetof(struct litifut_site, kind)],
		.reason = bytes[offsetof(struct litifut_site, reason)],
		.thumb = bytes[offsetof(struct litifut_site, thumb)],
		.length = bytes[offsetof(struct litifut_site, length)],
	};

	if (records->stride >= sizeof(site)) {
		site.exit = litifut_get32(big, bytes + offsetof(struct litifut_site, exit));
		site.exit_reason = bytes[offsetof(struct litifut_site, exit_reason)];
		site.site_class = bytes[offsetof(struct litifut_site, site_class)];
		site.flags = litifut_get16(big, bytes + offsetof(struct litifut_site, flags));
	}
	return site;
}

/* The headers of both lists are four words. */
static void write_header(bool big_endian, uint8_t *bytes, const uint32_t words[4])
{
	for (unsigned i = 0; i < 4; i++)
		litifut_put32(big_endian, bytes + 4 * i, words[i]);
}

void elf_write_sites_header(bool big_endian, uint8_t *bytes, uint32_t count)
{
	const uint32_t words[4] = {LITIFUT_SITES_MAGIC, LITIFUT_SITES_VERSION, count,
				   sizeof(struct litifut_site)};

	write_header(big_endian, bytes, words);
}

void elf_write_site(bool big_endian, uint8_t *bytes, const struct litifut_site *site)
{
	litifut_put32(big_endian, bytes + offsetof(struct litifut_site, address), site->address);
	litifut_put32(big_endian, bytes + offsetof(struct litifut_site, return_address),
		      site->return_address);
	litifut_put32(big_endian, bytes + offsetof(struct litifut_site, instruction),
		      site->instruction);
	litifut_put32(big_endian, bytes + offsetof(struct litifut_site, callee), site->callee);
	bytes[offsetof(struct litifut_site, kind)] = site->kind;
	bytes[offsetof(struct litifut_site, reason)] = site->reason;
	bytes[offsetof(struct litifut_site, thumb)] = site->thumb;
	bytes[offsetof(struct litifut_site, length)] = site->length;
	litifut_put32(big_endian, bytes + offsetof(struct litifut_site, exit), site->exit);
	bytes[offsetof(struct litifut_site, exit_reason)] = site->exit_reason;
	bytes[offsetof(struct litifut_site, site_class)] = site->site_class;
	litifut_put16(big_endian, bytes + offsetof(struct litifut_site, flags), site->flags);
}

/* Members that are words, at the start of a record. */
static void read_words(bool big_endian, const uint8_t *bytes, uint32_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		words[i] = litifut_get32(big_endian, bytes + 4 * i);
}

static void write_words(bool big_endian, uint8_t *bytes, const uint32_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		litifut_put32(big_endian, bytes + 4 * i, words[i]);
}

#define BLOCK_WORDS (offsetof(struct litifut_block, ends) / 4)

enum litifut_status elf_read_blocks(const struct elf_contents *section, struct elf_blocks *blocks,
				    struct litifut_error *error)
{
	struct litifut_blocks_header *header = &blocks->header;
	uint64_t bytes;

	memset(blocks, 0, sizeof(*blocks));
	if (section->size < sizeof(*header) || word(section, 0) != LITIFUT_BLOCKS_MAGIC)
		return fail(section, LITIFUT_SECTION_BLOCKS, LITIFUT_ERROR_FORMAT, error,
			    "damaged list of blocks");
	read_words(section->big_endian, section->bytes, (uint32_t *)header, sizeof(*header) / 4);
	if (!header->version || header->version > LITIFUT_BLOCKS_VERSION)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, section->path,
					 LITIFUT_SECTION_BLOCKS, LITIFUT_NO_ADDRESS,
					 "version %u of the list of blocks is not known",
					 header->version);
	bytes = (uint64_t)header->count * header->record_bytes +
		(uint64_t)header->originals * header->original_bytes;
	if (header->record_bytes < sizeof(struct litifut_block) ||
	    header->original_bytes < sizeof(struct litifut_original) ||
	    header->count > section->size || header->originals > section->size ||
	    bytes > section->size - sizeof(*header))
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, section->path,
					 LITIFUT_SECTION_BLOCKS, LITIFUT_NO_ADDRESS,
					 "%u blocks and %u pieces of code do not fit in %zu bytes",
					 header->count, header->originals, section->size);
	blocks->blocks = (struct elf_records){section->bytes + sizeof(*header), header->count,
					      header->record_bytes, section->big_endian};
	blocks->originals = (struct elf_records){
		blocks->blocks.bytes + (size_t)header->count * header->record_bytes,
		header->originals, header->original_bytes, section->big_endian};
	return LITIFUT_OK;
}

struct litifut_block elf_read_block(const struct elf_records *records, uint32_t index)
{
	const uint8_t *bytes = records->bytes + (size_t)index * records->stride;
	struct litifut_block block;

	memcpy(&block, bytes, sizeof(block));
	read_words(records->big_endian, bytes, (uint32_t *)&block, BLOCK_WORDS);
	return block;
}

struct litifut_original elf_read_original(const struct elf_records *records, uint32_t index)
{
	const uint8_t *bytes = records->bytes + (size_t)index * records->stride;
	struct litifut_original original;

	memcpy(&original, bytes, sizeof(original));
	read_words(records->big_endian, bytes, (uint32_t *)&original, 2);
	return original;
}

void elf_write_blocks_header(bool big_endian, uint8_t *bytes,
			     const struct litifut_blocks_header *header)
{
	struct litifut_blocks_header full = *header;

	full.magic = LITIFUT_BLOCKS_MAGIC;
	full.version = LITIFUT_BLOCKS_VERSION;
	full.record_bytes = sizeof(struct litifut_block);
	full.original_bytes = sizeof(struct litifut_original);
	write_words(big_endian, bytes, (const uint32_t *)&full, sizeof(full) / 4);
}

void elf_write_block(bool big_endian, uint8_t *bytes, const struct litifut_block *block)
{
	memcpy(bytes, block, sizeof(*block));
	write_words(big_endian, bytes, (const uint32_t *)block, BLOCK_WORDS);
}

void elf_write_original(bool big_endian, uint8_t *bytes, const struct litifut_original *original)
{
	memcpy(bytes, original, sizeof(*original));
	write_words(big_endian, bytes, (const uint32_t *)original, 2);
}

enum litifut_status elf_read_db(const struct elf_contents *section, struct elf_records *records,
				struct litifut_error *error)
{
	const size_t header = sizeof(struct litifut_db_header);
	const size_t size = sizeof(struct litifut_db_entry);

	memset(records, 0, sizeof(*records));
	if (section->size < header ||
	    word(section, offsetof(struct litifut_db_header, magic)) != LITIFUT_DB_MAGIC ||
	    word(section, offsetof(struct litifut_db_header, version)) != LITIFUT_DB_VERSION)
		return fail(section, LITIFUT_SECTION_DB, LITIFUT_ERROR_FORMAT, error,
			    "not an instruction DB that this program can read");
	records->bytes = section->bytes + header;
	records->count = word(section, offsetof(struct litifut_db_header, count));
	records->stride = (uint32_t)size;
	records->big_endian = section->big_endian;
	if (records->count > (section->size - header) / size)
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, section->path,
					 LITIFUT_SECTION_DB, LITIFUT_NO_ADDRESS,
					 "%u entries where %zu have room", records->count,
					 (section->size - header) / size);
	return LITIFUT_OK;
}

struct litifut_db_entry elf_read_db_entry(const struct elf_records *records, uint32_t index)
{
	const uint8_t *bytes = records->bytes + (size_t)index * records->stride;

	return (struct litifut_db_entry){
		.return_address = litifut_get32(records->big_endian, bytes),
		.instruction = litifut_get32(records->big_endian, bytes + 4)};
}

void elf_write_db_header(bool big_endian, uint8_t *bytes, uint32_t count, uint32_t capacity)
{
	const uint32_t words[4] = {LITIFUT_DB_MAGIC, LITIFUT_DB_VERSION, count, capacity};

	write_header(big_endian, bytes, words);
}

void elf_write_db_entry(bool big_endian, uint8_t *bytes, struct litifut_db_entry entry)
{
	litifut_put32(big_endian, bytes, entry.return_address);
	litifut_put32(big_endian, bytes + 4, entry.instruction);
}
