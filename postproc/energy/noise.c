#include "postproc/energy/noise.h"

#include <math.h>
#include <stdlib.h>

/* Samples of a block of which the noise is estimated. Of the differences of blocks a quarter
 * is enough without a change between them: so much of a normal distribution lies within this. */
#define BLOCK 256
#define QUARTER_OF_NORMAL 0.31863936

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Of a very long recording so many blocks apart are enough. */
static size_t blocks_apart(size_t blocks)
{
	return blocks > 200000 ? blocks / 100000 : 1;
}

/* From the differences of sums of blocks. Sorts them. */
static double noise_of_steps(double *steps, size_t count, size_t block)
{
	qsort(steps, count, sizeof(*steps), by_value);
	return steps[count / 4] / (double)block / QUARTER_OF_NORMAL / sqrt(2) * sqrt((double)block);
}

static double noise_of_blocks(const float *values, size_t count, size_t block)
{
	const size_t blocks = count / block, apart = blocks_apart(blocks);
	double *steps = malloc((blocks / apart + 1) * sizeof(*steps)), noise = 0;
	size_t found = 0;

	for (size_t i = 0; steps && i + 1 < blocks; i += apart) {
		double difference = 0;
		const float *at = values + i * block;
		for (size_t k = 0; k < block; k++)
			difference += (double)at[block + k] - at[k];
		steps[found++] = fabs(difference);
	}
	if (found)
		noise = noise_of_steps(steps, found, block);
	free(steps);
	return noise;
}

size_t energy_noise_block(size_t count)
{
	size_t block = BLOCK;

	while (block > 1 && count / block < 40)
		block /= 2;
	return block;
}

double energy_noise(const float *values, size_t count)
{
	return noise_of_blocks(values, count, energy_noise_block(count));
}

double energy_noise_of_sums(const double *sums, size_t blocks, size_t block)
{
	const size_t apart = blocks_apart(blocks);
	double *steps = malloc((blocks / apart + 1) * sizeof(*steps)), noise = 0;
	size_t found = 0;

	for (size_t i = 0; steps && i + 1 < blocks; i += apart)
		steps[found++] = fabs(sums[i + 1] - sums[i]);
	if (found)
		noise = noise_of_steps(steps, found, block);
	free(steps);
	return noise;
}

double energy_sample_noise(const float *values, size_t count)
{
	return noise_of_blocks(values, count, 1);
}
