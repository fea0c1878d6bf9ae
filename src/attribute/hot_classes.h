/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/hot_classes.h - chooses the classes of --track hot: those of many samples in small
 * objects whose allocation line is unknown.
 *
 * A look needs LC_HOT_SAMPLES samples since the look before, and chooses the classes that have
 * LC_HOT_PERCENT of them. Each interrupt is one sample here, however many samples it stands for:
 * those of one interrupt are not independent. The first classes are chosen at once, later ones at
 * least LC_HOT_AGAIN_NS after the look before. A choice stays until the classes are tracked
 * (hooks/track_hot.h).
 */
#ifndef LC_ATTRIBUTE_HOT_CLASSES_H
#define LC_ATTRIBUTE_HOT_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/track.h"

enum { LC_HOT_SAMPLES = 500, LC_HOT_PERCENT = 2 };
#define LC_HOT_AGAIN_NS UINT64_C(300000000000)

/* A class that --track hot has chosen. */
struct lc_hot_class {
	const char *name;    /* as the report writes it; valid until the recording ends */
	uint64_t tracked_ns; /* CLOCK_MONOTONIC, when all hooks were in */
};

struct lc_hot_choice {
	const char *names[LC_TRACK_MAX]; /* as above, most samples first */
	size_t len;
	uint64_t samples, of; /* in their objects without a line, of all */
};

/*
 * Choose classes from now on, since all loaded classes have their hooks. Objects of at least
 * `min_size_bytes` have lines. Context: [attach].
 */
void lc_hot_classes_begin(uint64_t min_size_bytes);

/* An interrupt was counted. Context: [writer]. */
void lc_hot_classes_sample(void);

/*
 * It was in an object of `size_bytes` (0: unknown) without an allocation line; `site` names its
 * class. Context: [writer].
 */
void lc_hot_classes_no_line(uint32_t site, uint64_t size_bytes);

/* Choose classes if it is time to. Context: [writer]. */
void lc_hot_classes_look(uint64_t now_ns);

/* The choice that is to be tracked, or NULL. Context: any. */
const struct lc_hot_choice *lc_hot_classes_due(void);

/* The first `len` classes of it have their hooks. Context: a thread of ours, one at a time. */
void lc_hot_classes_done(size_t len, uint64_t now_ns);

/* All classes that are tracked; returns how many. Context: [writer]. */
size_t lc_hot_classes_all(struct lc_hot_class out[LC_TRACK_MAX]);

#endif
