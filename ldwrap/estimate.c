/* The inputs are read as the linker will: objects in any case, members of
 * archives when they define a name that is wanted, one copy of each COMDAT
 * group. All archives count as one group, which can only guess too much. */
#include "ldwrap/estimate.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "ldwrap/census.h"
#include "ldwrap/settings.h"
#include "ldwrap/symbols.h"

/* What the trampoline of a 2-byte call and that of a tail call take: 21 and 8
 * bytes on average in busybox, more in lua. */
#define CALL_TRAMPOLINE_BYTES 28
#define TAIL_TRAMPOLINE_BYTES 14

struct open_file {
	int file;
	Elf *elf;
	char *loaded; /* archive: one flag for each entry of its symbol index */
	bool whole;   /* --whole-archive */
};

struct estimate {
	struct symbols symbols;
	htab_t groups; /* signatures of the COMDAT groups seen */
	struct census census;
	size_t tail_relocations;
	size_t near_calls;           /* MIPS: jalr that the linker can make a bal */
	struct text_list maybe_near; /* ... if this symbol turns out to be defined */
	bool shared;
	struct open_file *files;
	size_t file_count;
	Elf **members;
	size_t member_count;
};

/* What is known of each section of the object that is being read. */
struct section_notes {
	unsigned char code; /* enum census_code */
	bool dropped;       /* in a group that another object brought */
};

static void note_groups(struct estimate *estimate, Elf *elf, struct section_notes *notes,
			size_t count)
{
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
	     section = elf_nextscn(elf, section)) {
		GElf_Shdr header;
		GElf_Shdr symbols_header;
		GElf_Sym symbol;
		Elf_Scn *symbols;
		Elf_Data *data;
		const Elf32_Word *words;
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_GROUP)
			continue;
		data = elf_getdata(section, NULL);
		symbols = elf_getscn(elf, header.sh_link);
		if (!data || data->d_size < 8 || !symbols ||
		    !gelf_getshdr(symbols, &symbols_header) ||
		    !gelf_getsym(elf_getdata(symbols, NULL), (int)header.sh_info, &symbol))
			continue;
		words = data->d_buf;
		name = elf_strptr(elf, symbols_header.sh_link, symbol.st_name);
		if (!(words[0] & GRP_COMDAT) || !name || symbols_add(estimate->groups, name))
			continue;
		for (size_t i = 1; i < data->d_size / 4; i++)
			if (words[i] < count)
				notes[words[i]].dropped = true;
	}
}

static void note_mapping_symbol(const char *name, unsigned section, struct section_notes *notes)
{
	if (name[0] != '$' || (name[2] && name[2] != '.'))
		return;
	if (name[1] == 'a')
		notes[section].code |= CENSUS_A32;
	else if (name[1] == 't')
		notes[section].code |= CENSUS_T32;
}

static void read_symbols(struct estimate *estimate, Elf *elf, Elf_Scn *section,
			 const GElf_Shdr *header, struct section_notes *notes, size_t count)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;

	for (int i = 1; data && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

		if (!name)
			continue;
		if (GELF_ST_BIND(symbol.st_info) == STB_LOCAL) {
			if (symbol.st_shndx < count)
				note_mapping_symbol(name, symbol.st_shndx, notes);
		} else if (symbol.st_shndx != SHN_UNDEF) {
			symbols_add(estimate->symbols.defined, name);
		} else if (GELF_ST_BIND(symbol.st_info) == STB_GLOBAL) {
			symbols_add(estimate->symbols.wanted, name);
		}
	}
}

static void count_near_call(struct estimate *estimate, Elf *elf, Elf_Data *symbols, size_t strings,
			    size_t index)
{
	GElf_Sym symbol;
	const char *name;

	if (!symbols || !gelf_getsym(symbols, (int)index, &symbol))
		return;
	name = elf_strptr(elf, strings, symbol.st_name);
	if (GELF_ST_BIND(symbol.st_info) == STB_LOCAL ||
	    GELF_ST_VISIBILITY(symbol.st_other) != STV_DEFAULT)
		estimate->near_calls++;
	else if (!estimate->shared && name)
		text_list_append(&estimate->maybe_near, name);
}

