/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf/event_watch.c - parses the event `watch`: CLASS[#N][.FIELD|[INDEX]|+OFFSET][:r|:w|:rw].
 *
 * A name is refused only if it would make the text ambiguous: classes that tools make have odd
 * names.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <string.h>

#include "src/format/kinds.h"
#include "src/perf/event_impl.h"

/*
 * A hit costs 10 us (measured) and a sample 20 us more, so sampling every 101st hit adds 2%. The
 * period is prime, so that it is not in step with a program that takes turns.
 */
enum { WATCH_PERIOD = 101 };

static const struct {
	const char *type;
	uint8_t bytes;
} primitives[] = { { "boolean", 1 }, { "byte", 1 }, { "char", 2 },  { "short", 2 },
	           { "int", 4 },     { "long", 8 }, { "float", 4 }, { "double", 8 } };

/* Bytes of an element of `class_name`; 0 if the elements are references, or it is no array. */
static uint8_t element_bytes(const char *class_name)
{
	for (size_t i = 0; i < sizeof(primitives) / sizeof(primitives[0]); i++) {
		size_t len = strlen(primitives[i].type);

		if (strncmp(class_name, primitives[i].type, len) == 0 &&
		    strcmp(class_name + len, "[]") == 0)
			return primitives[i].bytes;
	}
	return 0;
}

static bool is_array(const char *class_name)
{
	size_t len = strlen(class_name);

	return len > 2 && strcmp(class_name + len - 2, "[]") == 0;
}

static bool is_primitive(const char *class_name)
{
	for (size_t i = 0; i < sizeof(primitives) / sizeof(primitives[0]); i++)
		if (strcmp(class_name, primitives[i].type) == 0)
			return true;
	return false;
}

/* How many bytes at `text` are the class: up to '#', '+', or a '[' that is not "[]". */
static size_t class_length(const char *text)
{
	size_t len = 0;

	for (; text[len] && text[len] != '#' && text[len] != '+'; len++)
		if (text[len] == '[' && text[len + 1] != ']')
			break;
	return len;
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/*
 * The last '.' in "com.acme.Node.next", if the part before it looks like a class and the part
 * behind it like a field; else NULL.
 */
static const char *field_like(const char *name)
{
	const char *last = strrchr(name, '.');
	const char *before = last;

	if (!last || is_upper(last[1]) || strchr(last, '['))
		return NULL;
	while (before > name && before[-1] != '.')
		before--;
	return is_upper(*before) ? last : NULL;
}

static int check_class(const char *name, bool numbered, const struct lc_event_error *error)
{
	char dotted[LC_EVENT_TEXT_MAX];
	const char *dot, *slash = strchr(name, '/');

	if (!name[0])
		return lc_event_fail(error, -EINVAL,
		                     "watch: needs a class; write watch:CLASS#N, such as "
		                     "watch:java.util.HashMap#1");
	if (name[0] == '[' || name[0] == '.' || strstr(name, "..") || strchr(name, ':') ||
	    name[strlen(name) - 1] == '.' || (strchr(name, '[') && !is_array(name)))
		return lc_event_fail(
		    error, -EINVAL,
		    "watch: '%.128s' is not a class name; write it as in reports, such as "
		    "java.util.HashMap or long[]",
		    name);
	/* Hidden classes are called "Outer$$Lambda/0x00007f0a". */
	if (slash && strncmp(slash, "/0x", 3) != 0) {
		snprintf(dotted, sizeof(dotted), "%s", name);
		for (char *p = dotted; *p; p++)
			if (*p == '/')
				*p = '.';
		return lc_event_fail(error, -EINVAL,
		                     "watch: '%.128s' is not a class name; did you mean '%.128s'?",
		                     name, dotted);
	}
	if (is_primitive(name))
		return lc_event_fail(
		    error, -EINVAL, "watch: '%s' is not a class; did you mean '%s[]'?", name, name);
	dot = numbered ? NULL : field_like(name);
	if (dot)
		return lc_event_fail(error, -EINVAL,
		                     "watch: a field needs the number of its object; did you mean "
		                     "'%.*s#1%s'?",
		                     (int)(dot - name), name, dot);
	return 0;
}

/* Cut "[:r|:w|:rw]" off the end of `text`. */
static int take_access(char *text, struct lc_watch_spec *w, const struct lc_event_error *error)
{
	char *colon = strrchr(text, ':');

	w->access = LC_TOUCH_LOAD | LC_TOUCH_STORE;
	if (!colon)
		return 0;
	if (strcmp(colon, ":r") == 0)
		w->access = LC_TOUCH_LOAD;
	else if (strcmp(colon, ":w") == 0)
		w->access = LC_TOUCH_STORE;
	else if (strcmp(colon, ":rw") != 0)
		return lc_event_fail(error, -EINVAL, "watch: '%.64s' is not :r, :w or :rw", colon);
	*colon = '\0';
	return 0;
}

/* Parse "#N" at *text and step over it. */
static int take_ordinal(const char **text, struct lc_watch_spec *w,
                        const struct lc_event_error *error)
{
	char digits[32];
	size_t len;

	w->ordinal = 1;
	if (**text != '#')
		return 0;
	len = strcspn(++*text, ".[+");
	snprintf(digits, sizeof(digits), "%.*s", (int)len, *text);
	if (len >= sizeof(digits) || !lc_event_number(digits, &w->ordinal) || w->ordinal == 0)
		return lc_event_fail(error, -EINVAL,
		                     "watch: '#%s' is not an object's number; the first object is "
		                     "#1",
		                     digits);
	*text += len;
	return 0;
}

static int take_index(const char *text, struct lc_watch_spec *w, const struct lc_event_error *error)
{
	char digits[32];
	size_t len = strcspn(text + 1, "]");

	snprintf(digits, sizeof(digits), "%.*s", (int)len, text + 1);
	if (len >= sizeof(digits) || strcmp(text + 1 + len, "]") != 0 ||
	    !lc_event_number(digits, &w->index) || w->index > INT32_MAX)
		return lc_event_fail(error, -EINVAL, "watch: '%.64s' is not an index, such as [17]",
		                     text);
	if (!is_array(w->class_name))
		return lc_event_fail(error, -EINVAL,
		                     "watch: '%.64s' is not an array; did you mean '%.64s[]'?",
		                     w->class_name, w->class_name);
	w->has_index = true;
	w->bytes = element_bytes(w->class_name);
	return 0;
}

/* Parse the place in the object. */
static int take_place(const char *text, struct lc_watch_spec *w, const struct lc_event_error *error)
{
	if (!*text)
		return 0;
	if (*text == '[')
		return take_index(text, w, error);
	if (*text == '+') {
		if (!lc_event_number(text + 1, &w->offset) || w->offset > INT64_MAX)
			return lc_event_fail(error, -EINVAL,
			                     "watch: '%.64s' is not an offset in bytes, such as "
			                     "+16",
			                     text);
		w->has_offset = true;
		return 0;
	}
	if (is_array(w->class_name))
		return lc_event_fail(error, -EINVAL,
		                     "watch: '%.64s' has elements, not fields; write [INDEX]",
		                     w->class_name);
	if (!text[1] || strpbrk(text + 1, ".[]+#/") || strlen(text + 1) >= sizeof(w->field))
		return lc_event_fail(error, -EINVAL, "watch: '%.64s' is not a field name", text);
	snprintf(w->field, sizeof(w->field), "%s", text + 1);
	return 0;
}

static void make_names(struct lc_event *e)
{
	const struct lc_watch_spec *w = &e->watch;
	const char *access = w->access == LC_TOUCH_LOAD    ? ":r"
	                     : w->access == LC_TOUCH_STORE ? ":w"
	                                                   : ":rw";
	char place[sizeof(w->field) + 1] = "";

	if (w->has_index)
		snprintf(place, sizeof(place), "[%llu]", (unsigned long long)w->index);
	else if (w->has_offset)
		snprintf(place, sizeof(place), "+%llu", (unsigned long long)w->offset);
	else if (w->field[0])
		snprintf(place, sizeof(place), ".%s", w->field);
	/* This is longer than the text that was parsed by "#1" and ":rw" at most, and that left
	 * room. */
	snprintf(e->text, sizeof(e->text), "watch:%.*s#%llu%s%s", (int)sizeof(e->text) - 32,
	         w->class_name, (unsigned long long)w->ordinal, place, access);
	snprintf(e->event, sizeof(e->event), "%s", e->text + strlen("watch:"));
	e->unit = w->access == LC_TOUCH_STORE ? "writes" : "accesses";
}

int lc_event_parse_watch(const char *arguments, uint64_t period, struct lc_event *e,
                         const struct lc_event_error *error)
{
	char text[LC_EVENT_TEXT_MAX];
	const char *rest;
	size_t len;
	int err;

	if (strlen(arguments) >= sizeof(text) - 32)
		return lc_event_fail(error, -EINVAL, "watch: longer than %d bytes",
		                     LC_EVENT_TEXT_MAX - 33);
	snprintf(text, sizeof(text), "%s", arguments);
	e->kind = LC_KIND_WATCH;
	err = take_access(text, &e->watch, error);
	if (err)
		return err;
	len = class_length(text);
	memcpy(e->watch.class_name, text, len);
	e->watch.class_name[len] = '\0';
	rest = text + len;
	err = check_class(e->watch.class_name, *rest == '#', error);
	if (!err)
		err = take_ordinal(&rest, &e->watch, error);
	if (!err)
		err = take_place(rest, &e->watch, error);
	if (err)
		return err;
	make_names(e);
	e->period = period ? period : WATCH_PERIOD;
	lc_event_attr_init(&e->attr, PERF_TYPE_BREAKPOINT, e->period);
	/* An x86 CPU has no breakpoint on loads alone. */
	e->attr.bp_type = e->watch.access == LC_TOUCH_STORE ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW;
	e->attr.bp_len = e->watch.bytes ? e->watch.bytes : HW_BREAKPOINT_LEN_8;
	return 0;
}
