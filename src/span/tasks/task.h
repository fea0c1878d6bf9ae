/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/tasks/task.h - counts executions of tasks: Runnable, Callable, ForkJoinTask, and threads.
 *
 * A task is created, submitted and executed, often by three threads: span/tasks/link.h joins the
 * three. Its class and the place of its creation are its site (lc_site_get()). An execution is
 * counted in the slot of the site, the kind of submission and the submission's place. The core
 * knows no JVM: task_hook.c finds classes and places on the stack.
 */
#ifndef LC_SPAN_TASKS_TASK_H
#define LC_SPAN_TASKS_TASK_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/span/frames/stack.h"
#include "src/span/tasks/link.h"

struct lc_submitting_stack;
struct lc_task_parts; /* task_parts.h */
struct lc_block_task_made;
struct lc_task_places; /* task_place.h */
struct lc_task_watch;  /* task_watch.h */

/*
 * A bit of the `creator` of a link, frame or trace: the creator is a virtual thread, and the other
 * bits are the lower ones of its ID.
 */
#define LC_TASK_CREATOR_VIRTUAL UINT32_C(0x80000000)

/* A class of tasks; constant, but for what `watch` points to. */
struct lc_task_class {
	uint32_t id;   /* from 1; the class's number in links */
	uint32_t site; /* site of the class alone: for tasks of unknown creation */
	uint32_t word; /* in the headers of its objects; a later class may reuse it */
	uint8_t flags; /* LC_CLASS_ */
	const char *signature;
	jweak class;                 /* the java.lang.Class, while it lives */
	struct lc_task_watch *watch; /* task_watch.h */
};

enum {
	LC_CLASS_WRAPPER = 1, /* transparent: the wrapped object is the task */
	LC_CLASS_SINGLE = 2,  /* a lambda expression without captures: it has one object */
	LC_CLASS_ASYNC = 4,   /* CompletableFuture's own */
	/*
	 * The JDK's own CountedCompleter, and stages of a CompletableFuture: many of them are never
	 * executed, as intended.
	 */
	LC_CLASS_LIBRARY = 8,
	LC_CLASS_LAMBDA = 16, /* hidden class: the expression reports the object */
};

struct lc_task_config {
	/* The calling thread's spans, made if it has none; NULL: record nothing. */
	struct lc_span_thread *(*enter)(JNIEnv *jni);
	uint32_t depth; /* frames of a path: 1, or more with --span-paths */
};

/*
 * The reason why tasks cannot be recorded on this JDK (constant text), or NULL. Leaves no exception
 * pending. Context: [attach].
 */
const char *lc_task_mismatch(JNIEnv *jni);

/* Prepare tasks and links, after LocusSpan was defined. Returns 0 or -errno. Context: [attach]. */
int lc_task_init(const struct lc_task_config *config);

/*
 * End the execution of a task or thread whose frame lc_span_pop() has taken off: decide whether it
 * is part of another one (if so, set LC_TRACE_FOLDED in f->task.flags), and count it in its slot.
 * An undecided execution (task_parts.h) is counted later. *e, which is the execution alone, is not
 * changed. Context: [hook], owner.
 */
void lc_task_end(struct lc_span_thread *s, struct lc_span_frame *f, const struct lc_span_ended *e);

/*
 * The frame that the task of frame `f` would be part of if it ended now: a task's, or frame 0, the
 * thread's; NULL: it would be a task of its own. `frames` is frame 0 of the array with `f`, or of a
 * copy. Pure. Context: any.
 */
struct lc_span_frame *lc_task_folds_into(struct lc_span_frame *frames, struct lc_span_frame *f);

/* Free task.c's data of a thread (s->tasks; NULL is fine). Context: [writer]. */
void lc_task_thread_destroy(struct lc_task_thread *t);

/*
 * Row number `i` of the thread's creations and submissions, with its counts since the last call.
 * Returns false after the last row. Context: [writer].
 */
bool lc_task_made_take(struct lc_task_thread *t, uint32_t i, struct lc_block_task_made *row);

/* -- the core: no JVM ------------------------------------------------------------------------ */

/* Returns 0 or -ENOMEM. Context: [hook]; slow, once a thread. */
int lc_task_thread_create(struct lc_task_thread **out);
struct lc_task_places *lc_task_thread_places(struct lc_task_thread *t); /* made with the thread */

/* The calling thread's number as the creator of a task. */
uint32_t lc_task_creator(const struct lc_span_thread *s);

/* An object was made at `site`. Context: [hook], owner. */
void lc_task_created(struct lc_span_thread *s, const struct lc_task_class *class, uint32_t hash,
                     uint32_t site, uint64_t tsc);

/*
 * Is this submission a part of one under way, since the object was handed on? If so, it is counted
 * as nested only. Context: [hook], owner.
 */
bool lc_task_repeats(struct lc_span_thread *s, struct lc_link_key key);

/* An object was submitted, and lc_task_repeats() was false. Context: [hook], owner. */
struct lc_task_submission {
	uint64_t tsc;
	uint32_t path;
	uint8_t kind; /* enum lc_submit_kind */
};
void lc_task_submitted(struct lc_span_thread *s, const struct lc_task_class *class, uint32_t hash,
                       const struct lc_task_submission *submission);

/*
 * A method begins that may submit the object of `key`, or (`all`) any that waits. lc_task_left():
 * the method returns or (`refused`) throws. See span/tasks/submitting.h. Context: [hook], owner.
 */
void lc_task_entered(struct lc_span_thread *s, struct lc_link_key key, bool all);
void lc_task_left(struct lc_span_thread *s, bool refused);
struct lc_submitting_stack *lc_task_entered_stack(struct lc_task_thread *t);
struct lc_task_parts *lc_task_nest(struct lc_task_thread *t);

/*
 * From now on creations of the class are not all counted, see task_watch.h. Context: [hook], owner.
 */
void lc_task_counted_in_part(struct lc_span_thread *s, const struct lc_task_class *class);

/*
 * run(), call(), exec() or compute() of an object begins. Pushes exactly one frame, or counts it as
 * too deep and returns NULL. The caller sets the frame's hook, and calls lc_span_start(). If
 * `class` is NULL (a wrapper, or unknown), the frame is transparent. Context: [hook], owner.
 */
struct lc_span_frame *lc_task_begin(struct lc_span_thread *s, const struct lc_task_class *class,
                                    uint32_t hash, uint32_t traits);

/* Time from submission to begin; 0 if unknown. Context: [hook], owner. */
uint64_t lc_task_wait_ns(const struct lc_span_frame *f);

/*
 * With --trace, put the execution into the thread's trace (task_hook.c); `outer` is the number of
 * the span around it. Context: [hook], owner.
 */
void lc_task_trace(struct lc_span_thread *s, const struct lc_span_frame *f, uint64_t outer,
                   const struct lc_span_ended *e);

/* Frames were exchanged (span/tasks/virtual.c): forget cached data about them. [hook], owner. */
void lc_task_frames_changed(struct lc_span_thread *s);

#endif
