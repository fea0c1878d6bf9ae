/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_waiters.c - see report_waiters.h. */
#include "analyzer/objects/text/report_waiters.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/object_names.h"
#include "analyzer/objects/analysis/own_choice.h"
#include "analyzer/objects/analysis/waiters.h"
#include "analyzer/out/emit.h"
#include "src/base/order.h"

enum {
	LEFT_COLUMNS = 21,   /* "100.0% 10.2 to 12.0  " */
	LEAST_PERMILLE = 10, /* less is not shown */
	CLASSES = 4,
	INDENT = 2,         /* of what an own method calls */
	APART_PERCENT = 20, /* of samples without an own frame: they have a line */
};

static bool is_shown(const struct lc_report *r, const struct lc_waiter *m)
{
	return m->samples && 1000 * m->samples >= LEAST_PERMILLE * r->view->total;
}

/* With room for one line below the first method: has the second method more than that line? */
static bool is_divided(const struct lc_report *r, size_t most)
{
	const struct lc_waiters *w = &r->analysis->waiters;

	return most == 1 && w->len > 1 && w->list->below_len && is_shown(r, &w->list[1]) &&
	       w->list[1].samples > w->list->below->samples;
}

/* How many methods have 1% of the samples or more, `most` at most. */
static size_t shown(const struct lc_report *r, size_t most)
{
	const struct lc_waiters *w = &r->analysis->waiters;
	size_t len = 0;

	most += is_divided(r, most);
	while (len < w->len && len < most && is_shown(r, &w->list[len]))
		len++;
	return len;
}

/*
 * Do samples without an own frame have a line of their own, with methods of libraries? Without room
 * for two methods they have none.
 */
static bool is_apart(const struct lc_report *r, size_t most)
{
	const struct lc_waiters *w = &r->analysis->waiters;

	return most > 1 && 100 * w->elsewhere >= APART_PERCENT * r->view->total && w->others_len &&
	       is_shown(r, w->others);
}

/* Samples of no method that is shown. */
static uint64_t rest_of(const struct lc_report *r, size_t len)
{
	uint64_t rest = r->view->total;

	for (size_t i = 0; i < len; i++)
		rest -= r->analysis->waiters.list[i].samples;
	return rest;
}

static unsigned rest_lines(const struct lc_report *r, size_t len, size_t most)
{
	const uint64_t rest = rest_of(r, len), elsewhere = r->analysis->waiters.elsewhere;

	return is_apart(r, most) ? 1 + (rest > elsewhere) : rest > 0;
}

/*
 * How many lines show what own methods call: one where `most` allows no more, since a method that
 * has half of all samples says little by itself.
 */
static size_t below_lines(const struct lc_report *r, size_t len, size_t most)
{
	size_t below = 0;

	if (is_divided(r, most))
		return 0;
	for (size_t i = 0; i < len; i++)
		below += r->analysis->waiters.list[i].below_len;
	most = most > len ? most - len + 1 : 1;
	return below < most ? below : most;
}

/* Is there nothing to show? If the user named the own code, that it has no samples is something. */
static bool is_empty(const struct lc_report *r, size_t len)
{
	return !len && (!r->view->tree->own.given || !r->view->total);
}

unsigned lc_report_waiters_lines(const struct lc_report *r, size_t most)
{
	const size_t len = shown(r, most);

	/* An empty line, and the head. */
	return is_empty(r, len)
	           ? 0
	           : (unsigned)(len + below_lines(r, len, most)) + 2 + rest_lines(r, len, most);
}

/* Append "NAME 12.0%" if it fits in so many columns. Frees `name`. Returns whether it did. */
static bool append(char **text, const char *separator, char *name, double share, unsigned columns)
{
	char *longer = lc_mem_text("%s%s%s %.1f%%", *text, separator, name, 100 * share);
	const bool fits = lc_columns(longer) <= columns;

	free(name);
	free(fits ? *text : longer);
	*text = fits ? longer : *text;
	return fits;
}

/* "HashMap$Node 12%, Integer 11%, 3 more", in at most `columns`. The caller frees it. */
static char *objects_of(const struct lc_report *r, const struct lc_waiter *m, unsigned columns)
{
	char *text = lc_mem_text("%s", "");

	for (size_t i = 0; i < m->classes_len && i < CLASSES; i++)
		if (!append(
		        &text, i ? ", " : "",
		        lc_object_simple_class(lc_tree_text(r->view->tree, m->classes[i].class)),
		        lc_share(m->classes[i].samples, r->view->total), columns))
			break;
	return text;
}

