/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/path.c - keeps append-only tables of methods, path nodes and sites, with a hash index each.
 *
 * Invariant: an element is written before its number is handed out, and never changes after.
 * Order:     P1  append stores the table's `len` (release) -> get loads it (acquire): an element
 *                below `len`, and the block that holds it, are whole before they are seen.
 * The indexes and all appends are under one lock, which is never held across a call into the JVM:
 * a method is named first and inserted after, and the loser of a race frees its copy.
 */
#include "src/core/path_impl.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/options.h"
#include "src/base/zeroed.h"
#include "src/core/counters.h"
#include "src/core/memory.h"
#include "src/core/record.h"
#include "src/core/version.h"

enum { BLOCK_BITS = 12, BLOCK_LEN = 1 << BLOCK_BITS, BLOCKS_MAX = 1 << 10 };

/* Elements by number, in blocks that never move. */
struct table {
	size_t element_bytes;
	_Atomic uint32_t len; /* written under `lock` */
	char *blocks[BLOCKS_MAX];
};

/* Open addressing; holds element numbers + 1. Grows at a load of one half. */
struct index {
	uint32_t *slots;
	uint32_t cap; /* a power of two */
	uint32_t len;
};

/*
 * A version (core/version.h) of a method of the JVM, and the method that says what it is. Versions
 * that nothing tells apart have one method: so a class that is loaded again and again, each time by
 * another loader, has its names, and the paths through it, once.
 */
struct version_entry {
	uint64_t id; /* as lc_frame_pack() keeps it */
	uint32_t method;
	/* An earlier version of as many bytes has other lines: which of them a frame is in may be
	 * doubtful. */
	bool doubtful;
};

static struct {
	pthread_mutex_t lock;
	struct table versions, methods, nodes, sites, recursions;
	struct index version_index, method_index, node_index, site_index;
	_Atomic uint64_t overflow;
} paths = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.versions = { .element_bytes = sizeof(struct version_entry) },
	.methods = { .element_bytes = sizeof(struct lc_method) },
	.nodes = { .element_bytes = sizeof(struct lc_path_node) },
	.sites = { .element_bytes = sizeof(struct lc_site) },
	.recursions = { .element_bytes = sizeof(struct lc_path_recursion) },
};

static void *table_get(const struct table *t, uint32_t number)
{
	if (number >= atomic_load_explicit(&t->len, memory_order_acquire)) /* P1 */
		return NULL;
	return t->blocks[number >> BLOCK_BITS] + (number & (BLOCK_LEN - 1)) * t->element_bytes;
}

/* Append a copy of *element. Returns its number, or UINT32_MAX when the table is full. */
static uint32_t table_append(struct table *t, const void *element)
{
	uint32_t number = atomic_load_explicit(&t->len, memory_order_relaxed); /* under lock */
	uint32_t block = number >> BLOCK_BITS;

	if (block >= BLOCKS_MAX)
		return UINT32_MAX;
	if (!t->blocks[block]) {
		if (block && !lc_memory_take(LC_MEMORY_PATHS, BLOCK_LEN * t->element_bytes))
			return UINT32_MAX;
		t->blocks[block] = calloc(BLOCK_LEN, t->element_bytes);
		if (!t->blocks[block])
			return UINT32_MAX;
	}
	memcpy(t->blocks[block] + (number & (BLOCK_LEN - 1)) * t->element_bytes, element,
	       t->element_bytes);
	atomic_store_explicit(&t->len, number + 1, memory_order_release); /* P1 */
	return number;
}

static uint64_t mix(uint64_t h)
{
	h ^= h >> 32;
	h *= UINT64_C(0xd6e8feb86659fd93);
	h ^= h >> 32;
	h *= UINT64_C(0xd6e8feb86659fd93);
	return h ^ h >> 32;
}

typedef bool (*same_fn)(uint32_t number, const void *key);
typedef uint64_t (*hash_fn)(uint32_t number);

/* Slot that holds the element equal to `key`, or the free slot where it belongs. */
static uint32_t *index_slot(const struct index *x, uint64_t hash, same_fn same, const void *key)
{
	for (uint32_t i = (uint32_t)hash & (x->cap - 1);; i = (i + 1) & (x->cap - 1))
		if (!x->slots[i] || (same && same(x->slots[i] - 1, key)))
			return &x->slots[i];
}

