/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/tasks/link.c - keeps links in two set-associative tables.
 *
 * The near table is small, so that the waiting objects of most programs stay in a CPU's cache. If
 * the near set has only entries that wait to be executed, a new entry goes to the far table. Sets
 * of the far table give up such entries, too. The entries of way w of all sets lie together, so
 * memory for a way is used only when a set needs it.
 *
 * Invariant: I1  all of a set, near or far, is read and written under the lock of the near set that
 *                its key leads to: the near set's number is the lower bits of the far one's.
 *            I2  a key is in at most one entry.
 * Order:     L1  of base/spin.h: unlock (release) -> lock (acquire).
 *
 * The file is longer than 600 lines since all data that its locks guard is here. A lock is held for
 * some dozens of instructions, without calls. If its holder loses the CPU, waiting threads yield.
 */
#include "src/span/tasks/link.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <x86intrin.h>

#include "src/base/hash.h"
#include "src/base/spin.h"
#include "src/core/counters.h"
#include "src/format/kinds.h"

enum {
	IN_USE = 1,
	EXECUTED = 2,
	REPEATED = 4, /* executed more than once, or will be */
	AMBIGUOUS = 8,
	STREAM = 16,
	SUBMITTED = 32,
	WAITING = 128, /* entry.pending is not 0 */
	MIXED = 64,    /* waits for executions that were submitted in several ways */
	PENDING_MAX = UINT16_MAX,
	LIVE_BITS = 10
};

struct entry {
	uint64_t object; /* streams: id */
	uint64_t submit_tsc, created_tsc;
	uint32_t class;
	uint32_t site; /* streams: path */
	uint32_t creator, maker;
	uint32_t submit_path;
	uint16_t
	    pending; /* submissions that were not executed; streams: tasks that did not compute */
	uint8_t submit_kind; /* streams: level */
	uint8_t unexecuted;  /* objects whose creation was counted and that were not executed yet */
};

struct set {
	_Alignas(64) _Atomic uint32_t lock; /* near sets only */
	uint16_t tick;                      /* of the set's clock: the oldest entry goes first */
	uint16_t age[LC_LINK_WAYS];
	uint8_t flags[LC_LINK_WAYS];
	_Alignas(16) uint32_t hash[LC_LINK_WAYS];
};
_Static_assert(sizeof(struct set) == 64, "a cache line");

struct table {
	struct set *sets;
	struct entry *entries; /* [way][set] */
	uint32_t sets_len;
};

/* Counters of their own cache line for every 16th set, since they grow in floods. */
struct counts {
	_Alignas(64) _Atomic uint64_t dropped, ambiguous, unknown;
};

enum { COUNTS = 16, FORGOTTEN_MAX = 4 };

/* Sites that lc_link_forgotten() has to tell of, and how many they are. */
_Thread_local uint32_t lc_link_forgot;
static _Thread_local struct lc_link_forgotten forgotten_sites[FORGOTTEN_MAX]
    __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t forgotten_objects;

static struct {
	struct table near, far;
	_Atomic bool
	    spilled; /* the far table was ever used; relaxed: who put an entry there saw it */
	struct counts counts[COUNTS];
	_Atomic uint64_t live[1 << LIVE_BITS]; /* numbers of running streams */
	_Atomic uint64_t live_unplaced;        /* running streams whose slot another stream has */
} links;

/* The position of a key in a table. */
struct place {
	struct table *table;
	uint32_t set, way;
};

static uint32_t far_set_of(uint32_t hash)
{
	/* Neighbouring numbers share a set. */
	return lc_link_number(hash) / LC_LINK_WAYS & (LC_LINK_FAR_SETS - 1);
}

static struct set *set_of(const struct place *p)
{
	return &p->table->sets[p->set];
}

static struct entry *entry_of(const struct place *p)
{
	return &p->table->entries[(size_t)p->way * p->table->sets_len + p->set];
}

static uint8_t *flags_of(const struct place *p)
{
	return &set_of(p)->flags[p->way];
}

static struct set *lock(uint32_t hash)
{
	struct set *s = &links.near.sets[far_set_of(hash) & (LC_LINK_NEAR_SETS - 1)];

