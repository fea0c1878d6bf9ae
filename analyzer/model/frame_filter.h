/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/frame_filter.h - chooses samples by the frames of their call paths, and allocations by the
 * frames of their allocation paths.
 */
#ifndef LC_MODEL_FRAME_FILTER_H
#define LC_MODEL_FRAME_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/tree.h"

/* Patterns of frames, for lc_frame_fits(). The strings are the caller's. */
struct lc_frame_pattern {
	const char *text;
	size_t frame_len;     /* of the text: what a frame's name is compared with */
	uint32_t first, last; /* lines; 0 and UINT32_MAX: all, those that are not known too */
	bool fitted;          /* some frame that was asked about */
};

struct lc_frame_patterns {
	struct lc_frame_pattern *list;
	size_t len, cap;
};

/* All zero lets everything pass. Free with lc_frame_filter_free(). */
struct lc_frame_filter {
	struct lc_frame_patterns include, exclude;
	uint8_t *frames, *paths; /* what is known of the tree's rows so far */
	uint32_t frames_len, paths_len;
	size_t frames_cap, paths_cap;
};

void lc_frame_patterns_add(struct lc_frame_patterns *p, const char *pattern);

/*
 * Does one of the patterns fit the frame "com.acme.Main.load"? One with '*' or '?' fits as a whole,
 * any other where the frame contains it. One that ends in ":12" or ":12-30" fits at these lines
 * alone; `line` 0 is not known.
 */
bool lc_frame_fits(struct lc_frame_patterns *p, struct lc_text class_name,
                   struct lc_text method_name, uint32_t line);

/* Was one asked for? */
bool lc_frame_filter_on(const struct lc_frame_filter *f);

/*
 * Does a path pass: does a frame of it fit `include`, where there is one, and none `exclude`? Path
 * 0 is not known: it passes where there is no `include`. `f` keeps what it finds, for one tree.
 */
bool lc_frame_filter_passes(struct lc_frame_filter *f, const struct lc_tree *t, uint32_t path);

/* Ask about all frames of the tree, for lc_frame_pattern.fitted. */
void lc_frame_filter_look(struct lc_frame_filter *f, const struct lc_tree *t);

void lc_frame_filter_free(struct lc_frame_filter *f);

#endif
