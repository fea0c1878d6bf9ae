/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/watch.h - counts every access to one place of one object, while it moves: the engine
 * `watch`.
 *
 * The object is the N-th of its class that an allocation hook shows, whatever its size. A
 * breakpoint on data of each sampled thread counts the accesses exactly, and every n-th access is a
 * sample. When a collection has moved the object, the breakpoints follow it before the threads go
 * on. One place is at most 8 bytes: a field, an element, or the bytes at an offset.
 */
#ifndef LC_SAMPLE_WATCH_H
#define LC_SAMPLE_WATCH_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_backend;
struct lc_move;      /* gc/moves.h */
struct lc_registers; /* sample/decode.h */
struct lc_sample;    /* core/record.h */

/* For engines.c. */
const struct lc_backend *lc_backend_watch(void);

/*
 * Find the access of a sample of engine number `engine`, a watch. A breakpoint on data hits when
 * its instruction has run, so the access is that of the instruction before *regs (NULL: unknown).
 * Sets head->access. Returns the instruction's address if the path should name it, or 0. Context:
 * [signal].
 */
uint64_t lc_watch_access(size_t engine, const struct lc_registers *regs, struct lc_sample *head);

/*
 * The classes whose objects hooks have to show, named as Class constants are ("com/acme/Node",
 * "[F"). Sets *names, which live for ever, and returns their number. Context: [attach], after
 * lc_engines_start().
 */
size_t lc_watch_classes(const char *const **names);

/*
 * Begin to look for the objects; nothing where no watch is asked for. With `follow` false (objects
 * move unseen) nothing is watched, and one line says so. Context: [attach], after
 * lc_engines_start().
 */
void lc_watch_begin(bool follow);

/*
 * A collection has finished and the world is still stopped: aim at where the objects are. Returns
 * the moves of those that are tracked for the watch alone, malloc'ed; owner: the caller. [gc]
 */
struct lc_move *lc_watch_gc_finish(size_t *len);

/*
 * The program has ended: one line on stderr for each object that did not appear, which names what
 * is nearest. Context: [attach].
 */
void lc_watch_end(JNIEnv *jni);

/*
 * Why the watch of engine number `engine` counts nothing, as the line on stderr says it; NULL: it
 * does, or nothing is known yet, or that is no watch. Lives for ever. Context: any.
 */
const char *lc_watch_why_not(size_t engine);

struct lc_watch_stats {
	uint64_t seen;    /* objects of the class, until the wanted one */
	uint64_t found;   /* 1: the object appeared and was watched */
	uint64_t moved;   /* times that a collection moved it */
	uint64_t died;    /* 1: it was collected; the count ends there */
	uint64_t unaimed; /* breakpoints that the kernel refused to aim */
};

/* The counts of engine number `engine`; false if that is no watch. Context: any. */
bool lc_watch_stats(size_t engine, struct lc_watch_stats *out);

#endif
