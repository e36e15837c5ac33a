/* The settings of a run that were wrong, as the header of a trace has them. */
#ifndef LITIFUT_POSTPROC_FORMATS_WRONG_SETTINGS_H
#define LITIFUT_POSTPROC_FORMATS_WRONG_SETTINGS_H

struct post_totals;

/* Calls `tell` with a line, without a newline or a full stop, for each value that the recorder did
 * not understand, and for each name that a program had in its environment and that is not a setting
 * of the recorder or of a link. */
void post_wrong_settings_each(const struct post_totals *totals,
			      void (*tell)(void *context, const char *line), void *context);

#endif
