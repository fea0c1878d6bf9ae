/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/decode.c - computes the address that a sample's instruction touched, by a recipe and
 * registers.
 *
 * Recipes are kept in a direct-mapped cache that all threads' handlers share.
 * Invariant: a slot's sequence is odd while a handler writes it; readers that see it odd, or
 *            changed around their reads, decode again. Writers that find it odd give up.
 * Order:     D1  fields are stored with release after the odd sequence -> a reader that acquires
 *                a new field sees the odd or a later sequence when it looks again.
 */
#include "src/sample/decode.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "src/base/hash.h"
#include "src/core/record.h"
#include "src/format/kinds.h"
#include "src/jvm/code/code_cache.h"
#include "src/jvm/os/peek.h"
#include "src/offheap/granules.h"
#include "src/sample/insn.h"
#include "src/sample/loaded_by.h"
#include "src/sample/native_code.h"
#include "src/sample/read_on.h"

enum {
	WINDOW_BYTES = 1024,   /* decoding starts at least so far before the pc, if it can */
	BEHIND_BYTES = 1024,   /* of native code, as much is looked at from the pc on */
	LOOP_BYTES = 2048,     /* a loop is looked for so far before the access */
	SAMPLES_PER_STEP = 40, /* one in so many looks for a step: that costs some 30 us */
	STEPS_AT_ONCE = 16,    /* which may be saved up, and are there at first */
	CHUNK_BYTES = 512,
	INSN_BYTES_MAX = 15,
	CACHE_SLOTS = 1 << 12,
	NULL_BYTES = 4096, /* from address 0 on, as much cannot be read: the JVM relies on it */
};

/* With a pc in the cache: its recipe where the usual one's instruction has not run. */
#define PAST (UINT64_C(1) << 63)
/* ... and what is known of the instruction there, if it is the access. */
#define KNOWN (UINT64_C(1) << 62)

struct slot {
	_Atomic uint64_t sequence;
	_Atomic uint64_t pc;
	_Atomic uint64_t life;
	_Atomic uint64_t recipe_pc;
	_Atomic uint64_t operand; /* see pack() */
	_Atomic uint64_t made_value;
	_Atomic uint64_t step_kind; /* see pack_step() */
	_Atomic uint64_t step_bytes;
};

enum {
	DESTINATION = 7,          /* number of rdi, where movs writes */
	BEHIND_ARRAY_BYTES = 512, /* vector loops run from the end, or to it */
};

static struct slot *cache;                   /* set once by lc_decode_init() */
static _Atomic uint64_t heap_low, heap_high; /* relaxed: set before there are samples */

void lc_decode_heap_range(uint64_t low, uint64_t high)
{
	atomic_store_explicit(&heap_low, low, memory_order_relaxed);
	atomic_store_explicit(&heap_high, high, memory_order_relaxed);
}

static bool in_heap(uint64_t value)
{
	return value >= atomic_load_explicit(&heap_low, memory_order_relaxed) &&
	       value < atomic_load_explicit(&heap_high, memory_order_relaxed);
}

enum { NO_REGISTER_PACKED = 31 };

static uint64_t pack_register(uint8_t reg)
{
	return reg < LC_REGISTERS ? reg : NO_REGISTER_PACKED;
}

static uint8_t unpack_register(uint64_t packed)
{
	return packed % 32 < LC_REGISTERS ? (uint8_t)(packed % 32) : LC_NO_REGISTER;
}

/* Bits 0 displacement, 32 base, 37 index, 42 log2 of the scale, 44 access, 52 how, 56 flags. */
static uint64_t pack(const struct lc_recipe *r)
{
	const uint64_t scale_log2 = r->scale ? (uint64_t)__builtin_ctz(r->scale) : 0;

	return (uint64_t)(uint32_t)r->disp | pack_register(r->base) << 32 |
	       pack_register(r->index) << 37 | scale_log2 << 42 | (uint64_t)r->access << 44 |
	       (uint64_t)r->how << 52 | (uint64_t)r->base_lost << 56 |
	       (uint64_t)r->index_lost << 57 | (r->vector ? UINT64_C(1) << 58 : 0) |
	       (uint64_t)r->same_frame << 59 | (uint64_t)r->ahead << 60 | (uint64_t)r->made << 61 |
	       (uint64_t)r->moves << 63;
}

