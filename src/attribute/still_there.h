/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/still_there.h - asks an object's header whether the map is right. */
#ifndef LC_ATTRIBUTE_STILL_THERE_H
#define LC_ATTRIBUTE_STILL_THERE_H

#include "src/heap/map.h"

/*
 * LC_MAP_HEADER_SAME: a header of the object's class and, of an array, of its length stands at its
 * address; else LC_MAP_HEADER_OTHER. Nothing is said of what moves meanwhile. Context: [writer].
 */
enum lc_map_header lc_still_there(const struct lc_object *object);

#endif
