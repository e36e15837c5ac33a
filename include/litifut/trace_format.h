/* The trace file: what the recorder on the device writes and what the
 * post-processor on the host reads. docs/trace-format.md says the same
 * in prose.
 *
 * A trace is one file for one process: a header, then chunks of one fixed
 * size. A chunk belongs to one thread at a time and is filled front to back
 * with 32-bit words. All numbers have the byte order of the traced CPU, which
 * the reader takes from `byte_order`. Nothing in the file is ever moved once
 * it is written, so that a trace cut short at any moment is a valid trace:
 * what had been written by then is there.
 *
 * The words of an event chunk:
 *
 *   0                     a slot that was reserved and never filled (the
 *                         program was killed in between), or the unused end;
 *                         a slot is filled front to back, so that an event
 *                         whose return address or callee is 0 is unfinished
 *   1 .. 0xffff           a control word: the kind in bits 0-7, the number of
 *                         words that follow and belong to it in bits 8-15
 *   0x10000 and above     a direct call; the word is the return address as the
 *                         link register held it (bit 0 set: Thumb caller).
 *                         With LITIFUT_TRACE_MARKED, in chunks without a clock,
 *                         its low bits may say that the callee follows, see
 *                         enum litifut_word_mark
 *
 * A direct call needs no more, because the return address names the call site
 * and the host reads the callee from the instruction DB. Linux maps nothing
 * executable below 64 KiB (vm.mmap_min_addr), so the ranges never meet.
 *
 * In a chunk with LITIFUT_CHUNK_TIMED every event (a direct call,
 * LITIFUT_WORD_CALL, _INDIRECT or _TAIL) is followed by one more word: the low
 * 32 bits of the clock at the event. The whole clock is the value nearest to
 * that of the previous event or LITIFUT_WORD_TIME in the chunk (at first the
 * chunk's start_time) with these low bits; the recorder writes
 * LITIFUT_WORD_TIME whenever that would be ambiguous. Low bits and not a
 * difference, so that the events of a signal handler, which come between the
 * reading of the clock and the writing of the interrupted event, cannot spoil
 * it. Such an event may be a little older than the one before it. For control
 * words the extra word is counted in bits 8-15. The recorder writes 1 for 0, so
 * that a clock word of 0 is one that was never written.
 */
#ifndef LITIFUT_TRACE_FORMAT_H
#define LITIFUT_TRACE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#define LITIFUT_TRACE_MAGIC "LITIFUT\n"
#define LITIFUT_TRACE_VERSION_MAJOR 2 /* a reader refuses a newer major */
#define LITIFUT_TRACE_VERSION_MINOR 3 /* a reader ignores what a newer minor adds */
#define LITIFUT_BYTE_ORDER_MARK 0x01020304u

enum litifut_clock {
	LITIFUT_CLOCK_NONE = 0,
	LITIFUT_CLOCK_MONOTONIC = 1, /* nanoseconds of CLOCK_MONOTONIC */
	LITIFUT_CLOCK_CYCLE = 2,     /* CPU counter, `clock_hertz` ticks a second (0: unknown) */
	LITIFUT_CLOCK_PAGE = 3       /* executed instructions, see <litifut/clock_page.h> */
};

/* What a module records, fixed when it is linked (LITIFUT_MODE). */
enum litifut_mode {
	LITIFUT_MODE_CALLS = 0,    /* every call, in order */
	LITIFUT_MODE_SPANS = 1,    /* calls and returns with their time, in order */
	LITIFUT_MODE_TABLE = 2,    /* count and times of each call site */
	LITIFUT_MODE_COUNTS = 3,   /* counters of call sites, and nothing else */
	LITIFUT_MODE_STREAM = 4,   /* firmware: calls in order, in a ring that is sent */
	LITIFUT_MODE_PATHS = 5,    /* every branch */
	LITIFUT_MODE_COVERAGE = 6, /* a flag for each edge */
	LITIFUT_MODE_UNITS = 7,    /* tasks and events only */
	LITIFUT_MODE_BALLLARUS = 8 /* firmware: path numbers, to compare */
};

/* What the thunks of a mode keep in the per-thread word. A process has one family, that of
 * its first module; modules of another one do not record (`foreign-mode`). */
