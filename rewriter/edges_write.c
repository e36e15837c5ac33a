/* The code of edges, once it is known which of them are recorded. What is out of reach is found by
 * trials, which write nothing.
 *
 * More than 500 lines in one file, because a trial and what writes must place each edge alike. */
#include "rewriter/edges_find.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/sites.h"
#include "rewriter/tokens.h"

/* Bytes of the code that edges share, a multiple of 16; 0: there is none. */
static uint32_t shared_bytes(const struct litifut_session *session)
{
	const struct litifut_arch_edges *arch = session->arch->edges;
	const uint32_t bytes =
		(uint32_t)(session->context.bits ? arch->bits_bytes : arch->mark_bytes);
	const uint32_t last = session->context.grain > 4 ? (1u << session->context.grain) - 1 : 15;

	return (bytes + last) & ~last;
}

/* The code that edges share is in reach of what stands so many bytes behind it. */
#define MARK_INTERVAL 0x10000u

static bool is_handler(const struct litifut_session *session,
		       const struct litifut_graph_block *block)
{
	for (size_t i = 0; i < session->handler_count; i++)
		if (session->handlers[i] == block->block.start)
			return true;
	return false;
}

/* What the code of the edge records in one of its ways. */
static struct litifut_number_calls calls_of(const struct litifut_session *session,
					    const struct litifut_edge *edge,
					    enum litifut_edge_way way)
{
	const struct litifut_edges *edges = session->edges;

	if (session->context.tokens)
		return litifut_tokens_of(
			&edges->graph,
			litifut_image_symbol(&session->image, LITIFUT_TOKENS_GLOBAL_SYMBOL) != NULL,
			edge->block, edge->entry, way);
	return litifut_numbers_of(&edges->numbers, edge->block, way);
}

/* LITIFUT_MODE=balllarus, and where tokens are recorded: what the code of the edge records. */
static void find_numbers(const struct litifut_session *session, const struct litifut_edge *edge,
			 struct litifut_edge_code *code)
{
	if (!session->context.numbers)
		return;
	if (edge->entry || edge->enters)
		code->numbers[LITIFUT_WAY_ENTERED] = calls_of(session, edge, LITIFUT_WAY_ENTERED);
	if (edge->end || edge->whole)
		code->numbers[LITIFUT_WAY_TAKEN] = calls_of(session, edge, LITIFUT_WAY_TAKEN);
	for (unsigned way = LITIFUT_WAY_PASSED; way <= LITIFUT_WAY_TAKEN && !edge->entry; way++)
		code->numbers[way] = calls_of(session, edge, way);
}

/* Bytes of the code of edge number `item`, as if all were near it: the size does not depend on
 * where that is. */
static uint32_t edge_bytes(const struct litifut_session *session, size_t item)
{
	const struct litifut_arch_edges *arch = session->arch->edges;
	const struct litifut_targets none = {0};
	const struct litifut_edge *edge = &session->edges->items[item];
	const struct litifut_edge_place place = litifut_edge_place_of(session, edge->block, &none);
	const uint32_t start = place.block->block.start;
	const uint32_t bits = arch->bits_bytes ? start & ~15u : start | 1;
	struct litifut_edge_code code = {
		.flags = start & ~0xfffu,
		.mark = start & ~15u,
		.bits = {bits, bits, bits, bits, bits},
		.tasks = {session->tasks[0] ? bits : 0, session->tasks[1] ? bits : 0},
		.interrupt = is_handler(session, place.block) ? bits : 0,
		.spawns = bits,
		.jumps = bits,
		.gate = start & ~15u,
		.landings = &session->landings};

	find_numbers(session, edge, &code);
	return arch->write(&place, edge, start & ~15u, &code) ? code.bytes
							      : (uint32_t)arch->bytes_max;
}

/* A step makes the code of an entry longer by its bytes. */
#define STEPS_EACH 0x8000u

size_t litifut_edges_bytes(const struct litifut_session *session)
{
	size_t bytes = 0;

	for (size_t i = 0; session->edges && i < session->edges->count; i++)
		if (session->sites.items[i].site.reason == LITIFUT_SITE_PATCHED) {
			bytes += edge_bytes(session, i);
			if (session->edges->items[i].near) /* it may need another's step */
				bytes += (size_t)1 << session->context.grain;
		}
	if (session->arch->edges->near_bytes)
		bytes += (session->image.text_end - session->image.text_start) / STEPS_EACH
			 << session->context.grain;
	return bytes + (bytes ? (bytes / MARK_INTERVAL + 2) * (shared_bytes(session) + 16) : 0);
}

