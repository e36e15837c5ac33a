/* From addresses to functions. This is the slow path: it runs once for each
 * distinct (call site, callee), never for each event. */
#include <fnmatch.h>
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/model/session.h"

#define VENEERS_FOLLOWED 4

static const char *keep_text(struct post_session *session, char *text)
{
	POST_GROW(session->texts, session->text_count, session->text_capacity);
	session->texts[session->text_count++] = text;
	return text;
}

/* A module that has a record in the trace is believed before the maps file;
 * of several epochs the one that holds, or else the latest before it. */
static const struct post_mapping *find_mapping(const struct post_process *process, uint32_t epoch,
					       uint32_t address)
{
	const struct post_mapping *best = NULL;

	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct post_mapping *mapping = &process->mappings[i];
		if (address < mapping->start || address >= mapping->end)
			continue;
		if (!mapping->recorded) {
			if (!best)
				best = mapping;
			continue;
		}
		if (epoch >= mapping->first_epoch && epoch < mapping->end_epoch)
			return mapping;
		best = mapping;
	}
	return best;
}

bool post_session_place(const struct post_process *process, uint32_t epoch, uint32_t address,
			uint32_t *module, uint32_t *link)
{
	const struct post_mapping *mapping = find_mapping(process, epoch, address);

	if (!mapping)
		return false;
	*module = mapping->module;
	*link = address - mapping->bias;
	return true;
}

static const char *shown_name(struct post_session *session, const struct post_symbol *symbol)
{
	char *demangled = NULL;
	const char *name = symbol->name;

	if (session->options.demangle)
		demangled = cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
	if (demangled)
		name = keep_text(session, demangled);
	if (!(symbol->flags & POST_SYMBOL_PLT))
		return name;
	char *text = post_allocate(strlen(name) + 5, 1);
	sprintf(text, "%s@plt", name);
	return keep_text(session, text);
}

static uint32_t number_function(struct post_session *session, uint32_t module,
				const struct post_symbol *symbol, uint32_t address)
{
	struct post_key key = {{module, symbol ? symbol->address : address, symbol ? 1 : 0, 0}};
	uint32_t number = post_table_find(&session->function_index, key);

	if (number != POST_NONE)
		return number;
	struct post_function function = {.module = module, .address = key.part[1]};
	if (symbol) {
		function.symbol = symbol->name;
		function.plt = symbol->flags & POST_SYMBOL_PLT;
		function.name = shown_name(session, symbol);
	} else {
		char text[320];
		if (module)
			snprintf(text, sizeof(text), "%s+0x%x", session->modules[module].name,
				 address);
		else
			snprintf(text, sizeof(text), "0x%x", address);
		function.name = keep_text(session, post_copy_text(text));
	}
	POST_GROW(session->functions, session->function_count, session->function_capacity);
	number = (uint32_t)session->function_count++;
	session->functions[number] = function;
	post_table_put(&session->function_index, key, number);
	return number;
}

/* An interrupt calls its handler. It stands where a function would. */
static uint32_t number_vector(struct post_session *session, uint32_t module,
			      const struct litifut_site *site, bool *named)
{
	uint32_t number = number_function(session, module, NULL, site->address);
	char text[32];

	snprintf(text, sizeof(text), "(interrupt %u)", site->instruction);
	session->functions[number].name = keep_text(session, post_copy_text(text));
	*named = true;
	return number;
}

/* The function at a link-time address; `*offset` is how far inside. */
static uint32_t function_at(struct post_session *session, uint32_t module, uint32_t address,
			    uint32_t *offset, bool *named)
{
	const struct post_image *image = session->modules[module].image;
	const struct post_symbol *symbol =
		image ? post_symbols_find(&image->symbols, address) : NULL;

	*named = symbol != NULL;
	*offset = symbol ? address - symbol->address : 0;
	return number_function(session, module, symbol, address);
}

uint32_t post_session_function(struct post_session *session, uint32_t module, uint32_t address)
{
	uint32_t offset;
	bool named;

	return function_at(session, module, address, &offset, &named);
}

