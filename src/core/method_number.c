/* SPDX-License-Identifier: Apache-2.0 */
/* core/method_number.c - see method_number.h. The form is written at attach, and only read then. */
#include "src/core/method_number.h"

#include <errno.h>

#include "src/core/record.h"

enum {
	COUNTED_SHIFT = 3,
	COUNTED_BASE = 1 << 20, /* above all numbers of core/version.h and lc_path_define() */
	/* No JVM has this many methods, and no program's memory lies so low. */
	COUNTED_MAX = 1 << 28,
};

static bool counted;

int lc_method_numbers_init(jmethodID specimen)
{
	const uint64_t id = (uint64_t)(uintptr_t)specimen;

	if (!id || (id > COUNTED_MAX && (id & 7 || id > LC_ADDR_MASK)))
		return -ENOTSUP;
	counted = id <= COUNTED_MAX;
	return 0;
}

bool lc_method_numbers_counted(void)
{
	return counted;
}

uint64_t lc_method_number(jmethodID id)
{
	const uint64_t value = (uint64_t)(uintptr_t)id;

	if (!counted)
		return value & LC_ADDR_MASK;
	return value ? ((value << COUNTED_SHIFT) + COUNTED_BASE) & LC_ADDR_MASK : 0;
}

jmethodID lc_method_number_id(uint64_t number)
{
	if (counted)
		number = number > COUNTED_BASE ? (number - COUNTED_BASE) >> COUNTED_SHIFT : 0;
	return (jmethodID)(uintptr_t)number; /* NOLINT */
}
