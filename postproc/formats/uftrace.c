/* uftrace: a folder that uftrace 0.9 and later open with report, graph, replay and tui.
 *
 * The files: `info` (a header of 40 bytes and lines of text), `task.txt` (processes and threads),
 * `sid-*.map` for each process (which module is where), a `.sym` file for each module, and for each
 * thread `TID.dat` with records of 16 bytes: {time in ns; type in bits 0 and 1, 5 in bits 3 to
 * 5, depth in bits 6 to 15, address in bits 16 to 63}. The layout is that of uftrace.h and
 * utils/data-file.c in uftrace's sources.
 *
 * As modules of several CPUs and processes come together, each module has a separate range in
 * the addresses: its number in bits 32 and up. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/folder.h"
#include "postproc/formats/format.h"
#include "postproc/model/clock.h"

#define RECORD_BYTES 16
#define RECORD_MAGIC 5u
#define MOST_DEPTH 1023u
#define STACK "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n"

enum record_type { TYPE_ENTRY = 0, TYPE_EXIT = 1, TYPE_LOST = 2 };
enum feature { FEATURE_SESSION = 1 << 1, FEATURE_RELATIVE = 1 << 5, FEATURE_DEPTH = 1 << 6 };
enum information { INFO_NAME = 1 << 0, INFO_COMMAND = 1 << 3, INFO_TASKS = 1 << 7 };

static uint64_t module_base(uint32_t module)
{
	return (uint64_t)(module + 1) << 32;
}

static void write_lane(struct post_output *output, uint32_t lane)
{
	struct post_folder *folder = output->state;
	char name[32];

	snprintf(name, sizeof(name), "%u.dat", output->session->lanes[lane]->id);
	post_pieces_write(&folder->pieces, output, &folder->pieces.items[lane], name, NULL, 0);
}

static void add_record(struct post_output *output, uint32_t lane, uint64_t time, unsigned type,
		       uint32_t depth, uint64_t address)
{
	struct post_folder *folder = output->state;
	struct post_piece *piece = post_pieces_of(&folder->pieces, output, lane);

	if (depth > MOST_DEPTH)
		depth = MOST_DEPTH;
	post_put_number(piece->bytes + piece->used, time, 8);
	post_put_number(piece->bytes + piece->used + 8,
			type | RECORD_MAGIC << 3 | (uint64_t)depth << 6 | address << 16, 8);
	piece->used += RECORD_BYTES;
	if (piece->used == POST_PIECE_BYTES)
		write_lane(output, lane);
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;
	const struct post_session *session = output->session;
	uint64_t time = post_folder_time(output, event);

	/* What is open when the trace ends has no exit there either. */
	if (event->kind == POST_EVENT_SAMPLE || event->kind == POST_EVENT_MARK ||
	    event->flags & POST_EVENT_OPEN)
		return;
	struct post_folder_lane *lane = post_folder_lane(output, event->lane);
	if (!lane->some)
		lane->first = time;
	else if (time < lane->last)
		time = lane->last;
	lane->some = true;
	lane->last = time;
	if (event->kind == POST_EVENT_LOST) {
		add_record(output, event->lane, time, TYPE_LOST, 0,
			   event->value ? event->value : 1);
		return;
	}
	const struct post_function *function = &session->functions[event->callee];
	post_folder_show(output, event->callee);
	add_record(output, event->lane, time,
		   event->kind == POST_EVENT_ENTER ? TYPE_ENTRY : TYPE_EXIT, event->depth,
		   module_base(function->module) + function->address);
}

