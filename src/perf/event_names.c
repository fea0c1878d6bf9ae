/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf/event_names.c - looks for names among libpfm4's events, and finds the nearest one.
 *
 * libpfm4 lists the events of absent CPUs too, though it encodes only those of the present one;
 * so an event of another CPU can be distinguished from one that does not exist.
 */
#include <ctype.h>
#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "src/base/nearest.h"
#include "src/base/options.h"
#include "src/perf/event_impl.h"

enum { NAMES_MAX = 8192, NAME_MAX_LEN = 96 };

static bool start_library(void)
{
	static int state; /* 0: not tried, 1: it works, -1: it does not */

	if (state == 0)
		state = pfm_initialize() == PFM_SUCCESS ? 1 : -1;
	return state > 0;
}

static bool pmu_info(int pmu, pfm_pmu_info_t *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	return pfm_get_pmu_info((pfm_pmu_t)pmu, out) == PFM_SUCCESS;
}

static bool is_core(const pfm_pmu_info_t *info)
{
	/* ix86arch has the few events that all CPUs have; it stands for no CPU. */
	return info->type == PFM_PMU_TYPE_CORE && strcmp(info->name, "ix86arch") != 0;
}

enum lc_event_vendor lc_event_pmu_vendor(const char *pmu)
{
	return strncmp(pmu, "amd64_", 6) == 0 ? LC_VENDOR_AMD : LC_VENDOR_INTEL;
}

static bool find_pmu(const char *name, pfm_pmu_info_t *out)
{
	if (!start_library())
		return false;
	for (int i = 0; i < PFM_PMU_MAX; i++)
		if (pmu_info(i, out) && strcmp(out->name, name) == 0)
			return true;
	return false;
}

bool lc_event_pmu_known(const char *pmu)
{
	pfm_pmu_info_t info;

	return pmu[0] && find_pmu(pmu, &info);
}

/* The index of the event `name` of that PMU, or -1. */
static int find_event(const pfm_pmu_info_t *pmu, const char *name, size_t len,
                      pfm_event_info_t *out)
{
	for (int i = pmu->first_event; i >= 0; i = pfm_get_event_next(i)) {
		memset(out, 0, sizeof(*out));
		out->size = sizeof(*out);
		if (pfm_get_event_info(i, PFM_OS_PERF_EVENT_EXT, out) == PFM_SUCCESS &&
		    strncasecmp(out->name, name, len) == 0 && !out->name[len])
			return i;
	}
	return -1;
}

static bool attribute_info(int event, int attribute, pfm_event_attr_info_t *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	return pfm_get_event_attr_info(event, attribute, PFM_OS_PERF_EVENT_EXT, out) == PFM_SUCCESS;
}

/* The length of the first name in EVENT:ATTRIBUTE=VALUE...; a '.' may stand for the first ':'. */
static size_t part_length(const char *text)
{
	return strcspn(text, ":.=");
}

static enum lc_event_found find_in(const pfm_pmu_info_t *pmu, const char *text)
{
	pfm_event_attr_info_t info;
	pfm_event_info_t event;
	size_t len = part_length(text);
	int index = find_event(pmu, text, len, &event);
	bool needs_mask = false, has_mask = false;

	if (index < 0)
		return LC_FOUND_NO_EVENT;
	for (int i = 0; i < event.nattrs; i++)
		if (attribute_info(index, i, &info) && info.type == PFM_ATTR_UMASK) {
			needs_mask = true;
			has_mask |= info.is_dfl;
		}
	for (text += len; *text; text += strcspn(text, ":.")) {
		bool found = false;

		len = part_length(++text);
		for (int i = 0; i < event.nattrs && !found; i++) {
			found = attribute_info(index, i, &info) &&
			        strncasecmp(info.name, text, len) == 0 && !info.name[len];
			has_mask |= found && info.type == PFM_ATTR_UMASK;
		}
		if (!found)
			return LC_FOUND_NO_ATTRIBUTE;
	}
	return needs_mask && !has_mask ? LC_FOUND_NO_MASK : LC_FOUND;
}

enum lc_event_found lc_event_find(const char *pmu, const char *text)
{
	pfm_pmu_info_t info;

