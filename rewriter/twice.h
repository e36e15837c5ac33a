/* Functions that return more than once: by their name, in programs for Linux and in firmware. */
#ifndef LITIFUT_REWRITER_TWICE_H
#define LITIFUT_REWRITER_TWICE_H

/* Their names, the last one NULL. */
extern const char *const litifut_returns_twice[];

#endif
