/* All bytes are saved as they are, so that a damaged line can be looked at afterwards; only
 * the end of a sending is looked for here. Behind the last one that is asked for nothing is saved:
 * the start of another one would look like a line that was cut. */
#include "ldwrap/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <litifut/frames_format.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "common/serial_frames.h"
#include "common/swo.h"

struct capture {
	const struct capture_options *options;
	unsigned rounds;
	bool announced; /* that it goes on */
	bool events;    /* sendings hold events */
	bool begun;     /* the header of this sending has come */
	uint8_t frames; /* after it, modulo 256 */
};

static const struct {
	unsigned baud;
	speed_t speed;
} speeds[] = {
	{1200, B1200},       {2400, B2400},       {4800, B4800},       {9600, B9600},
	{19200, B19200},     {38400, B38400},     {57600, B57600},     {115200, B115200},
	{230400, B230400},   {460800, B460800},   {500000, B500000},   {921600, B921600},
	{1000000, B1000000}, {1500000, B1500000}, {2000000, B2000000}, {3000000, B3000000},
};

static enum litifut_status failed(const char *path, const char *what, struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS, "%s: %s",
				 what, strerror(errno));
}

/* Sets the line to deliver bytes as they come, at the speed of the options. */
static enum litifut_status set_line(int line, const struct capture_options *options,
				    struct litifut_error *error)
{
	struct termios settings;
	size_t i = 0;

	if (!isatty(line))
		return LITIFUT_OK;
	while (options->baud && i < sizeof(speeds) / sizeof(*speeds) &&
	       speeds[i].baud != options->baud)
		i++;
	if (i == sizeof(speeds) / sizeof(*speeds))
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, options->source, NULL,
					 LITIFUT_NO_ADDRESS, "no serial line has %u baud",
					 options->baud);
	if (tcgetattr(line, &settings))
		return failed(options->source, "its settings can't be read", error);
	cfmakeraw(&settings);
	settings.c_cflag |= CLOCAL | CREAD;
	if (options->baud) {
		cfsetispeed(&settings, speeds[i].speed);
		cfsetospeed(&settings, speeds[i].speed);
	}
	if (tcsetattr(line, TCSANOW, &settings))
		return failed(options->source, "it can't be set", error);
	return LITIFUT_OK;
}

static void take_frame(void *context, uint8_t type, uint8_t sequence, const uint8_t *payload,
		       size_t size)
{
	struct capture *capture = context;
	size_t at = 0;

	(void)sequence;
	if (type == LITIFUT_FRAME_HEADER) {
		litifut_serial_number(payload, size, &at); /* the version */
		capture->events = litifut_serial_number(payload, size, &at) & LITIFUT_FRAMES_SPANS;
		capture->begun = true;
		capture->frames = 0;
	} else if (type == LITIFUT_FRAME_END) {
		litifut_serial_number(payload, size, &at);
		capture->rounds += capture->begun &&
				   litifut_serial_number(payload, size, &at) == capture->frames;
		capture->begun = false;
	} else {
		capture->frames++;
	}
}

static void take_text(void *context, const uint8_t *bytes, size_t size)
{
	const struct capture *capture = context;

	if (capture->options->text) {
		fwrite(bytes, 1, size, capture->options->text);
		fflush(capture->options->text);
	}
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static bool is_enough(struct capture *capture)
{
	const struct capture_options *options = capture->options;

	if (options->rounds)
		return capture->rounds >= options->rounds;
	if (capture->rounds && capture->events && options->goes_on && !capture->announced) {
		capture->announced = true;
		options->goes_on(options->source);
	}
	return capture->rounds && !capture->events;
}

static volatile sig_atomic_t is_interrupted;

static void interrupt(int number)
{
	(void)number;
	is_interrupted = 1;
}

/* Waits for bytes. False: the time is over. */
static bool wait_for(int line, double end)
{
	struct pollfd poller = {.fd = line, .events = POLLIN};
	double left = end - now();

	return !end || (left > 0 && poll(&poller, 1, (int)(left * 1000) + 1) > 0);
}

/* Reads frames, each up to the zero behind it, as long as one is needed. Returns how many bytes
 * these are. */
static size_t feed(struct capture *capture, struct litifut_serial *serial, const uint8_t *bytes,
		   size_t size)
{
	size_t at = 0;

	while (at < size && !is_enough(capture)) {
		const uint8_t *zero = memchr(bytes + at, 0, size - at);
		const size_t end = zero ? (size_t)(zero - bytes) + 1 : size;

		litifut_serial_feed(serial, bytes + at, end - at);
		at = end;
	}
	return at;
}

static enum litifut_status copy(struct capture *capture, int line, FILE *output,
				struct litifut_error *error)
{
	const struct capture_options *options = capture->options;
	const struct litifut_serial_sink sink = {take_frame, take_text, capture};
	double end = options->seconds ? now() + options->seconds : 0;
	struct litifut_serial serial;
	struct litifut_swo swo = {0};

	litifut_serial_begin(&serial, &sink);
	while (!is_enough(capture) && !is_interrupted && wait_for(line, end)) {
		uint8_t bytes[256];
		ssize_t got = read(line, bytes, sizeof(bytes));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return failed(options->source, "can't be read", error);
		if (!got)
			break;
		if (options->swo)
			got = (ssize_t)litifut_swo_take(&swo, bytes, (size_t)got, bytes);
		got = (ssize_t)feed(capture, &serial, bytes, (size_t)got);
		if (fwrite(bytes, 1, (size_t)got, output) != (size_t)got || fflush(output))
			return failed(options->output, "can't be written", error);
	}
	litifut_serial_end(&serial);
	return LITIFUT_OK;
}

enum litifut_status capture_run(const struct capture_options *options, unsigned *rounds,
				struct litifut_error *error)
{
	struct capture capture = {.options = options};
	bool standard = !strcmp(options->source, "-");
	int line = standard ? STDIN_FILENO : open(options->source, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	enum litifut_status status;
	FILE *output;

	const struct sigaction handler = {.sa_handler = interrupt};
	struct sigaction before;

	*rounds = 0;
	if (line < 0)
		return failed(options->source, "can't be opened", error);
	status = set_line(line, options, error);
	output = status ? NULL : fopen(options->output, "we");
	if (!status && !output)
		status = failed(options->output, "can't be written", error);
	is_interrupted = 0;
	sigaction(SIGINT, &handler, &before);
	if (!status)
		status = copy(&capture, line, output, error);
	sigaction(SIGINT, &before, NULL);
	if (output && fclose(output) && !status)
		status = failed(options->output, "can't be written", error);
	if (!standard)
		close(line);
	*rounds = capture.rounds;
	return status;
}
