/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/split.c - splits noted accesses over sites, and adds up the errors of the split.
 *
 * Errors of LIVE come from the sample of objects, and an object stays in the sample for as long as
 * it lives. Two accesses that are split by the same objects are wrong in the same way, so their
 * standard deviations add, not their variances. For objects older than a collection, the code
 * assumes the same objects at all times, which bounds the error from above. New objects of two
 * epochs are different objects: their variances add. `struct state` holds the sums for this.
 */
#include "src/heap/split.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "src/base/hash.h"
#include "src/base/vector.h"

/* The sums of LIVE's errors for one engine, class and site. */
struct state {
	uint32_t class_site, site;
	uint16_t engine;
	bool used;
	uint32_t new_epoch;  /* of new_sd */
	double old_sd;       /* for objects older than a collection, or of any age */
	double new_variance; /* for new objects of epochs before new_epoch */
	double new_sd;
	double told_variance; /* in thousandths: the variance given to emit() so far */
	double carry;         /* thousandths of a sample, not given to emit() yet; below 1 */
};

struct lc_split {
	struct lc_split_access *accesses;
	size_t accesses_len, accesses_cap;
	struct state *states; /* open addressing; a power of two */
	size_t states_len, states_cap;
};

/*
 * The objects of a class, or of one of its sites, that match accesses of one epoch and age, and are
 * not in the sample: each object of the sample stands for 1 / chance - 1 of them.
 */
struct part {
	double weight;   /* their estimated number */
	double variance; /* of that number: sum of (1 - chance) / chance^2 */
};

struct emitter {
	void (*emit)(void *user, uint32_t thread, const struct lc_block_split *row);
	void *user;
};

struct lc_split *lc_split_create(void)
{
	return calloc(1, sizeof(struct lc_split));
}

void lc_split_destroy(struct lc_split *s)
{
	if (!s)
		return;
	free(s->accesses);
	free(s->states);
	free(s);
}

int lc_split_note(struct lc_split *s, const struct lc_split_access *a)
{
	struct lc_split_access *accesses = lc_vector_reserve_array(
	    s->accesses, &s->accesses_cap, s->accesses_len + 1, sizeof(*accesses));

	if (!accesses)
		return -ENOMEM;
	s->accesses = accesses;
	s->accesses[s->accesses_len++] = *a;
	return 0;
}

size_t lc_split_noted(const struct lc_split *s)
{
	return s->accesses_len;
}

static struct state *state_slot(struct state *states, size_t cap, uint16_t engine,
                                uint32_t class_site, uint32_t site)
{
	uint64_t hash = lc_hash((uint64_t)class_site << 32 | site);
	size_t at = (size_t)((hash ^ hash >> 32) + engine) & (cap - 1);

	while (states[at].used && (states[at].engine != engine || states[at].site != site ||
	                           states[at].class_site != class_site))
		at = (at + 1) & (cap - 1);
	return &states[at];
}

