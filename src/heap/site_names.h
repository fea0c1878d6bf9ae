/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/site_names.h - names the objects of a site after the fields and variables that the program
 * stores them in.
 *
 * classfile/store_names.h finds the stores in the bytecode of the methods of the site's path, each
 * of which is read once (heap/loaded_code.h): a returned object has the names that the caller gives
 * it.
 */
#ifndef LC_HEAP_SITE_NAMES_H
#define LC_HEAP_SITE_NAMES_H

#include <jni.h>
#include <stddef.h>
#include <stdint.h>

#include "src/format/kinds.h"

/* One name of a site's objects: "com.acme.Spectrum.re", "rows[]". It is never freed. */
struct lc_site_names_one {
	const char *name;
	enum lc_site_name kind;
};

enum { LC_SITE_NAMES_MAX = 8 }; /* of one site */

/*
 * Look up the names of a site; returns how many. The JVM is asked for the bytecode of methods that
 * no site has had before. Context: [writer].
 */
size_t lc_site_names_of(JNIEnv *jni, uint32_t site,
                        struct lc_site_names_one out[LC_SITE_NAMES_MAX]);

#endif
