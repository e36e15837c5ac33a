#include "postproc/tui/tui.h"

#include <ctype.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <inttypes.h>

#include "postproc/formats/losses.h"
#include "postproc/formats/text.h"
#include "postproc/timeline/timeline.h"
#include "postproc/tui/keys.h"
#include "postproc/tui/rows.h"

#define MOST_BACK 64
#define WORD_BYTES 80
#define LEAST_WAIT_MS 1000
#define ESCAPE 27

/* Where the user was. */
struct place {
	enum post_tui_view view;
	char *function, *module; /* that it is about; NULL: none */
	size_t row;
};

/* What outlives a reading. */
static struct {
	SCREEN *screen;
	struct place places[MOST_BACK]; /* the last one is shown */
	size_t count;
	enum post_tui_order order;
	bool *open; /* by node of the tree */
	uint32_t open_count;
	char word[WORD_BYTES]; /* that was searched last */
	char note[WORD_BYTES + 40];
	bool again;
	struct timespec begin; /* of the reading */
} tui;

struct browser {
	const struct post_output *output;
	struct post_tui_model model;
	struct post_tui_rows rows;
	size_t top;
	int aside;   /* columns of the names that are left of the screen */
	int wait_ms; /* until the traces are read again; below 0: they are complete */
};

static void start(struct post_output *output)
{
	clock_gettime(CLOCK_MONOTONIC, &tui.begin);
	output->state = post_allocate(1, sizeof(struct post_call_tree));
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;

	post_call_tree_take(output->state, output->session, event);
}

static bool open_screen(void)
{
	if (tui.screen)
		return true;
	tui.screen = newterm(NULL, stdout, stdin);
	if (!tui.screen)
		return false;
	set_term(tui.screen);
	set_escdelay(25);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	return true;
}

void post_tui_end(void)
{
	if (tui.screen) {
		endwin();
		delscreen(tui.screen);
	}
	for (size_t i = 0; i < tui.count; i++) {
		free(tui.places[i].function);
		free(tui.places[i].module);
	}
	free(tui.open);
	memset(&tui, 0, sizeof(tui));
}

void post_tui_leave(void)
{
	if (tui.screen)
		endwin();
}

bool post_tui_again(void)
{
	return tui.again;
}

static struct place *here(void)
{
	return &tui.places[tui.count - 1];
}

static uint32_t function_here(const struct browser *browser)
{
	return here()->function
		       ? post_tui_function(&browser->model, here()->function, here()->module)
		       : POST_NONE;
}

static void drop_last(void)
{
	tui.count--;
	free(tui.places[tui.count].function);
	free(tui.places[tui.count].module);
}

/* Lines between the heading and the keys. */
static size_t height(void)
{
	return LINES > 3 ? (size_t)LINES - 3 : 1;
}

/* Makes the rows of where the user is. `found`: the row to begin with, in a place that is new. */
static void show_place(struct browser *browser, bool found)
{
	uint32_t function = function_here(browser);
	size_t row = 0;

	if (here()->function && function == POST_NONE) { /* not in this reading */
		drop_last();
		show_place(browser, false);
		return;
	}
	switch (here()->view) {
	case POST_TUI_TABLE:
		post_tui_table(&browser->model, tui.order, &browser->rows);
		break;
	case POST_TUI_FUNCTION:
		row = post_tui_neighbours(&browser->model, function, &browser->rows);
		break;
	case POST_TUI_TREE:
		post_tui_tree(&browser->model, tui.open, tui.open_count, &browser->rows);
		break;
	case POST_TUI_SOURCE:
		row = post_tui_source(&browser->model, function, &browser->rows);
		break;
	}
	if (found)
		here()->row = row;
	if (here()->row >= browser->rows.count)
		here()->row = browser->rows.count ? browser->rows.count - 1 : 0;
	/* The callers stand above the row, those with most calls first, and matter as much as what
	 * stands below it. draw() moves the row into the window in all other cases. */
	if (found)
		browser->top = here()->row > height() / 2 ? here()->row - height() / 2 : 0;
}

static void go(struct browser *browser, enum post_tui_view view, uint32_t function)
{
	const struct post_session *session = browser->output->session;
	struct place place = {.view = view};

	if (function != POST_NONE) {
		place.function = post_copy_text(session->functions[function].name);
		place.module =
			post_copy_text(session->modules[session->functions[function].module].name);
	}
	if (tui.count == MOST_BACK) { /* the oldest but one is forgotten */
		free(tui.places[1].function);
		free(tui.places[1].module);
		memmove(&tui.places[1], &tui.places[2], (MOST_BACK - 2) * sizeof(place));
		tui.count--;
	}
	tui.places[tui.count++] = place;
	browser->aside = 0;
	show_place(browser, true);
}

static void draw_line(int line, int attributes, const char *text)
{
	attrset(attributes);
	move(line, 0);
	clrtoeol();
	addnstr(text, COLS);
	attrset(A_NORMAL);
}

