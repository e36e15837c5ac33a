/* One decoded instruction, as far as a call tracer cares. The decoders of all
 * CPUs produce it from bytes and an address alone. */
#ifndef LITIFUT_REWRITER_INSTRUCTION_H
#define LITIFUT_REWRITER_INSTRUCTION_H

#include <stdbool.h>
#include <stdint.h>

enum litifut_instruction_class {
	LITIFUT_CLASS_OTHER = 0,
	LITIFUT_CLASS_CALL_DIRECT,     /* sets the link register, target known */
	LITIFUT_CLASS_CALL_INDIRECT,   /* sets the link register, target in `target_register` */
	LITIFUT_CLASS_BRANCH_DIRECT,   /* no link, target known; conditional or not */
	LITIFUT_CLASS_BRANCH_INDIRECT, /* no link, target in `target_register` */
	LITIFUT_CLASS_FOREIGN_CALL     /* a call that this back end does not rewrite (jalx) */
};

struct litifut_instruction {
	enum litifut_instruction_class class;
	uint32_t word;           /* as stored in the instruction DB, see litifut_db_entry */
	uint32_t target;         /* direct: address, bit 0 set when it is Thumb code */
	uint8_t target_register; /* indirect: number of the register */
	uint8_t link_register;   /* MIPS jalr can link into any register; 14 on ARM */
	uint8_t length;          /* bytes: 2 or 4 */
	bool conditional;
	bool thumb; /* of the code that the instruction stands in */
};

#endif
