/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/label.h - checks labels, "key=value", which a recording or a merge gives to its processes.
 */
#ifndef LC_BASE_LABEL_H
#define LC_BASE_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { LC_LABEL_KEY_MAX = 63 };

/* Facts that each process has without a label; users name them by these words. */
#define LC_LABEL_FACTS "host", "process", "pid", "command", "jdk", "gc", "start"

static inline bool lc_label_key_char(char c, bool first)
{
	const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

	return letter || (!first && ((c >= '0' && c <= '9') || c == '.' || c == '-' || c == '/'));
}

/* Is the word of `len` bytes one that a label's key can be? It may be one of the facts. */
static inline bool lc_label_key(const char *word, size_t len)
{
	if (!len || len > LC_LABEL_KEY_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!lc_label_key_char(word[i], !i))
			return false;
	return true;
}

/* The fact of that name; -1: it is none. The number is the position in LC_LABEL_FACTS. */
static inline int lc_label_fact(const char *word, size_t len)
{
	static const char *const facts[] = { LC_LABEL_FACTS };

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (strlen(facts[i]) == len && !memcmp(facts[i], word, len))
			return (int)i;
	return -1;
}

/* Control characters of ASCII, and those of C1 in UTF-8. */
static inline bool lc_label_has_control(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c == 0x7f)
			return true;
		if (c == 0xc2 && i + 1 < len && (unsigned char)text[i + 1] >= 0x80 &&
		    (unsigned char)text[i + 1] < 0xa0)
			return true;
	}
	return false;
}

/* The error in the `len` bytes "key=value", or NULL. Static storage. Context: any. */
static inline const char *lc_label_wrong(const char *text, size_t len)
{
	const char *equals = memchr(text, '=', len);
	const size_t key = equals ? (size_t)(equals - text) : 0;

	if (lc_label_has_control(text, len))
		return "contains a control character";
	if (!equals)
		return "has no '=': a label is KEY=VALUE";
	if (!lc_label_key(text, key))
		return "needs a key of 1 to 63 letters, digits, '_', '.', '-' and '/' that begins "
		       "with a letter or '_'";
	if (key + 1 == len)
		return "has no value";
	if (lc_label_fact(text, key) >= 0)
		return "has a reserved key (host, process, pid, command, jdk, gc or start); "
		       "choose another one";
	return NULL;
}

/*
 * Check labels that are separated by ';'. Returns whether all are good and each key comes once; if
 * not, `error` receives one line without a newline. Context: any.
 */
static inline bool lc_labels_good(const char *list, char *error, size_t error_len)
{
	for (const char *at = list; *at;) {
		const size_t len = strcspn(at, ";"), key = strcspn(at, "=");
		const char *wrong = len ? lc_label_wrong(at, len) : NULL;

		for (const char *before = list; len && !wrong && before < at;) {
			if (!strncmp(before, at, key + 1))
				wrong = "repeats the key of another label";
			before += strcspn(before, ";") + 1;
		}
		if (wrong) {
			snprintf(error, error_len, "label: '%.*s' %s", len < 64 ? (int)len : 64, at,
			         wrong);
			return false;
		}
		at += len + (at[len] == ';');
	}
	return true;
}

#endif
