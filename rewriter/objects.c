/* Making relocatable objects with libelf, so that no compiler is needed at link
 * time: the ones that reserve room in an image, and the tracer object fitted to
 * the program it is linked with. Longer than 500 lines, because all of them are lists of
 * the same kind of room, which the same few functions write. */
#include "rewriter/arch.h"
#include "rewriter/eh_frame.h"
#include "rewriter/firmware.h"
#include "rewriter/rewriter.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <litifut/frames_format.h>
#include <litifut/module_format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOMS_MAX (12 + LITIFUT_FIRMWARE_FAR_MOST)

/* One section of an object that reserves room, with the symbol at its start. Without a section it
 * stands in that of the room before it, right behind that. */
struct room {
	const char *section;
	const char *symbol;
	uint32_t flags;
	uint32_t type;
	uint32_t size;
	uint32_t alignment;
	uint32_t first_word; /* the rest is 0 */
	unsigned link;       /* sh_link */
	void (*fill)(uint8_t *bytes, size_t entries);
	size_t entries;
	/* Name of the section that holds one, by default one which does nothing; or NULL. */
	const char *relocations;
	Elf32_Rel relocation;
	const struct litifut_frame_registers
		*frame_of;    /* a room of such a section: see eh_frame.h */
	uint32_t frame_bytes; /* the size of the code that it is for */
};

struct writer {
	Elf *elf;
	const char *path;
	char names[1024]; /* section names */
	size_t names_used;
	char symbols[512]; /* symbol names */
	size_t symbols_used;
	void *filled[ROOMS_MAX];          /* contents of the rooms; freed at the end */
	Elf32_Rel relocations[ROOMS_MAX]; /* R_ARM_NONE, as that of any CPU, is 0 */
	unsigned notes; /* 1: it says that its code needs no stack that can be executed */
};

static uint32_t add_name(char *table, size_t *used, const char *name)
{
	uint32_t at = (uint32_t)*used;

	*used += (size_t)sprintf(table + at, "%s", name) + 1;
	return at;
}

static bool add_section(struct writer *writer, const char *name, const GElf_Shdr *header,
			void *bytes, size_t size, Elf_Type type)
{
	Elf_Scn *section = elf_newscn(writer->elf);
	Elf_Data *data = section ? elf_newdata(section) : NULL;
	GElf_Shdr copy = *header;

	if (!data)
		return false;
	data->d_buf = size ? bytes : NULL;
	data->d_size = size;
	data->d_type = type;
	data->d_align = header->sh_addralign;
	data->d_version = EV_CURRENT;
	copy.sh_name = add_name(writer->names, &writer->names_used, name);
	return gelf_update_shdr(section, &copy) != 0;
}

/* The section that the first of these rooms begins. */
static bool add_room(struct writer *writer, const struct litifut_rewrite_plan *plan,
		     const struct room *rooms, unsigned count, void **filled)
{
	const GElf_Shdr header = {.sh_type = rooms->type,
				  .sh_flags = rooms->flags,
				  .sh_link = rooms->link,
				  .sh_addralign = rooms->alignment};
	size_t size = rooms->size;

	for (unsigned i = 1; i < count && !rooms[i].section; i++)
		size += rooms[i].size;
	*filled = calloc(1, size ? size : 1);
	if (!*filled)
		return false;
	if (rooms->first_word)
		litifut_put32(plan->elf_data == ELFDATA2MSB, *filled, rooms->first_word);
	if (rooms->fill)
		rooms->fill(*filled, rooms->entries);
	if (rooms->frame_of)
		litifut_eh_frame_reserve(rooms->frame_of, plan->elf_data == ELFDATA2MSB,
					 rooms->frame_bytes, *filled);
	return add_section(writer, rooms->section, &header, *filled, size, ELF_T_BYTE);
}

