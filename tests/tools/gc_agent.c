/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/tools/gc_agent.c - checks that the interposer's moves and the heap's layout agree with the
 * JVM.
 *
 * A JVMTI agent that tracks every array of at least 1 KiB twice: by a JNI weak reference, which the
 * collector itself keeps true, and by a map of its own that follows the rules in
 * jvm/layout/areas.h, from moves and areas alone. At each GC finish the two are compared; at exit
 * one line says how often they disagreed. Every other allocation is looked up in the map as well:
 * it must not fall inside an object that the map still holds.
 *
 *   wrong      alive, and the map has it elsewhere or not at all
 *   stale      dead, and the map holds it although its header is another's or its area is gone
 *   overlaps   two objects in one place
 *   covered    a new object inside one that the map holds
 *   leftovers  dead, still as it was, nothing in its place: allowed
 *   scrubbed   dead, in an old region of G1 whose dead objects were overwritten by filler: allowed
 *
 * Options (agent string, comma-separated): mode=audit (default), mode=light (log, seal, read the
 * areas, and throw all away: to measure the pause), mode=off (events only); min=BYTES.
 * The first line gives the CPU time of the thread that posts the events, per pause: Serial does all
 * its work on it.
 */
#include <inttypes.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/core/epoch.h"
#include "src/core/jvmti.h"
#include "src/gc/moves.h"
#include "src/jvm/layout/areas.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/header.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/ranges.h"

enum { TRACKED_MAX = 3000000, AREAS_MAX = 8192 };

struct tracked {
	jweak weak;  /* NULL: free for use */
	uint64_t at; /* where the map has it; 0: it does not */
	uint64_t size;
	struct lc_header header;
};

struct range {
	uint64_t low, high;
};

static enum { MODE_AUDIT, MODE_LIGHT, MODE_OFF } mode;
static size_t min_bytes = 1024;
static jvmtiEnv *jvmti;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held from GC start to finish */
static bool ready;

static struct tracked *tracked;
static size_t tracked_len;
static size_t *vacant; /* entries for reuse */
static size_t vacant_len;
static jweak *dead; /* to delete, outside the pause */
static size_t dead_len;
static struct range *held; /* the map at the last GC, sorted */
static size_t held_len;

static struct lc_area areas[AREAS_MAX];
static size_t areas_len;
static const struct lc_move *moves;
static struct lc_move *by_src;
static size_t moves_len;
static struct range *writes;
static size_t writes_len;

static struct {
	uint64_t gcs, nothing, several, slid, allocations, tracked, checks, moved, stayed, logged;
	uint64_t wrong, stale, covered, leftovers, scrubbed, lost, nested, unpaired, live_max,
	    split, overlaps;
	uint64_t take_ns, seal_ns, begin_ns;
} count;
static bool in_gc;
static uint64_t pause_start_ns, pauses_ns, pauses; /* CPU time */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int compare_src(const void *a, const void *b)
{
	uint64_t x = ((const struct lc_move *)a)->src, y = ((const struct lc_move *)b)->src;

	return (x > y) - (x < y);
}

static int compare_low(const void *a, const void *b)
{
	uint64_t x = ((const struct range *)a)->low, y = ((const struct range *)b)->low;

	return (x > y) - (x < y);
}

