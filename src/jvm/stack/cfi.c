/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/stack/cfi.c - finds the description of a function in a library's .eh_frame, and follows it.
 *
 * .eh_frame_hdr is a sorted table of functions, each with the address of its entry (FDE) in
 * .eh_frame, which names a shared entry (CIE). Both hold instructions of a small machine that says,
 * for each range of the function's instructions, how far the caller's stack pointer (CFA) is from a
 * register, and where registers were saved. Only encodings that GNU and LLVM linkers write for
 * x86-64 are read; a function of any other is refused.
 *
 * glibc 2.35 finds libraries in signal handlers (_dl_find_object); with an older one those that
 * are loaded when the agent starts are known.
 */
#include "src/jvm/stack/cfi.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "src/jvm/os/peek.h"

enum {
	LIBRARIES_MAX = 64,
	RED_ZONE_BYTES = 128,   /* below the stack pointer, that no handler writes */
	REMEMBERED_MAX = 4,     /* states within states */
	OPERANDS_MAX = 8,       /* of an expression */
	LENGTH_BYTES_MAX = 10,  /* of an expression's length */
	INSTRUCTIONS_MAX = 512, /* of a description, all in all */
	PC_RELATIVE_4 = 0x1b,   /* encodings of addresses: 4 bytes, signed, from where they stand */
	TABLE_RELATIVE_4 = 0x3b, /* the same from the start of the table */
	ABSOLUTE_4 = 0x03,       /* 4 bytes, unsigned */
};

struct library {
	uint64_t low, high;
	uint64_t table; /* its .eh_frame_hdr */
};

/* The struct of glibc's <dlfcn.h>, which has it since 2.35. */
struct found_object {
	unsigned long long flags;
	void *map_start, *map_end;
	struct link_map *link_map;
	void *eh_frame;
	unsigned long long reserved[7];
};

/* Set once by lc_cfi_init(). */
static int (*find_object)(void *address, struct found_object *out);
static struct library libraries[LIBRARIES_MAX];
static size_t libraries_len;

static int add_library(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct library l = { UINT64_MAX, 0, 0 };

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		const uint64_t at = info->dlpi_addr + h->p_vaddr;

		if (h->p_type == PT_GNU_EH_FRAME)
			l.table = at;
		if (h->p_type != PT_LOAD)
			continue;
		l.low = at < l.low ? at : l.low;
		l.high = at + h->p_memsz > l.high ? at + h->p_memsz : l.high;
	}
	if (l.table && libraries_len < LIBRARIES_MAX)
		libraries[libraries_len++] = l;
	return 0;
}

void lc_cfi_init(void)
{
	void *find = dlsym(RTLD_DEFAULT, "_dl_find_object");

	memcpy(&find_object, &find, sizeof(find_object));
	libraries_len = 0;
	(void)dl_iterate_phdr(add_library, NULL);
}

static bool find_library(uint64_t pc, struct library *out)
{
	struct found_object found;

	for (size_t i = 0; i < libraries_len; i++)
		if (pc >= libraries[i].low && pc < libraries[i].high) {
			*out = libraries[i];
			return true;
		}
	if (!find_object || find_object((void *)(uintptr_t)pc, &found) ||
	    !found.eh_frame) /* NOLINT */
		return false;
	out->low = (uint64_t)(uintptr_t)found.map_start;
	out->high = (uint64_t)(uintptr_t)found.map_end;
	out->table = (uint64_t)(uintptr_t)found.eh_frame;
	return true;
}

/* -- reading -------------------------------------------------------------------------------- */

/* Bytes of a description. `bad`: it ended too early, or says something that is not known here. */
struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static const uint8_t *bytes_at(uint64_t address)
{
	return (const uint8_t *)(uintptr_t)address; /* NOLINT */
}

static uint64_t fixed(struct cursor *c, unsigned bytes)
{
	uint64_t v = 0;

	if ((size_t)(c->end - c->at) < bytes) {
		c->bad = true;
		c->at = c->end;
		return 0;
	}
	memcpy(&v, c->at, bytes);
	c->at += bytes;
	return v;
}

