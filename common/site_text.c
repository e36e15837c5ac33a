/* The words in which people read about call sites. */
#include "common/site_text.h"

#include <litifut/module_format.h>
#include <litifut/trace_format.h>
#include <stddef.h>

static const struct {
	const char *name;
	const char *text;
} reasons[] = {
	[LITIFUT_SITE_PATCHED] = {"patched", "traced"},
	[LITIFUT_SITE_OUT_OF_REACH] = {"out-of-reach", "no stub within the branch's range"},
	[LITIFUT_SITE_TOO_SHORT] = {"too-short", "a 16-bit call, no room for a branch"},
	[LITIFUT_SITE_EXCLUDED] = {"excluded", "excluded by a list"},
	[LITIFUT_SITE_TRACER] = {"tracer", "the tracer's own code"},
	[LITIFUT_SITE_FOREIGN_ISA] = {"foreign-isa", "MIPS16 or microMIPS code, or a jalx into it"},
	[LITIFUT_SITE_DELAY_SLOT] = {"delay-slot", "the delay slot changes what the call needs"},
	[LITIFUT_SITE_NOT_A_CALL] = {"not-a-call",
				     "looks like a call, but jumps or reads an address"},
	[LITIFUT_SITE_SPECIAL_CALLEE] = {"special-callee",
					 "it passes something in a register that the tracer needs"},
	[LITIFUT_SITE_BRANCH_TARGET] = {"branch-target", "the code around it can't be moved"},
	[LITIFUT_SITE_TAIL_OFF] = {"tail-off", "tail calls are switched off"},
	[LITIFUT_SITE_SPECIAL_FORM] =
		{"special-form", "an instruction that the tracer can't do in the CPU's place"},
	[LITIFUT_SITE_CODE_AS_DATA] = {"code-as-data", "a function assembled as data, or without "
						       "mapping symbols: its calls are not known"},
	[LITIFUT_SITE_NO_FUNCTION] = {"no-function", "in code that belongs to no function"},
	[LITIFUT_SITE_BEFORE_RAM] = {"before-ram", "it runs before .bss is cleared"},
	[LITIFUT_SITE_PORT] = {"port", "it runs while the results are sent"},
	[LITIFUT_SITE_LOCAL_SUBROUTINE] = {"local-subroutine",
					   "a short call of code within its own function"},
	[LITIFUT_SITE_UNKNOWN_JUMP] = {"unknown-jump",
				       "its function has a jump whose targets are unknown"},
	[LITIFUT_SITE_EXCLUSIVE] = {"exclusive", "between an exclusive load and its store"},
	[LITIFUT_SITE_FUNCTION_LEFT] = {"function-left",
					"something else in its function can't be recorded"},
	[LITIFUT_SITE_PERHAPS_A_SWITCH] =
		{"perhaps-a-switch", "a tail call, or a jump within its function, as of a switch: "
				     "it is not known which"},
};

static const struct {
	const char *name;
	const char *text;
} exit_reasons[] = {
	[LITIFUT_EXIT_OFF] = {"off", "the mode records no returns"},
	[LITIFUT_EXIT_PATCHED] = {"patched", "recorded"},
	[LITIFUT_EXIT_NO_RETURN] = {"no-return", "nothing of the function follows the call"},
	[LITIFUT_EXIT_TARGET] = {"target", "branches lead to where it returns as well"},
	[LITIFUT_EXIT_STUCK] = {"stuck", "the code there can't be moved"},
	[LITIFUT_EXIT_CONDITIONAL] = {"conditional", "the call may be passed over"},
	[LITIFUT_EXIT_LINK_IN_USE] = {"link-in-use", "the link register may hold something there"},
	[LITIFUT_EXIT_OUT_OF_REACH] = {"out-of-reach", "too far from the code for returns"},
	[LITIFUT_EXIT_SPECIAL] = {"special", "it may make a child, or give up system calls"},
	[LITIFUT_EXIT_ENDS] = {"ends-program",
			       "it ends the program, or puts another one in its place"},
	[LITIFUT_EXIT_COUNTER] = {"counter", "the mode counts calls alone"},
	[LITIFUT_EXIT_UNKNOWN_CODE] = {"unknown-code", "it is not known what leads into the code"},
};

static const char *const kinds[] = {
	[LITIFUT_SITE_DIRECT] = "direct",     [LITIFUT_SITE_INDIRECT] = "indirect",
	[LITIFUT_SITE_TAIL_DIRECT] = "tail",  [LITIFUT_SITE_TAIL_INDIRECT] = "tail-indirect",
	[LITIFUT_SITE_FUNCTION] = "function", [LITIFUT_SITE_VECTOR] = "vector",
	[LITIFUT_SITE_BRANCH] = "branch",     [LITIFUT_SITE_BLOCK] = "block",
};

const char *litifut_site_reason_name(unsigned reason)
{
	return reason < sizeof(reasons) / sizeof(*reasons) ? reasons[reason].name : "unknown";
}

const char *litifut_site_reason_text(unsigned reason)
{
	return reason < sizeof(reasons) / sizeof(*reasons) ? reasons[reason].text : "unknown";
}

const char *litifut_exit_reason_name(unsigned reason)
{
	return reason < sizeof(exit_reasons) / sizeof(*exit_reasons) ? exit_reasons[reason].name
								     : "unknown";
}

const char *litifut_exit_reason_text(unsigned reason)
{
	return reason < sizeof(exit_reasons) / sizeof(*exit_reasons) ? exit_reasons[reason].text
								     : "unknown";
}

const char *litifut_site_kind_name(unsigned kind)
{
	if (kind >= sizeof(kinds) / sizeof(*kinds) || !kinds[kind])
		return "unknown";
	return kinds[kind];
}

const char *litifut_engine_name(unsigned engine)
{
	switch (engine) {
	case LITIFUT_ENGINE_DB:
		return "db";
	case LITIFUT_ENGINE_THUNK:
		return "thunk";
	case LITIFUT_ENGINE_SITE_FAST:
		return "stubs, fast";
	case LITIFUT_ENGINE_SITE_SMALL:
		return "stubs, small";
	case LITIFUT_ENGINE_SITE_BYTE:
		return "stubs, byte";
	default:
		return "unknown";
	}
}

const char *litifut_mode_name(unsigned mode)
{
	static const char *const names[] = {
		[LITIFUT_MODE_CALLS] = "calls",         [LITIFUT_MODE_SPANS] = "spans",
		[LITIFUT_MODE_TABLE] = "table",         [LITIFUT_MODE_COUNTS] = "counts",
		[LITIFUT_MODE_COVERAGE] = "coverage",   [LITIFUT_MODE_PATHS] = "paths",
		[LITIFUT_MODE_STREAM] = "stream",       [LITIFUT_MODE_UNITS] = "units",
		[LITIFUT_MODE_BALLLARUS] = "balllarus",
	};

	return mode < sizeof(names) / sizeof(*names) && names[mode] ? names[mode] : "unknown";
}