static bool write_sections(struct writer *writer, const struct litifut_rewrite_plan *plan,
			   const struct room *rooms, unsigned count)
{
	Elf32_Sym symbols[ROOMS_MAX + 1] = {
		0}; /* the null symbol and one a room, but for the last */
	unsigned symbol_count = count + (count && rooms[count - 1].symbol);
	GElf_Ehdr header = {.e_type = ET_REL, .e_version = EV_CURRENT};

	if (!gelf_newehdr(writer->elf, ELFCLASS32) || !gelf_getehdr(writer->elf, &header))
		return false;
	header.e_type = ET_REL;
	header.e_machine = (GElf_Half)plan->machine;
	header.e_version = EV_CURRENT;
	header.e_flags = plan->elf_flags;
	header.e_ident[EI_CLASS] = ELFCLASS32;
	header.e_ident[EI_DATA] = plan->elf_data;
	header.e_ident[EI_OSABI] = ELFOSABI_NONE;
	unsigned extra = 0;
	unsigned sections = 0;
	uint32_t used = 0; /* of the section that is being made */

	for (unsigned i = 0; i < count; i++) {
		extra += rooms[i].relocations != NULL;
		sections += rooms[i].section != NULL;
	}
	header.e_shstrndx = (GElf_Half)(sections + extra + writer->notes + 3);
	if (!gelf_update_ehdr(writer->elf, &header))
		return false;
	sections = 0;
	for (unsigned i = 0; i < count; i++) {
		if (rooms[i].section) {
			if (!add_room(writer, plan, rooms + i, count - i, &writer->filled[i]))
				return false;
			sections++;
			used = 0;
		}
		if (rooms[i].symbol)
			symbols[i + 1].st_name =
				add_name(writer->symbols, &writer->symbols_used, rooms[i].symbol);
		symbols[i + 1].st_value = used;
		symbols[i + 1].st_size = rooms[i].size;
		symbols[i + 1].st_info = ELF32_ST_INFO(
			STB_GLOBAL, rooms[i].flags & SHF_EXECINSTR ? STT_FUNC : STT_OBJECT);
		symbols[i + 1].st_other = STV_HIDDEN;
		symbols[i + 1].st_shndx = (Elf32_Section)sections;
		used += rooms[i].size;
	}
	for (unsigned i = 0; i < count; i++) {
		const GElf_Shdr relocations = {.sh_type = SHT_REL,
					       .sh_link = sections + extra + writer->notes + 1,
					       .sh_info = symbols[i + 1].st_shndx,
					       .sh_entsize = sizeof(Elf32_Rel),
					       .sh_addralign = 4};

		writer->relocations[i] = rooms[i].relocation;
		if (rooms[i].relocations && !add_section(writer, rooms[i].relocations, &relocations,
							 &writer->relocations[i],
							 sizeof(writer->relocations[i]), ELF_T_REL))
			return false;
	}
	const GElf_Shdr no_stack = {.sh_type = SHT_PROGBITS, .sh_addralign = 1};
	const GElf_Shdr table = {.sh_type = SHT_SYMTAB,
				 .sh_link = sections + extra + writer->notes + 2,
				 .sh_info = 1,
				 .sh_entsize = sizeof(Elf32_Sym),
				 .sh_addralign = 4};
	const GElf_Shdr strings = {.sh_type = SHT_STRTAB, .sh_addralign = 1};

	if ((writer->notes &&
	     !add_section(writer, ".note.GNU-stack", &no_stack, NULL, 0, ELF_T_BYTE)) ||
	    !add_section(writer, ".symtab", &table, symbols, symbol_count * sizeof(Elf32_Sym),
			 ELF_T_SYM) ||
	    !add_section(writer, ".strtab", &strings, writer->symbols, writer->symbols_used,
			 ELF_T_BYTE))
		return false;
	add_name(writer->names, &writer->names_used, ".shstrtab");
	writer->names_used -= strlen(".shstrtab") + 1; /* its place is known, its size counts it */
	if (!add_section(writer, ".shstrtab", &strings, writer->names,
			 writer->names_used + strlen(".shstrtab") + 1, ELF_T_BYTE))
		return false;
	return elf_update(writer->elf, ELF_C_WRITE) >= 0;
}

