/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format/fold.h - decides which executions of tasks are tasks of their own, and which belong to
 * another task.
 *
 * Pure functions of the facts that are known when an execution ends. The agent calls them on the
 * spot, the analyzer for spans that were recorded one by one. Rules, by number:
 * 1. A task that is executed wholly inside another one is part of it, with all its own parts.
 * 2. A task inside a thread, or in the loop of a pool's worker, is a task of its own, unless:
 * 3. the same thread created the task and nobody submitted it: it is part of the thread.
 * 4. Calls on one object inside each other are one execution, the outermost one.
 * 5. Each execution of an object counts.
 * 6. A task that was created and never executed is counted apart (creations less first executions).
 *
 * A Thread's target stands for the thread, since it may be the loop of the program's own pool. The
 * methods that the target calls also stand for the thread, for tasks that were submitted. Wrappers
 * are looked through. A thread that waits inside a task may execute a ForkJoin task that was forked
 * or came to its pool otherwise: the ForkJoin task is no part of the first one, despite rule 1. A
 * job that a worker's loop takes off a queue is no part of the loop either, if the loop is a task
 * and no composite: src/span/tasks/task_parts.h decides that when the job is executed, and sets
 * LC_TRACE_OWN.
 */
#ifndef LC_FORMAT_FOLD_H
#define LC_FORMAT_FOLD_H

#include <stdbool.h>

#include "src/format/kinds.h"

/*
 * Rule 4, and wrappers, when an execution begins: is it part of the execution that runs already? If
 * so, spans inside it belong to the frame below.
 */
static inline bool lc_fold_transparent(bool wrapper, bool same_object)
{
	return wrapper || same_object;
}

/*
 * Rules 1 to 3, when an execution ends: is it part of the innermost task or thread around it?
 * `kind` and `outer` are the kinds of the two: LC_SPAN_TASK, or LC_SPAN_THREAD (also if there is no
 * span around it). `flags`: LC_TRACE_*. `known`: the creator is known, so the absence of
 * LC_TRACE_SUBMITTED means something. Streams between the two do not matter.
 */
static inline bool lc_fold_into_outer(unsigned kind, unsigned outer, unsigned flags, bool known)
{
	bool submitted = flags & LC_TRACE_SUBMITTED;

	if (outer == LC_SPAN_TASK)
		return !(flags & LC_TRACE_OWN) &&
		       !(flags & LC_TRACE_FORK_JOIN && (submitted || !known));
	return kind == LC_SPAN_TASK && known && flags & LC_TRACE_SAME_THREAD && !submitted;
}

/*
 * The kind that the rules see in the task around one with `flags`: LC_SPAN_THREAD if that task,
 * which has `outer_flags`, stands for its thread.
 */
static inline unsigned lc_fold_outer(unsigned outer, unsigned outer_flags, unsigned flags)
{
	return outer_flags & LC_TRACE_LOOP ||
	               (outer_flags & LC_TRACE_IN_LOOP && flags & LC_TRACE_SUBMITTED)
	           ? (unsigned)LC_SPAN_THREAD
	           : outer;
}

#endif
