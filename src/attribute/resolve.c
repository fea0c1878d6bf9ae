/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/resolve.c - takes samples from the logs, looks up their objects, and counts them.
 *
 * If both the map and the header of the object tell the accessed object, each tests the other. If
 * they differ, the header may be wrong: contents of an array can look like a header. A dead
 * register may also lead to the header of an object that is gone, in memory of a new array. No
 * other object begins inside a live object of the map, or reaches into it. The map itself can be
 * wrong only about objects that are in doubt (heap/map.h). For these the header, which was read
 * during the access, is right.
 */
#include "src/attribute/resolve.h"

#include <stddef.h>
#include <stdlib.h>

#include "src/attribute/bucket.h"
#include "src/attribute/detail.h"
#include "src/attribute/hot_classes.h"
#include "src/attribute/preexisting.h"
#include "src/attribute/resolve_impl.h"
#include "src/base/time.h"
#include "src/base/vector.h"
#include "src/core/counters.h"
#include "src/core/own.h"
#include "src/core/own_cost.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/core/thread.h"
#include "src/heap/alloc_log.h"
#include "src/heap/estimate.h"
#include "src/heap/map.h"
#include "src/jvm/layout/klass.h"
#include "src/jvm/layout/metaspace.h"
#include "src/jvm/layout/ranges.h"
#include "src/numa/numa.h"
#include "src/offheap/blocks.h"
#include "src/profile/tally.h"
#include "src/sample/sample_log.h"
#include "src/span/frames/slot.h"

/* The JVM clears an array, of some 10 GB at most. */
#define CLEARING_NS (10 * LC_FIRST_TOUCH_NS)

enum { FIRST_TOUCHES_MAX = 1 << 20 }; /* samples that wait at a time for their object's record */

struct lc_resolve_work lc_resolve_work = {
	.pending = { .element_bytes = sizeof(struct lc_pending) },
	.queries = { .element_bytes = sizeof(struct lc_query) },
};

/* The bucket and the object that a sample was resolved to. */
struct verdict {
	enum lc_bucket bucket;
	uint32_t site;
	uint64_t object; /* 0: unknown */
	uint64_t size_bytes;
	bool off_heap; /* the object is a block outside the heap */
};

/* Count a sample that was taken inside a stream or task for that span too. */
static void count_in_span(const struct lc_pending *p, const struct lc_block_access *at)
{
	const struct lc_span_slot *slot = lc_span_slot_at(p->thread, p->span - 1);

	if (slot)
		(void)lc_tally_span_access(
		    p->thread->tally, &(struct lc_block_span_access){ .kind = slot->key.kind,
		                                                      .span_site = slot->key.site,
		                                                      .span_path = slot->key.path,
		                                                      .engine = at->engine,
		                                                      .bucket = at->bucket,
		                                                      .site = at->site,
		                                                      .path = at->path,
		                                                      .samples = at->samples });
}

bool lc_resolve_in_java(const struct lc_pending *p)
{
	return p->where == LC_WHERE_COMPILED || p->where == LC_WHERE_STUB ||
	       p->where == LC_WHERE_INTERPRETER;
}

/*
 * Nodes are those of the program's accesses: what native code was found to do is most often the
 * zeroing of new arrays, which would make every array one that its allocating thread uses. So would
 * fences behind that.
 */
static bool shows_node(const struct lc_pending *p)
{
	return (lc_resolve_in_java(p) && !(p->access & LC_ACCESS_FENCE)) || p->how == LC_HOW_KERNEL;
}

static struct lc_block_access access_of(const struct lc_pending *p, enum lc_bucket bucket,
                                        uint32_t site)
{
	return (struct lc_block_access){
		.engine = p->engine,
		.bucket = (uint8_t)bucket,
		.site = site,
		.path = p->path,
		.samples = p->samples,
		.pairs = lc_block_pairs(p->samples),
	};
}

