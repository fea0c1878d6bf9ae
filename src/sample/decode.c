/*
 * sample/decode.c - recipes: which instruction touched memory before a sampled pc, and where.
 *
 * A timer interrupt is taken when an instruction retires, and what makes time pass is a memory
 * instruction that waits; so the sampled pc is the instruction after the one that waited. x86
 * cannot be decoded backwards: decode forwards from a known boundary and keep the last few.
 *
 * Recipes are kept in a direct-mapped cache that all threads' handlers share.
 * Invariant: a slot's sequence is odd while a handler writes it; readers that see it odd, or
 *            changed around their reads, decode again. Writers that find it odd give up.
 * Order:     D1  fields are stored with release after the odd sequence -> a reader that acquires
 *                a new field sees the odd or a later sequence when it looks again.
 */
#include "sample/decode.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "record.h"
#include "sample/code.h"
#include "sample/insn.h"

enum {
	/*
	 * Unrolled loops calculate the indices of many elements before they touch the first: C2 of
	 * JDK 25 puts 100 instructions and more between two accesses.
	 */
	WINDOW = 160,        /* instructions before the pc that are looked at */
	WINDOW_BYTES = 1024, /* decoding starts at least so far before the pc, where it can */
	BRANCH_BYTES = 1024, /* and branches are looked for so far behind it */
	BRANCHES_MAX = 64,
	JUMPS_MAX = 2,     /* followed back */
	FORWARD_MAX = 160, /* instructions from the pc on that are looked at */
	CACHE_SLOTS = 1 << 12,
	SP = 4 /* number of the stack pointer */
};

struct slot {
	_Atomic uint64_t sequence;
	_Atomic uint64_t pc;
	_Atomic uint64_t life;
	_Atomic uint64_t recipe_pc;
	_Atomic uint64_t operand; /* see pack() */
};

static struct slot *cache;                   /* set once by lc_decode_init() */
static _Atomic uint64_t heap_low, heap_high; /* relaxed: set before there are samples */

/* Straight line of instructions that ends right before the pc. */
struct line {
	uint32_t at[WINDOW]; /* offsets, oldest first */
	size_t len;
};

/* Fill *line. Returns false where decoding from `from` does not arrive at `pc_at`. */
static bool decode_to(const uint8_t *bytes, size_t len, size_t from, size_t pc_at,
                      struct line *line)
{
	uint32_t ring[WINDOW];
	size_t at = from, n = 0;

	while (at < pc_at) {
		const size_t length = lc_insn_length(bytes + at, len - at);

		if (!length || n == LC_DECODE_INSTRUCTIONS_MAX)
			return false;
		ring[n++ % WINDOW] = (uint32_t)at;
		at += length;
	}
	if (at != pc_at)
		return false;
	line->len = n < WINDOW ? n : WINDOW;
	for (size_t i = 0; i < line->len; i++)
		line->at[i] = ring[(n - line->len + i) % WINDOW];
	return true;
}

static uint16_t bit_of(uint8_t reg)
{
	return (uint16_t)(reg < LC_REGISTERS ? 1u << reg : 0u);
}

static void set_operand(struct lc_recipe *r, const struct lc_insn *in, uint64_t pc, uint16_t lost)
{
	r->pc = pc;
	r->disp = in->disp;
	r->base = in->base;
	r->index = in->index;
	r->scale = in->scale;
	r->vector = in->vector;
	r->base_lost = lost & bit_of(in->base);
	r->index_lost = lost & bit_of(in->index);
}

/*
 * The base is gone, but was it copied before? Looks in the line before instruction `m` for
 * mov copy,base with both untouched from there on; `lost` are the registers written from `m` on.
 */
static void use_copy_of_base(const uint8_t *bytes, size_t len, const struct line *line, size_t m,
                             uint16_t lost, struct lc_recipe *r)
{
	struct lc_insn in;

	while (m-- > 0 && lc_insn_decode(bytes + line->at[m], len - line->at[m], &in)) {
		if (in.control)
			return;
		if (in.copy_from == r->base && !(lost & bit_of(in.copy_to))) {
			r->base = in.copy_to;
			r->base_lost = false;
			return;
		}
		if (in.written & bit_of(r->base))
			return;
		lost |= in.written;
	}
}

