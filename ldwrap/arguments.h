/* The command line of a linker, cut into tokens: enough understanding to tell
 * options from inputs and to find the few options that matter to us. */
#ifndef LITIFUT_LDWRAP_ARGUMENTS_H
#define LITIFUT_LDWRAP_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

enum argument_kind {
	ARGUMENT_OTHER = 0,       /* an option that we pass on unread */
	ARGUMENT_INPUT,           /* a file */
	ARGUMENT_LIBRARY,         /* -lNAME: value is NAME */
	ARGUMENT_LIBRARY_PATH,    /* -L */
	ARGUMENT_OUTPUT,          /* -o */
	ARGUMENT_RELOCATABLE,     /* -r, -i, -Ur */
	ARGUMENT_SHARED,          /* -shared */
	ARGUMENT_STATIC,          /* -static, -Bstatic, -dn, -non_shared */
	ARGUMENT_DYNAMIC,         /* -Bdynamic, -dy, -call_shared */
	ARGUMENT_STRIP_ALL,       /* -s */
	ARGUMENT_STRIP_DEBUG,     /* -S */
	ARGUMENT_DISCARD_ALL,     /* -x */
	ARGUMENT_EMIT_RELOCS,     /* -q */
	ARGUMENT_MAP,             /* -Map FILE */
	ARGUMENT_PRINT_MAP,       /* -M */
	ARGUMENT_DEPENDENCY_FILE, /* --dependency-file FILE */
	ARGUMENT_REPRODUCE,       /* --reproduce FILE (lld) */
	ARGUMENT_SCRIPT,          /* -T FILE, -dT FILE */
	ARGUMENT_MRI_SCRIPT,      /* -c FILE */
	ARGUMENT_OUTPUT_FORMAT,   /* --oformat NAME */
	ARGUMENT_INPUT_FORMAT,    /* -b NAME, --format NAME */
	ARGUMENT_EMULATION,       /* -m NAME */
	ARGUMENT_ENDIAN,          /* -EB or -EL: value is "EB" or "EL" */
	ARGUMENT_PROBE,           /* --version, --help, --print-...: prints and exits */
	ARGUMENT_VERSION,         /* -v, -V: prints, and links if there are inputs */
	ARGUMENT_OMAGIC,          /* -N */
	ARGUMENT_TEXT_ADDRESS,    /* -Ttext ADDRESS */
	ARGUMENT_ENTRY,           /* -e SYMBOL */
	ARGUMENT_RETAIN_SYMBOLS,  /* --retain-symbols-file FILE */
	ARGUMENT_VERSION_SCRIPT,  /* --version-script FILE */
	ARGUMENT_SYSROOT,         /* --sysroot DIRECTORY */
	ARGUMENT_GC_SECTIONS,     /* --gc-sections */
	ARGUMENT_RELAX,           /* --relax */
	ARGUMENT_ORPHANS          /* --orphan-handling=MODE */
};

struct argument {
	enum argument_kind kind;
	const char *value; /* of the option, NULL when it has none; an input: its path */
	int first;         /* index of its first word in `words` */
	int count;         /* number of words: 1, or 2 with a separate value */
	bool foreign;      /* an input under -b/--format of something other than ELF */
};

struct arguments {
	char **words; /* the command line with @files replaced by what they hold; owned */
	int word_count;
	struct argument *items; /* without words[0]; owned */
	size_t count;
};

/* Reads a command line as the linkers of linkers.c would: options with one or two
 * dashes, values after `=`, joined or in the next word, @file expanded (a file
 * that can't be read stays as it is). `argv` is copied. */
void arguments_parse(int argc, char *const argv[], struct arguments *arguments);

void arguments_release(struct arguments *arguments);

/* The last item of that kind, NULL when there is none. */
const struct argument *arguments_last(const struct arguments *arguments, enum argument_kind kind);

/* True if there is at least one input or -l. */
bool arguments_has_inputs(const struct arguments *arguments);

/* Is no shared library wanted? -static-libstdc++ and the like take some libraries static, and
 * then switch back. */
bool arguments_are_static(const struct arguments *arguments);

/* The path that the linker will write: the last -o, else "a.out". */
const char *arguments_output(const struct arguments *arguments);

/* False for a build-id of the user's own, and for a random one. */
bool arguments_id_is_of_contents(const struct arguments *arguments);

#endif
