/* What of a firmware can't be recorded because of when it runs, or for whom. */
#include <stdlib.h>
#include <string.h>

#include "rewriter/before_ram.h"
#include "rewriter/dynamic_symbols.h"
#include "rewriter/exclusive_calls.h"
#include "rewriter/firmware.h"
#include "rewriter/firmware_cpu.h"
#include "rewriter/firmware_pass.h"
#include "rewriter/reachable.h"

static void give_reason(uint8_t *functions, const uint8_t *marked, size_t count, unsigned reason)
{
	for (size_t i = 0; i < count; i++)
		if (marked[i])
			functions[i] = (uint8_t)reason;
}

/* Zephyr's entry of a thread that is confined. */
#define CONFINED_THREAD "z_arm_userspace_enter"

/* FreeRTOS' tasks that may use their own memory only. Its wrappers for the MPU contain a call that
 * no program may make. */
static bool confines_task(const struct litifut_image *image, const struct litifut_site *site)
{
	static const char name[] = "xTaskCreateRestricted";
	static const char wrapper[] = "MPU_";
	const struct litifut_symbol *callee = NULL;
	const struct litifut_symbol *caller;
	const char *called;

	if (site->callee)
		callee = litifut_image_function_start(image, site->callee & ~1u);
	if (!callee)
		return false;
	called = callee->name;
	if (!strncmp(called, wrapper, sizeof(wrapper) - 1))
		called += sizeof(wrapper) - 1;
	if (strncmp(called, name, sizeof(name) - 1))
		return false;
	caller = litifut_image_function_at(image, site->address);
	return !caller || strncmp(caller->name, wrapper, sizeof(wrapper) - 1);
}

/* The memory protection unit keeps such tasks from the tracer's memory: the first stub would be
 * their end. */
static enum litifut_status check_confined(const struct litifut_firmware_pass *pass,
					  struct litifut_error *error)
{
	bool confined = litifut_image_symbol(&pass->image, CONFINED_THREAD) != NULL;

	for (size_t i = 0; i < pass->sites.count && !confined; i++)
		confined = confines_task(&pass->image, &pass->sites.items[i].site);
	if (!confined || pass->options->includes || pass->options->excludes)
		return LITIFUT_OK;
	return litifut_error_set(
		error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL, LITIFUT_NO_ADDRESS,
		"the program has tasks that may not use the tracer's memory (MPU): leave the code "
		"that they run by LITIFUT_EXCLUDE or LITIFUT_EXCLUDE_OBJECTS");
}

const char *litifut_firmware_second_core(const struct litifut_firmware_pass *pass)
{
	/* of the RP2040 and RP2350, also where FreeRTOS or Zephyr run on both */
	static const char *const starters[] = {"multicore_launch_core1",
					       "multicore_launch_core1_raw",
					       "multicore_launch_core1_with_stack"};

	for (size_t i = 0; i < sizeof(starters) / sizeof(*starters); i++)
		if (litifut_image_symbol(&pass->image, starters[i]) && !pass->options->includes &&
		    !pass->options->excludes)
			return "the program starts a second core, and both would write to the same "
			       "records: leave the code that one of them runs by LITIFUT_EXCLUDE "
			       "or LITIFUT_EXCLUDE_OBJECTS";
	return NULL;
}

#define RTX_CONFIGURATION "osRtxConfig" /* its first word has flags, */
#define RTX_PRIVILEGED 1                /* this one set where threads run privileged */

const char *litifut_firmware_unprivileged(const struct litifut_firmware_pass *pass)
{
	const struct litifut_image *image = &pass->image;
	const struct litifut_symbol *flags = litifut_image_symbol(image, RTX_CONFIGURATION);
	const struct litifut_section *section =
		flags ? litifut_image_section_at(image, flags->address, 4) : NULL;

	if (!section || !section->bytes || pass->options->includes || pass->options->excludes ||
	    litifut_image_word(image, section, flags->address - section->address) & RTX_PRIVILEGED)
		return NULL;
	return "the threads of RTX run unprivileged, and may neither read the clock nor switch "
	       "interrupts off: run them privileged (OS_PRIVILEGE_MODE), or leave their code by "
	       "LITIFUT_EXCLUDE or LITIFUT_EXCLUDE_OBJECTS";
}

enum litifut_status litifut_firmware_leave_functions(struct litifut_firmware_pass *pass,
						     struct litifut_error *error)
{
	static const char *const senders[] = {"litifut_putc", "litifut_packet"};
	const size_t count = pass->image.symbol_count;
	uint8_t *before = calloc(count + 1, 1);
	uint8_t *port = calloc(count + 1, 1);
	uint8_t *exclusive = calloc(count + 1, 1);
	enum litifut_status status = LITIFUT_OK;

	pass->unrecorded = calloc(count + 1, 1);
	if (!pass->unrecorded || !before || !port || !exclusive)
		status = litifut_error_memory(error, pass->image.path);
	if (!status)
		status = check_confined(pass, error);
	if (!status && pass->cpu->calls_before_ram)
		status = litifut_before_ram_mark(&pass->image, pass->cpu, &pass->context,
						 &pass->sites, pass->main_at, before,
						 &pass->ram_is_known, error);
	for (size_t i = 0; i < sizeof(senders) / sizeof(senders[0]) && !status; i++)
		status = litifut_reachable_mark(&pass->image, &pass->arch, &pass->context,
						senders[i], &pass->sites, port, error);
	if (!status)
		status = litifut_exclusive_mark(
			&pass->image, &pass->arch, &pass->context, &pass->sites,
			pass->options->spans || pass->options->times, exclusive, error);
	if (!status) {
		give_reason(pass->unrecorded, exclusive, count, LITIFUT_SITE_EXCLUSIVE);
		give_reason(pass->unrecorded, port, count, LITIFUT_SITE_PORT);
		give_reason(pass->unrecorded, before, count, LITIFUT_SITE_BEFORE_RAM);
	}
	free(before);
	free(port);
	free(exclusive);
	return status;
}
