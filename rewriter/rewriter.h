/* The rewriter as a library: an ELF image in, the same image with its calls
 * going through the tracer out. Used by litifut-rewrite and by the linker
 * wrapper, which runs it twice:
 *
 *   1. link with the tracer object (and the objects of an empty plan);
 *      litifut_rewrite_plan() reads that image and says how much room the
 *      instruction DB, the site list and the islands need;
 *   2. litifut_rewrite_write_objects() makes relocatable objects that reserve
 *      this room; link again with them; litifut_rewrite_apply() patches the
 *      call sites in place, fills the room and verifies what it wrote.
 *
 * apply() never changes the place of anything in the file; the list of call
 * sites, which is not loaded, comes to its end.
 */
#ifndef LITIFUT_REWRITER_H
#define LITIFUT_REWRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "rewriter/argument_spec.h"

/* A range of link-time addresses [start, end). */
struct litifut_range {
	uint32_t start;
	uint32_t end;
};

struct litifut_rewrite_options {
	/* Code that must not be rewritten, in any order (found by the wrapper in
	 * the map file of this very image). Not owned. */
	const struct litifut_range *excluded;
	size_t excluded_count;
	/* Globs (fnmatch) of the names of functions whose call sites are left
	 * alone / are the only ones rewritten. NULL-terminated, may be NULL. */
	const char *const *exclude_functions;
	const char *const *include_functions;
	/* LITIFUT_UNITS, of the mode UNITS: the functions whose starts and ends are recorded. The
	 * same. */
	const char *const *units;
	/* Direct calls to such functions of the same file are left. */
	const char *const *exclude_callees;
	/* Addresses of functions: direct calls to these are sites in any case, as the tracer acts
	 * at them. */
	const uint32_t *needed_callees;
	size_t needed_count;
	/* Those of exclude_functions that the user has asked for; NULL: none. */
	const char *const *asked_excludes;
	bool tail_calls;   /* LITIFUT_TAIL */
	bool exact;        /* LITIFUT_EXACT */
	bool all_in_reach; /* a call out of reach of all stubs is LITIFUT_ERROR_SPACE */
	unsigned engine;   /* enum litifut_engine */
	unsigned mode;     /* enum litifut_mode */
	unsigned clock;    /* enum litifut_clock: what thunks read, NONE, CYCLE or PAGE */
	const char *name;  /* recorded as the module's name; NULL: base name of the path */
	/* The list of call sites goes into a file of its own, of this path, and not to
	 * the end of the image; NULL: it does. */
	const char *sites_file;
	const char *defaults; /* LITIFUT_DEFAULTS, "KEY=VALUE KEY=VALUE"; NULL: none */
	/* Libraries, as DT_NEEDED has them, that are known to need glibc themselves.
	 * NULL-terminated, may be NULL. */
	const char *const *glibc_users;
	bool links_glibc; /* the link of a library had glibc on its command line */
	/* The inputs are for newer CPUs (struct cpu_objects): counts where the image, which should
	 * have a section that says so, has none. */
	bool is_newer;
	/* LITIFUT_ARGS, of the modes CALLS and SPANS; may be NULL. And how many bytes of a string
	 * are kept, LITIFUT_ARGUMENT_BYTES_MAX at the most. */
	const struct litifut_argument_specs *arguments;
	unsigned string_bytes;
	unsigned mark_every; /* LITIFUT_MARK_EVERY, of the mode SPANS: milliseconds; 0: no marks */
	/* The user has chosen the build-id, which stays; else what is recorded is mixed into it. */
	bool keeps_build_id;
	/* Called with the name of each pass of litifut_rewrite_apply() before it runs; may be
	 * NULL. The name is static. */
	void (*pass_begins)(const void *listener, const char *name);
	const void *listener;
};

/* What the next link of an image needs: what the one that was read takes, and a margin. */
struct litifut_rewrite_plan {
	unsigned machine;       /* e_machine */
	unsigned elf_flags;     /* e_flags */
	unsigned char elf_data; /* ELFDATA2LSB or ELFDATA2MSB */
	unsigned char elf_osabi;
	bool thunks;  /* calls use thunks where they can */
	size_t sites; /* all call sites found, patched or not */
	size_t db_entries;
	size_t trampoline_bytes; /* of code, made by write_database_object() as well */
	uint32_t text_bytes;     /* bytes of code decoded */
	size_t flags_bytes;      /* of edges; a multiple of LITIFUT_FLAGS_PIECE, 0: none */
	bool blocks;             /* there is a list of blocks */
	size_t unwind_entries;   /* see struct litifut_unwind_table */
	bool refuses_frames;     /* the linker takes no absolute addresses in .eh_frame */
	size_t island_bytes;     /* size of one island, 0: none needed */
	/* Address in this image before which an island is wanted, ascending; the
	 * wrapper puts each between the nearest input sections it can. Owned. */
	uint32_t *island_places;
	/* The size of each island, by its number, where they differ; else NULL. Owned. */
	size_t *island_sizes;
	size_t island_count;
};

#define LITIFUT_NEAREST_BYTES 64

/* Names that the user asks for. */
struct litifut_asked_names {
	bool unused;                         /* no function has one of them */
	char nearest[LITIFUT_NEAREST_BYTES]; /* then a function whose name is much like one of them,
						or "" */
};

