/* The rows of a text of samples. */
#ifndef LITIFUT_POSTPROC_ENERGY_CSV_ROWS_H
#define LITIFUT_POSTPROC_ENERGY_CSV_ROWS_H

#include "postproc/energy/csv_table.h"

/* Gives all rows to the builder, which has the error if there is one. */
enum litifut_status energy_csv_read_rows(struct energy_table *table,
					 struct energy_builder *builder);

#endif
