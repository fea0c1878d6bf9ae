/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/watched.c - compares names of classes with the names of the watched ones. */
#include "src/classfile/watched.h"

#include <string.h>

#include "src/classfile/rewrite.h"

static const char primitives[] = "ZCFDBSIJ"; /* in the order of `newarray` */

bool lc_watched_class(const struct lc_rewrite_options *options, struct lc_class_text name)
{
	for (size_t i = 0; i < options->watched_len; i++)
		if (lc_class_text_is(name, options->watched[i]))
			return true;
	return false;
}

bool lc_watched_array_of(const struct lc_rewrite_options *options, struct lc_class_text component)
{
	for (size_t i = 0; i < options->watched_len; i++) {
		const char *name = options->watched[i];
		size_t len = strlen(name);

		if (*name != '[' || !component.len)
			continue;
		/* [[F is an array of [F, and [Lcom/acme/Node; is an array of com/acme/Node. */
		if (component.data[0] == '[' ? lc_class_text_is(component, name + 1)
		                             : name[1] == 'L' && len == component.len + 3 &&
		                                   !memcmp(name + 2, component.data, component.len))
			return true;
	}
	return false;
}

bool lc_watched_within(const struct lc_rewrite_options *options, struct lc_class_text array,
                       uint32_t dimensions)
{
	for (; dimensions && array.len; dimensions--) {
		if (lc_watched_class(options, array))
			return true;
		array.data++;
		array.len--;
	}
	return false;
}

bool lc_watched_references(const struct lc_rewrite_options *options)
{
	for (size_t i = 0; i < options->watched_len; i++)
		if (options->watched[i][0] == '[' && strchr("[L", options->watched[i][1]))
			return true;
	return false;
}

uint8_t lc_watched_primitives(const struct lc_rewrite_options *options)
{
	uint8_t types = 0;

	for (size_t i = 0; i < options->watched_len; i++) {
		const char *name = options->watched[i];
		const char *at = *name == '[' && name[1] ? strchr(primitives, name[1]) : NULL;

		if (at)
			types |= (uint8_t)(1u << (at - primitives));
	}
	return types;
}
