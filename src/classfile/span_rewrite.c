/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/span_rewrite.c - inserts the calls of LocusSpan into the methods of one class.
 *
 * The length of an insert does not depend on what its bytes hold, so all bytes are written as soon
 * as its position is found.
 */
#include "src/classfile/span_rewrite.h"

#include <stdlib.h>

#include "src/base/vector.h"
#include "src/classfile/edit.h"
#include "src/classfile/span_plan.h"
#include "src/classfile/tables.h"
#include "src/format/kinds.h"

/* A hook pushes at most an object and an int. */
enum { STACK = 2, CALL_BYTES = 3, TAIL_BYTES = CALL_BYTES + 1 };

static const struct {
	const char *name;
	const char *descriptor;
} calls[LC_SPAN_CALL_COUNT] = {
	[LC_SPAN_STREAM_BEGIN] = { "streamBegin", "(Ljava/lang/Object;Z)V" },
	[LC_SPAN_HEAD_BEGIN] = { "headBegin", "(Z)V" },
	[LC_SPAN_FOREIGN_BEGIN] = { "foreignBegin", "()V" },
	[LC_SPAN_PULL] = { "pulled", "()V" },
	[LC_SPAN_END] = { "end", "()V" },
	[LC_SPAN_ENDED] = { "ended", "(Ljava/lang/Object;)V" },
	[LC_SPAN_STREAM_TASK] = { "streamTask", "(Ljava/lang/Object;)V" },
	[LC_SPAN_SUPPORT_BEGIN] = { "supportBegin", "(Ljava/lang/Object;)V" },
	[LC_SPAN_CREATED] = { "created", "(Ljava/lang/Object;)V" },
	[LC_SPAN_SUBMITTED] = { "submitted", "(Ljava/lang/Object;I)V" },
	[LC_SPAN_SUBMITTED_ALL] = { "submittedAll", "(Ljava/lang/Object;I)V" },
	[LC_SPAN_LEFT] = { "left", "()V" },
	[LC_SPAN_REFUSED] = { "refused", "()V" },
	[LC_SPAN_TASK_BEGIN] = { "taskBegin", "(Ljava/lang/Object;I)V" },
	[LC_SPAN_MOUNT] = { "mount", "(Ljava/lang/Object;)V" },
	[LC_SPAN_UNMOUNT] = { "unmount", "(Ljava/lang/Object;)V" },
	[LC_SPAN_CARRIES] = { "carries", "(Ljava/lang/Object;)V" },
	[LC_SPAN_CARRIED] = { "carried", "(Ljava/lang/Object;)V" },
	[LC_SPAN_RUN] = { "run", "(Ljava/lang/Runnable;)V" },
	[LC_SPAN_EXECUTE] = { "execute", "(Ljava/util/concurrent/Executor;Ljava/lang/Runnable;)V" },
	[LC_SPAN_CALL] = { "call", "(Ljava/util/concurrent/Callable;)Ljava/lang/Object;" },
	[LC_SPAN_RUN_REFERRED] = { "runReferred", "(Ljava/lang/Runnable;)V" },
	[LC_SPAN_CALL_REFERRED] = { "callReferred",
	                            "(Ljava/util/concurrent/Callable;)Ljava/lang/Object;" },
	[LC_SPAN_FLAT] = { "flat",
	                   "(Ljava/util/function/Function;Ljava/lang/Object;)Ljava/lang/Object;" },
	[LC_SPAN_FLAT_INT] = { "flat", "(Ljava/util/function/IntFunction;I)Ljava/lang/Object;" },
	[LC_SPAN_FLAT_LONG] = { "flat", "(Ljava/util/function/LongFunction;J)Ljava/lang/Object;" },
	[LC_SPAN_FLAT_DOUBLE] = { "flat",
	                          "(Ljava/util/function/DoubleFunction;D)Ljava/lang/Object;" },
};

struct rewrite {
	struct lc_edit edit;
	struct lc_span_class class;
	struct lc_rewrite_result counts;
	/* The inserts of one method. */
	struct lc_insert *inserts; /* malloc'ed */
	size_t len, cap;
	uint8_t prologue[LC_INSERT_MAX_BYTES], tail[TAIL_BYTES];
	/* Numbers of the constants; 0: not in the pool yet. */
	uint16_t span_class, hook_class, throwable, stackmap_name, is_parallel;
	uint16_t methods[LC_SPAN_CALL_COUNT];
};

