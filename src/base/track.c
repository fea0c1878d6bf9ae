/* SPDX-License-Identifier: Apache-2.0 */
/* base/track.c - compares names of classes with the patterns of --track. */
#include "src/base/track.h"

#include <stdio.h>
#include <string.h>

#include "src/base/glob.h"

/* In the order of `newarray`, and of `letters`. */
static const char *const primitives[] = {
	"boolean", "char", "float", "double", "byte", "short", "int", "long",
};
static const char letters[] = "ZCFDBSIJ";

enum { PRIMITIVES = sizeof(primitives) / sizeof(primitives[0]) };

/* Cut "[]" off the end of *len characters. Returns how often. */
static unsigned cut_brackets(const char *text, size_t *len)
{
	unsigned dimensions = 0;

	while (*len > 2 && !memcmp(text + *len - 2, "[]", 2)) {
		*len -= 2;
		dimensions++;
	}
	return dimensions;
}

size_t lc_track_parse(const char *list, struct lc_track *out)
{
	size_t beyond = 0;

	*out = (struct lc_track){ 0 };
	snprintf(out->text, sizeof(out->text), "%s", list);
	for (const char *at = out->text; *at;) {
		const size_t whole = strcspn(at, ";");
		size_t len = lc_track_is_hot(at, whole) ? 0 : whole;
		const unsigned dimensions = cut_brackets(at, &len);

		if (len && out->len == LC_TRACK_MAX)
			beyond++;
		else if (len)
			out->patterns[out->len++] = (struct lc_track_pattern){
				.name = at,
				.len = (uint16_t)len,
				.dimensions = (uint16_t)dimensions,
			};
		at += whole + (at[whole] == ';');
	}
	return beyond;
}

/* The length of a name without the address that the JVM appends to that of a hidden class. */
static size_t without_address(const char *name, size_t len)
{
	const size_t digits = 16, suffix = strlen("/0x") + digits;
	const char *at = len > suffix ? name + len - suffix : name;

	if (at == name || (*at != '/' && *at != '.') || memcmp(at + 1, "0x", 2) != 0 ||
	    strspn(at + 3, "0123456789abcdef") < digits)
		return len;
	return len - suffix;
}

struct lc_track_class lc_track_signature(const char *text)
{
	struct lc_track_class c = { .name = text };
	const char *letter;

	for (; *c.name == '['; c.name++)
		c.dimensions++;
	letter = *c.name && !c.name[1] ? strchr(letters, *c.name) : NULL;
	if (letter)
		c.name = primitives[letter - letters];
	else if (*c.name == 'L')
		c.name++;
	c.len = without_address(c.name, strcspn(c.name, ";"));
	return c;
}

struct lc_track_class lc_track_constant(const char *text, size_t len)
{
	struct lc_track_class c = { .name = text, .len = len };
	const char *letter;

	while (c.len && *c.name == '[') {
		c.name++;
		c.len--;
		c.dimensions++;
	}
	if (!c.dimensions)
		return c;
	letter = c.len == 1 ? strchr(letters, *c.name) : NULL;
	if (letter) {
		c.name = primitives[letter - letters];
		c.len = strlen(c.name);
	} else if (c.len > 2) {
		c.name++;
		c.len -= 2; /* 'L' and ';' */
	}
	return c;
}

struct lc_track_class lc_track_written(const char *text)
{
	struct lc_track_class c = { .name = text, .len = strlen(text) };

	c.dimensions = cut_brackets(text, &c.len);
	c.len = without_address(c.name, c.len);
	return c;
}

int lc_track_find(const struct lc_track *t, struct lc_track_class c)
{
	for (size_t i = 0; t && c.len && i < t->len; i++)
		if (t->patterns[i].dimensions == c.dimensions &&
		    lc_glob(t->patterns[i].name, t->patterns[i].name + t->patterns[i].len, c.name,
		            c.name + c.len, true))
			return (int)i;
	return -1;
}

bool lc_track_objects(const struct lc_track *t)
{
	for (size_t i = 0; t && i < t->len; i++)
		if (!t->patterns[i].dimensions)
			return true;
	return false;
}

static bool is_primitive(const struct lc_track_pattern *p)
{
	for (size_t i = 0; i < PRIMITIVES; i++)
		if (p->len == strlen(primitives[i]) && !memcmp(p->name, primitives[i], p->len))
			return true;
	return false;
}

bool lc_track_references(const struct lc_track *t)
{
	for (size_t i = 0; t && i < t->len; i++)
		if (t->patterns[i].dimensions > 1 ||
		    (t->patterns[i].dimensions && !is_primitive(&t->patterns[i])))
			return true;
	return false;
}

uint8_t lc_track_primitives(const struct lc_track *t)
{
	uint8_t types = 0;

	for (size_t i = 0; i < PRIMITIVES; i++)
		if (lc_track_matches(
		        t, (struct lc_track_class){ primitives[i], strlen(primitives[i]), 1 }))
			types |= (uint8_t)(1u << i);
	return types;
}