	lc_spin_lock(&s->lock);
	return s;
}

void lc_link_prefetch(uint32_t hash)
{
	/* To write. Often the line was written by another CPU last. */
	const uint32_t set = far_set_of(hash);

	__builtin_prefetch(&links.near.sets[set & (LC_LINK_NEAR_SETS - 1)], 1);
	if (atomic_load_explicit(&links.spilled, memory_order_relaxed))
		__builtin_prefetch(&links.far.sets[set], 1);
}

static void unlock(struct set *s)
{
	lc_spin_unlock(&s->lock);
}

static struct counts *counts_of(uint32_t hash)
{
	return &links.counts[far_set_of(hash) % COUNTS];
}

/* Nothing will be known of `n` objects of the site. */
static void forget(uint32_t site, uint32_t n)
{
	uint32_t at = 0;

	if (!n)
		return;
	atomic_fetch_add_explicit(&forgotten_objects, n, memory_order_relaxed); /* a count */
	while (at < lc_link_forgot && forgotten_sites[at].site != site)
		at++;
	if (at == FORGOTTEN_MAX)
		return; /* a thread that makes stream tasks only, and that nobody asks */
	if (at == lc_link_forgot)
		forgotten_sites[lc_link_forgot++] = (struct lc_link_forgotten){ .site = site };
	forgotten_sites[at].count += n;
}

bool lc_link_forgotten_slowly(struct lc_link_forgotten *out)
{
	*out = forgotten_sites[--lc_link_forgot];
	return true;
}

/* The ways with this hash, one bit each. */
static unsigned same_hash(const struct set *s, uint32_t hash)
{
	const __m128i *all = (const __m128i *)s->hash;
	__m128i wanted = _mm_set1_epi32((int)hash);
	__m128i low = _mm_cmpeq_epi32(_mm_load_si128(all), wanted);
	__m128i high = _mm_cmpeq_epi32(_mm_load_si128(all + 1), wanted);

	return (unsigned)_mm_movemask_ps(_mm_castsi128_ps(low)) |
	       (unsigned)_mm_movemask_ps(_mm_castsi128_ps(high)) << 4;
}

static bool find_in(struct place *p, uint32_t hash, uint32_t class, unsigned stream)
{
	const struct set *s = set_of(p);

	for (unsigned same = same_hash(s, hash); same; same &= same - 1) {
		p->way = (uint32_t)__builtin_ctz(same);
		if ((s->flags[p->way] & (IN_USE | STREAM)) == (IN_USE | stream) &&
		    entry_of(p)->class == class)
			return true;
	}
	return false;
}

/* The entry of a key; false where there is none. Under its lock. */
static bool find(struct place *p, uint32_t hash, uint32_t class, unsigned stream)
{
	uint32_t set = far_set_of(hash);

	*p = (struct place){ .table = &links.near, .set = set & (LC_LINK_NEAR_SETS - 1) };
	if (find_in(p, hash, class, stream))
		return true;
	if (!atomic_load_explicit(&links.spilled, memory_order_relaxed))
		return false;
	*p = (struct place){ .table = &links.far, .set = set };
	return find_in(p, hash, class, stream);
}

static _Atomic uint64_t *live_slot(uint64_t stream)
{
	return &links.live[lc_hash(stream) >> (64 - LIVE_BITS)];
}

/*
 * Has the stream of this number ended? Whoever finds an entry of it, under its lock, sees that it
 * began (L1): it is never said of one that runs.
 */
static bool has_ended(uint64_t stream)
{
	return atomic_load_explicit(live_slot(stream), memory_order_relaxed) != stream &&
	       !atomic_load_explicit(&links.live_unplaced, memory_order_relaxed);
}

/*
 * Nothing is lost with it: it was executed, and probably will not be again; or its stream has
 * ended.
 */
static bool is_spent(const struct place *p)
{
	if (*flags_of(p) & STREAM)
		return has_ended(entry_of(p)->object);
	return (*flags_of(p) & (EXECUTED | REPEATED | WAITING)) == EXECUTED;
}

static uint16_t age_of(const struct set *s, uint32_t way)
{
	return (uint16_t)(s->tick - s->age[way]);
}

