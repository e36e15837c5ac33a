/* The power of each function, of the tracer and of each state of a peripheral together, by
 * regression of all samples on the part of each sample that belongs to them. It separates
 * functions that are shorter than a sample, where plain integrals smear them. */
#ifndef LITIFUT_POSTPROC_ENERGY_RESOLVE_H
#define LITIFUT_POSTPROC_ENERGY_RESOLVE_H

#include "postproc/energy/resolved.h"

enum litifut_status energy_resolve(struct energy_resolved *resolved,
				   const struct energy_resolve_input *input,
				   struct litifut_error *error);

/* The same levels for another `noise`, from the same sums. */
enum litifut_status energy_resolve_again(struct energy_resolved *resolved,
					 const struct energy_resolve_input *input,
					 struct litifut_error *error);

/* The mean power of each function where a sample that it shares with others is divided by their
 * levels, and only the rest by time; NaN: it has no samples. Peripherals draw what occupations
 * say. */
enum litifut_status energy_divide(const struct energy_resolved *resolved,
				  const struct energy_resolve_input *input, double *watts,
				  struct litifut_error *error);

/* Fills occupations' `observed` from the levels of the functions. */
enum litifut_status energy_observe(const struct energy_resolved *resolved,
				   const struct energy_resolve_input *input,
				   struct litifut_error *error);

/* What is left of each sample when the functions' and the tracer's part is taken out, into `rest`
 * (power->count numbers). */
enum litifut_status energy_rest(const struct energy_resolved *resolved,
				const struct energy_resolve_input *input, float *rest,
				struct litifut_error *error);

/* What is left when peripherals' part is taken out as well, of blocks of `block` samples, added up
 * into `sums` (power->count / block + 1 numbers). */
enum litifut_status energy_rest_sums(const struct energy_resolved *resolved,
				     const struct energy_resolve_input *input, size_t block,
				     double *sums, struct litifut_error *error);

#endif
