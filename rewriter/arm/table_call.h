/* Switches of Thumb-1 code: a call of a function of libgcc that jumps through the table behind the
 * call. */
#ifndef LITIFUT_REWRITER_ARM_TABLE_CALL_H
#define LITIFUT_REWRITER_ARM_TABLE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rewriter/arch.h"
#include "rewriter/graph.h"

/* The names of these functions begin with this. */
#define LITIFUT_ARM_TABLE_HELPER "__gnu_thumb1_case_"

struct litifut_arm_table_call {
	uint32_t table; /* where it begins */
	uint8_t bytes;  /* of an entry */
	uint8_t unit;   /* an entry counts so many bytes each */
	bool is_signed;
};

/* Is there at `address` of a section such a call? The code of what it calls must be libgcc's, as
 * nothing else says what it does with the table. */
bool litifut_arm_table_call(const struct litifut_image *image,
			    const struct litifut_section *section, uint32_t address,
			    struct litifut_arm_table_call *call);

/* Of the bytes `table` of the table of the call: where entry `number` leads. */
uint32_t litifut_arm_table_entry(const struct litifut_arm_table_call *call, const uint8_t *table,
				 uint32_t number);

/* Does one of the functions of libgcc start at the address? Its `bx lr' goes on at a case, and not
 * behind the call. */
bool litifut_arm_is_table_helper(const struct litifut_image *image, uint32_t address);

/* Makes data of the tables that no mapping symbol marks as data. */
enum litifut_status litifut_arm_cut_tables(const struct litifut_image *image,
					   const struct litifut_section *section,
					   struct litifut_code_range **ranges, size_t *count,
					   struct litifut_error *error);

/* Adds to `targets` where the table leads, and may be more, if the code before the data ends with
 * such a call. */
void litifut_arm_add_table_call(const struct litifut_image *image,
				const struct litifut_section *section,
				const struct litifut_code_range *code,
				const struct litifut_code_range *data,
				struct litifut_targets *targets);

/* Does block `number` of the graph end with such a call, and is each place known to which the table
 * may lead? All are labels. */
bool litifut_arm_follows_table(const struct litifut_image *image, const struct litifut_graph *graph,
			       size_t number);

#endif
