/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/code/code_frames.c - keeps a table of return addresses, filled from jvm/code/scopes.h.
 *
 * No function takes a lock or allocates, since signal handlers add entries, too. An entry is whole
 * before its pointer is stored, and is never freed, so a reader may hold it as long as it likes.
 * Its memory is cut from one reservation. If two threads add to one slot at a time, one entry is
 * lost, and added again when it is needed. Freed code makes room for other code: an entry counts
 * only if the same compiled method is still there or, if interpreted, the method's ID still leads
 * to the method.
 *
 * Order:     E1  a slot's pointer is stored (release) -> loaded (acquire): its entry is whole.
 */
#include "src/jvm/code/code_frames.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "src/base/hash.h"
#include "src/core/record.h"
#include "src/core/version.h"
#include "src/jvm/code/blob.h"
#include "src/jvm/code/scopes.h"
#include "src/jvm/layout/method_ids.h"
#include "src/jvm/os/peek.h"

enum {
	SLOTS = 1 << 16,
	WAYS = 8,
	FRAMES_MAX = 128,
	ENTRIES_BYTES = 32 << 20, /* when they are full, the JVM is asked for what is new */
};

static struct {
	_Atomic(struct lc_code_frames *) *slots;
	const _Atomic uint32_t *generation;
	unsigned char *entries;
	_Atomic uint64_t used; /* bytes of them; relaxed: only room is counted */
} table;

int lc_code_frames_init(const _Atomic uint32_t *generation)
{
	unsigned char *p =
	    mmap(NULL, ENTRIES_BYTES + SLOTS * sizeof(*table.slots), PROT_READ | PROT_WRITE,
	         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -ENOMEM;
	table.generation = generation;
	table.entries = p;
	table.slots = (void *)(p + ENTRIES_BYTES);
	return 0;
}

bool lc_code_frames_known(void)
{
	return table.slots;
}

static uint32_t generation_now(void)
{
	return atomic_load_explicit(table.generation, memory_order_relaxed); /* a hint */
}

/* Is that the ID of this version, which runs now or did before? */
static bool is_version(uint64_t version, uint64_t method)
{
	const uint64_t id = lc_version_method(version);

	return (lc_method_ids_lead_to(id, method) ? lc_version_of(id, method)
	                                          : lc_version_old(method)) == version;
}

/* Is the code still the same? */
static bool valid(struct lc_code_frames *e)
{
	const uint32_t now = generation_now();

	if (!e->blob)
		return is_version(e->frames[0] & LC_ADDR_MASK, e->identity);
	if (atomic_load_explicit(&e->generation, memory_order_relaxed) != now) {
		if (lc_blob_at(e->key) != e->blob)
			return false;
		atomic_store_explicit(&e->generation, now, memory_order_relaxed);
	}
	return lc_scopes_identity(e->blob) == e->identity;
}

static _Atomic(struct lc_code_frames *) *ways_of(uint64_t key)
{
	return &table.slots[(lc_hash(key) >> 40) & (SLOTS - WAYS)];
}

static struct lc_code_frames *find(uint64_t key)
{
	_Atomic(struct lc_code_frames *) *ways = ways_of(key);

	for (unsigned i = 0; i < WAYS; i++) {
		struct lc_code_frames *e =
		    atomic_load_explicit(&ways[i], memory_order_acquire); /* E1 */

		if (!e)
			return NULL;
		if (e->key == key)
			return valid(e) ? e : NULL;
	}
	return NULL;
}

/* Put the entry in its slot, in the place of one with the same key, or of any. */
static void keep(struct lc_code_frames *new)
{
	_Atomic(struct lc_code_frames *) *ways = ways_of(new->key);
	unsigned at = (unsigned)new->identity &(WAYS - 1);

	for (unsigned i = 0; i < WAYS; i++) {
		const struct lc_code_frames *e =
		    atomic_load_explicit(&ways[i], memory_order_acquire); /* E1 */

		if (!e || e->key == new->key) {
			at = i;
			break;
		}
	}
	atomic_store_explicit(&ways[at], new, memory_order_release); /* E1 */
}

/* A method without an ID is one that the JVM has to be asked for. */
static bool pack(const struct lc_scope *scopes, uint32_t len, uint64_t *frames)
{
	const unsigned before = lc_peek_begin(NULL);
	uint32_t i;

	for (i = 0; i < len; i++) {
		const uint64_t method = scopes[i].method;
		const uint64_t id = lc_method_ids_number(method);
		const uint64_t version = id ? lc_version_of(id, method) : lc_version_old(method);

		if (!version)
			break;
		frames[i] = lc_frame_pack((const void *)(uintptr_t)version, /* NOLINT */
		                          scopes[i].bci);
	}
	lc_peek_end(before);
	return i == len;
}

static const struct lc_code_frames *add(const struct lc_code_frames *head,
                                        const struct lc_scope *scopes, uint32_t len)
{
	const uint64_t bytes = sizeof(struct lc_code_frames) + len * sizeof(uint64_t);
	uint64_t frames[FRAMES_MAX], at;
	struct lc_code_frames *new;

	if (!pack(scopes, len, frames) ||
	    atomic_load_explicit(&table.used, memory_order_relaxed) + bytes > ENTRIES_BYTES)
		return NULL;
	at = atomic_fetch_add_explicit(&table.used, bytes, memory_order_relaxed);
	if (at + bytes > ENTRIES_BYTES)
		return NULL;
	new = (void *)(table.entries + at);
	memcpy(new, head, sizeof(*new));
	new->len = len;
	memcpy(new->frames, frames, len * sizeof(*frames));
	keep(new);
	return new;
}

const struct lc_code_frames *lc_code_frames_compiled(uint64_t pc)
{
	struct lc_scope scopes[FRAMES_MAX];
	struct lc_code_frames head = { .key = pc };
	const struct lc_code_frames *e = find(pc);
	struct lc_blob blob;
	int len;

	if (e)
		return e;
	head.generation = generation_now();
	if (!lc_blob_find(pc, &blob) || blob.kind != LC_BLOB_METHOD || blob.frame_words < 2)
		return NULL;
	len = lc_scopes_at(blob.at, pc, scopes, FRAMES_MAX);
	if (len <= 0)
		return NULL;
	head.blob = blob.at;
	head.identity = lc_scopes_identity(blob.at);
	head.frame_words = blob.frame_words;
	return add(&head, scopes, (uint32_t)len);
}

const struct lc_code_frames *lc_code_frames_interpreted(uint64_t method, uint64_t bcp)
{
	const struct lc_code_frames *e = find(bcp ^ method << 8);
	struct lc_scope scope = { .method = method };
	struct lc_code_frames head = { .key = bcp ^ method << 8, .identity = method };
	unsigned before;

	if (e && e->identity == method)
		return e;
	before = lc_peek_begin(NULL);
	scope.bci = lc_scopes_bci(method, bcp);
	lc_peek_end(before);
	return scope.bci < -1 ? NULL : add(&head, &scope, 1);
}
