/*
 * attribute/preexisting.h - follows objects that were in the heap before the attach, once they
 * move.
 *
 * Nobody has recorded where such an object begins. But a collection that moves it says so, and the
 * object's header says its class. From then on it is followed like any other, with a site of its
 * own for each class, whose path is LC_BEFORE_CLASS (format/kinds.h).
 *
 * An object whose allocation went unseen later, by a method that has no hook, must not be taken for
 * one of them. So the parts of the heap that were in use when the hooks were in are kept, as far as
 * nothing else was put there since. With collectors that move objects while the program runs there
 * is no layout to go by: there nothing is followed while a class is left without hooks.
 */
#ifndef LC_ATTRIBUTE_PREEXISTING_H
#define LC_ATTRIBUTE_PREEXISTING_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

struct lc_counters;
struct lc_map;
struct lc_move;
struct lc_object;
struct lc_map_close;

/*
 * All hooks are in: what is in the heap by now, and was not recorded, was there before. Objects of
 * less than `min_size_bytes` are of no interest. `ordered`: they move while the program runs. Waits
 * for the end of a collection. Called once in a recording. Context: the thread that attaches.
 */
void lc_preexisting_begin(JNIEnv *jni, uint64_t min_size_bytes, bool ordered);

/*
 * Collection `epoch` has been brought to the map: put in what it has moved and nobody knows.
 * Context: [writer], after lc_map_close_epoch().
 */
void lc_preexisting_close(struct lc_map *map, uint32_t epoch, const struct lc_map_close *close);

/*
 * Where objects move while the program runs, in order of time. An object was recorded there, or
 * copied to it. Context: [writer].
 */
void lc_preexisting_used(uint64_t time_ns, uint64_t addr, uint64_t size_bytes);

/*
 * An object was copied, in cycle `cycle` of the collector. `known`: the map has it. Context:
 * [writer], before lc_preexisting_used() is told of the destination.
 */
void lc_preexisting_copied(struct lc_map *map, uint32_t cycle, bool known, uint64_t time_ns,
                           const struct lc_move *move);

/*
 * The site of an object of the map, whose header was seen to say `klass` (0: it was not seen):
 * where the class was not known so far, the map learns it. Context: [writer].
 */
uint32_t lc_preexisting_site(const struct lc_object *object, uint64_t klass);

void lc_preexisting_counters(struct lc_counters *out); /* Context: [writer]. */

#endif
