/* Functions that return more than once, and those that return elsewhere than to their callers: by
 * their names, in programs for Linux and in firmware. */
#ifndef LITIFUT_REWRITER_TWICE_H
#define LITIFUT_REWRITER_TWICE_H

/* Their names, the last one of each list NULL. */
extern const char *const litifut_returns_twice[];
extern const char *const litifut_returns_elsewhere[];
/* In a program for Linux whose unwinder uses .eh_frame, these end so as well. */
extern const char *const litifut_unwinds[];

#endif
