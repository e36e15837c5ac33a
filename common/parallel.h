/* Work on more than one processor: for seconds at most, so that a parallel make beside
 * it hardly notices. Without a second processor, or where no thread can be started, all is done
 * by the caller. Threads take no signals. */
#ifndef LITIFUT_COMMON_PARALLEL_H
#define LITIFUT_COMMON_PARALLEL_H

#include <stddef.h>

#define LITIFUT_WORKERS_MAX 4

/* How many idle processors this process may use, 1 to
 * LITIFUT_WORKERS_MAX. First asked by one thread alone. */
size_t litifut_parallel_workers(void);

/* Does the item number `item`; `worker` is the number of the one who does it, from 0, the
 * caller, to litifut_parallel_workers() - 1: for memory that no other worker uses. */
typedef void litifut_parallel_work(void *context, size_t worker, size_t item);

/* Does the items 0 to `count` - 1, each once, in any order; each worker takes items in
 * ascending order. Returns when all are done. */
void litifut_parallel(size_t count, litifut_parallel_work *work, void *context);

/* Does one thing. */
typedef void litifut_queue_work(void *context, void *thing);

/* Things that one thread finds and another one works on, in the same order. */
struct litifut_queue;

/* NULL: there is one processor only, or no thread: the caller works himself. */
struct litifut_queue *litifut_queue_open(litifut_queue_work *work, void *context);

/* Waits while many things wait. `thing` belongs to the worker from here on. */
void litifut_queue_add(struct litifut_queue *queue, void *thing);

/* Returns when all things are done. NULL is an empty queue. */
void litifut_queue_close(struct litifut_queue *queue);

#endif
