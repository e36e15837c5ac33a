/* The capacitors between analyser and processor, which smear the curve. */
#ifndef LITIFUT_POSTPROC_ENERGY_SMEAR_H
#define LITIFUT_POSTPROC_ENERGY_SMEAR_H

#include "postproc/energy/power.h"

/* Turns the curve of an analyser behind capacitors, with a time constant of `tau` seconds, into
 * what the board itself drew. No energy is lost or made, but for what is in the capacitors at the
 * ends; the noise of a sample grows by 1.4 tau in samples. */
void energy_power_sharpen(struct energy_power *power, double tau);

#endif