enum litifut_family {
	LITIFUT_FAMILY_STREAM = 0, /* calls, spans: the cursor of a chunk of events */
	LITIFUT_FAMILY_TABLE = 1,  /* table: the top of the stack of open calls */
	LITIFUT_FAMILY_BITS = 2,   /* paths: the cursor of a chunk of bits */
	LITIFUT_FAMILY_NONE = 3    /* counts, coverage: nothing, so they go with any other */
};

enum litifut_trace_flags {
	LITIFUT_TRACE_DEDUP = 1,   /* each (call site, callee) is written once only */
	LITIFUT_TRACE_MARKED = 2,  /* return addresses may be marked */
	LITIFUT_TRACE_RING = 4,    /* old chunks make room for new ones */
	LITIFUT_TRACE_WRITE = 8,   /* chunks are written when they are complete, not mapped */
	LITIFUT_TRACE_SUMMED = 16, /* every closed chunk has its sums, see litifut_sums_add() */
	LITIFUT_TRACE_COPIED = 32  /* each stop, snapshot and end makes a copy (LITIFUT_COPY_TO) */
};

enum litifut_trace_state {
	LITIFUT_TRACE_RUNNING = 1, /* still so in the file: the program was killed */
	LITIFUT_TRACE_STOPPED = 2  /* exit or a stop request was seen, all is written */
};

/* A chunk within the first `header_bytes`, behind the header itself, so that a short
 * process needs no more than these bytes. */
struct litifut_first_chunk {
	uint32_t offset; /* in the file */
	uint32_t bytes;  /* 0: there is no such chunk */
};

#define LITIFUT_FIRST_CHUNKS 4

/* What another process asks of a traced one through its mapped header. */
enum litifut_request {
	LITIFUT_REQUEST_NONE = 0,
	LITIFUT_REQUEST_START = 1,    /* recording goes on */
	LITIFUT_REQUEST_STOP = 2,     /* recording is switched off */
	LITIFUT_REQUEST_SNAPSHOT = 3, /* what is there is made complete, and copied */
	LITIFUT_REQUEST_RESET = 4     /* tables begin anew; streams have nothing to reset */
};

/* `request` is a number in bits 8 and up and an enum litifut_request in bits 0 to 7. The
 * traced process looks at it when it needs another chunk, and stores the same word in
 * `done` once it has followed. */
struct litifut_control {
	uint32_t request;
	uint32_t done;
	uint32_t arguments[14];
};

/* Calls of a child that could not make a trace. */
struct litifut_child_loss {
	uint32_t pid; /* 0: not in use */
	uint32_t count;
};

#define LITIFUT_CHILD_LOSSES 8
#define LITIFUT_PAUSE_SHIFT 20
#define LITIFUT_UNKNOWN_BYTES 64

/* At file offset 0; the first chunk of `chunk_bytes` starts at `header_bytes`. A 1.x
 * header ends behind `program`; what has a place before that is 0 in it. */
