/* SPDX-License-Identifier: Apache-2.0 */
/* hooks/unchanged.c - collects the names of classes without hooks, for one line. */
#include "src/hooks/unchanged.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "src/base/limit.h"
#include "src/core/jvmti.h"
#include "src/heap/tracked.h"

enum { NAMES_BYTES = 160 };

static struct {
	unsigned len;
	char names[NAMES_BYTES]; /* as many as fit */
	size_t names_len;
	unsigned named;
} unchanged;

/*
 * Does the class make no objects of the program? The JDK generates such classes for lambdas, string
 * concatenation and the like; others are parts of the JVM.
 */
static bool makes_nothing(const char *signature)
{
	static const char *const begins[] = { "Ljava/lang/invoke/", "Ljdk/internal/vm/" };
	static const char *const parts[] = { "$$Lambda", "$$StringConcat", "$$TypeSwitch",
		                             "$$InjectedInvoker" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(signature, begins[i], strlen(begins[i])))
			return true;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(signature, parts[i]))
			return true;
	return false;
}

void lc_unchanged_note(jclass class)
{
	char *signature = NULL;
	size_t len;

	if (!lc_tracked() || (*lc_jvmti())->GetClassSignature(lc_jvmti(), class, &signature, NULL))
		return;
	len = strlen(signature);
	if (*signature == 'L' && len > 2 && !makes_nothing(signature)) {
		char *const at = unchanged.names + unchanged.names_len;
		const size_t room = sizeof(unchanged.names) - unchanged.names_len;

		unchanged.len++;
		if (len + 2 <= room) { /* without 'L' and ';', with ", " and the NUL */
			unchanged.names_len +=
			    (size_t)snprintf(at, room, "%s%.*s", unchanged.named ? ", " : "",
			                     (int)len - 2, signature + 1);
			unchanged.named++;
			for (char *c = at; *c; c++)
				if (*c == '/')
					*c = '.';
		}
	}
	(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)signature);
}

void lc_unchanged_say(void)
{
	char more[32] = "";

	if (!unchanged.len)
		return;
	if (unchanged.len > unchanged.named)
		snprintf(more, sizeof(more), "%s%u more", unchanged.named ? " and " : "",
		         unchanged.len - unchanged.named);
	lc_limit_reached("unchanged",
	                 "--track: the JVM does not let the code of %u class%s change, so tracked "
	                 "objects that are made there have no line: %s%s",
	                 unchanged.len, unchanged.len == 1 ? "" : "es", unchanged.names, more);
}