static void read_relocations(struct estimate *estimate, Elf *elf, Elf_Scn *section,
			     const GElf_Shdr *header, unsigned machine)
{
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Scn *table = elf_getscn(elf, header->sh_link);
	Elf_Data *symbols = table ? elf_getdata(table, NULL) : NULL;
	GElf_Shdr table_header;
	GElf_Rel relocation;

	if (!table || !gelf_getshdr(table, &table_header))
		return;
	for (int i = 0; data && gelf_getrel(data, i, &relocation); i++) {
		unsigned type = (unsigned)GELF_R_TYPE(relocation.r_info);

		if (machine == EM_ARM && (type == R_ARM_JUMP24 || type == R_ARM_THM_JUMP24))
			estimate->tail_relocations++;
		else if (machine == EM_MIPS && type == R_MIPS_JALR)
			count_near_call(estimate, elf, symbols, table_header.sh_link,
					GELF_R_SYM(relocation.r_info));
	}
}

static void read_object(struct estimate *estimate, Elf *elf)
{
	GElf_Ehdr header;
	struct section_notes *notes;
	size_t count = 0;

	if (!gelf_getehdr(elf, &header) || header.e_type != ET_REL || elf_getshdrnum(elf, &count))
		return;
	notes = xcalloc(count + 1, sizeof(*notes));
	note_groups(estimate, elf, notes, count);
	for (int round = 0; round < 2; round++) {
		for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
		     section = elf_nextscn(elf, section)) {
			size_t index = elf_ndxscn(section);
			GElf_Shdr section_header;
			Elf_Data *data;

			if (!gelf_getshdr(section, &section_header))
				continue;
			if (!round && section_header.sh_type == SHT_SYMTAB)
				read_symbols(estimate, elf, section, &section_header, notes, count);
			if (!round || notes[index].dropped)
				continue;
			if (section_header.sh_type == SHT_REL && section_header.sh_info < count &&
			    !notes[section_header.sh_info].dropped)
				read_relocations(estimate, elf, section, &section_header,
						 header.e_machine);
			if (section_header.sh_type != SHT_PROGBITS ||
			    !(section_header.sh_flags & SHF_EXECINSTR))
				continue;
			data = elf_rawdata(section, NULL);
			if (data && data->d_buf)
				census_count(data->d_buf, data->d_size,
					     header.e_machine == EM_MIPS ? CENSUS_MIPS
									 : notes[index].code,
					     header.e_ident[EI_DATA] == ELFDATA2MSB,
					     &estimate->census);
		}
	}
	free(notes);
}

static void keep_member(struct estimate *estimate, Elf *member)
{
	estimate->members =
		xrealloc(estimate->members, (estimate->member_count + 1) * sizeof(Elf *));
	estimate->members[estimate->member_count++] = member;
	read_object(estimate, member);
}

/* The symbols of one member stand together in the index. */
static void mark_member(struct open_file *archive, const Elf_Arsym *index, size_t count, size_t at)
{
	size_t first = at;

	while (first > 0 && index[first - 1].as_off == index[at].as_off)
		first--;
	for (; first < count && index[first].as_off == index[at].as_off; first++)
		archive->loaded[first] = 1;
}

/* Loads the members that define wanted names; true if there was one. */
static bool search_archive(struct estimate *estimate, struct open_file *archive)
{
	size_t count = 0;
	Elf_Arsym *index = elf_getarsym(archive->elf, &count);
	bool found = false;

	if (!index || !count)
		return false;
	if (!archive->loaded)
		archive->loaded = xcalloc(count, 1);
	for (size_t i = 0; i + 1 < count; i++) {
		Elf *member;

		if (archive->loaded[i] || !index[i].as_name ||
		    !symbols_has(estimate->symbols.wanted, index[i].as_name) ||
		    symbols_has(estimate->symbols.defined, index[i].as_name))
			continue;
		mark_member(archive, index, count, i);
		if (elf_rand(archive->elf, index[i].as_off) != index[i].as_off)
			continue;
		member = elf_begin(archive->file, ELF_C_READ_MMAP, archive->elf);
		if (member)
			keep_member(estimate, member);
		found = true;
	}
	return found;
}

static void load_whole_archive(struct estimate *estimate, struct open_file *archive)
{
	Elf_Cmd command = ELF_C_READ_MMAP;
	Elf *member;

	while ((member = elf_begin(archive->file, command, archive->elf))) {
		command = elf_next(member);
		keep_member(estimate, member);
	}
}

