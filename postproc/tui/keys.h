/* The keys of the terminal browser, as its user reads them. */
#ifndef LITIFUT_POSTPROC_TUI_KEYS_H
#define LITIFUT_POSTPROC_TUI_KEYS_H

#include "postproc/formats/text.h"

/* Adds as many of them as one line of the screen has room for. */
void post_tui_list_keys(struct post_text *text);

/* All of them, as many lines as they need, and below them a text, until a key is pressed. */
void post_tui_show_keys(const char *below);

#endif