/* Follows what the linker put in between. `callee` has bit 0 as in the code. */
static uint32_t behind_veneers(struct post_session *session, uint32_t module, uint32_t callee,
			       uint32_t *veneer)
{
	const struct post_image *image = session->modules[module].image;

	*veneer = POST_NONE;
	if (!image)
		return callee;
	struct litifut_code_reader code = post_image_code(image);
	for (unsigned steps = 0; steps < VENEERS_FOLLOWED; steps++) {
		uint32_t address = callee & ~1u;
		const struct post_symbol *symbol = post_symbols_find(&image->symbols, address);
		const char *row = image->cpu->linkage.veneer_row;

		/* A function that begins with a branch is not a veneer. */
		if (symbol && !(row && !strcmp(symbol->name, row)) &&
		    (symbol->address != address || !cpu_is_veneer(image->cpu, symbol->name)))
			break;
		struct litifut_lead lead = image->cpu->linkage.follow(&code, callee);
		if (lead.kind != LITIFUT_LEADS_TO_CODE || lead.address == callee)
			break;
		if (*veneer == POST_NONE)
			*veneer = number_function(session, module, symbol, address);
		callee = lead.address;
	}
	return callee;
}

/* The modules of a process in the order in which the dynamic linker looks for names, as far
 * as it is known: the program first, then as they were seen. Calls `number` of them. */
static uint32_t module_in_scope(const struct post_session *session,
				const struct post_process *process, size_t number)
{
	const char *program = process->trace->header.program;
	size_t first = 0;

	while (first < process->mapping_count &&
	       strcmp(session->modules[process->mappings[first].module].name, program))
		first++;
	if (first == process->mapping_count)
		first = 0;
	if (number == 0)
		return process->mappings[first].module;
	return process->mappings[number <= first ? number - 1 : number].module;
}

/* Finds the function that a PLT entry leads to. Gives the entry itself if no file that
 * defines it is known. */
static uint32_t behind_plt(struct post_session *session, const struct post_process *process,
			   uint32_t entry, enum post_through_plt *through)
{
	const char *name = session->functions[entry].symbol;
	uint32_t own = session->functions[entry].module;
	uint32_t found_in = 0;
	const struct post_symbol *found = NULL;
	bool several = false;

	*through = POST_PLT_ENTRY;
	for (size_t i = 0; i < process->mapping_count; i++) {
		uint32_t module = module_in_scope(session, process, i);
		const struct post_image *image = session->modules[module].image;
		size_t count;
		const struct post_symbol *symbol =
			image ? post_symbols_named(&image->symbols, name, &count) : NULL;
		if (!symbol || module == found_in)
			continue;
		/* What is not in .dynsym is chosen at run time in its own module only. */
		if (!(symbol->flags & POST_SYMBOL_DYNAMIC) && module != own)
			continue;
		/* Several versions, or aliases of them. */
		several = several || found || symbol->flags & POST_SYMBOL_INDIRECT ||
			  symbol[count - 1].address != symbol->address;
		if (found)
			continue;
		found = symbol;
		found_in = module;
	}
	if (!found)
		return entry;
	*through = several ? POST_PLT_GUESSED : POST_PLT_JOINED;
	return post_session_function(session, found_in, found->address);
}

static bool matches(const char *const *globs, const char *text)
{
	for (; globs && *globs; globs++) {
		if (!fnmatch(*globs, text, 0))
			return true;
	}
	return false;
}

/* "a::b(int)" -> "a::b", "int f<int>(int) const" -> "f<int>". False: there are no parameters. */
static bool without_parameters(const char *name, char *text, size_t size)
{
	const char *end = strrchr(name, ')'), *start = name;
	int depth = 0;

	if (!end || (size_t)(end - name) >= size)
		return false;
	for (; end > name; end--) { /* back to the bracket that opens them */
		depth += *end == ')' ? 1 : *end == '(' ? -1 : 0;
		if (!depth)
			break;
	}
	if (depth || end == name)
		return false;
	for (const char *at = name; at < end; at++) { /* behind the type of the result */
		depth += *at == '<' || *at == '(' ? 1 : *at == '>' || *at == ')' ? -1 : 0;
		if (*at == ' ' && !depth && (at - name < 8 || strncmp(at - 8, "operator", 8) != 0))
			start = at + 1;
	}
	snprintf(text, size, "%.*s", (int)(end - start), start);
	return true;
}

