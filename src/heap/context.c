/*
 * heap/context.c - see context.h.
 *
 * The table is direct-mapped in pairs and grows when live entries push each other out, so that a
 * thread with three contexts pays for three. Counters are apart from it and never move, since the
 * attribution thread reads them.
 *
 * Order:     X1  a counter is set up before `counters_len` is stored (release) -> counter_at()
 *                loads it (acquire).
 */
#include "src/heap/context.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	TABLE_MIN = 16,
	TABLE_MAX = 4096,
	WAYS = 4,
	RELEARN_MAX = 16,
	COUNTERS_BLOCK = 64, /* block b holds 64 << b counters */
	COUNTER_BLOCKS_MAX = 20,
	SCAN_WORDS = 1024, /* 8 KiB of stack hold the nearest frames of any program seen */
	INTERPRETED_WORDS = 2,
};

/*
 * Words below an interpreted frame's rbp that tell where it is: its method and its bytecode pointer.
 * HotSpot's layout on x86 (frame_x86.hpp), the same from JDK 11 to 25.
 */
static const int interpreted_words[INTERPRETED_WORDS] = { -3, -8 };

struct lc_contexts {
	struct lc_context *table;
	uint32_t mask; /* entries - 1 */
	uint32_t evictions;
	_Atomic uint64_t walks; /* written by: owner thread */

	struct lc_site_counter *counters[COUNTER_BLOCKS_MAX];
	_Atomic uint32_t counters_len; /* written by: owner thread */
	uint32_t *counter_slots;       /* open addressing by site: counter number + 1 */
	uint32_t counter_cap;

	struct lc_last_record last;
	uint64_t stack_end;
	void *scratch;
	size_t scratch_bytes;
};

static struct {
	uint64_t code_low, code_high, interpreter_low, interpreter_high;
} ranges;

static _Atomic uint32_t generation; /* written by: whoever posts that code was freed */

static uint32_t current_generation(void)
{
	return atomic_load_explicit(&generation, memory_order_relaxed); /* a hint: events lag */
}

const _Atomic uint32_t *lc_contexts_generation(void)
{
	return &generation;
}

void lc_contexts_code_freed(void)
{
	atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

void lc_contexts_init(uint64_t code_low, uint64_t code_high, uint64_t interpreter_low,
                      uint64_t interpreter_high)
{
	ranges.code_low = code_low;
	ranges.code_high = code_high;
	ranges.interpreter_low = interpreter_low;
	ranges.interpreter_high = interpreter_high;
}

void lc_contexts_code(uint64_t *code_low, uint64_t *code_high, uint64_t *interpreter_low,
                      uint64_t *interpreter_high)
{
	*code_low = ranges.code_low;
	*code_high = ranges.code_high;
	*interpreter_low = ranges.interpreter_low;
	*interpreter_high = ranges.interpreter_high;
}

int lc_contexts_create(struct lc_contexts **out)
{
	struct lc_contexts *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	*out = c;
	return 0;
}

void lc_contexts_destroy(struct lc_contexts *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < COUNTER_BLOCKS_MAX && c->counters[i]; i++)
		free(c->counters[i]);
	free(c->counter_slots);
	free(c->table);
	free(c->scratch);
	free(c);
}

static uint32_t hash(uint64_t stack_pointer, uint32_t bytecode_site, uint32_t class_key)
{
	uint64_t h = (stack_pointer >> 4) + bytecode_site * UINT64_C(0x9e3779b97f4a7c15) +
	             class_key * UINT64_C(0xc2b2ae3d27d4eb4f);

	return (uint32_t)(h >> 32 ^ h);
}

static bool words_same(const struct lc_context *x)
{
	const uint64_t *stack = (const uint64_t *)(uintptr_t)x->stack_pointer; /* NOLINT */

	for (unsigned i = 0; i < x->words_len; i++)
		if (stack[x->offset[i]] != x->value[i])
			return false;
	return true;
}

struct lc_context *lc_contexts_find(struct lc_contexts *c, uint64_t stack_pointer,
                                    uint32_t bytecode_site, uint32_t class_key)
{
	uint32_t at, now = current_generation();

	if (!c->table)
		return NULL;
	at = hash(stack_pointer, bytecode_site, class_key) & c->mask;
	for (unsigned way = 0; way < WAYS; way++) {
		struct lc_context *x = &c->table[at ^ way];

		if (x->stack_pointer == stack_pointer && x->bytecode_site == bytecode_site &&
		    x->class_key == class_key && x->generation == now && words_same(x))
			return x;
	}
	return NULL;
}

