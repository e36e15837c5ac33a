/* The second half of the rewriter, which is a list of passes over one image (apply.c). Each pass
 * uses what the passes before it have filled in. A pass that only some modes or CPUs need does
 * nothing in the others. Nothing reaches the file before the last one. */
#ifndef LITIFUT_REWRITER_APPLY_H
#define LITIFUT_REWRITER_APPLY_H

#include <litifut/module_format.h>
#include <stddef.h>
#include <stdint.h>

#include "rewriter/changes.h"
#include "rewriter/frames.h"
#include "rewriter/identity.h"
#include "rewriter/relays.h"
#include "rewriter/rooms.h"
#include "rewriter/session.h"
#include "rewriter/thunks.h"
#include "rewriter/unwind.h"

/* A section in which the rewriter leaves a table: header, then `capacity` records. */
struct litifut_reserved_table {
	const struct litifut_section *section;
	size_t capacity;
};

/* What the start of a host becomes. It is written when all calls have been judged by the
 * code that is there now. */
struct litifut_hosted {
	uint32_t address;
	uint32_t bytes;
	uint8_t code[128];
};

struct litifut_apply {
	struct litifut_session session;
	/* The passes only measure how much room the image needs: each room has as much as they ask
	 * for, and nothing in the image is changed. */
	bool measures;
	struct litifut_section measured_db; /* the DB then; its bytes are owned */
	const struct litifut_rewrite_options *options;
	struct litifut_rewrite_summary *summary;
	struct litifut_changes changes; /* of code */
	struct litifut_reserved_table db;
	struct litifut_reserved_table sites; /* no capacity: the list goes to the end of the file */
	uint8_t *module;                     /* struct litifut_module in the image */
	struct litifut_module record; /* the same as read and filled, in the host's byte order */
	uint32_t module_address;
	uint32_t entry; /* the new entry point; 0: the old one stays */
	size_t db_count;
	struct litifut_rooms rooms;
	struct litifut_frames frames;
	struct litifut_thunks *thunks; /* NULL: the other engine */
	struct litifut_unwind unwind;
	const struct litifut_section *unwind_section; /* changed for it; NULL: none */
	struct litifut_hosted *hosted;
	size_t hosted_count;
	struct litifut_relays relays; /* the same in the middle of functions */
	uint8_t *blocks;              /* the contents of .litifut.blocks; NULL: there are none */
	size_t blocks_bytes;
	struct litifut_build_id build_id; /* for the note of the image */
};

/* The signature of a pass. */
typedef enum litifut_status litifut_pass(struct litifut_apply *apply, struct litifut_error *error);

/* apply.c. Runs the passes, or those that take room if apply->measures. */
enum litifut_status litifut_apply_run(struct litifut_apply *apply, struct litifut_error *error);
/* Releases all, the session as well. */
void litifut_apply_release(struct litifut_apply *apply);

/* reserved.c: what the link has reserved in the image, and where new code can go. */
litifut_pass litifut_pass_find_module;
litifut_pass litifut_pass_refuse_low_code;
litifut_pass litifut_pass_find_entry;
litifut_pass litifut_pass_find_tables;
litifut_pass litifut_pass_open_rooms;
uint8_t *litifut_apply_bytes_at(const struct litifut_apply *apply, uint32_t address, uint32_t size);
/* Fills `error`: the room for trampolines is used up. */
enum litifut_status litifut_apply_no_room(const struct litifut_apply *apply,
					  struct litifut_error *error);

/* landings_write.c: the ways from far code to the tracer. */
litifut_pass litifut_pass_write_shared;
litifut_pass litifut_pass_fill_hosts;
litifut_pass litifut_pass_fill_islands;
litifut_pass litifut_pass_write_hosts;

/* patch.c: the call sites. */
litifut_pass litifut_pass_patch_sites;
litifut_pass litifut_pass_check_reach;

#endif
