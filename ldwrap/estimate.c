/* What looks like a call in the inputs is counted, and what code lies between
 * two of them. All is guessed on the high side, but for code that is made in the
 * link itself. */
#include "ldwrap/estimate.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

#include "ldwrap/command.h"
#include "ldwrap/inputs.h"
#include "rewriter/arch.h"

/* Code and calls that link-time optimisation makes out of a byte of what the
 * compiler left in the objects, compressed or not. */
#define LTO_TEXT_PER_BYTE 1
#define LTO_BYTES_PER_CALL 12

/* What one input, or what is loaded from it, brings. */
struct share {
	size_t callees;      /* that no input before it calls */
	size_t near_callees; /* of calls that may become direct ones */
	uint64_t text;       /* bytes of code */
	uint64_t trampolines;
};

struct estimate {
	const struct litifut_link_facts *facts;
	struct symbols symbols;
	struct litifut_census census;
	size_t jumps;            /* relocations of tail calls */
	size_t near_calls;       /* indirect calls that the linker can make direct ones */
	const char **maybe_near; /* ... if this symbol turns out to be defined */
	size_t maybe_near_count;
	size_t maybe_near_room;
	size_t lto_bytes;
	bool thunks;     /* room for thunks is wanted */
	bool thunks_run; /* an object is for CPUs that they run on */
	htab_t callees;  /* names of functions that are called */
	bool shared;
	bool hosts;           /* functions can make room for islands */
	struct share *shares; /* by item of the command line */
};

/* The encodings of the code in each section. Returns how many functions are local:
 * calls of them need no relocation. */
