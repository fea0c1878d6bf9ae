/* SPDX-License-Identifier: Apache-2.0 */
/* base/limit.c - keeps the limits that were reached, under a spin lock. */
#include "src/base/limit.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "src/base/say.h"
#include "src/base/spin.h"

static struct {
	_Atomic uint32_t lock;
	struct lc_limit reached[LC_LIMITS_MAX];
	bool said[LC_LIMITS_MAX];
	size_t len;
} limits;

/* Returns whether the kind is a new one. */
static bool add(const char *kind, const char *text, bool said)
{
	bool added = false;
	size_t i = 0;

	lc_spin_lock(&limits.lock);
	while (i < limits.len && strcmp(limits.reached[i].kind, kind))
		i++;
	if (i == limits.len && i < LC_LIMITS_MAX) {
		snprintf(limits.reached[i].kind, LC_LIMIT_KIND_MAX, "%s", kind);
		memcpy(limits.reached[i].text, text, LC_LIMIT_TEXT_MAX);
		limits.said[i] = said;
		limits.len++;
		added = true;
	}
	lc_spin_unlock(&limits.lock);
	return added;
}

bool lc_limit_note(const char *kind, const char *format, ...)
{
	char text[LC_LIMIT_TEXT_MAX] = "";
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return add(kind, text, false);
}

bool lc_limit_keep(const char *kind, const char *format, ...)
{
	char text[LC_LIMIT_TEXT_MAX] = "";
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return add(kind, text, true);
}

bool lc_limit_reached(const char *kind, const char *format, ...)
{
	char text[LC_LIMIT_TEXT_MAX] = "";
	va_list args;
	bool first;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	first = add(kind, text, true);
	if (first)
		lc_say("%s", text);
	return first;
}

void lc_limits_say(void)
{
	char text[LC_LIMIT_TEXT_MAX];

	for (size_t i = 0; i < LC_LIMITS_MAX; i++) {
		bool now;

		lc_spin_lock(&limits.lock);
		now = i < limits.len && !limits.said[i];
		if (now)
			memcpy(text, limits.reached[i].text, sizeof(text));
		limits.said[i] = true;
		lc_spin_unlock(&limits.lock);
		if (now)
			lc_say("%s", text);
	}
}

size_t lc_limits(struct lc_limit out[LC_LIMITS_MAX])
{
	size_t len;

	lc_spin_lock(&limits.lock);
	len = limits.len;
	memcpy(out, limits.reached, len * sizeof(*out));
	lc_spin_unlock(&limits.lock);
	return len;
}

void lc_limits_forget(void)
{
	lc_spin_lock(&limits.lock);
	limits.len = 0;
	lc_spin_unlock(&limits.lock);
}
