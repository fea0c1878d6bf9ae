/* SPDX-License-Identifier: Apache-2.0 */
/* heap/hook_audit.c - compares the hooks' contexts and records with what the JVM says. */
#include "src/heap/hook_audit.h"

#include <stdatomic.h>

#include "src/core/counters.h"
#include "src/core/jvmti.h"
#include "src/core/thread.h"
#include "src/heap/alloc_log.h"
#include "src/heap/audit.h"
#include "src/heap/tlab.h"

static struct {
	_Atomic uint64_t unaudited, misplaced, contexts, contexts_wrong;
} audit;

static const struct lc_counter counters[] = {
	LC_COUNTER("audit_unaudited", &audit.unaudited), /* constructed, and not checked */
	/* The record has another size than the object. */
	LC_COUNTER("audit_misplaced", &audit.misplaced),
	LC_COUNTER("audit_contexts", &audit.contexts), /* checked against a walk of the JVM's */
	/* ... that led to another site. */
	LC_COUNTER("audit_contexts_wrong", &audit.contexts_wrong),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = lc_counters_with_audit);

void lc_hook_audit_context(JNIEnv *jni, struct lc_thread *t, jobject o, uint32_t bytecode_site,
                           enum lc_alloc_origin origin, uint32_t site)
{
	bool wanted;

	lc_count(&audit.contexts);
	if (lc_alloc_path_recorded(jni, t->walker, 0, o, bytecode_site, origin, &wanted) != site)
		lc_count(&audit.contexts_wrong);
}

static const struct lc_alloc *find_in(const struct lc_alloc_chunk *c, uint64_t len,
                                      uint64_t tagged_addr)
{
	while (c && len--)
		if (c->records[len].tagged_addr == tagged_addr)
			return &c->records[len];
	return NULL;
}

/* The record of an object among the thread's last ones, in this epoch; or NULL. */
static const struct lc_alloc *find_record(const struct lc_thread *t, uint64_t tagged_addr)
{
	const struct lc_alloc_chunk *c = t->allocs->tail;
	const struct lc_tlab_thread *o = lc_tlab_known();
	const struct lc_alloc *a =
	    find_in(c, c ? lc_alloc_log_position(t->allocs) - c->first : 0, tagged_addr);

	/* A chunk of this epoch is still there. */
	if (!a && o && o->before && o->before_sequence == lc_epoch_gc_sequence())
		a = find_in(o->before, LC_ALLOC_CHUNK_RECORDS, tagged_addr);
	return a;
}

void lc_hook_audit_constructed(JNIEnv *jni, struct lc_thread *t, jobject o)
{
	const uint64_t tagged = lc_alloc_tagged_address(o, lc_alloc_still_sequence(jni, o));
	const struct lc_alloc *a = find_record(t, tagged);
	jlong bytes = 0;

	if (!a || (*lc_jvmti())->GetObjectSize(lc_jvmti(), o, &bytes)) {
		lc_count(&audit.unaudited);
		return;
	}
	if ((uint64_t)bytes != (uint64_t)a->size_words * 8)
		lc_count(&audit.misplaced);
	lc_audit_add(jni, o, tagged & LC_ADDR_MASK, (uint64_t)bytes, a->site);
}