static void add_file(struct estimate *estimate, const char *path, bool whole)
{
	struct open_file opened = {.whole = whole};

	opened.file = open(path, O_RDONLY | O_CLOEXEC);
	if (opened.file < 0)
		return;
	opened.elf = elf_begin(opened.file, ELF_C_READ_MMAP, NULL);
	if (!opened.elf) {
		close(opened.file);
		return;
	}
	if (elf_kind(opened.elf) == ELF_K_ELF)
		read_object(estimate, opened.elf);
	else if (elf_kind(opened.elf) == ELF_K_AR && whole)
		load_whole_archive(estimate, &opened);
	estimate->files =
		xrealloc(estimate->files, (estimate->file_count + 1) * sizeof(*estimate->files));
	estimate->files[estimate->file_count++] = opened;
}

/* Finds -lNAME along the -L folders. A shared library adds no code. */
static void add_library(struct estimate *estimate, const struct arguments *arguments,
			const char *name, bool is_static, bool whole)
{
	for (size_t i = 0; i < arguments->count; i++) {
		const struct argument *item = &arguments->items[i];
		bool found = false;

		if (item->kind != ARGUMENT_LIBRARY_PATH || !item->value)
			continue;
		for (int archive = is_static; archive < 2 && !found; archive++) {
			char *path = name[0] == ':' ? concat(item->value, "/", name + 1, NULL)
						    : concat(item->value, "/lib", name,
							     archive ? ".a" : ".so", NULL);

			found = !access(path, R_OK);
			if (found && (archive || name[0] == ':'))
				add_file(estimate, path, whole);
			free(path);
		}
		if (found)
			return;
	}
}

static void read_inputs(struct estimate *estimate, const struct arguments *arguments)
{
	bool is_static = false;
	bool whole = false;
	bool changed = true;

	for (size_t i = 0; i < arguments->count; i++) {
		const struct argument *item = &arguments->items[i];
		const char *word = arguments->words[item->first];

		if (item->kind == ARGUMENT_STATIC || item->kind == ARGUMENT_DYNAMIC)
			is_static = item->kind == ARGUMENT_STATIC;
		else if (item->kind == ARGUMENT_INPUT && !item->foreign)
			add_file(estimate, item->value, whole);
		else if (item->kind == ARGUMENT_LIBRARY && item->value)
			add_library(estimate, arguments, item->value, is_static, whole);
		else if (strstr(word, "whole-archive"))
			whole = !strstr(word, "no-whole-archive");
	}
	while (changed) {
		changed = false;
		for (size_t i = 0; i < estimate->file_count; i++)
			if (elf_kind(estimate->files[i].elf) == ELF_K_AR &&
			    !estimate->files[i].whole &&
			    search_archive(estimate, &estimate->files[i]))
				changed = true;
	}
}

static void close_inputs(struct estimate *estimate)
{
	for (size_t i = 0; i < estimate->member_count; i++)
		elf_end(estimate->members[i]);
	for (size_t i = 0; i < estimate->file_count; i++) {
		elf_end(estimate->files[i].elf);
		close(estimate->files[i].file);
		free(estimate->files[i].loaded);
	}
	free(estimate->members);
	free(estimate->files);
}

/* For jumps within a section that end a function, for what the linker adds, and
 * for the calls in the tracer and recorder, which the rewriter counts first. */
static size_t with_slack(size_t count)
{
	return count + count / 48 + 128;
}

void estimate_room(const struct arguments *arguments, struct litifut_rewrite_plan *plan)
{
	struct estimate estimate = {.shared = arguments_last(arguments, ARGUMENT_SHARED) != NULL};
	const struct census *census = &estimate.census;

	elf_version(EV_CURRENT);
	symbols_open(&estimate.symbols);
	estimate.groups = symbols_table();
	read_inputs(&estimate, arguments);
	for (size_t i = 0; i < estimate.maybe_near.count; i++)
		if (symbols_has(estimate.symbols.defined, estimate.maybe_near.items[i]))
			estimate.near_calls++;
	plan->sites = with_slack(census->direct + census->indirect + census->tails +
				 estimate.tail_relocations);
	plan->db_entries = plan->machine == EM_MIPS
				   ? with_slack(census->direct + estimate.near_calls)
				   : plan->sites;
	plan->trampoline_bytes =
		(census->cramped + 8) * CALL_TRAMPOLINE_BYTES +
		(estimate.tail_relocations + census->tails + 16) * TAIL_TRAMPOLINE_BYTES;
	text_list_release(&estimate.maybe_near);
	htab_delete(estimate.groups);
	symbols_close(&estimate.symbols);
	close_inputs(&estimate);
}