struct writer {
	struct litifut_session *session;
	struct litifut_rooms *rooms;
	struct litifut_frames *frames;
	struct litifut_changes *changes;
	uint32_t flags;
	uint32_t mark; /* the last one made; 0: none */
	uint32_t bits[LITIFUT_BITS_MOST];
	uint32_t spawns, jumps;           /* see struct litifut_edge_code */
	struct litifut_landings landings; /* those of the session, and steps */
	bool trial;                       /* nothing is changed: what is out of reach? */
	uint8_t trials;                   /* so many trials have begun */
	bool more_steps;                  /* this trial has set `all_entered` */
	size_t far;                       /* so many are, */
	size_t helped;                    /* of which so many would not be with an island */
};

static enum litifut_status no_room(const struct writer *writer, struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_SPACE, writer->session->image.path, ".text",
				 LITIFUT_NO_ADDRESS, "room for the code of branches is not enough");
}

/* Copies the tracer's code that records bits. False: it is not as it must be. */
static bool copy_bits(const struct writer *writer, uint32_t address, uint8_t *place)
{
	const struct litifut_image *image = &writer->session->image;
	const uint32_t bytes = (uint32_t)writer->session->arch->edges->bits_bytes;
	const uint32_t from = writer->bits[0];
	const struct litifut_section *section = litifut_image_section_at(image, from, bytes);
	const struct litifut_symbol *distance = litifut_image_symbol(image, LITIFUT_BITS_DISTANCE);
	static const uint8_t plain[1]; /* DW_CFA_nop: its caller is where the link register leads */
	uint8_t *word;

	if (!section || !distance || distance->address < from ||
	    distance->address + 4 > from + bytes)
		return false;
	memcpy(place, section->bytes + (from - section->address), bytes);
	word = place + (distance->address - from);
	litifut_put32(image->file.big_endian, word,
		      litifut_get32(image->file.big_endian, word) + from - address);
	if (!writer->trial)
		litifut_frames_add_rules(writer->frames, address, bytes, plain, sizeof(plain));
	return true;
}

/* Writes another copy of the code that all edges share, after the code so far. */
static enum litifut_status make_mark(struct writer *writer, struct litifut_error *error)
{
	const struct litifut_session *session = writer->session;
	const uint32_t bytes = shared_bytes(session);
	uint32_t address;
	uint8_t *place = litifut_rooms_take(writer->rooms, bytes, &address);

	if (!place)
		return no_room(writer, error);
	memset(place, 0, bytes);
	if (!session->context.bits)
		session->arch->edges->write_mark(&session->context, address, place);
	else if (!copy_bits(writer, address, place))
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, session->image.path, NULL,
					 writer->bits[0],
					 "the tracer is of another version than this rewriter");
	writer->mark = address;
	return LITIFUT_OK;
}

static void replace(struct writer *writer, const struct litifut_graph_block *block,
		    uint32_t address, const uint8_t *code, unsigned length, uint32_t entry)
{
	litifut_changes_add(writer->changes, address, code, length, entry,
			    block->block.flags & LITIFUT_BLOCK_THUMB ? LITIFUT_CODE_THUMB
								     : LITIFUT_CODE_PLAIN);
}

/* Writes a step, which leads to `target` by one of the landings if a branch does not reach it.
 * False: it is out of reach. */
static bool put_step(struct writer *writer, const struct litifut_graph_block *block, uint32_t gate,
		     const struct litifut_landings *landings, uint32_t address, uint32_t target)
{
	const struct litifut_session *session = writer->session;
	const struct litifut_exit_ways ways = {.gate = gate, .landings = landings};
	uint8_t step[LITIFUT_EDGE_STEP_BYTES];
	const uint32_t entry =
		session->arch->edges->write_step(&session->context, &ways, address, target, step);

	if (entry)
		replace(writer, block, address, step, sizeof(step), entry);
	return entry != 0;
}