/* Direct branches around the pc, for finding who jumped to where the line begins. */
struct branches {
	size_t len;
	struct {
		size_t at, to;
	} of[BRANCHES_MAX];
};

static void find_branches(const uint8_t *bytes, size_t len, size_t from, size_t to,
                          struct branches *out)
{
	struct lc_insn in;

	out->len = 0;
	for (size_t at = from; at < to && at < len; at += in.length) {
		if (!lc_insn_decode(bytes + at, len - at, &in))
			return;
		if (!in.target || out->len == BRANCHES_MAX)
			continue;
		out->of[out->len].at = at;
		out->of[out->len++].to = (size_t)((int64_t)at + in.target);
	}
}

/*
 * The branch by which control came to `at`: the only one, or the only one from further down, a
 * loop's (`loop` asks for that alone). Returns false where there is none or a choice.
 */
static bool came_by(const struct branches *branches, size_t at, bool loop, size_t *source)
{
	unsigned found = 0;

	for (size_t i = 0; i < branches->len; i++) {
		if (branches->of[i].to != at || (loop && branches->of[i].at < at))
			continue;
		*source = branches->of[i].at;
		found++;
	}
	return found == 1;
}

/* A place in code, walked backwards in the order in which it ran, as far as that is certain. */
struct trace {
	const uint8_t *bytes;
	size_t len, from;
	struct line line;
	size_t at;      /* of the instruction that ran next */
	unsigned jumps; /* followed so far */
	uint16_t lost;  /* registers written since */
	struct branches branches;
};

/* Continue before the branch at `source`, which led to t->at. */
static bool jump_back(struct trace *t, size_t source)
{
	if (t->jumps == JUMPS_MAX || !decode_to(t->bytes, t->len, t->from, source, &t->line))
		return false;
	t->jumps++;
	t->at = source;
	return true;
}

/*
 * One instruction back in time: a loop's branch is the likelier way to where it leads, then
 * comes the instruction before in memory, then a branch from anywhere. Calls end the trace.
 */
static bool step_back(struct trace *t, struct lc_insn *in)
{
	size_t source, at;

	while (came_by(&t->branches, t->at, true, &source))
		if (!jump_back(t, source))
			return false;
	for (;;) {
		if (!t->line.len)
			return false;
		at = t->line.at[t->line.len - 1];
		if (!lc_insn_decode(t->bytes + at, t->len - at, in))
			return false;
		if (in->falls)
			break;
		if (!came_by(&t->branches, t->at, false, &source) || !jump_back(t, source))
			return false;
	}
	t->line.len--;
	t->at = at;
	return true;
}

/* Is the instruction at t->at, which reads its base alone, a safepoint poll? */
static bool is_poll(const struct trace *t, uint8_t base)
{
	struct trace before = *t;
	struct lc_insn in;

	for (unsigned i = 0; i < WINDOW && step_back(&before, &in); i++)
		if (in.written & bit_of(base))
			return in.from_thread == base;
	return true; /* a null check's register was written by what loaded the reference */
}

/* The nearest memory instruction before the pc. Returns false where that is not certain. */
static bool look_back(struct trace *t, uint64_t address, struct lc_recipe *r)
{
	const size_t pc_at = t->at;
	struct lc_insn in;

	for (unsigned i = 0; i < WINDOW && step_back(t, &in); i++) {
		/* A string instruction has moved its own base on, by a known step. */
		const uint16_t own = in.step ? in.written & (uint16_t)~bit_of(in.base) : in.written;

		if (!in.memory || (in.polls && is_poll(t, in.base))) {
			t->lost |= in.written;
			continue;
		}
		set_operand(r, &in, address + t->at, t->lost | own);
		r->disp -= in.step;
		r->how = !t->jumps && t->at + in.length == pc_at ? LC_HOW_DIRECT : LC_HOW_NEARBY;
		r->same_frame = !((t->lost | in.written) & bit_of(SP));
		if (r->base_lost && in.step)
			return false; /* how far it had moved is gone with it */
		if (r->base_lost)
			use_copy_of_base(t->bytes, t->len, &t->line, t->line.len,
			                 t->lost | in.written, r);
		return true;
	}
	return false;
}

