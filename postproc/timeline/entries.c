#include "postproc/timeline/entries.h"

#include <stddef.h>
#include <string.h>

/* Names are without underscores in front, as one address has several. */

static const char *const calling_main[] = {"libc_init", "libc_start_main", "uClibc_main"};

static const char *const loading[] = {"dlmopen", "dlopen"};

static const char *const calling_back[] = {
	"Unwind_Backtrace",
	"Unwind_ForcedUnwind",
	"Unwind_RaiseException",
	"bsearch",
	"call_once",
	"cxa_finalize",
	"dl_iterate_phdr",
	"dlclose",
	"exit",
	"ftw",
	"ftw64",
	"glob",
	"glob64",
	"lfind",
	"lsearch",
	"nftw",
	"nftw64",
	"pthread_exit",
	"pthread_once",
	"qsort",
	"qsort_r",
	"quick_exit",
	"raise",
	"scandir",
	"scandir64",
	"scandirat",
	"tdelete",
	"tdestroy",
	"tfind",
	"thrd_exit",
	"tsearch",
	"twalk",
	"twalk_r",
};

#define COUNT(names) (sizeof(names) / sizeof(*(names)))

static bool begins_with(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

bool post_is_main(const char *name)
{
	return !strcmp(name, "main");
}

bool post_is_initialiser(const char *name)
{
	return begins_with(name, "_GLOBAL__sub_I_") || begins_with(name, "_GLOBAL__I_") ||
	       !strcmp(name, "frame_dummy") || !strcmp(name, "_init");
}

static bool is_among(const char *const *names, size_t count, const char *name)
{
	name += strspn(name, "_");

	const size_t length = strcspn(name, "@"); /* of a PLT entry, or with a version */

	for (size_t i = 0; i < count; i++) {
		if (!strncmp(name, names[i], length) && !names[i][length])
			return true;
	}
	return false;
}

bool post_calls_back(const char *name, const char *entered)
{
	if (is_among(calling_main, COUNT(calling_main), name))
		return true;
	if (post_is_main(entered))
		return false;
	if (is_among(loading, COUNT(loading), name))
		return true;
	return !post_is_initialiser(entered) && is_among(calling_back, COUNT(calling_back), name);
}