struct litifut_trace_header {
	uint8_t magic[8];
	uint32_t byte_order; /* LITIFUT_BYTE_ORDER_MARK */
	uint16_t version_major;
	uint16_t version_minor;
	uint32_t header_bytes; /* multiple of the device's page size */
	uint32_t chunk_bytes;  /* size of every chunk, header included */
	uint32_t machine;      /* e_machine: 40 ARM, 8 MIPS */
	uint32_t word_bytes;   /* 4 */
	uint32_t pid;
	uint32_t parent_pid;
	uint32_t clock;       /* enum litifut_clock */
	uint32_t flags;       /* enum litifut_trace_flags */
	uint32_t state;       /* enum litifut_trace_state */
	uint32_t lost_events; /* calls that happened and could not be written */
	uint64_t clock_hertz;
	uint64_t start_monotonic_ns; /* both clocks read at the same moment, so that */
	uint64_t start_realtime_ns;  /* traces of several processes can be ordered */
	uint32_t bloom_bits;         /* size of the filter; 0 without dedup */
	uint32_t bloom_hashes;
	uint32_t bloom_bits_set;   /* kept up to date: the fill, hence the error rate */
	uint32_t bloom_suppressed; /* events found in the filter and not written */
	/* Bit i: the value of setting number i in LITIFUT_SETTINGS was not understood. */
	uint32_t wrong_settings;
	uint32_t mode;          /* enum litifut_mode */
	uint32_t family;        /* enum litifut_family */
	uint32_t clock_shift;   /* times are those of the clock without so many low bits */
	uint32_t overwritten;   /* chunks of a ring that are not there any more */
	uint32_t foreign_calls; /* of modules of another family than this one: not recorded */
	uint32_t pauses;  /* recording was switched off and on again so often, and was off for */
	uint32_t paused;  /* so many times 2^LITIFUT_PAUSE_SHIFT nanoseconds */
	char program[64]; /* base name of the executable, NUL-terminated */
	/* since 2.0 */
	struct litifut_first_chunk first[LITIFUT_FIRST_CHUNKS];
	uint64_t max_bytes; /* the file gets no larger than that; 0: there is no bound */
	uint64_t lost_from; /* clock when the first and the last of `lost_events` were lost; */
	uint64_t lost_to;   /* 0: not known */
	/* What the tracer takes for each call and for each return: ticks of the clock, times 256;
	 * 0: it was not measured. */
	uint32_t event_cost;
	uint32_t reserved;
	struct litifut_control control;
	struct litifut_child_loss children[LITIFUT_CHILD_LOSSES];
	/* Since 2.3: names of settings that the recorder does not have, without LITIFUT_, each with
	 * a blank behind it, as far as there is room. Some may be of a link. */
	char unknown_settings[LITIFUT_UNKNOWN_BYTES];
};

#define LITIFUT_TRACE_HEADER_BYTES_1 192 /* of a 1.x trace */

#define LITIFUT_CHUNK_MAGIC 0x4b48434cu /* "LCHK" in a little-endian file */

enum litifut_chunk_kind {
	LITIFUT_CHUNK_FREE = 0,     /* allocated, not yet in use */
	LITIFUT_CHUNK_EVENTS = 1,   /* words of one thread */
	LITIFUT_CHUNK_METADATA = 2, /* control words about the process, read first */
	LITIFUT_CHUNK_TABLE = 3,    /* struct litifut_table_header, then its entries */
	LITIFUT_CHUNK_STACK = 4,    /* open calls of one thread: words as its mode needs them */
	LITIFUT_CHUNK_BITS = 5,     /* one bit for each executed branch of one thread */
	LITIFUT_CHUNK_FLAGS = 6     /* struct litifut_flags_header, then flags of a module */
};

enum litifut_chunk_encoding {
	LITIFUT_ENCODING_WORDS = 1,  /* as described above */
	LITIFUT_ENCODING_COMPACT = 3 /* blocks, see struct litifut_compact_block; 2 was an
					earlier form of them */
};

enum litifut_chunk_flags {
	LITIFUT_CHUNK_TIMED = 1,
	LITIFUT_CHUNK_CLOSED = 2, /* `used_bytes` is final */
	LITIFUT_CHUNK_SUMMED = 4  /* and so are the sums */
};

/* Since 2.0 bits 16 and up of the flags are the module epoch when the chunk was begun,
 * modulo 65536, so that no chunk needs another one: those before may be overwritten. */
#define LITIFUT_CHUNK_EPOCH_SHIFT 16

/* At the start of each chunk; the words follow it. */
struct litifut_chunk_header {
	uint32_t magic;
	uint16_t kind;
	uint16_t encoding;
	uint32_t flags;
	uint32_t thread;     /* kernel thread id that owns the chunk */
	uint32_t number;     /* ascending in time for `thread`; no two chunks share one */
	uint32_t used_bytes; /* of payload; only valid with LITIFUT_CHUNK_CLOSED */
	uint64_t start_time; /* clock at the first event, 0 without a clock */
	/* since 2.0 */
	uint32_t sums[2]; /* of the words before this one and of the payload */
	uint32_t lost;    /* events of the thread that were lost just before this chunk, */
	uint32_t reserved;
	uint64_t lost_from; /* and the clock when that began and ended; 0: not known */
	uint64_t lost_to;
};

#define LITIFUT_CHUNK_HEADER_BYTES_1 32 /* of a 1.x trace; the sums are of these bytes too */

/* Adds `count` words to the sums, which begin as 1 and 0: the sum of the words, and the
 * sum of what the first one was after each of them. So a flipped bit changes the first,
 * and words that have changed places change the second. Words in the byte order of the
 * CPU that adds them. */
