/*
 * heap/site_names.h - knows where the program stores what it allocates: the names of a site's
 * objects.
 *
 * Of each class of the program, what classfile/store_names.h found when its bytes came by is kept,
 * by the positions of the code that the JVM was given. Of the JDK's classes, of which there are
 * many and few matter, a method's file is looked at when a name is asked for. A site's names are
 * looked up by the frames of its path: what a method returns has the names that its caller gives
 * it.
 */
#ifndef LC_HEAP_SITE_NAMES_H
#define LC_HEAP_SITE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "src/classfile/store_names.h"
#include "src/format/kinds.h"

struct lc_counters;

/* One name of a site's objects: "com.acme.Spectrum.re", "rows[]". It is never freed. */
struct lc_site_names_one {
	const char *name;
	enum lc_site_name kind;
};

enum { LC_SITE_NAMES_MAX = 8 }; /* of a site, at most */

/*
 * Finds the stores of a method ("java.util.Arrays", "copyOf", "([II)[I") of a class that
 * lc_site_names_add() was not given. Returns false where it cannot; *out is the caller's to free.
 */
typedef bool lc_site_names_find(const char *class_name, const char *method, const char *descriptor,
                                struct lc_store_names *out);
void lc_site_names_source(lc_site_names_find *find); /* Context: [attach]. */

/* Keep a copy of a class's stores. Where there is no room it is counted. Context: [java]. */
void lc_site_names_add(const struct lc_store_names *stores);

/* Look up the names of a site; returns how many. Context: [writer]. */
size_t lc_site_names_of(uint32_t site, struct lc_site_names_one out[LC_SITE_NAMES_MAX]);

void lc_site_names_counters(struct lc_counters *out); /* Context: [writer]. */

#endif