static size_t note_encodings(const struct litifut_link_facts *facts, Elf *elf, unsigned char *notes,
			     size_t count)
{
	size_t functions = 0;

	for (Elf_Scn *section = elf_nextscn(elf, NULL); section && facts->encoding;
	     section = elf_nextscn(elf, section)) {
		Elf32_Shdr *header = elf32_getshdr(section);
		Elf_Data *data;
		const Elf32_Sym *symbols;

		if (!header || header->sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(section, NULL);
		symbols = data ? data->d_buf : NULL;
		/* Mapping symbols are local, and sh_info is the first that is not. */
		for (size_t i = 1;
		     symbols && i < header->sh_info && i < data->d_size / sizeof(*symbols); i++) {
			const char *name =
				symbols[i].st_shndx < count
					? elf_strptr(elf, header->sh_link, symbols[i].st_name)
					: NULL;

			functions += ELF32_ST_TYPE(symbols[i].st_info) == STT_FUNC;
			if (name && name[0] == '$')
				notes[symbols[i].st_shndx] |= (unsigned char)facts->encoding(name);
		}
	}
	return functions;
}

static void add_maybe_near(struct estimate *estimate, const char *name)
{
	if (estimate->maybe_near_count == estimate->maybe_near_room) {
		estimate->maybe_near_room = 2 * estimate->maybe_near_room + 1024;
		estimate->maybe_near =
			xrealloc(estimate->maybe_near,
				 estimate->maybe_near_room * sizeof(*estimate->maybe_near));
	}
	estimate->maybe_near[estimate->maybe_near_count++] = name;
}

static void count_near_call(struct estimate *estimate, Elf *elf, const Elf_Data *symbols,
			    size_t strings, size_t index)
{
	const Elf32_Sym *all = symbols ? symbols->d_buf : NULL;
	const Elf32_Sym *symbol;
	const char *name;

	if (!all || index >= symbols->d_size / sizeof(*all))
		return;
	symbol = &all[index];
	name = elf_strptr(elf, strings, symbol->st_name);
	if (ELF32_ST_BIND(symbol->st_info) == STB_LOCAL ||
	    ELF32_ST_VISIBILITY(symbol->st_other) != STV_DEFAULT)
		estimate->near_calls++;
	else if (!estimate->shared && name)
		add_maybe_near(estimate, name);
}

/* Is the callee that a relocation names one that no call before this had? */
static bool is_new_callee(struct estimate *estimate, Elf *elf, const Elf_Data *symbols,
			  size_t strings, size_t index)
{
	const Elf32_Sym *all = symbols ? symbols->d_buf : NULL;
	const char *name;

	if (!estimate->thunks || !all || index >= symbols->d_size / sizeof(*all))
		return false;
	name = elf_strptr(elf, strings, all[index].st_name);
	/* Local names are not unique. Where local functions are counted, they are
	 * among them; else each call counts, which is too much. */
	if (ELF32_ST_BIND(all[index].st_info) == STB_LOCAL || !name)
		return !estimate->facts->encoding;
	return symbols_add(estimate->callees, name);
}

/* Returns the number of tail calls among them. */
static size_t read_relocations(struct estimate *estimate, struct share *share, Elf *elf,
			       Elf_Scn *section, const Elf32_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	const Elf32_Rel *relocations = data ? data->d_buf : NULL;
	size_t count = relocations ? data->d_size / sizeof(*relocations) : 0;
	Elf_Scn *table = elf_getscn(elf, header->sh_link);
	Elf32_Shdr *table_header = table ? elf32_getshdr(table) : NULL;
	Elf_Data *symbols = table ? elf_getdata(table, NULL) : NULL;
	size_t jumps = 0;

	for (size_t i = 0; i < count && table_header; i++) {
		enum litifut_relocation kind =
			estimate->facts->relocation(ELF32_R_TYPE(relocations[i].r_info));

		switch (kind) {
		case LITIFUT_RELOCATION_CALL:
			share->callees +=
				is_new_callee(estimate, elf, symbols, table_header->sh_link,
					      ELF32_R_SYM(relocations[i].r_info));
			break;
		case LITIFUT_RELOCATION_JUMP:
			jumps++;
			break;
		case LITIFUT_RELOCATION_NEAR_CALL:
			count_near_call(estimate, elf, symbols, table_header->sh_link,
					ELF32_R_SYM(relocations[i].r_info));
			share->near_callees +=
				is_new_callee(estimate, elf, symbols, table_header->sh_link,
					      ELF32_R_SYM(relocations[i].r_info));
			break;
		default:
			break;
		}
	}
	return jumps;
}

static bool is_code(const Elf32_Shdr *header)
{
	return header->sh_type == SHT_PROGBITS && header->sh_flags & SHF_EXECINSTR;
}

/* Of the relocations of a section with code, which the linker keeps. */
static bool relocates_code(Elf *elf, const Elf32_Shdr *header, const struct input_object *object)
{
	Elf_Scn *section = elf_getscn(elf, header->sh_info);
	Elf32_Shdr *code = section ? elf32_getshdr(section) : NULL;

	return header->sh_type == SHT_REL && header->sh_info < object->section_count &&
	       !object->dropped[header->sh_info] && code && is_code(code);
}

static void add_trampolines(struct estimate *estimate, struct share *share,
			    const struct litifut_census *before, size_t jumps)
{
	const struct litifut_link_facts *facts = estimate->facts;

	estimate->jumps += jumps;
	share->trampolines +=
		(estimate->census.cramped - before->cramped) * facts->call_trampoline_bytes +
		(estimate->census.tails - before->tails + jumps) * facts->tail_trampoline_bytes;
}

static void count_object(void *context, const struct input_object *object)
{
	struct estimate *estimate = context;
	const struct litifut_link_facts *facts = estimate->facts;
	struct share *share = &estimate->shares[object->item];
	const struct litifut_census before = estimate->census;
	const char *ident = object->elf ? elf_getident(object->elf, NULL) : NULL;
	unsigned char *encodings;
	size_t names = 0;
	size_t text = 0;
	size_t lto = 0;
	size_t jumps = 0;

	if (!ident || elf_getshdrstrndx(object->elf, &names)) {
		estimate->lto_bytes += object->bytes;
		return;
	}
	encodings = xcalloc(object->section_count + 1, 1);
	if (estimate->facts->encoding)
		share->callees += note_encodings(estimate->facts, object->elf, encodings,
						 object->section_count);
	else
		memset(encodings, 1, object->section_count);
	for (Elf_Scn *section = elf_nextscn(object->elf, NULL); section;
	     section = elf_nextscn(object->elf, section)) {
		size_t index = elf_ndxscn(section);
		Elf32_Shdr *header = elf32_getshdr(section);
		Elf_Data *data;
		const char *name;

		if (!header || object->dropped[index])
			continue;
		if (relocates_code(object->elf, header, object))
			jumps += read_relocations(estimate, share, object->elf, section, header);
		if (is_code(header)) {
			data = elf_rawdata(section, NULL);
			if (!data || !data->d_buf)
				continue;
			text += data->d_size;
			estimate->facts->census(data->d_buf, data->d_size, encodings[index],
						ident[EI_DATA] == ELFDATA2MSB, &estimate->census);
		} else if (!(header->sh_flags & SHF_ALLOC)) {
			name = elf_strptr(object->elf, names, header->sh_name);
			if (name && facts->thunk_section && !estimate->thunks_run &&
			    !strcmp(name, facts->thunk_section) &&
			    (data = elf_rawdata(section, NULL)) && data->d_buf)
				estimate->thunks_run =
					facts->allows_thunks(data->d_buf, (uint32_t)data->d_size);
			if (name && !strncmp(name, ".gnu.lto_", strlen(".gnu.lto_")))
				lto += header->sh_size;
		}
	}
	free(encodings);
	share->text += text;
	if (!text)
		estimate->lto_bytes += lto;
	add_trampolines(estimate, share, &before, jumps);
}

static void add_island(struct estimated_islands *islands, size_t item)
{
	islands->items = xrealloc(islands->items, (islands->count + 1) * sizeof(*islands->items));
	islands->items[islands->count++] = item;
}

/* An island before each input that would get too far from the last one. */
static void place_islands(const struct estimate *estimate, const struct arguments *arguments,
			  struct estimated_islands *islands)
{
	const uint64_t far = estimate->facts->reach / 4 * 3;
	size_t last = arguments->count; /* the last input that one can stand before */
	uint64_t since = 0;
	uint64_t total = 0;

	for (size_t i = 0; i < arguments->count; i++)
		total += estimate->shares[i].text;
	if (total <= far)
		return;
	for (size_t i = command_tracer_place(arguments); i < arguments->count; i++) {
		uint64_t text = estimate->shares[i].text;

		if (command_can_insert(&arguments->items[i])) {
			last = i;
			if (since && since + text > far) {
				add_island(islands, i);
				since = 0;
			}
		}
		since += text;
		/* From an island on either side, and none can be inside. */
		if (text > 2 * far && !estimate->hosts)
			islands->too_coarse = true;
	}
	if (since > far)
		add_island(islands, last);
}

/* All islands are alike: the neediest one counts, and it serves what lies before
 * it and behind. */
static size_t island_trampolines(const struct estimate *estimate, const struct arguments *arguments,
				 const struct estimated_islands *islands)
{
	uint64_t before = 0;
	uint64_t since = 0;
	uint64_t most = 0;
	size_t island = 0;

	for (size_t i = 0; i <= arguments->count; i++) {
		while (island < islands->count && islands->items[island] <= i) {
			most = before + since > most ? before + since : most;
			before = since;
			since = 0;
			island++;
		}
		if (i < arguments->count)
			since += estimate->shares[i].trampolines;
	}
	return before + since > most ? before + since : most;
}

/* For jumps within a section that end a function, for what the linker adds, and
 * for the calls in the tracer and recorder, which the rewriter counts first. */
static size_t with_slack(size_t count)
{
	return count + count / 48 + 128;
}

static void fill_plan(const struct estimate *estimate, const struct litifut_arch *arch,
		      const struct arguments *arguments, const struct estimated_islands *islands,
		      struct litifut_rewrite_plan *plan)
{
	const struct litifut_link_facts *facts = estimate->facts;
	const struct litifut_census *census = &estimate->census;
	size_t tails = census->tails + estimate->jumps;
	size_t lto = estimate->lto_bytes / LTO_BYTES_PER_CALL;
	uint64_t text = estimate->lto_bytes * LTO_TEXT_PER_BYTE;
	uint64_t trampolines = lto / 8 * facts->call_trampoline_bytes;

	for (size_t i = 0; i < arguments->count; i++) {
		text += estimate->shares[i].text;
		trampolines += estimate->shares[i].trampolines;
	}
	plan->sites = with_slack(census->direct + census->indirect + tails + lto);
	plan->db_entries = facts->indirect_in_db ? plan->sites
						 : with_slack(census->direct + census->cramped +
							      estimate->near_calls + tails + lto);
	/* Far code is left to the DB where a thunk does not reach. */
	if (estimate->thunks && estimate->thunks_run && (!islands->count || facts->direct_in_db))
		plan->db_entries = facts->direct_in_db
					   ? with_slack(census->cramped + tails + lto / 4 +
							(census->direct + estimate->near_calls) /
								facts->direct_in_db)
					   : with_slack(lto / 16);
	plan->trampoline_bytes =
		trampolines + trampolines / 48 + arch->gate_bytes +
		8 * facts->call_trampoline_bytes + 16 * facts->tail_trampoline_bytes +
		(estimate->thunks && estimate->thunks_run ? 24 * facts->thunk_bytes : 0);
	if (arch->can_host && text > facts->reach / 4 * 3)
		plan->trampoline_bytes += (text / facts->reach + 8) * arch->host_trampoline_bytes;
	plan->island_bytes = arch->island_bytes;
	if (arch->trampolines_in_islands)
		plan->island_bytes += island_trampolines(estimate, arguments, islands) +
				      arch->gate_bytes + 4 * arch->trampoline_bytes_max;
}

static void add_thunks(struct estimate *estimate, const struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->count && estimate->thunks && estimate->thunks_run; i++) {
		struct share *share = &estimate->shares[i];
		size_t callees = share->callees + share->near_callees / 16;

		share->trampolines += (callees + callees / 8) * estimate->facts->thunk_bytes;
	}
}

