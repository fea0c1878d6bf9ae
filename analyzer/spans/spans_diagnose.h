/*
 * spans/spans_diagnose.h - defines the thresholds of the diagnoses. docs/spans.md says where each
 * comes from: change both together.
 */
#ifndef LC_SPANS_SPANS_DIAGNOSE_H
#define LC_SPANS_SPANS_DIAGNOSE_H

/* Any: less is not worth a change. */
#define LC_SPANS_WORTH_SHARE 0.05 /* of all cycles of spans */

/* Fine-grained. */
#define LC_SPANS_FINE_COUNT 1000        /* executions: a large group */
#define LC_SPANS_FINE_CYCLES 100000.0   /* nine in ten take less */
#define LC_SPANS_FINE_SPREAD 32.0       /* 90th / 10th percentile: similar */
#define LC_SPANS_FINE_RISE 1.5          /* context switches, while they run / else */
#define LC_SPANS_FINE_SWITCHES 10.0     /* in LC_TIMELINE_NS: below it a rise is noise */
#define LC_SPANS_FINE_BUSY 0.25         /* of their CPU use: time that is compared with */
#define LC_SPANS_FINE_SWITCHES_EACH 0.1 /* per task, without a time to compare with */

/* Coarse-grained. */
#define LC_SPANS_COARSE_PART 0.05     /* of all tasks, at most: a small group */
#define LC_SPANS_COARSE_RATIO 100.0   /* least size of the group / median of the rest */
#define LC_SPANS_COARSE_REST 30       /* tasks to compare with, at least */
#define LC_SPANS_COARSE_CORES 0.5     /* of the machine's CPUs in use, at most: low CPU use */
#define LC_SPANS_COARSE_SWITCHES 10.0 /* in LC_TIMELINE_NS for each CPU, at most: few */

/* Unbalanced. */
#define LC_SPANS_UNBALANCED_FROM 0.33  /* coefficient of variation */
#define LC_SPANS_UNBALANCED_EACH 10    /* executions per worker, at least */
#define LC_SPANS_UNBALANCED_CYCLES 3e7 /* of all workers, at least: about 10 ms */

/* Tiny inner streams; invariant ones. */
#define LC_SPANS_TINY_CYCLES 1000.0 /* of an execution, at most */
#define LC_SPANS_TINY_COUNT 1000    /* of these executions, at least */
#define LC_SPANS_INVARIANT_COUNT 100
#define LC_SPANS_INVARIANT_SPREAD 1.6 /* 90th / 10th percentile, at most: always the same work */
#define LC_SPANS_REPEATED_LOOKS 20    /* executions that could be compared, at least */
#define LC_SPANS_REPEATED_LOW 0.75    /* of them repeated, at least: the interval's lower end */
#define LC_SPANS_REPEATED_OTHER 0.02  /* of them with another result, at most */

/* Points of the timeline (LC_TIMELINE_NS each) that a mean needs. */
#define LC_SPANS_POINTS 3

#endif