static void count_sample(const struct lc_pending *p, struct lc_block_access at)
{
	if (!lc_tally_made(&p->thread->tally) ||
	    lc_tally_sample(p->thread->tally, &at, p->where, p->how))
		lc_resolve_work.stats.unresolved++;
	lc_hot_classes_sample();
	if (p->span && p->thread->tally)
		count_in_span(p, &at);
	if (!shows_node(p))
		return;
	lc_numa_sample(&(struct lc_numa_access){
	    .thread = p->thread,
	    .at = at,
	    .addr = p->addr,
	    .cpu = p->cpu,
	    .source = p->measured.source,
	});
}

static void count(JNIEnv *jni, const struct lc_pending *p, const struct verdict *v)
{
	const struct lc_site *site = lc_site_get(v->site);
	struct lc_detail detail = {
		.thread = p->thread,
		.at = access_of(p, v->bucket, v->site),
		.how = p->how,
		.access = p->access,
		.addr = p->now_at,
		.object = v->object,
		.size_bytes = v->size_bytes,
		.klass = p->klass,
		.measured = p->measured,
		.latency = p->latency,
		.step = p->step,
		.load = p->load,
		.read_on = p->read_on,
		.elsewhere = p->elsewhere,
		.in_java = lc_resolve_in_java(p),
		.off_heap = v->off_heap,
	};

	count_sample(p, detail.at);
	if (v->bucket == LC_BUCKET_OBJECT && v->object != p->object)
		detail.klass = 0; /* of another object, or of none */
	if (!detail.klass && site && site->class_word)
		detail.klass = lc_klass_of_word(site->class_word);
	lc_detail_sample(jni, &detail);
	if (v->bucket != LC_BUCKET_HEAP_CLASS)
		return;
	lc_hot_classes_no_line(v->site, v->size_bytes);
	lc_estimate_access(p->thread, p->engine, v->site, v->object, p->epoch, p->samples);
}

/* The method is named now, while its class is loaded. */
static struct lc_reach_load load_of(JNIEnv *jni, const struct lc_sample *s)
{
	struct lc_reach_load load = { .disp = s->loaded_disp };

	if (!s->loaded)
		return load;
	load.bci = (uint32_t)(s->loaded >> LC_ADDR_BITS);
	load.method = lc_path_version(jni, s->loaded & LC_ADDR_MASK);
	return load;
}

/* Is the sample in native code, at an address outside of the heap that was found by decoding? */
static bool is_native_outside(const struct lc_sample *s)
{
	return (s->where == LC_WHERE_JVM || s->where == LC_WHERE_NATIVE) && s->how <= LC_HOW_BASE &&
	       s->addr && lc_bucket_untracked(s->addr) != LC_BUCKET_HEAP_UNKNOWN;
}

/* Native code has an address outside of the heap only if that is in a block. */
static void count_native_outside(JNIEnv *jni, const struct lc_sample *s, struct lc_pending *p)
{
	struct lc_blocks_block block;

	if (lc_blocks_find(s->addr, s->time_ns, &block)) {
		count(jni, p,
		      &(struct verdict){ LC_BUCKET_OBJECT, block.site, block.addr, block.size_bytes,
		                         true });
		return;
	}
	p->addr = p->now_at = 0;
	p->how = LC_HOW_NOT_JAVA;
	p->access = 0;
	count_sample(p, access_of(p, lc_bucket_without_map(s), 0));
}

