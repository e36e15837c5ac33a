/* The inputs are read as the linker will. The symbol tables and indices of
 * archives decide what is loaded; the files stay in memory, as names in the tables
 * are theirs. What the objects hold beyond that is looked at by another thread. */
#include "ldwrap/inputs.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "common/parallel.h"
#include "ldwrap/archive.h"
#include "ldwrap/elf_items.h"
#include "ldwrap/script_inputs.h"

struct open_archive {
	struct archive archive;
	size_t item;
	char *loaded;            /* one flag for each entry of its index */
	struct symbol **symbols; /* of the names there */
	bool whole;              /* --whole-archive */
};

struct inputs {
	struct symbols *symbols;
	inputs_visitor *visit;
	void *context;
	struct open_archive *archives;
	size_t archive_count;
	struct file_view *views; /* of objects that are not members of plain archives */
	size_t view_count;
	size_t view_room;
	struct litifut_queue *queue; /* to the visitor; NULL: there is no other thread */
};

/* An object on its way to the visitor. */
struct visit {
	const struct inputs *inputs;
	struct input_object object;
	const uint8_t *start; /* of its bytes */
	bool *dropped;
	struct symbol **symbols;
};

/* Name number `at` of a string table, if it will stay: libelf may have unpacked it. */
static const char *name_at(const struct visit *visit, size_t table, size_t at)
{
	const char *name = elf_strptr(visit->object.elf, table, at);
	const char *start = (const char *)visit->start;

	return name && name >= start && name < start + visit->object.bytes ? name : NULL;
}

/* Signature of the COMDAT group in `section`; NULL: it is not one. */
static const char *group_name(const struct visit *visit, const Elf32_Shdr *header,
			      const Elf_Data *data)
{
	Elf_Scn *table = elf_getscn(visit->object.elf, header->sh_link);
	Elf_Data *symbols = table ? elf_getdata(table, NULL) : NULL;
	Elf32_Shdr table_header;

	if (elf_items_count(data, sizeof(Elf32_Word)) < 2 ||
	    !elf_items_header(table, &table_header) ||
	    header->sh_info >= elf_items_count(symbols, sizeof(Elf32_Sym)) ||
	    !(elf_items_word(data, 0) & GRP_COMDAT))
		return NULL;
	return name_at(visit, table_header.sh_link,
		       elf_items_symbol(symbols, header->sh_info).st_name);
}

static void note_group(struct inputs *inputs, struct visit *visit, Elf_Scn *section,
		       const Elf32_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	const char *name = group_name(visit, header, data);
	struct symbol *signature = name ? symbols_get(inputs->symbols, name) : NULL;

	if (!signature)
		return;
	if (!signature->grouped) {
		signature->grouped = true;
		return;
	}
	for (size_t i = 1; i < elf_items_count(data, sizeof(Elf32_Word)); i++) {
		uint32_t number = elf_items_word(data, i);

		if (number < visit->object.section_count)
			visit->dropped[number] = true;
	}
}

/* Returns the symbols by their numbers; owned by the caller. */
static struct symbol **read_symbols(struct inputs *inputs, const struct visit *visit,
				    Elf_Scn *section, const Elf32_Shdr *header, size_t *count)
{
	Elf_Data *data = elf_getdata(section, NULL);
	struct symbol **symbols;

	*count = elf_items_count(data, sizeof(Elf32_Sym));
	symbols = xcalloc(*count + 1, sizeof(struct symbol *));
	/* sh_info: the first that is not local. */
	for (size_t i = header->sh_info ? header->sh_info : 1; i < *count; i++) {
		const Elf32_Sym item = elf_items_symbol(data, i);
		const char *name = name_at(visit, header->sh_link, item.st_name);

		if (!name || ELF32_ST_BIND(item.st_info) == STB_LOCAL)
			continue;
		symbols[i] = symbols_get(inputs->symbols, name);
		if (item.st_shndx != SHN_UNDEF)
			symbols[i]->defined = true;
		else if (ELF32_ST_BIND(item.st_info) == STB_GLOBAL)
			symbols[i]->wanted = true;
	}
	return symbols;
}

static void visit_object(void *context, void *thing)
{
	struct visit *visit = thing;

	(void)context;
	visit->inputs->visit(visit->inputs->context, &visit->object);
	elf_end(visit->object.elf);
	free(visit->dropped);
	free(visit->symbols);
	free(visit);
}

