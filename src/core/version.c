/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/version.c - keeps a row for each version of a method that was seen before it was replaced.
 *
 * A row says which Method a jmethodID led to when its class was about to be redefined. The version
 * behind that one has the number of the row, whether there is such a version yet or not. A Method
 * that is freed makes room for others, so of two rows for one address the later is meant.
 *
 * Signal handlers read while a thread adds rows under the lock. Rows and indexes are in one
 * reservation and never move.
 * Order:     V1  a slot of an index is stored (release) -> loaded (acquire): its row is whole.
 *            V2  rows are added before the class is redefined, which happens while no thread runs
 *                Java code: who finds a newer Method finds the row of the older one.
 */
#include "src/core/version.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "src/base/hash.h"
#include "src/core/memory.h"

enum {
	ROWS_MAX = 1 << 20,
	SLOTS = ROWS_MAX * 2, /* a power of two */
	ROWS_A_PIECE = 1 << 10,
	FIRST_NUMBER = 1 << 10, /* so that no ID is below LC_PATH_DEFINED_MAX */
	NUMBER_SHIFT = 3,
	SLOTS_A_PAGE = 4096 / sizeof(uint32_t),
	ID_SHIFT = 3,     /* numbers of jmethodIDs */
	METHOD_SHIFT = 6, /* a Method has about 100 bytes */
};

struct row {
	uint64_t id; /* number of a jmethodID */
	uint64_t method;
	uint32_t before; /* row of the version before, + 1; 0: this is the first */
};

struct tables {
	_Atomic uint32_t by_id[SLOTS]; /* the last row of a jmethodID, + 1 */
	_Atomic uint32_t by_method[SLOTS];
	struct row rows[ROWS_MAX];
};

static struct {
	pthread_mutex_t lock;
	struct tables *tables;
	bool (*leads_to)(uint64_t id, uint64_t method);
	uint32_t len;      /* under lock, as the next */
	uint32_t reserved; /* rows for which there is memory */
	_Atomic bool any;  /* set before the first row; relaxed: V2 */
} versions = { .lock = PTHREAD_MUTEX_INITIALIZER };

