#include "cpu/step.h"

#include "cpu/instruction.h"

void cpu_step_class(const struct litifut_instruction *instruction, unsigned link_register,
		    struct cpu_step *step)
{
	switch (instruction->class) {
	case LITIFUT_CLASS_BRANCH_DIRECT:
		step->way = LITIFUT_ENDS_BRANCH;
		step->target = instruction->target;
		break;
	case LITIFUT_CLASS_CALL_DIRECT:
	case LITIFUT_CLASS_FOREIGN_CALL:
		step->way = LITIFUT_ENDS_CALL;
		step->target = instruction->target;
		break;
	case LITIFUT_CLASS_CALL_INDIRECT:
	case LITIFUT_CLASS_CALL_COMPUTED:
		step->way = LITIFUT_ENDS_CALL;
		break;
	case LITIFUT_CLASS_BRANCH_INDIRECT:
		step->way = instruction->target_register == link_register ? LITIFUT_ENDS_RETURN
									  : LITIFUT_ENDS_JUMP;
		break;
	case LITIFUT_CLASS_BRANCH_COMPUTED:
		step->way = LITIFUT_ENDS_JUMP;
		break;
	case LITIFUT_CLASS_OTHER:
		break;
	}
}