static void send(const struct inputs *inputs, struct visit *visit)
{
	if (inputs->queue)
		litifut_queue_add(inputs->queue, visit);
	else
		visit_object(NULL, visit);
}

/* What decides about the objects behind this one. False: it is damaged. */
static bool read_tables(struct inputs *inputs, struct visit *visit)
{
	struct input_object *object = &visit->object;

	if (elf_getshdrnum(object->elf, &object->section_count))
		return false;
	visit->dropped = xcalloc(object->section_count + 1, sizeof(*visit->dropped));
	for (Elf_Scn *section = elf_nextscn(object->elf, NULL); section;
	     section = elf_nextscn(object->elf, section)) {
		Elf32_Shdr header;

		if (!elf_items_header(section, &header))
			continue;
		if (header.sh_type == SHT_GROUP) {
			note_group(inputs, visit, section, &header);
		} else if (header.sh_type == SHT_SYMTAB) {
			free(visit->symbols);
			visit->symbols = read_symbols(inputs, visit, section, &header,
						      &object->symbol_count);
			object->symbol_table = elf_ndxscn(section);
		}
	}
	object->dropped = visit->dropped;
	object->symbols = visit->symbols;
	return true;
}

static void read_object(struct inputs *inputs, const uint8_t *bytes, size_t size, size_t item)
{
	struct visit *visit = xcalloc(1, sizeof(*visit));
	const void *found;
	Elf32_Ehdr header;
	bool wanted;

	*visit = (struct visit){
		.inputs = inputs, .object = {.item = item, .bytes = size}, .start = bytes};
	if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG)) {
		wanted = size >= 4 && !memcmp(bytes, "BC\xc0\xde", 4);
	} else {
		/* libelf writes nothing into it. */
		visit->object.elf = elf_memory((char *)bytes, size);
		found = visit->object.elf ? elf32_getehdr(visit->object.elf) : NULL;
		if (found)
			memcpy(&header, found, sizeof(header));
		wanted = found && header.e_type == ET_REL && read_tables(inputs, visit);
	}
	if (wanted) {
		send(inputs, visit);
	} else {
		elf_end(visit->object.elf);
		free(visit->dropped);
		free(visit);
	}
}

static void keep_view(struct inputs *inputs, const struct file_view *view)
{
	if (inputs->view_count == inputs->view_room) {
		inputs->view_room = 2 * inputs->view_room + 64;
		inputs->views = xrealloc(inputs->views, inputs->view_room * sizeof(*inputs->views));
	}
	inputs->views[inputs->view_count++] = *view;
}

static void read_member(struct inputs *inputs, struct archive_member *member, size_t item)
{
	struct file_view view;

	if (member->bytes) {
		read_object(inputs, member->bytes, member->size, item);
	} else if (file_view_open(member->path, &view)) {
		keep_view(inputs, &view);
		read_object(inputs, view.bytes, view.size, item);
	}
	free(member->path);
}

/* The symbols of one member stand together in the index. */
static void mark_member(struct open_archive *opened, size_t at)
{
	const struct archive_symbol *index = opened->archive.symbols;
	size_t first = at;

	while (first > 0 && index[first - 1].member == index[at].member)
		first--;
	for (; first < opened->archive.symbol_count && index[first].member == index[at].member;
	     first++)
		opened->loaded[first] = 1;
}

/* Loads the members that define wanted names; true if there was one. */
static bool search_archive(struct inputs *inputs, struct open_archive *opened)
{
	const struct archive *archive = &opened->archive;
	bool found = false;

	if (!opened->loaded) {
		opened->loaded = xcalloc(archive->symbol_count + 1, 1);
		opened->symbols = xcalloc(archive->symbol_count + 1, sizeof(struct symbol *));
		for (size_t i = 0; i < archive->symbol_count; i++)
			opened->symbols[i] = symbols_get(inputs->symbols, archive->symbols[i].name);
	}
	for (size_t i = 0; i < archive->symbol_count; i++) {
		const struct symbol *symbol = opened->symbols[i];
		struct archive_member member;

		if (opened->loaded[i] || !symbol->wanted || symbol->defined)
			continue;
		mark_member(opened, i);
		if (!archive_member_at(archive, archive->symbols[i].member, &member))
			continue;
		read_member(inputs, &member, opened->item);
		found = true;
	}
	return found;
}