bool post_function_matches(const struct post_session *session, const char *const *globs,
			   uint32_t function)
{
	const struct post_function *about = &session->functions[function];
	char text[1024];

	return globs &&
	       (matches(globs, about->name) || (about->symbol && matches(globs, about->symbol)) ||
		(without_parameters(about->name, text, sizeof(text)) && matches(globs, text)));
}

static bool either_matches(const struct post_session *session, const char *const *globs,
			   const struct post_call *call)
{
	return post_function_matches(session, globs, call->caller) ||
	       post_function_matches(session, globs, call->callee);
}

/* What the tracer lets a libc call that is traced itself, in a static program. The
 * program without it makes no such call. */
static bool is_hook(const char *name)
{
	static const char *const hooks[] = {"litifut_module_start", "litifut_module_end",
					    "litifut_before_fork", "litifut_after_fork",
					    "litifut_in_child"};

	for (size_t i = 0; name && i < sizeof(hooks) / sizeof(*hooks); i++)
		if (strcmp(name, hooks[i]) == 0)
			return true;
	return false;
}

static bool is_hidden(const struct post_session *session, const struct post_call *call)
{
	const struct post_options *options = &session->options;

	if (call->own)
		return true;
	if (options->include && !either_matches(session, options->include, call))
		return true;
	if (options->exclude && either_matches(session, options->exclude, call))
		return true;
	uint32_t callee_module = session->functions[call->callee].module;
	return options->modules &&
	       !matches(options->modules, session->modules[call->site_module].name) &&
	       !matches(options->modules, session->modules[callee_module].name);
}

static uint32_t number_site(struct post_session *session, uint32_t module, uint32_t address)
{
	struct post_key key = {{module, address}};
	uint32_t number = post_table_find(&session->site_index, key);

	if (number == POST_NONE) {
		number = session->site_count++;
		post_table_put(&session->site_index, key, number);
	}
	return number;
}

/* The call that stands for all further ones when there are too many. */
static uint32_t further_calls(struct post_session *session, uint32_t most)
{
	struct post_key key = {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}};
	uint32_t number = post_table_find(&session->call_index, key);

	if (number != POST_NONE)
		return number;
	post_problem_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
			"more than %u distinct pairs of call site and callee; the further ones are "
			"shown as one call from ? to ? (--max-calls)",
			most);
	struct post_call call = {.veneer = POST_NONE, .unresolved = true};
	call.site = number_site(session, 0, UINT32_MAX);
	call.caller = call.callee = call.behind = number_function(session, 0, NULL, 0);
	session->functions[call.callee].name = "?";
	POST_GROW(session->calls, session->call_count, session->call_capacity);
	number = (uint32_t)session->call_count++;
	session->calls[number] = call;
	post_table_put(&session->call_index, key, number);
	return number;
}

uint32_t post_session_exit(const struct post_session *session, const struct post_process *process,
			   uint32_t epoch, uint32_t exit)
{
	const struct post_mapping *mapping = find_mapping(process, epoch, exit & ~1u);
	const struct post_image *image = mapping ? session->modules[mapping->module].image : NULL;
	const struct litifut_site *site =
		image ? post_image_exit(image, exit - mapping->bias) : NULL;

	return site ? site->return_address + mapping->bias : 0;
}