/* A way for a new entry: a free one, else the oldest spent one, else (`any`) the oldest. */
static bool make_room(struct place *p, bool any)
{
	const struct set *s = set_of(p);
	uint32_t spent = 0, oldest = 0; /* 1, age and way: the largest one wins, without branches */

	for (p->way = 0; p->way < LC_LINK_WAYS; p->way++) {
		uint32_t rank = 1u << 31 | (uint32_t)age_of(s, p->way) << 8 | p->way;
		uint32_t spent_rank = is_spent(p) ? rank : 0;

		if (!(s->flags[p->way] & IN_USE))
			return true;
		oldest = rank > oldest ? rank : oldest;
		spent = spent_rank > spent ? spent_rank : spent;
	}
	p->way = (spent ? spent : oldest) & (LC_LINK_WAYS - 1);
	return any || spent;
}

static void touch(const struct place *p)
{
	struct set *s = set_of(p);

	s->age[p->way] = ++s->tick;
}

/* A new entry for a key that has none. Under its lock. */
static struct entry *put(struct place *p, uint32_t hash, uint32_t class, unsigned flags)
{
	uint32_t set = far_set_of(hash);

	*p = (struct place){ .table = &links.near, .set = set & (LC_LINK_NEAR_SETS - 1) };
	if (!make_room(p, false)) {
		atomic_store_explicit(&links.spilled, true, memory_order_relaxed);
		*p = (struct place){ .table = &links.far, .set = set };
		make_room(p, true);
		if (*flags_of(p) & IN_USE && !is_spent(p)) {
			lc_count(&counts_of(hash)->dropped);
			if (!(*flags_of(p) & STREAM))
				forget(entry_of(p)->site, entry_of(p)->unexecuted);
		}
	}
	set_of(p)->hash[p->way] = hash;
	*flags_of(p) = (uint8_t)(IN_USE | flags);
	touch(p);
	*entry_of(p) = (struct entry){ .class = class };
	return entry_of(p);
}

/* Two objects lead to the entry, and both may be executed yet. */
static void make_ambiguous(const struct place *p, uint32_t hash)
{
	*flags_of(p) |= AMBIGUOUS;
	lc_count(&counts_of(hash)->ambiguous);
}

static void set_creation(struct entry *e, const struct lc_link_creation *x)
{
	e->site = x->site;
	e->creator = x->creator;
	e->maker = x->maker;
	e->object = x->object;
	e->created_tsc = x->tsc;
	e->unexecuted = 1;
}

/* The object of the entry is reported once more; or is it another one? */
static bool created_again(const struct place *p, struct lc_link_key key,
                          const struct lc_link_creation *x)
{
	struct entry *e = entry_of(p);

	if (!e->site && !(*flags_of(p) & AMBIGUOUS) && (x->again || !(*flags_of(p) & EXECUTED))) {
		/* Submitted by its constructor, which ends now. */
		set_creation(e, x);
		return true;
	}
	if (x->single) {
		e->creator = x->creator; /* of the expression's value this time */
		e->maker = x->maker;
		return false;
	}
	if (x->again)
		return false;
	if (e->site != x->site || e->creator != x->creator) {
		make_ambiguous(p, key.hash);
		forget(e->site, e->unexecuted);
		forget(x->site, 1);
		e->unexecuted = 0;
		return true;
	}
	/*
	 * Another object, of the same origin: nothing that is said of one is wrong for the other.
	 */
	if (is_spent(p)) { /* that the other one was submitted is nothing of this one's */
		*flags_of(p) = IN_USE;
		set_creation(e, x);
		return true;
	}
	if (e->pending)
		*flags_of(p) |= MIXED;
	*flags_of(p) &= (uint8_t)~EXECUTED;
	if (e->unexecuted < UINT8_MAX)
		e->unexecuted++;
	e->object = 0;
	e->created_tsc = 0;
	e->maker = x->maker;
	return true;
}

bool lc_link_created(struct lc_link_key key, const struct lc_link_creation *x)
{
	struct set *locked = lock(key.hash);
	struct place p;
	bool is_new = true;

	if (find(&p, key.hash, key.class, 0)) {
		is_new = created_again(&p, key, x);
		touch(&p);
	} else {
		set_creation(put(&p, key.hash, key.class, x->single ? REPEATED : 0), x);
	}
	unlock(locked);
	return is_new;
}