static int index_reserve(struct index *x, hash_fn hash)
{
	struct index bigger = { .cap = x->cap ? x->cap * 2 : 1024, .len = x->len };

	if (x->cap && x->len < x->cap / 2)
		return 0;
	if (x->cap && !lc_memory_take(LC_MEMORY_PATHS, bigger.cap * sizeof(*bigger.slots)))
		return -ENOMEM;
	bigger.slots = lc_zeroed(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->cap; i++)
		if (x->slots[i])
			*index_slot(&bigger, hash(x->slots[i] - 1), NULL, NULL) = x->slots[i];
	free(x->slots);
	if (x->cap)
		lc_memory_give(LC_MEMORY_PATHS, x->cap * sizeof(*x->slots));
	*x = bigger;
	return 0;
}

/*
 * Number of the element equal to `key` in `t`, or UINT32_MAX. With `element`, an element that is
 * missing is appended; *added tells. Under lock.
 */
static uint32_t find_or_append(struct table *t, struct index *x, uint64_t hash, same_fn same,
                               hash_fn rehash, const void *key, const void *element, bool *added)
{
	uint32_t *slot, number;

	*added = false;
	if (index_reserve(x, rehash))
		return UINT32_MAX;
	slot = index_slot(x, hash, same, key);
	if (*slot)
		return *slot - 1;
	if (!element)
		return UINT32_MAX;
	number = table_append(t, element);
	if (number != UINT32_MAX) {
		*slot = number + 1;
		x->len++;
		*added = true;
	}
	return number;
}

static uint64_t version_hash(uint32_t number)
{
	return mix(((const struct version_entry *)table_get(&paths.versions, number))->id);
}

static bool version_same(uint32_t number, const void *key)
{
	const struct version_entry *e = table_get(&paths.versions, number);

	return e->id == *(const uint64_t *)key;
}

static uint64_t text_hash(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = hash * 31 + (unsigned char)*text;
	return mix(hash);
}

static uint64_t method_hash_of(const struct lc_method *m)
{
	const uint64_t sizes = (uint64_t)m->code_bytes << 32 | m->lines_len;

	return text_hash(text_hash(text_hash(sizes, m->class_name), m->name), m->signature);
}

static uint64_t method_hash(uint32_t number)
{
	return method_hash_of(table_get(&paths.methods, number));
}

static bool same_lines(const struct lc_method *a, const struct lc_method *b)
{
	bool same = a->lines_len == b->lines_len;

	for (uint32_t i = 0; same && i < a->lines_len; i++)
		same = a->lines[i].start_location == b->lines[i].start_location &&
		       a->lines[i].line_number == b->lines[i].line_number;
	return same;
}

static bool method_same(uint32_t number, const void *key)
{
	const struct lc_method *a = table_get(&paths.methods, number), *b = key;

	return !strcmp(a->class_name, b->class_name) && !strcmp(a->name, b->name) &&
	       !strcmp(a->signature, b->signature) && !strcmp(a->source_file, b->source_file) &&
	       a->code_bytes == b->code_bytes && same_lines(a, b);
}

static uint64_t node_hash_of(const struct lc_path_node *n)
{
	return mix(((uint64_t)n->parent << 32 | n->method) ^ (uint64_t)n->bci << 17);
}

static uint64_t node_hash(uint32_t number)
{
	return node_hash_of(table_get(&paths.nodes, number));
}

static bool node_same(uint32_t number, const void *key)
{
	const struct lc_path_node *a = table_get(&paths.nodes, number), *b = key;

	return a->parent == b->parent && a->method == b->method && a->bci == b->bci;
}

static uint64_t site_hash_of(const struct lc_site *s)
{
	return text_hash(s->path ^ s->class_word << 32, s->class_name);
}

static uint64_t site_hash(uint32_t number)
{
	return site_hash_of(table_get(&paths.sites, number));
}

static bool site_same(uint32_t number, const void *key)
{
	const struct lc_site *a = table_get(&paths.sites, number), *b = key;

	return a->path == b->path && a->class_word == b->class_word &&
	       !strcmp(a->class_name, b->class_name);
}

