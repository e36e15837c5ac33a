/* Which code of the tracer was executed, for `make coverage': a QEMU user-mode plugin.
 *
 *   qemu-arm -plugin covered.so,output=FILE PROGRAM
 *
 * When a block of the tracer is executed for the first time, a line is put into FILE, which any
 * number of processes share. FILE is a hash table of lines. It is mapped, so that it takes none of
 * the program's descriptors and none of the program's limits applies; each line is there once:
 *
 *   CPU SOURCE SYMBOL OFFSET BYTES
 *
 * CPU is arm, armv7 (Thumb), mips or mipsel; SOURCE the source file that the symbol is local to, or
 * -; OFFSET and BYTES are those of the block, in hex, from the symbol on. It is written at once, as
 * many of the tests' processes are killed. Programs that have no symbols are left out. */
#include <elf.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/oracle/places.h"
#include "tests/oracle/qemu_plugin.h"

struct symbol {
	uint32_t address;
	uint32_t size;
	char *name;
	char *source;
	bool tracer;
	bool thumb;
};

/* A file that is mapped executable. */
struct image {
	const char *path;
	const uint8_t *bytes;
	size_t size;
	bool big;
	struct symbol *symbols; /* of its code, by address */
	size_t count;
};

struct block {
	bool executed;
	char line[];
};

/* One of FILE. */
struct slot {
	uint64_t hash; /* of the line; 0: free */
	char line[120];
};

#define SLOTS (1u << 18)

int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static struct slot *slots;
static const char *cpu_name;
static void *images;

static uint32_t word(const struct image *image, size_t offset, size_t bytes)
{
	uint32_t value = 0;

	for (size_t i = 0; i < bytes && offset + bytes <= image->size; i++)
		value |= (uint32_t)image->bytes[offset + i] << 8 * (image->big ? bytes - 1 - i : i);
	return value;
}

static uint32_t section_word(const struct image *image, uint32_t section, size_t member)
{
	return word(image,
		    word(image, offsetof(Elf32_Ehdr, e_shoff), 4) + section * sizeof(Elf32_Shdr) +
			    member,
		    4);
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->size != 0) - (right->size != 0);
}

/* Code that the rewriter has made is left out: that of a large program would fill FILE. */
static bool is_of_tracer(const char *name)
{
	return !strncmp(name, "litifut_", 8) && strcmp(name, "litifut_trampolines") != 0 &&
	       strncmp(name, "litifut_island_", 15) != 0;
}

/* Adds the symbols of the table `section`. */
static void add_symbols(struct image *image, uint32_t section)
{
	uint32_t table = section_word(image, section, offsetof(Elf32_Shdr, sh_offset));
	uint32_t count =
		section_word(image, section, offsetof(Elf32_Shdr, sh_size)) / sizeof(Elf32_Sym);
	uint32_t link = section_word(image, section, offsetof(Elf32_Shdr, sh_link));
	uint32_t names = section_word(image, link, offsetof(Elf32_Shdr, sh_offset));
	const char *source = "-";

	image->symbols = calloc(count + 1, sizeof(*image->symbols));
	for (uint32_t i = 0; image->symbols && i < count; i++) {
		size_t at = table + i * sizeof(Elf32_Sym);
		uint32_t value = word(image, at + offsetof(Elf32_Sym, st_value), 4);
		uint32_t info = word(image, at + offsetof(Elf32_Sym, st_info), 1);
		size_t name_at = names + word(image, at + offsetof(Elf32_Sym, st_name), 4);
		const char *name = (const char *)image->bytes + name_at;

		if (name_at >= image->size)
			continue;
		if (ELF32_ST_TYPE(info) == STT_FILE)
			source = *name ? name : "-";
		if (ELF32_ST_TYPE(info) != STT_FUNC && ELF32_ST_TYPE(info) != STT_NOTYPE)
			continue;
		if (!*name || *name == '$' || !word(image, at + offsetof(Elf32_Sym, st_shndx), 2))
			continue;
		image->symbols[image->count++] = (struct symbol){
			.address = value & ~1u,
			.size = word(image, at + offsetof(Elf32_Sym, st_size), 4),
			.name = strdup(name),
			.source = strdup(ELF32_ST_BIND(info) == STB_LOCAL ? source : "-"),
			.tracer = is_of_tracer(name),
			.thumb = value & 1,
		};
	}
	qsort(image->symbols, image->count, sizeof(*image->symbols), by_address);
}

static int by_path(const void *a, const void *b)
{
	const struct image *left = a, *right = b;

	return strcmp(left->path, right->path);
}

