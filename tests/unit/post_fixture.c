/* Building the fixture and its traces. */
#include "tests/unit/post_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/trace_builder.h"

const struct fixture_target fixture_targets[FIXTURE_TARGETS] = {
	{"A32", "arm-linux-gnueabi-gcc", "-march=armv7-a", "arm.inc", false, false,
	 BUILDER_MACHINE_ARM},
	{"T32", "arm-linux-gnueabihf-gcc", "-mthumb", "arm.inc", false, true, BUILDER_MACHINE_ARM},
	{"A32 big-endian", "arm-linux-gnueabi-gcc", "-march=armv7-a -mbig-endian -Wl,--be8",
	 "arm.inc", true, false, BUILDER_MACHINE_ARM},
	{"MIPS", "mips-linux-gnu-gcc", "-mno-shared -mplt -fno-pic", "mips.inc", true, false,
	 BUILDER_MACHINE_MIPS},
	{"MIPS little-endian", "mipsel-linux-gnu-gcc", "-mno-shared -mplt -fno-pic", "mips.inc",
	 false, false, BUILDER_MACHINE_MIPS},
};

#define SOURCES "tests/unit/post_fixture"
#define APP_ID "2222222222222222222222222222222222222222"
#define LIBRARY_ID "1111111111111111111111111111111111111111"

static void command(const char *format, ...)
{
	char text[2048];
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	assert_true(length > 0 && (size_t)length < sizeof(text));
	if (system(text) != 0)
		fail_msg("failed: %s", text);
}

static void assemble(const struct fixture *fixture, const char *part)
{
	const struct fixture_target *target = fixture->target;

	command("{ %s echo '.include \"%s\"'; echo '.include \"%s.S\"'; } >%s/%s.s && "
		"%s %s -Wa,-I%s -c %s/%s.s -o %s/%s.o",
		target->thumb ? "echo '.equ FIXTURE_THUMB, 1';" : "", target->macros, part,
		fixture->folder, part, target->compiler, target->flags, SOURCES, fixture->folder,
		part, fixture->folder, part);
}

/* The assembler does not know where the PLT entries will be; the rewriter does. */
static void fill_in_plt(struct fixture *fixture)
{
	char path[128];
	struct post_image *image;
	struct litifut_error error;

	snprintf(path, sizeof(path), "%s/app", fixture->folder);
	assert_int_equal(post_image_open(path, &image, &error), LITIFUT_OK);
	assert_int_equal(post_image_load(image, NULL, &error), LITIFUT_OK);
	for (size_t i = 0; i < image->symbols.count; i++) {
		const struct post_symbol *symbol = &image->symbols.items[i];
		if (!(symbol->flags & POST_SYMBOL_PLT))
			continue;
		if (!strcmp(symbol->name, "area"))
			fixture->plt_area = symbol->address;
		if (!strcmp(symbol->name, "walk"))
			fixture->plt_walk = symbol->address;
	}
	assert_int_not_equal(fixture->plt_area, 0);
	assert_int_not_equal(fixture->plt_walk, 0);
	post_image_close(image);

	FILE *file = fopen(path, "r+b");
	assert_non_null(file);
	static uint8_t bytes[1 << 20];
	size_t size = fread(bytes, 1, sizeof(bytes), file);
	static const uint32_t sites[] = {0x20020, 0x20030};
	const uint32_t callees[] = {fixture->plt_area, fixture->plt_walk};
	for (size_t s = 0; s < 2; s++) {
		uint8_t wanted[4], callee[4];
		for (unsigned i = 0; i < 4; i++) {
			unsigned shift = 8 * (fixture->target->big_endian ? 3 - i : i);
			wanted[i] = (uint8_t)(sites[s] >> shift);
			callee[i] = (uint8_t)(callees[s] >> shift);
		}
		uint8_t *record = memmem(bytes, size, wanted, 4);
		assert_non_null(record);
		assert_int_equal(record[16], LITIFUT_SITE_DIRECT);
		fseek(file, record + 12 - bytes, SEEK_SET);
		fwrite(callee, 1, 4, file);
	}
	assert_int_equal(fclose(file), 0);
}