/* The first memory instruction from the pc on. Returns false where the line has none. */
static bool look_ahead(const uint8_t *bytes, size_t len, uint64_t address, size_t pc_at,
                       struct lc_recipe *r)
{
	uint16_t lost = 0;
	size_t at = pc_at;
	struct lc_insn in;

	for (unsigned i = 0; i < FORWARD_MAX && at < len; i++) {
		if (!lc_insn_decode(bytes + at, len - at, &in) || in.control)
			return false;
		if (in.memory && !in.polls) {
			/* Registers that are yet to be written are as good as gone. */
			set_operand(r, &in, address + at, lost);
			r->how = LC_HOW_NEARBY;
			r->same_frame = !(lost & bit_of(SP));
			return true;
		}
		lost |= in.written;
		at += in.length;
	}
	return false;
}

/* rep movs and the like wait at their own pc, with registers that say how far they are. */
static bool repeats_here(const uint8_t *bytes, size_t len, uint64_t address, size_t pc_at,
                         struct lc_recipe *r)
{
	struct lc_insn in;

	if (!lc_insn_decode(bytes + pc_at, len - pc_at, &in) || !in.repeats || !in.memory)
		return false;
	set_operand(r, &in, address + pc_at, 0);
	r->how = LC_HOW_DIRECT;
	r->same_frame = true;
	return true;
}

void lc_decode_straight(const uint8_t *bytes, size_t len, uint64_t address, size_t from,
                        size_t pc_at, struct lc_recipe *out)
{
	struct trace t = { .bytes = bytes, .len = len, .from = from, .at = pc_at };

	*out = (struct lc_recipe){ .how = LC_HOW_UNDECODED,
		                   .base = LC_NO_REGISTER,
		                   .index = LC_NO_REGISTER };
	if (pc_at >= len || from > pc_at || !decode_to(bytes, len, from, pc_at, &t.line))
		return;
	if (repeats_here(bytes, len, address, pc_at, out))
		return;
	find_branches(bytes, len, from, pc_at + BRANCH_BYTES, &t.branches);
	if (look_back(&t, address, out))
		return;
	if (look_ahead(bytes, len, address, pc_at, out))
		return;
	out->how = LC_HOW_NO_OPERAND;
}

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

static uint64_t pack(const struct lc_recipe *r)
{
	return (uint64_t)(uint32_t)r->disp | (uint64_t)r->base << 32 | (uint64_t)r->index << 40 |
	       (uint64_t)r->scale << 48 | (uint64_t)r->how << 52 | (uint64_t)r->base_lost << 56 |
	       (uint64_t)r->index_lost << 57 | (uint64_t)r->vector << 58 |
	       (uint64_t)r->same_frame << 59;
}

static void unpack(uint64_t pc, uint64_t operand, struct lc_recipe *r)
{
	r->pc = pc;
	r->disp = (int32_t)(uint32_t)operand;
	r->base = (uint8_t)(operand >> 32);
	r->index = (uint8_t)(operand >> 40);
	r->scale = operand >> 48 & 0xf;
	r->how = operand >> 52 & 0xf;
	r->base_lost = operand >> 56 & 1;
	r->index_lost = operand >> 57 & 1;
	r->vector = operand >> 58 & 1;
	r->same_frame = operand >> 59 & 1;
}