#define LEAST_NAME 24 /* columns, else figures give way */
#define ASIDE_STEP 20

/* A line of a view: the figures, and what follows them from column `aside` on. */
static void draw_row(const struct browser *browser, int line, int attributes, const char *text,
		     int aside)
{
	const struct post_tui_rows *rows = &browser->rows;
	bool narrow = rows->names + LEAST_NAME > COLS && rows->figure + LEAST_NAME <= COLS;
	int figures = narrow ? rows->figure : rows->names;
	struct post_text shown = {0};

	if ((int)strlen(text) > rows->names) {
		const char *name = text + rows->names;

		while (aside-- > 0 && *name)
			name++;
		while ((*name & 0xc0) == 0x80) /* not from within a character */
			name++;
		post_text_format(&shown, "%.*s%s%s", figures, text, narrow ? " " : "", name);
		text = shown.bytes;
	}
	draw_line(line, attributes, text);
	free(shown.bytes);
}

static void draw(struct browser *browser)
{
	static const char *const orders[] = {"self time", "total time", "calls", "name"};
	const struct post_totals *totals = browser->output->totals;
	const char *program = browser->output->session->processes[0]->trace->header.program;
	const size_t rows = height(), row = here()->row, count = browser->rows.count;
	char text[512];
	struct post_text last = {0};

	if (browser->top + rows > count) /* no room is left empty while lines are hidden above */
		browser->top = count > rows ? count - rows : 0;
	if (row < browser->top)
		browser->top = row;
	if (row >= browser->top + rows)
		browser->top = row - rows + 1;
	snprintf(text, sizeof(text),
		 "%s%s  %" PRIu64 " calls, %" PRIu64 " lost, %zu thread%s%s%s%s", program,
		 totals->processes > 1 ? ", ..." : "", totals->events - totals->own, totals->lost,
		 totals->threads, totals->threads == 1 ? "" : "s",
		 browser->wait_ms >= 0 ? "  (still written)" : "",
		 totals->lost ? "  CALLS ARE MISSING" : "",
		 !browser->model.timed ? ""
		 : post_taken_is_off(browser->output->session)
			 ? "  (tracer's time taken off; more: key ?)"
			 : "  (with the tracer's time; more: key ?)");
	draw_line(0, A_BOLD, text);
	snprintf(text, sizeof(text), "%s%s%s", browser->rows.heading,
		 here()->view == POST_TUI_TABLE ? ", by " : "",
		 here()->view == POST_TUI_TABLE ? orders[tui.order] : "");
	draw_row(browser, 1, A_UNDERLINE, text, 0);
	for (size_t i = 0; i < rows; i++) {
		size_t at = browser->top + i;
		const struct post_tui_row *item =
			at < browser->rows.count ? &browser->rows.items[at] : NULL;
		draw_row(browser, (int)i + 2,
			 at == row && item      ? A_REVERSE
			 : item && item->strong ? A_BOLD
						: A_NORMAL,
			 item ? item->text : "", browser->aside);
	}
	if (browser->rows.count) {
		post_tui_list_keys(&last);
	} else {
		post_text_add(&last, "nothing was recorded, or the filters leave nothing; q quit");
	}
	draw_line(LINES - 1, A_DIM, *tui.note ? tui.note : last.bytes ? last.bytes : "");
	free(last.bytes);
	refresh();
}

/* Below the line that is chosen, and then from the top. */
static void search(struct browser *browser)
{
	size_t count = browser->rows.count;

	for (size_t i = 1; i <= count && *tui.word; i++) {
		size_t at = (here()->row + i) % count;
		if (!strcasestr(browser->rows.items[at].text, tui.word))
			continue;
		here()->row = at;
		return;
	}
	if (*tui.word)
		snprintf(tui.note, sizeof(tui.note), "no line has %s", tui.word);
}

static void ask_for_word(struct browser *browser)
{
	size_t length = 0;
	char prompt[WORD_BYTES + 2];

	for (*tui.word = '\0';;) {
		snprintf(prompt, sizeof(prompt), "/%s", tui.word);
		draw_line(LINES - 1, A_NORMAL, prompt);
		refresh();
		int key = getch();
		if (key == ESCAPE || key == ERR)
			return;
		if (key == '\n' || key == '\r' || key == KEY_ENTER)
			break;
		if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && length)
			tui.word[--length] = '\0';
		else if (key < 256 && isprint(key) && length + 1 < sizeof(tui.word)) {
			tui.word[length++] = (char)key;
			tui.word[length] = '\0';
		}
	}
	search(browser);
}

static void open_node(struct browser *browser, uint32_t node, int how)
{
	POST_WIDEN(tui.open, tui.open_count, node, browser->model.tree->count);
	tui.open[node] = how < 0 ? false : how > 0 ? true : !tui.open[node];
	show_place(browser, false);
}

static void move_by(struct browser *browser, long by)
{
	size_t *row = &here()->row, last = browser->rows.count ? browser->rows.count - 1 : 0;

	if (by < 0)
		*row = *row > (size_t)-by ? *row - (size_t)-by : 0;
	else
		*row = *row + (size_t)by < last ? *row + (size_t)by : last;
}

