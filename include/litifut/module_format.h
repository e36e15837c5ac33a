/* What the rewriter leaves in an image for the tracer on the device and for
 * the tools on the host. docs/module-format.md says the same in prose.
 *
 * A rewritten module has three sections of the tracer, all in the byte order of the
 * module:
 *
 *   .litifut.module   loaded, writable: one struct litifut_module. The tracer
 *                     object brings it, the rewriter fills it.
 *   .litifut.db       loaded, read-only: struct litifut_db_header, then the
 *                     instruction DB: `count` entries sorted by return_address.
 *   .litifut.sites    in the file only: struct litifut_sites_header, then one
 *                     record for every call site that was found, patched or
 *                     not, sorted by address; then the names of reasons are
 *                     fixed by enum litifut_site_reason. It can be empty, and
 *                     the list in a separate file, MODULE.litifut.db: an ELF
 *                     file with this section and the module's build-id.
 *   .litifut.blocks   in the file only, of a module that records edges: struct
 *                     litifut_blocks_header and what follows it.
 *
 * All addresses are link-time addresses (those of the ELF file's own symbols).
 * Thumb addresses in these tables have bit 0 clear unless said otherwise.
 */
#ifndef LITIFUT_MODULE_FORMAT_H
#define LITIFUT_MODULE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LITIFUT_SECTION_MODULE ".litifut.module"
#define LITIFUT_SECTION_DB ".litifut.db"
#define LITIFUT_SECTION_SITES ".litifut.sites"
#define LITIFUT_SECTION_BLOCKS ".litifut.blocks"

/* What follows the name of a module in those of the files beside it: its list of call sites, where
 * LITIFUT_DB=file keeps it, and the file as it was before the link's own -s took its names away. */
#define LITIFUT_SITES_SUFFIX ".litifut.db"
#define LITIFUT_NAMES_SUFFIX ".litifut.debug"

/* Reads "LTFM" in memory on either byte order's own terms: compare as a word. */
#define LITIFUT_MODULE_MAGIC 0x4c54464du
#define LITIFUT_DB_MAGIC 0x4c544644u
#define LITIFUT_SITES_MAGIC 0x4c544653u
#define LITIFUT_BLOCKS_MAGIC 0x4c544642u
/* Each kind of section has a separate version. A reader refuses a newer one. What a
 * version adds at the end of a record, readers of the same version skip. */
#define LITIFUT_MODULE_VERSION 2
#define LITIFUT_DB_VERSION 1
#define LITIFUT_SITES_VERSION 1
/* 1 is without LITIFUT_BLOCK_LEADS_BEHIND, 2 without LITIFUT_BLOCK_RECORDS_JUMP, 3 without
 * LITIFUT_BLOCK_JUMPS_WITHIN */
#define LITIFUT_BLOCKS_VERSION 4

enum litifut_module_flags {
	LITIFUT_MODULE_ACTIVE = 1,     /* the rewriter filled this in; 0: the link was left plain */
	LITIFUT_MODULE_EXECUTABLE = 2, /* else a shared library */
	LITIFUT_MODULE_STATIC = 4,     /* no program interpreter */
	LITIFUT_MODULE_TAIL_CALLS = 8, /* tail calls are traced as well */
	LITIFUT_MODULE_SPAWNS =
		16, /* it calls functions that make children or give up system calls */
	LITIFUT_MODULE_ENDS = 32,     /* it calls functions that end the program */
	LITIFUT_MODULE_ARGUMENTS = 64 /* LITIFUT_ARGS: see <litifut/arguments.h> */
};

enum litifut_engine {
	LITIFUT_ENGINE_DB = 1,
	LITIFUT_ENGINE_THUNK = 2,
	LITIFUT_ENGINE_SITE_FAST = 3,  /* firmware: a stub for each site, made for speed */
	LITIFUT_ENGINE_SITE_SMALL = 4, /* the same, made for size */
	LITIFUT_ENGINE_SITE_BYTE = 5   /* as the first, with a counter of one byte */
};

#define LITIFUT_REGISTERED 2u

