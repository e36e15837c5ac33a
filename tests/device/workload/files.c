/* Makes calls while the file system of its trace gets full, or is gone, and after there is
 * room again:
 *
 *   files FOLDER     fills the file system of FOLDER in between
 *   files FOLDER x   the same, and it stays full
 *   files            waits for /tmp/go, having made /tmp/ready
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BEFORE 100000
#define DURING 300000
#define AFTER 100000

__attribute__((noipa)) static int step(int n)
{
	return n + 1;
}

static unsigned steps(int count)
{
	unsigned sum = 0;

	for (int i = 0; i < count; i++)
		sum += (unsigned)step(i);
	return sum;
}

/* With what can't be compressed. */
static void fill(const char *path)
{
	static unsigned words[1024];
	unsigned number = 1;
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	for (size_t size = sizeof(words); size; size /= 2) {
		ssize_t done = 1;

		while (done > 0) {
			for (unsigned i = 0; i < 1024; i++)
				words[i] = number = number * 1664525 + 1013904223;
			done = write(file, words, size);
		}
	}
	fsync(file);
	close(file);
}

int main(int count, char **arguments)
{
	char path[256];
	unsigned sum = steps(BEFORE);

	if (count > 1) {
		snprintf(path, sizeof(path), "%s/filler", arguments[1]);
		fill(path);
	} else {
		close(open("/tmp/ready", O_WRONLY | O_CREAT, 0600));
		while (access("/tmp/go", F_OK))
			usleep(10000);
	}
	sum += steps(DURING);
	if (count == 2)
		unlink(path);
	sum += steps(AFTER);
	printf("%u\n", sum);
	return 0;
}
