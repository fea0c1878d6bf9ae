/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/internal.c - compares the names of classes with those of packages and classes. */
#include "src/classfile/internal.h"

#include <string.h>

/* Each begins the names of packages or classes. */
static const char *const internals[] = {
	"java/io/ObjectStreamClass",
	"java/lang/",
	"java/net/URI",
	"java/security/",
	"java/util/jar/",
	"jdk/internal/",
	"sun/",
};

/* Exceptions: these allocate the program's arrays, by reflection and from files too. */
static const char *const others[] = {
	"java/lang/AbstractStringBuilder", "java/lang/String",         "java/lang/ThreadLocal",
	"java/lang/reflect/Array",         "jdk/internal/misc/Unsafe", "sun/nio/",
};

static bool begins_with_one(const char *name, size_t len, const char *const *list, size_t list_len)
{
	for (size_t i = 0; i < list_len; i++) {
		const size_t n = strlen(list[i]);

		if (len >= n && !memcmp(name, list[i], n))
			return true;
	}
	return false;
}

bool lc_internal_class(const char *name, size_t len)
{
	return begins_with_one(name, len, internals, sizeof(internals) / sizeof(*internals)) &&
	       !begins_with_one(name, len, others, sizeof(others) / sizeof(*others));
}