static void unpack(uint64_t pc, uint64_t operand, uint64_t made_value, struct lc_recipe *r)
{
	r->pc = pc;
	r->disp = (int32_t)(uint32_t)operand;
	r->base = unpack_register(operand >> 32);
	r->index = unpack_register(operand >> 37);
	r->scale = (uint8_t)(1u << (operand >> 42 & 3));
	r->access = (uint8_t)(operand >> 44);
	r->how = operand >> 52 & 0xf;
	r->base_lost = operand >> 56 & 1;
	r->index_lost = operand >> 57 & 1;
	r->vector = operand >> 58 & 1;
	r->same_frame = operand >> 59 & 1;
	r->ahead = operand >> 60 & 1;
	r->made = operand >> 61 & 3;
	r->moves = operand >> 63;
	r->made_value = made_value;
}

/* Bits 0 kind, 8 register, 16 offset from the stack pointer; 32 `read_on`, 40 `index_differs`, 41
 * `base_differs`, 48 `loaded`. */
static uint64_t pack_step(const struct lc_recipe *r)
{
	const struct lc_step *s = &r->step;

	return (uint64_t)s->kind | (uint64_t)s->reg << 8 | (uint64_t)(uint16_t)s->slot << 16 |
	       (uint64_t)r->read_on << 32 | (r->index_differs ? UINT64_C(1) << 40 : 0) |
	       (r->base_differs ? UINT64_C(1) << 41 : 0) | (uint64_t)(uint16_t)r->loaded << 48;
}

static struct lc_step unpack_step(uint64_t kind, uint64_t bytes)
{
	return (struct lc_step){ .kind = (uint8_t)kind,
		                 .reg = (uint8_t)(kind >> 8),
		                 .slot = (int16_t)(uint16_t)(kind >> 16),
		                 .bytes = (int32_t)(uint32_t)bytes,
		                 .factor = (int32_t)(uint32_t)(bytes >> 32) };
}

static struct slot *slot_of(uint64_t pc)
{
	return &cache[lc_hash(pc) >> 52];
}

static bool cache_get(uint64_t pc, uint64_t life, struct lc_recipe *r)
{
	struct slot *s = slot_of(pc);
	const uint64_t sequence = atomic_load_explicit(&s->sequence, memory_order_acquire);
	const bool same = atomic_load_explicit(&s->pc, memory_order_acquire) == pc && /* D1 */
	                  atomic_load_explicit(&s->life, memory_order_acquire) == life;
	const uint64_t recipe_pc = atomic_load_explicit(&s->recipe_pc, memory_order_acquire);
	const uint64_t operand = atomic_load_explicit(&s->operand, memory_order_acquire);
	const uint64_t made_value = atomic_load_explicit(&s->made_value, memory_order_acquire);
	const uint64_t step_kind = atomic_load_explicit(&s->step_kind, memory_order_acquire);
	const uint64_t step_bytes = atomic_load_explicit(&s->step_bytes, memory_order_acquire);

	if (!same || (sequence & 1) ||
	    atomic_load_explicit(&s->sequence, memory_order_relaxed) != sequence)
		return false;
	unpack(recipe_pc, operand, made_value, r);
	r->step = unpack_step(step_kind, step_bytes);
	r->read_on = (uint8_t)(step_kind >> 32);
	r->index_differs = step_kind >> 40 & 1;
	r->base_differs = step_kind >> 41 & 1;
	r->loaded = (int16_t)(uint16_t)(step_kind >> 48);
	return true;
}

