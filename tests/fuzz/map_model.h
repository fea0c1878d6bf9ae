/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_model.h - simulates a heap that is collected as HotSpot does it, and compares the map with
 * it.
 */
#ifndef LC_TESTS_MAP_MODEL_H
#define LC_TESTS_MAP_MODEL_H

#include <stddef.h>
#include <stdint.h>

struct map_model_result {
	uint64_t collections;
	uint64_t checked; /* live tracked objects compared with the map */
	uint64_t queries; /* addresses resolved and compared */
	uint64_t stale;   /* intervals of dead objects that overlap no live tracked one: allowed */
};

/*
 * Run the history that `data` spells: its first byte chooses the kind of heap, each of the rest an
 * allocation, a death, a collection or a batch of queries. Returns NULL when the map agreed all
 * along, or the first disagreement as static text.
 */
const char *map_model_run(const uint8_t *data, size_t len, struct map_model_result *result);

#endif
