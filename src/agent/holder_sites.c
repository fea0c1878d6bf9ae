/* SPDX-License-Identifier: Apache-2.0 */
/* agent/holder_sites.c - walks the heap for objects of allocation sites. */
#include "src/agent/holder_sites.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/agent/agent_end.h"
#include "src/agent/holder_chain.h"
#include "src/agent/holder_walk.h"
#include "src/attribute/ask.h"
#include "src/attribute/attribution.h"
#include "src/attribute/ending.h"
#include "src/attribute/live_holders.h"
#include "src/attribute/live_objects.h"
#include "src/base/limit.h"
#include "src/base/say.h"
#include "src/base/time.h"
#include "src/core/path.h"
#include "src/format/rows.h"
#include "src/heap/estimate.h"

enum {
	LOOKED_AT = 16, /* objects of each site */
	SITES_SHOWN = 10,
	PATTERN_MAX = 512,
	ANSWER_MAX = 1 << 16, /* of SITES_SHOWN sites with their chains */
};

#define MS UINT64_C(1000000)

_Static_assert(LC_LIVE_OBJECTS_SITES *LC_LIVE_OBJECTS_OF_SITE <= LC_HOLDER_TARGETS_MAX,
               "all chosen objects are looked for");

/*
 * A request to the attribution thread, and the memory that it works with. If the thread that asks
 * no longer waits, the end of the recording frees the memory.
 */
struct job {
	JavaVM *vm;
	uint64_t pause_ns, bytes;
	char pattern[PATTERN_MAX];
	bool done;
	char *answer; /* [ANSWER_MAX], lines; NULL: rows of the profile are wanted */
	size_t answer_len;
	uint64_t time_ns;
	struct lc_live_objects objects;
	struct lc_holder_walk walk;
};

/* ---- the attribution thread ---- */

/* Look for the objects by tags: their references become local ones, which the walk deletes. */
static void add_references(struct job *j, JNIEnv *jni)
{
	if ((*jni)->EnsureLocalCapacity(jni, LC_HOLDER_TARGETS_MAX)) {
		(*jni)->ExceptionClear(jni);
		return;
	}
	for (uint32_t i = 0; i < j->objects.len; i++)
		for (uint32_t k = 0; k < j->objects.sites[i].len; k++) {
			const jobject object =
			    (*jni)->NewLocalRef(jni, j->objects.sites[i].objects[k].ref);

			if (object)
				(void)lc_holder_targets_add_object(&j->walk.targets, object, i);
		}
}

static void add_addresses(struct job *j)
{
	for (uint32_t i = 0; i < j->objects.len; i++)
		for (uint32_t k = 0; k < j->objects.sites[i].len; k++)
			(void)lc_holder_targets_add(&j->walk.targets,
			                            j->objects.sites[i].objects[k].address, i);
}

static bool choose(void *context, struct lc_holder_walk *w)
{
	struct job *j = context;

	memset(&w->targets, 0, sizeof(w->targets));
	w->sequence = lc_attribution_live_objects(&j->objects);
	if (j->objects.by_address)
		add_addresses(j);
	else
		add_references(j, w->jni);
	if (!w->targets.len)
		snprintf(w->error, sizeof(w->error),
		         "no object%s%s has outlived a collection of this recording",
		         *j->pattern ? " that was allocated at " : "", j->pattern);
	return w->targets.len;
}

static bool reached(const struct lc_holder_walk *w, const struct lc_holder_target *target)
{
	return target->leaf.distance ||
	       lc_holder_table_reached(&w->table, lc_holder_table_find(&w->table, target->address));
}

