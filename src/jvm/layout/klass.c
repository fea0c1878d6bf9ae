/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/klass.c - proves classes by their words, and remembers them.
 *
 * Classes that were proved are entries of a hash table that all threads' handlers share: open
 * addressing, nothing is ever removed. An entry is one class for ever, with the name that it had
 * when it was proved; what can change is whether the memory at its Klass * is still that class.
 *
 * Invariant: I1  an entry's `klass` is set once. The entries of one Klass * follow one another in
 *                probing order, the latest last: only that one can still be true.
 *            I2  fields other than `klass`, `state`, `epoch` are written by the handler that
 *                claimed the entry, before it is READY.
 *            I3  `epoch` is one that began after, or in which, everything about the class was
 *                compared with the memory at its Klass *. A class is unloaded only while the world
 *                is stopped, which ends the epoch, so until then the entry is true. Collectors that
 *                unload while the program runs have every object compared.
 * Order:     K1  fields before READY (release) -> a reader that acquires READY.
 * A handler that finds an entry which is just being written does without it: it never waits.
 */
#include "src/jvm/layout/klass.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "src/base/hash.h"
#include "src/core/counters.h"
#include "src/core/epoch.h"
#include "src/core/path.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/klass_impl.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/os/peek.h"

enum {
	ENTRIES = 1 << 15, /* a power of two */
	ENTRIES_USED_MAX = ENTRIES / 4 * 3,
	NAMES_BYTES = 8 << 20,
	CHUNK_BYTES = 512,     /* in which a name is compared */
	KLASS_BYTES_MAX = 256, /* of a Klass, as far as it is looked at */
	SYMBOL_BYTES_MAX = 16, /* of a Symbol before its text */
	GENERATION_SHIFT = LC_ADDR_BITS,
};

/* Data of a class that prove it. */
struct seen {
	int32_t layout_helper;
	uint64_t vtable, symbol, mirror;
};

/* Set once by lc_klass_init(). */
static bool always_compare;
static const struct lc_layout *jvm;
static uint32_t klass_bytes; /* of a Klass, as far as it is read */
static struct lc_range library;

static struct lc_klass_entry *entries;
static char *names;
static _Atomic uint32_t entries_used, names_used; /* relaxed: only room is counted */
static _Atomic uint64_t reused, lost;

/* -- proving a class ----------------------------------------------------------------------- */

static uint16_t symbol_length(const unsigned char *symbol)
{
	uint16_t v;

	memcpy(&v, symbol + jvm->symbol_length, sizeof(v));
	return v;
}

static struct seen seen_of(const unsigned char *klass)
{
	return (struct seen){ .layout_helper =
		                  (int32_t)lc_peek_get32(klass + jvm->klass_layout_helper),
		              .vtable = lc_peek_get64(klass), /* of C++, which has it first */
		              .symbol = lc_peek_get64(klass + jvm->klass_name),
		              .mirror = lc_peek_get64(klass + jvm->klass_java_mirror) };
}

/* Does a table of virtual functions of libjvm begin there? An archive of classes has copies. */
static bool is_vtable(uint64_t address)
{
	uint64_t first = 0;

	return !(address % 8) && lc_peek(address, &first, sizeof(first)) && first >= library.low &&
	       first < library.high;
}

/*
 * Does the java.lang.Class that `reference` is of lead back to the class? While the reference is
 * not renewed the java.lang.Class is elsewhere, and what proves the class is that it begins as
 * libjvm's objects do.
 */
static bool leads_back(uint64_t address, const struct seen *seen, uint64_t reference)
{
	const uint64_t mirror = lc_ranges_of_stored(reference);
	uint64_t back = 0;

	if (!lc_klass_may_start(mirror))
		return false;
	if (lc_peek(mirror + (uint64_t)jvm->class_klass, &back, sizeof(back)) && back == address)
		return true;
	return lc_ranges_may_be_old(reference) && is_vtable(seen->vtable);
}

static bool is_class_class(const char *name, size_t len)
{
	static const char class[] = "java/lang/Class";

	return len == sizeof(class) - 1 && !memcmp(name, class, len);
}

