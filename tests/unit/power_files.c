#include "tests/unit/power_files.h"

#include <archive.h>
#include <archive_entry.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bytes_add(struct file_bytes *file, const void *bytes, size_t size)
{
	if (file->size + size > file->capacity) {
		file->capacity = 2 * (file->size + size);
		file->bytes = realloc(file->bytes, file->capacity);
		if (!file->bytes)
			abort();
	}
	memcpy(file->bytes + file->size, bytes, size);
	file->size += size;
}

void bytes_text(struct file_bytes *file, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	bytes_add(file, text, (size_t)length);
}

void bytes_integer(struct file_bytes *file, uint64_t value, unsigned size, bool big)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < size; i++)
		bytes[big ? size - 1 - i : i] = (uint8_t)(value >> (8 * i));
	bytes_add(file, bytes, size);
}

void bytes_float(struct file_bytes *file, float value, bool big)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	bytes_integer(file, bits, 4, big);
}

void bytes_double(struct file_bytes *file, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	bytes_integer(file, bits, 8, false);
}

void bytes_release(struct file_bytes *file)
{
	free(file->bytes);
	*file = (struct file_bytes){0};
}

struct zip {
	struct file_bytes file;
	struct archive *archive;
};

static la_ssize_t zip_written(struct archive *archive, void *context, const void *bytes,
			      size_t size)
{
	(void)archive;
	bytes_add(context, bytes, size);
	return (la_ssize_t)size;
}

static void zip_open(struct zip *zip)
{
	*zip = (struct zip){.archive = archive_write_new()};
	archive_write_set_format_zip(zip->archive);
	archive_write_set_bytes_in_last_block(zip->archive, 1);
	archive_write_open(zip->archive, &zip->file, NULL, zip_written, NULL);
}

static void zip_member(struct zip *zip, const char *name, struct file_bytes *content)
{
	struct archive_entry *entry = archive_entry_new();

	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, (la_int64_t)content->size);
	archive_write_header(zip->archive, entry);
	archive_write_data(zip->archive, content->bytes, content->size);
	archive_entry_free(entry);
	bytes_release(content);
}

static struct file_bytes zip_close(struct zip *zip)
{
	archive_write_close(zip->archive);
	archive_write_free(zip->archive);
	return zip->file;
}

struct file_bytes make_ppk2(size_t count, size_t high)
{
	struct file_bytes session = {0}, metadata = {0};
	struct zip zip;

	for (size_t i = 0; i < count; i++) {
		bytes_float(&session, 1000.0f + (float)i, false);
		bytes_integer(&session, i >= high ? 0x5556 : 0x5555, 2, false);
	}
	bytes_text(&metadata, "{\"metadata\":{\"samplesPerSecond\":100000,"
			      "\"startSystemTime\":1700000000000},\"formatVersion\":2}");
	zip_open(&zip);
	zip_member(&zip, "session.raw", &session);
	zip_member(&zip, "metadata.json", &metadata);
	return zip_close(&zip);
}

struct file_bytes make_sigrok(size_t count)
{
	struct file_bytes version = {0}, metadata = {0}, logic = {0}, analog = {0};
	struct zip zip;

	bytes_text(&version, "2");
	bytes_text(&metadata, "[global]\nsigrok version=0.5.2\n\n[device 1]\n"
			      "capturefile=logic-1\ntotal probes=2\nsamplerate=1 MHz\n"
			      "total analog=1\nprobe1=D0\nprobe2=SYNC\nanalog3=I\nunitsize=1\n");
	for (size_t i = 0; i < count; i++) {
		bytes_integer(&logic, i % 100 < 50 ? 0 : 2, 1, false);
		bytes_float(&analog, (float)(i + 1), false);
	}
	zip_open(&zip);
	zip_member(&zip, "version", &version);
	zip_member(&zip, "metadata", &metadata);
	zip_member(&zip, "logic-1-1", &logic);
	zip_member(&zip, "analog-1-3-1", &analog);
	return zip_close(&zip);
}

struct file_bytes make_dlog(size_t count, bool min_max)
{
	struct file_bytes file = {0};

	bytes_text(&file, "<dlog>\n");
	for (int i = 1; i <= 4; i++)
		bytes_text(&file,
			   "\t<channel id=\"%d\">\n\t\t<ident><model>N6781A</model><option>"
			   "<1ua>1</1ua></option></ident>\n\t\t<sense_volt>%d</sense_volt>\n"
			   "\t\t<sense_curr>%d</sense_curr>\n\t</channel>\n",
			   i, i % 2, i % 2);
	bytes_text(&file,
		   "\t<frame>\n\t\t<sense_minmax>%d</sense_minmax>\n\t\t<tint>2.048e-05</tint>\n"
		   "\t</frame>\n</dlog>\n",
		   min_max);
	bytes_integer(&file, 0, 8, false);
	for (size_t i = 0; i < count; i++) {
		bytes_float(&file, 3, true);
		bytes_float(&file, (float)(i + 1) * 1e-3f, true);
		bytes_float(&file, 5, true);
		bytes_float(&file, 10e-3f, true);
	}
	return file;
}

struct file_bytes make_saleae_digital(unsigned version, size_t count)
{
	struct file_bytes file = {0};

	bytes_text(&file, "<SALEAE>");
	bytes_integer(&file, version, 4, false);
	bytes_integer(&file, 0, 4, false);
	if (version)
		bytes_integer(&file, 1, 8, false);
	bytes_integer(&file, 0, 4, false);
	if (version)
		bytes_double(&file, 1e6);
	bytes_double(&file, 0);
	bytes_double(&file, (double)count * 1e-3 + 1);
	bytes_integer(&file, count, 8, false);
	for (size_t i = 0; i < count; i++)
		bytes_double(&file, (double)(i + 1) * 1e-3);
	return file;
}

struct file_bytes make_saleae_analog(unsigned version, size_t count)
{
	struct file_bytes file = {0};
	const double rate = 125e3;

	bytes_text(&file, "<SALEAE>");
	bytes_integer(&file, version, 4, false);
	bytes_integer(&file, 1, 4, false);
	if (version)
		bytes_integer(&file, 2, 8, false);
	for (unsigned wave = 0; wave < (version ? 2 : 1); wave++) {
		bytes_double(&file, wave * ((double)count / rate + 1));
		if (version) {
			bytes_double(&file, 0);
			bytes_double(&file, rate);
		} else {
			bytes_integer(&file, (uint64_t)rate, 8, false);
		}
		bytes_integer(&file, 1, 8, false);
		bytes_integer(&file, count, 8, false);
		for (size_t i = 0; i < count; i++)
			bytes_float(&file, (float)(i + 1) * 1e-3f, false);
	}
	return file;
}

struct file_bytes make_energytrace(size_t count, double nanojoules, bool with_state)
{
	struct file_bytes file = {0};
	double time = 1000;

	for (size_t i = 0; i < count; i++) {
		if (with_state)
			bytes_text(&file, "0x0000000000000080 ");
		bytes_text(&file, "%.0f %.0f 3300 %.0f\n", time, 303030.0,
			   fmod(nanojoules, 4294967296.0));
		/* not equidistant: 1 ms, 1.5 ms, 1 ms ... */
		double length = i % 2 ? 1500 : 1000;
		time += length;
		nanojoules += length; /* 1 mW: a nanojoule a microsecond */
	}
	return file;
}
