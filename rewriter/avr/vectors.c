/* The vector table of an AVR: a jmp, on small devices an rjmp, for each interrupt, from
 * address 0 on. The first is that of the reset. */
#include <litifut/module_format.h>
#include <string.h>

#include "rewriter/avr/avr.h"

#define MOST 128

/* Where they lead; returns how many there are. */
static uint32_t read_table(const struct litifut_image *image, uint32_t *bytes, uint32_t *handlers,
			   uint32_t *words)
{
	const struct litifut_section *section = litifut_image_section_at(image, 0, 4);
	struct litifut_avr_facts facts = {0};
	const struct cpu_context context = {.facts = &facts};
	uint32_t count = 0;

	if (!section || section->address || !litifut_avr_family(image->file.flags, &facts, NULL))
		return 0;
	*bytes = facts.small ? 2 : 4;
	for (; count < MOST && (count + 1) * *bytes <= section->size; count++) {
		struct litifut_instruction jump;
		uint32_t address = count * *bytes;

		if (count && litifut_image_function_at(image, address))
			break;
		litifut_avr_decode(&context, section->bytes + address, section->size - address,
				   address, LITIFUT_CODE_PLAIN, &jump);
		if (jump.class != LITIFUT_CLASS_BRANCH_DIRECT || jump.conditional ||
		    jump.length != *bytes)
			break;
		handlers[count] = jump.target;
		words[count] = jump.word;
	}
	return count;
}

static bool is_shared(const uint32_t *handlers, uint32_t count, uint32_t number)
{
	for (uint32_t i = 0; i < count; i++)
		if (i != number && handlers[i] == handlers[number])
			return true;
	return false;
}

/* avr-libc's __bad_interrupt jumps to the entry of the reset, at address 0. That is then taken for
 * a part of the function before that label, and its jump for a tail call. It is executed before
 * .bss is cleared. */
static void drop_reset(struct litifut_site_list *sites)
{
	size_t kept = 0;

	for (size_t i = 0; i < sites->count; i++)
		if (sites->items[i].site.address)
			sites->items[kept++] = sites->items[i];
	sites->count = kept;
}

enum litifut_status litifut_avr_vectors_add(const struct litifut_image *image,
					    struct litifut_site_list *sites,
					    struct litifut_error *error)
{
	uint32_t handlers[MOST];
	uint32_t words[MOST];
	uint32_t bytes = 0;
	uint32_t count = read_table(image, &bytes, handlers, words);
	struct litifut_found_site vectors[MOST];
	size_t added = 0;

	if (count)
		drop_reset(sites);
	for (uint32_t i = 1; i < count; i++) {
		if (!handlers[i] || is_shared(handlers, count, i))
			continue;
		vectors[added++] = (struct litifut_found_site){
			.site = {.address = i * bytes,
				 .return_address = i * bytes,
				 .instruction = i,
				 .callee = handlers[i],
				 .kind = LITIFUT_SITE_VECTOR,
				 .length = (uint8_t)bytes},
			.instruction = {.class = LITIFUT_CLASS_BRANCH_DIRECT,
					.word = words[i],
					.target = handlers[i],
					.length = (uint8_t)bytes},
			.section =
				(uint16_t)(litifut_image_section_at(image, 0, 4) - image->sections),
		};
	}
	return litifut_sites_add(sites, image->path, vectors, added, error);
}

/* The start-up code, which begins at the first of them, calls main(). */
void litifut_avr_vectors_targets(const struct litifut_image *image, struct litifut_targets *targets)
{
	const struct litifut_symbol *main_symbol = litifut_image_symbol(image, "main");
	uint32_t handlers[MOST];
	uint32_t words[MOST];
	uint32_t bytes = 0;
	const uint32_t count = read_table(image, &bytes, handlers, words);

	for (uint32_t i = 0; i < count; i++)
		litifut_targets_add(targets, handlers[i]);
	if (main_symbol)
		litifut_targets_add(targets, main_symbol->address);
}

