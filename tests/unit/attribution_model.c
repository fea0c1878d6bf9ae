/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribution_model.c - see attribution_model.h.
 *
 * Functions that are not part of the test do nothing. The blocks are summed as they are written.
 */
#include "tests/unit/attribution_model.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "src/attribute/attribution.h"
#include "src/attribute/budget.h"
#include "src/attribute/cache_lines.h"
#include "src/attribute/contents.h"
#include "src/attribute/detail.h"
#include "src/attribute/heap_size.h"
#include "src/attribute/hot_classes.h"
#include "src/attribute/lines.h"
#include "src/attribute/live_objects.h"
#include "src/core/own.h"
#include "src/core/path.h"
#include "src/core/thread.h"
#include "src/gc/small.h"
#include "src/heap/audit.h"
#include "src/heap/context.h"
#include "src/heap/estimate.h"
#include "src/heap/hook.h"
#include "src/heap/loaded_code.h"
#include "src/heap/site_names.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/field.h"
#include "src/jvm/layout/header.h"
#include "src/jvm/layout/klass.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/metaspace.h"
#include "src/jvm/os/thread_cpu.h"
#include "src/numa/numa.h"
#include "src/offheap/rss.h"
#include "src/profile/profile_writer.h"
#include "src/sample/engine.h"
#include "src/sample/sample_log.h"
#include "src/span/clock/cycle_clock.h"
#include "src/span/clock/timeline.h"
#include "src/span/frames/slot.h"
#include "src/span/span.h"
#include "src/stack/walker.h"

static struct attribution_totals written;
static uint64_t begin_ns[ATTRIBUTION_THREADS];
static _Atomic bool append_fails, ended[ATTRIBUTION_THREADS], gone[ATTRIBUTION_THREADS];
static _Atomic uint64_t lost[ATTRIBUTION_THREADS];
static unsigned appends, manifests, finals, refinements, freed;
static uint64_t closed;
static uint32_t next_epoch;

/* Whatever the code under test gets wrong here cannot be told to cmocka on another thread. */
static void insist(bool holds)
{
	if (!holds)
		abort();
}

/* -- the program's side ------------------------------------------------------------------------ */

void attribution_append_fails(bool on)
{
	atomic_store(&append_fails, on);
}

void attribution_ended(uint32_t index)
{
	atomic_store(&ended[index], true);
}

void attribution_lost(uint32_t index, uint64_t samples)
{
	atomic_fetch_add(&lost[index], samples);
}

const struct attribution_totals *attribution_written(void)
{
	return &written;
}

uint64_t attribution_epochs_closed(void)
{
	return closed;
}

unsigned attribution_manifests(void)
{
	return manifests;
}

unsigned attribution_final_manifests(void)
{
	return finals;
}

unsigned attribution_refinements(void)
{
	return refinements;
}

unsigned attribution_threads_freed(void)
{
	return freed;
}

bool attribution_freed(uint32_t index)
{
	return atomic_load(&gone[index]);
}

/* -- the attribution thread's side ------------------------------------------------------------- */

static jint JNICALL attach(JavaVM *vm, void **env, void *args)
{
	*env = NULL;
	return 0;
}

static jint JNICALL detach(JavaVM *vm)
{
	return 0;
}

JavaVM *attribution_vm(void)
{
	static const struct JNIInvokeInterface_ functions = { .AttachCurrentThreadAsDaemon = attach,
		                                              .DetachCurrentThread = detach };
	static JavaVM vm = &functions;

	return &vm;
}

void attribution_manifest(bool final)
{
	insist(!finals);
	manifests++;
	finals += final;
}

const struct lc_path_recursion *lc_path_recursion_get(uint32_t number)
{
	return NULL;
}

uint32_t lc_site_count(void)
{
	return ATTRIBUTION_SITES;
}

void lc_loaded_code_rest(JNIEnv *jni)
{
}

size_t lc_site_names_of(JNIEnv *jni, uint32_t site, struct lc_site_names_one out[LC_SITE_NAMES_MAX])
{
	static const char *const names[] = { "com.acme.A.a", "com.acme.A.b" };

	insist(site && site < ATTRIBUTION_SITES);
	out[0] = (struct lc_site_names_one){ names[site / 2 % 2], LC_NAME_FIELD };
	return site % 2;
}

void lc_cycles_refine(void)
{
	refinements++;
}

