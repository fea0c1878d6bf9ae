/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/request.h - names the request contexts of the program (Locus.context() of the Java API).
 *
 * A context is the outermost frame of the call paths of its threads: a node below the root of the
 * calling context tree, "context=GET /cart", which has no method. So the path of a sample, an
 * allocation or an estimate names its context, and no other data does.
 */
#ifndef LC_CORE_REQUEST_H
#define LC_CORE_REQUEST_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	LC_REQUESTS_MAX = 1000,      /* names in a recording; further ones are LC_REQUEST_OTHER */
	LC_REQUEST_NAME_BYTES = 121, /* with its zero; longer ones are cut */
};

#define LC_REQUEST_OTHER "(other)"

/*
 * The node of the context of that name (modified UTF-8), made when it is new; 0 without memory.
 * Context: [java]. Takes a lock where the name is new.
 */
uint32_t lc_request_root(JNIEnv *jni, const char *name);

/*
 * Let the virtual thread `id` have the context with node `root`; 0: none. Returns false where too
 * many virtual threads have one already, or without memory. Context: [java], on that thread. Takes
 * a lock (spin).
 */
bool lc_request_set_virtual(uint64_t id, uint32_t root);

/*
 * The node of the context of the virtual thread `id`; 0: none. Context: [hook]. Takes a lock
 * (spin).
 */
uint32_t lc_request_of_virtual(uint64_t id);

/*
 * Does Locus want hooks in VirtualThread, by which carriers say whom they carry? And does that
 * class have both hooks? Context: any.
 */
bool lc_request_wants_carriers(void);
void lc_request_want_carriers(void);
bool lc_request_has_carriers(void);
void lc_request_set_carriers(bool has);

#endif