/* A walk over the instructions of one method. */
struct walk {
	struct rewrite *r;
	struct lc_method_code *code;
	struct lc_span_plan plan;
	uint32_t uninitialized; /* `new` whose constructor call is yet to come */
	bool own_super;         /* a constructor that does not call this(...) */
	bool stores_local0;
	bool failed;
};

/* The constant for the method, which is counted as a site. */
static uint16_t call_ref(struct rewrite *r, enum lc_span_call call)
{
	const bool of_hook = call == LC_SPAN_CARRIES || call == LC_SPAN_CARRIED;
	uint16_t *holder = of_hook ? &r->hook_class : &r->span_class;
	struct lc_pool *pool = &r->edit.pool;

	if (!*holder)
		*holder = lc_pool_class(pool, of_hook ? LC_HOOK_CLASS : LC_SPAN_CLASS);
	if (!r->methods[call])
		r->methods[call] =
		    lc_pool_method(pool, *holder, calls[call].name, calls[call].descriptor);
	r->counts.sites++;
	return r->methods[call];
}

static uint8_t *emit_call(struct rewrite *r, uint8_t *p, enum lc_span_call call)
{
	*p = LC_OP_INVOKESTATIC;
	lc_be_put2(p + 1, call_ref(r, call));
	return p + CALL_BYTES;
}

static uint8_t *emit_number(uint8_t *p, int number)
{
	*p = LC_OP_SIPUSH;
	lc_be_put2(p + 1, (uint32_t)number);
	return p + 3;
}

static struct lc_insert *add(struct walk *w, uint32_t at, bool before)
{
	static struct lc_insert nowhere;
	struct rewrite *r = w->r;
	struct lc_insert *inserts;

	inserts = lc_vector_reserve_array(r->inserts, &r->cap, r->len + 1, sizeof(*inserts));
	if (!inserts) {
		w->failed = true;
		return &nowhere;
	}
	r->inserts = inserts;
	r->inserts[r->len] = (struct lc_insert){ .at = at, .before = before };
	return &r->inserts[r->len++];
}

/* `load` is the instruction that pushes the object. */
static void put_about(struct walk *w, uint32_t at, bool before, uint8_t load,
                      enum lc_span_call call)
{
	struct lc_insert *i = add(w, at, before);

	i->bytes[0] = load;
	i->len = (uint8_t)(emit_call(w->r, i->bytes + 1, call) - i->bytes);
}

static void put_return(struct walk *w, uint32_t at)
{
	struct lc_insert *i = add(w, at, true);
	uint8_t *p = i->bytes;

	if (w->plan.wrapped && w->plan.prologue == LC_SPAN_STREAM_BEGIN &&
	    w->code->insns[at] == LC_OP_ARETURN) {
		*p++ = LC_OP_DUP;
		p = emit_call(w->r, p, LC_SPAN_ENDED);
	} else if (w->plan.wrapped) {
		p = emit_call(w->r, p, LC_SPAN_END);
	}
	if (w->plan.entered)
		p = emit_call(w->r, p, LC_SPAN_LEFT);
	if (w->plan.created) {
		*p++ = LC_OP_ALOAD_0;
		p = emit_call(w->r, p, LC_SPAN_CREATED);
	}
	if (w->plan.stream_task) {
		*p++ = LC_OP_ALOAD_0;
		p = emit_call(w->r, p, LC_SPAN_STREAM_TASK);
	}
	i->len = (uint8_t)(p - i->bytes);
}

