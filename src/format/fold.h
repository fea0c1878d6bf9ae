/*
 * format/fold.h - decides which executions of tasks are tasks of their own, and which belong to
 * another one.
 *
 * Pure functions of what is known when an execution ends, used by the agent on the spot and by the
 * analyzer on spans that were recorded one by one. Rules, by number:
 *   1  A task that is executed wholly inside another one is part of it, with all that is part of
 * it. 2  Not where the one outside is a thread (or the loop of a pool's worker): then it is a task
 * of its own, 3  unless the same thread created it and nobody ever submitted it: then it is part of
 * the thread. 4  Calls on one object inside each other are one execution, the outermost one. 5 Each
 * execution of an object counts. 6  What was created and never executed is no task (counted:
 * creations less first executions). A Thread's target stands for the thread: it may be the loop of
 * a pool that the program has made itself. So does what the target calls, for tasks that were
 * submitted. Wrappers are looked through. A ForkJoin task that was forked,
 * or came to its pool otherwise, may be executed by a thread that waits in the middle of another
 * task: it is not that one's, whatever rule 1 says. Nor is a job that a worker's loop takes off a
 * queue a part of that loop, where the loop is a task: src/span/tasks/task_parts.h decides that
 * when the job is executed, and says so (LC_TRACE_OWN).
 */
#ifndef LC_FORMAT_FOLD_H
#define LC_FORMAT_FOLD_H

#include <stdbool.h>

#include "src/format/kinds.h"

/*
 * Rule 4, and wrappers, when an execution begins: is it none, but part of what runs already? What
 * runs inside of it then belongs to the frame below.
 */
static inline bool lc_fold_transparent(bool wrapper, bool same_object)
{
	return wrapper || same_object;
}

/*
 * Rules 1 to 3, when it ends: is it part of the innermost task or thread around it? `kind` of it
 * and `outer` of that one are LC_SPAN_TASK or LC_SPAN_THREAD; what runs in no span is a thread's.
 * `flags`: LC_TRACE_*. `known`: it is known who created it, so that the absence of
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
 * What the task around one with `flags` is for the rules, where it has `outer_flags` itself:
 * LC_SPAN_THREAD where it stands for its thread.
 */
static inline unsigned lc_fold_outer(unsigned outer, unsigned outer_flags, unsigned flags)
{
	return outer_flags & LC_TRACE_LOOP ||
	               (outer_flags & LC_TRACE_IN_LOOP && flags & LC_TRACE_SUBMITTED)
	           ? (unsigned)LC_SPAN_THREAD
	           : outer;
}

#endif
