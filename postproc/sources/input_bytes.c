/* Plain files are mapped; .gz and .zst are unpacked to an unnamed file first. */
#include "postproc/sources/input_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "postproc/table.h"

#define PIECE (256u * 1024)

enum packing { PLAIN, GZIP, ZSTD };

static enum packing packing_of(const uint8_t *bytes, size_t size)
{
	if (size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
		return GZIP;
	if (size >= 4 && bytes[0] == 0x28 && bytes[1] == 0xb5 && bytes[2] == 0x2f &&
	    bytes[3] == 0xfd)
		return ZSTD;
	return PLAIN;
}

static enum litifut_status failed(const char *path, struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS, "%s",
				 strerror(errno));
}

/* Gives how much of it could be written. */
static size_t write_all(int file, const uint8_t *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t written = write(file, bytes + done, size - done);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			break;
		done += (size_t)written;
	}
	return done;
}

static uint64_t most_unpacked = 64ull << 30;

void post_input_limit(uint64_t bytes)
{
	most_unpacked = bytes;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	return !size || (!bytes[0] && !memcmp(bytes, bytes + 1, size - 1));
}

/* The same, with holes in the file where there are zeros: they take no room on disk. */
static size_t write_sparse(int file, const uint8_t *bytes, size_t size)
{
	if (!is_zero(bytes, size))
		return write_all(file, bytes, size);
	off_t end = lseek(file, (off_t)size, SEEK_CUR);
	return end < 0 || ftruncate(file, end) ? 0 : size;
}

/* Gets the next piece of unpacked bytes; 0 at the end, -1 on damage. */
struct unpacker {
	enum packing packing;
	gzFile gzip;
	int file;
	ZSTD_DStream *zstd;
	ZSTD_inBuffer in;
	uint8_t *packed;
	bool frame_open;
};

static bool unpack_start(struct unpacker *unpacker, int file, enum packing packing)
{
	*unpacker = (struct unpacker){.packing = packing, .file = file};
	if (packing == GZIP) {
		int copy = dup(file);
		unpacker->gzip = copy < 0 ? NULL : gzdopen(copy, "rb");
		if (!unpacker->gzip && copy >= 0)
			close(copy);
		return unpacker->gzip;
	}
	unpacker->zstd = ZSTD_createDStream();
	unpacker->packed = post_reallocate(NULL, PIECE, 1);
	unpacker->in.src = unpacker->packed;
	return unpacker->zstd;
}

static ssize_t unpack_zstd(struct unpacker *unpacker, uint8_t *bytes, size_t size)
{
	ZSTD_outBuffer out = {bytes, size, 0};

	while (out.pos < out.size) {
		if (unpacker->in.pos == unpacker->in.size) {
			ssize_t got = read(unpacker->file, unpacker->packed, PIECE);
			if (got < 0)
				return -1;
			if (got == 0) {
				if (out.pos)
					break;
				return unpacker->frame_open ? -1 : 0;
			}
			unpacker->in.pos = 0;
			unpacker->in.size = (size_t)got;
		}
		size_t left = ZSTD_decompressStream(unpacker->zstd, &out, &unpacker->in);
		if (ZSTD_isError(left))
			return out.pos ? (ssize_t)out.pos : -1;
		unpacker->frame_open = left != 0;
	}
	return (ssize_t)out.pos;
}

static ssize_t unpack_next(struct unpacker *unpacker, uint8_t *bytes, size_t size)
{
	if (unpacker->packing == ZSTD)
		return unpack_zstd(unpacker, bytes, size);
	int got = gzread(unpacker->gzip, bytes, (unsigned)size);
	if (got == 0) { /* zlib reports a cut file only here */
		int number;
		gzerror(unpacker->gzip, &number);
		if (number != Z_OK && number != Z_STREAM_END)
			return -1;
	}
	return got;
}

static void unpack_end(struct unpacker *unpacker)
{
	if (unpacker->gzip)
		gzclose(unpacker->gzip);
	ZSTD_freeDStream(unpacker->zstd);
	free(unpacker->packed);
}

/* A file without a name, gone when it is closed. */
static int unnamed_file(void)
{
	const char *folder = getenv("TMPDIR");
	char name[4096];

	if (!folder || !*folder)
		folder = "/var/tmp";
	int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file >= 0)
		return file;
	size_t length = strlen(folder);
	if (length + 20 > sizeof(name))
		return -1;
	memcpy(name, folder, length);
	strcpy(name + length, "/litifut-post.XXXXXX");
	file = mkostemp(name, O_CLOEXEC);
	if (file >= 0)
		unlink(name);
	return file;
}

