/* What the kernel says about itself and the CPU: the auxiliary vector. */

#include "tracer/port/linux/auxiliary.h"

#include <linux/auxvec.h>
#include <stddef.h>

#include "tracer/port/linux/environment.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/state.h"

/* Where struct new_utsname has the machine: behind four names. */
#define LITIFUT_UNAME_MACHINE (4 * 65)

/* What the kernel says about itself and the CPU, as pairs that end with AT_NULL.
 * Several threads may come here at once, and all write the same. Only the
 * kernel's word makes a process one that others may give settings to. */
static void litifut_take_auxiliary_vector(const uint32_t *pair, const uint32_t *end)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t hwcap = 0;
	uint32_t page_bytes = 4096;
	uint32_t secure = 1;

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
}

long litifut_auxiliary_read(void)
{
	uint32_t buffer[128];
	const uint32_t *word = buffer;
	const uint32_t *end;
	long descriptor = litifut_open("/proc/self/auxv", O_RDONLY, 0);
	long got = descriptor;

	if (!litifut_failed(descriptor)) {
		got = LITIFUT_CALL3(read, descriptor, buffer, sizeof(buffer));
		litifut_close(descriptor);
	}
	if (litifut_failed(got)) {
		/* a set-uid program whose user is not root can't open that file */
		word = litifut_stack_environment((char *)buffer, sizeof(buffer));
		while (word && *word++)
			;
		end = word ? (const uint32_t *)UINT32_MAX : NULL;
	} else {
		end = word + got / 4;
	}
	litifut_take_auxiliary_vector(word, end);
	if (word)
		return 0;
	/* what is left to ask */
	if (!litifut_failed(LITIFUT_CALL1(uname, buffer)))
		litifut_recorder.features =
			litifut_port_guess((const char *)buffer + LITIFUT_UNAME_MACHINE);
	return got;
}
