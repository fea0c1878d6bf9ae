/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/preexisting.h - follows objects that were in the heap before the attach, from their
 * first move on.
 *
 * The address of an old object is not recorded. A collection that moves the object reveals the
 * address, and the object's header gives its class. From then on the object is followed like any
 * other. Each class has a site of its own, whose path is LC_BEFORE_CLASS (format/kinds.h).
 *
 * An object that a method without a hook allocates later must not be taken for an old one. So this
 * module keeps the parts of the heap that were in use when the hooks were in, as far as nothing
 * else was put there since. With collectors that move objects while the program runs, the layout is
 * not known. Under these, nothing is followed while a class is left without hooks.
 */
#ifndef LC_ATTRIBUTE_PREEXISTING_H
#define LC_ATTRIBUTE_PREEXISTING_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

struct lc_map;
struct lc_move;
struct lc_object;
struct lc_map_close;

/*
 * All hooks are in: objects in the heap without a record were there before the attach. Objects of
 * less than `min_size_bytes` are of no interest. `ordered`: they move while the program runs. Waits
 * for the end of a collection. Called once in a recording. Context: the thread that attaches.
 */
void lc_preexisting_begin(JNIEnv *jni, uint64_t min_size_bytes, bool ordered);

/* The path of what was there before; 0 without memory. Context: the thread that attaches. */
uint32_t lc_preexisting_path(JNIEnv *jni);

/*
 * The map has followed collection `epoch`: add objects that it moved and that are not in the map.
 * Context: [writer], after lc_map_close_epoch().
 */
void lc_preexisting_close(struct lc_map *map, uint32_t epoch, const struct lc_map_close *close);

/*
 * With concurrent collectors, in order of time: an object was recorded at `addr`, or copied to it.
 * Context: [writer].
 */
void lc_preexisting_used(uint64_t time_ns, uint64_t addr, uint64_t size_bytes);

/*
 * An object was copied, in cycle `cycle` of the collector. `known`: the map has it. Context:
 * [writer], before lc_preexisting_used() for the destination.
 */
void lc_preexisting_copied(struct lc_map *map, uint32_t cycle, bool known, uint64_t time_ns,
                           const struct lc_move *move);

/*
 * The site of an object of the map whose header has the class `klass` (0: header not seen). If the
 * map did not know the class yet, it learns the class. Context: [writer].
 */
uint32_t lc_preexisting_site(const struct lc_object *object, uint64_t klass);

#endif