/* What became of what the user asks for. Texts are owned by the options. */
struct litifut_asked {
	/* Of asked_excludes, include_functions and units. */
	struct litifut_asked_names excludes;
	struct litifut_asked_names includes;
	struct litifut_asked_names units;
	/* The globs of `arguments` of which no call is found. */
	const char *arguments_unused[LITIFUT_SPECS_JUDGED];
	/* Of each of these a function whose name is much like it, or "". */
	char arguments_nearest[LITIFUT_SPECS_JUDGED][LITIFUT_NEAREST_BYTES];
	size_t arguments_unused_count;
	/* The first one that asks for all arguments, and names only functions whose parameters are
	 * not known; NULL: there is none. */
	const char *argument_unknown;
	/* The first one that names a function of which more than LITIFUT_ARGUMENT_FIELDS values
	 * are asked for; NULL: there is none. */
	const char *argument_crowded;
	/* Calls of which nothing is recorded, as those before them have all the different lists of
	 * values that a module may have. */
	size_t argument_left;
	/* Calls that have a trigger on the time that they take, and those of them whose return is
	 * not recorded. */
	size_t timed;
	size_t untimed;
	/* Calls whose returned value is asked for, and those of them whose return is not recorded;
	 * 0 where only `*' asks for it. */
	size_t results;
	size_t results_left;
};

struct litifut_rewrite_summary {
	size_t sites;
	size_t patched;
	size_t left[32]; /* by enum litifut_site_reason */
	/* Calls that were patched, where their returns are recorded as well, and of those how
	 * many by enum litifut_exit_reason. */
	size_t returns;
	size_t returns_by[32];
	size_t db_bytes;
	/* Of the room for thunks and trampolines, and of the DB's: there and used. Only
	 * after litifut_rewrite_apply(). */
	size_t room_bytes;
	size_t room_used;
	size_t db_used;
	struct litifut_asked asked; /* only after litifut_rewrite_apply() */
	/* Why the db engine was taken though thunks were asked for (in an info: would have been);
	 * static; NULL: it was not. */
	const char *thunks_refused;
	const char *returns_refused; /* why thunks record no returns; static; NULL: they do */
	size_t tracer_bytes; /* what is loaded of the tracer besides the DB; only in an info,
 and 0 for a file without symbols */
};

/* Reads the image at `path` (which must contain the tracer object and a symbol
 * table) and fills `plan`. Nothing is written. */
enum litifut_status litifut_rewrite_plan(const char *path,
					 const struct litifut_rewrite_options *options,
					 struct litifut_rewrite_plan *plan,
					 struct litifut_error *error);

void litifut_rewrite_plan_release(struct litifut_rewrite_plan *plan);

/* Writes the relocatable object that reserves .litifut.db and the trampolines
 * for `plan` (all counts 0: the empty DB of pass 1) to `path`.
 * The trampolines are code and should stand beside the tracer object. Symbols:
 * litifut_db, litifut_sites, litifut_trampolines (keep them with -u when the
 * link collects garbage). */
enum litifut_status litifut_rewrite_write_database_object(const struct litifut_rewrite_plan *plan,
							  const char *path,
							  struct litifut_error *error);

/* Writes the relocatable object of island number `index` to `path`: a .text
 * section of plan->island_bytes, or its own size, with the hidden symbol litifut_island_INDEX. */
enum litifut_status litifut_rewrite_write_island_object(const struct litifut_rewrite_plan *plan,
							size_t index, const char *path,
							struct litifut_error *error);

/* Copies the tracer object `from` to `to`, with the e_flags and ABI marks that
 * let it link with objects of `plan`'s kind (MIPS: nan2008, FP ABI, ISA level). */
enum litifut_status litifut_rewrite_adapt_tracer(const struct litifut_rewrite_plan *plan,
						 const char *from, const char *to,
						 struct litifut_error *error);

/* Patches the image at `path` in place, verifies it, fills `summary`.
 * LITIFUT_ERROR_SPACE: the room reserved in this image is too small; call
 * litifut_rewrite_plan() on it and link again. On any error the file is left
 * as it was, but for a failing write: callers work on a copy. */
enum litifut_status litifut_rewrite_apply(const char *path,
					  const struct litifut_rewrite_options *options,
					  struct litifut_rewrite_summary *summary,
					  struct litifut_error *error);

/* What `litifut info` shows of a file, rewritten or not. */
struct litifut_module_info {
	bool rewritten;
	unsigned machine;
	unsigned char elf_data;
	unsigned version;
	unsigned engine;
	unsigned mode;  /* enum litifut_mode */
	unsigned clock; /* enum litifut_clock that thunks read */
	unsigned flags; /* enum litifut_module_flags */
	char name[64];
	char build_id[41]; /* hex, "" without */
	char identity[17]; /* of a firmware, as its results have it; "" without */
	/* Of a firmware: events of its ring, entries for open calls, and what is usual of both (KB
	 * of a ring), but had no room; 0: none, or that had room. */
	uint32_t ring_events, ring_unfit;
	uint32_t depth, depth_unfit;
	struct litifut_rewrite_summary summary;
	struct litifut_site *sites; /* every site, host byte order, sorted by address; owned */
	size_t site_count;
	/* By site: the name of the function that it stands in, or of the one that it is; NULL
	 * where the file has no name for it (any more). Owned. */
	const char **functions;
	struct litifut_image *image; /* owned: the names are in it */
};

/* Reads what a rewritten file says of itself. A good ELF file that is not
 * rewritten is not an error: `rewritten` is false then. */
enum litifut_status litifut_module_info_read(const char *path, struct litifut_module_info *info,
					     struct litifut_error *error);

void litifut_module_info_release(struct litifut_module_info *info);

#endif