/* Copy the name of the claimed entry. Returns false where there is no room or it cannot be read. */
static bool take_name(struct lc_klass_entry *e, uint16_t len)
{
	uint32_t at;

	if (!len ||
	    atomic_load_explicit(&names_used, memory_order_relaxed) > (uint32_t)NAMES_BYTES - len)
		return false;
	at = atomic_fetch_add_explicit(&names_used, len, memory_order_relaxed);
	if (at > (uint32_t)NAMES_BYTES - len ||
	    !lc_peek(e->symbol + (uint64_t)jvm->symbol_body, names + at, len))
		return false;
	e->name = at;
	e->name_len = len;
	e->is_mirror = is_class_class(names + at, len);
	return true;
}

/* The rest of a name that is longer than what compare() reads. */
static bool same_text(const struct lc_klass_entry *e, size_t from)
{
	char text[CHUNK_BYTES] = { 0 };

	while (from < e->name_len) {
		const size_t len =
		    e->name_len - from < CHUNK_BYTES ? e->name_len - from : CHUNK_BYTES;

		if (!lc_peek(e->symbol + (uint64_t)jvm->symbol_body + from, text, len) ||
		    memcmp(text, names + e->name + from, len) != 0)
			return false;
		from += len;
	}
	return true;
}

/* Is the class at its Klass * still that of the entry? */
static bool compare(const struct lc_klass_entry *e, uint64_t address)
{
	const size_t text_len = e->name_len < CHUNK_BYTES ? e->name_len : CHUNK_BYTES;
	unsigned char klass[KLASS_BYTES_MAX], symbol[SYMBOL_BYTES_MAX + CHUNK_BYTES];
	const size_t symbol_len = (size_t)jvm->symbol_body + text_len;
	uint64_t mirror = 0;
	const struct iovec local[] = { { klass, klass_bytes },
		                       { symbol, symbol_len },
		                       { &mirror, sizeof(mirror) } };
	const struct iovec remote[] = { lc_peek_part(address, klass_bytes),
		                        lc_peek_part(e->symbol, symbol_len),
		                        lc_peek_part(e->mirror, sizeof(mirror)) };
	struct seen seen;

	if (!lc_peek_all(local, remote, 3))
		return false;
	seen = seen_of(klass);
	return seen.layout_helper == e->layout_helper && seen.symbol == e->symbol &&
	       seen.mirror == e->mirror && symbol_length(symbol) == e->name_len &&
	       !memcmp(symbol + jvm->symbol_body, names + e->name, text_len) &&
	       same_text(e, text_len) && leads_back(address, &seen, mirror);
}

/* -- the table ----------------------------------------------------------------------------- */

static struct lc_klass_entry *slot_at(uint64_t address, uint32_t probe)
{
	return &entries[((lc_hash(address) >> 40) + probe) % ENTRIES];
}

/*
 * The latest entry of the class, NULL where there is none; *free_at: the probe where the next goes.
 */
static struct lc_klass_entry *latest(uint64_t address, uint32_t *free_at)
{
	struct lc_klass_entry *found = NULL;

	for (uint32_t i = 0; i < ENTRIES; i++) {
		struct lc_klass_entry *e = slot_at(address, i);
		const uint64_t klass =
		    atomic_load_explicit(&e->klass, memory_order_relaxed); /* I1 */

		if (!klass) {
			*free_at = i;
			return found;
		}
		if (lc_klass_address(klass) == address)
			found = e;
	}
	*free_at = ENTRIES;
	return found;
}

/* Is there a class at `address`? If so, set *out and the length of its name. */
static bool look(uint64_t address, struct seen *out, uint16_t *name_len)
{
	unsigned char klass[KLASS_BYTES_MAX] = { 0 }, symbol[SYMBOL_BYTES_MAX] = { 0 };
	uint64_t mirror = 0;

	if (!lc_peek(address, klass, klass_bytes))
		return false;
	*out = seen_of(klass);
	if (!out->layout_helper || out->mirror % 8 || out->symbol % 8)
		return false;
	if (!lc_peek_all((struct iovec[]){ { &mirror, sizeof(mirror) },
	                                   { symbol, (size_t)jvm->symbol_body } },
	                 (struct iovec[]){ lc_peek_part(out->mirror, sizeof(mirror)),
	                                   lc_peek_part(out->symbol, (size_t)jvm->symbol_body) },
	                 2))
		return false;
	*name_len = symbol_length(symbol);
	return leads_back(address, out, mirror);
}

