/* The files of a trace. */
#ifndef LITIFUT_TRACER_FILES_H
#define LITIFUT_TRACER_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/recorder/settings.h"
#include "tracer/sink/trace_file.h"

/* NAME.PID.TRY.trace, and a NUL. */
#define LITIFUT_FILE_NAME_BYTES (64 + 11 + 11 + 6)
/* A folder of the settings, then /trace/ and such a name. */
#define LITIFUT_FILE_PATH_BYTES (LITIFUT_PATH_BYTES + 7 + LITIFUT_FILE_NAME_BYTES)

#pragma GCC visibility push(hidden)

/* Makes the paths of the settings absolute, because the program may change directory. */
void litifut_files_start(void);
/* NAME.PID[.NUMBER].KIND; there is room for the longest. */
void litifut_file_name(const struct litifut_trace_file *file, char name[LITIFUT_FILE_NAME_BYTES],
		       const char *kind);
/* litifut_tell() of BASE/KIND/NAME. */
void litifut_file_tell(const char *what, const char *base, const char *kind, const char *name,
		       long result);
/* Opens a file to write to, and does not wait for a reader if it is a FIFO. It never gets the
 * number of a standard stream that the program has closed, or what the program writes
 * there would end up in the file. `folder` may be an error. A descriptor or a negated
 * error. */
long litifut_open_to_write(long folder, const char *name, uint32_t flags);
/* The folder of traces: a descriptor that stays open, or a negated error. */
long litifut_traces_folder(void);
/* The folder of maps: a descriptor that the caller closes, or a negated error. */
long litifut_maps_folder(void);
/* Makes the folders and the trace file of file->process, and maps its header.
 * False: no file is left. */
bool litifut_trace_create(struct litifut_trace_file *file);
/* The trace file's descriptor, checked to be still that of the trace, and opened again when the
 * program has closed it; negative when that fails. */
long litifut_trace_descriptor(struct litifut_trace_file *file);
/* Closes the descriptors that are held; they are opened again where one is needed. */
void litifut_files_close(void);
/* True when file->descriptor still refers to the trace file. */
bool litifut_is_trace(const struct litifut_trace_file *file);

#pragma GCC visibility pop

#endif