/* "a.Main.load: HashMap$Node 12%, Integer 11%; allocates 40%". */
static void print_one(const struct lc_screen *s, const struct lc_report *r,
                      const struct lc_waiter *m, unsigned indent)
{
	const double all = r->analysis->waiters.bytes;
	const unsigned room = s->width - LEFT_COLUMNS - indent;
	char share[32], *name = lc_short_code(r->view->tree, m->method, 0), *objects;
	char *bytes = all > 0 && 1000 * m->bytes >= LEAST_PERMILLE * all
	                  ? lc_mem_text("; allocates %.0f%%", 100 * m->bytes / all)
	                  : lc_mem_text("%s", "");
	unsigned used;

	snprintf(share, sizeof(share), "%5.1f%%", 100 * lc_share(m->samples, r->view->total));
	lc_screen_ink(s, LC_INK_BOLD, share);
	snprintf(share, sizeof(share), "%4.1f to %.1f", 100 * m->low, 100 * m->high);
	fprintf(s->out, " %-12s  %*s", share, (int)indent, "");
	lc_cut_code(name, room < LC_SCREEN_NARROW ? room : room / 2, 1);
	lc_screen_ink(s, LC_INK_BOLD, name);
	used = lc_columns(name) + 2;
	objects = objects_of(r, m, room > used ? room - used : 0);
	fprintf(s->out, "%s%s", *objects ? ": " : "", objects);
	if (used + lc_columns(objects) + lc_columns(bytes) <= room)
		fputs(bytes, s->out);
	putc('\n', s->out);
	free(name);
	free(bytes);
	free(objects);
}

static void print_head(const struct lc_screen *s, const struct lc_tree_own_choice *c)
{
	static const char before[] = "time by own code: ", after[] = "; --app changes that";
	const unsigned taken = sizeof(before) + sizeof(after) - 2;
	const bool narrow = s->width < LEFT_COLUMNS + LC_SCREEN_NARROW;
	char *own =
	    lc_own_choice_text(c, s->width - (narrow ? (unsigned)sizeof(before) - 1 : taken));

	fprintf(s->out, "\n%s%s%s\n", before, own, lc_columns(own) + taken > s->width ? "" : after);
	free(own);
}

/* "no own frame: NioChannel.write 6.2%, Poller.run 4.0%", in at most `columns`. The caller frees
 * it.
 */
static char *others_of(const struct lc_report *r, unsigned columns)
{
	const struct lc_waiters *w = &r->analysis->waiters;
	char *text = lc_mem_text("no own frame");

	for (size_t i = 0; i < w->others_len && is_shown(r, &w->others[i]); i++) {
		char *name = lc_short_code(r->view->tree, w->others[i].method, 0);

		lc_short_without_package(name);
		if (!append(&text, i ? ", " : ": ", name,
		            lc_share(w->others[i].samples, r->view->total), columns))
			break;
	}
	return text;
}

static void print_part(const struct lc_screen *s, const struct lc_report *r, uint64_t samples,
                       char *text)
{
	char *more = strchr(text, ';');

	if (more && lc_columns(text) > s->width - LEFT_COLUMNS)
		*more = '\0';
	lc_cut_middle(text, s->width - LEFT_COLUMNS);
	fprintf(s->out, "%5.1f%% %-12s  %s\n", 100 * lc_share(samples, r->view->total), "", text);
	free(text);
}

/* Methods behind the first ones, and samples without an own frame: so all add up. */
static void print_rest(const struct lc_screen *s, const struct lc_report *r, size_t len,
                       size_t most)
{
	const struct lc_waiters *w = &r->analysis->waiters;
	const uint64_t rest = rest_of(r, len), all = r->view->total;
	const bool apart = is_apart(r, most);
	size_t more = 0;

	while (len + more < w->len && w->list[len + more].samples)
		more++;
	if (more && (apart || !w->elsewhere))
		print_part(s, r, rest - w->elsewhere,
		           lc_mem_text("the rest: %zu method%s", more, more == 1 ? "" : "s"));
	else if (more)
		print_part(s, r, rest,
		           lc_mem_text("the rest: %zu method%s; %.1f%% have no own frame", more,
		                       more == 1 ? "" : "s", 100 * lc_share(w->elsewhere, all)));
	if (apart || (!more && rest))
		print_part(s, r, w->elsewhere, others_of(r, s->width - LEFT_COLUMNS));
}

void lc_report_waiters(const struct lc_screen *s, const struct lc_report *r, size_t most)
{
	const size_t len = shown(r, most);
	size_t below;

	if (is_empty(r, len))
		return;
	print_head(s, &r->view->tree->own);
	below = below_lines(r, len, most);
	for (size_t i = 0; i < len; i++) {
		const struct lc_waiter *m = &r->analysis->waiters.list[i];

		print_one(s, r, m, 0);
		for (size_t k = 0; k < m->below_len && below; k++, below--)
			print_one(s, r, &m->below[k], INDENT);
	}
	print_rest(s, r, len, most);
}
