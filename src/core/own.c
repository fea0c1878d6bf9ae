/*
 * core/own.c - keeps the list of the agent's own methods. The methods are written at attach, before
 * a hook runs, and only read then.
 */
#include "src/core/own.h"

#include <errno.h>
#include <string.h>

#include "src/core/jvmti.h"
#include "src/core/record.h"

enum { METHODS_MAX = 256 };

static jmethodID own[METHODS_MAX];
static unsigned own_len;

int lc_own_class(jclass class)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jmethodID *methods = NULL;
	jint len = 0, i = 0;

	if ((*jvmti)->GetClassMethods(jvmti, class, &len, &methods))
		return -EIO;
	for (; i < len && own_len < METHODS_MAX; i++)
		own[own_len++] = methods[i];
	(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
	return i == len && len ? 0 : -EIO;
}

bool lc_own_method(jmethodID method)
{
	for (unsigned i = 0; i < own_len; i++)
		if (own[i] == method)
			return true;
	return false;
}

size_t lc_own_frames(const uint64_t *frames, size_t len)
{
	size_t n = 0;

	while (n < len &&
	       lc_own_method((jmethodID)(uintptr_t)(frames[n] & LC_ADDR_MASK))) /* NOLINT */
		n++;
	return n;
}

bool lc_own_calls_program(const char *class_name)
{
	return !strcmp(class_name, "java.lang.LocusSpan");
}