	return find_pmu(pmu, &info) ? find_in(&info, text) : LC_FOUND_NO_EVENT;
}

const char *lc_event_find_anywhere(const char *text, enum lc_event_vendor first)
{
	pfm_pmu_info_t info;
	const char *best = NULL;

	if (!start_library())
		return NULL;
	for (int i = 0; i < PFM_PMU_MAX; i++)
		if (pmu_info(i, &info) && is_core(&info) && find_in(&info, text) == LC_FOUND &&
		    (!best || lc_event_pmu_vendor(info.name) == first))
			best = info.name; /* the later one is the newer one */
	return best;
}

/* Names to choose from, as many as there is room for; too large for a stack. */
struct names {
	const char *name[NAMES_MAX];
	size_t len;
};

static void add_name(struct names *names, const char *name)
{
	if (names->len < NAMES_MAX)
		names->name[names->len++] = name;
}

static void add_events(struct names *names, const pfm_pmu_info_t *pmu)
{
	pfm_event_info_t event;

	for (int i = pmu->first_event; i >= 0; i = pfm_get_event_next(i)) {
		memset(&event, 0, sizeof(event));
		event.size = sizeof(event);
		if (pfm_get_event_info(i, PFM_OS_PERF_EVENT_EXT, &event) == PFM_SUCCESS)
			add_name(names, event.name);
	}
}

/* Among the unit masks of `event`, the one most like `mask`; the first one where `mask` is "". */
static const char *nearest_mask(const pfm_pmu_info_t *pmu, const char *event, const char *mask)
{
	static struct names masks;
	pfm_event_attr_info_t info;
	pfm_event_info_t found;
	int index = find_event(pmu, event, strlen(event), &found);

	masks.len = 0;
	for (int i = 0; index >= 0 && i < found.nattrs; i++)
		if (attribute_info(index, i, &info) && info.type == PFM_ATTR_UMASK)
			add_name(&masks, info.name);
	if (!mask[0])
		return masks.len ? masks.name[0] : NULL;
	return lc_nearest(mask, masks.name, masks.len);
}

/* The n-th part of `text` in capitals. */
static void take_part(const char **text, char out[NAME_MAX_LEN])
{
	size_t len = part_length(*text);

	snprintf(out, NAME_MAX_LEN, "%.*s", (int)(len < NAME_MAX_LEN ? len : NAME_MAX_LEN - 1),
	         *text);
	for (char *p = out; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	*text += strcspn(*text, ":.");
	if (**text)
		++*text;
}

/* Is this PMU one to look in: `pmu`, or any if that is ""? */
static bool in_scope(const char *pmu, const pfm_pmu_info_t *info)
{
	return pmu[0] ? strcmp(info->name, pmu) == 0 : is_core(info);
}

bool lc_event_nearest(const char *pmu, const char *text, char *out, size_t out_len)
{
	static const char *const own[] = { "auto", "timer", "pebs", "ibs", "fault", "watch" };
	static struct names events;
	char event[NAME_MAX_LEN], mask[NAME_MAX_LEN];
	const char *best, *rest = text;
	pfm_pmu_info_t info;

	snprintf(event, sizeof(event), "%.*s", (int)strcspn(text, ":"), text);
	best = lc_nearest(event, own, sizeof(own) / sizeof(own[0]));
	if (best) {
		snprintf(out, out_len, "%s%s", best, text + strcspn(text, ":"));
		return true;
	}
	if (!start_library())
		return false;
	events.len = 0;
	for (int i = 0; i < PFM_PMU_MAX; i++)
		if (pmu_info(i, &info) && in_scope(pmu, &info))
			add_events(&events, &info);
	take_part(&rest, event);
	take_part(&rest, mask);
	best = lc_nearest(event, events.name, events.len);
	if (!best)
		return false;
	/* Newer CPUs come later, and their masks are the ones to suggest. */
	for (int i = PFM_PMU_MAX - 1; i >= 0; i--) {
		const char *near;

		if (!pmu_info(i, &info) || !in_scope(pmu, &info))
			continue;
		near = nearest_mask(&info, best, mask);
		if (near) {
			snprintf(out, out_len, "%s:%s", best, near);
			return true;
		}
	}
	snprintf(out, out_len, "%s", best);
	return true;
}
