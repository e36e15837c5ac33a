/* What looks like a call in the inputs is counted, and what code lies between
 * two of them. All is guessed on the high side, but for code that is made in the
 * link itself. Slightly over 500 lines, because one walk over the inputs counts
 * what all the sizes are computed from. */
#include "ldwrap/estimate.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

#include "ldwrap/callees.h"
#include "ldwrap/command.h"
#include "ldwrap/elf_items.h"
#include "ldwrap/inputs.h"
#include "ldwrap/lto.h"
#include "rewriter/arch.h"
#include "platform/platform.h"
#include "rewriter/hosts.h"

/* Of calls that are made in the link, each one in so many needs a trampoline or is the first of its
 * callee. */
#define LTO_CALLS_PER_TRAMPOLINE 3

/* What one input, or what is loaded from it, brings. */
struct share {
	uint64_t text; /* bytes of code */
	uint64_t trampolines;
};

/* What the calls of one object lead to that has no name beyond it. */
struct local_callees {
	bool *seen; /* by symbol, for calls and for those that may become direct ones */
	bool *near_seen;
	size_t named;
	size_t near_named;
	size_t functions; /* that are local */
	size_t related;   /* direct calls that have a relocation */
	size_t unnamed;   /* of those by the name of a section */
};

struct estimate {
	const struct cpu_objects *objects;
	const struct litifut_arch_sizes *sizes;
	struct symbols symbols;
	struct litifut_census census;
	size_t jumps;                     /* relocations of tail calls */
	size_t near_calls;                /* indirect calls that the linker can make direct ones */
	const struct symbol **maybe_near; /* ... if this symbol turns out to be defined */
	size_t maybe_near_count;
	size_t maybe_near_room;
	struct lto_guess lto;
	bool thunks;            /* room for thunks is wanted */
	bool older_thunks;      /* they are also if the CPUs are not the newer ones */
	bool newer;             /* an object is for newer CPUs, see struct cpu_objects */
	size_t thunk_encoded;   /* bytes of code in the encoding of thunks */
	bool all_thunk_encoded; /* but for a few */
	bool none_thunk_encoded;
	uint32_t reach; /* of most calls, either way */
	struct callees *callees;
	struct callees *near_callees; /* of calls that may become direct ones */
	bool shared;
	bool hosts;           /* functions can make room for islands */
	struct share *shares; /* by item of the command line */
};

/* The encodings of the code in each section. Returns how many functions are local:
 * calls of them need no relocation. */
