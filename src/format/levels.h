/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format/levels.h - tells which counters of a manifest are levels: how things are, and not how
 * often something has happened since the profile began.
 */
#ifndef LC_FORMAT_LEVELS_H
#define LC_FORMAT_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Is the counter `name` a level? Among the profiles of one recording, the last one's level holds;
 * other counters are added up. Context: any.
 */
static inline bool lc_level_is(const char *name)
{
	static const char *const levels[] = { "map_survivors",
		                              "map_survivors_peak",
		                              "map_bytes",
		                              "map_in_doubt",
		                              "alloc_log_bytes",
		                              "paths",
		                              "sites",
		                              "names_classes",
		                              "names_bytes",
		                              "threads",
		                              "classes_waiting", /* of earlier versions */
		                              "classes_running",
		                              "class_pause_max_us",
		                              "estimate_live",
		                              "estimate_live_peak",
		                              "estimate_interval",
		                              "own_memory_bytes",
		                              "memory_limit_bytes",
		                              "memory_peak_bytes",
		                              "heap_max_bytes",
		                              "direct_max_bytes",
		                              "object_header_bytes",
		                              "object_alignment_bytes",
		                              "reference_bytes",
		                              "array_base_bytes",
		                              "array_base_longs",
		                              "array_base_references",
		                              "fds_taken",
		                              "budget_stretch",
		                              "spans_slots",
		                              "engine_walks_stopped" };

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (!strcmp(name, levels[i]))
			return true;
	return false;
}

#endif