/* Places in a module that lead to functions which make children (vfork, _Fork, clone,
 * syscall), give up system calls (prctl, syscall, seccomp_load), or end the program without its
 * destructors (_exit, execve and the like, as far as there is room). In bit 0 of a place of
 * prctl and seccomp_load: LITIFUT_SPAWNER_CONFINES_BIT. */
#define LITIFUT_MODULE_SPAWNERS 12
#define LITIFUT_SPAWNER_CONFINES_BIT 1u

/* What a filter of such places has for an address of code. The bits that choose it are the
 * same at link time and wherever the module is loaded. */
#define LITIFUT_SPAWNER_FILTER_BIT(address) (1u << ((address) >> 2 & 31))

/* The symbol `litifut_module` (hidden, section .litifut.module). Members are only added, at
 * the end, so modules of different versions can be in one process; readers use
 * LITIFUT_MODULE_HAS() for members that are newer than version 1. */
struct litifut_module {
	uint32_t magic;
	uint32_t version; /* LITIFUT_MODULE_VERSION_WORD: the version and the bytes of the struct */
	uint32_t flags;   /* enum litifut_module_flags */
	uint32_t engine;  /* enum litifut_engine */
	uint32_t link_address; /* of this struct: load bias = &litifut_module - link_address */
	uint32_t text_start;   /* span of the executable segments */
	uint32_t text_end;
	uint32_t db_address; /* of struct litifut_db_header */
	uint32_t db_count;
	uint32_t sites_patched;
	uint32_t sites_left;
	uint32_t build_id_bytes;
	uint8_t build_id[20]; /* of the ELF note, else a hash; the settings are in both */
	char name[64];        /* base name of the output file, NUL-terminated */
	/* LITIFUT_DEFAULTS: "KEY=VALUE" strings, each NUL-terminated, an empty one at the end. */
	char defaults[512];
	/* Of a static program with thunks, else 0: where it began before the symbol
	 * `litifut_entry` became its entry point, and libc's __register_atfork if it can
	 * fork. Both with the Thumb bit. */
	uint32_t entry;
	uint32_t register_atfork;
	/* PLT entries, lazy stubs and functions of the module that make a child without
	 * telling libc's fork handlers; calls of them use the instruction DB. 0: no more.
	 * The filter has a bit for each; the tracer adds those of libc itself. */
	uint32_t spawner_filter;
	uint32_t spawners[LITIFUT_MODULE_SPAWNERS];
	/* Used by the tracer at run time only; zero in the file. */
	uint32_t load_bias;
	uint32_t serial; /* 0 until the module has announced itself */
	/* 0: not yet; LITIFUT_REGISTERED: done; else under way, in the process with the number in
	 * bits 0 to 30. */
	uint32_t registered;
	/* By the recorder: 1; -1: and its calls are to be compared with `spawners`, or the CPU has
	 * no thread register; -2: it is of another family than the process, and none of its calls
	 * is recorded. */
	int32_t met;
	uint32_t runtime;
	uint32_t enders; /* a bit for each of `spawners` that ends the program; 0 in version 1 */
	/* Version 2 begins here. */
	uint32_t mode;   /* enum litifut_mode */
	uint32_t family; /* enum litifut_family of that mode */
	uint32_t clock;  /* enum litifut_clock that the thunks of the module read */
	uint32_t
		first_site; /* number of the first patched site: 0 where modules number their own */
	/* The code that returns of traced calls go through: from `exits_start` to before
	 * `exits_end` (link-time) a piece for each patched return, see `exit` of the sites. */
	uint32_t exits_start;
	uint32_t exits_end;
	/* Where the first of the trampolines can stand (link-time): MIPS counts them from there
	 * where a branch to an island carries a number. 0 without returns. */
	uint32_t trampolines_start;
	/* Used at run time only, by the thunks of ARM images for CPUs before ARMv7: see
	 * <litifut/thunk_abi.h>. */
	uint32_t fast_ok;
	/* The room for flags (link-time) of a module that records edges, or counts calls; else 0.
	 */
	uint32_t flags_address;
	uint32_t flags_bytes; /* whole pieces */
};

/* The first word after the magic number. Version 1 left its upper half 0. */
#define LITIFUT_MODULE_BYTES_1 728u
#define LITIFUT_MODULE_VERSION_WORD                                                                \
	(LITIFUT_MODULE_VERSION | (uint32_t)sizeof(struct litifut_module) << 16)