static void cache_put(uint64_t pc, uint64_t life, const struct lc_recipe *r)
{
	struct slot *s = slot_of(pc);
	uint64_t sequence = atomic_load_explicit(&s->sequence, memory_order_relaxed);

	if ((sequence & 1) ||
	    !atomic_compare_exchange_strong_explicit(&s->sequence, &sequence, sequence + 1,
	                                             memory_order_acquire, memory_order_relaxed))
		return;
	atomic_store_explicit(&s->pc, pc, memory_order_release); /* D1 */
	atomic_store_explicit(&s->life, life, memory_order_release);
	atomic_store_explicit(&s->recipe_pc, r->pc, memory_order_release);
	atomic_store_explicit(&s->operand, pack(r), memory_order_release);
	atomic_store_explicit(&s->made_value, r->made_value, memory_order_release);
	atomic_store_explicit(&s->step_kind, pack_step(r), memory_order_release);
	atomic_store_explicit(&s->step_bytes,
	                      (uint64_t)(uint32_t)r->step.bytes | (uint64_t)(uint32_t)r->step.factor
	                                                              << 32,
	                      memory_order_release);
	atomic_store_explicit(&s->sequence, sequence + 2, memory_order_release);
}

/* Samples that have not used their part of the search for steps. Relaxed: nothing hangs on it. */
static _Atomic int32_t saved = SAMPLES_PER_STEP * STEPS_AT_ONCE;

static void save_for_step(void)
{
	if (atomic_load_explicit(&saved, memory_order_relaxed) < SAMPLES_PER_STEP * STEPS_AT_ONCE)
		atomic_fetch_add_explicit(&saved, 1, memory_order_relaxed);
}

/* May this sample look for a step? */
static bool pay_for_step(void)
{
	if (atomic_load_explicit(&saved, memory_order_relaxed) < SAMPLES_PER_STEP)
		return false;
	atomic_fetch_sub_explicit(&saved, SAMPLES_PER_STEP, memory_order_relaxed);
	return true;
}

/*
 * Look for the step of an access whose pc is sampled for the third time: one that is sampled less,
 * as most of a large program are, is not worth the while.
 */
static void find_step(const struct lc_code_cache_piece *piece, const struct lc_code_bytes *code,
                      uint64_t key, const struct lc_registers *regs, bool same_stack,
                      struct lc_recipe *r)
{
	const uint64_t at = r->pc - code->address;
	const bool may_have_one =
	    r->how <= LC_HOW_BASE && !(r->access & LC_ACCESS_OWN) && !r->vector && at < code->len;

	save_for_step();
	if (r->step.kind > LC_STEP_NOT_YET)
		return;
	if (may_have_one && r->step.kind == LC_STEP_NOT_SOUGHT)
		r->step.kind = LC_STEP_NOT_YET;
	else if (!may_have_one)
		r->step.kind = LC_STEP_UNKNOWN;
	else if (pay_for_step())
		lc_step_find(code, at > LOOP_BYTES ? at - LOOP_BYTES : 0, at, regs, same_stack,
		             &r->step);
	else
		return;
	cache_put(key, piece->life, r);
}

static struct lc_code_bytes all_of(const struct lc_code_cache_piece *code)
{
	return (struct lc_code_bytes){ .bytes = (const uint8_t *)(uintptr_t)code->start,
		                       .len = code->end - code->start,
		                       .address = code->start,
		                       .method = code->kind == LC_CODE_METHOD };
}

/* The first instruction to decode for a sample at `pc`. */
static uint64_t window(const struct lc_code_cache_piece *code, uint64_t pc)
{
	return lc_code_cache_boundary(code, pc - code->start > WINDOW_BYTES ? pc - WINDOW_BYTES
	                                                                    : code->start);
}

/* The load that recipe->loaded is about. */
static void find_load(const struct lc_code_cache_piece *piece, struct lc_access *out)
{
	const struct lc_code_bytes all = all_of(piece);
	const uint64_t load = out->recipe.pc - (uint64_t)(int64_t)out->recipe.loaded;

	if (out->recipe.loaded && load >= all.address &&
	    lc_loaded_by_disp(&all, load - all.address, &out->loaded_disp))
		out->loaded = load;
}

