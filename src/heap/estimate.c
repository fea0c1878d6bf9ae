/*
 * heap/estimate.c - takes JVMTI's sampled allocations, and holds weak references to their objects.
 *
 * Counts and bytes come from every event. References are kept in a table of fixed size. When it is
 * full, a coin is tossed for each live reference: half of them are given up, the others stand for
 * twice as many objects, and new references are kept with half the chance.
 *
 * Locks: `lock` for the table and for what was sampled since the last flush. Never held across a
 * call into the JVM: in a pause a thread in an event runs on, so gc_finish() waits for it only
 * shortly. No lock is held when the lock of the thread list is taken. Order: an event notes `epoch`
 * and `collections` before it makes its reference, and reads the reference's slot under the lock. A
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
#include "src/core/path.h"
#include "src/core/thread.h"
#include "src/heap/estimate_impl.h"
#include "src/jvm/collector.h"
#include "src/jvm/handle.h"
#include "src/jvm/header.h"
#include "src/jvm/layout.h"

enum { SHIFT_MAX = 40 };

static struct lc_estimate_table sample = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct lc_estimate_table *lc_estimate_table(void)
{
	return &sample;
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
	sample.collections_counter = lc_collector_count();
	sample.counted = sample.collections_counter ? *sample.collections_counter : 0;
	sample.epoch = sample.closed = lc_epoch_now();
	sample.random = lc_time_now_ns() | 1;
	/* Pages of these arrays take no memory until they are touched. */
	sample.entries = calloc(LC_ESTIMATE_ENTRIES_MAX, sizeof(*sample.entries));
	sample.objects = calloc(LC_ESTIMATE_ENTRIES_MAX, sizeof(*sample.objects));
	sample.released = calloc(LC_ESTIMATE_ENTRIES_MAX, sizeof(*sample.released));
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

void lc_estimate_destroy(void)
{
	atomic_store_explicit(&sample.enabled, false, memory_order_release);
	free(sample.entries);
	free(sample.objects);
	free(sample.released);
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
	memset(sample.classes, 0, sizeof(sample.classes));
}

/* The table, under the lock */

/* A fair coin: the top bit of xorshift64*. */
static bool toss(void)
{
	sample.random ^= sample.random >> 12;
	sample.random ^= sample.random << 25;
	sample.random ^= sample.random >> 27;
	return sample.random * UINT64_C(0x2545f4914f6cdd1d) >> 63;
}

static bool chosen(uint8_t shift)
{
	while (shift && toss())
		shift--;
	return !shift;
}

/*
 * Move about half of the live entries to `out`, which has room for LC_ESTIMATE_LIVE_MAX. Returns
 * how many.
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

/*
 * The class word if it was read before in this epoch, or 0. Reading a header costs a system call.
 */
static uint64_t known_word(uint64_t mirror, uint32_t sequence)
{
	const struct lc_estimate_class *c = class_slot(mirror);
	uint64_t word = 0;

	pthread_mutex_lock(&sample.lock);
	if (c->mirror == mirror && c->sequence == sequence)
		word = c->word;
	pthread_mutex_unlock(&sample.lock);
	return word;
}

static void learn_word(uint64_t mirror, uint32_t sequence, uint64_t word)
{
	pthread_mutex_lock(&sample.lock);
	*class_slot(mirror) = (struct lc_estimate_class){ mirror, word, sequence };
	pthread_mutex_unlock(&sample.lock);
}

/* Read the class word in the header of `o`; 0 if collections keep getting in between. */
static uint64_t class_word(JNIEnv *jni, jobject o, jclass class)
{
	for (unsigned attempt = 0; attempt < 8; attempt++) {
		uint32_t before = lc_gc_sequence();
		struct lc_header h;
		uint64_t mirror, word;

		if (lc_gc_sequence_moving(before)) {
			/* A call into the JVM returns only when the collection has ended. */
			(*jni)->DeleteLocalRef(jni, (*jni)->GetObjectClass(jni, o));
			continue;
		}
		mirror = lc_handle_address(class);
		word = known_word(mirror, before);
		if (!word && !lc_header_read(lc_layout(), lc_handle_address(o), &h))
			word = h.class_word;
		if (lc_gc_sequence() != before)
			continue;
		if (word)
			learn_word(mirror, before, word);
		return word;
	}
	return 0;
}

/* The path of the allocation; its leaf is the method whose bytecode `new` runs. */
static uint32_t walk(jvmtiEnv *jvmti, JNIEnv *jni)
{
	jint cap = (jint)sample.config.depth, len = 0;
	jvmtiFrameInfo *frames = malloc((size_t)cap * (sizeof(*frames) + sizeof(uint64_t)) + 1);
	uint64_t *packed;
	uint32_t path = 0;

	if (!frames)
		return 0;
	packed = (uint64_t *)(frames + cap);
	if (!(*jvmti)->GetStackTrace(jvmti, NULL, 0, cap, frames, &len) && len > 0) {
		for (jint i = 0; i < len; i++)
			packed[i] = lc_frame_pack(frames[i].method, (int)frames[i].location);
		path = lc_path_intern(jni, packed, (size_t)len);
	}
	free(frames);
	return path;
}

