/* model/frame_filter.c - looks at each method and each path of the tree once. */
#include "analyzer/model/frame_filter.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"

/* Of a method, or of the frames of a path. */
enum { FITS_INCLUDE = 1, FITS_EXCLUDE = 2 };

void lc_frame_patterns_add(struct lc_frame_patterns *p, const char *pattern)
{
	p->list = lc_mem_grow(p->list, &p->cap, p->len + 1, sizeof(*p->list));
	p->list[p->len++] = (struct lc_frame_pattern){ .text = pattern };
}

bool lc_frame_fits(struct lc_frame_patterns *p, struct lc_text class_name,
                   struct lc_text method_name)
{
	bool fits = false;
	char *frame;

	if (!p->len)
		return false;
	frame = lc_mem_text("%.*s.%.*s", (int)class_name.len, class_name.bytes,
	                    (int)method_name.len, method_name.bytes);
	for (size_t i = 0; i < p->len; i++) {
		const char *text = p->list[i].text;

		if (strpbrk(text, "*?") ? fnmatch(text, frame, FNM_NOESCAPE) == 0
		                        : strstr(frame, text) != NULL)
			fits = p->list[i].fitted = true;
	}
	free(frame);
	return fits;
}

bool lc_frame_filter_on(const struct lc_frame_filter *f)
{
	return f->include.len || f->exclude.len;
}

void lc_frame_filter_look(struct lc_frame_filter *f, const struct lc_tree *t)
{
	f->methods = lc_mem_grow(f->methods, &f->methods_cap, t->methods.count, 1);
	for (; f->methods_len < t->methods.count; f->methods_len++) {
		const uint32_t *key = lc_table_key(&t->methods, f->methods_len);
		const struct lc_text class = lc_tree_text(t, key[LC_METHOD_CLASS]),
		                     name = lc_tree_text(t, key[LC_METHOD_NAME]);

		f->methods[f->methods_len] =
		    (uint8_t)((lc_frame_fits(&f->include, class, name) ? FITS_INCLUDE : 0) |
		              (lc_frame_fits(&f->exclude, class, name) ? FITS_EXCLUDE : 0));
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
			f->paths[row] = row ? f->paths[lc_tree_parent(t, row)] |
			                          f->methods[lc_tree_frame(t, row)[LC_FRAME_METHOD]]
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
	free(f->methods);
	free(f->paths);
	*f = (struct lc_frame_filter){ .methods = NULL };
}
