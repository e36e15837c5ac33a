#include "postproc/tui/keys.h"

#include <inttypes.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/losses.h"
#include "postproc/measure/measure.h"

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

static void add_times(struct post_text *text, const struct post_output *output)
{
	uint64_t unreturned = post_measures_unreturned(output->measures);

	post_taken_text(output->session, text);
	post_text_add(text, ".");
	if (unreturned)
		post_text_format(text,
				 "\nCalls without a time, as their return is not recorded: "
				 "%" PRIu64 ". Their own time is in the self time of the function "
				 "around them. (N timed) behind a name: the times are those of N "
				 "of its calls.",
				 unreturned);
}

void post_tui_show_keys(const struct post_output *output, bool timed)
{
	struct post_text below = {0};
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
	if (timed)
		add_times(&below, output);
	mvaddstr(line + 2, 0, below.bytes ? below.bytes : "");
	free(below.bytes);
	refresh();
	timeout(-1);
	getch();
	erase();
}