static inline void litifut_sums_add(uint32_t sums[2], const uint32_t *words, uint32_t count)
{
	uint32_t first = sums[0];
	uint32_t second = sums[1];

	for (; count >= 8; count -= 8, words += 8) {
		second += first += words[0];
		second += first += words[1];
		second += first += words[2];
		second += first += words[3];
		second += first += words[4];
		second += first += words[5];
		second += first += words[6];
		second += first += words[7];
	}
	for (; count; count--)
		second += first += *words++;
	sums[0] = first;
	sums[1] = second;
}

/* Both in one word, which any flipped bit changes. */
static inline uint32_t litifut_sums_word(const uint32_t sums[2])
{
	return sums[0] + 2 * sums[1];
}

/* A chunk with LITIFUT_ENCODING_COMPACT holds blocks one after another, each the
 * words of one full chunk of events in the form that <litifut/compact.h>
 * describes; `bytes` 0 ends them. The chunk that a block was made from is used
 * again; until then both are in the file, and a reader leaves out a chunk with
 * the `number` of a block. */
struct litifut_compact_block {
	uint32_t bytes;  /* of the encoded words; the next block starts at a multiple of 4 */
	uint32_t words;  /* how many there are once decoded */
	uint32_t thread; /* these four as in the header of the chunk that it replaces */
	uint32_t number;
	uint32_t flags;
	uint32_t sum; /* since 2.0: litifut_sums_word() of this header, with 0 here, and the data */
	uint64_t start_time;
};

/* At the start of the payload of a LITIFUT_CHUNK_FLAGS, which is never closed. The chunk is the
 * piece of the module's room for flags that begins at offset `first`, with its own headers in the
 * place of the first LITIFUT_FLAGS_HEAD bytes; see struct litifut_block. */
struct litifut_flags_header {
	uint32_t module; /* serial, as in struct litifut_module_record */
	uint32_t first;
	uint32_t bytes; /* of the piece: those of the chunk, its header included */
	uint32_t mode;  /* of the module: LITIFUT_MODE_COUNTS: it has counters; else it has flags */
	uint32_t reserved[4];
};

/* The words of a LITIFUT_CHUNK_BITS, which is what LITIFUT_MODE=paths records of a thread. The
 * first bit of such a word that is set says what it is:
 *
 *   none is set   a word that was never written
 *   bit 31        a record. The other bits are half of a run-time address, in the code that the
 *                 rewriter has made for the start of a block (`exit` of the site of that block):
 *                 control came there; or it is that of the block itself, to which a jump has led
 *                 (LITIFUT_BLOCK_RECORDS_JUMP). If that address is below 0x10000, it is a
 *                 control word without bit 31, and as many words follow as it says.
 *   bit 1 to 30   as many bits as there are below it, the first one the highest: 1 for a branch
 *                 that was taken, 0 for one that was passed, and 1 for a block that records in
 *                 this way that control came there (enum litifut_block_entered). A block that
 *                 records its number has several bits, all in the same word
 *   bit 0         no bits yet
 *
 * Bits are shifted into the last word of a thread, so that the file has all of them at any moment.
 * A function that a signal handler can begin with records that it was entered by a record, not by a
 * bit; so no handler changes a word of the code that it has interrupted. */
#define LITIFUT_BITS_RECORD 0x80000000u
#define LITIFUT_BITS_NONE 1u

/* At the start of the payload of a LITIFUT_CHUNK_TABLE. The entries of one module can
 * be spread over several chunks, and each thread has chunks of its own; a reader adds
 * up those with the same module and site. */
struct litifut_table_header {
	uint32_t module;      /* serial, as in struct litifut_module_record */
	uint32_t first_site;  /* index of the site of the first entry, within the module */
	uint32_t count;       /* entries */
	uint32_t thread;      /* kernel thread id; of the last one, if several used it in turn */
	uint32_t entry_bytes; /* sizeof(struct litifut_table_entry) of the writer */
	uint32_t epoch;       /* number of resets before it was begun */
	uint64_t hertz;       /* ticks a second of the times; 0: unknown */
};

/* What has become of the calls of one site. Zeroed memory is an entry without calls. All
 * numbers only grow, so that an earlier snapshot can be subtracted. */