static void find_recipe(const struct lc_code_cache_piece *code, const struct lc_registers *regs,
                        struct lc_recipe *r)
{
	const uint64_t pc = regs->pc;
	const struct lc_code_bytes all = all_of(code);
	uint64_t from;

	if (cache_get(pc, code->life, r)) {
		if (code->kind == LC_CODE_METHOD)
			find_step(code, &all, pc, regs, r->same_frame, r);
		return;
	}
	from = window(code, pc);
	lc_decode_straight(&all, from - code->start, pc - code->start, r);
	if (r->how == LC_HOW_UNDECODED &&
	    pc > code->start) { /* there may be data in between: start behind it */
		from = lc_code_cache_boundary(code, pc - 1);
		lc_decode_straight(&all, from - code->start, pc - code->start, r);
	}
	if (code->kind == LC_CODE_METHOD && r->how <= LC_HOW_NEARBY && !(r->access & LC_ACCESS_OWN))
		r->read_on = lc_read_on(&all, r->pc - code->start);
	cache_put(pc, code->life, r);
}

/* -- native code --------------------------------------------------------------------------- */

/*
 * Find the last instruction that starts in [start, limit], decoding from `start`, where one does.
 * Returns its address, or 0 where that leads nowhere or takes too long.
 */
static uint64_t boundary(uint64_t start, uint64_t limit)
{
	uint8_t bytes[CHUNK_BYTES];
	uint64_t at = start, chunk = start;
	size_t have = 0;

	for (unsigned i = 0; i < LC_DECODE_INSTRUCTIONS_MAX; i++) {
		size_t length;

		if (at + INSN_BYTES_MAX > chunk + have) {
			const struct iovec local = { bytes, sizeof(bytes) };
			const struct iovec remote = lc_peek_part(at, sizeof(bytes));

			chunk = at;
			have = lc_peek_parts(&local, 1, &remote, 1);
		}
		length = lc_insn_length(bytes + (at - chunk), chunk + have - at);
		if (!length)
			return 0;
		if (at + length > limit)
			return at;
		at += length;
	}
	return 0;
}

/* The code is copied, since nothing keeps an object from being unloaded while it is read. */
static void find_native_recipe(const struct lc_native_library *library, uint64_t pc,
                               struct lc_recipe *r)
{
	uint8_t bytes[WINDOW_BYTES + INSN_BYTES_MAX + BEHIND_BYTES];
	struct lc_code_bytes code = { .bytes = bytes, .native = true };
	struct lc_native_piece piece;
	uint64_t from;

	if (cache_get(pc, library->life, r))
		return;
	*r = (struct lc_recipe){ .pc = pc, .how = LC_HOW_UNDECODED };
	if (lc_native_code_piece(library, pc, &piece)) {
		from = pc - piece.start > WINDOW_BYTES ? boundary(piece.start, pc - WINDOW_BYTES)
		                                       : piece.start;
		code.address = from;
		code.len = piece.end - from < sizeof(bytes) ? piece.end - from : sizeof(bytes);
		if (from && lc_peek(from, bytes, code.len))
			lc_decode_straight(&code, 0, pc - from, r);
	}
	cache_put(pc, library->life, r);
}

/* -- addresses ----------------------------------------------------------------------------- */

static uint64_t value_of(const struct lc_registers *regs, uint8_t reg)
{
	return reg == LC_NO_REGISTER ? 0 : regs->r[reg];
}

static uint64_t effective(const struct lc_registers *regs, const struct lc_recipe *r)
{
	return value_of(regs, r->base) + value_of(regs, r->index) * r->scale +
	       (uint64_t)(int64_t)r->disp;
}

/*
 * The index may be that of another way to the sample. It is trusted where the base alone says which
 * object it is, and where the object would be null.
 */
static bool is_index_in_doubt(const struct lc_registers *regs, const struct lc_access *a)
{
	return !in_heap(a->base) && effective(regs, &a->recipe) >= NULL_BYTES;
}

