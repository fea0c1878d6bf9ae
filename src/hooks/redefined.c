/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/redefined.c - sees what a class is before it is redefined.
 *
 * The lines of a method can be asked for as long as it is the newest version. So they are asked for
 * here, where somebody else redefines its class. Retransformation for hooks leaves lines as they
 * are, and is of thousands of classes: of their methods those are asked for that are sampled or
 * allocate before, as all methods are.
 */
#include "src/hooks/redefined.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/limit.h"
#include "src/core/jvmti.h"
#include "src/core/path.h"
#include "src/core/version.h"
#include "src/jvm/layout/method_ids.h"
#include "src/stack/generated.h"

jclass lc_redefined_class(jclass redefined, const char *name)
{
	jvmtiEnv *jvmti = lc_jvmti();
	char *signature = NULL;
	bool is;

	if (!redefined || !name || (*jvmti)->GetClassSignature(jvmti, redefined, &signature, NULL))
		return redefined;
	is = *signature == 'L' && !strncmp(signature + 1, name, strlen(name)) &&
	     signature[1 + strlen(name)] == ';';
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	return is ? redefined : NULL;
}

void lc_redefined_begin(JNIEnv *jni, jclass class)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jmethodID *methods = NULL;
	uint64_t *now;
	jint len = 0;

	if ((*jvmti)->GetClassMethods(jvmti, class, &len, &methods))
		return;
	now = calloc((size_t)len + 1, sizeof(*now));
	if (!lc_jvmti_retransforms())
		for (jint i = 0; i < len; i++)
			(void)lc_path_method(jni, methods[i]);
	if (now)
		lc_method_ids_methods(class, methods, len, now);
	if (!now || lc_versions_redefined(methods, now, (size_t)len))
		lc_limit_reached("versions", "there was no memory to keep versions of redefined "
		                             "methods apart (--max-memory): lines of classes that "
		                             "are redefined later may be those of another version");
	/* Remembered interpreted frames may belong to a Method that is freed. */
	lc_generated_changed();
	free(now);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
}