#define LITIFUT_MODULE_VERSION_OF(word) ((word)&0xffffu)
#define LITIFUT_MODULE_BYTES_OF(word) ((word) >> 16 ? (word) >> 16 : LITIFUT_MODULE_BYTES_1)
/* Does the module at `module`, in the host's byte order, have this member? */
#define LITIFUT_MODULE_HAS(module, member)                                                         \
	(LITIFUT_MODULE_BYTES_OF((module)->version) >=                                             \
	 offsetof(struct litifut_module, member) + sizeof((module)->member))

struct litifut_db_header {
	uint32_t magic;
	uint32_t version;
	uint32_t count;    /* entries in use */
	uint32_t capacity; /* entries reserved */
};

/* `instruction` is the original call: an A32 or MIPS word as it stood; a
 * 32-bit T32 instruction as first halfword << 16 | second halfword; a 16-bit
 * T32 instruction in the low half, high half 0 (no 32-bit T32 encoding has its
 * first halfword below 0xe800, so the two never meet). A call spelled with two
 * instructions (`mov lr, pc; bx r3`) is the one that would do the same, where
 * there is one (`blx r3`). A32 `ldr pc`, `add pc` and `sub pc` have the condition
 * 0b1111 as tail calls, and any other as calls.
 * `return_address` is what lr or ra holds after the call, bit 0 set for a
 * Thumb caller, so that one table serves A32 and T32 callers without a flag.
 * Tail calls: see struct litifut_site; `instruction` is then a branch, a direct
 * one as it would have to be in the place of the call that returns there. */
struct litifut_db_entry {
	uint32_t return_address;
	uint32_t instruction;
};

/* The tracer's cache of indices of the DB, made at link time together with the room
 * for it. A slot is chosen by bits of the return address. */
struct litifut_site_cache {
	uint32_t mask; /* number of slots, a power of two, less 1 */
	uint32_t slots[];
};

#define LITIFUT_SITE_CACHE "litifut_site_cache"
#define LITIFUT_SITE_CACHE_MAX 1024 /* slots */

enum litifut_site_kind {
	LITIFUT_SITE_DIRECT = 1,   /* bl, blx imm, jal, bal: the callee is known */
	LITIFUT_SITE_INDIRECT = 2, /* blx rN, jalr */
	LITIFUT_SITE_TAIL_DIRECT = 3,
	LITIFUT_SITE_TAIL_INDIRECT = 4,
	/* No call but a whole function, with LITIFUT_SITE_CODE_AS_DATA; its size stands
	 * where others have their instruction, and it has no return address. */
	LITIFUT_SITE_FUNCTION = 5,
	/* No instruction but an entry of a firmware's vector table, at `address`; its number
	 * stands where others have their instruction, and its address is its return address. */
	LITIFUT_SITE_VECTOR = 6,
	/* Of a module that records edges: a conditional branch, call or return; `callee` is its
	 * target, and its return address is that of the instruction behind it. */
	LITIFUT_SITE_BRANCH = 7,
	LITIFUT_SITE_BLOCK = 8 /* the same: the start of a block that other ways lead to */
};

/* Why a site was left as it was; LITIFUT_SITE_PATCHED: it was not. The text of
 * each is litifut_site_reason_text() in common/. Append only. */
