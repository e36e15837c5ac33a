/* A folder of links to litifut-ld under the names of all linkers. */
#ifndef LITIFUT_LDWRAP_SHIMS_H
#define LITIFUT_LDWRAP_SHIMS_H

#include "common/error.h"

/* Makes the folder (or brings the one from last time up to date) with a link for each of
 * linkers_plain_name() and for every TRIPLET-ld* on PATH that links for one of the
 * CPUs, and below it one that has all tools of these triplets besides. It lives in the user's cache
 * folder and stays, because what configure scripts find there is remembered by makefiles. `*folder`
 * is to be freed. */
enum litifut_status shims_make(char **folder, struct litifut_error *error);

/* Sets LITIFUT, COMPILER_PATH and PATH in this process so that the shims come
 * first. */
void shims_set_environment(const char *folder);

/* Path of litifut-ld beside the running program; to be freed. */
char *shims_wrapper_path(void);

#endif
