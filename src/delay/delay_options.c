/* SPDX-License-Identifier: Apache-2.0 */
/* delay/delay_options.c - takes the agent's string apart from left to right. */
#include "src/delay/delay_options.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ERROR_MAX = 256 };

struct parser {
	struct lc_delay_options *o;
	const char *at;
	char error[ERROR_MAX];
};

static int fail(struct parser *p, const char *what, const char *where)
{
	snprintf(p->error, sizeof(p->error), "%s at '%.60s'", what, where);
	return -EINVAL;
}

/* Step over `word`, if it stands there. */
static bool take(struct parser *p, const char *word)
{
	const size_t len = strlen(word);

	if (strncmp(p->at, word, len))
		return false;
	p->at += len;
	return true;
}

static int take_file(struct parser *p)
{
	char *to;

	if (p->o->out)
		return fail(p, "a second out=", p->at);
	to = p->o->out = malloc(strlen(p->at) + 1);
	if (!to)
		return -ENOMEM;
	for (; *p->at && *p->at != ','; p->at++) {
		if (*p->at == '\\' && p->at[1])
			p->at++;
		*to++ = *p->at;
	}
	*to = '\0';
	return *p->o->out ? 0 : fail(p, "no file", p->at);
}

/* The end of the type that begins at `at` in a descriptor, or NULL. */
static const char *end_of_type(const char *at)
{
	at += strspn(at, "[");
	if (*at == 'L') {
		at += strcspn(at, ";");
		return *at ? at + 1 : NULL;
	}
	return *at && strchr("BCDFIJSVZ", *at) ? at + 1 : NULL;
}

static const char *end_of_descriptor(const char *at)
{
	for (at++; at && *at != ')';)
		at = end_of_type(at);
	return at ? end_of_type(at + 1) : NULL;
}

/* "java.lang.String.length" becomes the names of the class and the method. */
static int split_name(struct parser *p, struct lc_delay *d, const char *from, size_t len)
{
	char *name = strndup(from, len), *dot;

	d->class_name = name;
	if (!name)
		return -ENOMEM;
	dot = strrchr(name, '.');
	if (!dot || dot == name || !dot[1])
		return fail(p, "no CLASS.METHOD", from);
	*dot = '\0';
	for (char *c = name; *c; c++)
		if (*c == '.')
			*c = '/';
	d->method = strdup(dot + 1);
	return d->method ? 0 : -ENOMEM;
}

/* Step over a number of 0 to 2147483647. Returns false and stays there if there is none. */
static bool take_number(struct parser *p, uint32_t *number)
{
	const size_t digits = strspn(p->at, "0123456789");
	unsigned long n;

	if (!digits || digits > 10 || (n = strtoul(p->at, NULL, 10)) > INT32_MAX)
		return false;
	*number = (uint32_t)n;
	p->at += digits;
	return true;
}

/* "1000" or "1000/64". */
static int take_iterations(struct parser *p, struct lc_delay *d, const char *entry)
{
	if (!take_number(p, &d->iterations))
		return fail(p, "no :ITERATIONS of 0 to 2147483647", entry);
	d->every = 1;
	if (take(p, "/") && (!take_number(p, &d->every) || !d->every || d->every & (d->every - 1)))
		return fail(p, "no power of two behind /", entry);
	return !*p->at || *p->at == ',' || *p->at == ';'
	           ? 0
	           : fail(p, "no :ITERATIONS of 0 to 2147483647", entry);
}

static bool is_same(const struct lc_delay *a, const struct lc_delay *b)
{
	return !strcmp(a->class_name, b->class_name) && !strcmp(a->method, b->method) &&
	       (!a->descriptor || !b->descriptor || !strcmp(a->descriptor, b->descriptor));
}

/* One CLASS.METHOD:ITERATIONS. */
static int take_delay(struct parser *p)
{
	struct lc_delay_options *o = p->o;
	const char *entry = p->at, *name_end = entry + strcspn(entry, "(:;,"), *end = name_end;
	struct lc_delay *d;
	int err;

	if (o->len == LC_DELAYS_MAX)
		return fail(p, "more methods than 100", entry);
	d = &o->delays[o->len++];
	if (*end == '(') {
		end = end_of_descriptor(end);
		if (!end)
			return fail(p, "no descriptor of a method", name_end);
		d->descriptor = strndup(name_end, (size_t)(end - name_end));
		if (!d->descriptor)
			return -ENOMEM;
	}
	o->asked[o->len - 1] = strndup(entry, (size_t)(end - entry));
	if (!o->asked[o->len - 1])
		return -ENOMEM;
	err = split_name(p, d, entry, (size_t)(name_end - entry));
	if (err)
		return err;
	if (*end != ':')
		return fail(p, "no :ITERATIONS of 0 to 2147483647", entry);
	p->at = end + 1;
	err = take_iterations(p, d, entry);
	for (size_t i = 0; !err && i < o->len - 1; i++)
		if (is_same(&o->delays[i], d))
			err = fail(p, "the same method twice", entry);
	return err;
}

static int take_delays(struct parser *p)
{
	int err;

	do
		err = take_delay(p);
	while (!err && take(p, ";"));
	return err;
}

static int take_option(struct parser *p)
{
	if (take(p, "out="))
		return take_file(p);
	if (take(p, "at="))
		return take_delays(p);
	return fail(p, "no such option", p->at);
}

int lc_delay_options_parse(struct lc_delay_options *o, const char *text, char *error,
                           size_t error_len)
{
	struct parser p = { .o = o, .at = text ? text : "" };
	int err = 0;

	*o = (struct lc_delay_options){ 0 };
	while (*p.at && !err) {
		err = take_option(&p);
		if (!err && *p.at && !take(&p, ","))
			err = fail(&p, "no such option", p.at);
	}
	if (!err && (!o->out || !o->len))
		err = fail(&p, !o->out ? "no out=FILE" : "no at=CLASS.METHOD:ITERATIONS",
		           text ? text : "");
	if (err == -EINVAL)
		snprintf(error, error_len, "%s", p.error);
	return err;
}

void lc_delay_options_free(struct lc_delay_options *o)
{
	free(o->out);
	for (size_t i = 0; i < o->len; i++) {
		free(o->asked[i]);
		free((char *)(uintptr_t)o->delays[i].class_name);
		free((char *)(uintptr_t)o->delays[i].method);
		free((char *)(uintptr_t)o->delays[i].descriptor);
	}
	*o = (struct lc_delay_options){ 0 };
}