enum litifut_site_reason {
	LITIFUT_SITE_PATCHED = 0,
	LITIFUT_SITE_OUT_OF_REACH = 1, /* no stub within the branch's range */
	LITIFUT_SITE_TOO_SHORT = 2,    /* a 16-bit call, no room for a branch */
	LITIFUT_SITE_EXCLUDED = 3,     /* by the user's or the default lists */
	LITIFUT_SITE_TRACER = 4,       /* the tracer's own code (not listed) */
	LITIFUT_SITE_FOREIGN_ISA = 5,  /* MIPS16, microMIPS, jalx */
	LITIFUT_SITE_DELAY_SLOT = 6,   /* the delay slot changes the target register or ra */
	LITIFUT_SITE_NOT_A_CALL =
		7, /* bal .+8, bl into a jump table: looks like a call, is not one */
	LITIFUT_SITE_SPECIAL_CALLEE = 8,    /* it needs a register that the tracer uses */
	LITIFUT_SITE_BRANCH_TARGET = 9,     /* the code around it could not be moved */
	LITIFUT_SITE_TAIL_OFF = 10,         /* LITIFUT_TAIL=0 */
	LITIFUT_SITE_SPECIAL_FORM = 11,     /* the tracer can't do it in the CPU's place */
	LITIFUT_SITE_CODE_AS_DATA = 12,     /* assembled as data: its calls are not known */
	LITIFUT_SITE_NO_FUNCTION = 13,      /* a tail call, or branch, of code in no function */
	LITIFUT_SITE_BEFORE_RAM = 14,       /* firmware: it runs before .bss is cleared */
	LITIFUT_SITE_PORT = 15,             /* firmware: it runs while the results are sent */
	LITIFUT_SITE_LOCAL_SUBROUTINE = 16, /* AVR: a short call of code within its function */
	LITIFUT_SITE_UNKNOWN_JUMP = 17,     /* its function has a jump with unknown targets */
	LITIFUT_SITE_EXCLUSIVE = 18,        /* between an exclusive load and its store */
	LITIFUT_SITE_FUNCTION_LEFT = 19,    /* paths: its function has something not recorded */
	LITIFUT_SITE_PERHAPS_A_SWITCH = 20  /* AVR: a tail call, or a jump within its function */
};

/* Why the return of a patched call is not recorded, where struct litifut_site has no `exit`.
 * Append only. */
enum litifut_exit_reason {
	LITIFUT_EXIT_OFF = 0,          /* the mode of the module does not record returns */
	LITIFUT_EXIT_PATCHED = 1,      /* it is recorded: there is an `exit` */
	LITIFUT_EXIT_NO_RETURN = 2,    /* nothing of its function stands behind the call */
	LITIFUT_EXIT_TARGET = 3,       /* branches lead to the return point as well */
	LITIFUT_EXIT_STUCK = 4,        /* the code at the return point can't be moved */
	LITIFUT_EXIT_CONDITIONAL = 5,  /* the call may be passed over: no return is made then */
	LITIFUT_EXIT_LINK_IN_USE = 6,  /* the link register may hold something there */
	LITIFUT_EXIT_OUT_OF_REACH = 7, /* of the code for returns */
	LITIFUT_EXIT_SPECIAL = 8,      /* it may make a child, or give up system calls */
	LITIFUT_EXIT_UNKNOWN_CODE = 9, /* where its function ends, or jumps to, is not known */
	LITIFUT_EXIT_COUNTER = 10,     /* the mode counts calls: see `exit` */
	LITIFUT_EXIT_ENDS = 11         /* it ends the program, or puts another in its place */
};

/* What a site is; `kind` says more. Append only. */
enum litifut_site_class {
	LITIFUT_SITE_CLASS_CALL = 0,
	LITIFUT_SITE_CLASS_EDGE = 1 /* LITIFUT_SITE_BRANCH and _BLOCK */
};

struct litifut_sites_header {
	uint32_t magic;
	uint32_t version;
	uint32_t count;
	uint32_t record_bytes; /* sizeof(struct litifut_site) of the writer, at least 20 */
};

struct litifut_site {
	uint32_t address; /* of the call instruction, bit 0 clear */
	/* As in the DB. A tail call sets no link register; a piece of the tracer's code
	 * that it goes through does, so that this is an address in that code, which
	 * belongs to this site alone (not patched: the address after the branch). */
	uint32_t return_address;
	uint32_t instruction; /* original, as in struct litifut_db_entry */
	/* Link-time address with the Thumb bit, of a direct call, or of an indirect one
	 * that the code around it shows; else 0. */
	uint32_t callee;
	uint8_t kind;   /* enum litifut_site_kind */
	uint8_t reason; /* enum litifut_site_reason */
	uint8_t thumb;  /* 1: T32 code (or MIPS16/microMIPS) */
	uint8_t length; /* bytes of the original instruction: 2 or 4 */
	/* Not in records of 20 bytes, of which it is 0. */
	/* Of a patched return: the address, in the code that it goes through, which a trace has
	 * for it (of Thumb code with bit 0 set). With LITIFUT_EXIT_COUNTER: the offset of
	 * the site's counter in the room for flags. */
	uint32_t exit;
	uint8_t exit_reason; /* enum litifut_exit_reason; PATCHED or COUNTER with an `exit` */
	uint8_t site_class;  /* enum litifut_site_class */
	uint16_t flags;      /* none yet */
};