static struct slot *slot_of(uint64_t pc)
{
	return &cache[(pc * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
}

static bool cache_get(uint64_t pc, uint64_t life, struct lc_recipe *r)
{
	struct slot *s = slot_of(pc);
	const uint64_t sequence = atomic_load_explicit(&s->sequence, memory_order_acquire);
	const bool same = atomic_load_explicit(&s->pc, memory_order_acquire) == pc && /* D1 */
	                  atomic_load_explicit(&s->life, memory_order_acquire) == life;
	const uint64_t recipe_pc = atomic_load_explicit(&s->recipe_pc, memory_order_acquire);
	const uint64_t operand = atomic_load_explicit(&s->operand, memory_order_acquire);

	if (!same || (sequence & 1) ||
	    atomic_load_explicit(&s->sequence, memory_order_relaxed) != sequence)
		return false;
	unpack(recipe_pc, operand, r);
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
	atomic_store_explicit(&s->sequence, sequence + 2, memory_order_release);
}

static void find_recipe(const struct lc_code *code, uint64_t pc, struct lc_recipe *r)
{
	const uint8_t *bytes = (const uint8_t *)(uintptr_t)code->start;
	const size_t len = code->end - code->start;
	uint64_t from;

	if (cache_get(pc, code->life, r))
		return;
	from = lc_code_boundary(code,
	                        pc - code->start > WINDOW_BYTES ? pc - WINDOW_BYTES : code->start);
	lc_decode_straight(bytes, len, code->start, from - code->start, pc - code->start, r);
	if (r->how == LC_HOW_UNDECODED && pc > code->start) { /* data between? then start behind */
		from = lc_code_boundary(code, pc - 1);
		lc_decode_straight(bytes, len, code->start, from - code->start, pc - code->start,
		                   r);
	}
	cache_put(pc, code->life, r);
}

static uint64_t value_of(const struct lc_registers *regs, uint8_t reg)
{
	return reg == LC_NO_REGISTER ? 0 : regs->r[reg];
}

static uint64_t effective(const struct lc_registers *regs, const struct lc_recipe *r)
{
	return value_of(regs, r->base) + value_of(regs, r->index) * r->scale +
	       (uint64_t)(int64_t)r->disp;
}

static void evaluate(const struct lc_registers *regs, struct lc_access *a)
{
	const struct lc_recipe *r = &a->recipe;
	const bool has_base = r->base != LC_NO_REGISTER && !r->base_lost;

	a->addr = 0;
	a->base = has_base ? value_of(regs, r->base) : 0;
	a->how = r->how;
	if (r->how == LC_HOW_NO_OPERAND || r->how == LC_HOW_UNDECODED)
		return;
	if (!r->base_lost && !r->index_lost && !r->vector) {
		a->addr = effective(regs, r);
		return;
	}
	/* One part is gone; the other is in the same object where it points into the heap. */
	if (has_base && in_heap(a->base)) {
		a->addr = a->base;
		a->how = LC_HOW_BASE;
	} else if (r->index != LC_NO_REGISTER && !r->index_lost && r->scale == 1 &&
	           in_heap(value_of(regs, r->index))) {
		a->addr = value_of(regs, r->index);
		a->how = LC_HOW_BASE;
	} else {
		a->how = LC_HOW_DESTROYED;
	}
}

void lc_decode_sample(const struct lc_registers *regs, struct lc_access *out)
{
	struct lc_code code;

	out->addr = out->base = out->life = 0;
	out->kind = 0;
	out->recipe = (struct lc_recipe){ .pc = regs->pc };
	if (!lc_code_find(regs->pc, &code)) {
		out->how = LC_HOW_UNDECODED;
		return;
	}
	out->kind = (uint8_t)code.kind;
	if (code.kind != LC_CODE_METHOD && code.kind != LC_CODE_STUB) {
		out->how = LC_HOW_NOT_JAVA;
		return;
	}
	out->life = code.life;
	find_recipe(&code, regs->pc, &out->recipe);
	evaluate(regs, out);
}

bool lc_decode_before(const struct lc_registers *regs, const struct lc_recipe *recipe,
                      uint64_t life, uint64_t *addr, uint64_t *base)
{
	struct lc_code code;

	if (regs->pc != recipe->pc || !lc_code_find(regs->pc, &code) || code.life != life)
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
