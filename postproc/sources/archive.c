/* Archives are unpacked by libarchive. Every name in one is taken as hostile: only its last part is
 * used, below a number. */
#include "postproc/sources/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "postproc/sources/input_bytes.h"

#define MOST_ARCHIVES 64u
#define MOST_FILES 65536u
#define PIECE (256u * 1024)
#define TAR_MAGIC 257 /* where "ustar" stands */

static char folders[MOST_ARCHIVES][PATH_MAX / 4];
static volatile unsigned folder_count;

bool post_archive_is(const char *path)
{
	uint8_t start[TAR_MAGIC + 5];
	size_t size = post_input_peek(path, start, sizeof(start));

	return (size >= 4 && !memcmp(start, "PK\3\4", 4)) ||
	       (size >= 6 &&
		!memcmp(start, "\3757zXZ", 6)) || /* not unpacked here: a tar or an error */
	       (size == sizeof(start) && !memcmp(start + TAR_MAGIC, "ustar", 5));
}

static const char *new_folder(void)
{
	const char *parent = getenv("TMPDIR");
	char *name = folders[folder_count < MOST_ARCHIVES ? folder_count : 0];

	if (folder_count == MOST_ARCHIVES) {
		errno = EMFILE;
		return NULL;
	}
	if (!parent || !*parent)
		parent = "/var/tmp";
	if (snprintf(name, sizeof(*folders), "%s/litifut-post.XXXXXX", parent) >=
	    (int)sizeof(*folders)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	if (!mkdtemp(name))
		return NULL;
	folder_count++;
	return name;
}

/* The file for an entry: FOLDER/NUMBER/NAME. */
static int open_entry(const char *folder, unsigned number, const char *name)
{
	char path[PATH_MAX];
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;

	errno = 0;
	if (!*base || !strcmp(base, ".") || !strcmp(base, ".."))
		return -1; /* a name that no file has */
	snprintf(path, sizeof(path), "%s/%u", folder, number);
	if (mkdir(path, 0700) ||
	    snprintf(path, sizeof(path), "%s/%u/%s", folder, number, base) >= PATH_MAX)
		return -1;
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Gives false when there is no more room, or the data are damaged. */
static bool copy_entry(struct archive *archive, int file, uint64_t *room)
{
	static char piece[PIECE];
	la_ssize_t got;

	while ((got = archive_read_data(archive, piece, sizeof(piece))) > 0) {
		if ((uint64_t)got > *room) {
			archive_set_error(archive, EFBIG, "larger than --max-unpacked allows");
			return false;
		}
		*room -= (uint64_t)got;
		if (write(file, piece, (size_t)got) != got) {
			archive_set_error(archive, errno, "no more room for it in TMPDIR");
			return false;
		}
	}
	return got == 0;
}

const char *post_archive_unpack(const char *path, struct post_problems *problems)
{
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;
	const char *folder = new_folder();
	uint64_t room = post_input_room();
	unsigned number = 0;
	int status = ARCHIVE_FATAL;
	bool good = true;

	if (!folder || !archive) {
		post_problem_at(problems, "a temporary folder (TMPDIR)", LITIFUT_NO_ADDRESS, "%s",
				strerror(errno));
		archive_read_free(archive);
		return NULL;
	}
	archive_read_support_filter_gzip(archive);
	archive_read_support_filter_zstd(archive);
	archive_read_support_filter_xz(archive);
	archive_read_support_format_tar(archive);
	archive_read_support_format_zip(archive);
	if (archive_read_open_filename(archive, path, PIECE) == ARCHIVE_OK) {
		while (good && number < MOST_FILES &&
		       ((status = archive_read_next_header(archive, &entry)) == ARCHIVE_OK ||
			status == ARCHIVE_WARN)) {
			const char *name = archive_entry_pathname(entry);
			if (archive_entry_filetype(entry) != AE_IFREG || !name)
				continue;
			int file = open_entry(folder, number++, name);
			if (file < 0 && errno)
				post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
						"%s can't be unpacked (TMPDIR): %s", name,
						strerror(errno));
			if (file < 0)
				continue;
			good = copy_entry(archive, file, &room);
			close(file);
		}
	}
	if (good && number == MOST_FILES &&
	    archive_read_next_header(archive, &entry) != ARCHIVE_EOF)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"only the first %u files of the archive are read", MOST_FILES);
	else if (!good || (status != ARCHIVE_EOF && number < MOST_FILES))
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"%s; what came before in the archive is read",
				archive_error_string(archive) ? archive_error_string(archive)
							      : "damaged");
	archive_read_free(archive);
	return folder;
}

void post_archives_remove(void)
{
	while (folder_count) {
		pid_t child = fork();
		if (!child) {
			execl("/bin/rm", "rm", "-rf", "--", folders[folder_count - 1],
			      (char *)NULL);
			_exit(127);
		}
		waitpid(child, NULL, 0);
		folder_count--;
	}
}
