/* Does a firmware come to the call at which its results are sent? The start-up code calls exit()
 * behind main() in any case; where main() never returns, as in most firmware, that is never
 * executed. What is not certain may return. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "cpu/step.h"
#include "rewriter/firmware_cpu.h"
#include "rewriter/firmware_pass.h"

#define DEPTH_MAX 64 /* of calls that are followed */
#define HELPERS_MAX 16

enum answer { NOT_KNOWN = 0, UNDER_WAY, RETURNS, NEVER_RETURNS };

struct search {
	const struct litifut_firmware_pass *pass;
	const struct litifut_symbol *main;
	uint8_t *answers; /* by number of the symbol: enum answer */
	const struct litifut_symbol *helpers[HELPERS_MAX];
	size_t helper_count;
	unsigned depth;
	struct litifut_error *error;
	enum litifut_status status;
};

/* The code of one function, and what it jumps to. */
struct walk {
	struct litifut_targets seen;
	uint32_t *open; /* addresses that are still to be followed */
	size_t count;
	size_t capacity;
};

static bool may_return(struct search *search, const struct litifut_symbol *function);

static void follow(struct search *search, struct walk *walk, uint32_t address)
{
	if (walk->count == walk->capacity) {
		const size_t capacity = 2 * walk->capacity + 64;
		uint32_t *open = litifut_memory_resized(walk->open, capacity, sizeof(*open));

		if (!open) {
			search->status =
				litifut_error_memory(search->error, search->pass->image.path);
			return;
		}
		walk->open = open;
		walk->capacity = capacity;
	}
	walk->open[walk->count++] = address & ~1u;
}

static bool is_site(const struct search *search, uint32_t address)
{
	const struct litifut_site_list *sites = &search->pass->sites;

	for (size_t i = 0; i < sites->count; i++)
		if (sites->items[i].site.address == address)
			return true;
	return false;
}

static void find_helpers(struct search *search)
{
	const struct litifut_image *image = &search->pass->image;
	const char *const *names = search->pass->cpu->helpers;

	for (size_t i = 0; names && i < image->symbol_count; i++)
		for (size_t n = 0; names[n]; n++)
			if (!strncmp(image->symbols[i].name, names[n], strlen(names[n])) &&
			    search->helper_count < HELPERS_MAX)
				search->helpers[search->helper_count++] = &image->symbols[i];
}

static bool is_helper(const struct search *search, uint32_t address)
{
	for (size_t i = 0; i < search->helper_count; i++)
		if (address - search->helpers[i]->address < search->helpers[i]->size)
			return true;
	return false;
}

/* All code of a function, where a table says where control goes on. */
static void follow_all(struct search *search, struct walk *walk,
		       const struct litifut_symbol *function)
{
	const struct litifut_firmware_pass *pass = search->pass;
	const uint32_t start = function->address;
	const uint32_t end = litifut_image_function_end(&pass->image, function);
	const struct litifut_section *section =
		litifut_image_section_at(&pass->image, start, end - start);
	struct litifut_code_range *ranges = NULL;
	size_t count = 0;

	if (section)
		search->status = pass->arch.code_ranges(&pass->image, section, &ranges, &count,
							search->error);
	for (size_t i = 0; i < count && !search->status; i++) {
		uint32_t at = ranges[i].start > start ? ranges[i].start : start;

		/* only a nop that fills up leads on to data */
		if (ranges[i].state == LITIFUT_CODE_DATA && at < ranges[i].end && at < end)
			litifut_targets_add(&walk->seen, at);
		while (ranges[i].state != LITIFUT_CODE_DATA && at < ranges[i].end && at < end) {
			struct litifut_instruction instruction;
			unsigned length = pass->arch.cpu->decode(
				&pass->context.cpu, section->bytes + (at - section->address),
				ranges[i].end - at, at, ranges[i].state, &instruction);

			if (!length)
				break;
			follow(search, walk, at);
			at += length;
		}
	}
	free(ranges);
}

/* Follows the instructions from `address` on. True: the function may return there. */
static bool returns_from(struct search *search, struct walk *walk,
			 const struct litifut_symbol *function, uint32_t address)
{
	const struct litifut_firmware_pass *pass = search->pass;
	unsigned block = 0;

	while (!litifut_targets_has(&walk->seen, address)) {
		const struct litifut_section *section =
			litifut_image_section_at(&pass->image, address, 2);
		struct cpu_step step;
		unsigned length = 0;

		litifut_targets_add(&walk->seen, address);
		if (!section || !section->bytes || !litifut_targets_has(&walk->seen, address))
			return true;
		length = pass->arch.cpu->step(&pass->context.cpu,
					      section->bytes + (address - section->address),
					      section->address + section->size - address, address,
					      pass->cpu->state, &block, &step);
		if (!length || step.way == LITIFUT_ENDS_RETURN)
			return true;
		if (step.way == LITIFUT_ENDS_BRANCH)
			follow(search, walk, step.target);
		if (step.way == LITIFUT_ENDS_CALL && !step.conditional &&
		    is_helper(search, step.target & ~1u)) {
			follow_all(search, walk, function);
			return false;
		}
		if (step.way == LITIFUT_ENDS_CALL && !step.conditional &&
		    !may_return(search,
				litifut_image_function_start(&pass->image, step.target & ~1u)))
			return false;
		if (step.way == LITIFUT_ENDS_JUMP && !step.conditional) {
			if ((function != search->main && !is_helper(search, address)) ||
			    is_site(search, address))
				return true;
			follow_all(search, walk, function);
		}
		if (step.way == LITIFUT_ENDS_STOP ||
		    (!step.conditional &&
		     (step.way == LITIFUT_ENDS_BRANCH || step.way == LITIFUT_ENDS_JUMP)))
			return false;
		address += length;
		if (address >= litifut_image_function_end(&pass->image, function) &&
		    address - length < litifut_image_function_end(&pass->image, function))
			return true; /* into what follows it */
	}
	return false;
}

