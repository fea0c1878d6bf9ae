/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/tracked.c - tells whether an object is of a class of --track.
 *
 * Order: a hook stores `least_bytes` before it logs an object of that size, and reads the GC
 * sequence behind both. A collection raises the sequence before it reads `least_bytes`, so its log
 * has the copies of each object that a hook has logged for it (heap/hook.c).
 *        S1  lc_tracked_add() stores `now` (release) behind all of the set -> now() loads it
 *            (acquire). An answer has its set's number, so no answer of an earlier set is used.
 */
#include "src/heap/tracked.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/nearest.h"
#include "src/base/say.h"
#include "src/base/track.h"
#include "src/core/jvmti.h"
#include "src/core/record.h"

enum { ANSWERS = 1024, NAME_MAX_LEN = 256 };

/* A list of patterns, which never changes. A list that was replaced stays: threads may read it. */
struct set {
	struct lc_track track;
	uint32_t number; /* from 1 */
};

static struct {
	_Atomic(const struct set *) now; /* NULL: no class is tracked */
	size_t given;                    /* the patterns of the options; the first ones */
	bool hot;                        /* classes are chosen while the program runs */
	_Atomic uint64_t least_bytes;    /* of a tracked object that is copied by memcpy */
	/* The number of the set << 33 | a class's key << 1 | whether it is tracked; 0: none. */
	_Atomic uint64_t answers[ANSWERS];
} tracked;

/* Sizes of objects and arrays below this are not logged: their new address is in their header. */
static const uint64_t logged_bytes = LC_MOVE_INLINE_BYTES + 8;

static const struct set *now(void)
{
	return atomic_load_explicit(&tracked.now, memory_order_acquire); /* S1 */
}

/* The next set. *beyond patterns of the list are left out. NULL without memory. */
static struct set *make(const char *patterns, size_t *beyond)
{
	struct set *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	*beyond = lc_track_parse(patterns, &s->track);
	s->number = now() ? now()->number + 1 : 1;
	return s;
}

static bool has_arrays(const struct lc_track *t)
{
	return lc_track_references(t) || lc_track_primitives(t) ||
	       lc_track_matches(t, lc_track_written("java.lang.String"));
}

static void use(const struct set *s)
{
	/* Compiled hooks log arrays of any length. */
	if (has_arrays(&s->track))
		atomic_store(&tracked.least_bytes, logged_bytes);
	atomic_store_explicit(&tracked.now, s, memory_order_release); /* S1 */
}

void lc_tracked_init(const char *patterns, bool follow)
{
	size_t beyond = 0;
	struct set *s = make(patterns, &beyond);

	tracked.hot = lc_track_has_hot(patterns);
	tracked.given = s ? s->track.len : 0;
	atomic_store(&tracked.least_bytes, UINT64_MAX);
	atomic_store_explicit(&tracked.now, NULL, memory_order_relaxed);
	for (size_t i = 0; i < ANSWERS; i++)
		atomic_store_explicit(&tracked.answers[i], 0, memory_order_relaxed);
	if (tracked.given)
		use(s);
	else
		free(s);
	if (beyond)
		lc_say("--track: only the first %d patterns are used; %zu are left out",
		       (int)LC_TRACK_MAX, beyond);
	if (lc_tracked_any() && !follow)
		lc_say("this JVM's collector moves small objects unseen: objects of --track are "
		       "counted by line, but samples in small ones name only classes");
}

const struct lc_track *lc_tracked(void)
{
	const struct set *s = now();

	return s ? &s->track : NULL;
}

bool lc_tracked_hot(void)
{
	return tracked.hot;
}

bool lc_tracked_any(void)
{
	return tracked.hot || now();
}

const struct lc_track *lc_tracked_add(const char *names)
{
	const struct set *before = now();
	char list[LC_TRACK_TEXT_MAX];
	size_t beyond = 0;
	struct set *s;

	if ((size_t)snprintf(list, sizeof(list), "%s%s%s", before ? before->track.text : "",
	                     before ? ";" : "", names) >= sizeof(list))
		return NULL;
	s = make(list, &beyond);
	if (s)
		use(s);
	return s ? &s->track : NULL;
}

void lc_tracked_give_up(void)
{
	if (lc_tracked_any())
		lc_say("--track: cannot tell what `new` makes in this JVM: no class is tracked");
	tracked.hot = false;
	tracked.given = 0;
	atomic_store_explicit(&tracked.now, NULL, memory_order_relaxed);
}

bool lc_tracked_arrays(void)
{
	return tracked.hot || has_arrays(lc_tracked());
}

static bool is_tracked(const struct set *s, jclass class)
{
	char *signature = NULL;
	bool is;

	if (!s || (*lc_jvmti())->GetClassSignature(lc_jvmti(), class, &signature, NULL))
		return false;
	is = lc_track_matches(&s->track, lc_track_signature(signature));
	(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)signature);
	return is;
}

