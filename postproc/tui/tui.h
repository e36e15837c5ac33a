/* tui: a browser in the terminal: functions, callers and callees, the tree from the top, source. It
 * is an output format whose finish() talks to the user; what has to live through a new reading of
 * traces that are still written is kept between its runs. */
#ifndef LITIFUT_POSTPROC_TUI_TUI_H
#define LITIFUT_POSTPROC_TUI_TUI_H

#include <stdbool.h>

#include "postproc/formats/format.h"

extern const struct post_format post_format_tui;

/* After a run: does the user want to see the traces as they are now? */
bool post_tui_again(void);

/* Gives the terminal back. After the last run. */
void post_tui_end(void);

/* The same when a signal ends the program. */
void post_tui_leave(void);

#endif