#define START_UP_MOST 4096u /* bytes */

bool litifut_avr_start_up(const struct litifut_image *image, uint32_t *start, uint32_t *end)
{
	const struct litifut_symbol *main_symbol = litifut_image_symbol(image, "main");
	uint32_t handlers[MOST];
	uint32_t words[MOST];
	uint32_t bytes = 0;
	const struct litifut_section *section;
	struct litifut_avr_facts facts = {0};
	const struct cpu_context context = {.facts = &facts};

	if (!read_table(image, &bytes, handlers, words))
		return false;
	*start = *end = handlers[0];
	section = litifut_image_section_at(image, *start, 2);
	litifut_avr_family(image->file.flags, &facts, NULL);
	for (uint32_t at = *start; section && main_symbol && at - *start < START_UP_MOST;) {
		struct litifut_instruction instruction;
		const uint32_t left = section->address + section->size - at;
		const unsigned length =
			at < section->address + section->size
				? litifut_avr_decode(&context,
						     section->bytes + (at - section->address), left,
						     at, LITIFUT_CODE_PLAIN, &instruction)
				: 0;

		if (!length)
			break;
		at += length;
		if (litifut_has_target(&instruction) &&
		    instruction.target == main_symbol->address) {
			*end = at;
			break;
		}
	}
	return true;
}

/* What avr-libc's start-up file lets the vectors lead to that have no handler. */
#define NO_HANDLER "__bad_interrupt"

bool litifut_avr_free_vector(const struct litifut_image *image, uint32_t number, uint32_t *entry)
{
	const struct litifut_symbol *none = litifut_image_symbol(image, NO_HANDLER);
	uint32_t handlers[MOST];
	uint32_t words[MOST];
	uint32_t bytes = 0;
	uint32_t count = read_table(image, &bytes, handlers, words);

	*entry = number * bytes;
	/* a handler of the program may serve several interrupts */
	return number && number < count && is_shared(handlers, count, number) &&
	       (!none || handlers[number] == none->address);
}

enum litifut_status litifut_avr_clock_vector(const struct litifut_image *image, uint32_t *entry,
					     struct litifut_error *error)
{
	const char *device = litifut_avr_device(image);
	uint32_t first, overflow;

	if (!*device)
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, image->path, NULL, LITIFUT_NO_ADDRESS,
			"LITIFUT_CLOCK: the program does not say for which device it "
			"is (-mmcu=), so its timer is not known: use "
			"LITIFUT_MODE=counts or stream");
	if (!litifut_avr_timer1(device, &first, &overflow))
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, image->path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "LITIFUT_CLOCK: the device, %s, has no timer 1 with the "
					 "registers of an ATmega48, which the clock is: use "
					 "LITIFUT_MODE=counts or stream",
					 device);
	if (!litifut_avr_free_vector(image, overflow, entry))
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, image->path, NULL, LITIFUT_NO_ADDRESS,
			"LITIFUT_CLOCK: the clock is timer 1, but the program has a "
			"handler for its overflow, interrupt %u, or start-up code that "
			"is not avr-libc's: use LITIFUT_MODE=counts or stream",
			(unsigned)overflow);
	return LITIFUT_OK;
}

uint32_t litifut_avr_clock_user(const struct litifut_image *image)
{
	const struct litifut_symbol *none = litifut_image_symbol(image, NO_HANDLER);
	uint32_t handlers[MOST];
	uint32_t words[MOST];
	uint32_t bytes = 0;
	const uint32_t count = read_table(image, &bytes, handlers, words);
	uint32_t first, overflow;

	if (!none || !litifut_avr_timer1(litifut_avr_device(image), &first, &overflow))
		return 0;
	for (uint32_t i = first; i < overflow && i < count; i++)
		if (handlers[i] != none->address)
			return i;
	return 0;
}
