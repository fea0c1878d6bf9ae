/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/frames/repeated.c - compares the sources and results of streams: see repeated.h.
 *
 * The table of places is under a spin lock, which is never held across a call into the JVM. Places
 * that find no room in the table are not looked at.
 */
#include "src/span/frames/repeated.h"

#include <errno.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/spin.h"
#include "src/classfile/span_rewrite.h"
#include "src/core/own_work.h"
#include "src/core/refs.h"
#include "src/profile/tally.h"
#include "src/span/frames/stack.h"

enum {
	PLACES = 1 << 12,
	FIRST = 8,       /* executions per look at a new place */
	NEVER = 1 << 20, /* for a place whose streams have no results */
	FRUITLESS = 8,   /* looks without a result before NEVER */
	SHARE = 100,     /* looking takes 1 / this of the time */
};

/* The lowest bit of print(): there are few such values, so equal ones prove little. */
enum { PLAIN = 1 };

struct place {
	uint32_t path; /* 0: free */
	uint32_t interval;
	uint64_t cost, total;   /* cycles of looking, and of the executions looked at */
	uint64_t source, value; /* of the last execution looked at */
	struct lc_block_look seen, taken;
};

static struct {
	_Atomic uint32_t lock;
	uint32_t places_len;
	struct place places[PLACES];
	/* Set once, by the first user: the class, and its method. */
	_Atomic(jclass) class;
	_Atomic(jmethodID) print;
} looks;

/* ---- under lock ---- */

/* The entry of the path; NULL without room. */
static struct place *place_of(uint32_t path)
{
	uint32_t i = (uint32_t)(lc_hash(path) >> 40) % PLACES;

	for (; looks.places[i].path; i = (i + 1) % PLACES)
		if (looks.places[i].path == path)
			return &looks.places[i];
	if (!path || looks.places_len > PLACES / 2)
		return NULL;
	looks.places_len++;
	looks.places[i].path = looks.places[i].seen.path = path;
	looks.places[i].interval = FIRST;
	return &looks.places[i];
}

/* Compare with the last execution that was looked at. */
static void compare(struct place *p, uint64_t source, uint64_t value)
{
	p->seen.comparable++;
	p->seen.plain += (value & PLAIN) != 0;
	if (p->source == source) {
		p->seen.repeated += p->value == value;
		p->seen.changed += p->value != value;
	}
	p->source = source;
	p->value = value;
}

/* Set the interval between looks by the cost of looking. */
static void set_interval(struct place *p)
{
	uint64_t interval = p->total ? SHARE * p->cost / p->total : 2 * (uint64_t)p->interval;

	if (!p->seen.comparable && p->seen.looked >= FRUITLESS)
		interval = NEVER;
	p->interval = interval < FIRST ? FIRST : interval > NEVER ? NEVER : (uint32_t)interval;
}

/* ---- */

/* From half to one and a half times the interval. */
static uint32_t random_near(struct lc_repeated *l, uint32_t interval)
{
	l->random = l->random * 1664525 + 1013904223 + (uint32_t)__rdtsc();
	return 1 + interval / 2 + (uint32_t)((uint64_t)(l->random >> 8) * interval >> 24);
}

uint32_t lc_repeated_next(struct lc_repeated *l, uint32_t path)
{
	const struct place *p;
	uint32_t interval = NEVER;

	lc_spin_lock(&looks.lock);
	p = place_of(path);
	if (p)
		interval = p->interval;
	lc_spin_unlock(&looks.lock);
	return random_near(l, interval);
}

static bool find_print(JNIEnv *jni)
{
	jclass class;
	jmethodID print;

	if (atomic_load_explicit(&looks.print, memory_order_acquire)) /* after the class */
		return true;
	class = (*jni)->FindClass(jni, LC_SPAN_CLASS);
	print =
	    class ? (*jni)->GetStaticMethodID(jni, class, "print", "(Ljava/lang/Object;)J") : NULL;
	if (print)
		class = lc_ref_new(jni, class);
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	if (!print || !class)
		return false;
	atomic_store_explicit(&looks.class, class, memory_order_relaxed); /* print follows */
	atomic_store_explicit(&looks.print, print, memory_order_release);
	return true;
}