static void load_whole_archive(struct inputs *inputs, const struct open_archive *opened)
{
	size_t offset = opened->archive.first;
	struct archive_member member;

	while (archive_member_at(&opened->archive, offset, &member)) {
		read_member(inputs, &member, opened->item);
		offset = member.next;
	}
}

static void add_file(struct inputs *inputs, const char *path, size_t item, bool whole)
{
	struct open_archive opened = {.item = item, .whole = whole};
	struct file_view view;

	if (!file_view_open(path, &view))
		return;
	if (!archive_open(path, &view, &opened.archive)) {
		keep_view(inputs, &view);
		read_object(inputs, view.bytes, view.size, item);
		return;
	}
	if (whole)
		load_whole_archive(inputs, &opened);
	inputs->archives = xrealloc(inputs->archives, (inputs->archive_count + 1) * sizeof(opened));
	inputs->archives[inputs->archive_count++] = opened;
}

/* Finds -lNAME along the -L folders. A shared library adds no code. */
static void add_library(struct inputs *inputs, const struct arguments *arguments, size_t item,
			bool is_static, bool whole)
{
	const char *name = arguments->items[item].value;

	for (size_t i = 0; i < arguments->count; i++) {
		const struct argument *folder = &arguments->items[i];
		bool found = false;

		if (folder->kind != ARGUMENT_LIBRARY_PATH || !folder->value)
			continue;
		for (int archive = is_static; archive < 2 && !found; archive++) {
			char *path = name[0] == ':' ? concat(folder->value, "/", name + 1, NULL)
						    : concat(folder->value, "/lib", name,
							     archive ? ".a" : ".so", NULL);

			found = !access(path, R_OK);
			if (found && (archive || name[0] == ':'))
				add_file(inputs, path, item, whole);
			free(path);
		}
		if (found)
			return;
	}
}

static void add_inputs_of_scripts(struct inputs *inputs, const struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->count; i++) {
		struct text_list paths = {0};

		if (arguments->items[i].kind != ARGUMENT_SCRIPT || !arguments->items[i].value)
			continue;
		script_inputs_append(arguments->items[i].value, &paths);
		for (size_t j = 0; j < paths.count; j++)
			add_file(inputs, paths.items[j], i, false);
		text_list_release(&paths);
	}
}

struct inputs *inputs_walk(const struct arguments *arguments, struct symbols *symbols,
			   inputs_visitor *visit, void *context)
{
	struct inputs *inputs = xcalloc(1, sizeof(*inputs));
	bool is_static = false;
	bool whole = false;
	bool changed = true;

	elf_version(EV_CURRENT);
	inputs->symbols = symbols;
	inputs->visit = visit;
	inputs->context = context;
	inputs->queue = litifut_queue_open(visit_object, NULL);
	for (size_t i = 0; i < arguments->count; i++) {
		const struct argument *item = &arguments->items[i];
		const char *word = arguments->words[item->first];

		if (item->kind == ARGUMENT_STATIC || item->kind == ARGUMENT_DYNAMIC)
			is_static = item->kind == ARGUMENT_STATIC;
		else if (item->kind == ARGUMENT_INPUT && !item->foreign)
			add_file(inputs, item->value, i, whole);
		else if (item->kind == ARGUMENT_LIBRARY && item->value)
			add_library(inputs, arguments, i, is_static, whole);
		else if (strstr(word, "whole-archive"))
			whole = !strstr(word, "no-whole-archive");
	}
	add_inputs_of_scripts(inputs, arguments);
	while (changed) {
		changed = false;
		for (size_t i = 0; i < inputs->archive_count; i++)
			if (!inputs->archives[i].whole &&
			    search_archive(inputs, &inputs->archives[i]))
				changed = true;
	}
	litifut_queue_close(inputs->queue);
	return inputs;
}

void inputs_close(struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->archive_count; i++) {
		archive_close(&inputs->archives[i].archive);
		free(inputs->archives[i].loaded);
		free(inputs->archives[i].symbols);
	}
	for (size_t i = 0; i < inputs->view_count; i++)
		file_view_close(&inputs->views[i]);
	free(inputs->archives);
	free(inputs->views);
	free(inputs);
}
