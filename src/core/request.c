/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/request.c - keeps the names of request contexts in a table that only grows.
 *
 * Order: R1  an entry's name is complete before its number is in a slot (release) -> a look-up
 *            without the lock loads the slot (acquire).
 *
 * The node of a name is made without the lock, since that takes the lock of the paths. Two threads
 * that make it at once get the same one.
 */
#include "src/core/request.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/limit.h"
#include "src/core/counters.h"
#include "src/core/memory.h"
#include "src/core/path.h"
#include "src/core/record.h"

enum {
	SLOTS = 2048, /* twice the names */
	OTHER = LC_REQUESTS_MAX + 1,
	PREFIX_BYTES = 8, /* "context=" */
};

struct entry {
	_Atomic uint32_t root; /* 0: not made yet */
	char text[PREFIX_BYTES + LC_REQUEST_NAME_BYTES];
};

static struct {
	pthread_mutex_t lock;
	_Atomic uint64_t len;            /* names; written under the lock */
	_Atomic(struct entry *) entries; /* from 1; OTHER is the last; made under the lock */
	_Atomic uint16_t slots[SLOTS]; /* numbers of entries; 0: free. Written under the lock; R1 */
} requests = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* "context=NAME", cut where a character begins. */
static void set_text(char text[PREFIX_BYTES + LC_REQUEST_NAME_BYTES], const char *name)
{
	size_t len = strnlen(name, LC_REQUEST_NAME_BYTES);

	if (len == LC_REQUEST_NAME_BYTES)
		for (len--; len && ((unsigned char)name[len] & 0xc0) == 0x80; len--)
			;
	snprintf(text, PREFIX_BYTES + LC_REQUEST_NAME_BYTES, "context=%.*s", (int)len, name);
}

/* The slot of the text, or the free one where it belongs. */
static _Atomic uint16_t *slot_of(const struct entry *entries, const char *text)
{
	uint32_t i = (uint32_t)(lc_hash(lc_hash_text(0, text)) >> 32);

	for (;; i++) {
		_Atomic uint16_t *slot = &requests.slots[i % SLOTS];
		const uint16_t n = atomic_load_explicit(slot, memory_order_acquire); /* R1 */

		if (!n || !strcmp(entries[n].text, text))
			return slot;
	}
}

/* The table, made with the first name; NULL without memory. Under the lock. */
static struct entry *make_table(void)
{
	const size_t bytes = (OTHER + 1) * sizeof(struct entry);
	struct entry *entries = calloc(1, bytes);

	if (!entries)
		return NULL;
	lc_memory_have(LC_MEMORY_PATHS, bytes);
	set_text(entries[OTHER].text, LC_REQUEST_OTHER);
	atomic_store_explicit(&requests.entries, entries, memory_order_release);
	return entries;
}

/* The number of the name's entry; 0 without memory. Under the lock. */
static uint32_t add(const char *text)
{
	struct entry *entries = atomic_load_explicit(&requests.entries, memory_order_relaxed);
	const uint64_t len = atomic_load_explicit(&requests.len, memory_order_relaxed);
	_Atomic uint16_t *slot;
	uint32_t n;

	if (!entries)
		entries = make_table();
	if (!entries)
		return 0;
	slot = slot_of(entries, text);
	n = atomic_load_explicit(slot, memory_order_relaxed);
	if (n)
		return n;
	if (len == LC_REQUESTS_MAX)
		return OTHER;
	n = (uint32_t)len + 1;
	memcpy(entries[n].text, text, sizeof(entries[n].text));
	atomic_store_explicit(slot, (uint16_t)n, memory_order_release); /* R1 */
	atomic_store_explicit(&requests.len, n, memory_order_relaxed);
	return n;
}

static uint32_t number_of(const char *text)
{
	struct entry *entries = atomic_load_explicit(&requests.entries, memory_order_acquire);
	uint32_t n =
	    entries ? atomic_load_explicit(slot_of(entries, text), memory_order_relaxed) : 0;

	if (n)
		return n;
	pthread_mutex_lock(&requests.lock);
	n = add(text);
	pthread_mutex_unlock(&requests.lock);
	if (n == OTHER)
		(void)lc_limit_note("contexts_lost",
		                    "the program has named more than %d contexts: the others are "
		                    "one, " LC_REQUEST_OTHER,
		                    LC_REQUESTS_MAX);
	return n;
}

/* The node of a frame without a method, as analyzer/model/groups.c makes them. */
static uint32_t make_root(JNIEnv *jni, uint32_t n, const char *text)
{
	const uint64_t id = LC_PATH_REQUESTS + n;
	const uint64_t frame = lc_frame_pack((const void *)(uintptr_t)id, -1); /* NOLINT */

	return lc_path_define(id, text, "", "") ? 0 : lc_path_intern(jni, &frame, 1);
}

uint32_t lc_request_root(JNIEnv *jni, const char *name)
{
	char text[PREFIX_BYTES + LC_REQUEST_NAME_BYTES];
	struct entry *e;
	uint32_t n, root;

	set_text(text, name);
	n = number_of(text);
	if (!n)
		return 0;
	e = &atomic_load_explicit(&requests.entries, memory_order_acquire)[n];
	root = atomic_load_explicit(&e->root, memory_order_relaxed); /* a number */
	if (!root) {
		root = make_root(jni, n, e->text);
		atomic_store_explicit(&e->root, root, memory_order_relaxed);
	}
	return root;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("contexts", &requests.len), /* names of request contexts */
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