static void put_interface_call(struct walk *w, uint32_t at)
{
	struct lc_class_ref ref;
	enum lc_span_call call;
	struct lc_insert *i;

	if (!lc_class_interface_ref(&w->r->edit.cls, lc_be_get2(w->code->insns + at + 1), &ref))
		return;
	if (lc_class_text_is(ref.holder, "java/util/concurrent/Executor") &&
	    lc_class_text_is(ref.name, "execute") &&
	    lc_class_text_is(ref.descriptor, "(Ljava/lang/Runnable;)V"))
		call = LC_SPAN_EXECUTE;
	else if (lc_class_text_is(ref.holder, "java/lang/Runnable") &&
	         lc_class_text_is(ref.name, "run") && lc_class_text_is(ref.descriptor, "()V"))
		call = LC_SPAN_RUN;
	else if (lc_class_text_is(ref.holder, "java/util/concurrent/Callable") &&
	         lc_class_text_is(ref.name, "call") &&
	         lc_class_text_is(ref.descriptor, "()Ljava/lang/Object;"))
		call = LC_SPAN_CALL;
	else
		return;
	i = add(w, at, false);
	i->instead = true;
	i->len = (uint8_t)(emit_call(w->r, i->bytes, call) - i->bytes);
}

/*
 * In java.util.stream: a call of a function that makes a stream, which the caller then executes, as
 * flatMap() does. Such a result is cast to a stream at once.
 */
static void put_flat_call(struct walk *w, uint32_t at)
{
	static const char *const flat_functions[] = { "java/util/function/Function",
		                                      "java/util/function/IntFunction",
		                                      "java/util/function/LongFunction",
		                                      "java/util/function/DoubleFunction" };
	static const char *const streams[] = { "java/util/stream/Stream",
		                               "java/util/stream/IntStream",
		                               "java/util/stream/LongStream",
		                               "java/util/stream/DoubleStream" };
	const struct lc_class *c = &w->r->edit.cls;
	const uint8_t *insn = w->code->insns + at;
	struct lc_class_ref ref;
	struct lc_class_text type;
	struct lc_insert *i;
	unsigned call = 0, stream = 0;

	if (at + 8 > w->code->len || insn[5] != LC_OP_CHECKCAST ||
	    !lc_class_interface_ref(c, lc_be_get2(insn + 1), &ref) ||
	    !lc_class_text_is(ref.name, "apply"))
		return;
	type = lc_class_name(c, lc_be_get2(insn + 6));
	while (stream < 4 && !lc_class_text_is(type, streams[stream]))
		stream++;
	while (call < 4 && !lc_class_text_is(ref.holder, flat_functions[call]))
		call++;
	if (stream == 4 || call == 4)
		return;
	i = add(w, at, false);
	i->instead = true;
	i->len = (uint8_t)(emit_call(w->r, i->bytes, LC_SPAN_FLAT + call) - i->bytes);
}

static void put_dynamic_call(struct walk *w, uint32_t at)
{
	struct lc_class_text descriptor =
	    lc_class_dynamic_descriptor(&w->r->edit.cls, lc_be_get2(w->code->insns + at + 1));

	if (lc_class_text_ends(descriptor, ")Ljava/lang/Runnable;") ||
	    lc_class_text_ends(descriptor, ")Ljava/util/concurrent/Callable;"))
		put_about(w, at, false, LC_OP_DUP, LC_SPAN_CREATED);
}

static bool calls_method(const struct walk *w, uint32_t at, const char *holder, const char *name)
{
	struct lc_class_ref ref;

	return lc_class_method_ref(&w->r->edit.cls, lc_be_get2(w->code->insns + at + 1), &ref) &&
	       lc_class_text_is(ref.descriptor, "()V") && lc_class_text_is(ref.holder, holder) &&
	       lc_class_text_is(ref.name, name);
}

/*
 * Hook VirtualThread.runContinuation(), which runs on the carrier in JDK 21 to 25. Before mount()
 * and behind unmount() the carrier is the current thread, for JVMTI too, and nobody else runs the
 * virtual thread.
 */
static void put_continuation(struct walk *w, uint32_t at)
{
	const bool mounts = calls_method(w, at, "java/lang/VirtualThread", "mount");
	const unsigned what = w->r->class.what;
	struct lc_insert *i;
	uint8_t *p;

	if (!mounts && !calls_method(w, at, "java/lang/VirtualThread", "unmount"))
		return;
	i = add(w, at, mounts);
	p = i->bytes;
	if (what & (LC_SPAN_STREAMS | LC_SPAN_TASKS)) {
		*p++ = LC_OP_ALOAD_0;
		p = emit_call(w->r, p, mounts ? LC_SPAN_MOUNT : LC_SPAN_UNMOUNT);
	}
	if (what & LC_SPAN_CARRIERS) {
		*p++ = LC_OP_ALOAD_0;
		p = emit_call(w->r, p, mounts ? LC_SPAN_CARRIES : LC_SPAN_CARRIED);
	}
	i->len = (uint8_t)(p - i->bytes);
}

