/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/find.c - tries candidates for the object of an access until a header proves one of them.
 *
 * There are five lots of candidates; each is tried only if the lots before it held no answer:
 *
 *   1. the addresses that the instruction itself uses: its base, and then base + index * scale,
 *      which is an element where the base is an array, and elements can look like headers;
 *   2. the registers;
 *   3. the words on top of the stack;
 *   4. the references in the objects that 2 and 3 may be: code that compares or searches strings
 *      moves pointers through their arrays, and soon the addresses of the arrays are nowhere else;
 *   5. the address as far below the base as another object is below its own cursor: two arrays are
 *      often walked side by side.
 *
 * All of them are plain addresses (jvm/layout/ranges.h), whatever view of the heap the code uses.
 *
 * Within a lot the nearest below the address comes first: a dead object's header may still stand in
 * memory that has been given away again, but then the live object begins behind it.
 */
#include "src/sample/find.h"

#include <stddef.h>
#include <string.h>

#include "src/core/record.h"
#include "src/format/kinds.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/os/peek.h"

enum {
	SP = 4,            /* number of the stack pointer */
	THREAD = 15,       /* number of the register with the JVM's thread, which is no reference */
	STACK_WORDS = 128, /* words that are looked at, from the stack pointer on */
	STACK_HOLDERS = 16, /* words whose objects' contents are looked at */
	HOLDER_WORDS = 6,
	WRAPPER_WORDS = 12, /* of the frame by which Java code calls a native method */
};

struct starts {
	const struct lc_registers *regs;
	uint64_t low;                  /* candidates begin here or later */
	uint64_t addr;                 /* the address that the object has to hold */
	struct lc_klass_buffer buffer; /* the thread's own; or all 0 */
	bool anywhere;                 /* `start` is in no order */
	uint64_t of[LC_KLASS_STARTS_MAX];
	bool array[LC_KLASS_STARTS_MAX]; /* only an array begins there, see is_misplaced() */
	size_t len;
};

/* Add a candidate, in order of distance; the farthest goes where there are too many. */
static void add_start(struct starts *s, uint64_t start, bool array)
{
	size_t at = s->len;

	start = lc_ranges_plain(start);
	if ((start > s->addr && !s->anywhere) || start < s->low || !lc_klass_may_start(start))
		return;
	while (at > 0 && s->of[at - 1] < start)
		at--;
	if (at > 0 && s->of[at - 1] == start) {
		s->array[at - 1] &= array;
		return;
	}
	if (s->len == LC_KLASS_STARTS_MAX) {
		if (at == s->len)
			return;
		s->len--;
	}
	memmove(&s->of[at + 1], &s->of[at], (s->len - at) * sizeof(s->of[0]));
	memmove(&s->array[at + 1], &s->array[at], (s->len - at) * sizeof(s->array[0]));
	s->of[at] = start;
	s->array[at] = array;
	s->len++;
}

static void add(struct starts *s, uint64_t start)
{
	add_start(s, start, false);
}

/*
 * Add what a register may hold: a reference, a compressed one, the address of an array's first
 * element.
 */
static void add_register(struct starts *s, uint64_t value)
{
	add(s, value);
	if (value <= UINT32_MAX)
		add(s, lc_klass_decode_reference((uint32_t)value));
	add_start(s, value - lc_klass_array_base(0), true);
	add_start(s, value - lc_klass_array_base(1), true);
}

static bool has_operand(const struct lc_access *a)
{
	return a->how == LC_HOW_DIRECT || a->how == LC_HOW_NEARBY || a->how == LC_HOW_BASE ||
	       a->how == LC_HOW_TRAP;
}

/* Does the base register hold the value that it has when the instruction runs? */
static bool has_base(const struct lc_access *a)
{
	return has_operand(a) && a->recipe.base < LC_REGISTERS &&
	       (a->how == LC_HOW_TRAP || !a->recipe.base_lost);
}

static void add_operand(struct starts *s, const struct lc_registers *regs,
                        const struct lc_access *access)
{
	const struct lc_recipe *r = &access->recipe;

	if (has_base(access))
		add(s, regs->r[r->base]);
	if (!has_operand(access))
		return;
	if (access->how != LC_HOW_BASE && !r->vector)
		add(s, access->addr - (uint64_t)(int64_t)r->disp); /* base + index * scale */
}

