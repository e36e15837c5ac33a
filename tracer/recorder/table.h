/* LITIFUT_MODE=table: what a thread has recorded becomes a table of its calls. */
#ifndef LITIFUT_TRACER_TABLE_H
#define LITIFUT_TRACER_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct litifut_module;
struct litifut_thread;

#pragma GCC visibility push(hidden)

/* LITIFUT_MODE=table and paths: settings that have no meaning with them give way. False: this
 * recorder does not have these modes. */
bool litifut_mode_settings(void);
/* Folds the events of a full chunk, whose last word ends at `end`, into the table of its
 * thread. Returns a chunk that is empty now, or 0: another one is needed. Signals are
 * blocked. */
uint32_t litifut_table_finish(uint32_t chunk, uint32_t end);
/* Makes the table of this thread, and room for what tables need in a process that is going to make
 * no more system calls. */
void litifut_tables_prepare(struct litifut_thread *thread);
/* Sees to it that the tables are in the file. Gives the calls in those that are not. */
uint32_t litifut_tables_save(bool settles);
/* Before a module is unloaded, which ends the epoch. */
void litifut_tables_unload(const struct litifut_module *module);
/* In a new process: no thread has a table. */
void litifut_tables_forget(void);

#pragma GCC visibility pop

#endif
