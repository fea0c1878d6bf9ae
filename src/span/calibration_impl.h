/* SPDX-License-Identifier: Apache-2.0 */
/* span/calibration_impl.h - declares the parts of calibrations for each other, and for tests. */
#ifndef LC_SPAN_CALIBRATION_IMPL_H
#define LC_SPAN_CALIBRATION_IMPL_H

#include "src/span/calibration.h"

enum { LC_CALIBRATION_PAIRS = 10000 /* in a batch */ };

const char *lc_calibration_cost_name(enum lc_cost cost);

/*
 * Mean and coefficient of variation of `values`, without outliers: those further from the median
 * than three median absolute deviations (or a hundredth of the median, if that is more). Sorts
 * `values`. Without values the result is unknown. Pure.
 */
struct lc_cost_value lc_calibration_summarize(double *values, size_t len);

/* Does the cost vary little enough to use its mean, with at most half of the batches removed? */
bool lc_calibration_steady(const struct lc_cost_value *v);

/*
 * Measure until both costs are steady, at most LC_CALIBRATION_ATTEMPTS times. *inner and *outer are
 * the steady ones, or else those that varied least. Returns 0, or at once the error of `attempt`.
 * Pure.
 */
int lc_calibration_repeat(int (*attempt)(void *context, struct lc_cost_value *inner,
                                         struct lc_cost_value *outer),
                          void *context, struct lc_cost_value *inner, struct lc_cost_value *outer);

/* Add a text to the warning. lc_calibration_judge() adds those about the costs themselves. */
__attribute__((format(printf, 2, 3))) void lc_calibration_warn(struct lc_calibration *c,
                                                               const char *format, ...);
void lc_calibration_judge(struct lc_calibration *c);

/* The conditions that a calibration is valid for. */
struct lc_calibration_key {
	char cpu[LC_CALIBRATION_TEXT_MAX];
	char jdk[LC_CALIBRATION_TEXT_MAX];
	char agent[LC_CALIBRATION_TEXT_MAX];   /* version and build of this library */
	char variant[LC_CALIBRATION_TEXT_MAX]; /* clock, and how spans are recorded */
	uint64_t hz;                           /* equal within a hundredth */
};

/*
 * The conditions of this run. `variant`: options that change what a span costs, "" without one.
 * Context: [attach], lc_cycles_init() done.
 */
void lc_calibration_key(const char *variant, struct lc_calibration_key *key);

/*
 * The file for this key, in XDG_CACHE_HOME or ~/.cache. Returns 0, -ENOENT if the environment names
 * neither, or -ENAMETOOLONG.
 */
int lc_calibration_path(const struct lc_calibration_key *key, char *out, size_t out_len);

/*
 * Read the file. Returns 0 and sets out->costs; or -ESTALE for another key, -EBADMSG for a damaged
 * file, or -errno, and leaves *out untouched.
 */
int lc_calibration_load(const char *path, const struct lc_calibration_key *key,
                        struct lc_calibration *out);

/* Replace the file atomically, and make its directory. Returns 0 or -errno. */
int lc_calibration_save(const char *path, const struct lc_calibration_key *key,
                        const struct lc_calibration *c);

#endif
