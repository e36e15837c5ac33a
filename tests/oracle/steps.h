/* Which block of code was executed after which: for each pair of the last instruction of one and
 * the first of the next, how often. */
#ifndef LITIFUT_TESTS_ORACLE_STEPS_H
#define LITIFUT_TESTS_ORACLE_STEPS_H

#include <stdbool.h>

#include "tests/oracle/places.h"

/* Counts one step; NULL in the place of `from`: nothing was executed before, of `to`: or after. */
void oracle_step(const struct oracle_place *from, const struct oracle_place *to);

/* A forked child has made none. */
void oracle_steps_clear(void);

/* Writes "FROM TO COUNT" lines, numbers of places; FROM is -1 of the first step,
 * TO 0 of the last. False: that failed. */
bool oracle_steps_write(const char *path);

#endif
