/* ctf: a trace in the Common Trace Format 1.8, for babeltrace2, Trace Compass and whatever reads
 * traces of LTTng: a folder with `metadata`, which is text, and a stream for each thread. A packet
 * of a stream is a piece of it; events have 17 or 9 bytes. Functions are numbers, which the
 * metadata name. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/folder.h"
#include "postproc/formats/format.h"
#include "postproc/model/clock.h"

#define MAGIC 0xc1fc1fc1u
#define HEAD_BYTES (8 + 5 * 8 + 2 * 4)
#define MOST_EVENT_BYTES 24u

enum event_id { EVENT_ENTER, EVENT_LEAVE, EVENT_MARK };

static void write_packet(struct post_output *output, uint32_t lane)
{
	struct post_folder *folder = output->state;
	const struct post_thread *thread = output->session->lanes[lane];
	struct post_piece *piece = &folder->pieces.items[lane];
	uint64_t bits = (HEAD_BYTES + (uint64_t)piece->used) * 8;
	uint8_t head[HEAD_BYTES];
	char name[32];

	post_put_number(head, MAGIC, 4);
	post_put_number(head + 4, 0, 4);
	post_put_number(head + 8, piece->start, 8);
	post_put_number(head + 16, folder->lanes[lane].last, 8);
	post_put_number(head + 24, bits, 8);
	post_put_number(head + 32, bits, 8);
	post_put_number(head + 40, folder->lanes[lane].lost, 8);
	post_put_number(head + 48, output->session->processes[thread->process]->trace->header.pid,
			4);
	post_put_number(head + 52, thread->id, 4);
	snprintf(name, sizeof(name), "lane_%u", lane);
	post_pieces_write(&folder->pieces, output, piece, name, head, sizeof(head));
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;
	struct post_folder *folder = output->state;
	uint64_t time = post_folder_time(output, event);
	bool call = post_event_is_call(event);

	if (event->kind == POST_EVENT_SAMPLE)
		return;
	struct post_folder_lane *lane = post_folder_lane(output, event->lane);
	if (event->kind == POST_EVENT_LOST) {
		lane->lost += event->value ? event->value : 1;
		return;
	}
	if (lane->some && (time < lane->last || event->flags & POST_EVENT_OPEN))
		time = lane->last;
	lane->some = true;
	struct post_piece *piece = post_pieces_of(&folder->pieces, output, event->lane);
	if (piece->used + MOST_EVENT_BYTES > POST_PIECE_BYTES)
		write_packet(output, event->lane);
	if (!piece->used)
		piece->start = time;
	lane->last = time;
	uint8_t *at = piece->bytes + piece->used;
	at[0] = event->kind == POST_EVENT_ENTER   ? EVENT_ENTER
		: event->kind == POST_EVENT_LEAVE ? EVENT_LEAVE
						  : EVENT_MARK;
	post_put_number(at + 1, time, 8);
	piece->used += 9;
	if (event->kind == POST_EVENT_MARK) {
		post_put_number(at + 9, event->value, 4);
		piece->used += 4;
		return;
	}
	post_put_number(at + 9, event->callee, 4);
	piece->used += 4;
	post_folder_show(output, event->callee);
	if (event->kind == POST_EVENT_ENTER) {
		post_put_number(at + 13,
				call ? output->session->calls[event->site].site_address : 0, 4);
		piece->used += 4;
	}
}

/* A string of the metadata. */
static void write_text(FILE *file, const char *text)
{
	putc('"', file);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', file);
		putc((unsigned char)*text < 0x20 ? ' ' : *text, file);
	}
	putc('"', file);
}

static void write_metadata(struct post_output *output)
{
	const struct post_session *session = output->session;
	const struct post_folder *folder = output->state;
	const struct litifut_trace_header *header =
		session->process_count ? &session->processes[0]->trace->header : NULL;
	FILE *file = post_folder_open(output, "metadata");
	bool timed = header && post_clock_runs(session->processes[0]);
	int64_t offset =
		timed ? (int64_t)(header->start_realtime_ns - header->start_monotonic_ns) : 0;

	if (!file)
		return;
	fputs("/* CTF 1.8 */\n"
	      "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	      "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	      "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	      "typealias integer { size = 32; align = 8; signed = false; base = 16; } := hex32_t;\n"
	      "trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n"
	      "\tpacket.header := struct { uint32_t magic; uint32_t stream_id; };\n};\n"
	      "env {\n\ttracer_name = \"litifut\";\n\tprogram = ",
	      file);
	write_text(file, header ? header->program : "?");
	fprintf(file,
		";\n};\nclock {\n\tname = monotonic;\n\tdescription = \"%s\";\n\tfreq = "
		"1000000000;\n"
		"\toffset_s = %" PRId64 ";\n\toffset = %" PRId64 ";\n};\n",
		timed ? "the kernel's monotonic clock"
		      : "not time: the number of the event, in thousands",
		offset > 0 ? offset / 1000000000 : 0, offset > 0 ? offset % 1000000000 : 0);
	fputs("typealias integer { size = 64; align = 8; signed = false; "
	      "map = clock.monotonic.value; } := timestamp_t;\n"
	      "stream {\n\tid = 0;\n"
	      "\tpacket.context := struct { timestamp_t timestamp_begin; timestamp_t timestamp_end;"
	      " uint64_t content_size; uint64_t packet_size; uint64_t events_discarded;"
	      " uint32_t pid; uint32_t tid; };\n"
	      "\tevent.header := struct { uint8_t id; timestamp_t timestamp; };\n};\n"
	      "typealias enum : uint32_t {",
	      file);
	bool some = false;
	for (uint32_t i = 0; i < session->function_count && i < folder->function_count; i++) {
		if (!folder->shown[i])
			continue;
		fputs(some ? ",\n\t" : "\n\t", file);
		write_text(file, session->functions[i].name);
		fprintf(file, " = %u", i);
		some = true;
	}
	if (!some)
		fputs(" \"none\" = 0", file);
	fputs("\n} := function_t;\n", file);
	static const char *const events[] = {"enter", "leave", "mark"};
	static const char *const fields[] = {"function_t function; hex32_t site;",
					     "function_t function;", "uint32_t number;"};
	for (unsigned i = 0; i < 3; i++)
		fprintf(file,
			"event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n"
			"\tfields := struct { %s };\n};\n",
			events[i], i, fields[i]);
	fclose(file);
}

static void finish(struct post_output *output)
{
	post_folder_flush(output, write_packet);
	write_metadata(output);
	post_folder_finish(output);
}

const struct post_format post_format_ctf = {
	.name = "ctf",
	.summary = "a folder in the Common Trace Format, for babeltrace2 (-o)",
	.binary = true,
	.folder = true,
	.nested = true,
	.start = post_folder_start,
	.event = event,
	.finish = finish,
};
