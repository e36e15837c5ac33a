/* The files of a trace. */
#ifndef LITIFUT_TRACER_FILES_H
#define LITIFUT_TRACER_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/recorder/settings.h"
#include "tracer/sink/trace_file.h"

/* A folder of the settings, then /trace/NAME.PID.TRY.trace, and a NUL. */
#define LITIFUT_FILE_PATH_BYTES (LITIFUT_PATH_BYTES + 7 + 64 + 11 + 3 + 6)

#pragma GCC visibility push(hidden)

/* Makes the paths of the settings absolute, because the program may change directory. */
void litifut_files_start(void);
/* Opens a file to write to. It never gets the number of a standard stream that the
 * program has closed, or what the program writes there would end up in the file. */
long litifut_open_to_write(const char *path, uint32_t flags);
/* BASE/KIND/NAME.PID[.NUMBER].KIND; there is room for the longest. */
void litifut_file_path(const struct litifut_trace_file *file, char path[LITIFUT_FILE_PATH_BYTES],
		       const char *base, const char *kind);
/* Makes BASE/trace and BASE/maps, and the folders above them. */
void litifut_directories_make(const char *base);
/* Makes the directories and the trace file of file->process, and maps its header.
 * False: no file is left. */
bool litifut_trace_create(struct litifut_trace_file *file);
/* The trace file's descriptor, checked to be still ours and opened again when the
 * program has closed it; negative when that fails. */
long litifut_trace_descriptor(struct litifut_trace_file *file);
/* True when file->descriptor still refers to the trace file. */
bool litifut_is_trace(const struct litifut_trace_file *file);

#pragma GCC visibility pop

#endif
