/* What a rewritten image says of itself. */
#ifndef LITIFUT_REWRITER_MODULE_H
#define LITIFUT_REWRITER_MODULE_H

#include "rewriter/image.h"
#include "rewriter/rewriter.h"
#include "rewriter/spawners.h"

/* What only the rewriting has shown. Link-time addresses. */
struct litifut_module_facts {
	uint32_t address; /* of struct litifut_module */
	uint32_t engine;  /* enum litifut_engine */
	uint32_t clock;   /* enum litifut_clock that thunks read */
	uint32_t mode;    /* enum litifut_mode */
	uint32_t exits_start;
	uint32_t exits_end;
	uint32_t trampolines_start; /* as in struct litifut_module */
	uint32_t db_address;
	uint32_t db_count; /* entries */
	uint32_t sites;
	uint32_t patched;
	uint32_t entry;                     /* as in struct litifut_module */
	uint32_t register_atfork;           /* the same */
	const struct litifut_symbol *flags; /* the room for them; NULL: there is none */
	const struct litifut_spawners *spawners;
	bool arguments; /* of some calls are recorded */
};

/* Fills `module`, which is as the tracer object brings it. Fails when options->defaults is too
 * long for it. */
enum litifut_status litifut_module_fill(const struct litifut_image *image,
					const struct litifut_rewrite_options *options,
					const struct litifut_module_facts *facts,
					struct litifut_module *module, struct litifut_error *error);

#endif