/* The first move with src >= addr, or NULL. */
static const struct lc_move *move_from(uint64_t addr)
{
	size_t low = 0, high = moves_len;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (by_src[mid].src < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < moves_len ? &by_src[low] : NULL;
}

/* The last range with low <= addr, or NULL. */
static const struct range *range_at(const struct range *r, size_t len, uint64_t addr)
{
	size_t low = 0, high = len;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (r[mid].low <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &r[low - 1] : NULL;
}

static const struct lc_area *area_of(uint64_t addr)
{
	size_t low = 0, high = areas_len;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (areas[mid].bottom <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low && addr < areas[low - 1].end ? &areas[low - 1] : NULL;
}

/* Sort the moves by source, and their destinations into disjoint ranges. */
static void index_moves(void)
{
	size_t n = 0;

	free(by_src);
	free(writes);
	by_src = malloc(moves_len * sizeof(*by_src) + 1);
	writes = malloc(moves_len * sizeof(*writes) + 1);
	for (size_t i = 0; i < moves_len; i++) {
		by_src[i] = moves[i];
		writes[i] = (struct range){ moves[i].dst, moves[i].dst + moves[i].size_bytes };
	}
	qsort(by_src, moves_len, sizeof(*by_src), compare_src);
	qsort(writes, moves_len, sizeof(*writes), compare_low);
	for (size_t i = 0; i < moves_len; i++) {
		if (n && writes[i].low <= writes[n - 1].high) {
			if (writes[i].high > writes[n - 1].high)
				writes[n - 1].high = writes[i].high;
		} else {
			writes[n++] = writes[i];
		}
	}
	writes_len = n;
}

static bool overwritten(uint64_t low, uint64_t high)
{
	const struct range *r = range_at(writes, writes_len, high - 1);

	return r && r->high > low;
}

static bool fits(const struct lc_area *a, uint64_t low, uint64_t high)
{
	if (!a || a->kind == LC_AREA_FREE || low >= a->top)
		return false;
	return high <= a->top || a->kind == LC_AREA_HUMONGOUS;
}

/* What stays the same in an array's header: its class and its length. */
static struct lc_header header_at(uint64_t addr)
{
	struct lc_header h = { 0 };

	(void)lc_header_read(lc_layout(), addr, &h);
	return h;
}

static bool has_header(uint64_t addr, const struct lc_header *h)
{
	const struct lc_header now = header_at(addr);

	return now.class_word == h->class_word && now.length == h->length;
}

/* The rules of jvm/layout/areas.h. Returns where the object is now, 0 for nowhere. */
static uint64_t follow(const struct tracked *t)
{
	const struct lc_move *m = move_from(t->at);
	const struct lc_area *a;
	const uint64_t low = lc_ranges_heap().low;
	uint64_t to;

	if (m && m->src > t->at &&
	    (m->src > t->at + LC_MOVE_INLINE_BYTES || m->src >= t->at + t->size ||
	     !lc_move_continues(m, low)))
		m = NULL;
	if (m) {
		to = m->dst - (m->src - t->at);
		if (m->src != t->at || m->size_bytes < t->size)
			count.split++;
		return fits(area_of(to), to, to + t->size) ? to : 0;
	}
	a = area_of(t->at);
	if (!fits(a, t->at, t->at + t->size) || overwritten(t->at, t->at + t->size))
		return 0;
	if (a->flags & LC_AREA_COMPACTED && !has_header(t->at, &t->header))
		return 0;
	return t->at;
}

static void complain(const struct tracked *t, const char *what, uint64_t was, uint64_t truth)
{
	const struct lc_area *a = area_of(was), *b = area_of(truth);
	const struct lc_move *m = move_from(was);

	if (count.wrong + count.stale > 20)
		return;
	fprintf(stderr,
	        "gc %" PRIu64 " (%u collections, slid %d): %s: was %" PRIx64 " size %" PRIu64
	        " kind %d, map %" PRIx64 ", JVM %" PRIx64 " kind %d; move %" PRIx64 " -> %" PRIx64
	        " %" PRIu64 " overwritten %d\n",
	        count.gcs, lc_areas_collections(), lc_moves_slid(), what, was, t->size,
	        a ? (int)a->kind : -1, t->at, truth, b ? (int)b->kind : -1, m ? m->src : 0,
	        m ? m->dst : 0, m ? m->size_bytes : 0, overwritten(was, was + t->size));
}

static void check(size_t i)
{
	struct tracked *t = &tracked[i];
	uint64_t truth = *(const uint64_t *)((uintptr_t)t->weak & ~(uintptr_t)7);
	uint64_t was = t->at;
	bool same;

	if (was)
		t->at = follow(t);
	count.checks++;
	if (truth) {
		if (t->at != truth) {
			complain(t, "wrong", was, truth);
			count.wrong++;
			t->at = truth;
		}
		if (t->at == was)
			count.stayed++;
		else
			count.moved++;
		return;
	}
	if (t->at && fits(area_of(t->at), t->at, t->at + t->size)) {
		same = has_header(t->at, &t->header);
		if (same || (lc_collector() == LC_GC_G1 && !lc_moves_slid() &&
		             area_of(t->at)->kind == LC_AREA_OLD)) {
			count.leftovers += same;
			count.scrubbed += !same;
			return; /* the map keeps it, so it is checked again */
		}
	}
	if (t->at) {
		complain(t, "stale", was, 0);
		count.stale++;
	}
	dead[dead_len++] = t->weak;
	t->weak = NULL;
	t->at = 0;
	vacant[vacant_len++] = i;
}

static void JNICALL gc_start(jvmtiEnv *env)
{
	uint64_t t;

	pause_start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (mode == MODE_OFF)
		return;
	pthread_mutex_lock(&lock);
	count.nested += in_gc;
	in_gc = true;
	if (!ready)
		return;
	t = clock_ns(CLOCK_MONOTONIC);
	lc_epoch_enter_gc();
	lc_areas_begin();
	lc_moves_open(lc_ranges_heap().low, lc_ranges_heap().high, min_bytes);
	count.begin_ns += clock_ns(CLOCK_MONOTONIC) - t;
}

static void audit(struct lc_move_batch *b)
{
	size_t live = 0;

	moves = lc_moves_all(b, &moves_len);
	index_moves();
	count.lost += lc_moves_lost(b);
	for (size_t i = 0; i < tracked_len; i++)
		if (tracked[i].weak)
			check(i);
	held_len = 0;
	for (size_t i = 0; i < tracked_len; i++) {
		if (!tracked[i].at)
			continue;
		live++;
		held[held_len++] = (struct range){ tracked[i].at, tracked[i].at + tracked[i].size };
	}
	qsort(held, held_len, sizeof(*held), compare_low);
	for (size_t i = 1; i < held_len; i++)
		if (held[i - 1].high > held[i].low) {
			if (count.overlaps++ < 10)
				fprintf(
				    stderr,
				    "overlap: %" PRIx64 "-%" PRIx64 " %" PRIx64 "-%" PRIx64 "\n",
				    held[i - 1].low, held[i - 1].high, held[i].low, held[i].high);
		}
	if (live > count.live_max)
		count.live_max = live;
}

static void JNICALL gc_finish(jvmtiEnv *env)
{
	struct lc_move_batch *b;
	uint64_t t[3];
	uint32_t collections;

	pauses++;
	if (mode == MODE_OFF)
		goto out;
	count.unpaired += !in_gc;
	in_gc = false;
	if (ready) {
		collections = lc_areas_collections();
		count.gcs++;
		count.nothing += collections == 0;
		count.several += collections > 1;
		count.slid += lc_moves_slid();
		t[0] = clock_ns(CLOCK_MONOTONIC);
		areas_len = lc_areas_take(areas, AREAS_MAX, lc_moves_slid());
		t[1] = clock_ns(CLOCK_MONOTONIC);
		b = lc_moves_seal();
		t[2] = clock_ns(CLOCK_MONOTONIC);
		count.take_ns += t[1] - t[0];
		count.seal_ns += t[2] - t[1];
		count.logged += lc_moves_count(b);
		if (mode == MODE_AUDIT)
			audit(b);
		lc_moves_release(b);
		lc_epoch_leave_gc();
	}
	pthread_mutex_unlock(&lock);
out:
	pauses_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - pause_start_ns;
}

static void delete_dead(JNIEnv *jni)
{
	jweak some[256];
	size_t n = 0;

	pthread_mutex_lock(&lock);
	while (dead_len && n < sizeof(some) / sizeof(some[0]))
		some[n++] = dead[--dead_len];
	pthread_mutex_unlock(&lock);
	while (n)
		(*jni)->DeleteWeakGlobalRef(jni, some[--n]);
}

static bool is_array(JNIEnv *jni, jclass class)
{
	char *signature = NULL;
	bool array;

	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return false;
	array = signature[0] == '[';
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	return array;
}

static void JNICALL allocated(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object,
                              jclass class, jlong size)
{
	bool track = (size_t)size >= min_bytes && is_array(jni, class);
	jweak weak = NULL;
	const struct range *r;
	uint64_t at;
	size_t i;

	if (dead_len)
		delete_dead(jni);
	if (track)
		weak = (*jni)->NewWeakGlobalRef(jni, object);
	pthread_mutex_lock(&lock); /* from here to unlock no collection runs */
	at = *(const uint64_t *)object;
	count.allocations++;
	r = range_at(held, held_len, at);
	if (r && at < r->high) {
		if (count.covered++ < 10)
			fprintf(stderr,
			        "covered: %" PRIx64 " size %ld in %" PRIx64 "-%" PRIx64 "\n", at,
			        (long)size, r->low, r->high);
	}
	if (track && ready && (vacant_len || tracked_len < TRACKED_MAX)) {
		i = vacant_len ? vacant[--vacant_len] : tracked_len++;
		tracked[i] = (struct tracked){ weak, at, (uint64_t)size, header_at(at) };
		count.tracked++;
		weak = NULL;
	}
	pthread_mutex_unlock(&lock);
	if (weak)
		(*jni)->DeleteWeakGlobalRef(jni, weak);
}

static void JNICALL vm_init(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	int areas_err, moves_err = lc_moves_init();

	lc_jvmti_set(env);
	areas_err = lc_layout_find(jni);
	if (!areas_err)
		areas_err = lc_areas_init();
	if (mode == MODE_OFF)
		return;
	lc_epoch_init();
	fprintf(stderr, "gc_agent: %s heap %" PRIx64 "-%" PRIx64 " areas %d moves %d\n",
	        lc_collector_name(), lc_ranges_heap().low, lc_ranges_heap().high, areas_err,
	        moves_err);
	pthread_mutex_lock(&lock);
	ready = !areas_err && !moves_err;
	pthread_mutex_unlock(&lock);
}

static void JNICALL vm_death(jvmtiEnv *env, JNIEnv *jni)
{
	uint64_t n;

	fprintf(stderr, "gc_agent: pauses %" PRIu64 ", CPU ns each %" PRIu64 "\n", pauses,
	        pauses_ns / (pauses ? pauses : 1));
	if (mode == MODE_OFF)
		return;
	pthread_mutex_lock(&lock);
	n = count.gcs ? count.gcs : 1;
	fprintf(stderr,
	        "gc_agent: %s gcs %" PRIu64 " (0 collections %" PRIu64 ", several %" PRIu64
	        ", slid %" PRIu64 ") allocations %" PRIu64 " tracked %" PRIu64 " max %" PRIu64
	        " checks %" PRIu64 " moved %" PRIu64 " stayed %" PRIu64 " split %" PRIu64
	        " logged %" PRIu64 "\n",
	        lc_collector_name(), count.gcs, count.nothing, count.several, count.slid,
	        count.allocations, count.tracked, count.live_max, count.checks, count.moved,
	        count.stayed, count.split, count.logged);
	fprintf(stderr,
	        "gc_agent: wrong %" PRIu64 " stale %" PRIu64 " overlaps %" PRIu64
	        " covered %" PRIu64 " leftovers %" PRIu64 " scrubbed %" PRIu64 " lost %" PRIu64
	        " nested %" PRIu64 " unpaired %" PRIu64 "\n",
	        count.wrong, count.stale, count.overlaps, count.covered, count.leftovers,
	        count.scrubbed, count.lost, count.nested, count.unpaired);
	fprintf(stderr,
	        "gc_agent: ns per gc: begin %" PRIu64 " take %" PRIu64 " seal %" PRIu64
	        "; areas %zu\n",
	        count.begin_ns / n, count.take_ns / n, count.seal_ns / n, areas_len);
	ready = false;
	pthread_mutex_unlock(&lock);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiCapabilities can = { .can_generate_garbage_collection_events = 1 };
	jvmtiEventCallbacks on = { .GarbageCollectionStart = gc_start,
		                   .GarbageCollectionFinish = gc_finish,
		                   .VMInit = vm_init,
		                   .VMDeath = vm_death };
	int events[] = { JVMTI_EVENT_GARBAGE_COLLECTION_START,
		         JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, JVMTI_EVENT_VM_INIT,
		         JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC };
	size_t events_len = 4;
	const char *min = options ? strstr(options, "min=") : NULL;

	if (options && strstr(options, "mode=light"))
		mode = MODE_LIGHT;
	if (options && strstr(options, "mode=off"))
		mode = MODE_OFF;
	if (min)
		min_bytes = strtoul(min + 4, NULL, 0);
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11))
		return JNI_ERR;
	if (mode == MODE_AUDIT) {
		tracked = calloc(TRACKED_MAX, sizeof(*tracked));
		vacant = calloc(TRACKED_MAX, sizeof(*vacant));
		dead = calloc(TRACKED_MAX * 2, sizeof(jweak));
		held = calloc(TRACKED_MAX, sizeof(*held));
		if (!tracked || !vacant || !dead || !held)
			return JNI_ERR;
		can.can_generate_sampled_object_alloc_events = 1;
		on.SampledObjectAlloc = allocated;
		events_len = 5;
	}
	if ((*jvmti)->AddCapabilities(jvmti, &can) ||
	    (*jvmti)->SetEventCallbacks(jvmti, &on, sizeof(on)))
		return JNI_ERR;
	if (mode == MODE_AUDIT && (*jvmti)->SetHeapSamplingInterval(jvmti, 0))
		return JNI_ERR;
	for (size_t i = 0; i < events_len; i++)
		(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, (jvmtiEvent)events[i],
		                                   NULL);
	return JNI_OK;
}