bool fixture_build(struct fixture *fixture, const struct fixture_target *target)
{
	char test[256];

	*fixture = (struct fixture){.target = target};
	snprintf(test, sizeof(test), "command -v %s >/dev/null", target->compiler);
	if (system(test))
		return false;
	strcpy(fixture->folder, "/tmp/litifut-post-test.XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	assemble(fixture, "lib");
	assemble(fixture, "app");
	command("%s %s -nostdlib -shared -Wl,--build-id=0x" LIBRARY_ID
		" -Wl,-Ttext=0x4000 -Wl,-soname,libshape.so %s/lib.o -o %s/libshape.so",
		target->compiler, target->flags, fixture->folder, fixture->folder);
	command("%s %s -nostdlib -no-pie -Wl,--build-id=0x" APP_ID
		" -Wl,-Ttext=0x20000 -Wl,--section-start=.plt=0x18000 -Wl,-e,main %s/app.o "
		"%s/libshape.so -o %s/app",
		target->compiler, target->flags, fixture->folder, fixture->folder, fixture->folder);
	fill_in_plt(fixture);
	return true;
}

void fixture_remove(const struct fixture *fixture)
{
	command("rm -rf %s", fixture->folder);
}

struct fixture fixtures[FIXTURE_TARGETS];

int fixtures_build(void **state)
{
	(void)state;
	for (size_t i = 0; i < FIXTURE_TARGETS; i++) {
		if (!fixture_build(&fixtures[i], &fixture_targets[i]))
			fixtures[i].target = NULL;
	}
	return 0;
}

struct fixture *fixture_next(const struct fixture *previous)
{
	for (size_t i = previous ? (size_t)(previous - fixtures) + 1 : 0; i < FIXTURE_TARGETS;
	     i++) {
		if (fixtures[i].target)
			return &fixtures[i];
	}
	return NULL;
}

int fixtures_remove(void **state)
{
	(void)state;
	for (struct fixture *fixture = NULL; (fixture = fixture_next(fixture));)
		fixture_remove(fixture);
	return 0;
}

/* Return address of the call in line `line` (16 bytes each) of a function. */
static uint32_t after(const struct fixture *fixture, uint32_t function, unsigned line)
{
	uint32_t length = fixture->target->machine == BUILDER_MACHINE_MIPS ? 8 : 4;

	return function + line * 16 + length + (fixture->target->thumb ? 1 : 0);
}

enum {
	MAIN = 0x20000,
	WORK = 0x20060,
	COUNT = 0x200c0,
	CALLBACK = 0x20100,
	FINISH = 0x20160,
	AREA = FIXTURE_LIBRARY_BIAS + 0x4000,
	WALK = FIXTURE_LIBRARY_BIAS + 0x4030
};

struct writer {
	const struct fixture *fixture;
	struct trace_builder *builder;
	bool timed, packed;
	uint32_t chunk_bytes; /* 0: as usual */
	uint32_t time;
};

static void time_word(struct writer *writer)
{
	writer->time += 1000;
	if (writer->timed)
		trace_builder_word(writer->builder, writer->time);
}

static void call(struct writer *writer, uint32_t function, unsigned line)
{
	trace_builder_call(writer->builder, after(writer->fixture, function, line));
	time_word(writer);
}

static void call_to(struct writer *writer, uint32_t kind, uint32_t from, uint32_t callee)
{
	writer->time += 1000;
	trace_builder_control(writer->builder, kind, writer->timed ? 3 : 2,
			      (const uint32_t[]){from,
						 callee + (writer->fixture->target->thumb ? 1 : 0),
						 writer->time});
}

static void start(struct writer *writer, uint32_t pid)
{
	struct litifut_module_record app = {.serial = 1,
					    .text_start = 0x18000,
					    .text_end = 0x201d0,
					    .flags = LITIFUT_MODULE_ACTIVE |
						     LITIFUT_MODULE_EXECUTABLE,
					    .build_id_bytes = 20,
					    .name = "app"};
	struct litifut_module_record library = {.serial = 2,
						.load_bias = FIXTURE_LIBRARY_BIAS,
						.text_start = FIXTURE_LIBRARY_BIAS + 0x4000,
						.text_end = FIXTURE_LIBRARY_BIAS + 0x4080,
						.flags = LITIFUT_MODULE_ACTIVE,
						.build_id_bytes = 20,
						.name = "libshape.so"};

	memset(app.build_id, 0x22, 20);
	memset(library.build_id, 0x11, 20);
	trace_builder_start(writer->builder, writer->fixture->target->big_endian,
			    writer->fixture->target->machine, pid, "app");
	if (writer->chunk_bytes) {
		trace_builder_header32(writer->builder,
				       offsetof(struct litifut_trace_header, chunk_bytes),
				       writer->chunk_bytes);
		writer->builder->chunk_bytes = writer->chunk_bytes;
	}
	trace_builder_header32(writer->builder, offsetof(struct litifut_trace_header, parent_pid),
			       1);
	trace_builder_header64(writer->builder,
			       offsetof(struct litifut_trace_header, start_monotonic_ns),
			       5000000000u + pid);
	if (writer->timed)
		trace_builder_header32(writer->builder,
				       offsetof(struct litifut_trace_header, clock),
				       LITIFUT_CLOCK_MONOTONIC);
	trace_builder_module(writer->builder, &app);
	trace_builder_module(writer->builder, &library);
}

static void open_thread(struct writer *writer, uint32_t thread, uint32_t time)
{
	writer->time = time;
	trace_builder_chunk(writer->builder, thread, writer->timed ? LITIFUT_CHUNK_TIMED : 0,
			    writer->timed ? time : 0);
}

/* The lines of a module, as the kernel would map its segments. */
static void write_maps(const struct fixture *fixture, FILE *file, const char *name, uint32_t bias)
{
	char path[128];
	struct post_image *image;

	snprintf(path, sizeof(path), "%s/%s", fixture->folder, name);
	if (post_image_open(path, &image, NULL) != LITIFUT_OK)
		return; /* a test has moved it away */
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct post_segment *segment = &image->segments[i];
		uint32_t start = segment->address & ~0xfffu;
		uint32_t end = (segment->address + segment->memory_bytes + 0xfff) & ~0xfffu;
		fprintf(file, "%08x-%08x r-%cp %08x 08:01 11 /opt/%s\n", start + bias, end + bias,
			segment->executable ? 'x' : '-', segment->offset & ~0xfffu, name);
	}
	post_image_close(image);
}