uint32_t lc_link_submitted(struct lc_link_key key, uint8_t kind, uint32_t path, uint64_t tsc)
{
	struct set *locked = lock(key.hash);
	struct place p;
	struct entry *e;
	uint32_t site;

	if (!find(&p, key.hash, key.class, 0))
		put(&p, key.hash, key.class, 0);
	e = entry_of(&p);
	if (e->pending && (e->submit_kind != kind || e->submit_path != path))
		*flags_of(&p) |= MIXED;
	/* If several submissions wait, the one that is executed first is unknown. */
	e->submit_tsc = e->pending ? 0 : tsc;
	e->submit_kind = kind;
	e->submit_path = path;
	if (e->pending < PENDING_MAX)
		e->pending++;
	*flags_of(&p) |= SUBMITTED | WAITING;
	if (kind == LC_SUBMIT_SCHEDULE)
		*flags_of(&p) |= REPEATED;
	touch(&p);
	site = *flags_of(&p) & AMBIGUOUS ? 0 : e->site;
	unlock(locked);
	return site;
}

bool lc_link_pending(struct lc_link_key key)
{
	struct set *locked = lock(key.hash);
	struct place p;
	bool pending = find(&p, key.hash, key.class, 0) && entry_of(&p)->pending;

	unlock(locked);
	return pending;
}

/* Fill *out from an entry that is not ambiguous. */
static void tell(const struct place *p, struct lc_link_task *out)
{
	const struct entry *e = entry_of(p);
	unsigned flags = *flags_of(p);

	out->object = e->object;
	out->site = e->site;
	out->creator = e->creator;
	out->maker = e->maker;
	out->created_tsc = e->created_tsc;
	out->submitted = flags & SUBMITTED;
	out->first = e->unexecuted;
	if (flags & SUBMITTED && !(flags & MIXED)) {
		out->submit_kind = e->submit_kind;
		out->submit_path = e->submit_path;
		if (e->pending)
			out->submit_tsc = e->submit_tsc;
	}
}

bool lc_link_executed(struct lc_link_key key, struct lc_link_task *out)
{
	struct set *locked = lock(key.hash);
	struct place p;
	struct entry *e;
	bool known = find(&p, key.hash, key.class, 0);

	memset(out, 0, sizeof(*out));
	if (known) {
		e = entry_of(&p);
		known = !(*flags_of(&p) & AMBIGUOUS);
		if (known)
			tell(&p, out);
		if (e->pending)
			e->pending--;
		if (e->pending)
			e->submit_tsc = 0;
		else
			*flags_of(&p) &= (uint8_t) ~(MIXED | WAITING);
		if (*flags_of(&p) & EXECUTED)
			*flags_of(&p) |= REPEATED;
		*flags_of(&p) |= EXECUTED;
		if (e->unexecuted)
			e->unexecuted--;
		touch(&p);
	}
	unlock(locked);
	if (!known)
		lc_count(&counts_of(key.hash)->unknown);
	return known;
}

void lc_link_stream_begins(uint64_t id)
{
	uint64_t none = 0;

	if (!atomic_compare_exchange_strong_explicit(live_slot(id), &none, id, memory_order_relaxed,
	                                             memory_order_relaxed))
		atomic_fetch_add_explicit(&links.live_unplaced, 1, memory_order_relaxed);
}

void lc_link_stream_ends(uint64_t id)
{
	/* Only the stream that owns the slot changes it. */
	if (atomic_load_explicit(live_slot(id), memory_order_relaxed) == id)
		atomic_store_explicit(live_slot(id), 0, memory_order_relaxed);
	else
		atomic_fetch_sub_explicit(&links.live_unplaced, 1, memory_order_relaxed);
}

