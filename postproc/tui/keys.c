#include "postproc/tui/keys.h"

#include <ncurses.h>
#include <string.h>

/* The most important first: the last line has those for which there is room. */
static const char *const keys[] = {
	"q quit",         "? all keys", "Enter callers, callees",
	"f functions",    "t tree",     "s source",
	"o order",        "/ search",   "n next",
	"Backspace back", "< > names",  "Space next page",
	"r read again",
};

void post_tui_list_keys(struct post_text *text)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (text->length + 2 + strlen(keys[i]) > (size_t)COLS)
			break;
		post_text_format(text, "%s%s", i ? "  " : "", keys[i]);
	}
}

void post_tui_show_keys(const char *below)
{
	int line = 0, column = 0;

	erase();
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		int length = (int)strlen(keys[i]);

		if (column && column + length > COLS) {
			line++;
			column = 0;
		}
		mvaddnstr(line, column, keys[i], COLS - column);
		column += length + 3;
	}
	mvaddstr(line + 2, 0, below);
	refresh();
	timeout(-1);
	getch();
	erase();
}