static size_t note_encodings(const struct cpu_objects *objects, const struct input_object *object,
			     unsigned char *notes)
{
	size_t functions = 0;

	for (Elf_Scn *section = elf_nextscn(object->elf, NULL); section;
	     section = elf_nextscn(object->elf, section)) {
		Elf32_Shdr header;
		Elf_Data *data;

		if (!elf_items_header(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(section, NULL);
		/* Mapping symbols are local, and sh_info is the first that is not. */
		for (size_t i = 1;
		     i < header.sh_info && i < elf_items_count(data, sizeof(Elf32_Sym)); i++) {
			const Elf32_Sym symbol = elf_items_symbol(data, i);
			const size_t index = symbol.st_shndx;
			const char *name;

			if (index >= object->section_count)
				continue;
			functions += ELF32_ST_TYPE(symbol.st_info) == STT_FUNC &&
				     !object->dropped[index];
			if (!objects->encoding)
				continue;
			name = elf_strptr(object->elf, header.sh_link, symbol.st_name);
			if (name && name[0] == '$')
				notes[index] |= (unsigned char)objects->encoding(name);
		}
	}
	return functions;
}

static void add_maybe_near(struct estimate *estimate, const struct symbol *symbol)
{
	if (estimate->maybe_near_count == estimate->maybe_near_room) {
		estimate->maybe_near_room = 2 * estimate->maybe_near_room + 1024;
		estimate->maybe_near =
			xrealloc(estimate->maybe_near,
				 estimate->maybe_near_room * sizeof(*estimate->maybe_near));
	}
	estimate->maybe_near[estimate->maybe_near_count++] = symbol;
}

/* What the relocations of one section refer to. */
struct symbol_table {
	const Elf_Data *items;
	size_t count;                  /* 0: damaged */
	struct symbol *const *symbols; /* NULL where they are local */
};

static void count_near_call(struct estimate *estimate, const struct symbol_table *table,
			    size_t index)
{
	const Elf32_Sym item = elf_items_symbol(table->items, index);

	if (!table->symbols[index] || ELF32_ST_VISIBILITY(item.st_other) != STV_DEFAULT)
		estimate->near_calls++;
	else if (!estimate->shared)
		add_maybe_near(estimate, table->symbols[index]);
}

/* Notes the callee that a relocation of a call names. */
static void note_callee(struct estimate *estimate, struct local_callees *local, size_t item,
			const struct symbol_table *table, size_t index, bool near)
{
	bool **seen = near ? &local->near_seen : &local->seen;

	local->related += !near;
	if (table->symbols[index]) {
		callees_add(near ? estimate->near_callees : estimate->callees, item,
			    table->symbols[index]);
		return;
	}
	if (ELF32_ST_TYPE(elf_items_symbol(table->items, index).st_info) == STT_SECTION) {
		local->unnamed += !near;
		local->near_named += near;
		return;
	}
	if (!*seen)
		*seen = xcalloc(table->count, sizeof(**seen));
	if ((*seen)[index])
		return;
	(*seen)[index] = true;
	local->named += !near;
	local->near_named += near;
}

static struct symbol_table table_of(const struct input_object *object, const Elf32_Shdr *header)
{
	struct symbol_table table = {.symbols = object->symbols};
	Elf_Scn *section = elf_getscn(object->elf, header->sh_link);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

	if (header->sh_link != object->symbol_table ||
	    elf_items_count(data, sizeof(Elf32_Sym)) < object->symbol_count)
		return table;
	table.items = data;
	table.count = object->symbol_count;
	return table;
}

/* Returns the number of tail calls among them. */
static size_t read_relocations(struct estimate *estimate, struct local_callees *local,
			       const struct input_object *object, Elf_Scn *section,
			       const Elf32_Shdr *header)
{
	const struct symbol_table table = table_of(object, header);
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = table.count ? elf_items_count(data, sizeof(Elf32_Rel)) : 0;
	size_t jumps = 0;

	for (size_t i = 0; i < count; i++) {
		const Elf32_Rel relocation = elf_items_relocation(data, i);
		enum litifut_relocation kind =
			estimate->objects->relocation(ELF32_R_TYPE(relocation.r_info));
		size_t index = ELF32_R_SYM(relocation.r_info);

		jumps += kind == LITIFUT_RELOCATION_JUMP;
		if (index >= table.count)
			continue;
		if (kind == LITIFUT_RELOCATION_NEAR_CALL)
			count_near_call(estimate, &table, index);
		if (estimate->thunks &&
		    (kind == LITIFUT_RELOCATION_CALL || kind == LITIFUT_RELOCATION_NEAR_CALL))
			note_callee(estimate, local, object->item, &table, index,
				    kind == LITIFUT_RELOCATION_NEAR_CALL);
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
	Elf32_Shdr code;

	return header->sh_type == SHT_REL && header->sh_info < object->section_count &&
	       !object->dropped[header->sh_info] &&
	       elf_items_header(elf_getscn(elf, header->sh_info), &code) && is_code(&code);
}

static void add_trampolines(struct estimate *estimate, struct share *share,
			    const struct litifut_census *before, size_t jumps)
{
	const struct litifut_arch_sizes *sizes = estimate->sizes;

	estimate->jumps += jumps;
	share->trampolines +=
		(estimate->census.cramped - before->cramped) * sizes->call_trampoline_bytes +
		(estimate->census.tails - before->tails + jumps) * sizes->tail_trampoline_bytes;
}

/* Local callees: those with a name, and of the others no more than there are calls of
 * them, or functions. */
static void add_local_callees(struct estimate *estimate, const struct input_object *object,
			      const struct local_callees *local, size_t direct)
{
	size_t others = local->unnamed;
	size_t left = local->functions > local->named ? local->functions - local->named : 0;

	others += direct > local->related ? direct - local->related : 0;
	callees_add_local(estimate->callees, object->item,
			  local->named + (others < left ? others : left));
	callees_add_local(estimate->near_callees, object->item, local->near_named);
}

static void count_object(void *context, const struct input_object *object)
{
	struct estimate *estimate = context;
	const struct cpu_objects *objects = estimate->objects;
	const struct litifut_arch_sizes *sizes = estimate->sizes;
	struct share *share = &estimate->shares[object->item];
	const struct litifut_census before = estimate->census;
	const char *ident = object->elf ? elf_getident(object->elf, NULL) : NULL;
	struct local_callees local = {0};
	unsigned char *encodings;
	size_t names = 0;
	size_t text = 0;
	struct lto_guess lto = {0};
	size_t jumps = 0;

	if (!ident || elf_getshdrstrndx(object->elf, &names)) {
		lto_add_bitcode(&estimate->lto, object->bytes);
		return;
	}
	encodings = xcalloc(object->section_count + 1, 1);
	local.functions = note_encodings(objects, object, encodings);
	if (!objects->encoding)
		memset(encodings, 1, object->section_count);
	for (Elf_Scn *section = elf_nextscn(object->elf, NULL); section;
	     section = elf_nextscn(object->elf, section)) {
		size_t index = elf_ndxscn(section);
		Elf32_Shdr header;
		Elf_Data *data;
		const char *name;

		if (!elf_items_header(section, &header) || object->dropped[index])
			continue;
		if (relocates_code(object->elf, &header, object))
			jumps += read_relocations(estimate, &local, object, section, &header);
		if (is_code(&header)) {
			data = elf_rawdata(section, NULL);
			if (!data || !data->d_buf)
				continue;
			text += data->d_size;
			if (encodings[index] == sizes->thunk_encoding)
				estimate->thunk_encoded += data->d_size;
			estimate->objects->census(data->d_buf, data->d_size, encodings[index],
						  ident[EI_DATA] == ELFDATA2MSB, &estimate->census);
		} else if (!(header.sh_flags & SHF_ALLOC)) {
			name = elf_strptr(object->elf, names, header.sh_name);
			if (name && objects->cpu_section && !estimate->newer &&
			    !strcmp(name, objects->cpu_section) &&
			    (data = elf_rawdata(section, NULL)) && data->d_buf)
				estimate->newer =
					objects->is_for_newer(data->d_buf, (uint32_t)data->d_size);
			if (name && (data = elf_rawdata(section, NULL)) && data->d_buf)
				lto_add_section(&lto, name, data->d_buf, data->d_size);
		}
	}
	free(encodings);
	free(local.seen);
	free(local.near_seen);
	share->text += text;
	add_local_callees(estimate, object, &local, estimate->census.direct - before.direct);
	if (!text) {
		estimate->lto.calls += lto.calls;
		estimate->lto.text += lto.text;
	}
	add_trampolines(estimate, share, &before, jumps);
}

static void add_island(struct estimated_islands *islands, size_t item)
{
	islands->items = xrealloc(islands->items, (islands->count + 1) * sizeof(*islands->items));
	islands->items[islands->count++] = item;
}

/* How much of the code is in the encoding of thunks; what start files bring of
 * another one does not count. */
static void judge_encodings(struct estimate *estimate, const struct arguments *arguments)
{
	uint64_t total = 0;

	for (size_t i = 0; i < arguments->count; i++)
		total += estimate->shares[i].text;
	estimate->all_thunk_encoded = estimate->thunk_encoded >= total - total / 16;
	estimate->none_thunk_encoded = estimate->thunk_encoded <= total / 16;
	estimate->reach =
		estimate->none_thunk_encoded ? estimate->sizes->far_reach : estimate->sizes->reach;
}

/* An island before each input that would get too far from the last one. */
static void place_islands(const struct estimate *estimate, const struct arguments *arguments,
			  struct estimated_islands *islands)
{
	const uint64_t far = estimate->reach / 4 * 3;
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

static bool has_thunks(const struct estimate *estimate)
{
	return estimate->thunks && (estimate->newer || estimate->older_thunks);
}

/* Bytes of a thunk. */
static size_t thunk_bytes(const struct estimate *estimate)
{
	return estimate->newer ? estimate->sizes->thunk_bytes : estimate->sizes->older_thunk_bytes;
}

/* Room for trampolines, and for thunks if they are used, of the chosen items. */
static size_t room_for(const struct estimate *estimate, const struct arguments *arguments,
		       const bool *chosen)
{
	const size_t thunk = thunk_bytes(estimate);
	uint64_t bytes = 0;

	for (size_t i = 0; i < arguments->count; i++)
		bytes += chosen[i] ? estimate->shares[i].trampolines : 0;
	if (has_thunks(estimate)) {
		size_t foreign;
		size_t near_callees = callees_count(estimate->near_callees, chosen, &foreign);
		size_t callees = callees_count(estimate->callees, chosen, &foreign);

		bytes += (callees + callees / 32 + near_callees / 16) * thunk;
		if (!estimate->newer && estimate->none_thunk_encoded)
			bytes -= callees * (thunk - estimate->sizes->older_near_thunk_bytes);
		if (estimate->newer && estimate->all_thunk_encoded)
			bytes -= (callees - foreign) * (thunk - estimate->sizes->near_thunk_bytes);
	}
	return bytes + bytes / 48;
}

/* An island serves what lies between it and the next one, as far as that is not in
 * reach of the tracer; or what lies before it if its neighbour does not reach that. */
static void size_islands(const struct estimate *estimate, const struct litifut_arch *arch,
			 const struct arguments *arguments, const struct estimated_islands *islands,
			 struct litifut_rewrite_plan *plan)
{
	const uint64_t sure = estimate->reach / 4 * 3;
	const size_t tracer = command_tracer_place(arguments);
	bool *chosen = xcalloc(arguments->count + 1, sizeof(*chosen));

	plan->island_sizes = xcalloc(islands->count + 1, sizeof(*plan->island_sizes));
	for (size_t island = 0; island < islands->count; island++) {
		const size_t end =
			island + 1 < islands->count ? islands->items[island + 1] : arguments->count;
		uint64_t distance = 0; /* from the tracer to the end of the item */

		for (size_t i = tracer; i < arguments->count; i++) {
			distance += estimate->shares[i].text;
			chosen[i] = i >= islands->items[island] && i < end && distance > sure;
		}
		plan->island_sizes[island] =
			arch->island_bytes + room_for(estimate, arguments, chosen) +
			LITIFUT_ARCH_GET(arch, detour, gate_bytes) + 16 * thunk_bytes(estimate) +
			4 * LITIFUT_ARCH_GET(arch, detour, trampoline_bytes_max);
	}
	free(chosen);
}

/* The room beside the tracer: for what it can serve, or for all. */
static size_t own_room(const struct estimate *estimate, const struct litifut_arch *arch,
		       const struct arguments *arguments)
{
	const size_t tracer = command_tracer_place(arguments);
	const uint32_t reach =
		estimate->all_thunk_encoded ? estimate->sizes->reach : estimate->sizes->far_reach;
	bool *chosen = xcalloc(arguments->count + 1, sizeof(*chosen));
	uint64_t distance = 0; /* from the tracer to the start of the item */
	size_t bytes;

	for (size_t i = 0; i < arguments->count; i++) {
		chosen[i] = i < tracer || distance < reach ||
			    !LITIFUT_ARCH_GET(arch, detour, trampolines_in_islands);
		distance += i < tracer ? 0 : estimate->shares[i].text;
	}
	bytes = room_for(estimate, arguments, chosen);
	free(chosen);
	return bytes;
}

/* For jumps within a section that end a function, for what the linker adds, and
 * for the calls in the tracer and recorder, which the rewriter counts first. */
static size_t with_slack(size_t count)
{
	return count + count / 48 + 128;
}

static uint64_t text_of(const struct estimate *estimate, const struct arguments *arguments)
{
	uint64_t text = estimate->lto.text;

	for (size_t i = 0; i < arguments->count; i++)
		text += estimate->shares[i].text;
	return text;
}

static void fill_plan(const struct estimate *estimate, const struct litifut_arch *arch,
		      const struct arguments *arguments, const struct estimated_islands *islands,
		      struct litifut_rewrite_plan *plan)
{
	const struct litifut_arch_sizes *sizes = estimate->sizes;
	const struct litifut_census *census = &estimate->census;
	size_t tails = census->tails + estimate->jumps;
	size_t lto = estimate->lto.calls;
	const uint64_t text = text_of(estimate, arguments);

	plan->thunks = has_thunks(estimate);
	plan->sites = with_slack(census->direct + census->indirect + tails + lto);
	plan->db_entries = sizes->indirect_in_db ? plan->sites
						 : with_slack(census->direct + census->cramped +
							      estimate->near_calls + tails + lto);
	/* What a thunk does not reach, or has no room for. */
	if (plan->thunks)
		plan->db_entries =
			with_slack((census->direct + estimate->near_calls) / sizes->direct_in_db +
				   (LITIFUT_ARCH_GET(arch, thunks, thunks_need_db)
					    ? census->cramped + tails + lto / 4
				    : estimate->newer ? lto / 16
						      : census->cramped + lto / 16));
	plan->trampoline_bytes = own_room(estimate, arch, arguments) +
				 lto / LTO_CALLS_PER_TRAMPOLINE * sizes->call_trampoline_bytes +
				 LITIFUT_ARCH_GET(arch, detour, gate_bytes) +
				 8 * sizes->call_trampoline_bytes +
				 16 * sizes->tail_trampoline_bytes +
				 (has_thunks(estimate) ? 24 * thunk_bytes(estimate) : 0);
	if (LITIFUT_ARCH_GET(arch, frames, unwind))
		plan->unwind_entries = (census->cramped + lto / LTO_CALLS_PER_TRAMPOLINE) *
				       arch->frames->unwind->call_entries;
	if (LITIFUT_ARCH_GET(arch, borrow, host_piece_count) && text > sizes->reach / 4 * 3)
		plan->trampoline_bytes +=
			(text / sizes->reach + 8) * litifut_hosts_trampoline_bytes(arch);
	plan->island_bytes = arch->island_bytes;
	if (LITIFUT_ARCH_GET(arch, detour, trampolines_in_islands) && islands->count)
		size_islands(estimate, arch, arguments, islands, plan);
}

struct estimate_result estimate_room(const struct arguments *arguments, bool thunks,
				     bool older_thunks, struct litifut_rewrite_plan *plan)
{
	const struct litifut_arch *arch = litifut_arch_find(plan->machine);
	struct estimate estimate = {
		.objects = arch->cpu->objects,
		.sizes = arch->sizes,
		.thunks = thunks,
		.older_thunks = older_thunks,
		.newer = !arch->cpu->objects->cpu_section,
		.callees = callees_create(arguments->count),
		.near_callees = callees_create(arguments->count),
		.hosts = LITIFUT_ARCH_GET(arch, borrow, host_piece_count) != 0,
		.shared = arguments_last(arguments, ARGUMENT_SHARED) != NULL,
		.shares = xcalloc(arguments->count + 1, sizeof(struct share)),
	};
	struct estimate_result result = {0};
	struct inputs *inputs;

	symbols_open(&estimate.symbols);
	inputs = inputs_walk(arguments, &estimate.symbols, count_object, &estimate);
	for (size_t i = 0; i < estimate.maybe_near_count; i++)
		estimate.near_calls += estimate.maybe_near[i]->defined;
	/* A static program of another libc than glibc stays with the DB. */
	if (arguments_are_static(arguments) &&
	    !symbols_defines(&estimate.symbols, platform_linux_glibc.static_function))
		estimate.thunks = false;
	judge_encodings(&estimate, arguments);
	place_islands(&estimate, arguments, &result.islands);
	fill_plan(&estimate, arch, arguments, &result.islands, plan);
	result.text = text_of(&estimate, arguments);
	result.newer = estimate.newer;
	result.optimised = estimate.lto.calls != 0;
	free(estimate.maybe_near);
	callees_release(estimate.callees);
	callees_release(estimate.near_callees);
	symbols_close(&estimate.symbols);
	inputs_close(inputs);
	free(estimate.shares);
	return result;
}