/*
 * Find this(...) or super(...): the first call of a constructor that belongs to no `new` before it.
 */
static void visit_special_call(struct walk *w, uint32_t at)
{
	const struct lc_class *c = &w->r->edit.cls;
	struct lc_class_text self = w->r->class.name;
	struct lc_class_ref ref;

	if (!lc_class_method_ref(c, lc_be_get2(w->code->insns + at + 1), &ref) ||
	    !lc_class_text_is(ref.name, "<init>"))
		return;
	if (w->uninitialized)
		w->uninitialized--;
	else if (ref.holder.len == self.len && !memcmp(ref.holder.data, self.data, self.len))
		w->own_super = false;
}

static bool visit(struct walk *w, uint32_t at)
{
	const uint8_t *insn = w->code->insns + at;

	switch (*insn) {
	case LC_OP_NEW:
		w->uninitialized++;
		return true;
	case LC_OP_INVOKEVIRTUAL:
		if (w->plan.carries_virtual)
			put_continuation(w, at);
		return true;
	case LC_OP_INVOKESPECIAL:
		visit_special_call(w, at);
		if (w->plan.carries_virtual)
			put_continuation(w, at);
		return true;
	case LC_OP_INVOKEINTERFACE:
		if (w->r->class.stream && w->r->class.what & LC_SPAN_STREAMS)
			put_flat_call(w, at);
		if (w->r->class.calls)
			put_interface_call(w, at);
		return true;
	case LC_OP_INVOKEDYNAMIC:
		if (w->r->class.calls)
			put_dynamic_call(w, at);
		return true;
	default:
		if (*insn >= LC_OP_IRETURN && *insn <= LC_OP_RETURN &&
		    (w->plan.wrapped || w->plan.entered || w->plan.created || w->plan.stream_task))
			put_return(w, at);
		w->stores_local0 |= lc_method_insn_stores_local0(insn);
		return lc_method_code_mark_targets(w->code, at);
	}
}

/* Drop the inserts at the returns of a constructor that calls this(...), or overwrites `this`. */
static void sift(struct walk *w)
{
	struct rewrite *r = w->r;
	size_t kept = 0;

	if ((!w->plan.created && !w->plan.stream_task) || (w->own_super && !w->stores_local0))
		return;
	for (size_t i = 0; i < r->len; i++) {
		if (w->code->insns[r->inserts[i].at] == LC_OP_RETURN)
			r->counts.sites -= (uint32_t)w->plan.created + w->plan.stream_task;
		else
			r->inserts[kept++] = r->inserts[i];
	}
	r->len = kept;
}

/*
 * Push the object, then what else the method takes, and call it: BEGIN of streams takes whether the
 * stream is parallel (that of a Head nothing else), SUPPORT_BEGIN nothing, the others a number.
 */
static uint8_t *emit_about(struct rewrite *r, uint8_t *p, const struct lc_span_plan *plan,
                           uint8_t local, int argument)
{
	*p++ = (uint8_t)(LC_OP_ALOAD_0 + local);
	if (plan->prologue == LC_SPAN_STREAM_BEGIN)
		*p++ = LC_OP_DUP;
	if (plan->prologue == LC_SPAN_STREAM_BEGIN || plan->prologue == LC_SPAN_HEAD_BEGIN) {
		if (!r->is_parallel)
			r->is_parallel = lc_pool_method(&r->edit.pool, r->edit.cls.this_class,
			                                "isParallel", "()Z");
		*p++ = LC_OP_INVOKEVIRTUAL;
		lc_be_put2(p, r->is_parallel);
		p += 2;
	} else if (plan->prologue != LC_SPAN_SUPPORT_BEGIN) {
		p = emit_number(p, argument);
	}
	return emit_call(r, p, plan->prologue);
}

static void set_prologue(struct rewrite *r, const struct lc_span_plan *plan,
                         struct lc_method_code *code)
{
	uint8_t *p = r->prologue;

