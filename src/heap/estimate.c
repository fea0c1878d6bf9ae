/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/estimate.c - handles JVMTI's sampled allocations, and holds weak references to the objects.
 *
 * Every event counts for objects and bytes. A table of fixed size keeps the references. When it is
 * full, a coin is tossed for each live reference: half of them are given up, the others stand for
 * twice as many objects, and new references are kept with half the chance.
 *
 * Locks: `lock` guards the table and the sums since the last flush. It is never held across a call
 * into the JVM: in a pause a thread in an event runs on, so gc_finish() waits for it only shortly.
 * No lock is held when the lock of the thread list is taken. Order: an event notes `epoch` and
 * `collections` before it makes its reference, and reads the reference's slot under the lock. A
 * collection in between has then updated the slot, and one that is running will read it, so no
 * address in the table is older than its epoch.
 */
#include "src/heap/estimate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/time.h"
#include "src/core/counters.h"
#include "src/core/epoch.h"
#include "src/core/jvmti.h"
#include "src/core/memory.h"
#include "src/core/path.h"
#include "src/core/thread.h"
#include "src/heap/estimate_impl.h"
#include "src/heap/estimate_path.h"
#include "src/heap/tracked.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/header.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/os/handle.h"

enum { SHIFT_MAX = 40 };

static struct lc_estimate_table sample = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct lc_estimate_table *lc_estimate_table(void)
{
	return &sample;
}

/*
 * Pages of these arrays take no memory until they are touched, and most never are: the memory limit
 * counts an eighth of them.
 */
static void *array_create(size_t element_bytes)
{
	void *array = calloc(LC_ESTIMATE_ENTRIES_MAX, element_bytes);

	if (array)
		lc_memory_add(-(int64_t)(element_bytes * LC_ESTIMATE_ENTRIES_MAX / 8 * 7));
	return array;
}

static void array_free(void *array, size_t element_bytes)
{
	if (array)
		lc_memory_add((int64_t)(element_bytes * LC_ESTIMATE_ENTRIES_MAX / 8 * 7));
	free(array);
}

int lc_estimate_init(const struct lc_estimate_config *config)
{
	if (!config->interval_bytes || !config->min_size_bytes)
		return 0;
	if (config->interval_bytes > INT32_MAX)
		return -ERANGE;
	if ((*lc_jvmti())->SetHeapSamplingInterval(lc_jvmti(), (jint)config->interval_bytes))
		return -ENOTSUP;
	sample.config = *config;
	lc_pace_begin(&sample.pace, config->interval_bytes, config->least_bytes, lc_time_now_ns());
	if (config->audit)
		lc_estimate_path_audit();
	sample.collections_counter = lc_collector_count();
	sample.counted = sample.collections_counter ? *sample.collections_counter : 0;
	sample.epoch = sample.closed = lc_epoch_now();
	lc_jitter_begin(&sample.coin, lc_jitter_seed(0));
	if (config->jitter)
		lc_jitter_begin(&sample.jitter, lc_jitter_seed(1));
	sample.entries = array_create(sizeof(*sample.entries));
	sample.objects = array_create(sizeof(*sample.objects));
	sample.released = array_create(sizeof(*sample.released));
	sample.split = lc_split_create();
	if (!sample.entries || !sample.objects || !sample.released || !sample.split) {
		lc_estimate_destroy();
		return -ENOMEM;
	}
	atomic_store_explicit(&sample.enabled, true, memory_order_release);
	return 0;
}

bool lc_estimate_enabled(void)
{
	return atomic_load_explicit(&sample.enabled, memory_order_acquire);
}

void lc_estimate_stop(JNIEnv *jni)
{
	struct lc_estimate_entry *entries = sample.entries;
	size_t len;

	if (!atomic_exchange(&sample.enabled, false))
		return;
	pthread_mutex_lock(&sample.lock);
	len = sample.len;
	sample.entries = NULL; /* an event that has begun keeps no reference: insert() */
	sample.len = sample.live = 0;
	pthread_mutex_unlock(&sample.lock);
	for (size_t i = 0; i < len; i++)
		if (entries[i].ref)
			(*jni)->DeleteWeakGlobalRef(jni, entries[i].ref);
	array_free(entries, sizeof(*entries));
}