#define LITIFUT_SITE_BYTES_MIN 20u

/* Does the call end its function? */
static inline bool litifut_site_is_tail(const struct litifut_site *site)
{
	return site->kind == LITIFUT_SITE_TAIL_DIRECT || site->kind == LITIFUT_SITE_TAIL_INDIRECT;
}

/* Is the callee found through a register or through memory, when the call is executed? */
static inline bool litifut_site_is_pointer(const struct litifut_site *site)
{
	return site->kind == LITIFUT_SITE_INDIRECT || site->kind == LITIFUT_SITE_TAIL_INDIRECT;
}

/* In the file only, of a module that records edges: struct litifut_blocks_header, then the
 * blocks of the program's code, sorted by address, then struct litifut_original for the code
 * that was replaced, sorted by address. A block is entered at its start only, and left at its
 * end only; a call ends one as well. */
struct litifut_blocks_header {
	uint32_t magic;
	uint32_t version;
	uint32_t count;        /* of blocks */
	uint32_t record_bytes; /* sizeof(struct litifut_block) of the writer */
	uint32_t originals;    /* how many there are */
	uint32_t original_bytes;
	uint32_t flags_address; /* link-time, of the room for flags */
	uint32_t flags_bytes;
};

/* Where control goes at the end of a block. Append only. */
enum litifut_block_end {
	LITIFUT_ENDS_ON = 0,     /* into the next block */
	LITIFUT_ENDS_BRANCH = 1, /* to `target` */
	LITIFUT_ENDS_CALL = 2,   /* to `target` (0: not known), and then into the next block */
	LITIFUT_ENDS_RETURN = 3, /* to the caller */
	LITIFUT_ENDS_JUMP = 4,   /* by a register or a table */
	LITIFUT_ENDS_STOP = 5    /* nowhere: the program ends there */
};

enum litifut_block_flags {
	LITIFUT_BLOCK_THUMB = 1,
	LITIFUT_BLOCK_FUNCTION = 2,    /* a function starts here */
	LITIFUT_BLOCK_LABEL = 4,       /* data or exceptions may lead here */
	LITIFUT_BLOCK_CONDITIONAL = 8, /* `ends` or into the next block */
	/* LITIFUT_MODE=paths: nothing is recorded in its function, since not all of it could be;
	 * units: nor in one that is not a unit */
	LITIFUT_BLOCK_LEFT = 16,
	/* LITIFUT_MODE=paths: the way to `target` leads behind the record of the start of that,
	 * so that nothing is recorded there */
	LITIFUT_BLOCK_LEADS_BEHIND = 32,
	/* LITIFUT_MODE=paths: the code of the jump at its end records where that leads, a block of
	 * the function: the address of a record is that of the block itself */
	LITIFUT_BLOCK_RECORDS_JUMP = 64,
	/* LITIFUT_MODE=paths: the jump at its end leads to a block of the function, which records a
	 * number (LITIFUT_ENTERED_NUMBER) or makes a record */
	LITIFUT_BLOCK_JUMPS_WITHIN = 128
};

/* LITIFUT_MODE=paths: what `entered` of a block says, in place of a flag; `taken` and `passed` are
 * not 0 where the branch is recorded. LITIFUT_MODE=units: `entered` is that of the start of a unit;
 * `taken` says that a unit ends where control goes to what `ends` says, `passed` that it ends by
 * going into the next block. */
enum litifut_block_entered {
	LITIFUT_ENTERED_BIT = 1,    /* control comes there: a bit, which is 1 */
	LITIFUT_ENTERED_RECORD = 2, /* the same as a record, see LITIFUT_BITS_RECORD */
	/* The same by its number among those of the function, as so many bits of one word, the
	 * highest first; or as a record. `entered' is LITIFUT_ENTERED_AS_NUMBER() of these. */
	LITIFUT_ENTERED_NUMBER = 3
};