/* GNU ld warns of each object without the note where one of a link has it: those of a firmware have
 * none. */
static enum litifut_status write_object(const struct litifut_rewrite_plan *plan,
					const struct room *rooms, unsigned count, bool notes,
					const char *path, struct litifut_error *error)
{
	struct writer writer = {.path = path, .names_used = 1, .symbols_used = 1, .notes = notes};
	int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool written = false;

	if (descriptor < 0)
		return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					 "cannot create: %s", strerror(errno));
	elf_version(EV_CURRENT);
	writer.elf = elf_begin(descriptor, ELF_C_WRITE, NULL);
	if (writer.elf)
		written = write_sections(&writer, plan, rooms, count);
	if (!written)
		litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
				  "cannot write the object: %s", elf_errmsg(-1));
	if (writer.elf)
		elf_end(writer.elf);
	for (unsigned i = 0; i < sizeof(writer.filled) / sizeof(*writer.filled); i++)
		free(writer.filled[i]);
	if (close(descriptor) && written)
		return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					 "cannot write: %s", strerror(errno));
	return written ? LITIFUT_OK : LITIFUT_ERROR_IO;
}

enum litifut_status litifut_rewrite_write_database_object(const struct litifut_rewrite_plan *plan,
							  const char *path,
							  struct litifut_error *error)
{
	const struct litifut_arch *arch = litifut_arch_find(plan->machine);
	/* The gate is always there, so that its place is known from the first link. */
	uint32_t gate_bytes = arch ? (uint32_t)LITIFUT_ARCH_GET(arch, detour, gate_bytes) : 0;
	uint32_t trampoline_bytes =
		plan->trampoline_bytes ? (uint32_t)plan->trampoline_bytes : gate_bytes;
	/* With thunks most of the DB is room for what they can't do, and seldom asked. */
	const size_t often = plan->thunks ? plan->db_entries / 8 : plan->db_entries;
	uint32_t cached = 16;

	while (cached < often && cached < LITIFUT_SITE_CACHE_MAX)
		cached *= 2;
	struct room rooms[ROOMS_MAX] = {
		{.section = LITIFUT_SECTION_DB,
		 .symbol = "litifut_db",
		 .flags = SHF_ALLOC,
		 .type = SHT_PROGBITS,
		 .size = (uint32_t)(sizeof(struct litifut_db_header) +
				    plan->db_entries * sizeof(struct litifut_db_entry)),
		 .alignment = 8},
		{.section = ".data",
		 .symbol = LITIFUT_SITE_CACHE,
		 .flags = SHF_ALLOC | SHF_WRITE,
		 .type = SHT_PROGBITS,
		 .size = (uint32_t)sizeof(struct litifut_site_cache) + 4 * cached,
		 .alignment = 4,
		 .first_word = cached - 1},
		/* Its name only: apply() puts the list at the end of the file. */
		{.section = LITIFUT_SECTION_SITES,
		 .symbol = "litifut_sites",
		 .type = SHT_PROGBITS,
		 .size = sizeof(struct litifut_sites_header),
		 .alignment = 4},
		{.section = ".text",
		 .symbol = LITIFUT_TRAMPOLINES,
		 .flags = SHF_ALLOC | SHF_EXECINSTR,
		 .type = SHT_PROGBITS,
		 .size = trampoline_bytes,
		 .alignment = 8},
		/* Enough for the shortest trampolines, or where most are thunks, which take
		 * less than half; what does not fit is left out. */
		{.section = ".debug_frame",
		 .symbol = LITIFUT_FRAMES,
		 .type = arch ? LITIFUT_ARCH_GET(arch, frames, debug_section_type) : SHT_PROGBITS,
		 .size = LITIFUT_FRAMES_HEADER_BYTES +
			 (plan->thunks ? 2 : 3) * ((trampoline_bytes + 3) & ~3u),
		 .alignment = 4},
	};
	unsigned count = 5;