void lc_estimate_destroy(void)
{
	atomic_store_explicit(&sample.enabled, false, memory_order_release);
	array_free(sample.entries, sizeof(*sample.entries));
	array_free(sample.objects, sizeof(*sample.objects));
	array_free(sample.released, sizeof(*sample.released));
	lc_estimate_sums_free(&sample.sums);
	free(sample.areas);
	lc_split_destroy(sample.split);
	sample.entries = sample.released = NULL;
	sample.objects = NULL;
	sample.areas = NULL;
	sample.split = NULL;
	sample.stats = (struct lc_estimate_stats){ 0 };
	sample.len = sample.live = sample.areas_len = 0;
	sample.collections = 0;
	sample.shift = 0;
	sample.pacing = false;
	sample.jitter = (struct lc_jitter){ 0 };
	memset(sample.classes, 0, sizeof(sample.classes));
}

/* The table, under the lock */

/* A fair coin. */
static bool toss(void)
{
	return lc_jitter_below(&sample.coin, 2);
}

static bool chosen(uint8_t shift)
{
	while (shift && toss())
		shift--;
	return !shift;
}

/*
 * Move about half of the live entries to `out`, which has room for LC_ESTIMATE_LIVE_MAX. Returns
 * their number.
 */
static size_t thin(jweak *out)
{
	size_t kept = 0, given_up = 0;

	for (size_t i = 0; i < sample.len; i++) {
		struct lc_estimate_entry *e = &sample.entries[i];

		if (lc_estimate_alive(e) && toss()) {
			out[given_up++] = e->ref;
			continue;
		}
		if (lc_estimate_alive(e))
			e->shift++;
		sample.entries[kept++] = *e;
	}
	sample.len = kept;
	sample.live -= given_up;
	sample.shift++;
	sample.stats.thinned++;
	return given_up;
}

static bool full(void)
{
	return sample.live >= LC_ESTIMATE_LIVE_MAX || sample.len >= LC_ESTIMATE_ENTRIES_MAX;
}

/* The events */

static struct lc_estimate_class *class_slot(uint64_t mirror)
{
	return &sample.classes[lc_hash(mirror >> 3) >> 56];
}

/* The cached class in this epoch; all 0 if there is none. The cache saves calls. */
static struct lc_estimate_class known_class(uint64_t mirror, uint32_t sequence)
{
	struct lc_estimate_class c;

	pthread_mutex_lock(&sample.lock);
	c = *class_slot(mirror);
	pthread_mutex_unlock(&sample.lock);
	return c.mirror == mirror && c.sequence == sequence ? c : (struct lc_estimate_class){ 0 };
}

static void learn_class(const struct lc_estimate_class *c)
{
	pthread_mutex_lock(&sample.lock);
	*class_slot(c->mirror) = *c;
	pthread_mutex_unlock(&sample.lock);
}

/* The site that stands for the class; 0 if there is none. */
static uint32_t class_site(jvmtiEnv *jvmti, jclass class, uint64_t word)
{
	char *signature = NULL;
	uint32_t site;

	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return 0;
	site = lc_site_intern(signature, word, 0);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	return site;
}

/*
 * The class of `o`, by the word in its header. The word is 0 if collections keep getting in
 * between, or if objects are not followed.
 */
static struct lc_estimate_class look_at_class(jvmtiEnv *jvmti, JNIEnv *jni, jobject o, jclass class)
{
	struct lc_estimate_class c = { 0 };