bool lc_tracked_class(jclass class)
{
	return is_tracked(now(), class);
}

bool lc_tracked_object(JNIEnv *jni, jobject o, uint32_t class_key)
{
	_Atomic uint64_t *answer = &tracked.answers[lc_hash(class_key) >> 32 & (ANSWERS - 1)];
	const uint64_t known = atomic_load_explicit(answer, memory_order_relaxed);
	const struct set *s = now();
	uint64_t question;
	jclass class;
	bool is;

	if (!s)
		return false;
	question = (uint64_t)s->number << 32 | class_key;
	if (class_key && known >> 1 == question)
		return known & 1;
	class = (*jni)->GetObjectClass(jni, o);
	is = is_tracked(s, class);
	(*jni)->DeleteLocalRef(jni, class);
	if (class_key) /* one word: each reader sees a whole answer */
		atomic_store_explicit(answer, question << 1 | is, memory_order_relaxed);
	return is;
}

void lc_tracked_note_bytes(uint64_t bytes)
{
	uint64_t least = atomic_load_explicit(&tracked.least_bytes, memory_order_relaxed);

	while (bytes >= logged_bytes && bytes < least &&
	       !atomic_compare_exchange_weak(&tracked.least_bytes, &least, bytes))
		;
}

uint64_t lc_tracked_least_bytes(uint64_t min_size_bytes)
{
	const uint64_t least = now() ? atomic_load(&tracked.least_bytes) : UINT64_MAX;

	return least < min_size_bytes ? least : min_size_bytes;
}

/* The report's name of the class of that signature. */
static void write_name(const char *signature, char *out, size_t out_len)
{
	const struct lc_track_class c = lc_track_signature(signature);
	int len = snprintf(out, out_len, "%.*s", (int)c.len, c.name);

	for (char *at = out; *at; at++)
		if (*at == '/')
			*at = '.';
	for (unsigned i = 0; i < c.dimensions && len > 0 && (size_t)len < out_len; i++)
		len += snprintf(out + len, out_len - (size_t)len, "[]");
}

/* The last part of the name of a class: "Entry" of "java.util.HashMap$Entry[]". */
static const char *last_part(const char *name)
{
	for (const char *at = name; *at; at++)
		if ((*at == '.' || *at == '$') && at[1])
			name = at + 1;
	return name;
}

struct names {
	char **list;
	size_t len;
};

/* The class that was most likely meant: of that last part, or with a name that is near. */
static const char *nearest(const struct names *names, const char *pattern)
{
	const char *last = last_part(pattern);

	for (size_t i = 0; i < names->len; i++)
		if (!strcmp(last_part(names->list[i]), last))
			return names->list[i];
	return lc_nearest(pattern, (const char *const *)names->list, names->len);
}

static void say_unmatched(const struct lc_track_pattern *p, const struct names *names)
{
	char text[NAME_MAX_LEN + 64], hint[NAME_MAX_LEN + 32] = "";
	const char *near;
	int len = snprintf(text, sizeof(text), "%.*s", (int)p->len, p->name);

	for (unsigned i = 0; i < p->dimensions && len > 0 && (size_t)len < sizeof(text); i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "[]");
	near = nearest(names, text);
	if (near)
		snprintf(hint, sizeof(hint), "; did you mean %s?", near);
	lc_say("--track: no class named '%s' was loaded%s", text, hint);
}

/* The names of the loaded classes; *matched gets a bit for each pattern that matches one. */
static struct names read_names(const jclass *loaded, jint len, uint64_t *matched)
{
	struct names names = { .list = calloc((size_t)len + 1, sizeof(char *)) };
	char name[NAME_MAX_LEN], *signature = NULL;

	for (jint i = 0; i < len; i++) {
		int pattern;

		if ((*lc_jvmti())->GetClassSignature(lc_jvmti(), loaded[i], &signature, NULL))
			continue;
		pattern = lc_track_find(lc_tracked(), lc_track_signature(signature));
		if (pattern >= 0)
			*matched |= UINT64_C(1) << pattern;
		write_name(signature, name, sizeof(name));
		(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)signature);
		if (names.list && (names.list[names.len] = strdup(name)))
			names.len++;
	}
	return names;
}

void lc_tracked_say_unmatched(JNIEnv *jni)
{
	uint64_t matched = 0;
	struct names names;
	jclass *loaded;
	jint len = 0;

	if (!tracked.given) /* a class that was chosen has had objects */
		return;
	loaded = lc_jvmti_loaded(jni, &len);
	if (!loaded)
		return;
	names = read_names(loaded, len, &matched);
	lc_jvmti_loaded_end(jni, loaded);
	for (size_t i = 0; i < tracked.given; i++)
		if (!(matched >> i & 1))
			say_unmatched(&lc_tracked()->patterns[i], &names);
	for (size_t i = 0; i < names.len; i++)
		free(names.list[i]);
	free(names.list);
}
