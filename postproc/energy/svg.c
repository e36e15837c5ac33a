/* The power curve with the calls below it, as one picture. A column of pixels shows the least
 * and the most of its samples, so that a peak of one sample is seen in a run of minutes. */
#include <math.h>
#include <stdlib.h>

#include "postproc/energy/output.h"

#define WIDTH 1600.0
#define CURVE 260.0
#define ROW 15.0
#define LEFT 70.0
#define TOP 34.0
#define NARROWEST 0.3 /* pixels of a box */
#define MOST_ROWS 24
#define MOST_BOXES 200000

struct picture {
	struct energy_output *output;
	double from, to, scale;
	const struct energy_tree *tree;
	size_t boxes;
	unsigned rows;
};

static void text_of(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", file);
		else if (*text == '>')
			fputs("&gt;", file);
		else if (*text == '&')
			fputs("&amp;", file);
		else
			fputc(*text, file);
	}
}

/* A colour for each function, the same in every picture. */
static unsigned colour_of(const char *name)
{
	unsigned hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash % 360;
}

static void enter(void *context, struct energy_lane *lane, struct energy_frame *frame,
		  uint32_t under, enum energy_event_kind kind)
{
	struct picture *p = context;

	(void)frame, (void)under, (void)kind;
	if (lane->depth > p->rows && p->rows < MOST_ROWS)
		p->rows = (unsigned)lane->depth;
}

/* Where the recorder sends, the curve is not the program's. */
static void segment(void *context, struct energy_lane *lane, uint32_t node, double from, double to)
{
	struct picture *p = context;
	const double left = fmax(from, p->from), width = (fmin(to, p->to) - left) * p->scale;

	(void)lane;
	if (node != ENERGY_TRANSFER || width < NARROWEST || p->boxes >= MOST_BOXES)
		return;
	fprintf(p->output->file,
		"<g><title>the recorder sends</title><rect class=\"sends\" x=\"%.2f\" y=\"%.1f\" "
		"width=\"%.2f\" height=\"%.1f\"/></g>\n",
		LEFT + (left - p->from) * p->scale, TOP, width, CURVE);
	p->boxes++;
}

static void leave(void *context, struct energy_lane *lane, struct energy_frame *frame,
		  uint32_t under, enum energy_event_kind kind, double time)
{
	struct picture *p = context;
	FILE *file = p->output->file;
	double from = fmax(frame->entered, p->from), to = fmin(time, p->to);
	double x = LEFT + (from - p->from) * p->scale, width = (to - from) * p->scale;
	unsigned row = (unsigned)lane->depth;

	(void)under, (void)kind;
	if (!(to > from) || width < NARROWEST || row >= MOST_ROWS || p->boxes >= MOST_BOXES)
		return;
	const char *name = energy_name(p->output->analysis, p->tree->nodes[frame->node].function);
	double y = TOP + CURVE + 14 + row * ROW;
	char duration[32];
	fputs("<g><title>", file);
	text_of(file, name);
	fprintf(file,
		", %s</title><rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" "
		"fill=\"hsl(%u,60%%,72%%)\"/>",
		energy_quantity(time - frame->entered, "s", duration, sizeof(duration)), x, y,
		width, ROW - 1, colour_of(name));
	if (width > 40) {
		fprintf(file, "<text x=\"%.2f\" y=\"%.1f\">", x + 3, y + 11);
		size_t fits = (size_t)(width / 6.5);
		char shown[64];
		snprintf(shown, sizeof(shown), "%.*s", (int)(fits < 63 ? fits : 63), name);
		text_of(file, shown);
		fputs("</text>", file);
	}
	fputs("</g>\n", file);
	p->boxes++;
}