static void evaluate(const struct lc_registers *regs, struct lc_access *a)
{
	const struct lc_recipe *r = &a->recipe;
	const bool has_base = r->base != LC_NO_REGISTER && !r->base_lost;
	bool index_lost;

	a->addr = 0;
	a->base = has_base ? value_of(regs, r->base) : 0;
	a->how = r->how;
	a->access = 0;
	if (r->how == LC_HOW_NO_OPERAND || r->how == LC_HOW_UNDECODED)
		return;
	a->access = r->access;
	if (r->access &
	    LC_ACCESS_OWN) { /* no object is accessed: the exact address matters little */
		if (r->base != LC_NO_REGISTER && !r->base_lost && !r->index_lost)
			a->addr = effective(regs, r);
		return;
	}
	index_lost = r->index_lost || (r->index_differs && is_index_in_doubt(regs, a));
	if (!r->base_lost && !index_lost && !r->vector) {
		a->addr = effective(regs, r);
		return;
	}
	/* One register is lost; if the other points into the heap, it points into the same
	 * object. */
	if (has_base && in_heap(a->base)) {
		a->addr = a->base;
		a->how = LC_HOW_BASE;
	} else if (r->index != LC_NO_REGISTER && !index_lost && r->scale == 1 &&
	           in_heap(value_of(regs, r->index))) {
		a->addr = value_of(regs, r->index);
		a->how = LC_HOW_BASE;
	} else {
		a->how = LC_HOW_DESTROYED;
	}
}

/*
 * Does a register point into the heap, or a little past an array, or near a block outside it? Else
 * no access is to an object or a block.
 */
static bool any_near(const struct lc_registers *regs)
{
	for (unsigned i = 0; i < LC_REGISTERS; i++)
		if (in_heap(regs->r[i]) || in_heap(regs->r[i] - BEHIND_ARRAY_BYTES) ||
		    lc_granules_hold(regs->r[i]))
			return true;
	return false;
}

/*
 * Does rep movs write to the heap, having read outside? It also counts for its destination if its
 * source is no block.
 */
static bool counts_for_destination(const struct lc_registers *regs, const struct lc_access *a)
{
	return a->recipe.moves && !in_heap(a->addr) &&
	       (in_heap(regs->r[DESTINATION]) || !lc_granules_hold(a->addr));
}

/*
 * A sample outside of generated code: libjvm and libc clear and copy arrays and blocks outside the
 * heap, JNI libraries work on them. Other accesses do not count.
 */
static void decode_native(const struct lc_registers *regs, struct lc_access *out)
{
	struct lc_native_library library;

	out->how = LC_HOW_NOT_JAVA;
	if (!any_near(regs) || !lc_native_code_library(regs->pc, &library))
		return; /* most of the JVM's own work: decoding it would take too long */
	find_native_recipe(&library, regs->pc, &out->recipe);
	evaluate(regs, out);
	if (counts_for_destination(regs, out)) {
		out->addr = regs->r[DESTINATION];
		out->base = 0;
		out->recipe.base = DESTINATION;
		out->access = (uint8_t)((out->access & ~LC_TOUCH_LOAD) | LC_TOUCH_STORE);
	}
	if (out->how <= LC_HOW_BASE && !(out->access & LC_ACCESS_OWN) &&
	    (in_heap(out->addr) || lc_granules_hold(out->addr))) {
		out->native = true;
		out->life = library.life;
		return;
	}
	out->fenced = out->access & LC_ACCESS_FENCE;
	out->addr = out->base = 0;
	out->access = 0;
	out->how = LC_HOW_NOT_JAVA;
	out->recipe = (struct lc_recipe){ .pc = regs->pc };
}

/* Would the access be to a null reference? If so, it has not run. */
static bool is_of_null(const struct lc_access *a)
{
	return (a->how == LC_HOW_DIRECT || a->how == LC_HOW_NEARBY) &&
	       !(a->access & LC_ACCESS_OWN) && a->addr < NULL_BYTES;
}