	if (plan->prologue == LC_SPAN_FOREIGN_BEGIN || plan->prologue == LC_SPAN_PULL)
		p = emit_call(r, p, plan->prologue);
	else
		p = emit_about(r, p, plan, plan->local,
		               plan->both ? plan->argument & LC_SUBMIT_KIND_MASK : plan->argument);
	if (plan->both) /* entered once, with the second one */
		p = emit_about(r, p, plan, plan->local + 1, plan->argument);
	code->prologue = r->prologue;
	code->prologue_len = (uint16_t)(p - r->prologue);
}

/* Set the call that a method makes when an exception leaves it. */
static void set_tail(struct rewrite *r, struct lc_method_code *code, enum lc_span_call call)
{
	uint8_t *p = emit_call(r, r->tail, call);

	*p++ = LC_OP_ATHROW;
	if (!r->throwable) {
		r->throwable = lc_pool_class(&r->edit.pool, "java/lang/Throwable");
		r->stackmap_name = lc_pool_utf8(&r->edit.pool, "StackMapTable");
	}
	code->tail = r->tail;
	code->tail_len = (uint16_t)(p - r->tail);
	code->tail_type = r->throwable;
	code->stackmap_name = r->stackmap_name;
}

static enum lc_rewrite_status find(struct walk *w)
{
	struct lc_method_code *code = w->code;
	uint32_t bytes;

	for (uint32_t at = 0; at < code->len; at += bytes) {
		bytes = lc_method_insn_bytes(code, at);
		if (!bytes)
			return LC_REWRITE_MALFORMED;
		code->flags[at] |= LC_AT_START;
		if (!visit(w, at))
			return LC_REWRITE_MALFORMED;
	}
	if (w->failed)
		return LC_REWRITE_NO_MEMORY;
	sift(w);
	if (w->plan.prologue)
		set_prologue(w->r, &w->plan, code);
	if (w->plan.wrapped || w->plan.entered)
		set_tail(w->r, code, w->plan.wrapped ? LC_SPAN_END : LC_SPAN_REFUSED);
	return LC_REWRITE_DONE;
}

static enum lc_rewrite_status rewrite_code(void *user, const struct lc_member *method,
                                           const struct lc_attribute *a)
{
	struct rewrite *r = user;
	struct lc_method_code code;
	struct walk w = { .r = r, .code = &code, .own_super = true };
	uint32_t sites = r->counts.sites, max_stack;
	enum lc_rewrite_status status = lc_edit_read(&r->edit, a, &code);

	if (status != LC_REWRITE_DONE)
		return status;
	w.plan = lc_span_plan_method(&r->class, method);
	if ((w.plan.created || w.plan.stream_task) &&
	    !lc_tables_keep_local0(&r->edit.cls, method, &code))
		w.plan.created = w.plan.stream_task = false;
	r->len = 0;
	status = find(&w);
	if (status != LC_REWRITE_DONE || (!r->len && !code.prologue_len))
		return status;
	if (!lc_method_code_mark_handlers(&code))
		return LC_REWRITE_MALFORMED;
	status = lc_method_code_layout(&code, r->inserts, r->len);
	max_stack = (uint32_t)code.max_stack + STACK;
	if (status == LC_REWRITE_TOO_LARGE || max_stack > UINT16_MAX) {
		r->counts.sites = sites;
		r->counts.methods_left++;
		return LC_REWRITE_DONE;
	}
	return status == LC_REWRITE_DONE
	           ? lc_edit_put(&r->edit, a, &code, r->inserts, r->len, max_stack)
	           : status;
}

/* The number of a call that stands for the method of the handle `index`; -1: none does. */
static int handle_call(const struct lc_class *c, uint32_t index)
{
	uint16_t at = 0;
	struct lc_class_ref ref;

	if (lc_class_method_handle(c, index, &at) != LC_HANDLE_INTERFACE ||
	    !lc_class_interface_ref(c, at, &ref))
		return -1;
	if (lc_class_text_is(ref.holder, "java/lang/Runnable") &&
	    lc_class_text_is(ref.name, "run") && lc_class_text_is(ref.descriptor, "()V"))
		return LC_SPAN_RUN_REFERRED;
	if (lc_class_text_is(ref.holder, "java/util/concurrent/Callable") &&
	    lc_class_text_is(ref.name, "call") &&
	    lc_class_text_is(ref.descriptor, "()Ljava/lang/Object;"))
		return LC_SPAN_CALL_REFERRED;
	return -1;
}