/* Note how many of the objects are live, which an incomplete walk does not know. */
static void note_held(struct job *j, uint32_t group)
{
	const struct lc_live_objects_site *o = &j->objects.sites[group];
	struct lc_block_held row = { .time_ns = j->time_ns, .site = o->site, .known = o->seen };

	if (j->walk.stopped || !j->objects.by_address)
		return;
	for (size_t i = 0; i < j->walk.targets.len; i++)
		if (j->walk.targets.targets[i].group == group) {
			row.looked_for++;
			row.reached += reached(&j->walk, &j->walk.targets.targets[i]);
		}
	if (row.looked_for)
		lc_live_holders_add_held(&row);
}

/* The object's number in the table; 0: the walk has not reached it. */
static uint32_t number_of(struct lc_holder_walk *w, const struct lc_holder_target *target)
{
	const uint32_t number = lc_holder_table_find(&w->table, target->address);

	if (target->leaf.distance)
		return lc_holder_table_leaf(&w->table, &target->leaf);
	return lc_holder_table_reached(&w->table, number) ? number : 0;
}

/* Find the chains to objects of the site, the most frequent first. Returns how many objects. */
static uint32_t find_chains(struct job *j, uint32_t site, struct lc_holder_chain chains[LOOKED_AT],
                            size_t *len)
{
	const struct lc_holder_names names = lc_holder_walk_names(&j->walk);
	struct lc_holder_chain chain;
	uint32_t found = 0;

	*len = 0;
	for (size_t i = 0; i < j->walk.targets.len && found < LOOKED_AT; i++) {
		const struct lc_holder_target *target = &j->walk.targets.targets[i];
		const uint32_t number = target->group == site ? number_of(&j->walk, target) : 0;

		if (!number)
			continue;
		lc_holder_chain_of(&j->walk.table, number, &chain);
		lc_holder_chains_add(chains, len, &chain);
		found++;
	}
	lc_holder_chains_join(chains, len, &names);
	return found;
}

