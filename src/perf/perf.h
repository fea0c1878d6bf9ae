/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf/perf.h - opens a perf event of one thread, maps its buffer, and has the kernel signal
 * samples.
 *
 * The signal must be a standard one (below SIGRTMIN; SIGSTKFLT, say): for a real-time signal that
 * finds the queue full the kernel sends SIGIO instead, which ends a program that does not handle
 * it. Standard signals fold: one signal may stand for wakeups of several events of its thread, and
 * without memory for its siginfo the kernel sends it bare. So the signal's handler reads the
 * buffers of all events of its thread, whichever si_fd names.
 */
#ifndef LC_PERF_PERF_H
#define LC_PERF_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/perf/ring.h"

/*
 * Pages of data in the buffer of an engine's event on one thread, besides the page that describes
 * the buffer. They hold some 500 samples with addresses and data sources, and a handler empties the
 * buffer at each sample.
 */
enum { LC_PERF_RING_PAGES = 8 };

/* An open event and its buffer. Start with LC_PERF_NONE. */
struct lc_perf {
	int fd;     /* -1: none */
	int aux_fd; /* the leader that the event needs, or -1 */
	void *map;  /* perf_event_mmap_page, then the data */
	size_t map_bytes;
	bool user_only; /* accesses by the kernel are left out */
	struct lc_ring_layout layout;
};

#define LC_PERF_NONE ((struct lc_perf){ .fd = -1, .aux_fd = -1 })

/* An event to open. `attr` and `aux` are complete but for the fields that lc_perf_open() sets. */
struct lc_perf_config {
	const struct perf_event_attr *attr;
	const struct perf_event_attr *aux; /* mem-loads-aux, leads the group; NULL: none */
	size_t data_pages;                 /* a power of two; 0: no buffer, counting only */
	int signal;                        /* to the thread with each wakeup; 0: none */
};

/*
 * Open the event, disabled, for thread `tid` (0: the calling one) on every CPU. Sets size,
 * disabled, wakeup_events (1, with a buffer) and the times in read_format; clears inherit,
 * watermark and PERF_FORMAT_GROUP. An event that is to see the kernel's accesses too
 * (exclude_kernel is 0) is opened for the user's alone where perf_event_paranoid allows no more.
 * Returns 0, or -errno with nothing open: -EMLINK where the memory for buffers is used up
 * (perf_event_mlock_kb and RLIMIT_MEMLOCK), -EINVAL also for a real-time signal or `data_pages`
 * that is no power of two, else what the kernel said.
 * Context: [attach] [java].
 */
int lc_perf_open(struct lc_perf *p, const struct lc_perf_config *config, int32_t tid);

/*
 * Begin, or pause, counting and sampling. Returns 0 or -errno. Never uses PERF_EVENT_IOC_REFRESH:
 * see docs/engines/events.md. Context: [signal] or any. errno kept.
 */
int lc_perf_enable(struct lc_perf *p);
int lc_perf_disable(struct lc_perf *p);

/*
 * Sample after `period` occurrences from now on, and after as many each time. Not for software
 * events and breakpoints: the kernel samples their next occurrence at once. Returns 0 or -errno,
 * and then the period stays. Context: as before. errno kept.
 */
int lc_perf_set_period(struct lc_perf *p, uint64_t period);

/*
 * Occurrences counted so far, scaled where the event shared its counter. Returns 0, or -errno:
 * -EAGAIN while it has waited for a counter all the time. Context: any, [signal] included.
 */
int lc_perf_count(const struct lc_perf *p, uint64_t *out);

/*
 * Read the buffer: begin, then lc_ring_next() until it is false, then end, which gives the room
 * back. Context: [signal]; one reader at a time.
 */
void lc_perf_read_begin(const struct lc_perf *p, struct lc_ring *out);
void lc_perf_read_end(const struct lc_perf *p, const struct lc_ring *r);

void lc_perf_close(struct lc_perf *p); /* Context: [attach] [java] [writer]. */

/*
 * Why the kernel refused, and what would change that: one line without a newline, for a person.
 * `err` is what lc_perf_open() or lc_perf_probe() returned; `root` is where sysfs and procfs are
 * mounted below ("" in real life). Context: any but [signal].
 */
void lc_perf_explain(int err, const char *root, char *out, size_t out_len);

/*
 * Does this event deliver samples with addresses here? Opens it on the calling thread, touches
 * memory until a sample has come (at most `budget_ms`), and looks for its address. A breakpoint is
 * aimed at a variable of the probe's own, at a function where it is for execution; software events
 * and breakpoints are sampled at each occurrence. `signal` is ignored.
 * Returns 0; -errno of lc_perf_open(); -ETIMEDOUT when no sample came; -EADDRNOTAVAIL when none had
 * an address. Maps and gives back LC_PERF_PROBE_BYTES. Context: [attach].
 */
int lc_perf_probe(const struct lc_perf_config *config, unsigned budget_ms);

enum { LC_PERF_PROBE_BYTES = 16 << 20 }; /* more pages than second-level TLBs have entries */

#endif
