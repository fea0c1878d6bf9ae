/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/live_objects.c - chooses every n-th object of a site. */
#include "src/attribute/live_objects.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "src/attribute/live_series.h"
#include "src/base/glob.h"
#include "src/core/path.h"
#include "src/heap/estimate.h"
#include "src/heap/map.h"

/* ---- sites ---- */

int lc_live_objects_frame(const struct lc_path_node *n, char *out, size_t out_len)
{
	const struct lc_method *m = lc_method_get(n->method);
	const int line = m ? lc_method_line(m, n->bci) : -1;
	int len;

	if (!m)
		len = snprintf(out, out_len, "(path unknown)");
	else if (line < 0)
		len = snprintf(out, out_len, "%s.%s", m->class_name, m->name);
	else
		len = snprintf(out, out_len, "%s.%s:%d", m->class_name, m->name, line);
	return len < 0 ? 0 : (size_t)len < out_len ? len : (int)out_len - 1;
}

static bool matches(const char *pattern, const struct lc_path_node *n)
{
	char text[LC_LIVE_OBJECTS_FRAME_MAX];
	const int len = lc_live_objects_frame(n, text, sizeof(text));

	return lc_glob(pattern, pattern + strlen(pattern), text, text + len, false);
}

static bool wants(const void *pattern, uint32_t site)
{
	const struct lc_site *s = lc_site_get(site);
	const struct lc_path_node *n;

	if (!s || !*(const char *)pattern)
		return s;
	for (uint32_t path = s->path; path; path = n->parent) {
		n = lc_path_get(path);
		if (!n)
			break;
		if (matches(pattern, n))
			return true;
	}
	return false;
}

void lc_live_objects_sites(struct lc_live_objects *o, const char *pattern)
{
	uint32_t sites[LC_LIVE_OBJECTS_SITES];

	memset(o, 0, sizeof(*o));
	o->len = lc_live_series_most(wants, pattern, sites, LC_LIVE_OBJECTS_SITES);
	for (size_t i = 0; i < o->len; i++)
		o->sites[i].site = sites[i];
}

/* ---- objects ---- */

static void add(struct lc_live_objects *o, uint32_t site, uint64_t address, jweak ref)
{
	const uint32_t max = o->by_address ? LC_LIVE_OBJECTS_OF_SITE : LC_LIVE_OBJECTS_REFERENCES;
	struct lc_live_objects_site *s = o->sites;

	while (s < &o->sites[o->len] && s->site != site)
		s++;
	if (s == &o->sites[o->len] || s->seen++ % s->step)
		return;
	if (s->len == max) {
		s->len /= 2;
		s->step *= 2;
		for (uint32_t i = 0; i < s->len; i++)
			s->objects[i] = s->objects[(size_t)i * 2];
	}
	if (o->by_address)
		s->objects[s->len++].address = address;
	else
		s->objects[s->len++].ref = ref;
}

static void add_survivor(void *o, const struct lc_object *object)
{
	if (!object->in_doubt)
		add(o, object->site, object->addr, NULL);
}

static void add_held(void *context, const struct lc_estimate_held *held)
{
	struct lc_live_objects *o = context;

	if (!o->by_address || (held->address && held->survived))
		add(o, held->site, held->address, held->ref);
}

void lc_live_objects_find(struct lc_live_objects *o, const struct lc_map *m)
{
	for (size_t i = 0; i < o->len; i++) {
		o->sites[i].len = 0;
		o->sites[i].seen = 0;
		o->sites[i].step = 1;
	}
	o->by_address = m != NULL;
	if (m)
		lc_map_each(m, add_survivor, o);
	lc_estimate_live(add_held, o);
}
