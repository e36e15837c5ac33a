/* Asks libdw. Each image keeps its DWARF handle from the first question on. */
#include "postproc/model/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NULL: the file describes no code. A .debug_frame alone, which the rewriter adds to, does not. */
static Dwarf *open_dwarf(Elf *elf)
{
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	Dwarf_Off next;
	size_t header;

	if (dwarf && !dwarf_nextcu(dwarf, 0, &next, &header, NULL, NULL, NULL))
		return dwarf;
	dwarf_end(dwarf);
	return NULL;
}

void *post_lines_dwarf(struct post_image *image)
{
	if (image->dwarf || image->dwarf_missing)
		return image->dwarf;
	image->dwarf = open_dwarf(image->file.elf);
	for (size_t i = 0; i < sizeof(image->further) / sizeof(*image->further); i++) {
		if (!image->dwarf && image->further[i])
			image->dwarf = open_dwarf(image->further[i]->file.elf);
	}
	image->dwarf_missing = !image->dwarf;
	return image->dwarf;
}

enum post_lines_state post_lines_state(const struct post_session *session)
{
	bool some = false, described = false, unknown = false;

	for (size_t i = 1; i < session->module_count; i++) {
		const struct post_module *module = &session->modules[i];

		if (!module->traced || !module->image)
			continue;
		if (module->image->lines_known)
			return POST_LINES_SHOWN;
		described |= post_lines_dwarf(module->image) != NULL;
		unknown |= module->image->lines_unknown;
		some = true;
	}
	return described && unknown ? POST_LINES_OF_OTHERS
	       : some && !described ? POST_LINES_NONE
				    : POST_LINES_SHOWN;
}

const char *post_lines_option(const struct post_session *session)
{
	for (size_t i = 1; i < session->module_count; i++) {
		const struct post_module *module = &session->modules[i];

		if (module->traced && module->image && module->image->cpu->debug_option)
			return module->image->cpu->debug_option;
	}
	return "-g";
}

/* The unit that has the code. */
static bool find_unit(const struct post_session *session, uint32_t module, uint32_t address,
		      Dwarf_Die *unit)
{
	struct post_image *image = session->modules[module].image;
	Dwarf *dwarf = image ? post_lines_dwarf(image) : NULL;
	Dwarf_Off offset = 0, next;
	size_t header;

	if (!dwarf)
		return false;
	if (dwarf_addrdie(dwarf, address, unit))
		return true;
	/* Without .debug_aranges (clang) every unit must be asked. */
	while (!dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL)) {
		if (dwarf_offdie(dwarf, offset + header, unit) && dwarf_haspc(unit, address) > 0)
			return true;
		offset = next;
	}
	return false;
}

static Dwarf_Line *find(const struct post_session *session, uint32_t module, uint32_t address,
			Dwarf_Die *unit)
{
	return find_unit(session, module, address, unit) ? dwarf_getsrc_die(unit, address) : NULL;
}

/* Some files of a unit have a path from the root, and others, also beside them, from the folder of
 * the compiler: all get one from the root. `file` is libdw's, once for each file of a unit. */
static const char *from_root(struct post_image *image, Dwarf_Die *unit, const char *file)
{
	const uint64_t place = (uintptr_t)file;
	const struct post_key key = {{(uint32_t)(place >> 32), (uint32_t)place}};
	Dwarf_Attribute attribute;
	const char *folder;
	uint32_t number;

	if (!file || *file == '/')
		return file;
	number = post_table_find(&image->source_names, key);
	if (number == POST_NONE) {
		const char *name = !strncmp(file, "./", 2) ? file + 2 : file;
		char *text;

		folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
		if (!folder)
			return file;
		text = post_allocate(strlen(folder) + strlen(name) + 2, 1);
		sprintf(text, "%s/%s", folder, name);
		POST_GROW(image->texts, image->text_count, image->text_capacity);
		number = (uint32_t)image->text_count;
		image->texts[image->text_count++] = text;
		post_table_put(&image->source_names, key, number);
	}
	return image->texts[number];
}

size_t post_lines_inlined(const struct post_session *session, uint32_t module, uint32_t address,
			  struct post_line_call *calls, size_t most)
{
	Dwarf_Die unit, *innermost = NULL, *scopes = NULL;
	Dwarf_Files *files;
	size_t count = 0, file_count;
	int scope_count;