	for (unsigned attempt = 0; sample.config.follow && attempt < 8; attempt++) {
		uint32_t before = lc_epoch_gc_sequence();
		struct lc_header h;
		uint64_t mirror;

		if (lc_epoch_gc_sequence_moving(before)) {
			/* A call into the JVM returns only when the collection has ended. */
			(*jni)->DeleteLocalRef(jni, (*jni)->GetObjectClass(jni, o));
			continue;
		}
		mirror = lc_handle_address(class);
		c = known_class(mirror, before);
		if (!c.word && !lc_header_read(lc_layout(), lc_handle_address(o), &h))
			c = (struct lc_estimate_class){ mirror, h.class_word, before, 0 };
		if (lc_epoch_gc_sequence() == before)
			break;
		c = (struct lc_estimate_class){ 0 };
	}
	if (!c.site) {
		c.site = class_site(jvmti, class, c.word);
		if (c.site && c.word)
			learn_class(&c);
	}
	return c;
}

/*
 * Find the sites of an object: by its path or, without a path, by its class. Returns false without
 * a site.
 */
static bool find_sites(jvmtiEnv *jvmti, JNIEnv *jni, struct lc_thread *t, jobject object,
                       jclass class, struct lc_estimate_entry *e)
{
	const struct lc_estimate_class c = look_at_class(jvmti, jni, object, class);
	const struct lc_estimate_kind kind = { .word = c.word, .site = c.site, .class = class };

	if (!c.site)
		return false;
	e->object.class_site = c.site;
	e->object.site = lc_estimate_path_site(jni, t, &kind, (uint32_t)sample.config.depth);
	return e->object.site;
}

/* Add the object of *e to the sums. Under the lock. Returns false without memory. */
static bool add_to_sums(const struct lc_estimate_entry *e)
{
	struct lc_estimate_sum *x = lc_estimate_sum_of(&sample.sums, e->thread, e->object.site);

	if (x)
		lc_estimate_sum_add(x, e->size_bytes, e->object.chance);
	return x;
}

enum held { HELD, NO_ROOM, GIVEN_UP };

/* Put *e, which has a reference, into the table. Under the lock. */
static enum held insert(struct lc_estimate_entry *e)
{
	if (!sample.entries)
		return GIVEN_UP; /* lc_estimate_stop() */
	if (full())
		return NO_ROOM;
	for (; e->shift < sample.shift; e->shift++) /* the table was thinned since *e was chosen */
		if (toss())
			return GIVEN_UP;
	if (sample.config.follow) {
		e->object.address[0] = lc_handle_address(e->ref);
		e->survived = sample.collections - e->since;
	}
	sample.entries[sample.len++] = *e;
	if (++sample.live > sample.stats.live_peak)
		sample.stats.live_peak = sample.live;
	return HELD;
}

/* Thin the table and delete the references. The thread is attached, and holds no lock. */
static void make_room(JNIEnv *jni)
{
	jweak *refs = malloc(LC_ESTIMATE_LIVE_MAX * sizeof(jweak));
	size_t len = 0;

	if (!refs)
		return;
	pthread_mutex_lock(&sample.lock);
	if (full() && sample.live && !sample.checking && sample.shift < SHIFT_MAX)
		len = thin(refs);
	pthread_mutex_unlock(&sample.lock);
	for (size_t i = 0; i < len; i++)
		(*jni)->DeleteWeakGlobalRef(jni, refs[i]);
	free(refs);
}

/* Hold a reference to the object, if the table has room for it or room can be made. */
static void hold(JNIEnv *jni, jobject object, struct lc_estimate_entry *e)
{
	enum held held = NO_ROOM;

	e->ref = (*jni)->NewWeakGlobalRef(jni, object);
	if (!e->ref)
		(*jni)->ExceptionClear(jni); /* OutOfMemoryError, of this call alone */
	for (unsigned attempt = 0; e->ref && held == NO_ROOM && attempt < 2; attempt++) {
		if (attempt)
			make_room(jni);
		pthread_mutex_lock(&sample.lock);
		held = insert(e);
		pthread_mutex_unlock(&sample.lock);
	}
	if (e->ref && held != HELD)
		(*jni)->DeleteWeakGlobalRef(jni, e->ref);
	if (held == NO_ROOM) {
		pthread_mutex_lock(&sample.lock);
		sample.stats.unheld++;
		pthread_mutex_unlock(&sample.lock);
	}
}