static void out_of_reach(struct writer *writer, size_t item)
{
	const struct litifut_edge *edge = &writer->session->edges->items[item];
	struct litifut_block *block = &writer->session->edges->graph.items[edge->block].block;
	struct litifut_session *session = writer->session;
	const uint32_t function = session->edges->graph.items[edge->block].function;

	writer->far++;
	if (writer->trial && edge->near && !edge->borrows) {
		litifut_targets_add(&session->far, block->start);
		return;
	}
	/* Where the start of a function is recorded, it can lend bytes for a step: first that of
	 * this function is, then those of all. */
	if (writer->trial && session->arch->edges->find_called &&
	    (!session->all_entered || writer->more_steps)) {
		if (!session->entered[function])
			session->entered[function] = writer->trials;
		if (session->entered[function] != writer->trials || writer->trials == UINT8_MAX)
			session->all_entered = writer->more_steps = true;
		return;
	}
	writer->helped += !edge->near;
	if (writer->trial) {
		session->left[function] = LITIFUT_SITE_OUT_OF_REACH;
		return;
	}
	writer->session->sites.items[item].site.reason = LITIFUT_SITE_OUT_OF_REACH;
	if (edge->end)
		return;
	if (edge->entry) {
		block->entered = 0;
		block->entered_reason = LITIFUT_SITE_OUT_OF_REACH;
	} else {
		block->taken = block->passed = 0;
		block->reason = LITIFUT_SITE_OUT_OF_REACH;
	}
}

/* Writes the code of an edge, standing at `address`. Where that is in reach, its way to the target
 * leads to `behind`; 0: there is no such place. */
static bool write_code(const struct writer *writer, struct litifut_edge_place *place,
		       const struct litifut_edge *edge, uint32_t behind, uint32_t address,
		       struct litifut_edge_code *code)
{
	const struct litifut_arch_edges *arch = writer->session->arch->edges;

	code->leads = false;
	if (behind) {
		place->target = behind;
		if (arch->write(place, edge, address, code))
			return true;
		place->target = place->block->block.target;
	}
	code->leads = false;
	return arch->write(place, edge, address, code);
}

/* Other code leads to the place where the trial has put it. */
static enum litifut_status moved_since_trial(const struct writer *writer,
					     const struct litifut_graph_block *block,
					     struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_INTERNAL, writer->session->image.path, NULL,
				 block->block.start,
				 "the code of its edge does not stand where a trial has put it");
}

static enum litifut_status write_edge(struct writer *writer, size_t item,
				      struct litifut_error *error)
{
	static const struct litifut_targets none;
	static const struct litifut_landings no_landings;
	struct litifut_session *session = writer->session;
	const struct litifut_edge *edge = &session->edges->items[item];
	struct litifut_edge_place place = litifut_edge_place_of(session, edge->block, &none);
	struct litifut_graph_block *block = &session->edges->graph.items[edge->block];
	/* the trial has found where that is */
	const uint32_t behind = writer->trial || !block->block.target
					? 0
					: litifut_edges_behind_target(session, block);
	struct litifut_rooms *rooms = writer->rooms;
	struct litifut_edge_code code = {
		.flags = writer->flags,
		.tasks = {session->tasks[0], session->tasks[1]},
		.interrupt = is_handler(session, place.block) ? session->interrupt : 0,
		.spawns = writer->spawns,
		.jumps = writer->jumps,
		.gate = rooms->items[rooms->own].address,
		.landings = &writer->landings};
	const struct litifut_detour *detour = &code.detour;
	const bool shared = shared_bytes(session) != 0;
	enum litifut_status status = LITIFUT_OK;
	bool done = false;
	uint32_t address;
	uint8_t *bytes;

