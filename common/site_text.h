/* The words in which people read about call sites and modules. */
#ifndef LITIFUT_COMMON_SITE_TEXT_H
#define LITIFUT_COMMON_SITE_TEXT_H

/* Short, stable, machine-friendly name of an enum litifut_site_reason, such as
 * "out-of-reach"; "unknown" for a value from a newer version. Static string. */
const char *litifut_site_reason_name(unsigned reason);

/* One line for people, such as "no stub within the branch's range". */
const char *litifut_site_reason_text(unsigned reason);

/* The same two of an enum litifut_exit_reason: why a return is not recorded. */
const char *litifut_exit_reason_name(unsigned reason);
const char *litifut_exit_reason_text(unsigned reason);

/* One word for an enum litifut_site_kind, such as "direct", "tail-indirect" or "vector". */
const char *litifut_site_kind_name(unsigned kind);

/* Of an enum litifut_engine: "db", "thunk", "stubs, fast", "stubs, small" or "stubs, byte". */
const char *litifut_engine_name(unsigned engine);

/* Of an enum litifut_mode, as LITIFUT_MODE has it. */
const char *litifut_mode_name(unsigned mode);

#endif