static bool is_metafactory(const struct lc_class *c, uint32_t handle)
{
	uint16_t at = 0;
	struct lc_class_ref ref;

	return lc_class_method_handle(c, handle, &at) == LC_HANDLE_STATIC &&
	       lc_class_method_ref(c, at, &ref) &&
	       lc_class_text_is(ref.holder, "java/lang/invoke/LambdaMetafactory") &&
	       lc_class_text_is(ref.name, "metafactory");
}

/*
 * Is the handle given to LambdaMetafactory.metafactory() as what a function object is to call, and
 * to nothing else? `a` is the class's BootstrapMethods.
 */
static bool is_implementation(const struct lc_class *c, const struct lc_attribute *a,
                              uint32_t handle)
{
	const uint8_t *p = c->bytes + a->body, *end = p + a->len;
	uint32_t methods = a->len < 2 ? 0 : lc_be_get2(p);
	bool given = false;

	for (p += 2; methods && end - p >= 4; methods--) {
		const bool metafactory = is_metafactory(c, lc_be_get2(p));
		const uint32_t arguments = lc_be_get2(p + 2);

		p += 4;
		if (end - p < (ptrdiff_t)arguments * 2)
			return false;
		for (uint32_t i = 0; i < arguments; i++, p += 2) {
			if (lc_be_get2(p) != handle)
				continue;
			if (!metafactory || i != 1)
				return false;
			given = true;
		}
	}
	return given && !methods;
}

/*
 * A function object for Runnable::run has a hidden class, in which no call is seen: let it call
 * what stands for a call of run().
 */
static void edit_handles(struct rewrite *r)
{
	struct lc_edit *e = &r->edit;
	const struct lc_class *c = &e->cls;
	struct lc_attribute a;

	for (uint32_t at = c->attributes + 2; lc_class_attribute(c, at, (uint32_t)c->len, &a);
	     at = a.body + a.len) {
		if (!lc_class_text_is(lc_class_utf8(c, a.name), "BootstrapMethods"))
			continue;
		for (uint32_t i = 1; i < c->pool_count && e->handles_len < LC_HANDLE_EDITS; i++) {
			const int call = handle_call(c, i);

			if (call >= 0 && is_implementation(c, &a, i))
				e->handles[e->handles_len++] =
				    (struct lc_handle_edit){ c->pool[i], LC_HANDLE_STATIC,
					                     call_ref(r, (enum lc_span_call)call) };
		}
	}
}

enum lc_rewrite_status lc_span_rewrite(const uint8_t *in, size_t len, unsigned what, uint32_t is,
                                       struct lc_rewrite_result *out)
{
	struct rewrite r = { 0 };
	enum lc_rewrite_status status = lc_edit_open(&r.edit, in, len);

	*out = (struct lc_rewrite_result){ 0 };
	if (status != LC_REWRITE_DONE)
		return status;
	lc_span_classify(&r.edit.cls, what, is, &r.class);
	if (lc_class_text_is(r.class.name, LC_SPAN_CLASS) ||
	    lc_class_text_is(r.class.name, LC_HOOK_CLASS))
		status = LC_REWRITE_NOTHING;
	else
		status = lc_edit_methods(&r.edit, rewrite_code, &r);
	if (status == LC_REWRITE_DONE && r.class.calls)
		edit_handles(&r);
	if (status == LC_REWRITE_DONE && (r.edit.pool.bytes.failed || r.edit.pool.full))
		status = r.edit.pool.full ? LC_REWRITE_TOO_LARGE : LC_REWRITE_NO_MEMORY;
	if (status == LC_REWRITE_DONE && !r.counts.sites)
		status = r.counts.methods_left ? LC_REWRITE_TOO_LARGE : LC_REWRITE_NOTHING;
	if (status == LC_REWRITE_DONE)
		status = lc_edit_join(&r.edit, &r.counts.bytes, &r.counts.len);
	*out = r.counts;
	lc_edit_close(&r.edit);
	free(r.inserts);
	return status;
}