	if (plan->flags_bytes) {
		rooms[count++] = (struct room){.section = ".bss." LITIFUT_FLAGS_SYMBOL,
					       .symbol = LITIFUT_FLAGS_SYMBOL,
					       .flags = SHF_ALLOC | SHF_WRITE,
					       .type = SHT_NOBITS,
					       .size = (uint32_t)plan->flags_bytes,
					       .alignment = 4096};
	}
	if (plan->blocks) {
		/* as the list of sites */
		rooms[count++] = (struct room){.section = LITIFUT_SECTION_BLOCKS,
					       .symbol = "litifut_blocks",
					       .type = SHT_PROGBITS,
					       .size = sizeof(struct litifut_blocks_header),
					       .alignment = 4};
	}
	if (arch && LITIFUT_ARCH_GET(arch, frames, unwind) && trampoline_bytes) {
		const struct litifut_unwind_table *unwind = arch->frames->unwind;
		size_t entries = plan->unwind_entries ? unwind->fixed_entries + plan->unwind_entries
						      : unwind->least_entries;

		rooms[count++] =
			(struct room){.section = arch->frames->unwind->section,
				      .symbol = "litifut_unwind",
				      .flags = SHF_ALLOC | SHF_LINK_ORDER,
				      .type = arch->frames->unwind->type,
				      .size = (uint32_t)entries * arch->frames->unwind->entry_bytes,
				      .alignment = 4,
				      .link = 4, /* .text */
				      .fill = arch->frames->unwind->reserve,
				      .entries = entries,
				      /* With --emit-relocs GNU ld aborts at a table that has no
				       * relocations. */
				      .relocations = arch->frames->unwind->relocations};
	}
	if (arch && LITIFUT_ARCH_GET(arch, frames, frame_relocation) && trampoline_bytes &&
	    !plan->refuses_frames)
		rooms[count++] = (struct room){
			.section = ".eh_frame",
			.flags = SHF_ALLOC,
			.type = SHT_PROGBITS,
			.size = litifut_eh_frame_bytes(trampoline_bytes),
			.alignment = 4,
			.relocations = ".rel.eh_frame",
			.relocation = {.r_offset = LITIFUT_EH_FRAME_PLACE,
				       .r_info = ELF32_R_INFO(4, /* the room's symbol */
							      arch->frames->frame_relocation)},
			.frame_of = &arch->frames->frame_registers,
			.frame_bytes = trampoline_bytes};
	/* An empty room would put its symbol on whatever function comes next. */
	return write_object(plan, rooms, trampoline_bytes ? count : 3, true, path, error);
}

/* Sections with the names that every script has a place for; the two that are not loaded
 * need none. */