/*
 * The interval that this event of the thread was drawn with. The thread's next event is drawn with
 * the interval in force. Under the lock.
 */
static uint64_t take_interval(struct lc_thread *t)
{
	uint64_t drawn = t->estimate_interval;

	if (!drawn)
		drawn = lc_pace_interval_at(&sample.pace, t->start_ns);
	t->estimate_interval = sample.pace.in_force_bytes;
	return drawn;
}

void lc_estimate_pace(uint64_t drawn_bytes)
{
	const uint64_t now_ns = lc_time_now_ns();
	uint64_t wanted, bytes;
	bool another, change;

	pthread_mutex_lock(&sample.lock);
	wanted = drawn_bytes ? lc_pace_event(&sample.pace, drawn_bytes, now_ns)
	                     : lc_pace_tick(&sample.pace, now_ns);
	another = wanted != lc_pace_interval(&sample.pace);
	change = (another || (drawn_bytes && sample.config.jitter)) && !sample.pacing;
	bytes = change ? lc_pace_jittered(wanted, &sample.jitter) : 0;
	sample.pacing |= change;
	pthread_mutex_unlock(&sample.lock);
	if (!change)
		return;
	change = !(*lc_jvmti())->SetHeapSamplingInterval(lc_jvmti(), (jint)bytes);
	pthread_mutex_lock(&sample.lock);
	if (change) {
		lc_pace_change(&sample.pace, wanted, bytes, lc_time_now_ns());
		sample.stats.paces += another;
	}
	sample.pacing = false;
	pthread_mutex_unlock(&sample.lock);
}

void lc_estimate_stretch(uint32_t stretch)
{
	if (!lc_estimate_enabled())
		return;
	pthread_mutex_lock(&sample.lock);
	sample.pace.stretch = stretch;
	pthread_mutex_unlock(&sample.lock);
	lc_estimate_pace(0);
}

void JNICALL lc_estimate_event(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                               jclass class, jlong size)
{
	struct lc_estimate_entry e = { .size_bytes = (uint64_t)size,
		                       .object.died = LC_SPLIT_ALIVE };
	bool tracked = (uint64_t)size >= sample.config.min_size_bytes;
	struct lc_thread *t;
	uint64_t interval_bytes;
	bool known, counted, keep;

	if (!lc_estimate_enabled() || lc_thread_is_ours() || size <= 0)
		return;
	if (tracked && !sample.config.exact)
		tracked = !lc_estimate_path_unhooked(jvmti, class);
	if (!tracked && lc_tracked())
		tracked = lc_tracked_class(class);
	t = lc_thread_self();
	if (!t)
		t = lc_thread_enter(jni);
	pthread_mutex_lock(&sample.lock);
	interval_bytes = t ? take_interval(t) : lc_pace_interval(&sample.pace);
	sample.stats.tracked += tracked;
	e.object.born = sample.epoch;
	e.since = sample.collections;
	pthread_mutex_unlock(&sample.lock);
	lc_estimate_pace(interval_bytes);
	/* If the map does not know when an object dies, its reference does. */
	if (tracked && sample.config.follow)
		return;
	if (tracked)
		e.told = UINT8_MAX;
	e.object.chance = lc_estimate_chance((uint64_t)size, interval_bytes);
	known = t && find_sites(jvmti, jni, t, object, class, &e);
	e.thread = t ? t->index : 0;
	pthread_mutex_lock(&sample.lock);
	counted = known && (tracked || add_to_sums(&e));
	e.shift = sample.shift;
	keep = counted && chosen(e.shift);
	sample.stats.sampled += counted && !tracked;
	sample.stats.lost += !counted && !tracked;
	pthread_mutex_unlock(&sample.lock);
	if (keep)
		hold(jni, object, &e);
}

void lc_estimate_count_collection(void)
{
	uint32_t counted = sample.collections_counter ? *sample.collections_counter : 0;

	if (sample.collections_counter && counted == sample.counted)
		return;
	sample.counted = counted;
	sample.collections++;
}

