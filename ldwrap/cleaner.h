/* What can't be caught: SIGKILL. A process beside this one waits for its end, and removes what
 * it can't remove any more. Of the functions all but cleaner_start() are async-signal-safe. */
#ifndef LITIFUT_LDWRAP_CLEANER_H
#define LITIFUT_LDWRAP_CLEANER_H

/* Starts it. Where no process can be had all goes on without. */
void cleaner_start(void);

/* Should this process end without cleaner_dismiss(), the folder `path` is removed with the
 * files in it. */
void cleaner_note_folder(const char *path);

/* Likewise the file `path`, and those beside it whose names begin with its name. */
void cleaner_note_file(const char *path);

/* In a child of this process, before execv, one at a time: likewise it is ended, before any
 * file is removed. */
void cleaner_note_self(void);

/* In the parent: that child has ended. */
void cleaner_note_end(void);

/* Has it do its work now, and waits for it. */
void cleaner_finish(void);

/* All is removed, and it may go. This, like cleaner_finish(), may be called twice. */
void cleaner_dismiss(void);

#endif
