/* span/calibration_impl.h - declares what of calibrations needs no JVM, for calibrate.c and tests.
 */
#ifndef LC_SPAN_CALIBRATION_IMPL_H
#define LC_SPAN_CALIBRATION_IMPL_H

#include "src/span/calibration.h"

enum { LC_CALIBRATION_PAIRS = 10000 /* in a batch */ };

const char *lc_calibration_cost_name(enum lc_cost cost);

/*
 * Mean and coefficient of variation of `values`, without those further from their median than three
 * median absolute deviations (or than a hundredth of it, where they hardly differ). Sorts `values`.
 * With none of them the result is not known. Pure.
 */
struct lc_cost_value lc_calibration_summarize(double *values, size_t len);

/* Does it vary so little that the mean can be used, and was at most half of it left out? */
bool lc_calibration_steady(const struct lc_cost_value *v);

/*
 * Measure until both are steady, at most LC_CALIBRATION_ATTEMPTS times: *inner and *outer are the
 * last ones then, else those that varied least. Returns 0, or at once what `attempt` returns but 0.
 * Pure.
 */
int lc_calibration_repeat(int (*attempt)(void *context, struct lc_cost_value *inner,
                                         struct lc_cost_value *outer),
                          void *context, struct lc_cost_value *inner, struct lc_cost_value *outer);

/* Add to the warning, and what the costs themselves give reason for. */
__attribute__((format(printf, 2, 3))) void lc_calibration_warn(struct lc_calibration *c,
                                                               const char *format, ...);
void lc_calibration_judge(struct lc_calibration *c);

/* What a calibration is good for. */
struct lc_calibration_key {
	char cpu[LC_CALIBRATION_TEXT_MAX];
	char jdk[LC_CALIBRATION_TEXT_MAX];
	char agent[LC_CALIBRATION_TEXT_MAX];   /* version and build of this library */
	char variant[LC_CALIBRATION_TEXT_MAX]; /* clock, and how spans are recorded */
	uint64_t hz;                           /* the same up to a hundredth */
};

/*
 * The file for this key, in XDG_CACHE_HOME or ~/.cache. Returns 0, -ENOENT where the environment
 * names neither, or -ENAMETOOLONG.
 */
int lc_calibration_path(const struct lc_calibration_key *key, char *out, size_t out_len);

/*
 * Read it. Returns 0 and sets out->costs; -ESTALE where it is of another key, -EBADMSG where it is
 * damaged, or -errno; then *out is untouched.
 */
int lc_calibration_load(const char *path, const struct lc_calibration_key *key,
                        struct lc_calibration *out);

/* Replace it, whole or not at all, and make its directory. Returns 0 or -errno. */
int lc_calibration_save(const char *path, const struct lc_calibration_key *key,
                        const struct lc_calibration *c);

#endif
