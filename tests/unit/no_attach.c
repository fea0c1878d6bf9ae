/* SPDX-License-Identifier: Apache-2.0 */
/* no_attach.c - stands for attribute/preexisting.c in tests of a recording that began with its JVM.
 */
#include "src/attribute/preexisting.h"
#include "src/heap/map.h"

void lc_preexisting_close(struct lc_map *map, uint32_t epoch, const struct lc_map_close *close)
{
}

void lc_preexisting_used(uint64_t time_ns, uint64_t addr, uint64_t size_bytes)
{
}

void lc_preexisting_copied(struct lc_map *map, uint32_t cycle, bool known, uint64_t time_ns,
                           const struct lc_move *move)
{
}

uint32_t lc_preexisting_site(const struct lc_object *object, uint64_t klass)
{
	return object->site;
}
