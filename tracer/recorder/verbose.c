/* LITIFUT_VERBOSE: one line on the program's stderr where the recorder starts,
 * stops, gives up, or carries the trace away. Without it nothing is printed. */

#include "tracer/recorder/verbose.h"

#include <linux/fs.h>
#include <linux/poll.h>
#include <stddef.h>

#include "tracer/port/linux/room.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/text.h"

#define LITIFUT_PIECES 10

struct litifut_piece {
	const char *text;
	uint32_t length;
};

/* Nothing reads the pipe any more, or the file is at RLIMIT_FSIZE: a write would
 * bring the program a signal that it would not have had without our words. */
static bool litifut_is_safe_to_write(uint32_t bytes)
{
	struct pollfd poll = {.fd = 2, .events = POLLOUT};
	uint64_t position = 0;
	uint32_t stat[40] __attribute__((aligned(8)));
	long flags = LITIFUT_CALL2(fcntl64, 2, F_GETFL);

	LITIFUT_CALL3(poll, &poll, 1, 0);
	if (litifut_failed(flags) || poll.revents != POLLOUT)
		return false;
	if (flags & O_APPEND && !litifut_failed(LITIFUT_CALL2(fstat64, 2, stat)))
		position = litifut_port_file_size(stat);
	else if (litifut_failed(LITIFUT_CALL5(_llseek, 2, 0, 0, &position, SEEK_CUR)))
		return true;
	return litifut_within_file_limit(position + bytes);
}

/* The errors that people meet; no pointers, so that it needs no relocation. */
static const struct {
	char number;
	char text[30];
} litifut_reasons[] = {
	{EPERM, "others may write on the way"},
	{ENOENT, "no such file or directory"},
	{EIO, "input/output error"},
	{ENOMEM, "cannot allocate memory"},
	{EACCES, "permission denied"},
	{ENOTDIR, "not a directory"},
	{EMFILE, "too many open files"},
	{EFBIG, "file too large"},
	{ENOSPC, "no space left on device"},
	{EROFS, "read-only file system"},
	{ELOOP, "links of others, or too many"},
};

/* The text, or NULL. */
static const char *litifut_reason(uint32_t number)
{
	for (uint32_t i = 0; i < sizeof(litifut_reasons) / sizeof(litifut_reasons[0]); i++)
		if (number == (uint32_t)litifut_reasons[i].number)
			return litifut_reasons[i].text;
	return NULL;
}

void litifut_tell_start(void)
{
	/* A file that the program opens may get the number. */
	if (litifut_failed(LITIFUT_CALL2(fcntl64, 2, F_GETFL)))
		litifut_recorder.settings.verbose = 0;
}

void litifut_tell(const char *what, const char *where, long result)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_piece pieces[LITIFUT_PIECES];
	const char *texts[LITIFUT_PIECES];
	char process[LITIFUT_NUMBER_BYTES];
	char number[LITIFUT_NUMBER_BYTES];
	struct litifut_text text;
	uint32_t count = 0;
	uint32_t bytes = 0;

	if (!r->settings.verbose)
		return;
	litifut_text_start(&text, process, sizeof(process), "");
	litifut_text_add_number(&text, litifut_process_id());
	texts[count++] = "litifut: ";
	texts[count++] = r->program;
	texts[count++] = ".";
	texts[count++] = process;
	texts[count++] = ": ";
	texts[count++] = what;
	texts[count++] = where;
	if (litifut_failed(result)) {
		const char *reason = litifut_reason((uint32_t)-result);

		litifut_text_start(&text, number, sizeof(number), "");
		litifut_text_add_number(&text, (uint32_t)-result);
		texts[count++] = reason ? ": " : ": error ";
		texts[count++] = reason ? reason : number;
	}
	texts[count++] = "\n";
	for (uint32_t i = 0; i < count; i++) {
		pieces[i].text = texts[i];
		pieces[i].length = litifut_length(texts[i]);
		bytes += pieces[i].length;
	}
	if (litifut_is_safe_to_write(bytes))
		LITIFUT_CALL3(writev, 2, pieces, count);
}