/* Each file is read once; one that can't be read has no symbols. */
static const struct image *image_of(const char *path)
{
	struct image wanted = {.path = path}, **found = tfind(&wanted, &images, by_path);
	struct image *image;
	struct stat status;
	int file;

	if (found)
		return *found;
	image = calloc(1, sizeof(*image));
	if (!image)
		return NULL;
	image->path = path;
	tsearch(image, &images, by_path);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return image;
	if (!fstat(file, &status)) {
		image->bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
		image->size = image->bytes == MAP_FAILED ? 0 : (size_t)status.st_size;
	}
	close(file);
	if (image->size < sizeof(Elf32_Ehdr) || memcmp(image->bytes, ELFMAG, SELFMAG) ||
	    image->bytes[EI_CLASS] != ELFCLASS32)
		return image;
	image->big = image->bytes[EI_DATA] == ELFDATA2MSB;
	for (uint32_t i = 0; i < word(image, offsetof(Elf32_Ehdr, e_shnum), 2); i++)
		if (section_word(image, i, offsetof(Elf32_Shdr, sh_type)) == SHT_SYMTAB)
			add_symbols(image, i);
	return image;
}

/* The address that the linker has given what stands at `offset` of the file; 0: none */
static uint32_t address_of(const struct image *image, uint64_t offset)
{
	uint32_t headers = word(image, offsetof(Elf32_Ehdr, e_phoff), 4);

	for (uint32_t i = 0; i < word(image, offsetof(Elf32_Ehdr, e_phnum), 2); i++) {
		size_t at = headers + i * sizeof(Elf32_Phdr);
		uint32_t start = word(image, at + offsetof(Elf32_Phdr, p_offset), 4);

		if (word(image, at, 4) == PT_LOAD && offset >= start &&
		    offset - start < word(image, at + offsetof(Elf32_Phdr, p_filesz), 4))
			return word(image, at + offsetof(Elf32_Phdr, p_vaddr), 4) +
			       (uint32_t)(offset - start);
	}
	return 0;
}

/* The last symbol at or before `address` */
static const struct symbol *symbol_at(const struct image *image, uint32_t address)
{
	size_t from = 0, to = image->count;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (image->symbols[middle].address <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from ? &image->symbols[from - 1] : NULL;
}

/* FNV-1a, never 0 */
static uint64_t hash_of(const char *line)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *line; line++)
		hash = (hash ^ (uint8_t)*line) * 0x100000001b3u;
	return hash ? hash : 1;
}

static void on_execution(unsigned cpu, void *user)
{
	struct block *block = user;
	uint64_t hash;

	(void)cpu;
	if (block->executed)
		return;
	block->executed = true;
	hash = hash_of(block->line);
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct slot *slot = &slots[(hash + i) % SLOTS];
		uint64_t found = 0;

		if (__atomic_compare_exchange_n(&slot->hash, &found, hash, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED)) {
			strcpy(slot->line, block->line);
			return;
		}
		if (found == hash)
			return;
	}
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, count - 1);
	uint64_t start = qemu_plugin_insn_vaddr(first);
	uint64_t end = qemu_plugin_insn_vaddr(last) + qemu_plugin_insn_size(last);
	const struct oracle_place *place =
		oracle_place_at((uint32_t)start, qemu_plugin_insn_haddr(first));
	const struct image *image;
	const struct symbol *symbol;
	struct block *block;
	char line[sizeof(slots->line)];

	(void)id;
	if (!place || place->path[0] != '/')
		return;
	image = image_of(place->path);
	symbol = image ? symbol_at(image, address_of(image, place->offset)) : NULL;
	if (!symbol || !symbol->tracer)
		return;
	snprintf(line, sizeof(line), "%s %s %s %x %x", symbol->thumb ? "armv7" : cpu_name,
		 symbol->source, symbol->name, address_of(image, place->offset) - symbol->address,
		 (uint32_t)(end - start));
	block = calloc(1, sizeof(*block) + sizeof(line));
	if (!block)
		return;
	memcpy(block->line, line, sizeof(line));
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_execution, QEMU_PLUGIN_CB_NO_REGS, block);
}

/* Anything that maps or unmaps may have been among them. */
static void on_system_call(qemu_plugin_id_t id, unsigned cpu, int64_t number, uint64_t a1,
			   uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
			   uint64_t a7, uint64_t a8)
{
	static const int64_t calls[] = {91, 163, 192, 4090, 4091, 4167, 4210};

	(void)id, (void)cpu, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7;
	(void)a8;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (number == calls[i])
			oracle_places_mappings_changed();
}

/* The table that is, or will be, in the file; NULL: it can't be made */
static struct slot *table_of(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	void *table = MAP_FAILED;

	if (file >= 0 && !ftruncate(file, SLOTS * sizeof(*slots)))
		table = mmap(NULL, SLOTS * sizeof(*slots), PROT_READ | PROT_WRITE, MAP_SHARED, file,
			     0);
	if (file >= 0)
		close(file);
	return table == MAP_FAILED ? NULL : table;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	cpu_name = strdup(info->target_name);
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "output=", 7))
			slots = table_of(argv[i] + 7);
	if (!slots) {
		fprintf(stderr, "covered: output=FILE is missing, or can't be written\n");
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_syscall_cb(id, on_system_call);
	return 0;
}
