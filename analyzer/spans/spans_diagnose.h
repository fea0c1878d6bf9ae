/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans/spans_diagnose.h - defines the thresholds of the diagnoses. docs/spans.md explains each:
 * change both together.
 */
#ifndef LC_SPANS_SPANS_DIAGNOSE_H
#define LC_SPANS_SPANS_DIAGNOSE_H

/* All: less is not worth a change. */
#define LC_SPANS_WORTH_SHARE 0.05 /* of all cycles of spans */

/* Fine-grained. */
#define LC_SPANS_FINE_COUNT 1000        /* executions: a large group */
#define LC_SPANS_FINE_CYCLES 100000.0   /* 90% of executions take less */
#define LC_SPANS_FINE_SPREAD 32.0       /* 90th / 10th percentile: similar */
#define LC_SPANS_FINE_RISE 1.5          /* ratio of context switches, while they run / else */
#define LC_SPANS_FINE_SWITCHES 10.0     /* in LC_TIMELINE_NS; below it a rise is noise */
#define LC_SPANS_FINE_BUSY 0.25         /* other times need this part of their CPU use */
#define LC_SPANS_FINE_SWITCHES_EACH 0.1 /* per task, if there is no other time to compare */
#define LC_SPANS_FINE_HANDING 15000.0   /* maximum cycles outside for each, if all hand over */

/* Coarse-grained. */
#define LC_SPANS_COARSE_PART 0.05     /* of all tasks, at most: "a few" */
#define LC_SPANS_COARSE_RATIO 100.0   /* smallest of the group / median of the rest */
#define LC_SPANS_COARSE_CYCLES 1e7    /* smallest of the group: some ms */
#define LC_SPANS_COARSE_REST 30       /* minimum number of tasks to compare with */
#define LC_SPANS_COARSE_CORES 0.5     /* maximum part of the machine's CPUs in use */
#define LC_SPANS_COARSE_SWITCHES 10.0 /* maximum in LC_TIMELINE_NS for each CPU */

/* Unbalanced. */
#define LC_SPANS_UNBALANCED_FROM 0.33  /* coefficient of variation */
#define LC_SPANS_UNBALANCED_EACH 10    /* minimum executions per worker */
#define LC_SPANS_UNBALANCED_CYCLES 3e7 /* minimum over all workers: about 10 ms */

/* Tiny and invariant inner streams. */
#define LC_SPANS_TINY_CYCLES 1000.0 /* maximum cycles of an execution */
#define LC_SPANS_TINY_COUNT 1000    /* minimum number of these executions */
#define LC_SPANS_INVARIANT_COUNT 100
#define LC_SPANS_INVARIANT_SPREAD 1.6 /* maximum 90th / 10th percentile: always the same work */
#define LC_SPANS_REPEATED_LOOKS 20    /* minimum number of comparable executions */
#define LC_SPANS_REPEATED_LOW 0.75    /* minimum part that repeats: lower end of the interval */
#define LC_SPANS_REPEATED_OTHER 0.02  /* maximum part with another result */

/* Points of the timeline (LC_TIMELINE_NS each) that a mean needs at least. */
#define LC_SPANS_POINTS 3

#endif