/* Samples that end in a bucket without an access (those that were lost) are in its sum alone. */
static void add_samples(const struct lc_block_input *in)
{
	uint64_t sums[LC_BUCKET_COUNT] = { 0 };

	for (size_t i = 0; i < in->accesses_len; i++) {
		const struct lc_block_access *a = &in->accesses[i];

		insist(a->bucket < LC_BUCKET_COUNT && a->site < ATTRIBUTION_SITES);
		written.samples[in->index][a->bucket][a->site] += a->samples;
		sums[a->bucket] += a->samples;
	}
	for (size_t i = 0; i < in->buckets_len; i++) {
		const struct lc_block_bucket *b = &in->buckets[i];

		insist(b->samples >= sums[b->bucket]);
		written.samples[in->index][b->bucket][0] += b->samples - sums[b->bucket];
	}
}

void lc_profile_try_now(struct lc_profile *p)
{
}

int lc_profile_append(struct lc_profile *p, const struct lc_block_input *in)
{
	insist(in->index < ATTRIBUTION_THREADS);
	insist(in->t_end_ns >= in->t_begin_ns && in->t_begin_ns >= begin_ns[in->index]);
	begin_ns[in->index] = in->t_begin_ns;
	if (atomic_load(&append_fails) && !atomic_load(&ended[in->index]) && ++appends % 3 == 0)
		return -EAGAIN;
	add_samples(in);
	for (size_t i = 0; i < in->allocs_len; i++) {
		insist(in->allocs[i].site < ATTRIBUTION_SITES);
		written.allocations[in->index][in->allocs[i].site] += in->allocs[i].count;
		written.bytes[in->index][in->allocs[i].site] += in->allocs[i].bytes;
	}
	for (size_t i = 0; i < in->site_names_len; i++) {
		const struct lc_block_site_name *n = &in->site_names[i];

		insist(n->site < ATTRIBUTION_SITES && !strncmp(n->name, "com.acme.A.", 11));
		written.names[n->site]++;
	}
	return 0;
}

uint64_t lc_engines_thread_take_lost(struct lc_thread *t, size_t engine)
{
	return atomic_exchange(&lost[t->index], 0);
}

void lc_engines_thread_free(struct lc_thread *t)
{
	freed++;
	atomic_store(&gone[t->index], true);
	lc_sample_log_destroy(t->samples);
}

void lc_contexts_destroy(struct lc_contexts *c)
{
	lc_site_counters_free(&c->counters);
	free(c);
}

bool lc_hook_assumes(void)
{
	return false;
}

uint64_t lc_contexts_looked(const struct lc_contexts *c)
{
	return 0;
}

uint64_t lc_contexts_walks(const struct lc_contexts *c)
{
	return 0;
}

void lc_estimate_close(uint32_t epoch, const struct lc_area *areas, size_t len)
{
	insist(epoch == next_epoch);
	next_epoch++;
	closed++;
}

const struct lc_layout *lc_layout(void)
{
	static const struct lc_layout layout = { .object_alignment = 8 };

	return &layout;
}

/* -- the rest of the agent --------------------------------------------------------------------- */

void lc_estimate_access(struct lc_thread *t, uint16_t engine, uint32_t class_site, uint64_t start,
                        uint32_t epoch, uint64_t samples)
{
}

void lc_hot_classes_sample(void)
{
}

void lc_hot_classes_no_line(uint32_t site, uint64_t size_bytes)
{
}

void lc_hot_classes_look(uint64_t now_ns)
{
}

void lc_budget_start(uint64_t ppm)
{
}

void lc_budget_tick(uint64_t now_ns)
{
}

void lc_estimate_live(lc_estimate_live_fn *add, void *user)
{
}

void lc_estimate_collected(void)
{
}

void lc_heap_size_begin(JNIEnv *jni)
{
}

uint64_t lc_heap_size_of(const struct lc_area *areas, size_t len)
{
	return 0;
}

uint64_t lc_heap_size_now(JNIEnv *jni)
{
	return 0;
}

bool lc_heap_size_old_collected(void)
{
	return false;
}

void lc_estimate_flush(JNIEnv *jni)
{
}

void lc_audit_ask(JNIEnv *env, uint32_t *at, size_t max,
                  void (*use)(void *user, const struct lc_audit_question *q), void *user)
{
}

void lc_audit_look(struct lc_map *map, const struct lc_audit_question *q)
{
}

void lc_audit_asked(void)
{
}

const volatile uint32_t *lc_collector_count(void)
{
	return NULL;
}

void lc_audit_compare(struct lc_map *map, uint32_t epoch)
{
}

void lc_detail_sample(JNIEnv *jni, const struct lc_detail *d)
{
}