static void note_survivor(const struct lc_estimate_entry *e)
{
	const size_t seen = sample.survivors_seen++;
	size_t at = seen;

	if (seen >= LC_ESTIMATE_SURVIVORS)
		at = (lc_hash_add(e->object.address[0], seen) >> 32) % (seen + 1);
	if (at < LC_ESTIMATE_SURVIVORS)
		sample.survivors[at] = (struct lc_estimate_survivor){
			.address = e->object.address[0],
			.size_bytes = e->size_bytes,
			.site = e->object.site,
		};
}

const struct lc_estimate_survivor *lc_estimate_survivors(size_t *len)
{
	*len = sample.survivors_seen < LC_ESTIMATE_SURVIVORS ? sample.survivors_seen
	                                                     : LC_ESTIMATE_SURVIVORS;
	return sample.survivors;
}

void lc_estimate_gc_finish(uint32_t epoch)
{
	uint64_t begin_ns;

	sample.survivors_seen = 0;
	if (!lc_estimate_enabled())
		return;
	if (!sample.config.follow)
		return; /* lc_estimate_flush() asks the JVM instead of reading slots */
	begin_ns = lc_time_now_ns();
	pthread_mutex_lock(&sample.lock);
	lc_estimate_count_collection();
	sample.epoch = epoch + 1;
	for (size_t i = 0; i < sample.len; i++) {
		struct lc_estimate_entry *e = &sample.entries[i];
		const bool young = !e->survived;
		uint64_t address;

		if (!lc_estimate_alive(e))
			continue;
		sample.stats.gc_slots++;
		address = lc_handle_address(e->ref);
		if (!address) {
			e->object.died = e->object.last = epoch;
			sample.live--;
			continue;
		}
		if (address != e->object.address[0] && e->copied < UINT16_MAX)
			e->copied++;
		memmove(&e->object.address[1], &e->object.address[0],
		        sizeof(e->object.address) - sizeof(e->object.address[0]));
		e->object.address[0] = address;
		e->survived = sample.collections - e->since;
		if (young && e->survived)
			note_survivor(e);
	}
	if (sample.shift && sample.live < LC_ESTIMATE_LIVE_MAX / 4)
		sample.shift--;
	sample.stats.gc_ns += lc_time_now_ns() - begin_ns;
	pthread_mutex_unlock(&sample.lock);
}

static struct lc_estimate_stats counted; /* what the rows point to */

static bool read_counters(const struct lc_options *options)
{
	struct lc_estimate_table *t = lc_estimate_table();

	if (!lc_estimate_enabled())
		return false;
	pthread_mutex_lock(&t->lock);
	counted = t->stats;
	counted.live = t->live;
	counted.interval_bytes = lc_pace_interval(&t->pace);
	pthread_mutex_unlock(&t->lock);
	return true;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("estimate_sampled", &counted.sampled),
	LC_COUNTER("estimate_tracked", &counted.tracked),
	LC_COUNTER("estimate_lost", &counted.lost, .limit = "estimates_lost",
	           .text = "there was no memory for some sampled small objects: estimates do not "
	                   "include them"),
	LC_COUNTER("estimate_unheld", &counted.unheld),
	LC_COUNTER("estimate_copies_lost", &counted.copies_lost, .limit = "copies_lost",
	           .text = "there was no memory to count some copies of collections"),
	LC_COUNTER("estimate_live", &counted.live),
	LC_COUNTER("estimate_live_peak", &counted.live_peak),
	LC_COUNTER("estimate_thinned", &counted.thinned),
	LC_COUNTER("estimate_interval", &counted.interval_bytes),
	LC_COUNTER("estimate_interval_changes", &counted.paces),
	LC_COUNTER("estimate_unsplit", &counted.unsplit),
	LC_COUNTER("estimate_gc_us", &counted.gc_ns, .unit = 1000),
	LC_COUNTER("estimate_gc_references", &counted.gc_slots),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = read_counters);
