/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/own.c - keeps the list of the agent's own methods. The methods are written at attach, before
 * a hook runs, and only read then.
 */
#include "src/core/own.h"

#include <errno.h>
#include <string.h>

#include "src/core/jvmti.h"
#include "src/core/method_number.h"
#include "src/core/record.h"

enum { METHODS_MAX = 256 };

static uint64_t own[METHODS_MAX]; /* numbers */
static unsigned own_len;

int lc_own_class(jclass class)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jmethodID *methods = NULL;
	jint len = 0, i = 0;

	if ((*jvmti)->GetClassMethods(jvmti, class, &len, &methods))
		return -EIO;
	for (; i < len && own_len < METHODS_MAX; i++)
		own[own_len++] = lc_method_number(methods[i]);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
	return i == len && len ? 0 : -EIO;
}

bool lc_own_number(uint64_t number)
{
	for (unsigned i = 0; i < own_len; i++)
		if (own[i] == number)
			return true;
	return false;
}

bool lc_own_method(jmethodID method)
{
	return lc_own_number(lc_method_number(method));
}

size_t lc_own_frames(const uint64_t *frames, size_t len)
{
	size_t n = 0;

	while (n < len && lc_own_number(frames[n] & LC_ADDR_MASK))
		n++;
	return n;
}

bool lc_own_calls_program(const char *class_name)
{
	return !strcmp(class_name, "java.lang.LocusSpan");
}