enum litifut_status litifut_firmware_write_object(const struct litifut_firmware_plan *plan,
						  const char *path, struct litifut_error *error)
{
	const struct litifut_rewrite_plan target = {
		.machine = plan->machine, .elf_flags = plan->elf_flags, .elf_data = plan->elf_data};
	char far_symbols[LITIFUT_FIRMWARE_FAR_MOST][sizeof(LITIFUT_FIRMWARE_FAR_STUBS) + 10];
	struct room rooms[ROOMS_MAX] = {
		{.section = ".text",
		 .symbol = LITIFUT_FIRMWARE_STUBS,
		 .type = SHT_PROGBITS,
		 .flags = SHF_ALLOC | SHF_EXECINSTR,
		 .size = (uint32_t)plan->stub_bytes,
		 .alignment = 4},
		{.section = ".data",
		 .symbol = LITIFUT_FIRMWARE_IDENTITY,
		 .type = SHT_PROGBITS,
		 .flags = SHF_ALLOC | SHF_WRITE,
		 .size = sizeof(struct litifut_identity),
		 .alignment = 4},
		{.section = ".bss",
		 .symbol = LITIFUT_FIRMWARE_OPEN,
		 .type = SHT_NOBITS,
		 .flags = SHF_ALLOC | SHF_WRITE,
		 .size = (uint32_t)plan->open_bytes,
		 .alignment = 4},
		{.section = LITIFUT_SECTION_MODULE,
		 .symbol = "litifut_module",
		 .type = SHT_PROGBITS,
		 .size = sizeof(struct litifut_module),
		 .alignment = 4,
		 .first_word = LITIFUT_MODULE_MAGIC},
		{.section = LITIFUT_SECTION_SITES,
		 .symbol = "litifut_sites",
		 .type = SHT_PROGBITS,
		 .size = sizeof(struct litifut_sites_header),
		 .alignment = 4,
		 .first_word = LITIFUT_SITES_MAGIC},
	};
	unsigned count = 5;

	if (plan->carries)
		rooms[count++] = (struct room){.section = ".bss",
					       .symbol = LITIFUT_FIRMWARE_CARRIES,
					       .type = SHT_NOBITS,
					       .flags = SHF_ALLOC | SHF_WRITE,
					       .size = plan->carries *
						       (uint32_t)sizeof(struct litifut_carry),
					       .alignment = 4};
	if (!plan->kept)
		rooms[count++] =
			(struct room){.section = ".bss",
				      .symbol = LITIFUT_FIRMWARE_TABLE,
				      .type = SHT_NOBITS,
				      .flags = SHF_ALLOC | SHF_WRITE,
				      .size = 4 * (uint32_t)plan->table_words,
				      .alignment = plan->ring_events && plan->ring_alignment
							   ? plan->ring_alignment
							   : 4};
	/* The sender reads these three by one address. */
	if (plan->overflow_words)
		rooms[count++] = (struct room){.symbol = LITIFUT_FIRMWARE_OVERFLOW,
					       .size = 4 * (uint32_t)plan->overflow_words};
	rooms[count++] = (struct room){.section = plan->kept ? ".bss" : NULL,
				       .symbol = LITIFUT_FIRMWARE_PROFILE,
				       .type = SHT_NOBITS,
				       .flags = SHF_ALLOC | SHF_WRITE,
				       .size = 2 * plan->bins,
				       .alignment = 4};
	if (plan->header)
		rooms[count++] = (struct room){.section = ".text",
					       .symbol = LITIFUT_FIRMWARE_HEADER,
					       .type = SHT_PROGBITS,
					       .flags = SHF_ALLOC | SHF_EXECINSTR,
					       .size = LITIFUT_HEADER_BYTES,
					       .alignment = 2};
	if (plan->pattern_words)
		rooms[count++] = (struct room){.section = ".text",
					       .symbol = LITIFUT_FIRMWARE_PATTERNS,
					       .type = SHT_PROGBITS,
					       .flags = SHF_ALLOC | SHF_EXECINSTR,
					       .size = 4 * (uint32_t)plan->pattern_words,
					       .alignment = 4};
	if (plan->blocks)
		rooms[count++] = (struct room){.section = LITIFUT_SECTION_BLOCKS,
					       .symbol = "litifut_blocks",
					       .type = SHT_PROGBITS,
					       .size = sizeof(struct litifut_blocks_header),
					       .alignment = 4};
	for (unsigned i = 0; i < plan->far_count; i++) {
		snprintf(far_symbols[i], sizeof(far_symbols[i]), LITIFUT_FIRMWARE_FAR_STUBS "%u",
			 i);
		if (plan->far[i].section)
			rooms[count++] = (struct room){.section = plan->far[i].section,
						       .symbol = far_symbols[i],
						       .type = SHT_PROGBITS,
						       .flags = SHF_ALLOC | SHF_EXECINSTR,
						       .size = plan->far[i].bytes,
						       .alignment = 4};
	}
	return write_object(&target, rooms, count, false, path, error);
}