/* A number made from the object's contents; 0: none. */
static uint64_t print_of(JNIEnv *jni, jobject object)
{
	jlong print;

	if (!find_print(jni))
		return 0;
	print = (*jni)->CallStaticLongMethod(
	    jni, atomic_load_explicit(&looks.class, memory_order_relaxed),
	    atomic_load_explicit(&looks.print, memory_order_relaxed), object);
	if ((*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		return 0;
	}
	return (uint64_t)print;
}

/* Drop looks whose spans are gone without an end, or on another thread. */
static void sift(struct lc_span_thread *s)
{
	struct lc_repeated *l = &s->looks;
	const struct lc_span_frame *f;

	while (l->len) {
		uint64_t number = l->looks[l->len - 1].number;

		for (f = s->top; f > s->frames && !(f->slot && f->number == number); f--)
			;
		if (f > s->frames)
			break;
		l->len--;
	}
	l->innermost = l->len ? l->looks[l->len - 1].number : 0;
}

void lc_repeated_begin(struct lc_span_thread *s, JNIEnv *jni, jobject stream, uint32_t path,
                       uint64_t number)
{
	uint64_t from = lc_cycles_now(&s->clock);
	struct lc_repeated *l = &s->looks;
	struct lc_own_work work;
	struct lc_repeated_run *look;

	sift(s);
	if (l->len == LC_REPEATED_MAX)
		return;
	lc_own_work_begin(&work);
	look = &l->looks[l->len++];
	look->number = l->innermost = number;
	look->path = path;
	look->source = print_of(jni, stream);
	lc_own_work_end(&work);
	look->cost = lc_cycles_now(&s->clock) - from;
}

void lc_repeated_end(struct lc_span_thread *s, JNIEnv *jni, jobject result, uint64_t total)
{
	uint64_t from = lc_cycles_now(&s->clock), value = 0;
	struct lc_repeated *l = &s->looks;
	const struct lc_repeated_run look = l->looks[l->len - 1];
	struct lc_own_work work;
	struct place *p;

	lc_own_work_begin(&work);
	l->len--;
	l->innermost = l->len ? l->looks[l->len - 1].number : 0;
	if (result && look.source)
		value = print_of(jni, result);
	from = lc_cycles_now(&s->clock) - from;
	lc_spin_lock(&looks.lock);
	p = place_of(look.path);
	if (p) {
		p->seen.looked++;
		if (value)
			compare(p, look.source, value);
		p->cost += look.cost + from;
		p->total += total;
		set_interval(p);
	}
	lc_spin_unlock(&looks.lock);
	lc_own_work_end(&work);
}

void lc_repeated_take(struct lc_tally *tally)
{
	for (uint32_t i = 0; i < PLACES; i++) {
		struct place *p = &looks.places[i];
		struct lc_block_look row;

		lc_spin_lock(&looks.lock);
		row = p->seen;
		row.looked -= p->taken.looked;
		row.comparable -= p->taken.comparable;
		row.repeated -= p->taken.repeated;
		row.changed -= p->taken.changed;
		row.plain -= p->taken.plain;
		if (row.looked)
			p->taken = p->seen;
		lc_spin_unlock(&looks.lock);
		if (row.looked && lc_tally_look(tally, &row) == -ENOMEM) {
			lc_spin_lock(&looks.lock);
			p->taken.looked -= row.looked; /* the next time */
			p->taken.comparable -= row.comparable;
			p->taken.repeated -= row.repeated;
			p->taken.changed -= row.changed;
			p->taken.plain -= row.plain;
			lc_spin_unlock(&looks.lock);
		}
	}
}