	if (!find_unit(session, module, address, &unit) ||
	    dwarf_getsrcfiles(&unit, &files, &file_count))
		return 0;
	/* behind the innermost function these go on with what is around its definition, not around
	 * the place where it was inlined */
	scope_count = dwarf_getscopes(&unit, address, &innermost);
	if (scope_count > 0)
		scope_count = dwarf_getscopes_die(&innermost[0], &scopes);
	free(innermost);
	for (int i = scope_count - 1; i >= 0 && count < most; i--) {
		Dwarf_Attribute attribute;
		Dwarf_Word file, line;

		if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine ||
		    dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_file, &attribute), &file) ||
		    dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_line, &attribute), &line) ||
		    file >= file_count)
			continue;
		calls[count].file = from_root(session->modules[module].image, &unit,
					      dwarf_filesrc(files, file, NULL, NULL));
		calls[count].line = (unsigned)line;
		count += calls[count].file != NULL;
	}
	free(scopes);
	return count;
}

bool post_lines_text(const struct post_session *session, uint32_t module, uint32_t address,
		     char *text, size_t size)
{
	const char *file;
	unsigned number;

	if (!post_lines_place(session, module, address, &file, &number))
		return false;
	return file && snprintf(text, size, "%s:%u", file, number) > 0;
}

bool post_lines_place(const struct post_session *session, uint32_t module, uint32_t address,
		      const char **file, unsigned *line)
{
	struct post_image *image = session->modules[module].image;
	Dwarf_Die unit;
	Dwarf_Line *found = find(session, module, address, &unit);
	int number;

	if (!found || dwarf_lineno(found, &number) || number <= 0) {
		if (image)
			image->lines_unknown = true;
		return false;
	}
	image->lines_known = true;
	*file = from_root(session->modules[module].image, &unit, dwarf_linesrc(found, NULL, NULL));
	*line = (unsigned)number;
	return *file != NULL;
}

unsigned post_lines_number(const struct post_session *session, uint32_t module, uint32_t address)
{
	const char *file;
	unsigned number;

	return session->options.lines && post_lines_place(session, module, address, &file, &number)
		       ? number
		       : 0;
}

static void walk_unit(Dwarf_Die *unit, void (*take)(void *context, const struct post_line_row *row),
		      void *context)
{
	Dwarf_Attribute attribute;
	struct post_line_row row = {0};
	Dwarf_Lines *lines;
	size_t count;

	if (dwarf_getsrclines(unit, &lines, &count))
		return;
	row.folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	for (size_t i = 0; i + 1 < count; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		Dwarf_Addr start, end;
		bool ends;
		int number;

		if (dwarf_lineaddr(line, &start) || dwarf_lineno(line, &number) ||
		    dwarf_linebeginstatement(line, &row.begins) ||
		    dwarf_lineendsequence(line, &ends) || ends || number <= 0 ||
		    dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &end) || end < start)
			continue;
		row.empty = end == start;
		/* one without code is at the place of the next */
		for (size_t j = i + 2; end == start && j < count; j++)
			if (dwarf_lineaddr(dwarf_onesrcline(lines, j), &end))
				break;
		if (end <= start || end > UINT32_MAX)
			continue;
		row.start = (uint32_t)start;
		row.end = (uint32_t)end;
		row.line = (unsigned)number;
		row.file = dwarf_linesrc(line, NULL, NULL);
		if (row.file)
			take(context, &row);
	}
}

bool post_lines_walk(const struct post_session *session, uint32_t module,
		     void (*take)(void *context, const struct post_line_row *row), void *context)
{
	struct post_image *image = session->modules[module].image;
	Dwarf *dwarf = image ? post_lines_dwarf(image) : NULL;
	Dwarf_Off offset = 0, next;
	size_t header;
	Dwarf_Die unit;

	if (!dwarf)
		return false;
	for (; !dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL); offset = next)
		if (dwarf_offdie(dwarf, offset + header, &unit))
			walk_unit(&unit, take, context);
	return true;
}

struct function_taker {
	void (*take)(void *context, const char *name, const char *file, unsigned line);
	void *context;
};

static int take_function(Dwarf_Die *die, void *context)
{
	const struct function_taker *taker = context;
	const char *name = dwarf_diename(die), *file = dwarf_decl_file(die);
	const char *slash = file ? strrchr(file, '/') : NULL;
	int line;

	if (name && file && !dwarf_decl_line(die, &line) && line > 0)
		taker->take(taker->context, name, slash ? slash + 1 : file, (unsigned)line);
	return DWARF_CB_OK;
}

bool post_lines_functions(const struct post_session *session, uint32_t module,
			  void (*take)(void *context, const char *name, const char *file,
				       unsigned line),
			  void *context)
{
	struct post_image *image = session->modules[module].image;
	Dwarf *dwarf = image ? post_lines_dwarf(image) : NULL;
	struct function_taker taker = {take, context};
	Dwarf_Off offset = 0, next;
	size_t header;
	Dwarf_Die unit;

	if (!dwarf)
		return false;
	for (; !dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL); offset = next)
		if (dwarf_offdie(dwarf, offset + header, &unit))
			dwarf_getfuncs(&unit, take_function, &taker, 0);
	return true;
}
