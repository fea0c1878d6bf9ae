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

struct method_entry {
	struct lc_method method;
	uint64_t id;   /* of a version (core/version.h), as lc_frame_pack() keeps it */
	uint32_t same; /* number + 1 of an earlier version that says the same; 0: none does */
	/* An earlier version of as many bytes has other lines: which of them a frame is in may be
	 * doubtful. */
	bool doubtful;
};

static struct {
	pthread_mutex_t lock;
	struct table methods, nodes, sites, recursions;
	struct index method_index, node_index, site_index;
	_Atomic uint64_t overflow;
} paths = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.methods = { .element_bytes = sizeof(struct method_entry) },
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
	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
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

static uint64_t method_hash(uint32_t number)
{
	return mix(((const struct method_entry *)table_get(&paths.methods, number))->id);
}

static bool method_same(uint32_t number, const void *key)
{
	const struct method_entry *e = table_get(&paths.methods, number);

	return e->id == *(const uint64_t *)key;
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
	uint64_t h = s->path ^ s->class_word << 32;

	for (const char *c = s->class_name; *c; c++)
		h = h * 31 + (unsigned char)*c;
	return mix(h);
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
	const struct method_entry *e = table_get(&paths.methods, method);

	return e ? &e->method : NULL;
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

uint64_t lc_path_overflow(void)
{
	return atomic_load_explicit(&paths.overflow, memory_order_relaxed); /* a count */
}

void lc_path_counters(struct lc_counters *out)
{
	lc_counters_put(out, "paths", lc_path_count());
	lc_counters_put(out, "paths_overflow", lc_path_overflow());
	lc_counters_put(out, "sites", lc_site_count());
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
	return err;
}

/* Under lock; UINT32_MAX where it is not there. */
static uint32_t find_method(uint64_t id)
{
	bool added;

	return find_or_append(&paths.methods, &paths.method_index, mix(id), method_same,
	                      method_hash, &id, NULL, &added);
}

static bool same_lines(const struct lc_method *a, const struct lc_method *b)
{
	bool same = a->lines_len == b->lines_len;

	for (uint32_t i = 0; same && i < a->lines_len; i++)
		same = a->lines[i].start_location == b->lines[i].start_location &&
		       a->lines[i].line_number == b->lines[i].line_number;
	return same;
}

/* Compare with the last earlier version that has a name and lines. Under lock. */
static void compare_with_earlier(struct method_entry *e)
{
	const struct method_entry *earlier = NULL;
	uint32_t number;

	for (uint64_t id = e->id; !earlier && (id = lc_version_before(id));) {
		number = find_method(id);
		earlier = number == UINT32_MAX ? NULL : table_get(&paths.methods, number);
		if (earlier && !earlier->method.code_bytes)
			earlier = NULL;
	}
	if (!earlier || earlier->method.code_bytes != e->method.code_bytes)
		return;
	e->doubtful = earlier->doubtful || !same_lines(&earlier->method, &e->method);
	if (!e->doubtful && !strcmp(earlier->method.source_file, e->method.source_file))
		e->same = earlier->same ? earlier->same : number + 1;
}

/*
 * The number of the method with the ID of `e`, which is added unless it is there. The names of `e`
 * are taken over. Returns UINT32_MAX when there is no room.
 */
static uint32_t add_method(struct method_entry *e)
{
	uint32_t number;
	bool added = false;

	pthread_mutex_lock(&paths.lock);
	compare_with_earlier(e);
	number = find_or_append(&paths.methods, &paths.method_index, mix(e->id), method_same,
	                        method_hash, &e->id, e, &added);
	pthread_mutex_unlock(&paths.lock);
	if (!added)
		lc_path_names_free(&e->method);
	return number;
}

/* The number of the version, named when it is new. */
static uint32_t version_intern(JNIEnv *jni, uint64_t id)
{
	struct method_entry e;
	uint32_t number;

	pthread_mutex_lock(&paths.lock);
	number = find_method(id);
	pthread_mutex_unlock(&paths.lock);
	if (number != UINT32_MAX)
		return number;
	e = (struct method_entry){ .id = id };
	lc_path_name(jni, id, &e.method);
	if (!e.method.class_name || !e.method.name || !e.method.signature ||
	    !e.method.source_file) {
		lc_path_names_free(&e.method);
		return UINT32_MAX;
	}
	return add_method(&e);
}

uint32_t lc_path_method_intern(JNIEnv *jni, uint64_t id)
{
	const bool asked = id & LC_VERSION_ASKED && id >= LC_PATH_DEFINED_MAX;
	const struct method_entry *e;
	uint32_t number = version_intern(jni, asked ? id & ~(uint64_t)LC_VERSION_ASKED : id);

	e = table_get(&paths.methods, number);
	if (e && asked && e->doubtful) {
		number = version_intern(jni, lc_version_method(id) | LC_VERSION_UNKNOWN);
		e = table_get(&paths.methods, number);
	}
	return e && e->same ? e->same - 1 : number;
}

const struct lc_method *lc_path_method(JNIEnv *jni, jmethodID method)
{
	uint32_t number = lc_path_method_intern(
	    jni, lc_version_asked((uint64_t)(uintptr_t)method & LC_ADDR_MASK));

	return number == UINT32_MAX ? NULL : lc_method_get(number);
}

int lc_path_define(uint64_t id, const char *class_name, const char *name, const char *signature)
{
	struct method_entry e = {
		.method = { .class_name = strdup(class_name),
		            .name = strdup(name),
		            .signature = strdup(signature),
		            .source_file = strdup("") },
		.id = id,
	};

	if (e.method.class_name && e.method.name && e.method.signature && e.method.source_file)
		return add_method(&e) == UINT32_MAX ? -ENOMEM : 0;
	lc_path_names_free(&e.method);
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
	atomic_fetch_add_explicit(&paths.overflow, 1, memory_order_relaxed); /* a count */
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
