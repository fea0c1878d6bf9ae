/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_footprint.c - writes the view of the parts of live objects. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/keep.h"
#include "analyzer/objects/text/report_text.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"

enum { INDENT = 8, BEFORE_NAME = 11, BYTES_LEN = 32, MARKED_LEN = 40 };

/* "~1.2 MB" of an estimate. */
static const char *bytes_text(char out[MARKED_LEN], bool estimated, double bytes)
{
	char number[BYTES_LEN];

	snprintf(out, MARKED_LEN, "%s%s", estimated ? "~" : "",
	         lc_emit_bytes_real(number, sizeof(number), bytes));
	return out;
}

/* "; all headers ~1.2 MB" and the like. */
static void put_all(FILE *out, const char *what, const struct lc_live_held *h, uint64_t each)
{
	char bytes[MARKED_LEN];

	fprintf(out, "%s%s", what,
	        bytes_text(bytes, h->sampled > 0, lc_live_objects(h) * (double)each));
}

static void put_savings(FILE *out, const struct lc_keep_jvm *jvm, const struct lc_live_held *h,
                        const struct lc_keep_object *o)
{
	if (jvm->header > LC_KEEP_COMPACT_BYTES) {
		fprintf(out, "; compact headers save %" PRIu64 " each", o->compact);
		if (o->compact)
			put_all(out, ": ", h, o->compact);
	}
	if (o->narrower) {
		fprintf(out, "; fields shorter by %" PRIu64 " save %" PRIu64 " each", o->narrower,
		        jvm->alignment);
		put_all(out, ": ", h, jvm->alignment);
	}
}

static void put_array(FILE *out, const struct lc_keep_class *c)
{
	char looked[MARKED_LEN], unused[MARKED_LEN];

	if (c->object.padding_most) {
		fprintf(out, ", padding at most %" PRIu64 " each", c->object.padding_most);
		put_all(out, ": ", &c->held, c->object.padding_most);
	}
	if (c->looked_bytes >= 1)
		fprintf(out,
		        "; unused elements %s of %s, if live arrays are used like the dead ones of "
		        "their lines",
		        bytes_text(unused, true, c->unused_bytes),
		        bytes_text(looked, c->held.sampled > 0, c->looked_bytes));
}

static char *numbers(const struct lc_keep_jvm *jvm, const struct lc_keep_class *c)
{
	const struct lc_live_held *h = &c->held;
	const struct lc_keep_object *o = &c->object;
	const double objects = lc_live_objects(h);
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	fprintf(out, "%s%.0f object%s", h->sampled ? "~" : "", objects,
	        fabs(objects - 1) < 0.5 ? "" : "s");
	if (h->sampled)
		fprintf(out, " (%.0f to %.0f)", (double)h->objects + h->estimated.low,
		        (double)h->objects + h->estimated.high);
	if (o->known)
		fprintf(out,
		        " of %" PRIu64 " bytes: header %" PRIu64 ", fields %" PRIu64
		        ", padding %" PRIu64,
		        o->bytes, o->header, o->fields, o->padding);
	if (o->header)
		put_all(out, "; all headers ", h, o->header);
	if (o->known) {
		put_all(out, ", fields ", h, o->fields);
		if (o->padding)
			put_all(out, ", padding ", h, o->padding);
		put_savings(out, jvm, h, o);
	} else if (o->array && o->header) {
		fprintf(out, " (%" PRIu64 " each, with the length)", o->header);
		put_array(out, c);
	} else if (!o->array) {
		fprintf(out, "; its fields are not known: no sample was at an object of it");
	}
	lc_mem_close_text(out);
	return text;
}

static void print_class(const struct lc_screen *s, const struct lc_tree *t,
                        const struct lc_keep_jvm *jvm, const struct lc_keep_class *c)
{
	char bytes[MARKED_LEN], *text = numbers(jvm, c), *name;
	const struct lc_text class = lc_tree_text(t, c->class);
	size_t len;
	FILE *out = lc_text_open(&name, &len);

	lc_emit_text(out, class);
	lc_mem_close_text(out);
	fprintf(s->out, "%9s  ", bytes_text(bytes, c->held.sampled > 0, lc_live_bytes(&c->held)));
	lc_cut_middle(name, s->width > BEFORE_NAME ? s->width - BEFORE_NAME : 0);
	lc_screen_ink(s, LC_INK_BOLD, name);
	fprintf(s->out, "\n%*s", INDENT, "");
	lc_screen_wrap(s, INDENT, INDENT + 2, text);
	free(name);
	free(text);
}

/* Sums of the classes whose parts are known. */
static void print_sums(const struct lc_screen *s, const struct lc_keep *k)
{
	double all = 0, known = 0, headers = 0, padding = 0, compact = 0, looked = 0, unused = 0;
	char bytes[7][MARKED_LEN], *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	for (size_t i = 0; i < k->len; i++) {
		const struct lc_keep_class *c = &k->classes[i];
		const double objects = lc_live_objects(&c->held);

		all += lc_live_bytes(&c->held);
		headers += objects * (double)c->object.header;
		looked += c->looked_bytes;
		unused += c->unused_bytes;
		if (!c->object.known)
			continue;
		known += lc_live_bytes(&c->held);
		padding += objects * (double)c->object.padding;
		compact += objects * (double)c->object.compact;
	}
	if (k->jvm.header) {
		fprintf(out,
		        "Headers of %" PRIu64 " bytes, objects aligned to %" PRIu64
		        " bytes, references of %" PRIu64 " bytes. Headers are %s of %s live. "
		        "In classes of known fields (%s), padding is %s",
		        k->jvm.header, k->jvm.alignment, k->jvm.reference,
		        bytes_text(bytes[0], false, headers), bytes_text(bytes[1], false, all),
		        bytes_text(bytes[2], false, known), bytes_text(bytes[3], false, padding));
		if (k->jvm.header > LC_KEEP_COMPACT_BYTES)
			fprintf(out,
			        ", and -XX:+UseCompactObjectHeaders (JDK 24 and later) saves at "
			        "most %s",
			        bytes_text(bytes[4], false, compact));
		fputs(".", out);
		if (looked >= 1)
			fprintf(out,
			        " In arrays at whose lines dead ones were looked at (%s), unused "
			        "elements are about %s.",
			        bytes_text(bytes[5], false, looked),
			        bytes_text(bytes[6], false, unused));
	} else {
		fputs("The sizes of headers are not known: an earlier Locus has recorded, or the "
		      "processes differ.",
		      out);
	}
	lc_mem_close_text(out);
	lc_screen_wrap(s, 0, 0, text);
	putc('\n', s->out);
	free(text);
}

void lc_report_text_footprint(FILE *out, const struct lc_report *r)
{
	const struct lc_keep *k = &r->analysis->keep;
	struct lc_screen s;
	size_t shown = 0, more = 0, few = 0;

	lc_screen_init(&s, out);
	if (r->analysis->live_by_line.none) {
		lc_screen_wrap(&s, 0, 0, r->analysis->live_by_line.none);
		return;
	}
	print_sums(&s, k);
	for (size_t i = 0; i < k->len; i++) {
		const struct lc_keep_class *c = &k->classes[i];

		if (lc_live_is_vague(&c->held)) {
			few++;
		} else if (shown == r->top) {
			more++;
		} else {
			print_class(&s, r->view->tree, &k->jvm, c);
			shown++;
		}
	}
	lc_report_text_live_rest(out, more, few);
}