void estimate_room(const struct arguments *arguments, bool thunks,
		   struct litifut_rewrite_plan *plan, struct estimated_islands *islands)
{
	const struct litifut_arch *arch = litifut_arch_find(plan->machine);
	struct estimate estimate = {
		.facts = arch->facts,
		.thunks = thunks,
		.thunks_run = !arch->facts->thunk_section,
		.callees = symbols_table(),
		.hosts = arch->can_host != NULL,
		.shared = arguments_last(arguments, ARGUMENT_SHARED) != NULL,
		.shares = xcalloc(arguments->count + 1, sizeof(struct share)),
	};
	struct inputs *inputs;

	memset(islands, 0, sizeof(*islands));
	symbols_open(&estimate.symbols);
	inputs = inputs_walk(arguments, &estimate.symbols, count_object, &estimate);
	for (size_t i = 0; i < estimate.maybe_near_count; i++)
		estimate.near_calls +=
			symbols_has(estimate.symbols.defined, estimate.maybe_near[i]);
	add_thunks(&estimate, arguments);
	place_islands(&estimate, arguments, islands);
	fill_plan(&estimate, arch, arguments, islands, plan);
	free(estimate.maybe_near);
	htab_delete(estimate.callees);
	symbols_close(&estimate.symbols);
	inputs_close(inputs);
	free(estimate.shares);
}
