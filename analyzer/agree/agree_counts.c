/* SPDX-License-Identifier: Apache-2.0 */
/* agree/agree_counts.c - counts samples by the names of methods. */
#include "analyzer/agree/agree_counts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"

/* A name is hashed: two names of one hash would be one method, which 64 bits rule out in practice.
 */
static void hash_name(const char *name, uint32_t *key)
{
	uint64_t h = 14695981039346656037ull; /* FNV-1a */

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 1099511628211ull;
	key[0] = (uint32_t)h;
	key[1] = (uint32_t)(h >> 32);
}

void lc_agree_counts_init(struct lc_agree_counts *c)
{
	*c = (struct lc_agree_counts){ .texts = NULL };
	lc_table_init(&c->names, 2, 1);
}

void lc_agree_counts_free(struct lc_agree_counts *c)
{
	for (size_t i = 0; i < c->texts_len; i++)
		free(c->texts[i]);
	free(c->texts);
	lc_table_free(&c->names);
}

void lc_agree_counts_add(struct lc_agree_counts *c, const char *name, uint64_t samples)
{
	uint32_t key[2], row;

	c->samples += samples;
	if (!*name || !samples)
		return;
	c->java += samples;
	hash_name(name, key);
	row = lc_table_put(&c->names, key);
	if (row == c->texts_len) {
		c->texts =
		    lc_mem_grow(c->texts, &c->texts_cap, c->texts_len + 1, sizeof(*c->texts));
		c->texts[c->texts_len++] = lc_mem_text("%s", name);
	}
	*lc_table_values(&c->names, row) += samples;
}

/* ---- names ---- */

/* Find the separator and address of a hidden class: "/0x7f..", ".0x7f..", "+0x7f..". */
static char *find_address(char *text)
{
	char *at = text;

	while ((at = strstr(at, "0x")) != NULL) {
		if (at > text && strchr("/.+", at[-1]) && strspn(at + 2, "0123456789abcdefABCDEF"))
			return at - 1;
		at += 2;
	}
	return NULL;
}

static void drop_addresses(char *text)
{
	char *at;

	while ((at = find_address(text)) != NULL) {
		const char *end = at + 3 + strspn(at + 3, "0123456789abcdefABCDEF");

		memmove(at, end, strlen(end) + 1);
	}
}

/* "Main$$Lambda$14.apply" is "Main$$Lambda.apply", as it is called from JDK 21 on. */
static void drop_number(char *text)
{
	static const char lambda[] = "$$Lambda";
	char *at = strstr(text, lambda), *end;

	if (!at)
		return;
	at += strlen(lambda);
	end = strchr(at, '.');
	end = end ? end : at + strlen(at);
	memmove(at, end, strlen(end) + 1);
}

/* "_[j]" and the like, at the end. */
static int is_annotated(const char *text, size_t len)
{
	return len > 4 && text[len - 4] == '_' && text[len - 3] == '[' && text[len - 1] == ']';
}

char *lc_agree_name(const char *text)
{
	size_t len = strlen(text);
	char *name = lc_mem_text("%.*s", (int)(is_annotated(text, len) ? len - 4 : len), text);
	char *signature = strchr(name, '('), *space = NULL;

	if (signature) {
		*signature = 0;
		space = strrchr(name, ' '); /* behind the type of what is returned */
	}
	if (space)
		memmove(name, space + 1, strlen(space));
	drop_addresses(name);
	for (char *c = name; *c; c++)
		*c = *c == '/' ? '.' : *c;
	drop_number(name);
	return name;
}

static void add_frame(struct lc_agree_counts *c, const char *frame, uint64_t samples)
{
	char *name = lc_agree_name(frame);

	lc_agree_counts_add(c, name, samples);
	free(name);
}

/* ---- the file ---- */

void lc_agree_write_methods(FILE *out, const struct lc_agree_counts *c)
{
	fprintf(out, "samples %" PRIu64 "\n", c->samples);
	for (size_t i = 0; i < c->texts_len; i++)
		fprintf(out, "%" PRIu64 " %s\n", *lc_table_values(&c->names, (uint32_t)i),
		        c->texts[i]);
}