const struct lc_method *lc_method_get(uint32_t method)
{
	return table_get(&paths.methods, method);
}

const struct lc_path_node *lc_path_get(uint32_t node)
{
	return table_get(&paths.nodes, node);
}

const struct lc_site *lc_site_get(uint32_t site)
{
	return site ? table_get(&paths.sites, site) : NULL;
}

const struct lc_path_recursion *lc_path_recursion_get(uint32_t number)
{
	return table_get(&paths.recursions, number);
}

uint32_t lc_path_count(void)
{
	return atomic_load_explicit(&paths.nodes.len, memory_order_acquire);
}

uint32_t lc_site_count(void)
{
	return atomic_load_explicit(&paths.sites.len, memory_order_acquire);
}

jmethodID lc_method_id(const struct lc_method *m)
{
	const uint64_t version = atomic_load_explicit(&m->version, memory_order_relaxed);

	return version < LC_PATH_DEFINED_MAX ? NULL
	                                     : lc_method_number_id(lc_version_method(version));
}

int lc_method_line(const struct lc_method *m, unsigned bci)
{
	int line = -1;

	if (bci == LC_BCI_NONE)
		return -1;
	for (uint32_t i = 0; i < m->lines_len; i++) {
		if (m->lines[i].start_location > (jlocation)bci)
			break;
		line = m->lines[i].line_number;
	}
	return line;
}

int lc_path_init(void)
{
	static const struct lc_path_node root = { .bci = LC_BCI_NONE };
	static const struct lc_site none = { .class_name = "" };
	int err = 0;

	pthread_mutex_lock(&paths.lock);
	if (table_append(&paths.nodes, &root) || table_append(&paths.sites, &none))
		err = -ENOMEM;
	pthread_mutex_unlock(&paths.lock);
	return err ? err : lc_path_define(LC_PATH_CUT, "[cut]", "callers", "()V");
}

/* Under lock; NULL where it is not there. */
static const struct version_entry *find_version(uint64_t id)
{
	bool added;

	return table_get(&paths.versions,
	                 find_or_append(&paths.versions, &paths.version_index, mix(id),
	                                version_same, version_hash, &id, NULL, &added));
}

/* By the last earlier version that has a name and lines. Under lock. */
static bool is_doubtful(uint64_t id, const struct lc_method *m)
{
	const struct version_entry *earlier = NULL;
	const struct lc_method *before = NULL;

	while (!before && (id = lc_version_before(id))) {
		earlier = find_version(id);
		before = earlier ? table_get(&paths.methods, earlier->method) : NULL;
		if (before && !before->code_bytes)
			before = NULL;
	}
	return before && before->code_bytes == m->code_bytes &&
	       (earlier->doubtful || !same_lines(before, m));
}

/* The same, added with the method unless they are there; NULL without room. Under lock. */
static const struct version_entry *find_or_add(uint64_t id, const struct lc_method *m,
                                               bool *method_added)
{
	struct version_entry e = { .id = id, .doubtful = is_doubtful(id, m) };
	bool added;

	e.method = find_or_append(&paths.methods, &paths.method_index, method_hash_of(m),
	                          method_same, method_hash, m, m, method_added);
	if (e.method == UINT32_MAX)
		return NULL;
	atomic_store_explicit(&((struct lc_method *)table_get(&paths.methods, e.method))->version,
	                      id, memory_order_relaxed); /* any of them will do */
	return table_get(&paths.versions,
	                 find_or_append(&paths.versions, &paths.version_index, mix(id),
	                                version_same, version_hash, &id, &e, &added));
}

/* The version with that ID, whose method is *m; NULL without room. The names of *m are taken over.
 */
static const struct version_entry *add_version(uint64_t id, struct lc_method *m)
{
	const struct version_entry *e;
	bool added = false;

	pthread_mutex_lock(&paths.lock);
	e = find_or_add(id, m, &added);
	pthread_mutex_unlock(&paths.lock);
	if (!added)
		lc_path_names_free(m);
	return e;
}

