/* SPDX-License-Identifier: Apache-2.0 */
/* hooks/track_hot.c - adds the chosen classes to the patterns, and transforms loaded classes. */
#include "src/hooks/track_hot.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/attribute/hot_classes.h"
#include "src/base/say.h"
#include "src/base/time.h"
#include "src/base/track.h"
#include "src/core/counters.h"
#include "src/core/stages.h"
#include "src/heap/tracked.h"
#include "src/hooks/retry.h"
#include "src/hooks/tracked_sites.h"
#include "src/hooks/unchanged.h"

enum { SETTLE_MS = 500, STEP_MS = 10, SAID_BYTES = 1024 };

static _Atomic uint64_t places;    /* classes that were transformed */
static _Atomic uint64_t switch_ns; /* from the choices to the lines */

bool lc_track_hot_due(void)
{
	return lc_hot_classes_due() != NULL;
}

/* The pattern that matches the class. */
static const char *pattern_of(const char *name)
{
	return strcmp(name, LC_TRACK_HOT) ? name : "ho?";
}

/*
 * Append the class to the list. Returns false without room. lc_tracked_add() has less room if there
 * are other patterns.
 */
static bool append(char *list, size_t size, const char *name)
{
	const size_t len = strlen(list);

	if (len + (len > 0) + strlen(pattern_of(name)) >= size)
		return false;
	snprintf(list + len, size - len, "%s%s", len ? ";" : "", pattern_of(name));
	return true;
}

/* How many of the chosen classes fit beside the present patterns; `list` gets these. */
static size_t list_them(const struct lc_hot_choice *choice, char list[LC_TRACK_TEXT_MAX])
{
	const struct lc_track *before = lc_tracked();
	const size_t taken = before ? strlen(before->text) + 1 : 0;
	const size_t places_left = LC_TRACK_MAX - (before ? before->len : 0);
	size_t len = 0;

	list[0] = '\0';
	while (len < choice->len && len < places_left && taken < LC_TRACK_TEXT_MAX &&
	       append(list, LC_TRACK_TEXT_MAX - taken, choice->names[len]))
		len++;
	return len;
}

static void say(const struct lc_hot_choice *choice, size_t len)
{
	char names[SAID_BYTES] = "";
	size_t said = 0, at = 0;

	for (; said < len && at + strlen(choice->names[said]) + 3 < sizeof(names); said++)
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", said ? ", " : "",
		                       choice->names[said]);
	if (said < len)
		lc_say("--track hot: tracks %s and %zu more: %.0f%% of the samples were in their "
		       "objects, without an allocation line",
		       names, len - said, 100.0 * (double)choice->samples / (double)choice->of);
	else
		lc_say("--track hot: tracks %s: %.0f%% of the samples were in %s objects, without "
		       "an allocation line",
		       names, 100.0 * (double)choice->samples / (double)choice->of,
		       len > 1 ? "their" : "its");
}

/* Class files that were read before the patterns changed become classes. */
static void settle(void)
{
	for (unsigned i = 0; i < SETTLE_MS / STEP_MS && !lc_stages_stopped(); i++)
		nanosleep(&(struct timespec){ .tv_nsec = STEP_MS * 1000000L }, NULL);
}

/*
 * Hooks for the classes of `list` go into all classes that are loaded, or will be. Returns whether
 * they are in; not if the recording ends meanwhile.
 */
static bool transform(JNIEnv *jni, const char *list)
{
	struct lc_track added;
	jclass *wanted;
	jint len = 0;

	if (!lc_tracked_add(list))
		return false;
	settle();
	(void)lc_track_parse(list, &added);
	wanted = lc_tracked_sites_find(jni, &added, &len);
	if (!wanted || lc_stages_stopped()) {
		free(wanted);
		return false;
	}
	atomic_fetch_add_explicit(&places, (uint64_t)len, memory_order_relaxed); /* a count */
	lc_retry_add(jni, wanted, len);
	lc_unchanged_say();
	return !lc_stages_stopped();
}

void lc_track_hot_switch(JNIEnv *jni)
{
	const struct lc_hot_choice *choice = lc_hot_classes_due();
	const uint64_t begin = lc_time_now_ns();
	char list[LC_TRACK_TEXT_MAX];
	size_t len = list_them(choice, list);

	if (len && !transform(jni, list))
		len = 0;
	if (len)
		say(choice, len);
	atomic_fetch_add_explicit(&switch_ns, lc_time_now_ns() - begin, memory_order_relaxed);
	lc_hot_classes_done(len, lc_time_now_ns());
}

static bool has_counters(const struct lc_options *options)
{
	return lc_tracked_hot();
}

static const struct lc_counter counters[] = {
	LC_COUNTER("track_hot_transformed", &places),
	LC_COUNTER("track_hot_switch_us", &switch_ns, .unit = 1000),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = has_counters);