static void take(JNIEnv *jni, struct lc_thread *t, const struct lc_sample *s)
{
	size_t frames_len = s->frames_len > 0 ? (size_t)s->frames_len : 0;
	size_t own = lc_own_frames(s->frames, frames_len);
	struct lc_pending p = {
		.thread = t,
		.addr = s->addr,
		.now_at = lc_ranges_plain(s->addr),
		.time_ns = s->time_ns,
		.position = t->allocs ? lc_alloc_log_position(t->allocs) : 0,
		.object = s->object,
		.klass = s->klass,
		.measured = lc_detail_data_src(s->data_src),
		.samples = 1 + s->overrun,
		.object_words = s->object_words,
		.latency = s->latency,
		.epoch = s->epoch,
		.path = lc_path_intern_nearest(jni, s->root, s->frames + own, frames_len - own,
		                               LC_FRAMES_MAX),
		.span = s->span,
		.step = s->step,
		.load = load_of(jni, s),
		.read_on = s->read_on,
		.elsewhere = s->elsewhere,
		.cpu = s->cpu,
		.engine = s->engine,
		.where = s->where,
		.how = s->how,
		.access = s->access,
	};

	/*
	 * In the JVM's code around a hook a thread waits for the stores that cleared the array,
	 * which it would do elsewhere without the hook.
	 */
	if (own && s->where == LC_WHERE_NATIVE)
		lc_own_cost_hook(s->engine, 1 + (uint64_t)s->overrun);

	if (s->addr && (s->where == LC_WHERE_COMPILED || s->where == LC_WHERE_STUB))
		lc_metaspace_learn(jni, s->addr, s->frames + own, frames_len - own);
	lc_numa_ran(t, p.engine, p.cpu, p.samples);
	if (is_native_outside(s))
		count_native_outside(jni, s, &p);
	else if (!lc_bucket_needs_map(s))
		count_sample(&p, access_of(&p, lc_bucket_without_map(s), 0));
	else if (lc_vector_push(&lc_resolve_work.pending, &p))
		count_sample(&p, access_of(&p, LC_BUCKET_LOST, 0));
	else
		t->unresolved++;
}

void lc_resolve_take(JNIEnv *jni, uint32_t epoch)
{
	for (struct lc_thread *t = lc_threads_walk(); t; t = t->next) {
		const struct lc_sample *s;

		if (!t->samples)
			continue;
		while ((s = lc_sample_log_peek(t->samples)) && s->epoch <= epoch) {
			take(jni, t, s);
			lc_sample_log_drop(t->samples);
		}
	}
}

bool lc_resolve_waiting(void)
{
	return lc_resolve_work.pending.len;
}

/*
 * Is the object of the access perhaps not recorded yet? An array is cleared, or filled from
 * another, before its allocation is recorded, which takes long if it is large; the thread's next
 * record is then the array's. That record may have been made since the records were looked at, so
 * the present position of the log says nothing. Java code clears small arrays only, and the JVM
 * large ones.
 */
static bool may_be_recorded(const struct lc_pending *p, uint64_t now)
{
	const bool in_new =
	    p->how == LC_HOW_KERNEL || (!lc_resolve_in_java(p) && (p->access & LC_TOUCH_STORE));

	return in_new && p->thread->allocs && p->thread->looked <= p->position &&
	       now - p->time_ns < (lc_resolve_in_java(p) ? LC_FIRST_TOUCH_NS : CLEARING_NS) &&
	       lc_bucket_untracked(p->addr) == LC_BUCKET_HEAP_UNKNOWN;
}

/* Is what the header told the map's object? Both answers are counted. */
static bool agrees(const struct lc_pending *p, const struct lc_object *object)
{
	const struct lc_site *site = lc_site_get(object->site);

	if (!p->klass || !site || !site->class_word)
		return true;
	lc_resolve_work.stats.classes_checked++;
	if (lc_klass_of_word(site->class_word) == lc_klass_address(p->klass) &&
	    object->addr == p->object)
		return true;
	if (p->object > object->addr && !object->in_doubt)
		lc_resolve_work.stats.headers_inside++;
	else
		lc_resolve_work.stats.class_disagreements++;
	return false;
}

/* Where the header told otherwise: is it that of an object? */
static bool is_header(const struct lc_pending *p, const struct lc_object *object)
{
	return object->in_doubt || p->object == object->addr;
}

/* A fence is of an array that was just made: its record is of this epoch. */
static bool may_be(const struct lc_pending *p, const struct lc_object *object)
{
	return !(p->access & LC_ACCESS_FENCE) || !object->epochs;
}

