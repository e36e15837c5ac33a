/* Which variable of a firmware says which task runs, and where that has its name. */
#include <elf.h>
#include <litifut/frames_format.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/named_pointer.h"
#include "rewriter/firmware.h"
#include "rewriter/firmware_cpu.h"
#include "rewriter/firmware_pass.h"

#define PATH_MOST 4

/* The variables of kernels: each is a pointer to what the kernel keeps of the task that runs, or a
 * structure that has this pointer. */
static const struct kernel {
	const char *variable;
	const char *path[PATH_MOST];
} kernels[] = {
	{"pxCurrentTCB", {NULL}},                       /* FreeRTOS */
	{"_tx_thread_current_ptr", {NULL}},             /* ThreadX */
	{"_kernel", {"cpus", "current", NULL}},         /* Zephyr, on one CPU */
	{"OSTCBCurPtr", {NULL}},                        /* uC/OS-III */
	{"OSTCBCur", {NULL}},                           /* uC/OS-II */
	{"k_curr_task", {NULL}},                        /* TencentOS-tiny */
	{"osRtxInfo", {"thread", "run", "curr", NULL}}, /* RTX */
};

static uint32_t name_of(const struct dwarf_named_pointer *pointer)
{
	return !pointer->has_name     ? LITIFUT_TASK_NAMELESS
	       : pointer->name_points ? pointer->name | LITIFUT_TASK_NAME_POINTER
				      : pointer->name;
}

static const struct litifut_symbol *find_variable(const struct litifut_firmware_pass *pass,
						  const char *name)
{
	const struct litifut_symbol *symbol = litifut_image_symbol(&pass->image, name);

	return symbol && symbol->type != STT_FUNC && symbol->section ? symbol : NULL;
}

/* A word that an offset names may be any. */
static enum litifut_status find_asked(const struct litifut_firmware_pass *pass, uint32_t *address,
				      uint32_t *name, struct litifut_error *error)
{
	const char *asked = pass->options->task;
	const size_t length = strcspn(asked, "+");
	const char *digits = asked[length] ? asked + length + 1 : "0";
	char variable[256], *end;
	const unsigned long offset = strtoul(digits, &end, 0);
	static const char *const no_path[] = {NULL};
	struct dwarf_named_pointer pointer;
	const struct litifut_symbol *symbol;

	if (*end || !*digits || offset > INT16_MAX || offset % 4 || length >= sizeof(variable))
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL,
			LITIFUT_NO_ADDRESS,
			"LITIFUT_TASK: not a variable, with +OFFSET (a multiple of "
			"4) or without: %s",
			asked);
	memcpy(variable, asked, length);
	variable[length] = '\0';
	symbol = find_variable(pass, variable);
	if (!symbol)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL,
					 LITIFUT_NO_ADDRESS, "LITIFUT_TASK: no such variable: %s",
					 variable);
	if (symbol->address % 4 || (symbol->size && symbol->size < offset + 4))
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "LITIFUT_TASK: not a word of 4 bytes: %s", asked);
	*address = symbol->address + (uint32_t)offset;
	if (!offset && dwarf_named_pointer_find(pass->image.file.elf, variable, no_path, &pointer))
		*name = name_of(&pointer);
	return LITIFUT_OK;
}

enum litifut_status litifut_firmware_find_task(const struct litifut_firmware_pass *pass,
					       uint32_t *address, uint32_t *name,
					       struct litifut_error *error)
{
	*address = 0;
	*name = LITIFUT_TASK_NAMELESS;
	if (!pass->cpu->tasks || !pass->options->times || pass->options->spans)
		return LITIFUT_OK;
	if (pass->options->task)
		return strcmp(pass->options->task, "none") ? find_asked(pass, address, name, error)
							   : LITIFUT_OK;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		const struct litifut_symbol *symbol = find_variable(pass, kernels[i].variable);
		struct dwarf_named_pointer pointer = {0};
		const bool known = symbol && dwarf_named_pointer_find(pass->image.file.elf,
								      kernels[i].variable,
								      kernels[i].path, &pointer);

		/* without debug information it is not known where in a structure */
		if (!symbol || (!known && (*kernels[i].path || symbol->size != 4)) ||
		    (symbol->address + pointer.offset) % 4)
			continue;
		*address = symbol->address + pointer.offset;
		*name = name_of(&pointer);
		return LITIFUT_OK;
	}
	return LITIFUT_OK;
}

enum litifut_status litifut_firmware_set_task(struct litifut_firmware_pass *pass,
					      const char *symbol, struct litifut_error *error)
{
	uint32_t address, name;
	enum litifut_status status = litifut_firmware_find_task(pass, &address, &name, error);

	return status ? status
	       : litifut_firmware_set_word(pass, symbol, address)
		       ? LITIFUT_OK
		       : litifut_firmware_missing(pass, symbol, error);
}
