/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/internal.c - compares the names of classes with those of packages. */
#include "src/classfile/internal.h"

#include <string.h>

static const char *const packages[] = {
	"java/lang/classfile/", "java/lang/constant/",
	"java/lang/invoke/",    "java/lang/module/",
	"java/lang/ref/",       "java/lang/reflect/",
	"java/lang/runtime/",   "java/security/",
	"jdk/internal/",        "sun/",
};

/* Exceptions: these allocate the program's arrays, by reflection and from files. */
static const char *const others[] = { "java/lang/reflect/Array", "jdk/internal/misc/Unsafe",
	                              "sun/nio/" };

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
	return begins_with_one(name, len, packages, sizeof(packages) / sizeof(*packages)) &&
	       !begins_with_one(name, len, others, sizeof(others) / sizeof(*others));
}