struct litifut_table_entry {
	uint32_t count;
	uint32_t minimum_inverted; /* ~ of the shortest call, in ticks */
	uint32_t maximum;          /* UINT32_MAX: that or more */
	uint32_t callee; /* of an indirect call: that of its first call, run-time; else 0 */
	uint64_t sum;    /* ticks from call to return */
	uint64_t self;   /* the same without the calls that were made in between */
};

/* Behind the entries of a module: calls through a pointer to another callee than the
 * first, and what has outgrown 32 bits. */
struct litifut_table_overflow {
	uint32_t site; /* index within the module; UINT32_MAX: not in use */
	uint32_t callee;
	uint32_t count_high; /* to be added to the count of the entry, times 2^32 */
	uint32_t reserved;
	struct litifut_table_entry entry; /* of (site, callee); its `callee` is not used */
};

/* The table of a thread whose calls are not numbered when they are linked (Linux): the
 * payload of a LITIFUT_CHUNK_TABLE whose `entry_bytes` is that of struct litifut_table_call.
 * Its `module` is 0, and `first_site` is the run-time address of its first entry, which open
 * calls refer to. <litifut/fold.h> makes it. */
struct litifut_table_call {
	uint32_t address; /* run-time: the return address, or the key of a tail call */
	uint32_t callee;  /* run-time, of a call through a register; 0: the site names it */
	uint32_t exit;    /* run-time: what stands for its returns, 0: none has been seen; or
			     LITIFUT_TABLE_TAIL */
	uint32_t epoch;   /* of modules: one in which it was called or could be */
	uint64_t count;   /* calls, */
	uint64_t untimed; /* and those of them that ended without a return that is known */
	uint64_t minimum_inverted;
	uint64_t maximum;
	uint64_t sum;
	uint64_t self;
};

#define LITIFUT_TABLE_TAIL 1u /* a tail call, which has no return of its own */

/* At the start of the payload of a LITIFUT_CHUNK_STACK; calls follow, the outermost first. */
struct litifut_open_calls {
	uint32_t depth;  /* open calls */
	uint32_t thread; /* kernel thread id */
	uint64_t now;    /* the clock at the last event that was folded */
	uint32_t lost;   /* events that could not be read, or had no room in the table */
	uint32_t epoch;  /* of modules, of the last event that was folded */
	uint64_t taken;  /* what the tracer has taken of the time before `now`, ticks times 256 */
};

struct litifut_open_call {
	uint32_t entry;         /* run-time address of its struct litifut_table_call */
	uint32_t stack_pointer; /* of the caller; bit 1: a tail call */
	uint64_t start;
	uint64_t children; /* time of the calls that it has made */
};

enum litifut_word_kind {
	/* events */
	LITIFUT_WORD_CALL = 1,     /* [return address][callee] direct call, callee spelled out */
	LITIFUT_WORD_INDIRECT = 2, /* [return address][callee] call through a register */
	LITIFUT_WORD_TAIL = 3,  /* [return address][callee] tail call; the first is a key that the
				   site list has, see struct litifut_site */
	LITIFUT_WORD_EXIT = 4,  /* [exit address][stack pointer] a return, where the address of its
				   exit trampoline alone would be ambiguous */
	LITIFUT_WORD_ENTER = 5, /* [return address][stack pointer] a direct call, likewise */
	LITIFUT_WORD_MARK = 6,  /* [number] the program or the recorder has set a mark */
	LITIFUT_WORD_ARGUMENTS =
		7, /* arguments of the event that follows, see <litifut/arguments.h> */
	/* state of the stream */
	LITIFUT_WORD_LOST = 16,    /* [count] this many events are missing here */
	LITIFUT_WORD_THREAD = 17,  /* [thread id] what follows belongs to that thread; its previous
				      owner has ended */
	LITIFUT_WORD_TIME = 18,    /* [low][high] the clock, absolute */
	LITIFUT_WORD_EPOCH = 19,   /* [n] addresses from here on are those of module epoch n */
	LITIFUT_WORD_STOPPED = 20, /* [] recording was switched off here */
	LITIFUT_WORD_STARTED = 21, /* [] and on again */
	LITIFUT_WORD_CUT = 22,     /* [count] this many open calls ended without a return */
	/* [address][stack pointer][epoch], then [word][its address] for each word on the stack that
	 * is an address of code: a walk of the code can start here. `address` is in the code of the
	 * edge that the thread is in, whose bit follows; the link register is below the stack
	 * pointer */
	LITIFUT_WORD_SYNC = 23,
	/* Only of a firmware, in the words that are made of <litifut/paths_format.h>: */
	LITIFUT_WORD_BLOCK = 24,        /* [address] a record of the start of a block */
	LITIFUT_WORD_RESTARTED = 25,    /* [count] the device has restarted */
	LITIFUT_WORD_TASK_SAVED = 26,   /* [stack pointer] of the task that was interrupted, */
	LITIFUT_WORD_TASK_RESUMED = 27, /* and of that which the interrupt returns to */
	LITIFUT_WORD_INTERRUPT = 28,    /* [address][frame] see LITIFUT_PATHS_INTERRUPT */
	LITIFUT_WORD_TAKEN = 29, /* [ticks] what the recorder took behind the event before this, as
				    the chunk was full */
	/* metadata chunks only */
	LITIFUT_WORD_MODULE = 32, /* struct litifut_module_record */
	LITIFUT_WORD_UNLOAD = 33  /* [serial][epoch] the module was unloaded at that epoch */
};