void lc_link_stream_put(uint32_t hash, const struct lc_link_stream *stream)
{
	struct set *locked = lock(hash);
	struct place p;
	struct entry *e;
	bool found = find(&p, hash, 0, STREAM);

	if (found && *flags_of(&p) & AMBIGUOUS) {
		e = entry_of(&p);
	} else if (found && entry_of(&p)->object != stream->id &&
	           !has_ended(entry_of(&p)->object)) {
		e = entry_of(&p);
		make_ambiguous(&p, hash);
	} else {
		e = found ? entry_of(&p) : put(&p, hash, 0, STREAM);
		if (e->object != stream->id)
			e->pending = 0; /* tasks of a stream that has ended never compute */
		e->object = stream->id;
		e->site = stream->path;
		e->submit_kind = stream->level;
		*flags_of(&p) &= (uint8_t)~EXECUTED;
	}
	if (e->pending < PENDING_MAX)
		e->pending++;
	unlock(locked);
}

bool lc_link_stream_take(uint32_t hash, struct lc_link_stream *out)
{
	struct set *locked = lock(hash);
	struct place p;
	struct entry *e;
	bool found = find(&p, hash, 0, STREAM), known = false;

	if (found) {
		e = entry_of(&p);
		known = !(*flags_of(&p) & AMBIGUOUS);
		if (known)
			*out = (struct lc_link_stream){ .id = e->object,
				                        .path = e->site,
				                        .level = e->submit_kind };
		if (e->pending)
			e->pending--;
		if (!e->pending) /* some tasks compute again, after they have forked themselves */
			*flags_of(&p) = known ? *flags_of(&p) | EXECUTED : 0;
	}
	unlock(locked);
	if (!known)
		lc_count(&counts_of(hash)->unknown);
	return known;
}

static struct {
	uint64_t dropped, ambiguous, unknown;
} counted; /* what the rows point to */

static bool read_counters(const struct lc_options *options)
{
	if (!options->spans)
		return false;
	counted.dropped = counted.ambiguous = counted.unknown = 0;
	for (unsigned i = 0; i < COUNTS; i++) {
		const struct counts *c = &links.counts[i];

		counted.dropped += atomic_load_explicit(&c->dropped, memory_order_relaxed);
		counted.ambiguous += atomic_load_explicit(&c->ambiguous, memory_order_relaxed);
		counted.unknown += atomic_load_explicit(&c->unknown, memory_order_relaxed);
	}
	return true;
}

static const struct lc_counter counters[] = {
	/* Entries that gave way before they were executed. */
	LC_COUNTER("spans_links_dropped", &counted.dropped),
	/* Objects that could not be told from another one. */
	LC_COUNTER("spans_links_ambiguous", &counted.ambiguous),
	/* Executions, and stream tasks, that found nothing. */
	LC_COUNTER("spans_links_unknown", &counted.unknown),
	/* Created objects whose execution is unknown. */
	LC_COUNTER("spans_links_forgotten", &forgotten_objects),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = read_counters);

static size_t sets_bytes(uint32_t sets)
{
	return sets * sizeof(struct set);
}

static size_t table_bytes(uint32_t sets)
{
	return sets_bytes(sets) + (size_t)sets * LC_LINK_WAYS * sizeof(struct entry);
}

static int make_table(struct table *t, uint32_t sets)
{
	char *p = mmap(NULL, table_bytes(sets), PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -ENOMEM;
	t->sets = (struct set *)(void *)p;
	t->entries = (struct entry *)(void *)(p + sets_bytes(sets));
	t->sets_len = sets;
	return 0;
}

static void free_table(struct table *t)
{
	if (t->sets)
		munmap(t->sets, table_bytes(t->sets_len));
	*t = (struct table){ 0 };
}

int lc_link_init(void)
{
	int err;

	if (links.far.sets)
		return 0;
	err = make_table(&links.near, LC_LINK_NEAR_SETS);
	if (!err)
		err = make_table(&links.far, LC_LINK_FAR_SETS);
	if (err)
		lc_link_free();
	return err;
}

void lc_link_free(void)
{
	free_table(&links.near);
	free_table(&links.far);
	atomic_store_explicit(&links.spilled, false, memory_order_relaxed);
	memset(links.counts, 0, sizeof(links.counts));
	atomic_store_explicit(&forgotten_objects, 0, memory_order_relaxed);
	lc_link_forgot = 0;
}