	memcpy(code.bits, writer->bits, sizeof(code.bits));
	find_numbers(session, edge, &code);
	for (unsigned tries = 0; tries < (shared ? 2 : 1) && !done && !status; tries++) {
		const struct litifut_room *room = &rooms->items[rooms->own];

		/* with one that is near the edge fails for another reason */
		if (tries && room->address + room->used - writer->mark < MARK_INTERVAL)
			break;
		if (shared && (!writer->mark || tries))
			status = make_mark(writer, error);
		code.mark = writer->mark;
		for (unsigned i = 0; i <= LITIFUT_ENTERED_NUMBER && shared; i++)
			code.bits[i] = writer->mark + (writer->bits[i] - writer->bits[0]);
		if (shared)
			code.spawns = writer->mark + (writer->spawns - writer->bits[0]);
		if (!status)
			done = write_code(writer, &place, edge, behind, room->address + room->used,
					  &code);
	}
	if (status)
		return status;
	if (!done && edge->step && !writer->trial) /* others need it */
		return no_room(writer, error);
	if (!done && block->behind && !writer->trial)
		return moved_since_trial(writer, block, error);
	if (!done) {
		out_of_reach(writer, item);
		return LITIFUT_OK;
	}
	bytes = litifut_rooms_take(rooms, code.bytes, &address);
	if (!bytes)
		return no_room(writer, error);
	/* ways onward may have been put in between */
	if (!write_code(writer, &place, edge, behind, address, &code)) {
		if (block->behind && !writer->trial)
			return moved_since_trial(writer, block, error);
		out_of_reach(writer, item);
		return LITIFUT_OK;
	}
	if (writer->trial) {
		/* what stands before the edge would be left out */
		if (code.behind &&
		    LITIFUT_ENTERED_KIND(block->block.entered) >= LITIFUT_ENTERED_RECORD &&
		    edge->address == block->block.start)
			block->behind = address + code.behind;
		return LITIFUT_OK;
	}
	if (block->behind && code.behind && block->behind != address + code.behind)
		return moved_since_trial(writer, block, error);
	memcpy(bytes, code.code, code.bytes);
	session->sites.items[item].site.exit = address;
	if (code.leads && place.target != block->block.target)
		block->block.flags |= LITIFUT_BLOCK_LEADS_BEHIND;
	if (detour->stone_bytes) {
		replace(writer, place.block, detour->address, detour->code, detour->length,
			detour->stone + 4);
		replace(writer, place.block, detour->stone, detour->stone_code, 4,
			detour->stone_trampoline);
		replace(writer, place.block, detour->stone + 4, detour->stone_code + 4,
			detour->stone_bytes - 4, address);
	} else {
		replace(writer, place.block, detour->address, detour->code, detour->length,
			detour->entry ? detour->entry : address);
	}
	/* what a lent step leads to is known where the code of its borrower is written */
	if ((edge->borrowed &&
	     !put_step(writer, place.block, code.gate, code.landings, edge->borrowed, address)) ||
	    (edge->step && !edge->lends &&
	     !put_step(writer, place.block, code.gate, &no_landings,
		       edge->address + LITIFUT_EDGE_STEP, edge->step)))
		return no_room(writer, error);
	for (unsigned i = 0; i < 2; i++)
		if (detour->frames[i].bytes)
			litifut_frames_add(writer->frames, &detour->frames[i]);
	return LITIFUT_OK;
}

/* The tracer's code that records bits. False: it is not linked in. */
static bool find_bits(struct writer *writer)
{
	static const char *const bits[] = LITIFUT_BITS_SYMBOLS;
	static const char *const numbers[] = LITIFUT_NUMBERS_SYMBOLS;
	const bool numbered = writer->session->context.numbers;
	const bool tokens = writer->session->context.tokens;
	const struct litifut_symbol *symbol;

	for (unsigned i = 0; i < (tokens ? 1 : numbered ? LITIFUT_NUMBERS_CODES : 3); i++) {
		symbol =
			litifut_image_symbol(&writer->session->image, tokens ? LITIFUT_TOKENS_SYMBOL
								      : numbered ? numbers[i]
										 : bits[i]);
		if (!symbol)
			return false;
		writer->bits[i] = symbol->address | symbol->thumb;
	}
	symbol = litifut_image_symbol(&writer->session->image, LITIFUT_BITS_NUMBER);
	if (symbol)
		writer->bits[LITIFUT_ENTERED_NUMBER] = symbol->address | symbol->thumb;
	if (!writer->session->context.system)
		return true;
	symbol = litifut_image_symbol(&writer->session->image, LITIFUT_BITS_SPAWN);
	if (!symbol)
		return false;
	writer->spawns = symbol->address | symbol->thumb;
	symbol = litifut_image_symbol(&writer->session->image, LITIFUT_BITS_JUMP);
	if (symbol)
		writer->jumps = symbol->address | symbol->thumb;
	return true;
}

struct place {
	uint32_t address; /* of the edge */
	uint32_t bytes;   /* of its code */
	size_t item;
	unsigned row; /* its code stands in such rows, one after the other */
};

enum row { ROW_STEP, ROW_BEFORE, ROW_FAR, ROW_BEHIND, ROW_LAST };

static int by_row(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->item < b->item ? -1 : a->item > b->item;
}

/* Code of edges before the room stands at its start, that of the nearest behind it at its end, and
 * in both ascending, so that the distance from an edge to its code is about the same for all. The
 * `places` are sorted by address; `end` is that of the room. */
static void choose_rows(const struct litifut_session *session, struct place *places, size_t count,
			uint32_t start, uint32_t end)
{
	const uint32_t reach = session->arch->edges->near_bytes;
	uint32_t bytes = 0;

	for (size_t i = 0; i < count && reach; i++) {
		places[i].row = session->edges->items[places[i].item].step ? ROW_STEP : ROW_BEFORE;
		if (places[i].address < start || places[i].row == ROW_STEP)
			continue;
		bytes += places[i].bytes;
		places[i].row =
			places[i].address - end < reach && bytes < reach ? ROW_BEHIND : ROW_FAR;
		if (session->edges->items[places[i].item].near)
			places[i].row = ROW_LAST;
	}
	if (count)
		qsort(places, count, sizeof(*places), by_row);
}