struct lc_data_src lc_detail_data_src(uint64_t data_src)
{
	return (struct lc_data_src){ 0 };
}

size_t lc_engines_count(void)
{
	return 1;
}

bool lc_header_matches(const struct lc_layout *layout, const struct lc_header *h,
                       const char *class_name, uint64_t class_word, uint64_t size_bytes)
{
	return true;
}

int lc_header_read(const struct lc_layout *layout, uint64_t addr, struct lc_header *out)
{
	return 0;
}

size_t lc_own_frames(const uint64_t *frames, size_t len)
{
	return 0;
}

uint64_t lc_klass_of_word(uint64_t class_word)
{
	return class_word;
}

uint32_t lc_klass_site(uint64_t klass)
{
	return 0;
}

void lc_lines_close_epoch(void)
{
}

void lc_lines_flush(void)
{
}

void lc_lines_forget(const struct lc_thread *t)
{
}

void lc_numa_allocated(struct lc_thread *t, uint32_t site, uint64_t objects, uint64_t bytes)
{
}

void lc_numa_ran(struct lc_thread *t, uint16_t engine, uint32_t cpu, uint64_t samples)
{
}

void lc_numa_resolve(uint32_t epoch, uint64_t now_ns)
{
}

void lc_numa_sample(const struct lc_numa_access *a)
{
}

void lc_numa_thread_free(struct lc_thread *t)
{
}

void lc_numa_window_ends(struct lc_thread *t)
{
}

bool lc_numa_window_seen(const struct lc_thread *t)
{
	return false;
}

uint32_t lc_path_intern_nearest(JNIEnv *jni, uint32_t root, const uint64_t *frames,
                                size_t frames_len, uint32_t depth)
{
	return root;
}

const struct lc_method *lc_path_version(JNIEnv *jni, uint64_t version)
{
	return NULL;
}

const struct lc_site *lc_site_get(uint32_t site)
{
	return NULL;
}

void lc_span_forget(struct lc_thread *t)
{
}

void lc_span_give_up_traces(const struct lc_thread *t)
{
}

bool lc_span_slots_crowded(void)
{
	return false;
}

const struct lc_span_slot *lc_span_slot_at(const struct lc_thread *t, uint32_t i)
{
	return NULL;
}

void lc_span_take(struct lc_thread *t)
{
}

void lc_span_mark_running(bool all)
{
}

void lc_span_take_looks(struct lc_tally *tally)
{
}

void lc_span_take_pauses(struct lc_tally *tally)
{
}

bool lc_span_take_traces(struct lc_thread *t)
{
	return false;
}

unsigned lc_span_what(void)
{
	return 0;
}

bool lc_timeline_block(const struct lc_timeline_thread *t, struct lc_block_input *in)
{
	return false;
}

void lc_timeline_clear(struct lc_timeline_thread *t)
{
}

bool lc_timeline_jvm_block(struct lc_block_input *in)
{
	return false;
}

void lc_timeline_jvm_clear(void)
{
}

uint64_t lc_timeline_next_ns(uint64_t now_ns)
{
	return now_ns;
}

bool lc_timeline_on(void)
{
	return false;
}

void lc_timeline_thread_free(struct lc_timeline_thread *t)
{
}

void lc_timeline_thread_last(struct lc_timeline_thread *t)
{
}

void lc_thread_cpu_look(bool last)
{
}

void lc_timeline_tick(uint64_t now_ns, bool last)
{
}

void lc_walker_destroy(struct lc_walker *w)
{
}

/* -- metaspace: none ------------------------------------------------------------------------- */

void lc_metaspace_learn(JNIEnv *jni, uint64_t addr, const uint64_t *frames, size_t len)
{
}

bool lc_metaspace_holds(uint64_t addr)
{
	return false;
}

void lc_field_tell_again(void)
{
}

void lc_cache_lines_again(void)
{
}

void lc_live_objects_find(struct lc_live_objects *o, const struct lc_map *m)
{
}

int lc_contents_open(void)
{
	return 0;
}

void lc_contents_take(struct lc_thread *t)
{
}

void lc_rss_begin(void)
{
}

void lc_rss_look(JNIEnv *jni, uint64_t now_ns, enum lc_rss_why why)
{
}

bool lc_rss_block(struct lc_block_input *in, bool any)
{
	return false;
}

bool lc_rss_left(void)
{
	return false;
}

void lc_rss_clear(const struct lc_block_input *in)
{
}

void lc_rss_again(void)
{
}
