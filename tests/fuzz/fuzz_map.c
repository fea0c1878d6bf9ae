/* uses: src/core/stand_back.c src/core/epoch.c src/core/wake.c src/heap/map.c src/heap/map_store.c src/heap/map_close.c src/heap/map_resolve.c tests/fuzz/map_model.c -lJudy */
/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_map.c - runs histories of a simulated heap (map_model.h), with which the map must agree. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/map_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct map_model_result result = { 0 };
	const char *error = map_model_run(data, size, &result);

	if (error) {
		fprintf(stderr, "after %llu collections: %s\n",
		        (unsigned long long)result.collections, error);
		abort();
	}
	return 0;
}
