/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/still_there.c - compares headers in the heap with what the map believes. */
#include "src/attribute/still_there.h"

#include "src/core/path.h"
#include "src/jvm/layout/header.h"
#include "src/jvm/layout/layout.h"

enum lc_map_header lc_still_there(const struct lc_object *object)
{
	const struct lc_site *site = lc_site_get(object->site);
	struct lc_header header = { 0 };

	if (lc_header_read(lc_layout(), object->addr, &header) || !site)
		return LC_MAP_HEADER_OTHER;
	return !site->class_word || lc_header_matches(lc_layout(), &header, site->class_name,
	                                              site->class_word, object->size_bytes)
	           ? LC_MAP_HEADER_SAME
	           : LC_MAP_HEADER_OTHER;
}