/*
 * Find the sites of an object: by its path or, without a path, by its class. False if there is
 * none.
 */
static bool find_sites(jvmtiEnv *jvmti, JNIEnv *jni, jobject object, jclass class,
                       struct lc_estimate_entry *e)
{
	uint64_t word = sample.config.follow ? class_word(jni, object, class) : 0;
	char *signature = NULL;

	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return false;
	e->object.class_site = lc_site_intern(signature, word, 0);
	e->object.site = lc_site_intern(signature, word, walk(jvmti, jni));
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	return e->object.class_site && e->object.site;
}

/* Count the object of *e among those sampled. Under the lock. Returns false without memory. */
static bool add_to_sums(const struct lc_estimate_entry *e)
{
	struct lc_estimate_sum *x = lc_estimate_sum_of(&sample.sums, e->thread, e->object.site);

	if (x)
		lc_estimate_sum_add(
		    x, e->size_bytes,
		    lc_estimate_chance(e->size_bytes, sample.config.interval_bytes));
	return x;
}

enum held { HELD, NO_ROOM, GIVEN_UP };

/* Put *e, which has a reference, in the table. Under the lock. */
static enum held insert(struct lc_estimate_entry *e)
{
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

/* Make room, and delete the references given up: this thread is attached, and holds no lock. */
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

void JNICALL lc_estimate_event(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                               jclass class, jlong size)
{
	struct lc_thread *t;
	struct lc_estimate_entry e = { .size_bytes = (uint32_t)size,
		                       .object.died = LC_SPLIT_ALIVE };
	bool known, counted, keep;

	(void)thread;
	if (!lc_estimate_enabled() || lc_thread_is_ours() || size <= 0)
		return;
	if ((uint64_t)size >= sample.config.min_size_bytes) {
		pthread_mutex_lock(&sample.lock);
		sample.stats.tracked++;
		pthread_mutex_unlock(&sample.lock);
		return;
	}
	pthread_mutex_lock(&sample.lock);
	e.object.born = sample.epoch;
	e.since = sample.collections;
	pthread_mutex_unlock(&sample.lock);
	t = lc_thread_self();
	if (!t)
		t = lc_thread_enter(jni);
	known = t && find_sites(jvmti, jni, object, class, &e);
	e.thread = t ? t->index : 0;
	pthread_mutex_lock(&sample.lock);
	counted = known && add_to_sums(&e);
	e.shift = sample.shift;
	keep = counted && chosen(e.shift);
	sample.stats.sampled += counted;
	sample.stats.lost += !counted;
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

void lc_estimate_gc_finish(uint32_t epoch)
{
	uint64_t begin_ns;

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
		memmove(&e->object.address[1], &e->object.address[0],
		        sizeof(e->object.address) - sizeof(e->object.address[0]));
		e->object.address[0] = address;
		e->survived = sample.collections - e->since;
	}
	if (sample.shift && sample.live < LC_ESTIMATE_LIVE_MAX / 4)
		sample.shift--;
	sample.stats.gc_ns += lc_time_now_ns() - begin_ns;
	pthread_mutex_unlock(&sample.lock);
}

void lc_estimate_stats(struct lc_estimate_stats *out)
{
	struct lc_estimate_table *t = lc_estimate_table();

	pthread_mutex_lock(&t->lock);
	*out = t->stats;
	out->live = t->live;
	pthread_mutex_unlock(&t->lock);
}

static const struct lc_counter_row counter_rows[] = {
	LC_COUNTER(struct lc_estimate_stats, sampled, "estimate_sampled"),
	LC_COUNTER(struct lc_estimate_stats, tracked, "estimate_tracked"),
	LC_COUNTER(struct lc_estimate_stats, lost, "estimate_lost"),
	LC_COUNTER(struct lc_estimate_stats, unheld, "estimate_unheld"),
	LC_COUNTER(struct lc_estimate_stats, live, "estimate_live"),
	LC_COUNTER(struct lc_estimate_stats, live_peak, "estimate_live_peak"),
	LC_COUNTER(struct lc_estimate_stats, thinned, "estimate_thinned"),
	LC_COUNTER(struct lc_estimate_stats, unsplit, "estimate_unsplit"),
	LC_COUNTER_US(struct lc_estimate_stats, gc_ns, "estimate_gc_us"),
	LC_COUNTER(struct lc_estimate_stats, gc_slots, "estimate_gc_references"),
};

void lc_estimate_counters(struct lc_counters *out)
{
	struct lc_estimate_stats s = { 0 };

	if (!lc_estimate_enabled())
		return;
	lc_estimate_stats(&s);
	LC_COUNTERS_ADD(out, counter_rows, &s);
}