int lc_versions_init(bool (*leads_to)(uint64_t id, uint64_t method))
{
	void *p = mmap(NULL, sizeof(struct tables), PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -ENOMEM;
	versions.tables = p;
	versions.leads_to = leads_to;
	return 0;
}

static bool any(void)
{
	return atomic_load_explicit(&versions.any, memory_order_relaxed);
}

/* The row of a slot that is not 0. */
static struct row *row_of(uint32_t slot)
{
	return &versions.tables->rows[slot - 1];
}

/*
 * The slot to try first for an address. Neighbours, 1 << `shift` bytes away, share its page of the
 * index, so an index has only as many pages as it needs.
 */
static uint32_t first_slot(uint64_t address, unsigned shift)
{
	const uint64_t place = address >> shift;
	const uint64_t page = lc_hash(place / SLOTS_A_PAGE) >> 40;

	return (uint32_t)(page * SLOTS_A_PAGE + place % SLOTS_A_PAGE) & (SLOTS - 1);
}

static _Atomic uint32_t *slot_of_id(uint64_t id)
{
	uint32_t at = first_slot(id, ID_SHIFT), slot;
	_Atomic uint32_t *slots = versions.tables->by_id;

	while ((slot = atomic_load_explicit(&slots[at], memory_order_acquire)) && /* V1 */
	       row_of(slot)->id != id)
		at = (at + 1) & (SLOTS - 1);
	return &slots[at];
}

static _Atomic uint32_t *slot_of_method(uint64_t method)
{
	uint32_t at = first_slot(method, METHOD_SHIFT), slot;
	_Atomic uint32_t *slots = versions.tables->by_method;

	while ((slot = atomic_load_explicit(&slots[at], memory_order_acquire)) && /* V1 */
	       row_of(slot)->method != method)
		at = (at + 1) & (SLOTS - 1);
	return &slots[at];
}

/* The version behind the one of the row. */
static uint64_t behind(uint32_t slot)
{
	return (uint64_t)(slot + FIRST_NUMBER) << NUMBER_SHIFT | LC_VERSION_LATER;
}

/* The version of the row itself. */
static uint64_t version_of(uint32_t slot)
{
	const struct row *r = row_of(slot);

	return r->before ? behind(r->before) : r->id;
}

/* Behind which row a version is; 0: it is a first one, or none. */
static uint32_t row_before(uint64_t version)
{
	return version & LC_VERSION_LATER && any() && version >> NUMBER_SHIFT > FIRST_NUMBER &&
	               version >> NUMBER_SHIFT <= FIRST_NUMBER + ROWS_MAX
	           ? (uint32_t)(version >> NUMBER_SHIFT) - FIRST_NUMBER
	           : 0;
}

uint64_t lc_version_method(uint64_t version)
{
	const uint32_t before = row_before(version);

	if (before)
		return row_of(before)->id;
	/* Numbers that stand for no method of the JVM (lc_path_define()) are small. */
	return version >> NUMBER_SHIFT <= FIRST_NUMBER ? version
	                                               : version & ~(uint64_t)LC_VERSION_BITS;
}

uint64_t lc_version_before(uint64_t version)
{
	const uint32_t before = row_before(version);

	return before ? version_of(before) : 0;
}

uint64_t lc_version_of(uint64_t id, uint64_t method)
{
	const uint32_t last =
	    any() ? atomic_load_explicit(slot_of_id(id), memory_order_acquire) : 0;

	if (!last)
		return id;
	return row_of(last)->method == method ? version_of(last) : behind(last);
}

uint64_t lc_version_now(uint64_t id)
{
	const uint32_t last =
	    any() ? atomic_load_explicit(slot_of_id(id), memory_order_acquire) : 0;

	if (!last)
		return id;
	return versions.leads_to(id, row_of(last)->method) ? version_of(last) : behind(last);
}

uint64_t lc_version_asked(uint64_t id)
{
	const uint64_t now = lc_version_now(id);

	return now == id ? id : now | LC_VERSION_ASKED;
}

/* Has the JVM given an ID of its own to a version that was replaced? */
static bool is_old(uint64_t version, jmethodID method)
{
	uint32_t slot = any() ? atomic_load_explicit(slot_of_id(lc_version_method(version)),
	                                             memory_order_acquire)
	                      : 0;

	while (slot && version_of(slot) != version)
		slot = row_of(slot)->before;
	return slot && method && versions.leads_to(lc_method_number(method), row_of(slot)->method);
}

bool lc_version_same(uint64_t frame, jmethodID method, int bci)
{
	const uint64_t version = frame & LC_ADDR_MASK;

	if ((frame ^ lc_frame_pack(NULL, bci)) >> LC_ADDR_BITS)
		return !method && any(); /* or none */
	return lc_version_method(version) == lc_method_number(method) || (!method && any()) ||
	       is_old(version, method);
}

uint64_t lc_version_old(uint64_t method)
{
	const uint32_t slot =
	    any() ? atomic_load_explicit(slot_of_method(method), memory_order_acquire) : 0;

	return slot ? version_of(slot) : 0;
}

/* Under the lock. */
static bool have_room(void)
{
	if (versions.len < versions.reserved)
		return true;
	if (versions.len == ROWS_MAX ||
	    !lc_memory_take(LC_MEMORY_PATHS,
	                    ROWS_A_PIECE * (sizeof(struct row) + 2 * sizeof(uint32_t))))
		return false;
	versions.reserved += ROWS_A_PIECE;
	return true;
}

/* Have a row that says where the ID leads now. Returns false without room. Under the lock. */
static bool add(uint64_t id, uint64_t method)
{
	_Atomic uint32_t *slot = slot_of_id(id);
	const uint32_t last = atomic_load_explicit(slot, memory_order_relaxed); /* under lock */
	struct row *r;

	if (last && row_of(last)->method == method)
		return true; /* it has not been replaced since */
	if (!have_room())
		return false;
	r = &versions.tables->rows[versions.len++];
	*r = (struct row){ .id = id, .method = method, .before = last };
	atomic_store_explicit(&versions.any, true, memory_order_relaxed);
	atomic_store_explicit(slot, versions.len, memory_order_release);                   /* V1 */
	atomic_store_explicit(slot_of_method(method), versions.len, memory_order_release); /* V1 */
	return true;
}

int lc_versions_redefined(const jmethodID *ids, const uint64_t *methods, size_t len)
{
	bool room = versions.tables;

	pthread_mutex_lock(&versions.lock);
	for (size_t i = 0; i < len && room; i++)
		room = !methods[i] || add(lc_method_number(ids[i]), methods[i]);
	pthread_mutex_unlock(&versions.lock);
	return room ? 0 : -ENOMEM;
}
