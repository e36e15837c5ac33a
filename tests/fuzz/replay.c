/* usage: replay FOLDER...
 * Gives each file of the folders, but not of folders in them, to a fuzz target, for `make
 * coverage'. A folder that is missing has no files. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct stat status;
	uint8_t *data;

	if (!file)
		return;
	if (!fstat(fileno(file), &status) && S_ISREG(status.st_mode)) {
		data = malloc((size_t)status.st_size + 1);
		if (data)
			LLVMFuzzerTestOneInput(data, fread(data, 1, (size_t)status.st_size, file));
		free(data);
	}
	fclose(file);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		DIR *folder = opendir(argv[i]);
		const struct dirent *entry;

		while (folder && (entry = readdir(folder))) {
			char path[4096];

			snprintf(path, sizeof(path), "%s/%s", argv[i], entry->d_name);
			replay(path);
		}
		if (folder)
			closedir(folder);
	}
	return 0;
}
