/* `litifut install-ld` and `uninstall-ld`: the wrapper in the place of a
 * toolchain's linkers, and back. */
#ifndef LITIFUT_LDWRAP_INSTALL_H
#define LITIFUT_LDWRAP_INSTALL_H

#include <stddef.h>

#include "common/error.h"

struct install_result {
	char **paths; /* linkers that were replaced or put back; owned */
	size_t count;
};

/* `toolchain` is a triplet whose TRIPLET-ld is on PATH, a folder that holds
 * linkers (or whose bin does), or one linker. Each linker that is an ordinary
 * program is moved to NAME.litifut-original, by dpkg-divert if it belongs to a
 * Debian package, and a link to litifut-ld takes its place. A linker that is
 * the wrapper already stays. Nothing is ever overwritten. */
enum litifut_status install_linkers(const char *toolchain, const char *wrapper,
				    struct install_result *result, struct litifut_error *error);

/* Undoes it. Only links to a litifut-ld that have their original beside them
 * are touched. */
enum litifut_status uninstall_linkers(const char *toolchain, struct install_result *result,
				      struct litifut_error *error);

void install_result_release(struct install_result *result);

#endif