static int by_address(const void *left, const void *right, void *context)
{
	const struct post_session *session = context;
	const struct post_function *a = &session->functions[*(const uint32_t *)left];
	const struct post_function *b = &session->functions[*(const uint32_t *)right];

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* A name of a file for each module, as several may have the same one. */
static void module_name(const struct post_session *session, uint32_t module, char *name,
			size_t size)
{
	const char *own = session->modules[module].name;
	bool again = false;

	for (uint32_t i = 0; i < module; i++)
		again |= !strcmp(session->modules[i].name, own);
	if (again || !strcmp(own, "?"))
		snprintf(name, size, "%s.%u", again ? own : "unknown", module);
	else
		snprintf(name, size, "%s", own);
}

/* Names are one line each there, and the addresses of the last one end with another line. */
static void write_symbols(struct post_output *output)
{
	const struct post_session *session = output->session;
	const struct post_folder *folder = output->state;
	uint32_t *order = post_allocate(session->function_count + 1, sizeof(*order));
	size_t count = 0;

	for (uint32_t i = 0; i < session->function_count && i < folder->function_count; i++) {
		if (folder->shown[i])
			order[count++] = i;
	}
	qsort_r(order, count, sizeof(*order), by_address, (void *)session);
	for (size_t first = 0, end; first < count; first = end) {
		uint32_t module = session->functions[order[first]].module;
		char name[256], file_name[300];
		for (end = first; end < count && session->functions[order[end]].module == module;)
			end++;
		module_name(session, module, name, sizeof(name));
		snprintf(file_name, sizeof(file_name), "%s.sym", name);
		FILE *file = post_folder_open(output, file_name);
		if (!file)
			break;
		fprintf(file, "# symbols: %zu\n# path name: /%s\n", end - first, name);
		for (size_t i = first; i < end; i++)
			fprintf(file, "%016" PRIx64 " T %s\n",
				(uint64_t)session->functions[order[i]].address,
				session->functions[order[i]].name);
		fprintf(file, "%016" PRIx64 " ? __sym_end\n",
			(uint64_t)session->functions[order[end - 1]].address + 1);
		fclose(file);
	}
	free(order);
}

static void write_map(struct post_output *output, const char *session_id)
{
	const struct post_session *session = output->session;
	char file_name[64], name[256];

	snprintf(file_name, sizeof(file_name), "sid-%s.map", session_id);
	FILE *file = post_folder_open(output, file_name);
	if (!file)
		return;
	for (uint32_t i = 0; i < session->module_count; i++) {
		module_name(session, i, name, sizeof(name));
		fprintf(file, "%" PRIx64 "-%" PRIx64 " r-xp 00000000 00:00 0 /%s\n", module_base(i),
			module_base(i + 1), name);
	}
	fputs(STACK, file);
	fclose(file);
}

static uint64_t first_time(const struct post_output *output, const struct post_process *process)
{
	const struct post_folder *folder = output->state;
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < folder->lane_count && i < output->session->lane_count; i++) {
		if (output->session->lanes[i]->process == process->index && folder->lanes[i].some &&
		    folder->lanes[i].first < first)
			first = folder->lanes[i].first;
	}
	return first;
}

#define TIME "timestamp=%" PRIu64 ".%09" PRIu64
#define PARTS(time) (time) / 1000000000u, (time) % 1000000000u

static void write_tasks(struct post_output *output)
{
	const struct post_session *session = output->session;
	const struct post_folder *folder = output->state;
	FILE *file = post_folder_open(output, "task.txt");

	for (size_t i = 0; file && i < session->process_count; i++) {
		const struct post_process *process = session->processes[i];
		const struct litifut_trace_header *header = &process->trace->header;
		uint64_t first = first_time(output, process);
		char id[32];

		if (first == UINT64_MAX)
			continue;
		snprintf(id, sizeof(id), "%08x%08x", header->pid, (unsigned)i);
		write_map(output, id);
		fprintf(file, "SESS " TIME " pid=%u sid=%s exename=\"/%s\"\n", PARTS(first),
			header->pid, id, header->program);
		for (uint32_t l = 0; l < folder->lane_count && l < session->lane_count; l++) {
			if (session->lanes[l]->process == i && folder->lanes[l].some)
				fprintf(file, "TASK " TIME " tid=%u pid=%u\n",
					PARTS(folder->lanes[l].first), session->lanes[l]->id,
					header->pid);
		}
	}
	if (file)
		fclose(file);
}

static void write_information(struct post_output *output)
{
	const struct post_session *session = output->session;
	const struct post_folder *folder = output->state;
	uint8_t header[40] = "Ftrace!";
	FILE *file = post_folder_open(output, "info");
	const char *program =
		session->process_count ? session->processes[0]->trace->header.program : "?";
	size_t count = 0;

	if (!file)
		return;
	post_put_number(header + 8, 4, 4);
	post_put_number(header + 12, sizeof(header), 2);
	header[14] = 1; /* little-endian */
	header[15] = 2; /* 64-bit */
	post_put_number(header + 16, FEATURE_SESSION | FEATURE_RELATIVE | FEATURE_DEPTH, 8);
	post_put_number(header + 24, INFO_NAME | INFO_COMMAND | INFO_TASKS, 8);
	post_put_number(header + 32, MOST_DEPTH + 1, 2);
	fwrite(header, 1, sizeof(header), file);
	for (uint32_t i = 0; i < folder->lane_count && i < session->lane_count; i++)
		count += folder->lanes[i].some;
	fprintf(file,
		"exename:/%s\ncmdline:%s\ntaskinfo:lines=2\ntaskinfo:nr_tid=%zu\n"
		"taskinfo:tids=",
		program, program, count);
	for (uint32_t i = 0, written = 0; i < folder->lane_count && i < session->lane_count; i++) {
		if (folder->lanes[i].some)
			fprintf(file, "%s%u", written++ ? "," : "", session->lanes[i]->id);
	}
	fputc('\n', file);
	fclose(file);
}

static void finish(struct post_output *output)
{
	post_folder_flush(output, write_lane);
	write_symbols(output);
	write_tasks(output);
	write_information(output);
	post_folder_finish(output);
}

const struct post_format post_format_uftrace = {
	.name = "uftrace",
	.summary = "a folder for uftrace report, graph, replay and tui (-o)",
	.binary = true,
	.folder = true,
	.nested = true,
	.start = post_folder_start,
	.event = event,
	.finish = finish,
};