/* Claim the entry at probe `at` for the class at `address`, behind its entry `before`, or none. */
static struct lc_klass_entry *claim(uint64_t address, const struct lc_klass_entry *before,
                                    uint32_t at)
{
	uint64_t free = 0, generation = 0;
	struct lc_klass_entry *e = slot_at(address, at);

	if (before)
		generation = (atomic_load_explicit(&before->klass, memory_order_relaxed) >>
		              GENERATION_SHIFT) +
		             1;
	if (at == ENTRIES || generation >> (64 - GENERATION_SHIFT) ||
	    atomic_load_explicit(&entries_used, memory_order_relaxed) >= ENTRIES_USED_MAX)
		return NULL;
	/* A failure means that another thread was faster, perhaps with the same class. */
	if (!atomic_compare_exchange_strong_explicit(&e->klass, &free,
	                                             address | generation << GENERATION_SHIFT,
	                                             memory_order_relaxed, memory_order_relaxed))
		return NULL;
	atomic_fetch_add_explicit(&entries_used, 1, memory_order_relaxed);
	return e;
}

/* Name the class at `address` in a new entry. Returns it READY, or NULL. */
static struct lc_klass_entry *add(uint64_t address, const struct lc_klass_entry *before,
                                  uint32_t at, uint32_t epoch)
{
	uint16_t name_len;
	struct seen seen;
	struct lc_klass_entry *e;

	/* Look before claiming: most of what is no class ends here, and entries are for ever. */
	if (!look(address, &seen, &name_len))
		return NULL;
	e = claim(address, before, at);
	if (!e)
		goto lost;
	e->layout_helper = seen.layout_helper;
	e->symbol = seen.symbol;
	e->mirror = seen.mirror;
	if (!take_name(e, name_len) || lc_epoch_now() != epoch) {
		atomic_store_explicit(&e->state, LC_KLASS_REFUSED, memory_order_relaxed);
		goto lost;
	}
	if (before)
		atomic_fetch_add_explicit(&reused, 1, memory_order_relaxed);
	atomic_store_explicit(&e->epoch, epoch + 1, memory_order_relaxed);
	atomic_store_explicit(&e->state, LC_KLASS_READY, memory_order_release); /* K1 */
	return e;
lost:
	atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
	return NULL;
}

const struct lc_klass_entry *lc_klass_peek(uint64_t address)
{
	uint32_t free_at;
	struct lc_klass_entry *e = latest(address, &free_at);

	return e && atomic_load_explicit(&e->state, memory_order_acquire) == LC_KLASS_READY
	           ? e
	           : NULL; /* K1 */
}

static bool is_of(const struct lc_klass_entry *e, uint32_t epoch)
{
	return atomic_load_explicit(&e->epoch, memory_order_relaxed) == epoch + 1;
}

bool lc_klass_is_current(const struct lc_klass_entry *e)
{
	return is_of(e, lc_epoch_now());
}

struct lc_klass_entry *lc_klass_prove(uint64_t address, unsigned *budget)
{
	const uint32_t epoch = lc_epoch_now();
	uint32_t free_at;
	struct lc_klass_entry *e = latest(address, &free_at);
	uint32_t state =
	    e ? atomic_load_explicit(&e->state, memory_order_acquire) : LC_KLASS_READY; /* K1 */

	if (state == LC_KLASS_WRITING) {
		atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
		return NULL;
	}
	if (e && state == LC_KLASS_READY && !always_compare && is_of(e, epoch))
		return e;
	if (!*budget)
		return NULL;
	--*budget;
	if (e && state == LC_KLASS_READY && compare(e, address)) {
		atomic_store_explicit(&e->epoch, epoch + 1, memory_order_relaxed); /* I3 */
		return e;
	}
	return add(address, e, free_at, epoch);
}

/* -- names --------------------------------------------------------------------------------- */

static struct lc_klass_entry *entry_of(uint64_t klass)
{
	for (uint32_t i = 0; entries && klass && i < ENTRIES; i++) {
		struct lc_klass_entry *e = slot_at(lc_klass_address(klass), i);
		const uint64_t here =
		    atomic_load_explicit(&e->klass, memory_order_relaxed); /* I1 */

		if (here == klass)
			return atomic_load_explicit(&e->state, memory_order_acquire) ==
			               LC_KLASS_READY /* K1 */
			           ? e
			           : NULL;
		if (!here)
			return NULL;
	}
	return NULL;
}