/* Least and most power in each column, as one closed path. */
static void draw_curve(const struct picture *p, double most)
{
	const struct energy_power *power = &p->output->analysis->power;
	const size_t columns = (size_t)WIDTH;
	float *low = malloc(columns * sizeof(*low)), *high = malloc(columns * sizeof(*high));
	FILE *file = p->output->file;

	if (!low || !high) {
		free(low);
		free(high);
		return;
	}
	for (size_t i = 0; i < columns; i++) {
		low[i] = INFINITY;
		high[i] = -INFINITY;
	}
	for (size_t r = 0; r < power->run_count; r++) {
		const struct energy_run *run = &power->runs[r];
		for (size_t i = 0; i < run->count; i++) {
			double time = run->time + (double)i * power->interval;
			double end = time + power->interval;
			if (end <= p->from || time >= p->to)
				continue;
			float sum = 0;
			for (unsigned k = 0; k < power->channels; k++)
				sum += power->watts[k][run->first + i];
			double first = fmax(0, (time - p->from) * p->scale);
			double last = fmin(WIDTH - 1, (end - p->from) * p->scale);
			for (size_t x = (size_t)first; x <= (size_t)last && x < columns; x++) {
				low[x] = fminf(low[x], sum);
				high[x] = fmaxf(high[x], sum);
			}
		}
	}
	fputs("<path class=\"curve\" d=\"", file);
	bool open = false;
	for (size_t i = 0; i < columns; i++) {
		if (low[i] > high[i]) { /* a hole stays empty */
			open = false;
			continue;
		}
		fprintf(file, "%c%.0f,%.1fV%.1f", open ? 'L' : 'M', LEFT + (double)i,
			TOP + CURVE * (1 - high[i] / most), TOP + CURVE * (1 - low[i] / most));
		open = true;
	}
	fputs("\"/>\n", file);
	free(low);
	free(high);
}

/* 1, 2 or 5 times a power of ten, about an eighth of the range */
static double tick_of(double range)
{
	double tick = pow(10, floor(log10(range / 8)));

	if (range / tick > 40)
		return 5 * tick;
	return range / tick > 16 ? 2 * tick : tick;
}

static double most_power(const struct energy_power *power)
{
	float most = 0;

	for (size_t i = 0; i < power->count; i++) {
		float sum = 0;
		for (unsigned k = 0; k < power->channels; k++)
			sum += power->watts[k][i];
		most = fmaxf(most, sum);
	}
	return most > 0 ? most * 1.05 : 1;
}

static void write_svg(struct energy_output *output)
{
	const struct energy_analysis *a = output->analysis;
	const struct energy_settings *settings = output->settings;
	struct energy_tree tree;
	struct picture p = {.output = output,
			    .tree = &tree,
			    .from = fmax(a->result.begin, settings->from),
			    .to = settings->to > 0 ? fmin(a->result.end, settings->to)
						   : a->result.end};
	struct energy_visitor depth = {.context = &p, .enter = enter};
	struct energy_visitor visitor = {.context = &p, .segment = segment, .leave = leave};
	struct energy_walk_counts counts;
	FILE *file = output->file;
	char text[32];

	if (!(p.to > p.from))
		p.to = p.from + a->power.interval;
	p.scale = WIDTH / (p.to - p.from);
	double most = most_power(&a->power);
	energy_tree_start(&tree);
	output->status = energy_walk(&a->events, &a->clock, &tree, a->result.begin, a->result.end,
				     &depth, &counts, &output->error);
	energy_tree_release(&tree);
	if (output->status)
		return;
	double height = TOP + CURVE + 14 + p.rows * ROW + 10;
	fprintf(file,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\">\n<style>text{font:11px sans-serif;fill:#222}"
		".curve{fill:none;stroke:#1b5e9b;stroke-width:1}.axis{stroke:#ccc}"
		".sends{fill:#b90;fill-opacity:0.15}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		LEFT + WIDTH + 10, height, LEFT + WIDTH + 10, height);
	double tick = tick_of(most);
	for (double level = 0; level < most; level += tick) {
		double y = TOP + CURVE * (1 - level / most);
		fprintf(file,
			"<path class=\"axis\" d=\"M%.0f,%.1fH%.0f\"/><text x=\"4\" "
			"y=\"%.1f\">%s</text>\n",
			LEFT, y, LEFT + WIDTH, y + 4, energy_quantity(level, "W", text, 32));
	}
	tick = tick_of(p.to - p.from);
	for (double time = ceil(p.from / tick) * tick; time < p.to; time += tick) {
		double x = LEFT + (time - p.from) * p.scale;
		fprintf(file,
			"<path class=\"axis\" d=\"M%.1f,%.0fV%.1f\"/><text x=\"%.1f\" "
			"y=\"20\">%s</text>\n",
			x, TOP, TOP + CURVE, x, energy_quantity(time, "s", text, 32));
	}
	draw_curve(&p, most);
	energy_tree_start(&tree);
	output->status = energy_walk(&a->events, &a->clock, &tree, a->result.begin, a->result.end,
				     &visitor, &counts, &output->error);
	energy_tree_release(&tree);
	fputs("</svg>\n", file);
}

const struct energy_format energy_format_svg = {
	"svg", "the power curve with the calls below it (--from, --to)", NULL, NULL, write_svg,
	false};
