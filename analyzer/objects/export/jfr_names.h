/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/export/jfr_names.h - puts names, call paths and threads of a tree into the constant pools
 * of a JFR file. Each function returns the key of a constant, which the file has once.
 */
#ifndef LC_OBJECTS_EXPORT_JFR_NAMES_H
#define LC_OBJECTS_EXPORT_JFR_NAMES_H

#include <stdint.h>

#include "analyzer/out/jfr.h"

struct lc_load;

/* Open to the owner: jfr. */
struct lc_jfr_names {
	struct lc_jfr jfr;
	const struct lc_load *load;
};

/* The load must not grow meanwhile. Free with lc_jfr_names_free(). */
void lc_jfr_names_init(struct lc_jfr_names *n, const struct lc_load *load);
void lc_jfr_names_free(struct lc_jfr_names *n);

/*
 * The class that the string names. It is written as the JVM does: "[B" for byte[], "java/util/Map".
 * Readers take names apart, so a name with brackets or ';' where the JVM has none gets others
 * there.
 */
uint64_t lc_jfr_names_class(struct lc_jfr_names *n, uint32_t string);

/* The call path; of path 0 one frame "(no call path)". */
uint64_t lc_jfr_names_stack(struct lc_jfr_names *n, uint32_t path);

/* Row of tree.threads + 1; 0: unknown, which has no constant. */
uint64_t lc_jfr_names_thread(struct lc_jfr_names *n, uint32_t thread1);

/* A string of the tree, the name of a bucket, and the state of a thread that runs. */
uint64_t lc_jfr_names_text(struct lc_jfr_names *n, uint32_t string);
uint64_t lc_jfr_names_bucket(struct lc_jfr_names *n, uint32_t bucket);
uint64_t lc_jfr_names_running(struct lc_jfr_names *n);

#endif