/* Read words from the stack pointer on. Returns their number; 0 if they cannot be read. */
static size_t read_stack(uint64_t sp, uint64_t *words) /* NOLINT(readability-non-const-parameter) */
{
	const struct iovec local = { words, STACK_WORDS * sizeof(*words) };
	const struct iovec remote = lc_peek_part(sp, STACK_WORDS * sizeof(*words));

	return lc_peek_parts(&local, 1, &remote, 1) / sizeof(*words);
}

/* A word of memory is one reference, or two compressed ones, or none. */
static void add_memory(struct starts *s, const uint64_t *words, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		add(s, words[i]);
		add(s, lc_klass_decode_reference((uint32_t)words[i]));
		add(s, lc_klass_decode_reference((uint32_t)(words[i] >> 32)));
	}
}

/* Add the references in what may be an object at each of `holders`. */
static void add_contents(struct starts *s, const struct starts *holders)
{
	uint64_t words[LC_KLASS_STARTS_MAX * HOLDER_WORDS];
	struct iovec remote[LC_KLASS_STARTS_MAX];
	size_t begin = 0;

	for (size_t i = 0; i < holders->len; i++)
		remote[i] = lc_peek_part(holders->of[i], HOLDER_WORDS * 8);
	while (begin < holders->len) { /* an unreadable holder ends a pass */
		const struct iovec local = { words, (holders->len - begin) * HOLDER_WORDS * 8 };
		const size_t len =
		    lc_peek_parts(&local, 1, remote + begin, holders->len - begin) / 8;

		add_memory(s, words, len);
		begin += len / HOLDER_WORDS + 1;
	}
}

static void add_registers(struct starts *s, const struct lc_registers *regs)
{
	for (unsigned i = 0; i < LC_REGISTERS; i++)
		if (i != SP && i != THREAD)
			add_register(s, regs->r[i]);
}

/* Does the object reach into memory that the thread has not allocated yet, so that it is dead? */
static bool is_dead(const struct lc_klass_buffer *b, const struct lc_object_seen *object)
{
	return object->start >= b->low && object->start < b->end &&
	       object->start + object->size_bytes > b->top;
}

/* Is the object the one that the thread allocated last? */
static bool is_newest(const struct lc_klass_buffer *b, const struct lc_object_seen *object)
{
	return object->start + object->size_bytes == b->top;
}

/*
 * In the thread's buffer objects follow one another: is there an object behind this one, or is this
 * one the newest? The object behind may have no header yet; then a register holds its address.
 */
static bool has_successor(const struct starts *s, const struct lc_object_seen *object)
{
	const uint64_t end = object->start + object->size_bytes;
	struct lc_object_seen next;

	if (is_newest(&s->buffer, object) || lc_klass_object(end, end, &next))
		return true;
	for (unsigned i = 0; i < LC_REGISTERS; i++)
		if (lc_ranges_plain(s->regs->r[i]) == end)
			return true;
	return false;
}

/*
 * May only an array begin here, and is the object none? The newest object may be of any kind: the
 * code that clears it begins behind its header too.
 */
static bool is_misplaced(const struct starts *s, size_t at, const struct lc_object_seen *object)
{
	return s->array[at] && !object->is_array && !is_newest(&s->buffer, object);
}

/*
 * Set *out to the first candidate that is an object and holds the address. With in_order the object
 * must have a successor too.
 */
static bool ask(struct starts *s, bool in_order, struct lc_object_seen *out)
{
	size_t asked = 0;

	while (asked < s->len &&
	       lc_klass_first_object(s->of + asked, s->len - asked, s->addr, out)) {
		while (s->of[asked++] != out->start)
			;
		if (!is_dead(&s->buffer, out) && !is_misplaced(s, asked - 1, out) &&
		    (!in_order || has_successor(s, out)))
			return true;
	}
	return false;
}

