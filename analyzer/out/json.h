/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out/json.h - this writer of JSON sets the commas, closes what was opened and escapes text.
 *
 * Each function writes one value. Inside an object the value is a member and `name` is its name;
 * inside an array, and outermost, `name` is NULL. Anything else is a mistake in the program and
 * ends it by assert(): a member without a name, an element with one, a second outermost value, an
 * end that is not its own, more than LC_JSON_DEPTH levels.
 *
 *     lc_json_init(&j, out);
 *     lc_json_object(&j, NULL);
 *     lc_json_u64(&j, "samples", 80);
 *     lc_json_array(&j, "nodes");
 *     lc_json_u64(&j, NULL, 0);
 *     lc_json_end_array(&j);
 *     lc_json_end_object(&j);
 *     lc_json_finish(&j);            {"samples":80,"nodes":[0]}
 */
#ifndef LC_OUT_JSON_H
#define LC_OUT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/model/tree.h"

enum { LC_JSON_DEPTH = 62, LC_JSON_INLINE = -1 };

/* For lc_json_init(); the members are the writer's own. */
struct lc_json {
	FILE *out;
	unsigned depth;   /* of what is open; 0: outermost */
	uint64_t objects; /* bit d: what is open at depth d is an object, not an array */
	uint64_t filled;  /* bit d: it holds a value already */
	int line;         /* spaces that the next value's line begins with; or LC_JSON_INLINE */
};

void lc_json_init(struct lc_json *j, FILE *out);

/*
 * One value was written, and all that it opened is closed. Errors of `out` are the caller's to see.
 */
void lc_json_finish(const struct lc_json *j);

/*
 * The next value begins a line, with so many spaces, unless it is the first of what it stands in.
 */
void lc_json_line(struct lc_json *j, unsigned spaces);

void lc_json_object(struct lc_json *j, const char *name);
void lc_json_end_object(struct lc_json *j);
void lc_json_array(struct lc_json *j, const char *name);
void lc_json_end_array(struct lc_json *j);

/* Text of any bytes: it becomes valid UTF-8, and no '<' stands in it. */
void lc_json_text(struct lc_json *j, const char *name, struct lc_text text);
void lc_json_string(struct lc_json *j, const char *name, const char *text); /* NULL is null */

void lc_json_null(struct lc_json *j, const char *name);
void lc_json_bool(struct lc_json *j, const char *name, bool v);
void lc_json_u64(struct lc_json *j, const char *name, uint64_t v);
void lc_json_i64(struct lc_json *j, const char *name, int64_t v);

/* With 17 digits, which give the same double again. Infinity and what is no number are null. */
void lc_json_real(struct lc_json *j, const char *name, double v);
/* The same; a number below 0 stands for an unknown one, and is null. */
void lc_json_known(struct lc_json *j, const char *name, double v);
/* With so many decimals. */
void lc_json_fixed(struct lc_json *j, const char *name, double v, int decimals);
/* v / 1000 with three decimals, exactly: nanoseconds as microseconds. */
void lc_json_thousandths(struct lc_json *j, const char *name, int64_t v);

/* An ID: 16 hexadecimal digits, as text. */
void lc_json_id(struct lc_json *j, const char *name, uint64_t id);

/* Members "class", "method", "line" and "file" of a method and line + 1, in the object that is
 * open. */
void lc_json_code(struct lc_json *j, const struct lc_tree *t, uint32_t method, uint32_t line1);
/* An array of frames, leaf first: objects of these members and "bci". Empty for the root. */
void lc_json_path(struct lc_json *j, const char *name, const struct lc_tree *t, uint32_t path);

#endif