/* A LEB128 number, whose sign is the last byte's bit 6 where it is `signed_`. */
static uint64_t leb(struct cursor *c, bool signed_)
{
	uint64_t v = 0, byte;
	unsigned shift = 0;

	do {
		byte = fixed(c, 1);
		if (shift < 64)
			v |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (signed_ && shift < 64 && (byte & 0x40))
		v |= UINT64_MAX << shift;
	return v;
}

static uint64_t uleb(struct cursor *c)
{
	return leb(c, false);
}

static int64_t sleb(struct cursor *c)
{
	return (int64_t)leb(c, true);
}

static int32_t signed32(uint64_t address)
{
	return (int32_t)lc_peek_get32(bytes_at(address));
}

/* The entry of .eh_frame for `pc`, by the sorted table; 0 where there is none. */
static uint64_t find_entry(const struct library *l, uint64_t pc)
{
	const uint8_t *h = bytes_at(l->table);
	const uint64_t entries = l->table + 12;
	uint32_t low = 0, high;

	if (h[0] != 1 || h[1] != PC_RELATIVE_4 || h[2] != ABSOLUTE_4 || h[3] != TABLE_RELATIVE_4)
		return 0;
	high = lc_peek_get32(h + 8);
	while (low < high) { /* the last that begins at `pc` or before */
		const uint32_t middle = low + (high - low) / 2;

		if (l->table + (uint64_t)(int64_t)signed32(entries + (uint64_t)middle * 8) <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? l->table + (uint64_t)(int64_t)signed32(entries + (uint64_t)(low - 1) * 8 + 4)
	           : 0;
}

/* A function's entry (FDE) and its shared one (CIE). */
struct description {
	struct cursor shared, own; /* instructions */
	uint64_t first;            /* the function's first byte */
	uint64_t code_unit;
	int64_t data_unit;
	bool signal_frame;
};

static bool read_shared(uint64_t at, struct description *d)
{
	struct cursor c = { bytes_at(at + 4), bytes_at(at + 4) + lc_peek_get32(bytes_at(at)),
		            false };
	const char *augmentation;
	uint64_t version, encoding = 0;
	size_t left;

	if (fixed(&c, 4)) /* of a shared entry it is 0 */
		return false;
	version = fixed(&c, 1);
	augmentation = (const char *)c.at;
	left = strnlen(augmentation, (size_t)(c.end - c.at));
	c.at += left < (size_t)(c.end - c.at) ? left + 1 : left;
	d->code_unit = uleb(&c);
	d->data_unit = sleb(&c);
	if (version != 1 || fixed(&c, 1) != LC_CFI_PC || *augmentation++ != 'z')
		return false;
	(void)uleb(&c);
	for (; *augmentation && !c.bad; augmentation++) {
		if (*augmentation == 'R')
			encoding = fixed(&c, 1);
		else if (*augmentation == 'L')
			(void)fixed(&c, 1);
		else if (*augmentation == 'P')
			(void)fixed(&c, (fixed(&c, 1) & 7) == 3 ? 4 : 8); /* a personality */
		else if (*augmentation == 'S')
			d->signal_frame = true;
		else
			return false;
	}
	d->shared = c;
	return encoding == PC_RELATIVE_4 && !c.bad;
}

static bool read_entry(uint64_t at, uint64_t pc, struct description *d)
{
	const uint32_t bytes = lc_peek_get32(bytes_at(at));
	struct cursor c = { bytes_at(at + 4), bytes_at(at + 4) + bytes, false };
	uint64_t shared, skip, length;

	if (bytes < 16 || bytes > 1 << 20)
		return false;
	shared = at + 4 - fixed(&c, 4);
	d->signal_frame = false;
	if (!read_shared(shared, d))
		return false;
	d->first = at + 8 + (uint64_t)(int64_t)(int32_t)fixed(&c, 4);
	length = fixed(&c, 4);
	skip = uleb(&c);
	if (pc - d->first >= length || c.bad || skip > (size_t)(c.end - c.at))
		return false;
	c.at += skip;
	d->own = c;
	return true;
}

/* -- the machine ---------------------------------------------------------------------------- */

enum rule { SAME, SAVED /* at CFA + offset */, EXPRESSION, VALUE_EXPRESSION };

struct state {
	uint8_t rule[LC_CFI_REGISTERS];
	int64_t offset[LC_CFI_REGISTERS]; /* of an expression its address */
	uint64_t cfa_register;
	int64_t cfa_offset;
	const uint8_t *cfa_expression; /* or NULL */
};

struct machine {
	const struct description *d;
	struct state now, initial, kept[REMEMBERED_MAX];
	unsigned kept_len;
	uint64_t pc; /* where the description has come to */
};

static void set_rule(struct cursor *c, struct state *s, uint64_t reg, enum rule rule,
                     int64_t offset)
{
	if (reg >= LC_CFI_REGISTERS) {
		c->bad |= rule != SAVED && rule != SAME; /* of a vector register: nobody asks */
		return;
	}
	s->rule[reg] = (uint8_t)rule;
	s->offset[reg] = offset;
}

/* An expression, which begins with its length. */
static const uint8_t *expression(struct cursor *c)
{
	const uint8_t *begin = c->at;
	const uint64_t bytes = uleb(c);

	if (bytes > (size_t)(c->end - c->at))
		c->bad = true;
	else
		c->at += bytes;
	return begin;
}

static void define_cfa(struct state *s, uint64_t reg, int64_t offset)
{
	s->cfa_register = reg;
	s->cfa_offset = offset;
	s->cfa_expression = NULL;
}

/* Instructions whose two highest bits are 0. */
static void run_one(struct machine *m, struct cursor *c, unsigned op)
{
	struct state *s = &m->now;
	uint64_t reg;

	switch (op) {
	case 0x00: /* nothing */
		break;
	case 0x02: /* advance by 1, 2, 4 bytes */
	case 0x03:
	case 0x04:
		m->pc += fixed(c, 1u << (op - 2)) * m->d->code_unit;
		break;
	case 0x05: /* saved, with a wide number of a register */
		reg = uleb(c);
		set_rule(c, s, reg, SAVED, (int64_t)uleb(c) * m->d->data_unit);
		break;
	case 0x07: /* undefined: the caller does not need it */
	case 0x08: /* as it was */
		set_rule(c, s, uleb(c), SAME, 0);
		break;
	case 0x0a: /* keep */
		if (m->kept_len == REMEMBERED_MAX)
			c->bad = true;
		else
			m->kept[m->kept_len++] = *s;
		break;
	case 0x0b: /* as kept */
		if (!m->kept_len)
			c->bad = true;
		else
			*s = m->kept[--m->kept_len];
		break;
	case 0x0c:
		reg = uleb(c);
		define_cfa(s, reg, (int64_t)uleb(c));
		break;
	case 0x0d:
		define_cfa(s, uleb(c), s->cfa_offset);
		break;
	case 0x0e:
		define_cfa(s, s->cfa_register, (int64_t)uleb(c));
		break;
	case 0x0f:
		s->cfa_expression = expression(c);
		break;
	case 0x10: /* saved at, or is, what an expression says */
	case 0x16:
		reg = uleb(c);
		set_rule(c, s, reg, op == 0x10 ? EXPRESSION : VALUE_EXPRESSION,
		         (int64_t)(uintptr_t)expression(c));
		break;
	case 0x2e: /* bytes of arguments: for exceptions only */
		(void)uleb(c);
		break;
	default:
		c->bad = true;
	}
}

/* Run instructions up to those that hold behind `pc`. */
static bool run(struct machine *m, struct cursor c, uint64_t pc)
{
	for (unsigned i = 0; c.at < c.end && !c.bad && m->pc <= pc; i++) {
		const unsigned op = (unsigned)fixed(&c, 1);

		if (i == INSTRUCTIONS_MAX)
			return false;
		if (op >> 6 == 1) {
			m->pc += (op & 0x3f) * m->d->code_unit;
		} else if (op >> 6 == 2) {
			set_rule(&c, &m->now, op & 0x3f, SAVED,
			         (int64_t)uleb(&c) * m->d->data_unit);
		} else if (op >> 6 == 3) {
			const unsigned reg = op & 0x3f;

			if (reg < LC_CFI_REGISTERS) {
				m->now.rule[reg] = m->initial.rule[reg];
				m->now.offset[reg] = m->initial.offset[reg];
			}
		} else {
			run_one(m, &c, op);
		}
	}
	return !c.bad;
}

/* -- values --------------------------------------------------------------------------------- */

/* The stack that may be read. */
struct stack {
	uint64_t low, end;
	bool bad;
};

static uint64_t word(struct stack *s, uint64_t at)
{
	if (at < s->low || at + 8 > s->end || at + 8 < at) {
		s->bad = true;
		return 0;
	}
	return lc_peek_get64(bytes_at(at));
}

/* The operand stack of an expression. */
struct operands {
	uint64_t v[OPERANDS_MAX];
	unsigned len;
};

/* An operation on the last two operands, as compilers and linkers write them. False: another. */
static bool binary(unsigned op, struct operands *o)
{
	uint64_t a, b;

	if (o->len < 2)
		return false;
	a = o->v[o->len - 2];
	b = o->v[o->len - 1];
	switch (op) {
	case 0x1a:
		a &= b;
		break;
	case 0x1c:
		a -= b;
		break;
	case 0x22:
		a += b;
		break;
	case 0x24:
		a <<= b & 63;
		break;
	case 0x2a:
		a = (int64_t)a >= (int64_t)b;
		break;
	default:
		return false;
	}
	o->v[--o->len - 1] = a;
	return true;
}

/* A new operand. False: it is none. */
static bool push(unsigned op, struct cursor *c, const struct lc_cfi_registers *r,
                 struct operands *o)
{
	uint64_t v;

	if (op == 0x08)
		v = fixed(c, 1);
	else if (op >= 0x30 && op <= 0x4f)
		v = op - 0x30;
	else if (op >= 0x70 && op <= 0x80)
		v = r->r[op - 0x70] + (uint64_t)sleb(c);
	else
		return false;
	if (o->len == OPERANDS_MAX)
		return false;
	o->v[o->len++] = v;
	return true;
}

/* The value of an expression, which begins with *first, if that is given. */
static uint64_t evaluate(const uint8_t *at, const struct lc_cfi_registers *r, struct stack *s,
                         const uint64_t *first)
{
	struct cursor c = { at, at + LENGTH_BYTES_MAX, false };
	struct operands o = { .len = 0 };
	const uint64_t bytes = uleb(&c);

	c.end = c.at + bytes;
	if (first)
		o.v[o.len++] = *first;
	while (c.at < c.end && !c.bad && !s->bad) {
		const unsigned op = (unsigned)fixed(&c, 1);

		if (push(op, &c, r, &o) || binary(op, &o))
			continue;
		if (op == 0x06 && o.len)
			o.v[o.len - 1] = word(s, o.v[o.len - 1]);
		else if (op == 0x23 && o.len)
			o.v[o.len - 1] += uleb(&c);
		else
			s->bad = true;
	}
	s->bad |= c.bad || !o.len;
	return o.len ? o.v[o.len - 1] : 0;
}

/* An expression that stands for a register's rule. */
static const uint8_t *rule_expression(const struct state *rules, unsigned reg)
{
	return (const uint8_t *)(uintptr_t)rules->offset[reg]; /* NOLINT */
}

/* The caller's registers by the rules. */
static bool apply(const struct state *rules, struct lc_cfi_registers *r, uint64_t stack_end)
{
	const struct lc_cfi_registers before = *r;
	/* Registers that an epilogue has popped are still described below the stack pointer. */
	struct stack stack = { before.r[LC_CFI_RSP] - RED_ZONE_BYTES, stack_end, false };
	uint64_t cfa;

	if (rules->cfa_expression)
		cfa = evaluate(rules->cfa_expression, &before, &stack, NULL);
	else if (rules->cfa_register < LC_CFI_REGISTERS)
		cfa = before.r[rules->cfa_register] + (uint64_t)rules->cfa_offset;
	else
		return false;
	if (stack.bad || cfa <= before.r[LC_CFI_RSP] || cfa > stack_end)
		return false;
	for (unsigned i = 0; i < LC_CFI_REGISTERS; i++) {
		if (rules->rule[i] == SAVED)
			r->r[i] = word(&stack, cfa + (uint64_t)rules->offset[i]);
		else if (rules->rule[i] == EXPRESSION)
			r->r[i] = word(&stack,
			               evaluate(rule_expression(rules, i), &before, &stack, &cfa));
		else if (rules->rule[i] == VALUE_EXPRESSION)
			r->r[i] = evaluate(rule_expression(rules, i), &before, &stack, &cfa);
	}
	if (rules->rule[LC_CFI_PC] == SAME)
		return false; /* the outermost frame */
	r->r[LC_CFI_RSP] = cfa;
	return !stack.bad;
}

bool lc_cfi_step(struct lc_cfi_registers *r, bool is_return, uint64_t stack_end)
{
	const uint64_t pc = r->r[LC_CFI_PC] - is_return; /* a call may be a function's last */
	struct description d;
	struct library library;
	struct machine m;
	uint64_t entry;

	if (!find_library(pc, &library))
		return false;
	entry = find_entry(&library, pc);
	if (!entry || !read_entry(entry, pc, &d) || d.signal_frame)
		return false;
	m.d = &d;
	m.pc = d.first;
	m.kept_len = 0;
	memset(&m.now, 0, sizeof(m.now));
	if (!run(&m, d.shared, UINT64_MAX))
		return false;
	m.initial = m.now;
	return run(&m, d.own, pc) && apply(&m.now, r, stack_end);
}
