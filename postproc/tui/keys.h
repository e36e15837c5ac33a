/* The keys of the terminal browser, as its user reads them. */
#ifndef LITIFUT_POSTPROC_TUI_KEYS_H
#define LITIFUT_POSTPROC_TUI_KEYS_H

#include <stdbool.h>

#include "postproc/formats/format.h"
#include "postproc/formats/text.h"

/* Adds as many of them as one line of the screen has room for. */
void post_tui_list_keys(struct post_text *text);

/* All of them, as many lines as they need, and below them what must be known of the times, if there
 * are some, until a key is pressed. */
void post_tui_show_keys(const struct post_output *output, bool timed);

#endif
