/* What the kernel says about itself and the CPU: the auxiliary vector. */

#include "tracer/port/linux/auxiliary.h"

#include <linux/auxvec.h>
#include <linux/elf.h>
#include <stddef.h>

#include "tracer/port/linux/environment.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/state.h"

/* Where struct new_utsname has the machine: behind four names. */
#define LITIFUT_UNAME_MACHINE (4 * 65)

/* What the kernel says about itself and the CPU, as pairs that end with AT_NULL.
 * Several threads may come here at once, and all write the same. Only the
 * kernel's word makes a process one that others may give settings to: false without it, which
 * each kernel has. */
static bool litifut_take_auxiliary_vector(const uint32_t *pair, const uint32_t *end)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t hwcap = 0;
	uint32_t page_bytes = 4096;
	uint32_t secure = 2;

	for (; pair + 1 < end && pair[0] != AT_NULL; pair += 2) {
		if (pair[0] == AT_HWCAP)
			hwcap = pair[1];
		else if (pair[0] == AT_PAGESZ && pair[1])
			page_bytes = pair[1];
		else if (pair[0] == AT_PHDR)
			r->program_headers = pair[1];
		else if (pair[0] == AT_PHNUM)
			r->program_header_count = pair[1];
		else if (pair[0] == AT_SYSINFO_EHDR)
			r->vdso = pair[1];
		else if (pair[0] == AT_SECURE)
			secure = pair[1];
	}
	r->page_bytes = page_bytes;
	r->secure = secure;
	r->features = litifut_port_detect(hwcap);
	return secure != 2;
}

/* Are the program headers those of the dynamic linker, which was run by hand? Those of a static
 * PIE look like that, too. */
static bool litifut_is_linker(void)
{
	const Elf32_Phdr *segment = (const Elf32_Phdr *)litifut_recorder.program_headers;
	bool dynamic = !segment;

	for (uint32_t i = 0; segment && i < litifut_recorder.program_header_count; i++) {
		if (segment[i].p_type == PT_PHDR)
			return false;
		dynamic |= segment[i].p_type == PT_DYNAMIC;
	}
	return dynamic;
}

long litifut_auxiliary_read(void)
{
	uint32_t buffer[128];
	const uint32_t *word;
	long descriptor = litifut_open("/proc/self/auxv", O_RDONLY, 0);
	long got = descriptor;
	uint32_t secure;
	bool known;

	if (!litifut_failed(descriptor)) {
		got = LITIFUT_CALL3(read, descriptor, buffer, sizeof(buffer));
		litifut_close(descriptor);
	}
	known = litifut_take_auxiliary_vector(buffer,
					      litifut_failed(got) ? buffer : buffer + got / 4);
	if (known && !litifut_is_linker())
		return 0;
	secure = known && litifut_recorder.secure;
	/* A set-uid program whose user is not root can't open that file. That of a program which is
	 * given to the dynamic linker by hand says where the linker is; the linker corrects what
	 * stands on the stack, and moves it, and qemu-user reads the file where it was before. */
	word = litifut_stack_environment((char *)buffer, sizeof(buffer));
	while (word && *word++)
		;
	if (word) {
		litifut_take_auxiliary_vector(word, (const uint32_t *)UINT32_MAX);
		litifut_recorder.secure |= secure;
		return 0;
	}
	if (known)
		return 0;
	/* what is left to ask */
	if (!litifut_failed(LITIFUT_CALL1(uname, buffer)))
		litifut_recorder.features =
			litifut_port_guess((const char *)buffer + LITIFUT_UNAME_MACHINE);
	return got;
}