static bool find_in_contents(const struct starts *where, const struct lc_registers *regs,
                             const uint64_t *stack, size_t stack_len, struct lc_object_seen *out)
{
	struct starts holders = { .anywhere = true }, s = *where;

	s.len = 0;
	add_registers(&holders, regs);
	add_contents(&s, &holders);
	if (ask(&s, false, out))
		return true;
	s.len = holders.len = 0;
	add_memory(&holders, stack, stack_len < STACK_HOLDERS ? stack_len : STACK_HOLDERS);
	add_contents(&s, &holders);
	return ask(&s, false, out);
}

/* Does the access only store, so that it may be to uninitialised memory? */
static bool is_store(const struct lc_access *a)
{
	return (a->access & LC_TOUCH_STORE) && !(a->access & LC_TOUCH_LOAD);
}

/*
 * Is the access a store to the header of an object under construction? If so, the class word may
 * still be old memory. The mark word comes first, the class word second.
 */
static bool being_made(const struct lc_access *a, const struct lc_object_seen *object)
{
	const bool ran = (a->how == LC_HOW_DIRECT || a->how == LC_HOW_NEARBY) && !a->recipe.ahead;
	const uint64_t offset = lc_ranges_plain(a->addr) - object->start;

	return is_store(a) && a->how != LC_HOW_BASE &&
	       (offset < lc_klass_word_offset() || (!ran && offset < lc_klass_word_end()));
}

/*
 * Find the object in the thread's own buffer. Memory that the thread has just allocated may hold
 * old data, headers included, until it is cleared; everything that it allocated earlier is in
 * order. So of several objects that seem to hold the address, the one that begins first is real,
 * unless it is data of the program that looks like a header: then no object begins where it would
 * end.
 */
static bool find_fresh(const struct starts *where, const struct lc_registers *regs,
                       const struct lc_access *access, struct lc_object_seen *out)
{
	struct starts s = *where;
	uint64_t stack[STACK_WORDS];
	const size_t stack_len = read_stack(regs->r[SP], stack);

	s.low = s.buffer.low;
	add_operand(&s, regs, access);
	add_registers(&s, regs);
	add_register(&s, s.addr);
	add_memory(&s, stack, stack_len);
	for (size_t i = 0; i < s.len / 2; i++) {
		const size_t other = s.len - 1 - i;
		const uint64_t start = s.of[i];
		const bool array = s.array[i];

		s.of[i] = s.of[other];
		s.array[i] = s.array[other];
		s.of[other] = start;
		s.array[other] = array;
	}
	return ask(&s, true, out);
}

static bool is_heap_register(const struct lc_registers *regs, unsigned i)
{
	return i != SP && i != THREAD && lc_klass_in_heap(regs->r[i]);
}

static bool find_beside(const struct starts *where, const struct lc_registers *regs,
                        const struct lc_access *access, struct lc_object_seen *out)
{
	struct starts s = *where;

	if (!has_base(access) || !lc_klass_in_heap(regs->r[access->recipe.base]))
		return false;
	for (unsigned i = 0; i < LC_REGISTERS; i++)
		for (unsigned j = 0; j < LC_REGISTERS; j++)
			if (is_heap_register(regs, i) && is_heap_register(regs, j) &&
			    regs->r[i] > regs->r[j])
				add(&s, regs->r[access->recipe.base] - (regs->r[i] - regs->r[j]));
	return ask(&s, false, out);
}

static bool find_settled(const struct starts *where, const struct lc_registers *regs,
                         const struct lc_access *access, struct lc_object_seen *out)
{
	struct starts s = *where;
	uint64_t stack[STACK_WORDS];
	size_t stack_len;

	if (has_base(access)) {
		add(&s, regs->r[access->recipe.base]);
		if (ask(&s, false, out))
			return true;
	}
	s.len = 0;
	add_operand(&s, regs, access);
	if (ask(&s, false, out))
		return true;
	s.len = 0;
	add_registers(&s, regs);
	add_register(&s, s.addr);
	if (ask(&s, false, out))
		return true;
	s.len = 0;
	stack_len = read_stack(regs->r[SP], stack);
	add_memory(&s, stack, stack_len);
	return ask(&s, false, out) || find_in_contents(where, regs, stack, stack_len, out) ||
	       find_beside(where, regs, access, out);
}