static int grow(struct lc_contexts *c)
{
	uint32_t cap = c->table ? (c->mask + 1) * 4 : TABLE_MIN;
	struct lc_context *bigger = calloc(cap, sizeof(*bigger));

	if (!bigger)
		return c->table ? 0 : -ENOMEM; /* an old table still serves */
	for (uint32_t i = 0; c->table && i <= c->mask; i++) {
		const struct lc_context *x = &c->table[i];
		uint32_t at = hash(x->stack_pointer, x->bytecode_site, x->class_key) & (cap - 1);

		for (unsigned way = 0; x->stack_pointer && way < WAYS; way++) {
			if (!bigger[at ^ way].stack_pointer) {
				bigger[at ^ way] = *x;
				break;
			}
		}
	}
	free(c->table);
	c->table = bigger;
	c->mask = cap - 1;
	c->evictions = 0;
	return 0;
}

/* What lc_contexts_scan() has found so far. */
struct scan {
	uint64_t stack_pointer;
	uint64_t *value;
	uint16_t *offset;
	unsigned len, words_max;
};

static void add_word(struct scan *s, uint64_t address)
{
	if (s->len == s->words_max)
		return;
	s->offset[s->len] = (uint16_t)((address - s->stack_pointer) / 8);
	s->value[s->len] = *(const uint64_t *)(uintptr_t)address; /* NOLINT */
	s->len++;
}

/* Find the return addresses in the words above the stack pointer. */
unsigned lc_contexts_scan(uint64_t stack_pointer, uint64_t stack_end, unsigned frames_max,
                          unsigned words_max,
                          uint64_t *value,  /* NOLINT(readability-non-const-parameter) */
                          uint16_t *offset) /* NOLINT(readability-non-const-parameter) */
{
	struct scan s = { stack_pointer, value, offset, 0, words_max };
	uint64_t end = stack_pointer + SCAN_WORDS * 8;

	if (end > stack_end)
		end = stack_end;
	for (uint64_t at = stack_pointer; at + 8 <= end && frames_max; at += 8) {
		const uint64_t *word = (const uint64_t *)(uintptr_t)at; /* NOLINT */

		if (*word < ranges.code_low || *word >= ranges.code_high)
			continue;
		if (*word < ranges.interpreter_low || *word >= ranges.interpreter_high) {
			add_word(&s, at);
			frames_max--;
			continue;
		}
		/* The callee saved the interpreted frame's rbp just below its return address. */
		if (at == stack_pointer || word[-1] <= at || word[-1] >= end || word[-1] & 7)
			continue;
		for (unsigned i = 0; i < INTERPRETED_WORDS; i++)
			add_word(&s, word[-1] + (uint64_t)(interpreted_words[i] * 8));
		frames_max--;
	}
	return s.len;
}

static void learn_words(struct lc_context *x, uint64_t stack_end)
{
	x->words_len = (uint16_t)lc_contexts_scan(x->stack_pointer, stack_end, UINT32_MAX,
	                                          LC_CONTEXT_WORDS, x->value, x->offset);
}

/*
 * A dead word that once held a return address may change although the context does not. One whose
 * words had to be replaced time and again has such words: drop those that changed.
 */
static void unlearn_changed_words(struct lc_context *x)
{
	const uint64_t *stack = (const uint64_t *)(uintptr_t)x->stack_pointer; /* NOLINT */
	uint16_t kept = 0;

	for (unsigned i = 0; i < x->words_len; i++) {
		if (stack[x->offset[i]] != x->value[i])
			continue;
		x->offset[kept] = x->offset[i];
		x->value[kept] = x->value[i];
		kept++;
	}
	x->words_len = kept;
}

/*
 * The entry to overwrite: an empty one; else one of the same site, since the same path can lie
 * on the stack in more than one way (a method compiled again, a loop body that was copied); else
 * the ways in turn.
 */
static struct lc_context *victim(struct lc_contexts *c, uint64_t stack_pointer, uint32_t at,
                                 uint32_t site)
{
	struct lc_context *same = NULL;

	for (unsigned way = 0; way < WAYS; way++) {
		struct lc_context *x = &c->table[at ^ way];

		if (!x->stack_pointer)
			return x;
		if (x->stack_pointer == stack_pointer && x->site == site)
			same = x;
		if (x->generation != current_generation())
			return x;
	}
	c->evictions++;
	return same ? same : &c->table[at ^ (c->evictions & (WAYS - 1))];
}