/*
 * The recipe's instruction has not run, since a branch leads past it: G1 looks at the card of a
 * reference that is stored only where it leads to another region. Find what has run.
 */
static void look_past(const struct lc_code_cache_piece *code, const struct lc_registers *regs,
                      struct lc_access *a)
{
	const struct lc_code_bytes all = all_of(code);
	const uint64_t pc = regs->pc, not_run = a->recipe.pc - code->start;

	if (!a->recipe.ahead && not_run < pc - code->start) {
		if (!cache_get(pc | PAST, code->life, &a->recipe)) {
			lc_decode_straight_past(&all, window(code, pc) - code->start,
			                        pc - code->start, not_run, &a->recipe);
			cache_put(pc | PAST, code->life, &a->recipe);
		}
		evaluate(regs, a);
		if (!is_of_null(a))
			return;
	}
	a->recipe = (struct lc_recipe){
		.pc = pc, .how = LC_HOW_NO_OPERAND, .base = LC_NO_REGISTER, .index = LC_NO_REGISTER
	};
	evaluate(regs, a);
}

void lc_decode_sample(const struct lc_registers *regs, struct lc_access *out)
{
	struct lc_code_cache_piece code;

	*out = (struct lc_access){ .recipe = { .pc = regs->pc } };
	if (!lc_code_cache_in_cache(regs->pc)) {
		decode_native(regs, out);
		return;
	}
	if (!lc_code_cache_find(regs->pc, &code)) {
		out->how = LC_HOW_UNDECODED;
		return;
	}
	out->kind = (uint8_t)code.kind;
	if (code.kind != LC_CODE_METHOD && code.kind != LC_CODE_STUB) {
		out->how = LC_HOW_NOT_JAVA;
		return;
	}
	out->life = code.life;
	find_recipe(&code, regs, &out->recipe);
	evaluate(regs, out);
	if (is_of_null(out))
		look_past(&code, regs, out);
	find_load(&code, out);
	out->step = lc_step_bytes(&out->recipe.step, regs, out->recipe.same_frame);
	out->fenced = out->how == LC_HOW_DIRECT && (out->access & LC_ACCESS_FENCE);
}

void lc_decode_known(const struct lc_code_cache_piece *code, const struct lc_registers *regs,
                     bool same_stack, struct lc_access *out)
{
	const struct lc_code_bytes all = all_of(code);
	const uint64_t pc = out->recipe.pc;
	struct lc_recipe found = out->recipe;

	if (code->kind != LC_CODE_METHOD || (out->recipe.access & LC_ACCESS_OWN))
		return;
	if (!cache_get(pc | KNOWN, code->life, &found)) {
		lc_decode_load(&all, window(code, pc) - code->start, &found);
		found.read_on = lc_read_on(&all, pc - code->start);
		cache_put(pc | KNOWN, code->life, &found);
	} else if (regs) {
		/* A loop's step needs registers that the loop does not change: any moment will do.
		 */
		find_step(code, &all, pc | KNOWN, regs, same_stack, &found);
	}
	out->recipe.loaded = found.loaded;
	out->recipe.read_on = found.read_on;
	out->recipe.step = found.step;
	if (regs)
		out->step = lc_step_bytes(&found.step, regs, same_stack);
	find_load(code, out);
}

bool lc_decode_before(const struct lc_registers *regs, const struct lc_recipe *recipe,
                      uint64_t life, uint64_t *addr, uint64_t *base)
{
	struct lc_code_cache_piece code;

	if (regs->pc != recipe->pc || !lc_code_cache_find(regs->pc, &code) || code.life != life)
		return false;
	*base = value_of(regs, recipe->base);
	*addr = recipe->vector ? *base + (uint64_t)(int64_t)recipe->disp : effective(regs, recipe);
	return true;
}

int lc_decode_init(void)
{
	void *p;

	if (cache)
		return 0;
	p = mmap(NULL, CACHE_SLOTS * sizeof(*cache), PROT_READ | PROT_WRITE,
	         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	cache = p;
	return 0;
}
