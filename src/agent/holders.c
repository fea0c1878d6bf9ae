/* SPDX-License-Identifier: Apache-2.0 */
/* agent/holders.c - chooses classes of a heap walk, and says which chains lead to their objects. */
#include "src/agent/holders.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/agent/holder_chain.h"
#include "src/agent/holder_sites.h"
#include "src/agent/holder_table.h"
#include "src/agent/holder_walk.h"
#include "src/base/say.h"

enum {
	CLASSES_SHOWN = 10,
	OBJECTS_LOOKED_AT = LC_HOLDER_SAMPLES / 2, /* of each class */
};

/* The wanted classes with most bytes. Returns how many. */
static size_t choose(const struct lc_holder_walk *w, uint32_t chosen[CLASSES_SHOWN])
{
	const struct lc_holder_class *of = w->table.classes;
	size_t len = 0;

	for (uint32_t i = 1; i <= w->table.class_count; i++) {
		size_t at = len;

		while (at && of[chosen[at - 1]].bytes < of[i].bytes)
			at--;
		if (!of[i].objects || !of[i].wanted || at == CLASSES_SHOWN)
			continue;
		len += len < CLASSES_SHOWN;
		memmove(&chosen[at + 1], &chosen[at], (len - 1 - at) * sizeof(*chosen));
		chosen[at] = i;
	}
	return len;
}

/* Say what holds objects of the class, chosen evenly from those that were reached. */
static void say_class(struct lc_holder_walk *w, uint32_t class)
{
	const struct lc_holder_names names = lc_holder_walk_names(w);
	const struct lc_holder_class *c = &w->table.classes[class];
	struct lc_holder_chain chains[OBJECTS_LOOKED_AT], chain;
	char text[LC_HOLDER_TEXT_MAX], name[LC_HOLDER_NAME_MAX];
	uint32_t looked_at = c->samples < OBJECTS_LOOKED_AT ? c->samples : OBJECTS_LOOKED_AT;
	size_t len = 0;

	for (uint32_t i = 0; i < looked_at; i++) {
		lc_holder_chain_of(
		    &w->table, lc_holder_table_sample(&w->table, class, i * c->samples / looked_at),
		    &chain);
		lc_holder_chains_add(chains, &len, &chain);
	}
	lc_holder_chains_join(chains, &len, &names);
	names.class(w, class, name);
	lc_say_answer("class\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu32 "\t%s", c->objects, c->bytes,
	              looked_at, name);
	for (size_t i = 0; i < len && i < LC_HOLDER_CHAINS_SHOWN; i++) {
		lc_holder_chain_text(&chains[i], &names, text, sizeof(text));
		lc_say_answer("chain\t%u\t%s", chains[i].count, text);
		looked_at -= chains[i].count;
	}
	if (looked_at)
		lc_say_answer("other\t%" PRIu32, looked_at);
}

static bool say_all(struct lc_holder_walk *w, const char *pattern)
{
	uint32_t chosen[CLASSES_SHOWN];
	const size_t len = choose(w, chosen);
	char line[LC_HOLDER_WALK_LINE_MAX];

	if (!len) {
		lc_say("no live object that was reached is of a class that matches '%s'; patterns "
		       "are of whole names, such as com.acme.*",
		       pattern);
		return false;
	}
	lc_holder_walk_line(w, line);
	lc_say_answer("%s", line);
	for (size_t i = 0; i < len; i++)
		say_class(w, chosen[i]);
	return true;
}

bool lc_holders_answer(JavaVM *vm, JNIEnv *jni, const char *options)
{
	char *pattern;
	const uint64_t pause_ns = strtoull(options, &pattern, 10);
	const uint64_t bytes = strtoull(pattern, &pattern, 10);
	struct lc_holder_walk *w;
	bool done = false;

	pattern += *pattern == ' ';
	if (*pattern == '@')
		return lc_holder_sites_answer(vm, pause_ns, bytes, pattern + 1);
	w = calloc(1, sizeof(*w));
	if (!w)
		return false;
	if (lc_holder_walk_begin(w, vm, jni, pause_ns, bytes)) {
		lc_holder_walk_want(w, pattern, false);
		done = lc_holder_walk_run(w, NULL, NULL);
	}
	if (done)
		done = say_all(w, pattern);
	else
		lc_say("%s", w->error);
	lc_holder_walk_end(w);
	free(w);
	return done;
}