/* Neither the map nor a header tells the object: only the address is known. */
static void judge_by_address(const struct lc_pending *p, struct verdict *v)
{
	struct lc_blocks_block block;

	v->bucket = lc_bucket_untracked(p->addr);
	/* The range of the JVM's classes, of 4 GB, may have other memory in it. */
	if (v->bucket != LC_BUCKET_HEAP_UNKNOWN && lc_blocks_find(p->addr, p->time_ns, &block))
		*v = (struct verdict){ LC_BUCKET_OBJECT, block.site, block.addr, block.size_bytes,
			               true };
}

static struct verdict judge(const struct lc_query *q, const struct lc_pending *p)
{
	struct verdict v = { .bucket = LC_BUCKET_OBJECT,
		             .site = q->object.site,
		             .object = q->object.addr,
		             .size_bytes = q->object.size_bytes };

	if (q->found && may_be(p, &q->object) &&
	    (agrees(p, &q->object) || !is_header(p, &q->object))) {
		v.site =
		    lc_preexisting_site(&q->object, p->object == q->object.addr ? p->klass : 0);
		return v;
	}
	v.object = p->object;
	v.size_bytes = (uint64_t)p->object_words * 8;
	v.site = p->klass ? lc_klass_site(p->klass) : 0;
	if (v.site)
		v.bucket = LC_BUCKET_HEAP_CLASS;
	else if (p->access & LC_ACCESS_FENCE)
		v.bucket = LC_BUCKET_JVM;
	else
		judge_by_address(p, &v);
	return v;
}

/* Whom a sample waits for that finds no object. */
enum wait {
	WAIT_FOR_RECORD,     /* its thread's next record */
	WAIT_FOR_COLLECTION, /* the same; its epoch has ended, and the object may have moved */
	WAIT_NO_MORE,
};

void lc_resolve_finish(JNIEnv *jni, struct lc_pending *p, const struct lc_query *q)
{
	const struct verdict v = judge(q, p);

	count(jni, p, &v);
	p->thread->unresolved--;
	p->thread = NULL;
}

void lc_resolve_keep(bool give_up)
{
	struct lc_pending *pending = lc_resolve_work.pending.data;
	size_t kept = 0;

	for (size_t i = 0; i < lc_resolve_work.pending.len; i++) {
		if (pending[i].thread && give_up) { /* no memory to look it up */
			count_sample(&pending[i], access_of(&pending[i], LC_BUCKET_LOST, 0));
			pending[i].thread->unresolved--;
		} else if (pending[i].thread) {
			pending[kept++] = pending[i];
		}
	}
	lc_resolve_work.pending.len = kept;
}

static void resolve(JNIEnv *jni, struct lc_map *map, const struct lc_nursery *nursery,
                    uint64_t until_ns, enum wait wait)
{
	const uint64_t now = lc_time_now_ns();
	struct lc_pending *pending = lc_resolve_work.pending.data;
	struct lc_query *queries;
	size_t waiting = 0;

	lc_resolve_work.queries.len = 0;
	for (size_t i = 0; i < lc_resolve_work.pending.len; i++) {
		const struct lc_query q = { .addr = pending[i].now_at, .user = (uint32_t)i };

		if (pending[i].time_ns <= until_ns && lc_vector_push(&lc_resolve_work.queries, &q))
			break;
	}
	queries = lc_resolve_work.queries.data;
	lc_map_resolve(map, nursery, queries, lc_resolve_work.queries.len);
	for (size_t i = 0; i < lc_resolve_work.queries.len; i++) {
		struct lc_pending *p = &pending[queries[i].user];

		p->waits = !queries[i].found && wait != WAIT_NO_MORE &&
		           waiting < FIRST_TOUCHES_MAX && may_be_recorded(p, now);
		if (p->waits)
			waiting++;
		else
			lc_resolve_finish(jni, p, &queries[i]);
	}
	for (size_t i = 0; wait == WAIT_FOR_COLLECTION && i < lc_resolve_work.pending.len; i++)
		if (pending[i].thread && !pending[i].waits) { /* no memory to look it up */
			count_sample(&pending[i], access_of(&pending[i], LC_BUCKET_LOST, 0));
			pending[i].thread->unresolved--;
			pending[i].thread = NULL;
		}
	lc_resolve_keep(wait == WAIT_NO_MORE);
}

