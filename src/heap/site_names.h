/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/site_names.h - names the objects of a site after the fields and variables that the program
 * stores them in.
 *
 * When a class of the program is loaded, classfile/store_names.h finds its stores. This module
 * keeps them by their positions in the code that the JVM was given. The JDK has many classes, and
 * few of them matter. So their files are read only when a name is asked for. A site's names are
 * looked up by the frames of its path: a returned object has the names that the caller gives it.
 */
#ifndef LC_HEAP_SITE_NAMES_H
#define LC_HEAP_SITE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "src/classfile/store_names.h"
#include "src/format/kinds.h"

/* One name of a site's objects: "com.acme.Spectrum.re", "rows[]". It is never freed. */
struct lc_site_names_one {
	const char *name;
	enum lc_site_name kind;
};

enum { LC_SITE_NAMES_MAX = 8 }; /* of one site */

/*
 * Finds the stores of a method ("java.util.Arrays", "copyOf", "([II)[I") of a class that
 * lc_site_names_add() was not given. Returns false on failure. The caller frees *out.
 */
typedef bool lc_site_names_find(const char *class_name, const char *method, const char *descriptor,
                                struct lc_store_names *out);
void lc_site_names_source(lc_site_names_find *find); /* Context: [attach]. */

/* Keep a copy of a class's stores. Without room, count the loss. Context: [java]. */
void lc_site_names_add(const struct lc_store_names *stores);

/* Look up the names of a site; returns how many. Context: [writer]. */
size_t lc_site_names_of(uint32_t site, struct lc_site_names_one out[LC_SITE_NAMES_MAX]);

#endif