enum litifut_status litifut_rewrite_write_island_object(const struct litifut_rewrite_plan *plan,
							size_t index, const char *path,
							struct litifut_error *error)
{
	char symbol[64];
	const struct room room = {
		.section = ".text",
		.symbol = symbol,
		.flags = SHF_ALLOC | SHF_EXECINSTR,
		.type = SHT_PROGBITS,
		.size = (uint32_t)(plan->island_sizes ? plan->island_sizes[index]
						      : plan->island_bytes),
		.alignment = 8,
		.first_word = (uint32_t)index + 1, /* a linker may fold equal ones (--icf) */
	};

	snprintf(symbol, sizeof(symbol), "litifut_island_%zu", index);
	return write_object(plan, &room, 1, true, path, error);
}

/* A disk that gets full takes a part first, and says so the next time. */
static bool write_all(int file, const char *bytes, size_t size)
{
	while (size) {
		ssize_t written = write(file, bytes, size);

		if (written <= 0)
			return false;
		bytes += written;
		size -= (size_t)written;
	}
	return true;
}

static enum litifut_status copy_file(const char *from, const char *to, struct litifut_error *error)
{
	char buffer[65536];
	ssize_t got;
	int source = open(from, O_RDONLY | O_CLOEXEC);
	int target;
	int reason;

	if (source < 0)
		return litifut_error_set(error, LITIFUT_ERROR_IO, from, NULL, LITIFUT_NO_ADDRESS,
					 "cannot open: %s", strerror(errno));
	target = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (target < 0) {
		close(source);
		return litifut_error_set(error, LITIFUT_ERROR_IO, to, NULL, LITIFUT_NO_ADDRESS,
					 "cannot create: %s", strerror(errno));
	}
	while ((got = read(source, buffer, sizeof(buffer))) > 0)
		if (!write_all(target, buffer, (size_t)got))
			break;
	reason = errno;
	close(source);
	if (!close(target) && !got)
		return LITIFUT_OK;
	return litifut_error_set(error, LITIFUT_ERROR_IO, got < 0 ? from : to, NULL,
				 LITIFUT_NO_ADDRESS, "cannot be %s: %s",
				 got < 0 ? "read" : "written", strerror(got ? reason : errno));
}

enum litifut_status litifut_rewrite_adapt_tracer(const struct litifut_rewrite_plan *plan,
						 const char *from, const char *to,
						 struct litifut_error *error)
{
	enum litifut_status status = copy_file(from, to, error);
	const struct litifut_arch *arch = litifut_arch_find(plan->machine);
	unsigned shared = arch ? arch->cpu->objects->shared_flags : 0;
	int descriptor;
	Elf *elf;
	GElf_Ehdr header;
	bool done = false;

	if (status || !shared)
		return status;
	descriptor = open(to, O_RDWR | O_CLOEXEC);
	elf_version(EV_CURRENT);
	elf = descriptor < 0 ? NULL : elf_begin(descriptor, ELF_C_RDWR, NULL);
	if (elf && gelf_getehdr(elf, &header)) {
		header.e_flags &= ~shared;
		header.e_flags |= plan->elf_flags & shared;
		elf_flagelf(elf, ELF_C_SET, ELF_F_LAYOUT);
		done = gelf_update_ehdr(elf, &header) && elf_update(elf, ELF_C_WRITE) >= 0;
	}
	if (!done)
		status =
			litifut_error_set(error, LITIFUT_ERROR_FORMAT, to, NULL, LITIFUT_NO_ADDRESS,
					  "cannot fit the tracer object: %s", elf_errmsg(-1));
	if (elf)
		elf_end(elf);
	if (descriptor >= 0)
		close(descriptor);
	return status;
}