void lc_resolve_samples(JNIEnv *jni, struct lc_map *map, const struct lc_nursery *nursery,
                        uint64_t until_ns)
{
	resolve(jni, map, nursery, until_ns,
	        until_ns == UINT64_MAX ? WAIT_NO_MORE : WAIT_FOR_RECORD);
}

void lc_resolve_close_epoch(JNIEnv *jni, struct lc_map *map, const struct lc_nursery *nursery)
{
	resolve(jni, map, nursery, UINT64_MAX, WAIT_FOR_COLLECTION);
}

/* -- over a collection ----------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	const uint64_t x = ((const struct lc_pending *)a)->now_at;
	const uint64_t y = ((const struct lc_pending *)b)->now_at;

	return x < y ? -1 : x > y;
}

/* The first of the waiting samples, by address, at or above `addr`. */
static size_t first_at(uint64_t addr)
{
	const struct lc_pending *pending = lc_resolve_work.pending.data;
	size_t low = 0, high = lc_resolve_work.pending.len;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (pending[middle].now_at < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Note which samples the move took along, and over which it wrote. */
static void follow_move(const struct lc_move *m)
{
	struct lc_pending *pending = lc_resolve_work.pending.data;

	for (size_t i = first_at(m->dst);
	     i < lc_resolve_work.pending.len && pending[i].now_at - m->dst < m->size_bytes; i++)
		pending[i].overwritten = true;
	for (size_t i = first_at(m->src); m->src && i < lc_resolve_work.pending.len &&
	                                  pending[i].now_at - m->src < m->size_bytes;
	     i++)
		pending[i].moved_to = m->dst + (pending[i].now_at - m->src);
}

/* Did objects at `addr` stay where they were, by the layout after the collection? */
static bool stayed(const struct lc_map_close *close, uint64_t addr)
{
	size_t low = 0, high = close->areas_len;

	while (low < high) { /* the last area that begins at or below it */
		const size_t middle = low + (high - low) / 2;

		if (close->areas[middle].bottom <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || addr >= close->areas[low - 1].top)
		return false;
	switch ((enum lc_area_kind)close->areas[low - 1].kind) {
	case LC_AREA_OLD:
	case LC_AREA_HUMONGOUS:
	case LC_AREA_HUMONGOUS_CONT:
		return true;
	default: /* what was here has moved or is dead */
		return false;
	}
}

void lc_resolve_carry(JNIEnv *jni, const struct lc_map_close *close)
{
	struct lc_pending *pending = lc_resolve_work.pending.data;

	if (!lc_resolve_work.pending.len)
		return;
	qsort(pending, lc_resolve_work.pending.len, sizeof(*pending), by_address);
	for (size_t i = 0; i < close->moves_len && close->complete; i++)
		follow_move(&close->moves[i]);
	for (size_t i = 0; i < lc_resolve_work.pending.len; i++) {
		struct lc_pending *p = &pending[i];
		const bool known = close->complete &&
		                   (p->moved_to || (!p->overwritten && stayed(close, p->now_at)));

		if (p->moved_to)
			p->now_at = p->moved_to;
		p->moved_to = 0;
		p->overwritten = false;
		if (known)
			lc_resolve_work.stats.carried++;
		else
			lc_resolve_finish(jni, p, &(struct lc_query){ .addr = p->addr });
	}
	lc_resolve_keep(false);
}

static const struct lc_counter counters[] = {
	LC_COUNTER("samples_unresolved", &lc_resolve_work.stats.unresolved,
	           .limit = "samples_unresolved",
	           .text = "there was no memory for the call paths of some samples"),
	LC_COUNTER("samples_carried", &lc_resolve_work.stats.carried),
	LC_COUNTER("classes_checked", &lc_resolve_work.stats.classes_checked),
	LC_COUNTER("headers_inside", &lc_resolve_work.stats.headers_inside),
	LC_COUNTER("class_disagreements", &lc_resolve_work.stats.class_disagreements),
	LC_COUNTER("map_dead_met", &lc_resolve_work.stats.dead_met),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