uint32_t post_session_resolve(struct post_session *session, struct post_process *process,
			      uint32_t epoch, uint32_t kind, uint32_t return_address,
			      uint32_t callee)
{
	const struct cpu *cpu = cpu_find(process->machine);
	bool tail = kind == LITIFUT_WORD_TAIL, caller_named = false, callee_named = false;

	if (session->call_count >= post_session_most_calls(session))
		return further_calls(session, post_session_most_calls(session));

	struct post_call call = {.tail = tail, .veneer = POST_NONE};
	uint32_t guess = return_address & ~1u;

	if (!tail && cpu)
		guess = cpu->site_before(return_address);
	const struct post_mapping *mapping = find_mapping(process, epoch, tail ? guess - 1 : guess);
	const struct litifut_site *site = NULL;
	if (!tail && !callee) {
		const struct post_mapping *exits =
			find_mapping(process, epoch, return_address & ~1u);
		const struct post_image *image =
			exits ? session->modules[exits->module].image : NULL;
		site = image ? post_image_exit(image, return_address - exits->bias) : NULL;
		if (site)
			return POST_RETURN | number_site(session, exits->module, site->address);
	}
	if (mapping) {
		const struct post_image *image = session->modules[mapping->module].image;
		call.site_module = mapping->module;
		call.site_address = (tail ? guess - 4 : guess) - mapping->bias;
		if (image)
			site = post_image_site(image, return_address - mapping->bias, tail);
		if (image && !site && !tail && !callee) {
			site = post_image_site(image, return_address - mapping->bias, true);
			call.tail = tail = site != NULL;
		}
		if (site && site->address)
			call.site_address = site->address;
		call.returns = site && site->exit && site->exit_reason != LITIFUT_EXIT_COUNTER;
	} else {
		call.site_address = tail ? guess - 4 : guess;
	}
	call.interrupt = site && site->kind == LITIFUT_SITE_VECTOR;
	if (call.interrupt)
		call.caller = number_vector(session, call.site_module, site, &caller_named);
	else
		call.caller = function_at(session, call.site_module, call.site_address,
					  &call.caller_offset, &caller_named);

	uint32_t target = 0; /* link-time in callee_module, with bit 0 */
	if (callee) {
		mapping = find_mapping(process, epoch, callee & ~1u);
		call.callee_module = mapping ? mapping->module : 0;
		target = mapping ? callee - mapping->bias : callee;
	} else if (site && site->callee) {
		call.callee_module = call.site_module;
		target = site->callee;
	}
	call.plt = POST_PLT_NONE;
	if (target) {
		target = behind_veneers(session, call.callee_module, target, &call.veneer);
		call.callee_address = target & ~1u;
		call.callee = function_at(session, call.callee_module, call.callee_address,
					  &call.callee_offset, &callee_named);
		call.behind = call.callee;
		if (session->functions[call.callee].plt) {
			enum post_through_plt through;
			call.behind = behind_plt(session, process, call.callee, &through);
			call.plt = session->options.plt ? POST_PLT_ENTRY : through;
		}
		if (call.behind != call.callee && !session->options.plt) {
			call.callee = call.behind;
			call.callee_offset = 0;
		}
	} else {
		/* A direct call whose site list is missing: not even the address. */
		call.callee_module = 0;
		call.callee = number_function(session, 0, NULL, 0);
		session->functions[call.callee].name = "?";
		call.behind = call.callee;
	}
	call.unresolved = !caller_named || !callee_named;

	/* The same entry may lead elsewhere in another process. */
	uint32_t where =
		call.plt > POST_PLT_ENTRY ? UINT32_C(1) << 31 | call.behind : call.callee_module;
	struct post_key key = {
		{call.site_module, call.site_address, where << 1 | tail, call.callee_address}};
	uint32_t number = post_table_find(&session->call_index, key);
	if (number != POST_NONE)
		return number;
	call.site = number_site(session, call.site_module, call.site_address);
	call.own = is_hook(session->functions[call.callee].symbol);
	call.hidden = is_hidden(session, &call);
	if (!caller_named)
		session->modules[call.site_module].unnamed_events++;
	if (!callee_named)
		session->modules[call.callee_module].unnamed_events++;
	if (!target)
		session->modules[call.site_module].no_callee++;
	session->modules[call.site_module].returns_unknown |=
		process->returns && !session->modules[call.site_module].image;
	POST_GROW(session->calls, session->call_count, session->call_capacity);
	number = (uint32_t)session->call_count++;
	session->calls[number] = call;
	post_table_put(&session->call_index, key, number);
	return number;
}
