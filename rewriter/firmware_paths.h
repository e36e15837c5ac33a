/* LITIFUT_MODE=paths of a firmware: the edges of its code (edges.h), and what else leads to the
 * tracer. Call sites have no stubs. */
#ifndef LITIFUT_REWRITER_FIRMWARE_PATHS_H
#define LITIFUT_REWRITER_FIRMWARE_PATHS_H

#include "rewriter/firmware_pass.h"

/* Finds the edges and the bytes of their code, once the call sites are known. */
enum litifut_status litifut_firmware_paths_find(struct litifut_firmware_pass *pass,
						struct litifut_error *error);

/* Writes them into the image's memory. LITIFUT_ERROR_SPACE: plan again. Then the edges are the
 * sites of the pass. */
enum litifut_status litifut_firmware_paths_write(struct litifut_firmware_pass *pass,
						 struct litifut_error *error);

void litifut_firmware_paths_release(struct litifut_firmware_pass *pass);

#endif