/* The version, named when it is new; NULL without room. */
static const struct version_entry *version_intern(JNIEnv *jni, uint64_t id)
{
	const struct version_entry *e;
	struct lc_method m;

	pthread_mutex_lock(&paths.lock);
	e = find_version(id);
	pthread_mutex_unlock(&paths.lock);
	if (e)
		return e;
	lc_path_name(jni, id, &m);
	if (m.class_name && m.name && m.signature && m.source_file)
		return add_version(id, &m);
	lc_path_names_free(&m);
	return NULL;
}

uint32_t lc_path_method_intern(JNIEnv *jni, uint64_t id)
{
	const bool asked = id & LC_VERSION_ASKED && id >= LC_PATH_DEFINED_MAX;
	const struct version_entry *e =
	    version_intern(jni, asked ? id & ~(uint64_t)LC_VERSION_ASKED : id);

	if (e && asked && e->doubtful)
		e = version_intern(jni, lc_version_method(id) | LC_VERSION_UNKNOWN);
	return e ? e->method : UINT32_MAX;
}

const struct lc_method *lc_path_version(JNIEnv *jni, uint64_t version)
{
	const uint32_t number = lc_path_method_intern(jni, version);

	return number == UINT32_MAX ? NULL : lc_method_get(number);
}

const struct lc_method *lc_path_method(JNIEnv *jni, jmethodID method)
{
	return lc_path_version(jni, lc_version_asked(lc_method_number(method)));
}

int lc_path_define(uint64_t id, const char *class_name, const char *name, const char *signature)
{
	struct lc_method m = { .class_name = strdup(class_name),
		               .name = strdup(name),
		               .signature = strdup(signature),
		               .source_file = strdup("") };

	if (m.class_name && m.name && m.signature && m.source_file)
		return add_version(id, &m) ? 0 : -ENOMEM;
	lc_path_names_free(&m);
	return -ENOMEM;
}

/* Number of the node, which is added unless it is there; UINT32_MAX when there is no room. */
static uint32_t node_intern(const struct lc_path_node *node)
{
	uint32_t number;
	bool added;

	pthread_mutex_lock(&paths.lock);
	number = find_or_append(&paths.nodes, &paths.node_index, node_hash_of(node), node_same,
	                        node_hash, node, node, &added);
	pthread_mutex_unlock(&paths.lock);
	return number;
}

void lc_path_note_recursion(uint32_t node, uint32_t frames)
{
	const struct lc_path_recursion row = { node, frames };
	struct lc_path_node *n;

	pthread_mutex_lock(&paths.lock);
	n = table_get(&paths.nodes, node);
	if (n->cycle < frames && table_append(&paths.recursions, &row) != UINT32_MAX)
		n->cycle = (uint16_t)frames;
	pthread_mutex_unlock(&paths.lock);
}

uint32_t lc_path_frame_intern(uint32_t parent, uint64_t frame)
{
	const struct lc_path_node *above = lc_path_get(parent);
	const struct lc_path_node node = {
		.parent = parent,
		.method = (uint32_t)(frame >> 16),
		.bci = (uint16_t)frame,
		.depth = (uint16_t)(above ? above->depth + 1 : 1),
	};

	return node_intern(&node);
}

void lc_path_no_room(void)
{
	lc_count(&paths.overflow);
}

uint32_t lc_site_intern(const char *class_signature, uint64_t class_word, uint32_t path)
{
	struct lc_site site = { .class_word = class_word, .path = path };
	char *name = lc_path_type_name_dup(class_signature);
	uint32_t number;
	bool added = false;

	if (!name)
		return 0;
	site.class_name = name;
	pthread_mutex_lock(&paths.lock);
	number = find_or_append(&paths.sites, &paths.site_index, site_hash_of(&site), site_same,
	                        site_hash, &site, &site, &added);
	pthread_mutex_unlock(&paths.lock);
	if (!added)
		free(name);
	if (number == UINT32_MAX) {
		lc_path_no_room();
		return 0;
	}
	return number;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("paths", &paths.nodes.len),
	LC_COUNTER(
	    "paths_overflow", &paths.overflow, .limit = "paths_lost",
	    .text =
	        "the program has more call paths than there is room for: some call paths are empty",
	    .use = LC_MEMORY_PATHS, .refusable = true),
	LC_COUNTER("sites", &paths.sites.len),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
