/* How noisy a curve is. */
#ifndef LITIFUT_POSTPROC_ENERGY_NOISE_H
#define LITIFUT_POSTPROC_ENERGY_NOISE_H

#include <stddef.h>

/* The standard deviation of the noise per sample, as it counts in means of many samples: from
 * differences of means of blocks, so that noise that is alike from sample to sample, as every
 * converter and filter makes it, is not taken for changes. */
double energy_noise(const float *values, size_t count);

/* The same from the sums of samples of each of the blocks, which have energy_noise_block() of all
 * samples. */
double energy_noise_of_sums(const double *sums, size_t blocks, size_t block);
size_t energy_noise_block(size_t count);

/* The same of single samples, from differences of neighbours: less, where these are alike. */
double energy_sample_noise(const float *values, size_t count);

#endif