static int grow_states(struct lc_split *s)
{
	size_t cap = s->states_cap ? s->states_cap * 2 : 64;
	struct state *bigger = calloc(cap, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	for (size_t i = 0; i < s->states_cap; i++) {
		const struct state *old = &s->states[i];

		if (old->used)
			*state_slot(bigger, cap, old->engine, old->class_site, old->site) = *old;
	}
	free(s->states);
	s->states = bigger;
	s->states_cap = cap;
	return 0;
}

/* The state of a site, which is made if it is new; NULL without memory. */
static struct state *state_of(struct lc_split *s, uint16_t engine, uint32_t class_site,
                              uint32_t site)
{
	struct state *x;

	if (s->states_len * 2 >= s->states_cap && grow_states(s))
		return NULL;
	x = state_slot(s->states, s->states_cap, engine, class_site, site);
	if (!x->used) {
		x->used = true;
		x->engine = engine;
		x->class_site = class_site;
		x->site = site;
		s->states_len++;
	}
	return x;
}

static int by_class_and_site(const void *a, const void *b)
{
	const struct lc_split_object *x = a, *y = b;

	if (x->class_site != y->class_site)
		return x->class_site < y->class_site ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

static int by_what(const struct lc_split_access *x, const struct lc_split_access *y)
{
	if (x->class_site != y->class_site)
		return x->class_site < y->class_site ? -1 : 1;
	if (x->epoch != y->epoch)
		return x->epoch < y->epoch ? -1 : 1;
	if (x->age != y->age)
		return x->age < y->age ? -1 : 1;
	if (x->engine != y->engine)
		return x->engine < y->engine ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static int by_group(const void *a, const void *b)
{
	return by_what(a, b);
}

static int by_class_and_address(const void *a, const void *b)
{
	const struct lc_split_access *x = a, *y = b;

	if (x->class_site != y->class_site)
		return x->class_site < y->class_site ? -1 : 1;
	if (x->epoch != y->epoch)
		return x->epoch < y->epoch ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return by_what(x, y);
}

/* May an access of this epoch and age have been to `o`? */
static bool counts(const struct lc_split_object *o, uint32_t epoch, uint8_t age)
{
	return o->born <= epoch && epoch <= o->died && (age != LC_SPLIT_NEW || o->born == epoch) &&
	       (age != LC_SPLIT_OLD || o->born < epoch);
}

static void add_object(struct part *p, const struct lc_split_object *o)
{
	double weight = 1 / o->chance;

	p->weight += weight - 1;
	p->variance += (1 - o->chance) * weight * weight;
}

static struct part add_all(const struct lc_split_object *objects, size_t len, uint32_t epoch,
                           uint8_t age)
{
	struct part all = { 0 };

	for (size_t i = 0; i < len; i++)
		if (counts(&objects[i], epoch, age))
			add_object(&all, &objects[i]);
	return all;
}

/* Add an error of standard deviation `sd`; returns how much told_variance must grow. */
static double add_error(struct state *x, double sd, uint32_t epoch, uint8_t age)
{
	double total, told = x->told_variance;

	if (age == LC_SPLIT_NEW) {
		if (x->new_epoch != epoch) {
			x->new_variance += x->new_sd * x->new_sd;
			x->new_sd = 0;
			x->new_epoch = epoch;
		}
		x->new_sd += sd;
	} else {
		x->old_sd += sd;
	}
	total = x->old_sd + sqrt(x->new_variance + x->new_sd * x->new_sd);
	x->told_variance = 1000 * total * total;
	return x->told_variance > told ? x->told_variance - told : 0;
}

/*
 * The samples of the thread of group[*at]; *at: behind its accesses, which are side by side. `all`:
 * those in objects of the sample are included.
 */
static uint64_t of_thread(const struct lc_split_access *group, size_t group_len, bool all,
                          size_t *at)
{
	const uint32_t thread = group[*at].thread;
	uint64_t samples = 0;

	for (; *at < group_len && group[*at].thread == thread; ++*at)
		samples += all || !group[*at].object ? group[*at].samples : 0;
	return samples;
}

/* Give emit() the rows of LIVE_WHOLE or HITS_WHOLE for a group. */
static void emit_whole(enum lc_split_method method, const struct lc_split_access *group,
                       size_t group_len, const struct emitter *e)
{
	for (size_t i = 0; i < group_len;) {
		const uint32_t thread = group[i].thread;

		e->emit(e->user, thread,
		        &(struct lc_block_split){
		            .engine = group->engine,
		            .method = (uint8_t)method,
		            .class_site = group->class_site,
		            .site = group->class_site,
		            .samples_milli = 1000 * of_thread(group, group_len, true, &i),
		        });
	}
}

/*
 * Give emit() the rows of one site for the accesses of one class, epoch, age and engine to objects
 * outside the sample: `samples`, in the order of threads. The site's variance is spread over the
 * threads by their samples: it is right for their sum.
 */
static void emit_site(struct lc_split *s, const struct lc_split_access *group, size_t group_len,
                      uint64_t samples, uint32_t site, double share, double variance,
                      const struct emitter *e)
{
	const struct lc_split_access *a = group;
	struct state *x = state_of(s, a->engine, a->class_site, site);
	double grown;

	if (!x)
		return; /* no memory: the site is missing, and the sum of the rows is smaller */
	grown = add_error(x, (double)samples * sqrt(variance), a->epoch, a->age);
	for (size_t i = 0; i < group_len;) {
		const uint32_t thread = group[i].thread;
		const uint64_t own = of_thread(group, group_len, false, &i);
		const double milli = 1000 * (double)own * share + x->carry;

		x->carry = milli - floor(milli);
		e->emit(e->user, thread,
		        &(struct lc_block_split){
		            .engine = a->engine,
		            .method = LC_SPLIT_LIVE,
		            .class_site = a->class_site,
		            .site = site,
		            .samples_milli = (uint64_t)milli,
		            .variance_milli = (uint64_t)ceil(grown * (double)own / (double)samples),
		        });
	}
}

/* Give emit() the rows of LIVE for accesses to objects of the sample, whose site is known. */
static void emit_known(const struct lc_split_access *group, size_t group_len,
                       const struct emitter *e)
{
	for (size_t i = 0; i < group_len; i++)
		if (group[i].object)
			e->emit(e->user, group[i].thread,
			        &(struct lc_block_split){
			            .engine = group->engine,
			            .method = LC_SPLIT_LIVE,
			            .class_site = group->class_site,
			            .site = group[i].object->site,
			            .samples_milli = 1000 * group[i].samples,
			        });
}

/*
 * Settle LIVE for one group over the objects of its class, unless objects without a site may be
 * among those that were accessed. The accesses outside the sample are split by the objects that are
 * outside, as far as there are any: by Poisson's distribution, with a chance of 1 - exp(-number).
 * Returns the samples not split.
 */
static uint64_t settle_live(struct lc_split *s, const struct lc_split_access *group,
                            size_t group_len, const struct lc_split_object *objects, size_t len,
                            bool from_start, const struct emitter *e)
{
	uint32_t epoch = group->epoch;
	uint8_t age = group->age;
	const bool all_in_sample = from_start || age == LC_SPLIT_NEW;
	struct part all = { 0 };
	uint64_t samples = 0;
	double any;

	emit_whole(LC_SPLIT_LIVE_WHOLE, group, group_len, e);
	if (!from_start)
		emit_whole(LC_SPLIT_HITS_WHOLE, group, group_len, e);
	for (size_t i = 0; i < group_len; i++)
		samples += all_in_sample && group[i].object ? 0 : group[i].samples;
	if (!all_in_sample)
		return samples;
	emit_known(group, group_len, e);
	all = add_all(objects, len, epoch, age);
	if (all.weight <= 0 || !samples)
		return samples;
	any = -expm1(-all.weight);
	for (size_t i = 0; i < len;) {
		uint32_t site = objects[i].site;
		struct part part = { 0 };

		for (; i < len && objects[i].site == site; i++)
			if (counts(&objects[i], epoch, age))
				add_object(&part, &objects[i]);
		if (part.weight > 0)
			emit_site(s, group, group_len, samples, site,
			          any * part.weight / all.weight,
			          any * any * part.variance / (all.weight * all.weight), e);
	}
	return (uint64_t)((1 - any) * (double)samples);
}

/* Index of the first access, sorted by_class_and_address(), at or after (epoch, start). */
static size_t first_at(const struct lc_split_access *accesses, size_t len, uint32_t epoch,
                       uint64_t start)
{
	size_t low = 0, high = len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct lc_split_access *a = &accesses[middle];

		if (a->epoch < epoch || (a->epoch == epoch && a->start < start))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * An access to `o` itself counts for all objects that `o` stands for. `whole`: these accesses are
 * the whole, since every object might have been sampled.
 */
static void emit_hit(struct lc_split_object *o, const struct lc_split_access *a, bool whole,
                     const struct emitter *e)
{
	double weight = 1 / o->chance, before = o->hits;
	struct lc_block_split row = {
		.engine = a->engine,
		.method = LC_SPLIT_HITS_WHOLE,
		.class_site = a->class_site,
		.site = a->class_site,
		.samples_milli = (uint64_t)llround(1000 * (double)a->samples * weight),
	};

	if (whole)
		e->emit(e->user, a->thread, &row);
	o->hits += (double)a->samples;
	row.method = LC_SPLIT_HITS;
	row.site = o->site;
	row.variance_milli = (uint64_t)ceil(1000 * (1 - o->chance) * weight * weight *
	                                    (o->hits * o->hits - before * before));
	e->emit(e->user, a->thread, &row);
}

/* Settle HITS for the accesses to one class, sorted by_class_and_address(), and note the objects
 * hit. */
static void settle_hits(struct lc_split_access *accesses, size_t accesses_len,
                        struct lc_split_object *objects, size_t len, bool whole,
                        const struct emitter *e)
{
	for (size_t i = 0; i < len; i++) {
		struct lc_split_object *o = &objects[i];

		for (uint32_t back = 0; back < LC_SPLIT_ADDRESSES && back <= o->last; back++) {
			uint32_t epoch = o->last - back;
			uint64_t address = o->address[back];

			if (!address || epoch < o->born)
				continue;
			for (size_t at = first_at(accesses, accesses_len, epoch, address);
			     at < accesses_len && accesses[at].epoch == epoch &&
			     accesses[at].start == address;
			     at++) {
				accesses[at].object = o;
				emit_hit(o, &accesses[at], whole, e);
			}
		}
	}
}

/* The number of objects of `class_site` in objects sorted by class; *at: the first, updated. */
static size_t class_run(const struct lc_split_object *objects, size_t len, uint32_t class_site,
                        size_t *at)
{
	size_t end;

	while (*at < len && objects[*at].class_site < class_site)
		++*at;
	for (end = *at; end < len && objects[end].class_site == class_site; end++)
		;
	return end - *at;
}

/* The number of accesses at the beginning that are of one class, epoch, age and engine. */
static size_t group_run(const struct lc_split_access *accesses, size_t len)
{
	size_t n = 1;

	while (n < len && accesses[n].class_site == accesses->class_site &&
	       accesses[n].epoch == accesses->epoch && accesses[n].age == accesses->age &&
	       accesses[n].engine == accesses->engine)
		n++;
	return n;
}

uint64_t
lc_split_settle(struct lc_split *s, struct lc_split_object *objects, size_t len, bool from_start,
                void (*emit)(void *user, uint32_t thread, const struct lc_block_split *row),
                void *user)
{
	struct emitter e = { emit, user };
	uint64_t unsplit = 0;
	size_t at = 0;

	if (!s->accesses_len)
		return 0;
	qsort(s->accesses, s->accesses_len, sizeof(*s->accesses), by_class_and_address);
	if (len)
		qsort(objects, len, sizeof(*objects), by_class_and_site);
	for (size_t i = 0, class_len; i < s->accesses_len; i += class_len) {
		struct lc_split_access *class = &s->accesses[i];
		const size_t of_class = class_run(objects, len, class->class_site, &at);

		class_len = 1;
		while (i + class_len < s->accesses_len &&
		       class[class_len].class_site == class->class_site)
			class_len++;
		settle_hits(class, class_len, objects + at, of_class, from_start, &e);
		qsort(class, class_len, sizeof(*class), by_group);
		for (size_t j = 0, n; j < class_len; j += n) {
			n = group_run(class + j, class_len - j);
			unsplit +=
			    settle_live(s, class + j, n, objects + at, of_class, from_start, &e);
		}
	}
	s->accesses_len = 0;
	return unsplit;
}
