/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/frame_filter.c - matches frames and paths against patterns, each frame and path of the tree
 * once.
 */
#include "analyzer/model/frame_filter.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"

/* Result for a frame, or for the frames of a path. */
enum { FITS_INCLUDE = 1, FITS_EXCLUDE = 2 };

/* The lines "12" or "12-30". Returns whether the text is of that form. */
static bool read_lines(const char *text, uint32_t *first, uint32_t *last)
{
	unsigned long from, to;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	from = to = strtoul(text, &end, 10);
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		to = strtoul(end + 1, &end, 10);
	if (*end || from > INT32_MAX || to > INT32_MAX)
		return false;
	*first = (uint32_t)from;
	*last = (uint32_t)to;
	return true;
}

void lc_frame_patterns_add(struct lc_frame_patterns *p, const char *pattern)
{
	struct lc_frame_pattern added = { .text = pattern,
		                          .frame_len = strlen(pattern),
		                          .last = UINT32_MAX };
	const char *colon = strrchr(pattern, ':');

	if (colon && read_lines(colon + 1, &added.first, &added.last))
		added.frame_len = (size_t)(colon - pattern);
	p->list = lc_mem_grow(p->list, &p->cap, p->len + 1, sizeof(*p->list));
	p->list[p->len++] = added;
}

static bool fits(const struct lc_frame_pattern *p, const char *frame, uint32_t line)
{
	char *text;
	bool whole;

	if (line < p->first || line > p->last)
		return false;
	text = lc_mem_text("%.*s", (int)p->frame_len, p->text);
	whole = strpbrk(text, "*?") != NULL;
	whole = whole ? fnmatch(text, frame, FNM_NOESCAPE) == 0 : strstr(frame, text) != NULL;
	free(text);
	return whole;
}

bool lc_frame_fits(struct lc_frame_patterns *p, struct lc_text class_name,
                   struct lc_text method_name, uint32_t line)
{
	bool fitted = false;
	char *frame;

	if (!p->len)
		return false;
	frame = lc_mem_text("%.*s.%.*s", (int)class_name.len, class_name.bytes,
	                    (int)method_name.len, method_name.bytes);
	for (size_t i = 0; i < p->len; i++)
		if (fits(&p->list[i], frame, line))
			fitted = p->list[i].fitted = true;
	free(frame);
	return fitted;
}

bool lc_frame_filter_on(const struct lc_frame_filter *f)
{
	return f->include.len || f->exclude.len;
}

void lc_frame_filter_look(struct lc_frame_filter *f, const struct lc_tree *t)
{
	f->frames = lc_mem_grow(f->frames, &f->frames_cap, t->frames.count, 1);
	for (; f->frames_len < t->frames.count; f->frames_len++) {
		const uint32_t *frame = lc_table_key(&t->frames, f->frames_len),
		               *key = lc_table_key(&t->methods, frame[LC_FRAME_METHOD]),
		               line1 = frame[LC_FRAME_LINE1], line = line1 ? line1 - 1 : 0;
		const struct lc_text class = lc_tree_text(t, key[LC_METHOD_CLASS]),
		                     name = lc_tree_text(t, key[LC_METHOD_NAME]);

		f->frames[f->frames_len] =
		    (uint8_t)((lc_frame_fits(&f->include, class, name, line) ? FITS_INCLUDE : 0) |
		              (lc_frame_fits(&f->exclude, class, name, line) ? FITS_EXCLUDE : 0));
	}
}

bool lc_frame_filter_passes(struct lc_frame_filter *f, const struct lc_tree *t, uint32_t path)
{
	if (!lc_frame_filter_on(f))
		return true;
	if (path >= f->paths_len) {
		lc_frame_filter_look(f, t);
		f->paths = lc_mem_grow(f->paths, &f->paths_cap, t->paths.count, 1);
		for (; f->paths_len < t->paths.count; f->paths_len++) {
			const uint32_t row = f->paths_len;

			/* A parent has a smaller number. */
			f->paths[row] =
			    row ? f->paths[lc_tree_parent(t, row)] |
			              f->frames[lc_table_key(&t->paths, row)[LC_PATH_FRAME]]
			        : 0;
		}
	}
	return !(f->paths[path] & FITS_EXCLUDE) &&
	       (!f->include.len || (f->paths[path] & FITS_INCLUDE));
}

void lc_frame_filter_free(struct lc_frame_filter *f)
{
	free(f->include.list);
	free(f->exclude.list);
	free(f->frames);
	free(f->paths);
	*f = (struct lc_frame_filter){ .frames = NULL };
}