static bool may_return(struct search *search, const struct litifut_symbol *function)
{
	const struct litifut_image *image = &search->pass->image;
	uint8_t *answer;
	struct walk walk = {0};
	bool returns = false;

	if (!function || search->status || search->depth == DEPTH_MAX)
		return true;
	answer = &search->answers[function - image->symbols];
	if (*answer)
		return *answer != NEVER_RETURNS;
	*answer = UNDER_WAY;
	search->depth++;
	search->status = litifut_targets_create(image->text_start, image->text_end, &walk.seen,
						search->error);
	if (!search->status)
		follow(search, &walk, function->address);
	while (walk.count && !returns && !search->status)
		returns = returns_from(search, &walk, function, walk.open[--walk.count]);
	litifut_targets_release(&walk.seen);
	free(walk.open);
	search->depth--;
	*answer = returns ? RETURNS : NEVER_RETURNS;
	return returns;
}

/* The start-up code: what calls main(). */
static const struct litifut_symbol *starter(const struct litifut_firmware_pass *pass,
					    const struct litifut_symbol *main)
{
	for (size_t i = 0; i < pass->sites.count; i++)
		if ((pass->sites.items[i].site.callee & ~1u) == main->address)
			return litifut_image_function_at(&pass->image,
							 pass->sites.items[i].site.address);
	return NULL;
}

static bool leads(const uint8_t *leading, const struct litifut_image *image, uint32_t callee)
{
	const struct litifut_symbol *function =
		callee ? litifut_image_function_start(image, callee & ~1u) : NULL;

	return function && leading[function - image->symbols];
}

/* Marks what leads to the functions that are marked, by direct calls, but not from the start-up
 * code. A program that ends by abort() has failed: that is not where results are expected. */
static void mark_leading(const struct litifut_firmware_pass *pass, uint8_t *leading,
			 const struct litifut_symbol *start)
{
	const struct litifut_image *image = &pass->image;
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < pass->sites.count; i++) {
			const struct litifut_site *site = &pass->sites.items[i].site;
			const struct litifut_symbol *caller =
				litifut_image_function_at(image, site->address);

			if (!caller || caller == start || leading[caller - image->symbols] ||
			    !leads(leading, image, site->callee) || !strcmp(caller->name, "abort"))
				continue;
			leading[caller - image->symbols] = more = true;
		}
	}
}

/* Is the function entered from the start-up code and by others that lead to the sender alone?
 * Without any call it is entered by a pointer. */
static bool is_entered_otherwise(const struct litifut_firmware_pass *pass,
				 const struct litifut_symbol *function)
{
	bool is_called = false;

	for (size_t i = 0; i < pass->sites.count; i++) {
		const struct litifut_site *site = &pass->sites.items[i].site;

		if ((site->callee & ~1u) != function->address)
			continue;
		if (site->kind == LITIFUT_SITE_VECTOR)
			return true;
		is_called = true;
	}
	return !is_called;
}

/* Does code but the start-up code lead to the sender? */
static bool is_led_to(const struct litifut_firmware_pass *pass, uint8_t *leading,
		      const struct litifut_symbol *start, const struct litifut_symbol *main)
{
	const struct litifut_image *image = &pass->image;

	mark_leading(pass, leading, start);
	for (size_t i = 0; i < image->symbol_count; i++)
		if (leading[i] &&
		    (&image->symbols[i] == main || is_entered_otherwise(pass, &image->symbols[i])))
			return true;
	return false;
}

enum litifut_status litifut_firmware_finds_end(const struct litifut_firmware_pass *pass, bool *ends,
					       struct litifut_error *error)
{
	const struct litifut_image *image = &pass->image;
	const struct litifut_symbol *sender = litifut_image_function_start(image, pass->ends_at);
	struct search search = {
		.pass = pass, .main = litifut_image_symbol(image, "main"), .error = error};
	const struct litifut_symbol *start = search.main ? starter(pass, search.main) : NULL;
	uint8_t *leading;

	*ends = true;
	/* an exception leads on from a call that does not return */
	if (!sender || !start || litifut_image_symbol(image, "_Unwind_RaiseException"))
		return LITIFUT_OK;
	leading = calloc(image->symbol_count + 1, 1);
	search.answers = calloc(image->symbol_count + 1, 1);
	if (!leading || !search.answers) {
		search.status = litifut_error_memory(error, image->path);
	} else {
		find_helpers(&search);
		leading[sender - image->symbols] = 1;
		*ends = is_led_to(pass, leading, start, search.main) ||
			may_return(&search, search.main);
	}
	free(leading);
	free(search.answers);
	return search.status;
}