static void save(struct writer *writer, const char *name)
{
	char path[128];

	trace_builder_finish(writer->builder);
	if (writer->packed)
		trace_builder_pack(writer->builder, writer->timed);
	snprintf(path, sizeof(path), "%s/trace/%s.trace", writer->fixture->folder, name);
	assert_true(trace_builder_save(writer->builder, path));
	trace_builder_release(writer->builder);
	snprintf(path, sizeof(path), "%s/maps/%s.maps", writer->fixture->folder, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	write_maps(writer->fixture, file, "app", FIXTURE_APP_BIAS);
	write_maps(writer->fixture, file, "libshape.so", FIXTURE_LIBRARY_BIAS);
	fputs("7ffe0000-7fff0000 rw-p 00000000 00:00 0 [stack]\n", file);
	assert_int_equal(fclose(file), 0);
}

void fixture_begin_trace(const struct fixture *fixture, struct trace_builder *builder,
			 uint32_t chunk_bytes)
{
	struct writer writer = {
		.fixture = fixture, .builder = builder, .timed = true, .chunk_bytes = chunk_bytes};

	start(&writer, 300);
}

void fixture_save_trace(const struct fixture *fixture, struct trace_builder *builder)
{
	struct writer writer = {.fixture = fixture, .builder = builder, .timed = true};
	char command[512];

	snprintf(command, sizeof(command), "cd %s && rm -rf trace maps && mkdir trace maps",
		 fixture->folder);
	assert_int_equal(system(command), 0);
	save(&writer, "app.300");
}

void fixture_write_traces(const struct fixture *fixture, bool timed)
{
	fixture_write_packed_traces(fixture, timed, false);
}

void fixture_write_packed_traces(const struct fixture *fixture, bool timed, bool packed)
{
	struct trace_builder builder;
	struct writer writer = {
		.fixture = fixture, .builder = &builder, .timed = timed, .packed = packed};
	char path[128];
	uint32_t thumb = fixture->target->thumb ? 1 : 0;

	snprintf(path, sizeof(path), "%s/trace", fixture->folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/maps", fixture->folder);
	mkdir(path, 0700);

	start(&writer, 100);
	open_thread(&writer, 100, 1000000);
	call(&writer, MAIN, 1); /* work */
	call(&writer, WORK, 1); /* leaf, twice */
	call(&writer, WORK, 2);
	call(&writer, WORK, 3);  /* count */
	call(&writer, COUNT, 1); /* itself, twice deep */
	call(&writer, COUNT, 1);
	call(&writer, COUNT, 2); /* leaf from each activation */
	call(&writer, COUNT, 2);
	call(&writer, COUNT, 2);
	call_to(&writer, LITIFUT_WORD_TAIL, WORK + 64 + 4 + thumb, FINISH);
	call(&writer, MAIN, 2); /* area in the library */
	call(&writer, AREA, 1);
	call(&writer, MAIN, 3); /* walk calls back */
	call_to(&writer, LITIFUT_WORD_INDIRECT,
		WALK + 16 + (fixture->target->machine == BUILDER_MACHINE_MIPS ? 8 : 4) + thumb,
		CALLBACK);
	call(&writer, CALLBACK, 1);
	call(&writer, CALLBACK, 2);
	trace_builder_control(&builder, LITIFUT_WORD_LOST, 1, (const uint32_t[]){3});
	call(&writer, MAIN, 4); /* far_away through a veneer */
	open_thread(&writer, 101, 1000500);
	call(&writer, COUNT, 2); /* entered by code that is not traced */
	save(&writer, "app.100");

	start(&writer, 200);
	open_thread(&writer, 200, 1010100);
	call(&writer, MAIN, 2);
	call(&writer, AREA, 1);
	save(&writer, "app.200");
}

struct fixture_options fixture_defaults(void)
{
	return (struct fixture_options){
		.session = {.demangle = true},
		.output = {.min_share = -1},
		.window = {.last_event = UINT64_MAX, .last_time = UINT64_MAX},
	};
}

static char *replace(char *text, const char *old, const char *now)
{
	char *result = post_copy_text("");
	const char *at = text, *hit;

	while ((hit = strstr(at, old))) {
		char *longer;
		assert_true(asprintf(&longer, "%s%.*s%s", result, (int)(hit - at), at, now) >= 0);
		free(result);
		result = longer;
		at = hit + strlen(old);
	}
	char *whole;
	assert_true(asprintf(&whole, "%s%s", result, at) >= 0);
	free(result);
	free(text);
	return whole;
}

static char *hide_addresses(const struct fixture *fixture, char *text)
{
	static const char *const formats[] = {"0x%x", "%u"};
	char number[16];

	for (size_t i = 0; i < 2; i++) {
		snprintf(number, sizeof(number), formats[i], fixture->plt_area);
		text = replace(text, number, "PLT-AREA");
		snprintf(number, sizeof(number), formats[i], fixture->plt_walk);
		text = replace(text, number, "PLT-WALK");
	}
	return replace(text, fixture->folder, "FOLDER");
}

static void print_problem(void *context, const struct litifut_error *error)
{
	char line[1024];

	fprintf(context, "problem: %s\n", litifut_error_line(error, line, sizeof(line)));
}

char *fixture_run(const struct fixture *fixture, const char *format,
		  const struct fixture_options *options, struct post_totals *totals)
{
	struct fixture_options usual = fixture_defaults();
	struct post_totals ignored;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct post_problems problems = {.report = print_problem, .context = file};
	struct post_session session = {.problems = &problems};
	const struct post_format *wanted = post_format_find(format);

	assert_non_null(file);
	assert_non_null(wanted);
	if (!options)
		options = &usual;
	session.options = options->session;
	post_inputs_add(&session.inputs, fixture->folder, &problems);
	post_inputs_finish(&session.inputs, session.problems);
	post_session_open(&session);
	struct post_output output = {.file = file, .session = &session, .options = options->output};
	struct post_timeline_options run = {.window = options->window, .filter = options->filter};
	post_run(&session, wanted, &output, &run, totals ? totals : &ignored);
	post_session_close(&session);
	assert_int_equal(fclose(file), 0);
	return hide_addresses(fixture, text);
}