struct lc_context *lc_contexts_learn(struct lc_contexts *c, uint64_t stack_pointer,
                                     uint64_t stack_end, uint32_t bytecode_site, uint32_t class_key,
                                     uint32_t site)
{
	uint16_t relearned = 0;
	struct lc_context *x;

	atomic_store_explicit(&c->walks, atomic_load_explicit(&c->walks, memory_order_relaxed) + 1,
	                      memory_order_relaxed); /* a count with one writer */
	if ((!c->table || (c->evictions > (c->mask + 1) / 2 && c->mask + 1 < TABLE_MAX)) && grow(c))
		return NULL;
	x = victim(c, stack_pointer, hash(stack_pointer, bytecode_site, class_key) & c->mask, site);
	if (x->stack_pointer == stack_pointer && x->bytecode_site == bytecode_site &&
	    x->class_key == class_key && x->site == site && x->generation == current_generation()) {
		if (x->relearned >= RELEARN_MAX) {
			unlearn_changed_words(x);
			return x;
		}
		relearned = (uint16_t)(x->relearned + 1);
	}
	*x = (struct lc_context){ .stack_pointer = stack_pointer,
		                  .bytecode_site = bytecode_site,
		                  .class_key = class_key,
		                  .relearned = relearned,
		                  .generation = current_generation(),
		                  .site = site };
	x->counter = site ? lc_contexts_counter(c, site) : NULL;
	if (site && !x->counter) {
		x->stack_pointer = 0;
		return NULL;
	}
	learn_words(x, stack_end);
	return x;
}

static unsigned block_of(uint32_t number)
{
	return 31u - (unsigned)__builtin_clz(number / COUNTERS_BLOCK + 1);
}

static struct lc_site_counter *counter(const struct lc_contexts *c, uint32_t number)
{
	unsigned block = block_of(number);

	return &c->counters[block][number - COUNTERS_BLOCK * ((1u << block) - 1)];
}

static uint32_t *counter_slot(const struct lc_contexts *c, uint32_t *slots, uint32_t cap,
                              uint32_t site)
{
	for (uint32_t i = site * 2654435761u & (cap - 1);; i = (i + 1) & (cap - 1))
		if (!slots[i] || counter(c, slots[i] - 1)->site == site)
			return &slots[i];
}

static int reserve_counter(struct lc_contexts *c, uint32_t len)
{
	uint32_t cap = c->counter_cap ? c->counter_cap * 2 : COUNTERS_BLOCK * 2;
	uint32_t *slots;
	unsigned block = block_of(len);

	if (block >= COUNTER_BLOCKS_MAX)
		return -ENOMEM;
	if (!c->counters[block]) {
		c->counters[block] =
		    calloc((size_t)COUNTERS_BLOCK << block, sizeof(struct lc_site_counter));
		if (!c->counters[block])
			return -ENOMEM;
	}
	if (c->counter_cap && len < c->counter_cap / 2)
		return 0;
	slots = calloc(cap, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < len; i++)
		*counter_slot(c, slots, cap, counter(c, i)->site) = i + 1;
	free(c->counter_slots);
	c->counter_slots = slots;
	c->counter_cap = cap;
	return 0;
}

struct lc_site_counter *lc_contexts_counter(struct lc_contexts *c, uint32_t site)
{
	uint32_t len = atomic_load_explicit(&c->counters_len, memory_order_relaxed); /* ours */
	uint32_t *slot;

	if (reserve_counter(c, len))
		return NULL;
	slot = counter_slot(c, c->counter_slots, c->counter_cap, site);
	if (!*slot) {
		counter(c, len)->site = site;
		*slot = len + 1;
		atomic_store_explicit(&c->counters_len, len + 1, memory_order_release); /* X1 */
	}
	return counter(c, *slot - 1);
}

struct lc_site_counter *lc_contexts_counter_at(struct lc_contexts *c, uint32_t i)
{
	if (i >= atomic_load_explicit(&c->counters_len, memory_order_acquire)) /* X1 */
		return NULL;
	return counter(c, i);
}

void *lc_contexts_scratch(struct lc_contexts *c, size_t bytes)
{
	if (c->scratch_bytes < bytes) {
		void *bigger = realloc(c->scratch, bytes);

		if (!bigger)
			return NULL;
		c->scratch = bigger;
		c->scratch_bytes = bytes;
	}
	return c->scratch;
}

uint64_t lc_contexts_stack_end(struct lc_contexts *c)
{
	pthread_attr_t attr;
	void *low = NULL;
	size_t bytes = 0;

	if (c->stack_end)
		return c->stack_end;
	if (pthread_getattr_np(pthread_self(), &attr))
		return 0;
	if (!pthread_attr_getstack(&attr, &low, &bytes))
		c->stack_end = (uint64_t)(uintptr_t)low + bytes;
	pthread_attr_destroy(&attr);
	return c->stack_end;
}

struct lc_last_record *lc_contexts_last(struct lc_contexts *c)
{
	return &c->last;
}

uint64_t lc_contexts_walks(const struct lc_contexts *c)
{
	return atomic_load_explicit(&c->walks, memory_order_relaxed); /* a count */
}
