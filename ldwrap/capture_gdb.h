/* Saving the memory of a firmware by the remote protocol of gdb, as debug probes, simulators and
 * QEMU serve it. */
#ifndef LITIFUT_LDWRAP_CAPTURE_GDB_H
#define LITIFUT_LDWRAP_CAPTURE_GDB_H

#include "common/error.h"

struct capture_gdb_options {
	const char *source; /* host:port, or the path of a socket */
	const char *elf;    /* the firmware, which says where its results are */
	const char *output; /* gets the memory from the first of them to the last one */
	double seconds; /* let it run so long, or until it stops by itself; 0: read it as it is */
};

/* Stops the firmware, saves the memory, and lets the firmware go on. */
enum litifut_status capture_gdb_run(const struct capture_gdb_options *options,
				    struct litifut_error *error);

#endif