/* Where every return address is a multiple of four (MIPS), bits 0 and 1 mark calls
 * whose callee is the next word: LITIFUT_WORD_INDIRECT or _TAIL in two words, not three. */
enum litifut_word_mark {
	LITIFUT_MARK_DIRECT = 0, /* no callee follows */
	LITIFUT_MARK_INDIRECT = 1,
	LITIFUT_MARK_TAIL = 2
};
#define LITIFUT_WORD_MARK(word) ((word)&3u)

/* Smallest word that is a direct call. */
#define LITIFUT_WORD_FIRST_ADDRESS 0x10000u

#define LITIFUT_CONTROL_WORD(kind, following) ((uint32_t)(kind) | (uint32_t)(following) << 8)
#define LITIFUT_CONTROL_KIND(word) ((word)&0xffu)
#define LITIFUT_CONTROL_FOLLOWING(word) ((word) >> 8 & 0xffu)

/* A call, of whatever form, that has its callee in the words behind it. 8 to 15 are free for
 * further kinds of events. */
static inline bool litifut_word_is_call(uint32_t kind)
{
	return kind >= LITIFUT_WORD_CALL && kind <= LITIFUT_WORD_TAIL;
}

/* What follows LITIFUT_WORD_MODULE. Run-time address = link-time address + load_bias. */
struct litifut_module_record {
	uint32_t serial;     /* 1, 2, 3 ... in order of appearance */
	uint32_t epoch;      /* first module epoch in which it is loaded */
	uint32_t load_bias;  /* modulo 2^32 */
	uint32_t text_start; /* run-time addresses of the executable segment(s) */
	uint32_t text_end;
	uint32_t flags;       /* enum litifut_module_flags, see module_format.h */
	uint8_t build_id[20]; /* zero-padded; all zero: none */
	uint32_t build_id_bytes;
	char name[64]; /* base name of the output file, NUL-terminated */
};

_Static_assert(sizeof(struct litifut_control) == 64, "control layout");
_Static_assert(sizeof(struct litifut_trace_header) == 448, "trace header layout");
_Static_assert(sizeof(struct litifut_chunk_header) == 64, "chunk header layout");
_Static_assert(sizeof(struct litifut_table_header) == 32, "table header layout");
_Static_assert(sizeof(struct litifut_flags_header) == 32, "flags header layout");
_Static_assert(sizeof(struct litifut_table_entry) == 32, "table entry layout");
_Static_assert(sizeof(struct litifut_table_overflow) == 48, "table overflow layout");
_Static_assert(sizeof(struct litifut_table_call) == 64, "table call layout");
_Static_assert(sizeof(struct litifut_open_calls) == 32, "open calls layout");
_Static_assert(sizeof(struct litifut_open_call) == 24, "open call layout");
_Static_assert(sizeof(struct litifut_compact_block) == 32, "compact block layout");
_Static_assert(sizeof(struct litifut_module_record) == 112, "module record layout");

#endif