/* A hidden class is "a/B+0x1f" in the JVM and "La/B.0x1f;" in signatures. */
static void mark_hidden(char *signature)
{
	char *plus = strrchr(signature, '+');

	if (plus && plus[1] == '0' && plus[2] == 'x' &&
	    strspn(plus + 3, "0123456789abcdef") + 1 == strlen(plus + 3))
		*plus = '.';
}

const char *lc_klass_signature(uint64_t klass)
{
	struct lc_klass_entry *e = entry_of(klass);
	char *s;

	if (!e || e->signature)
		return e ? e->signature : NULL;
	s = malloc((size_t)e->name_len + sizeof("L;"));
	if (!s)
		return NULL;
	if (names[e->name] == '[') {
		memcpy(s, names + e->name, e->name_len);
		s[e->name_len] = '\0';
	} else {
		s[0] = 'L';
		memcpy(s + 1, names + e->name, e->name_len);
		memcpy(s + 1 + e->name_len, ";", sizeof(";"));
	}
	mark_hidden(s);
	e->signature = s;
	return s;
}

static uint64_t word_of(uint64_t address)
{
	return lc_layout_wide_class(jvm) ? address
	                                 : (address - jvm->klass_base) >> jvm->klass_shift;
}

uint32_t lc_klass_site_at(uint64_t klass, uint32_t path)
{
	const char *signature = lc_klass_signature(klass);

	return signature ? lc_site_intern(signature, word_of(lc_klass_address(klass)), path) : 0;
}

uint32_t lc_klass_site(uint64_t klass)
{
	const char *signature = lc_klass_signature(klass);
	struct lc_klass_entry *e = signature ? entry_of(klass) : NULL;

	if (e && !e->site)
		e->site = lc_site_intern(signature, word_of(lc_klass_address(klass)), 0);
	return e ? e->site : 0;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("classes_named", &entries_used),
	LC_COUNTER("classes_reused", &reused), /* at an address where another class had been */
	/* Objects whose class found no room, or was just being named. */
	LC_COUNTER("classes_unnamed", &lost),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));

static void *reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Does this JVM export all that is read of a class, and is it where a class can be? */
static bool suffices(const struct lc_layout *l)
{
	const long limit = KLASS_BYTES_MAX - 8;

	return l->klass_layout_helper >= 0 && l->klass_layout_helper <= limit &&
	       l->klass_name >= 0 && l->klass_name <= limit && l->klass_java_mirror >= 0 &&
	       l->klass_java_mirror <= limit && l->symbol_length >= 0 &&
	       l->symbol_length <= SYMBOL_BYTES_MAX - 2 && l->symbol_body >= l->symbol_length + 2 &&
	       l->symbol_body <= SYMBOL_BYTES_MAX && l->class_klass > 0 && l->class_size > 0 &&
	       (lc_layout_wide_class(l) || l->class_words != LC_CLASS_WORDS_UNKNOWN) &&
	       (l->reference_bytes == 8 || l->references_known);
}

/* End of the last member of a Klass that is read. */
static uint32_t end_of_members(const struct lc_layout *l)
{
	long last = l->klass_layout_helper;

	last = last > l->klass_name ? last : l->klass_name;
	last = last > l->klass_java_mirror ? last : l->klass_java_mirror;
	return (uint32_t)last + 8;
}

int lc_klass_init(void)
{
	const struct lc_range heap = lc_ranges_objects();

	if (entries)
		return 0;
	jvm = lc_layout();
	if (!suffices(jvm) || heap.low >= heap.high || !lc_ranges_views_known())
		return -ENOTSUP;
	klass_bytes = end_of_members(jvm);
	library = lc_ranges_library();
	always_compare = lc_collector_unloads_while_running();
	names = reserve(NAMES_BYTES);
	entries = names ? reserve(ENTRIES * sizeof(*entries)) : NULL;
	if (!entries)
		return -ENOMEM;
	lc_klass_objects_init(jvm, heap);
	return 0;
}
