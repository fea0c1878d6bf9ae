/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf/event.h - turns the text of -e into events that can be opened.
 *
 *   EVENTS  = EVENT [; EVENT]...
 *   EVENT   = auto | alloc | timer | cpu | cache-misses
 *           | pebs[:PRESET][@PERIOD]
 *           | ibs[:cycles|:ops|:l3missonly|:ldlat=CYCLES|:swfilt]...[@PERIOD]
 *           | fault[@PERIOD]
 *           | watch:CLASS[#N][.FIELD|[INDEX]|+OFFSET][:r|:w|:rw][@PERIOD]
 *           | LIBPFM4 EVENT STRING[@PERIOD]
 *   PRESET  = l1-miss | l2-miss | l3-miss | stlb-loads | stlb-stores | latency[=CYCLES] | stores
 *
 * There is no comma, since commas separate the agent's options. `auto` and `alloc` stand alone;
 * timer, fault and ibs come once. `cpu` is the timer; `cache-misses` is pebs:l3-miss on Intel, on
 * AMD ibs:l3missonly, or ibs where that cannot filter. A FIELD needs the #N before it, since names
 * of classes have dots too.
 *
 * Shared by the agent and the `locus` command: the command checks, the agent opens.
 */
#ifndef LC_PERF_EVENT_H
#define LC_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lc_event_kind {
	LC_KIND_TIMER,
	LC_KIND_PEBS,
	LC_KIND_IBS,
	LC_KIND_FAULT,
	LC_KIND_WATCH,
	LC_KIND_COUNT
};

enum {
	LC_EVENTS_MAX = 8,
	LC_EVENT_TEXT_MAX = 256,
	LC_WATCHES_MAX = 4 /* debug registers of an x86 CPU */
};

/* The place that the engine `watch` follows. */
struct lc_watch_spec {
	char class_name[LC_EVENT_TEXT_MAX]; /* as in reports: "com.acme.Node", "long[]" */
	uint64_t ordinal;                   /* the N-th object allocated, from 1 */
	char field[128];                    /* "" where it is given by index or offset */
	bool has_index;
	uint64_t index;  /* element of an array */
	bool has_offset; /* without field, index and offset the whole object is meant */
	uint64_t offset; /* bytes from the object's start */
	/* LC_TOUCH_LOAD | LC_TOUCH_STORE of core/record.h. x86 cannot break on loads alone: both
	 * are set then, and the report's text tells stores apart. */
	uint8_t access;
	uint8_t bytes; /* 1, 2, 4, 8; 0: as wide as the field or element */
};

struct lc_event {
	enum lc_event_kind kind;
	/* the canonical spelling, with the period where that is not the default */
	char text[LC_EVENT_TEXT_MAX];
	char event[LC_EVENT_TEXT_MAX]; /* for reports: "MEM_LOAD_RETIRED:L1_MISS", "page-faults" */
	const char *unit;              /* "ns of thread CPU time", "misses", "page faults", ... */
	uint64_t period; /* events (timer: ns, 0 for --interval) between two samples */
	/* Set for every kind but the timer. It is complete but for wakeup_events and, with watch,
	 * bp_addr (and bp_len where watch.bytes is 0). Time stamps are CLOCK_MONOTONIC. */
	struct perf_event_attr attr;
	bool has_aux;
	struct perf_event_attr aux; /* mem-loads-aux */
	struct lc_watch_spec watch;
};

struct lc_events {
	struct lc_event event[LC_EVENTS_MAX];
	size_t len;
};

/*
 * The machine whose events are parsed; all zero is this one. Tests lay out their own. A `pmu` that
 * is not this CPU's needs LIBPFM_ENCODE_INACTIVE=1 in the environment before the first call.
 */
struct lc_event_machine {
	const char *root; /* of /sys and /proc; NULL: "" */
	const char *pmu;  /* libpfm4's name of the core PMU ("skx") to encode for; NULL: as
	                     cpuinfo says. With a `pmu` and no `root`, no file is read */
};

/* "timer", "pebs", ...; static storage. */
const char *lc_event_kind_name(enum lc_event_kind kind);

/* The text that asks for no samples: allocations are counted all the same. */
#define LC_EVENT_NONE "alloc"

/*
 * Parse `text` to *out. LC_EVENT_NONE yields no event, nor does "auto", for which the caller tries
 * lc_event_candidates(). Returns 0;
 * -EINVAL for an event that can never be (unknown, out of range, another vendor's), with one line
 * in `error` that names the nearest valid spelling, and *out untouched; -ENODEV where all events
 * are valid but this machine does not have the PMU of one (a guest without one), with a line that
 * says so and the other events, perhaps none, in *out: profiling then falls back to those. Context:
 * [attach], one thread at a time (libpfm4). May call malloc().
 */
int lc_event_parse(const char *text, const struct lc_event_machine *machine, struct lc_events *out,
                   char *error, size_t error_len);

/*
 * The events that "auto" tries, best first, as far as this machine's PMUs have them: pebs, ibs;
 * never empty, since the timer comes last. Whether they deliver is for lc_perf_probe() to find.
 * `reasons[i]`, 160 bytes each, says why an engine before the timer is not in the list. Returns
 * how many there are. Context: as lc_event_parse().
 */
size_t lc_event_candidates(const struct lc_event_machine *machine, struct lc_events *out,
                           char reasons[][160], size_t reasons_max, size_t *reasons_len);

#endif
