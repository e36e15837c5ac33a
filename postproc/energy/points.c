#include "postproc/energy/points.h"

size_t energy_points_given(struct energy_points *points, struct energy_point *room)
{
	size_t some = 0;

	for (; some < ENERGY_SOME_POINTS && points->at < points->count; points->at++)
		room[some++] = (struct energy_point){
			points->values[points->at],
			points->weights ? points->weights[points->at] : 1, (uint32_t)points->at};
	return some;
}

/* The mean of samples up to `to`. */
static struct energy_point mean_to(struct energy_points *points, size_t to)
{
	const size_t from = points->at;
	const double length = (double)(to - from);

	points->at = to;
	return (struct energy_point){energy_samples_sum(points->samples, from, to) / length, length,
				     (uint32_t)from};
}

size_t energy_points_coarse(struct energy_points *points, struct energy_point *room)
{
	size_t some = 0;

	for (; some < ENERGY_SOME_POINTS && points->at < points->count; some++) {
		const size_t left = points->count - points->at;
		room[some] =
			mean_to(points, points->at + (left < points->width ? left : points->width));
	}
	return some;
}

/* Single samples for a bin on each side of a change, one point for what lies between. */
size_t energy_points_fine(struct energy_points *points, struct energy_point *room)
{
	size_t some = 0;

	while (some < ENERGY_SOME_POINTS && points->at < points->count) {
		if (points->at < points->single) {
			const size_t most = points->at + ENERGY_SOME_POINTS - some;
			const size_t to = most < points->single ? most : points->single;
			size_t count;
			const float *values =
				energy_samples_from(points->samples, points->at, to, &count);
			for (size_t i = 0; i < count; i++, points->at++)
				room[some++] =
					(struct energy_point){values[i], 1, (uint32_t)points->at};
			continue;
		}
		size_t from = points->count;
		if (points->bin < points->bin_count) {
			const size_t change = points->bins[points->bin++];
			const size_t to = change + points->width;
			from = change > points->at + points->width ? change - points->width
								   : points->at;
			points->single = to < points->count ? to : points->count;
		}
		if (from > points->at)
			room[some++] = mean_to(points, from);
	}
	return some;
}
