/* Where a firmware has no room for the tracer, it is linked with less of it: without times of
 * tasks, with a smaller ring or fewer open calls, with smaller stubs. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ldwrap/firmware_link.h"

/* The numbers that are tried where the usual one finds no room. */
static const unsigned small_depths[] = {16, 8};

/* Bytes that the linker says are missing; 0: it says no number. */
static unsigned long missing(const struct litifut_error *error)
{
	static const char words[] = "overflowed by ";
	const char *at = error->message;
	const char *asserted = strstr(at, " bytes are missing");
	unsigned long sum = 0;

	while ((at = strstr(at, words)) != NULL) {
		at += sizeof(words) - 1;
		sum += strtoul(at, NULL, 10);
	}
	if (!sum && asserted) {
		while (asserted > error->message && isdigit((unsigned char)asserted[-1]))
			asserted--;
		sum = strtoul(asserted, NULL, 10);
	}
	return sum;
}

/* Of several tries the one is reported that lacks least. */
static void keep_nearest(struct litifut_error *nearest, const struct litifut_error *error)
{
	if (!missing(nearest) || (missing(error) && missing(error) < missing(nearest)))
		*nearest = *error;
}

/* The pool stays as it is where that does not change what is missing: if the flash is full. */
static enum litifut_status link_with_small_pool(struct firmware_link *link,
						struct litifut_rewrite_summary *summary,
						struct litifut_error *nearest,
						struct litifut_error *error)
{
	enum litifut_status status = error->status;

	for (size_t i = 0;
	     status && link->overflows && i < sizeof(small_depths) / sizeof(*small_depths); i++) {
		const unsigned depth = link->options.depth;
		const unsigned long before = missing(error);

		link->options.depth = small_depths[i];
		status = firmware_link_again(link, "room for fewer open calls", summary, error);
		if (status && missing(error) == before) {
			link->options.depth = depth;
			break;
		}
		/* also if more is missing: for the stack, now that the sections fit */
		*nearest = *error;
		link->depth_helps = true;
	}
	return status;
}

/* Can so many bytes less be enough? Where it is not known how many are missing, they may be. */
static bool may_be_enough(const struct litifut_error *error, unsigned long bytes)
{
	return missing(error) <= bytes;
}

/* Adds what the user can do where the tracer has no room. */
static void advise(const struct firmware_link *link, struct litifut_error *error)
{
	const struct settings *settings = link->request->settings;
	const size_t length = strlen(error->message);
	char more[80] = "";

	if (firmware_is_table(link) && (link->depth_helps || settings->depth > 1) &&
	    may_be_enough(error, link->plan.open_bytes))
		snprintf(more, sizeof(more), ", or set LITIFUT_DEPTH to fewer open calls than %u",
			 link->options.depth);
	else if (settings->stubs && !link->options.spans && !link->options.paths)
		strcpy(more, ", or do not set LITIFUT_STUBS");
	else if ((link->plan.ring_events || link->options.paths) && settings->ring_kb > 1 &&
		 may_be_enough(error, settings->ring_kb * 1024UL))
		snprintf(more, sizeof(more), ", or set LITIFUT_RING_KB to less than %u",
			 (unsigned)settings->ring_kb);
	snprintf(error->message + length, sizeof(error->message) - length,
		 ": trace fewer functions (LITIFUT_INCLUDE)%s", more);
}

enum litifut_status firmware_link_until_it_fits(struct firmware_link *link,
						struct litifut_rewrite_summary *summary,
						struct litifut_error *error)
{
	enum litifut_status status = firmware_link_planned(link, summary, error);
	struct litifut_error nearest = {0};

	if (status)
		nearest = *error;
	if (status && link->overflows && link->options.tasks && !link->request->settings->task) {
		link->options.task = "none";
		status = firmware_link_again(link, "no times of tasks", summary, error);
		keep_nearest(&nearest, error);
	}
	if (status && link->overflows && link->plan.ring_events &&
	    !link->request->settings->ring_kb) {
		link->options.ring_bytes = 1024;
		status = firmware_link_again(link, "a ring of 1 KB", summary, error);
		keep_nearest(&nearest, error);
	}
	if (status && link->overflows && firmware_is_table(link) && !link->request->settings->depth)
		status = link_with_small_pool(link, summary, &nearest, error);
	if (status && link->overflows && !link->options.small && !link->request->settings->stubs) {
		link->options.small = true;
		status = firmware_link_again(link, "small stubs", summary, error);
		keep_nearest(&nearest, error);
	}
	if (status && link->overflows && link->objects->firmware_bytes && !link->plan.small_times &&
	    !link->request->settings->stubs) {
		link->options.small = false;
		link->bytes = true;
		status = firmware_link_again(link, "counters of a byte", summary, error);
		keep_nearest(&nearest, error);
		link->options.small = status != LITIFUT_OK;
		link->bytes = status == LITIFUT_OK;
	}
	if (status && link->overflows && link->options.sample_at) {
		link->options.few_bins = true;
		status = firmware_link_again(link, "few bins for samples", summary, error);
		keep_nearest(&nearest, error);
	}
	if (status && link->overflows)
		*error = nearest;
	if (status && link->overflows && (firmware_is_table(link) || missing(error)))
		advise(link, error);
	return status;
}
