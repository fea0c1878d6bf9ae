/* SPDX-License-Identifier: Apache-2.0 */
/* agent/holder_virtual.c - reads the continuation of virtual threads, and tells their references.
 */
#include "src/agent/holder_virtual.h"

#include "src/agent/holder_table.h"
#include "src/jvm/layout/unsafe.h"
#include "src/jvm/os/peek.h"

#define VISIT_NS 100000 /* of a stack of about 60 frames */
#define COLOR_BITS 16   /* of a reference of 8 bytes, which ZGC may set in one to nothing */

struct lc_holder_virtual lc_holder_virtual_find(JNIEnv *jni, jclass class, uint32_t number)
{
	struct lc_holder_virtual v = { .class = number };
	struct lc_unsafe u;
	int64_t offset = -1;

	if (lc_unsafe_find(jni, &u)) {
		offset = lc_unsafe_offset(jni, u.object, u.offset_of, class, "cont");
		v.reference_bytes = lc_unsafe_reference_bytes(jni, &u);
	}
	lc_unsafe_end(jni, &u);
	if (offset > 0 && (v.reference_bytes == 4 || v.reference_bytes == 8) &&
	    offset % v.reference_bytes == 0)
		v.offset = (uint64_t)offset;
	return v;
}

void lc_holder_virtual_begin(struct lc_holder_virtual *v, uint64_t pause_ns)
{
	v->visiting = false;
	v->left = pause_ns / 2 / VISIT_NS;
	v->not_followed = 0;
}

void lc_holder_virtual_set_kind(struct lc_holder_virtual *v, struct lc_holder_reference *r,
                                bool is_root)
{
	v->visiting |= !is_root;
	if (!v->class || !is_root)
		return;
	if (v->visiting && (r->kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL ||
	                    r->kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL))
		r->kind = LC_HOLDER_VIRTUAL_LOCAL;
	else if (r->kind == JVMTI_HEAP_REFERENCE_OTHER && r->class == v->class)
		r->kind = JVMTI_HEAP_REFERENCE_THREAD;
}

/* Does the thread have a continuation? */
static bool is_made(const struct lc_holder_virtual *v, const struct lc_holder_reference *r)
{
	uint64_t word = 0;

	if (!lc_peek(r->address + v->offset, &word, v->reference_bytes))
		return false;
	return v->reference_bytes == 8 ? word >> COLOR_BITS : word;
}

bool lc_holder_virtual_visits(struct lc_holder_virtual *v, const struct lc_holder_reference *r)
{
	if (r->class != v->class)
		return true;
	if (!v->class) /* a class that was loaded since the walk has numbered classes: maybe this
	                  one */
		return false;
	if (!v->offset || v->offset + v->reference_bytes > r->bytes || !v->left) {
		v->not_followed++;
		return false;
	}
	if (!is_made(v, r))
		return false;
	v->left--;
	return true;
}