#define LITIFUT_ENTERED_AS_NUMBER(bits, number)                                                    \
	((uint32_t)LITIFUT_ENTERED_NUMBER | (uint32_t)(bits) << 8 | (uint32_t)(number) << 16)
#define LITIFUT_ENTERED_KIND(entered) ((entered)&0xff)
#define LITIFUT_ENTERED_BITS(entered) ((entered) >> 8 & 0xff)
#define LITIFUT_ENTERED_NUMBER_OF(entered) ((entered) >> 16)
#define LITIFUT_ENTERED_BITS_MOST 8

/* A label without room for its record has it in a block behind it, at most so many farther, to
 * which it leads. */
#define LITIFUT_LATER_MOST 8

/* Flags are bytes of the module's room for them, each given as its offset in the room: 0: there
 * is not. The byte is 0 until control went that way. */
struct litifut_block {
	uint32_t start;  /* bit 0 clear */
	uint32_t end;    /* behind its last byte, that of a delay slot included */
	uint32_t branch; /* the instruction that ends it; 0: LITIFUT_ENDS_ON */
	uint32_t target;
	uint32_t entered; /* flag: control came to `start` */
	/* with LITIFUT_BLOCK_CONDITIONAL, flags of both ways. LITIFUT_MODE=paths, of a call or a
	 * jump without a condition: the number in .dynsym of the function whose name it leads to;
	 * 0: that is not known. And where an exception out of a call goes on; 0: it leaves the
	 * function */
	uint32_t taken;
	uint32_t passed;
	uint8_t ends;           /* enum litifut_block_end */
	uint8_t flags;          /* enum litifut_block_flags */
	uint8_t reason;         /* enum litifut_site_reason, of the branch, of a conditional one */
	uint8_t entered_reason; /* the same of `entered`, if it was asked for */
};

/* Bytes of the program as they were. */
struct litifut_original {
	uint32_t address;
	uint32_t length; /* at most 8 */
	uint8_t bytes[8];
};

/* The room for flags, the symbol litifut_flags at a multiple of 4096, has as many pieces of this
 * size as it takes. The first bytes of each are those of the chunk of a trace that it becomes.
 * No flag has an offset that is a multiple of 256. */
#define LITIFUT_FLAGS_SYMBOL "litifut_flags"
#define LITIFUT_FLAGS_PIECE 0x10000u
#define LITIFUT_FLAGS_HEAD 96u

/* With LITIFUT_MODE=counts the room has counters of 8 bytes, the low word, then the high one,
 * without gaps. Its first page belongs to the tracer and has a word for each piece; the pieces of
 * LITIFUT_COUNTS_PIECE bytes follow, each of which becomes a chunk of a trace but for the first
 * page of that. The first counters are those of the entries of the instruction DB, by their index;
 * for the others see `exit` of the sites. */
#define LITIFUT_COUNTS_PAGE 4096u
#define LITIFUT_COUNTS_PIECE (LITIFUT_FLAGS_PIECE - LITIFUT_COUNTS_PAGE)
#define LITIFUT_COUNTER_BYTES 8u
/* As many pieces as the first page has words. */
#define LITIFUT_COUNTS_MAX (LITIFUT_COUNTS_PAGE + LITIFUT_COUNTS_PAGE / 4 * LITIFUT_COUNTS_PIECE)
/* Offset of counter `number` in the room. */
#define LITIFUT_COUNTER_OFFSET(number) (LITIFUT_COUNTS_PAGE + (number)*LITIFUT_COUNTER_BYTES)

_Static_assert(offsetof(struct litifut_module, mode) == LITIFUT_MODULE_BYTES_1, "version 1");
_Static_assert(sizeof(struct litifut_module) == 768, "module layout");
_Static_assert(sizeof(struct litifut_db_entry) == 8, "db entry layout");
_Static_assert(offsetof(struct litifut_site, exit) == LITIFUT_SITE_BYTES_MIN, "site layout");
_Static_assert(sizeof(struct litifut_site) == 28, "site layout");
_Static_assert(sizeof(struct litifut_blocks_header) == 32, "blocks header layout");
_Static_assert(sizeof(struct litifut_block) == 32, "block layout");
_Static_assert(sizeof(struct litifut_original) == 16, "original layout");

#endif