static enum litifut_status write_all(struct writer *writer, struct litifut_error *error)
{
	struct litifut_session *session = writer->session;
	const struct litifut_room *room = &writer->rooms->items[writer->rooms->own];
	const struct litifut_edges *edges = session->edges;
	struct place *places = calloc(edges->count + 1, sizeof(*places));
	enum litifut_status status =
		places ? LITIFUT_OK : litifut_error_memory(error, session->image.path);
	size_t count = 0;

	if (!status)
		status = litifut_edge_steps_choose(session, &writer->landings, error);
	for (size_t i = 0; i < edges->count && !status; i++)
		if (session->sites.items[i].site.reason == LITIFUT_SITE_PATCHED)
			places[count++] = (struct place){
				.address = edges->items[i].address,
				.bytes = edge_bytes(session, i),
				.item = i,
			};
	if (count)
		qsort(places, count, sizeof(*places), by_row);
	choose_rows(session, places, count, room->address, room->address + room->size);
	for (size_t i = 0; i < count && !status; i++)
		status = write_edge(writer, places[i].item, error);
	free(writer->landings.items);
	writer->landings.items = NULL;
	free(places);
	return status;
}

/* Leaves all functions of which something is out of reach: without the rest of it a reader can't do
 * anything with a function. What is left then may need more of others. */
static enum litifut_status leave_far(struct writer *writer,
				     const struct litifut_rewrite_options *options,
				     struct litifut_error *error)
{
	struct litifut_session *session = writer->session;
	struct litifut_rooms *rooms = writer->rooms;
	const uint32_t used = rooms->items[rooms->own].used;
	enum litifut_status status = LITIFUT_OK;

	if (!session->far.bits)
		status = litifut_targets_create(session->image.text_start, session->image.text_end,
						&session->far, error);
	if (status)
		return status;
	if (!session->left)
		session->left = calloc(session->image.symbol_count + 2, 1);
	if (!session->entered)
		session->entered = calloc(session->image.symbol_count + 2, 1);
	if (!session->left || !session->entered)
		return litifut_error_memory(error, session->image.path);
	rooms->frames = NULL;
	writer->trial = true;
	do {
		writer->far = writer->helped = 0;
		writer->mark = 0;
		writer->more_steps = false;
		writer->trials += writer->trials < UINT8_MAX;
		status = write_all(writer, error);
		rooms->items[rooms->own].used = used;
		if (!status && writer->helped && options->all_in_reach)
			status = litifut_error_set(error, LITIFUT_ERROR_SPACE, session->image.path,
						   ".text", LITIFUT_NO_ADDRESS,
						   "%zu branches are out of reach", writer->helped);
		if (!status && writer->far) {
			litifut_edges_release(session->edges);
			litifut_sites_release(&session->sites);
			status = litifut_edges_find(session, options, error);
		}
	} while (!status && writer->far);
	writer->trial = false;
	writer->mark = 0;
	rooms->frames = writer->frames;
	return status;
}

enum litifut_status litifut_edges_write(struct litifut_session *session,
					const struct litifut_rewrite_options *options,
					struct litifut_rooms *rooms, struct litifut_frames *frames,
					struct litifut_changes *changes,
					struct litifut_error *error)
{
	const struct litifut_symbol *flags =
		litifut_image_symbol(&session->image, LITIFUT_FLAGS_SYMBOL);
	struct writer writer = {
		.session = session, .rooms = rooms, .frames = frames, .changes = changes};

	if (rooms->own < rooms->count && session->context.bits && find_bits(&writer)) {
		enum litifut_status status = leave_far(&writer, options, error);

		if (!status)
			status = write_all(&writer, error);
		return status ? status
			      : litifut_edges_lead_behind(session, options, rooms, frames, changes,
							  error);
	}
	if (session->flags_in_table && rooms->own < rooms->count) {
		writer.flags = session->flags;
		return write_all(&writer, error);
	}
	if (rooms->own < rooms->count && rooms->items[rooms->own].is_measured) {
		/* it is measured: they come behind all that there is now */
		writer.flags = flags ? flags->address : (session->image.text_end | 0xfff) + 1;
		return write_all(&writer, error);
	}
	if (!flags || flags->size < session->edges->flags_bytes || rooms->own == rooms->count)
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, session->image.path, NULL,
					 LITIFUT_NO_ADDRESS, "room for flags is not enough");
	if (flags->address % 4096)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, session->image.path,
					 NULL, flags->address,
					 "the linker has not put the flags at the start of a page");
	writer.flags = flags->address;
	return write_all(&writer, error);
}