/* A few bytes can unpack to terabytes: half of the room stays for others. */
static uint64_t room_for(int file)
{
	struct statvfs about;
	uint64_t room =
		fstatvfs(file, &about) ? UINT64_MAX : (uint64_t)about.f_bavail * about.f_frsize / 2;

	return room < most_unpacked ? room : most_unpacked;
}

uint64_t post_input_room(void)
{
	int file = unnamed_file();
	uint64_t room = file < 0 ? 0 : room_for(file);

	if (file >= 0)
		close(file);
	return room;
}

/* What can be unpacked is kept, whatever comes in the way. */
static int unpack(const char *path, int packed, enum packing packing,
		  struct post_problems *problems, struct litifut_error *error)
{
	struct unpacker unpacker;
	int file = unnamed_file();

	if (file < 0) {
		failed("a temporary file (TMPDIR)", error);
		return -1;
	}
	uint8_t *piece = post_reallocate(NULL, PIECE, 1);
	uint64_t total = 0, room = room_for(file);
	bool full = false;
	ssize_t got = -1;
	if (unpack_start(&unpacker, packed, packing)) {
		while (!full && (got = unpack_next(&unpacker, piece, PIECE)) > 0) {
			size_t wanted =
				total + (uint64_t)got > room ? (size_t)(room - total) : (size_t)got;
			size_t written = write_sparse(file, piece, wanted);
			total += written;
			full = written < (size_t)got;
		}
	}
	if (full)
		post_problem_at(
			problems, path, LITIFUT_NO_ADDRESS,
			room == most_unpacked
				? "larger than --max-unpacked allows; its first %llu bytes are "
				  "read"
				: "no more room for the unpacked trace in TMPDIR after %llu "
				  "bytes; what has come so far is read",
			(unsigned long long)total);
	else if (got < 0)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"the compressed data is damaged or cut after %llu unpacked bytes",
				(unsigned long long)total);
	unpack_end(&unpacker);
	free(piece);
	return file;
}

enum litifut_status post_input_map(const char *path, uint8_t **data, size_t *size,
				   struct post_problems *problems, struct litifut_error *error)
{
	struct stat about;
	uint8_t start[4];
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not block */

	if (file < 0)
		return failed(path, error);
	if (!fstat(file, &about) && !S_ISREG(about.st_mode)) {
		close(file);
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, path, NULL,
					 LITIFUT_NO_ADDRESS, "not a regular file");
	}
	ssize_t got = pread(file, start, sizeof(start), 0);
	if (got < 0) {
		enum litifut_status status = failed(path, error);
		close(file);
		return status;
	}
	enum packing packing = packing_of(start, (size_t)got);
	if (packing != PLAIN) {
		int plain = unpack(path, file, packing, problems, error);
		close(file);
		if (plain < 0)
			return LITIFUT_ERROR_IO;
		file = plain;
	}
	*data = NULL;
	*size = 0;
	enum litifut_status status = LITIFUT_OK;
	if (fstat(file, &about)) {
		status = failed(path, error);
	} else if (about.st_size > 0) {
		*size = (size_t)about.st_size;
		*data = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
		if (*data == MAP_FAILED)
			status = failed(path, error);
		else
			madvise(*data, *size, MADV_SEQUENTIAL);
	}
	close(file);
	return status;
}

void post_input_unmap(uint8_t *data, size_t size)
{
	if (size)
		munmap(data, size);
}

bool post_input_is_packed(const char *path)
{
	uint8_t start[4];
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (file < 0)
		return false;
	ssize_t got = pread(file, start, sizeof(start), 0);
	close(file);
	return got > 0 && packing_of(start, (size_t)got) != PLAIN;
}

size_t post_input_peek(const char *path, uint8_t *bytes, size_t size)
{
	uint8_t start[4];
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (file < 0)
		return 0;
	ssize_t got = pread(file, start, sizeof(start), 0);
	enum packing packing = got > 0 ? packing_of(start, (size_t)got) : PLAIN;
	if (packing == PLAIN) {
		got = pread(file, bytes, size, 0);
	} else {
		struct unpacker unpacker;
		got = unpack_start(&unpacker, file, packing) ? unpack_next(&unpacker, bytes, size)
							     : 0;
		unpack_end(&unpacker);
	}
	close(file);
	return got > 0 ? (size_t)got : 0;
}