static void append(struct job *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(struct job *j, const char *format, ...)
{
	const size_t left = ANSWER_MAX - j->answer_len;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(j->answer + j->answer_len, left, format, args);
	va_end(args);
	if (n > 0 && (size_t)n < left)
		j->answer_len += (size_t)n;
	j->answer[j->answer_len] = '\0'; /* whole lines */
}

static void append_site(struct job *j, uint32_t group, uint32_t found)
{
	const struct lc_live_objects_site *o = &j->objects.sites[group];
	const struct lc_site *site = lc_site_get(o->site);
	const struct lc_path_node *n = lc_path_get(site->path);
	char frame[LC_LIVE_OBJECTS_FRAME_MAX] = "(path unknown)";

	if (n && site->path)
		(void)lc_live_objects_frame(n, frame, sizeof(frame));
	append(j, "site\t%" PRIu64 "\t%" PRIu32 "\t%s\t%s\n", o->seen, found, site->class_name,
	       frame);
}

static void write_site(struct job *j, uint32_t group)
{
	const struct lc_holder_names names = lc_holder_walk_names(&j->walk);
	const uint32_t site = j->objects.sites[group].site;
	struct lc_holder_chain chains[LOOKED_AT];
	char text[LC_HOLDER_TEXT_MAX];
	size_t len;
	uint32_t rest = find_chains(j, group, chains, &len);

	if (!j->answer)
		note_held(j, group);
	else if (rest)
		append_site(j, group, rest);
	for (size_t i = 0; i < len && i < LC_HOLDER_CHAINS_SHOWN; i++) {
		lc_holder_chain_text(&chains[i], &names, text, sizeof(text));
		rest -= chains[i].count;
		if (j->answer)
			append(j, "chain\t%" PRIu32 "\t%s\n", chains[i].count, text);
		else
			lc_live_holders_add(j->time_ns, site, text, chains[i].count);
	}
	if (rest && j->answer)
		append(j, "other\t%" PRIu32 "\n", rest);
	else if (rest)
		lc_live_holders_add(j->time_ns, site, "", rest);
}

static void append_walk(struct job *j)
{
	char line[LC_HOLDER_WALK_LINE_MAX];

	lc_holder_walk_line(&j->walk, line);
	append(j, "%s\n", line);
}

/* Are arrays of bytes looked for? The walk then follows strings, too. */
static bool looks_for_bytes(const struct lc_live_objects *o)
{
	bool bytes = false;

	for (size_t i = 0; i < o->len; i++)
		bytes |= !strcmp(lc_site_get(o->sites[i].site)->class_name, "byte[]");
	return bytes;
}

static bool walk(struct job *j, JNIEnv *jni)
{
	struct lc_holder_walk *w = &j->walk;

	lc_live_objects_sites(&j->objects, j->pattern);
	if (j->answer && j->objects.len > SITES_SHOWN)
		j->objects.len = SITES_SHOWN;
	if (!lc_holder_walk_begin(w, j->vm, jni, j->pause_ns, j->bytes))
		return false;
	lc_holder_walk_want(w, NULL, looks_for_bytes(&j->objects));
	return lc_holder_walk_run(w, choose, j);
}

static void work(JNIEnv *jni, void *context)
{
	struct job *j = context;

	j->time_ns = lc_time_now_ns();
	lc_estimate_keep(true);
	j->done = walk(j, jni);
	lc_estimate_keep(false);
	if (j->done && j->answer)
		append_walk(j);
	for (uint32_t i = 0; i < j->objects.len && j->done; i++)
		write_site(j, i);
	lc_holder_walk_end(&j->walk);
}

/* ---- the thread that asks ---- */

/*
 * Have the attribution thread walk the heap. Returns the job, done or failed, to be freed with
 * free_job(); NULL if it was not begun, or has not ended in time.
 */
static struct job *ask(JavaVM *vm, uint64_t pause_ns, uint64_t bytes, const char *pattern)
{
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->vm = vm;
	j->pause_ns = pause_ns;
	j->bytes = bytes;
	if (pattern)
		j->answer = calloc(1, ANSWER_MAX);
	snprintf(j->pattern, sizeof(j->pattern), "%s", pattern ? pattern : "");
	if (pattern && !j->answer) {
		free(j);
		return NULL;
	}
	return lc_ask(work, j, pause_ns + LC_ENDING_MS * MS) ? j : NULL;
}

static void free_job(struct job *j)
{
	free(j->answer);
	free(j);
}

bool lc_holder_sites_record(JavaVM *vm, uint64_t pause_ns, bool ends)
{
	struct job *j = ask(vm, pause_ns, 0, NULL);
	const bool done = j && j->done;
	const char *error = j ? j->walk.error : "Locus's thread does not answer";

	if (!done && ends)
		lc_limit_reached("holders", "--holders: %s", error);
	else if (!done)
		lc_say("--holders: %s", error);
	else if (j->walk.stopped)
		lc_limit_reached(
		    "holders_partial",
		    "the walk of the heap for --holders ended at %s, before it had seen "
		    "all: objects may lack what holds them",
		    j->walk.stopped);
	if (done && j->walk.virtual_threads.not_followed)
		lc_limit_reached(
		    "holders_virtual",
		    "the walk of the heap for --holders did not follow %" PRIu64
		    " virtual threads, so objects may lack what holds them; a longer --max-pause "
		    "follows more",
		    j->walk.virtual_threads.not_followed);
	if (j)
		free_job(j);
	return done;
}

bool lc_holder_sites_answer(JavaVM *vm, uint64_t pause_ns, uint64_t bytes, const char *pattern)
{
	struct job *j;
	bool done;

	if (!lc_agent_records()) {
		lc_say("this JVM is not being recorded, so Locus does not know which line has "
		       "allocated an object; name a class");
		return false;
	}
	j = ask(vm, pause_ns, bytes, pattern);
	done = j && j->done;
	if (!done)
		lc_say("%s", j ? j->walk.error : "Locus's thread does not answer");
	for (char *line = done ? j->answer : NULL, *end; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		*end = '\0';
		lc_say_answer("%s", line);
	}
	if (j)
		free_job(j);
	return done;
}