int lc_agree_read_methods(struct lc_agree_counts *c, FILE *in)
{
	char *line = NULL, *end;
	size_t cap = 0;
	ssize_t len;
	uint64_t all = 0, number;
	int err = fscanf(in, "samples %" SCNu64 "\n", &all) == 1 ? 0 : -EINVAL;

	while (!err && (len = getline(&line, &cap, in)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = 0;
		errno = 0;
		number = strtoull(line, &end, 10);
		if (end == line || *end != ' ' || !end[1] || errno || number > all - c->java)
			err = -EINVAL;
		else
			lc_agree_counts_add(c, end + 1, number);
	}
	free(line);
	if (!err)
		c->samples = all;
	return err;
}

/* ---- collapsed stacks ---- */

static int is_java(const char *frame, size_t len, int annotated)
{
	const char *dot;

	if (annotated)
		return is_annotated(frame, len) && strchr("0j1i", frame[len - 2]);
	dot = memchr(frame, '.', len);
	return dot && dot > frame && dot + 1 < frame + len && !memmem(frame, len, "::", 2) &&
	       !memmem(frame, len, ".so", 3);
}

/* The innermost Java frame of a stack, whose end is cut behind it; "" where there is none. */
static const char *innermost(char *stack, int annotated)
{
	for (;;) {
		char *last = strrchr(stack, ';');
		const char *frame = last ? last + 1 : stack;

		if (is_java(frame, strlen(frame), annotated))
			return frame;
		if (!last)
			return "";
		*last = 0;
	}
}

int lc_agree_read_collapsed(struct lc_agree_counts *c, FILE *in, int annotated)
{
	char *line = NULL, *space, *end;
	size_t cap = 0;
	ssize_t len;
	uint64_t number;
	int err = 0;

	while (!err && (len = getline(&line, &cap, in)) > 0) {
		if (line[len - 1] == '\n')
			line[--len] = 0;
		space = strrchr(line, ' ');
		errno = 0;
		number = space ? strtoull(space + 1, &end, 10) : 0;
		if (!space || end == space + 1 || *end || errno || number > UINT32_MAX) {
			err = -EINVAL;
			continue;
		}
		*space = 0;
		add_frame(c, innermost(line, annotated), number);
	}
	free(line);
	return err;
}

/* ---- perf ---- */

/* "int java.util.HashMap.hash(java.lang.Object)", as HotSpot's map has it, is a method's frame. */
static int is_perf_method(const char *symbol)
{
	const char *signature = strchr(symbol, '('), *space = strchr(symbol, ' ');

	return signature && space && space < signature && !strstr(symbol, "::") &&
	       memchr(space, '.', (size_t)(signature - space));
}

/* One sample of perf's, while its lines are read. */
struct perf_sample {
	int begun;
	char *method; /* NULL: none yet */
	int unknown;  /* the innermost Java frame is interpreted: which method is not known */
};

static void end_sample(struct lc_agree_counts *c, struct perf_sample *s)
{
	if (s->begun)
		lc_agree_counts_add(c, s->method ? s->method : "", 1);
	free(s->method);
	*s = (struct perf_sample){ .begun = 0 };
}

int lc_agree_read_perf(struct lc_agree_counts *c, FILE *in)
{
	struct perf_sample s = { .begun = 0 };
	char *line = NULL;
	size_t cap = 0;
	int err = 0;

	while (!err && getline(&line, &cap, in) > 0) {
		char *word = line + strspn(line, " \t"), *symbol;

		line[strcspn(line, "\n")] = 0;
		if (!*word) {
			end_sample(c, &s);
		} else if (*line != '\t') { /* the pid */
			end_sample(c, &s);
			s.begun = 1;
		} else if (!s.begun || !(symbol = strchr(word, ' '))) {
			err = -EINVAL;
		} else if (!s.method && !s.unknown) {
			symbol++;
			s.unknown = !strcmp(symbol, "Interpreter");
			s.method = is_perf_method(symbol) ? lc_agree_name(symbol) : NULL;
		}
	}
	end_sample(c, &s);
	free(line);
	return err;
}