static bool find(const struct lc_registers *regs, const struct lc_access *access,
                 struct lc_object_seen *out)
{
	struct starts s = { .regs = regs, .addr = lc_ranges_plain(access->addr) };

	if (!lc_klass_in_heap(access->addr))
		return false;
	/* Native code may clear what it has just allocated, wherever that is: the headers that
	 * stand there are old. */
	if (access->native)
		return !is_store(access) && !access->recipe.ahead &&
		       find_settled(&s, regs, access, out);
	/* A load that has run was from an object; other accesses may be to an old or future
	 * object. */
	if ((access->how == LC_HOW_DIRECT && !is_store(access)) ||
	    !lc_klass_thread_buffer(regs->r[THREAD], &s.buffer) || s.addr < s.buffer.low ||
	    s.addr >= s.buffer.end)
		return find_settled(&s, regs, access, out);
	if (!is_store(access))
		return s.addr < s.buffer.top && find_settled(&s, regs, access, out);
	if (s.addr != s.buffer.top)
		return s.addr < s.buffer.top && find_fresh(&s, regs, access, out);
	s.addr--; /* the code that clears the newest object has come to its end */
	return find_fresh(&s, regs, access, out) && is_newest(&s.buffer, out);
}

bool lc_find_object(const struct lc_registers *regs, const struct lc_access *access,
                    struct lc_object_seen *out)
{
	const struct lc_recipe *r = &access->recipe;
	struct lc_object_seen object;

	/* The header may still be that of an object which lay there before. */
	if (r->made && has_base(access))
		return lc_klass_new_object(lc_ranges_plain(regs->r[r->base]),
		                           r->made == LC_MADE_VALUE
		                               ? r->made_value
		                               : lc_decode_made_word(regs, r->made_value),
		                           lc_ranges_plain(access->addr), out);
	if (!find(regs, access, &object) || being_made(access, &object))
		return false;
	*out = object;
	return true;
}

bool lc_find_newest(const struct lc_registers *regs, const struct lc_access *access,
                    struct lc_object_seen *out)
{
	struct starts s = { .regs = regs };
	uint64_t base;

	if (!is_store(access) || !access->recipe.base_differs ||
	    !lc_klass_thread_buffer(regs->r[THREAD], &s.buffer))
		return false;
	base = lc_ranges_plain(regs->r[access->recipe.base]);
	if (base <= s.buffer.low || base > s.buffer.top)
		return false;
	s.addr = base - (base == s.buffer.top);
	/* Until the header is written, that of an older object may stand there: being_made(). */
	return find_fresh(&s, regs, access, out) && is_newest(&s.buffer, out) &&
	       (access->recipe.index != LC_NO_REGISTER ||
	        base + (uint64_t)(int64_t)access->recipe.disp - out->start >= lc_klass_word_end());
}

/* Does one of the arrays end at `addr`, so that a cursor has come to its end? */
static bool ends_one(const struct lc_object_seen *arrays, size_t len, uint64_t addr)
{
	for (size_t i = 0; i < len; i++)
		if (arrays[i].start + arrays[i].size_bytes == addr)
			return true;
	return false;
}

/* The array that words point to, where all that point to an array point to the same; or 0. */
static uint64_t only_array(const uint64_t *words, size_t len)
{
	struct lc_object_seen arrays[STACK_WORDS];
	uint64_t only = 0;
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		const uint64_t start = lc_ranges_plain(words[i]);

		if (lc_klass_may_start(start) && lc_klass_object(start, start, &arrays[n]) &&
		    arrays[n].is_array)
			n++;
	}
	for (size_t i = 0; i < n; i++) {
		if (arrays[i].start == only || ends_one(arrays, n, arrays[i].start))
			continue;
		if (only)
			return 0;
		only = arrays[i].start;
	}
	return only;
}

uint64_t lc_find_array_in_registers(const struct lc_registers *regs)
{
	return only_array(regs->r, LC_REGISTERS);
}

uint64_t lc_find_array_on_stack(const struct lc_registers *regs)
{
	uint64_t stack[STACK_WORDS];
	const size_t len = read_stack(regs->r[SP], stack);

	return only_array(stack, len < WRAPPER_WORDS ? len : WRAPPER_WORDS);
}