/* Does what a key asks for. False: this reading has been looked at long enough. */
static bool take_key(struct browser *browser, int key)
{
	const struct post_tui_row none = {.function = POST_NONE, .node = POST_NONE};
	const struct post_tui_row *row =
		here()->row < browser->rows.count ? &browser->rows.items[here()->row] : &none;
	long page = LINES > 4 ? LINES - 4 : 1;

	*tui.note = '\0';
	switch (key) {
	case 'q':
		return false;
	case ERR: /* nothing was pressed for a while, or the terminal is gone */
		if (browser->wait_ms < 0)
			return false;
		/* fall through */
	case 'r':
		tui.again = true;
		return false;
	case KEY_UP:
	case 'k':
		move_by(browser, -1);
		break;
	case KEY_DOWN:
	case 'j':
		move_by(browser, 1);
		break;
	case KEY_PPAGE:
		move_by(browser, -page);
		break;
	case KEY_NPAGE:
	case ' ':
		move_by(browser, page);
		break;
	case KEY_HOME:
		here()->row = 0;
		break;
	case KEY_END:
		move_by(browser, (long)browser->rows.count);
		break;
	case KEY_RIGHT:
	case KEY_LEFT:
		if (row->node != POST_NONE)
			open_node(browser, row->node, key == KEY_RIGHT ? 1 : -1);
		break;
	case '\n':
	case '\r':
	case KEY_ENTER:
		if (row->node != POST_NONE)
			open_node(browser, row->node, 0);
		else if (row->function != POST_NONE && here()->view != POST_TUI_SOURCE)
			go(browser, POST_TUI_FUNCTION, row->function);
		break;
	case 'c':
	case 's':
		if (row->function != POST_NONE)
			go(browser, key == 's' ? POST_TUI_SOURCE : POST_TUI_FUNCTION,
			   row->function);
		break;
	case 't':
		go(browser, POST_TUI_TREE, POST_NONE);
		break;
	case 'f':
		go(browser, POST_TUI_TABLE, POST_NONE);
		break;
	case 'o':
		tui.order = (tui.order + 1) % 4;
		if (!browser->model.timed && tui.order < POST_TUI_BY_CALLS)
			tui.order = POST_TUI_BY_CALLS;
		here()->row = 0;
		show_place(browser, false);
		break;
	case '<':
	case '>':
		browser->aside += key == '>' ? ASIDE_STEP : -ASIDE_STEP;
		if (browser->aside < 0)
			browser->aside = 0;
		break;
	case '?':
		post_tui_show_keys(browser->output, browser->model.timed);
		timeout(browser->wait_ms);
		break;
	case '/':
		ask_for_word(browser);
		break;
	case 'n':
		search(browser);
		break;
	case KEY_BACKSPACE:
	case 127:
	case '\b':
	case ESCAPE:
		if (tui.count > 1)
			drop_last();
		show_place(browser, false);
		break;
	default:
		break;
	}
	return true;
}

/* Traces that are still written are read again, at most a fifth of the time. */
static int waiting_time(const struct post_output *output)
{
	struct timespec now;

	if (!output->totals->killed)
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	long took = (now.tv_sec - tui.begin.tv_sec) * 1000 +
		    (now.tv_nsec - tui.begin.tv_nsec) / 1000000;
	return took > LEAST_WAIT_MS / 5 ? (int)(took < 60000 ? 5 * took : 300000) : LEAST_WAIT_MS;
}

static void finish(struct post_output *output)
{
	struct post_call_tree *tree = output->state;
	struct browser browser = {.output = output, .wait_ms = waiting_time(output)};

	tui.again = false;
	if (open_screen()) {
		post_tui_model_make(&browser.model, output, tree);
		if (!browser.model.timed && tui.order < POST_TUI_BY_CALLS)
			tui.order = POST_TUI_BY_CALLS;
		if (tui.count)
			show_place(&browser, false);
		else
			go(&browser, POST_TUI_TABLE, POST_NONE);
		timeout(browser.wait_ms);
		do
			draw(&browser);
		while (take_key(&browser, getch()));
		post_tui_rows_release(&browser.rows);
		post_tui_model_release(&browser.model);
	} else {
		post_problem_at(output->session->problems, NULL, LITIFUT_NO_ADDRESS,
				"this terminal (TERM) is not known: tui can't draw");
	}
	post_call_tree_release(tree);
	free(tree);
}

#define BROWSER(word, about)                                                                       \
	{                                                                                          \
		.name = (word), .summary = (about), .uses = POST_USES_SOURCE | POST_USES_LINES,    \
		.interactive = true, .measured = true, .nested = true, .start = start,             \
		.event = event, .finish = finish,                                                  \
	}

const struct post_format post_format_tui =
	BROWSER("tui", "browser in the terminal, also while the program runs");
const struct post_format post_format_top = BROWSER("top", "another name of tui");
