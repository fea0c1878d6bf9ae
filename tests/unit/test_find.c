/* uses: src/sample/find.c src/jvm/os/peek.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_find.c - checks which register, stack word or field leads to the object. The heap is an
 * array here, and a list says where objects are in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/record.h"
#include "src/format/kinds.h"
#include "src/jvm/layout/ranges.h"
#include "src/sample/find.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R15 = 15 };
enum { HEAP_BYTES = 1 << 16, OBJECTS_MAX = 8, SHIFT = 3 };

static unsigned char heap[HEAP_BYTES] __attribute__((aligned(4096)));
static struct {
	uint64_t start, bytes;
	bool array;
} objects[OBJECTS_MAX];
static size_t objects_len;
static struct lc_klass_buffer buffer; /* the thread's own; all 0: cannot be read */
static uint64_t new_start, new_word;  /* last question for an object in the making */
static uint64_t stack[256];
static struct lc_registers regs;
static struct lc_access access;
static struct lc_object_seen seen;

/*
 * -- jvm/layout/klass.h, by the list
 * --------------------------------------------------------------------
 */

/* Addresses of one more view of the heap. */
#define VIEW (UINT64_C(1) << 60)

uint64_t lc_ranges_plain(uint64_t addr)
{
	return addr & ~VIEW;
}

bool lc_klass_in_heap(uint64_t address)
{
	return address - (uintptr_t)heap < HEAP_BYTES;
}

bool lc_klass_may_start(uint64_t address)
{
	return lc_klass_in_heap(address) && address % 8 == 0;
}

uint32_t lc_klass_array_base(unsigned which)
{
	return which ? 24 : 16;
}

uint32_t lc_klass_word_offset(void)
{
	return 8;
}

uint32_t lc_klass_word_end(void)
{
	return 12;
}

/* Compressed references count 8 bytes from the heap's start, less a page: 0 is none. */
uint64_t lc_klass_decode_reference(uint32_t narrow)
{
	return narrow ? (uintptr_t)heap - 4096 + ((uint64_t)narrow << SHIFT) : 0;
}

bool lc_klass_first_object(const uint64_t *starts, size_t len, uint64_t addr,
                           struct lc_object_seen *out)
{
	assert_true(len <= LC_KLASS_STARTS_MAX);
	for (size_t i = 0; i < len; i++) {
		for (size_t j = 0; j < objects_len; j++) {
			if (objects[j].start != starts[i] || addr - starts[i] >= objects[j].bytes)
				continue;
			*out = (struct lc_object_seen){ starts[i], j + 1, objects[j].bytes,
				                        objects[j].array };
			return true;
		}
	}
	return false;
}

bool lc_klass_object(uint64_t start, uint64_t addr, struct lc_object_seen *out)
{
	return lc_klass_first_object(&start, 1, addr, out);
}

bool lc_klass_new_object(uint64_t start, uint64_t word, uint64_t addr, struct lc_object_seen *out)
{
	new_start = start;
	new_word = word;
	*out = (struct lc_object_seen){ start, 99, 16, false };
	return word != 0;
}

bool lc_klass_thread_buffer(uint64_t thread, struct lc_klass_buffer *out)
{
	assert_int_equal(thread, regs.r[R15]);
	*out = buffer;
	return buffer.low;
}

/* -- laying it out --------------------------------------------------------------------------- */

static uint64_t at(size_t offset)
{
	return (uintptr_t)heap + offset;
}

static uint64_t narrow(size_t offset)
{
	return (offset + 4096) >> SHIFT;
}

static void put(size_t offset, uint64_t bytes, bool array)
{
	objects[objects_len].start = at(offset);
	objects[objects_len].bytes = bytes;
	objects[objects_len++].array = array;
}

static void put_object(size_t offset, uint64_t bytes)
{
	put(offset, bytes, true);
}

static int nothing_anywhere(void **state)
{
	memset(heap, 0, sizeof(heap));
	memset(stack, 0, sizeof(stack));
	objects_len = 0;
	buffer = (struct lc_klass_buffer){ 0 };
	new_start = new_word = 0;
	memset(&regs, 0, sizeof(regs));
	regs.r[RSP] = (uintptr_t)stack;
	regs.r[R15] = 0x7777;
	memset(&access, 0, sizeof(access));
	access.recipe.base = access.recipe.index = LC_NO_REGISTER;
	access.recipe.scale = 1;
	access.access = LC_TOUCH_LOAD;
	return 0;
}

/* The access that [base + disp] was, with the register's value now. */
static void operand(unsigned base, uint64_t value, int32_t disp)
{
	regs.r[base] = value;
	access.recipe.base = (uint8_t)base;
	access.recipe.disp = disp;
	access.addr = value + (uint64_t)(int64_t)disp;
}

static uint64_t find(void)
{
	memset(&seen, 0, sizeof(seen));
	return lc_find_object(&regs, &access, &seen) ? seen.start : 0;
}

static void base_register_is_the_object(void **state)
{
	put_object(0x100, 32);
	operand(R10, at(0x100), 12);
	assert_int_equal(find(), at(0x100));
	assert_int_equal(seen.klass, 1);
	assert_int_equal(seen.size_bytes, 32);
}

static void compressed_base_is_decoded_by_the_operand(void **state)
{
	put_object(0x100, 32);
	operand(R12, (uintptr_t)heap - 4096, 12); /* [r12+r10*8+12] */
	regs.r[R10] = narrow(0x100);
	access.recipe.index = R10;
	access.recipe.scale = 8;
	access.addr = at(0x100 + 12);
	assert_int_equal(find(), at(0x100));
}

static uint64_t find_newest(void)
{
	memset(&seen, 0, sizeof(seen));
	return lc_find_newest(&regs, &access, &seen) ? seen.start : 0;
}

/* Behind the code that clears a new object, its base has moved on, by one of several ways. */
static void uncertain_base_is_proved_by_the_newest_object(void **state)
{
	put_object(0x100, 32);
	put_object(0x120, 64);
	buffer = (struct lc_klass_buffer){ at(0x100), at(0x160), at(0x200) };
	regs.r[R9] = at(0x120);
	access.access = LC_TOUCH_STORE;
	access.recipe.base_lost = access.recipe.base_differs = true;
	operand(RDI, at(0x150), 0);
	assert_int_equal(find_newest(), at(0x120));
	operand(RDI, at(0x160), 0); /* it has come to the end */
	assert_int_equal(find_newest(), at(0x120));
	operand(RDI, at(0x120), 16);
	assert_int_equal(find_newest(), at(0x120));
	operand(RDI, at(0x120), 8); /* its class word, which is being written */
	assert_int_equal(find_newest(), 0);
	operand(RDI, at(0x110), 0); /* in an earlier object */
	assert_int_equal(find_newest(), 0);
	operand(RDI, at(0x168), 0); /* where there is none yet */
	assert_int_equal(find_newest(), 0);
	operand(RDI, at(0x150), 0);
	access.access = LC_TOUCH_LOAD;
	assert_int_equal(find_newest(), 0);
	access.access = LC_TOUCH_STORE;
	access.recipe.base_differs = false; /* the register has been overwritten */
	assert_int_equal(find_newest(), 0);
}

static void address_outside_the_heap_is_no_object(void **state)
{
	put_object(0x100, 32);
	operand(RAX, at(0x100), -4096);
	assert_int_equal(find(), 0);
	access.addr = 0;
	assert_int_equal(find(), 0);
}

static void nothing_that_is_proved_is_nothing(void **state)
{
	put_object(0x100, 32);
	operand(RAX, at(0x200), 16);
	regs.r[RBX] = at(0x100); /* holds another address */
	assert_int_equal(find(), 0);
}

static void array_is_found_by_any_register(void **state)
{
	put_object(0x100, 0x1000);
	operand(RSI, at(0x400), 0); /* a pointer into it */
	regs.r[RBX] = at(0x100);
	assert_int_equal(find(), at(0x100));
	regs.r[RBX] = narrow(0x100);
	assert_int_equal(find(), at(0x100));
	regs.r[RBX] = at(0x110); /* its first element, of bytes; then of longs */
	assert_int_equal(find(), at(0x100));
	regs.r[RBX] = at(0x118);
	assert_int_equal(find(), at(0x100));
	regs.r[RBX] = 0;
	assert_int_equal(find(), 0);
	operand(RSI, at(0x110), 0);
	assert_int_equal(find(), at(0x100));
}

static void registers_at_a_breakpoint_are_those_before_the_access(void **state)
{
	put_object(0x100, 32);
	access.recipe.base_lost = true; /* at the sample, which is over */
	access.recipe.made = LC_MADE_VALUE;
	access.recipe.made_value = 0x1234;
	access.access = LC_TOUCH_STORE;
	access.how = LC_HOW_DESTROYED;
	operand(R10, at(0x100), 0);
	assert_int_equal(find(), 0);
	access.how = LC_HOW_TRAP;
	assert_int_equal(find(), at(0x100));
	assert_int_equal(seen.klass, 99);
}

static void stack_holds_what_registers_do_not(void **state)
{
	put_object(0x100, 0x1000);
	operand(RSI, at(0x400), 0);
	stack[100] = at(0x100);
	assert_int_equal(find(), at(0x100));
	stack[100] = narrow(0x100) << 32 | 1;
	assert_int_equal(find(), at(0x100));
	stack[100] = narrow(0x100) | UINT64_C(5) << 32;
	assert_int_equal(find(), at(0x100));
	regs.r[RSP] = 8; /* no stack: nothing is found, nothing faults */
	assert_int_equal(find(), 0);
}

static void object_holds_the_array_that_is_walked(void **state)
{
	put_object(0x100, 0x1000);
	operand(RSI, at(0x400), 0);
	*(uint64_t *)(heap + 0x2010) = narrow(0x100) << 32; /* a string's array */
	regs.r[RDX] = at(0x2000);
	assert_int_equal(find(), at(0x100));
	regs.r[RDX] = narrow(0x2000);
	assert_int_equal(find(), at(0x100));
	regs.r[RDX] = 0;
	assert_int_equal(find(), 0);
	stack[3] = at(0x2000);
	assert_int_equal(find(), at(0x100));
}

static void array_beside_another_is_found_by_its_cursor(void **state)
{
	put_object(0x100, 0x1000);
	put_object(0x4000, 0x1000);
	operand(RSI, at(0x430), -32);
	regs.r[RDI] = at(0x4330); /* as far in the other, */
	regs.r[R9] = at(0x4000);  /* ... whose start is known */
	assert_int_equal(find(), at(0x100));
	regs.r[R9] = at(0x4010);
	assert_int_equal(find(), 0);
}

static void nearest_object_below_wins(void **state)
{
	put_object(0x100, 0x1000); /* dead: its header still stands */
	put_object(0x300, 0x200);
	operand(RSI, at(0x400), 0);
	regs.r[RAX] = at(0x100);
	regs.r[RBX] = at(0x300);
	assert_int_equal(find(), at(0x300));
}

static void more_candidates_than_there_is_room_for(void **state)
{
	put_object(0x8000, 0x1000);
	operand(RSI, at(0x8800), 0);
	for (unsigned i = 0; i < 100; i++)
		stack[i] = at(8 * i);
	stack[100] = at(0x8000);
	for (unsigned i = 101; i < 128; i++)
		stack[i] = at(0x100 + 8 * i);
	assert_int_equal(find(), at(0x8000));
}

static void store_to_new_memory_is_in_the_object_that_begins_first(void **state)
{
	buffer = (struct lc_klass_buffer){ at(0x100), at(0x1000), at(0x2000) };
	put_object(0x200, 0xe00); /* being cleared, */
	put_object(0x400, 32);    /* an old header in it, */
	put_object(0x80, 0xf80);  /* and one before what the thread has allocated */
	regs.r[RCX] = at(0x80);
	regs.r[RAX] = at(0x200);
	operand(RDI, at(0x400), 16);
	access.access = LC_TOUCH_STORE;
	assert_int_equal(find(), at(0x200));
	regs.r[RAX] = 0;
	stack[9] = at(0x200);
	assert_int_equal(find(), at(0x200));
	access.access = LC_TOUCH_STORE | LC_TOUCH_LOAD; /* what is read has been written before */
	assert_int_equal(find(), at(0x400));
	access.access = LC_TOUCH_STORE;
	buffer.low = at(0x800); /* old memory is in order */
	assert_int_equal(find(), at(0x400));
}

/* The last 16 bytes of each object hold values that look like a header. */
static void values_that_look_like_a_header_are_no_object(void **state)
{
	buffer = (struct lc_klass_buffer){ at(0x100), at(0x1000), at(0x2000) };
	put(0x200, 64, false);
	put(0x230, 48, false); /* no object */
	put(0x240, 64, false);
	put(0x280, 64, false);
	access.access = LC_TOUCH_STORE;
	operand(RAX, at(0x240), 12);
	assert_int_equal(find(), at(0x240));
	put(0x260, 16, false); /* what was there before: one that it might end before */
	assert_int_equal(find(), at(0x240));
	access.access = LC_TOUCH_LOAD;
	assert_int_equal(find(), at(0x240));
	operand(RDX, at(0x250), 0); /* a pointer into it, ... */
	regs.r[RAX] = 0;
	assert_int_equal(find(), 0);
	access.access = LC_TOUCH_STORE; /* ... which is no array's first element, ... */
	assert_int_equal(find(), 0);
	buffer.top = at(0x280); /* ... but what clears the newest one */
	assert_int_equal(find(), at(0x240));
}

static void before_an_object_without_header_a_register_leads_there(void **state)
{
	buffer = (struct lc_klass_buffer){ at(0x100), at(0x280), at(0x2000) };
	put(0x200, 64, false);
	access.access = LC_TOUCH_STORE;
	operand(RAX, at(0x200), 12);
	assert_int_equal(find(), 0);
	regs.r[RBX] = at(0x240);
	assert_int_equal(find(), at(0x200));
	regs.r[RBX] = 0;
	put(0x240, 64, false);
	assert_int_equal(find(), at(0x200));
}

static void what_reaches_beyond_the_newest_object_is_dead(void **state)
{
	buffer = (struct lc_klass_buffer){ at(0x100), at(0x400), at(0x1000) };
	put_object(0x300, 0x200); /* ends behind what is allocated */
	put_object(0x200, 0x200);
	operand(RSI, at(0x380), 0);
	access.how = LC_HOW_NEARBY;
	regs.r[RAX] = at(0x300);
	assert_int_equal(find(), 0);
	regs.r[RBX] = at(0x200);
	assert_int_equal(find(), at(0x200));
	access.access = LC_TOUCH_STORE;
	assert_int_equal(find(), at(0x200));
	operand(RSI, at(0x400), 8); /* nothing is there yet: this is no access */
	put_object(0x400, 32);
	regs.r[RSI] = at(0x400);
	assert_int_equal(find(), 0);
	access.access = LC_TOUCH_LOAD;
	assert_int_equal(find(), 0);
	access.how = LC_HOW_DIRECT; /* it has been read: so it is there */
	assert_int_equal(find(), at(0x400));
}

static void cursor_at_the_end_is_in_what_it_cleared(void **state)
{
	buffer = (struct lc_klass_buffer){ at(0x100), at(0x400), at(0x1000) };
	put_object(0x200, 0x200);
	put_object(0x3f8, 16); /* dead */
	put_object(0x400, 16); /* dead as well */
	operand(RDI, at(0x400), 0);
	regs.r[RCX] = at(0x3f8);
	regs.r[RAX] = at(0x200);
	access.access = LC_TOUCH_STORE;
	access.how = LC_HOW_NEARBY;
	assert_int_equal(find(), at(0x200));
	assert_int_equal(seen.size_bytes, 0x200);
	regs.r[RAX] = 0;
	assert_int_equal(find(), 0);
}

static void header_that_is_being_written_proves_nothing(void **state)
{
	put_object(0x100, 32);
	access.access = LC_TOUCH_STORE;
	operand(RAX, at(0x100), 0); /* the mark: the class comes later */
	assert_int_equal(find(), 0);
	operand(RAX, at(0x100), 8); /* the class: it has just been stored */
	assert_int_equal(find(), at(0x100));
	access.recipe.ahead = true; /* it is stored next */
	assert_int_equal(find(), 0);
	operand(RAX, at(0x100), 12); /* a field: the class is there by then */
	assert_int_equal(find(), at(0x100));
	access.recipe.ahead = false;
	access.how = LC_HOW_TRAP;
	operand(RAX, at(0x100), 8);
	assert_int_equal(find(), 0);
	access.access |= LC_TOUCH_LOAD; /* a lock is taken */
	assert_int_equal(find(), at(0x100));
}

static void object_in_the_making_is_what_the_code_makes(void **state)
{
	put_object(0x100, 32);
	access.access = LC_TOUCH_STORE;
	operand(RAX, at(0x100), 0);
	access.recipe.made = LC_MADE_VALUE;
	access.recipe.made_value = 0x1234;
	assert_int_equal(find(), at(0x100));
	assert_int_equal(seen.klass, 99);
	assert_int_equal(new_word, 0x1234);
	access.recipe.made = LC_MADE_REGISTER;
	access.recipe.made_value = (uint64_t)R9 << 48 | UINT64_C(1) << 52 | 0x10;
	regs.r[R9] = 0x777 * 2 + 0x10;
	assert_int_equal(find(), at(0x100));
	assert_int_equal(new_word, 0x777);
	access.recipe.base_lost = true; /* where it is made is not known any more */
	assert_int_equal(find(), 0);
}

/* Native code clears what it has just allocated, where old headers stand. */
static void stores_of_native_code_prove_nothing(void **state)
{
	put_object(0x100, 0x1000);
	operand(RSI, at(0x100), 0x40);
	access.native = true;
	assert_int_equal(find(), at(0x100)); /* it reads what is there */
	access.recipe.ahead = true;          /* it may not come to that */
	assert_int_equal(find(), 0);
	access.recipe.ahead = false;
	access.access = LC_TOUCH_STORE;
	assert_int_equal(find(), 0);
}

/* base + index * scale is an element: its value may be like the header of an object. */
static void the_base_comes_before_the_element(void **state)
{
	put(0x100, 0x1000, true);
	put_object(0x300, 32);
	operand(RSI, at(0x100), 16);
	regs.r[RCX] = 0x200;
	access.recipe.index = RCX;
	access.addr += 0x200;
	assert_int_equal(find(), at(0x100));
}

static void an_array_that_all_words_lead_to_is_the_only_one(void **state)
{
	put(0x1000, 64, true);
	put(0x1040, 64, true); /* where a cursor behind the first one points to */
	put(0x2000, 64, false);
	assert_int_equal(lc_find_array_in_registers(&regs), 0);
	regs.r[R12] = at(0x1000);
	assert_int_equal(lc_find_array_in_registers(&regs), at(0x1000));
	regs.r[RAX] = at(0x1000);
	regs.r[RDI] = at(0x1040);
	regs.r[RBX] = at(0x2000);
	regs.r[RSI] = at(0x1010); /* inside of it */
	assert_int_equal(lc_find_array_in_registers(&regs), at(0x1000));
	put(0x3000, 64, true);
	regs.r[RCX] = at(0x3000);
	assert_int_equal(lc_find_array_in_registers(&regs), 0);
}

static void an_array_is_found_near_the_top_of_the_stack(void **state)
{
	put(0x1000, 64, true);
	regs.r[R12] = at(0x1000);
	assert_int_equal(lc_find_array_on_stack(&regs), 0);
	stack[4] = at(0x1000);
	assert_int_equal(lc_find_array_on_stack(&regs), at(0x1000));
	stack[4] = 0;
	stack[40] = at(0x1000); /* of the caller */
	assert_int_equal(lc_find_array_on_stack(&regs), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(base_register_is_the_object, nothing_anywhere),
		cmocka_unit_test_setup(compressed_base_is_decoded_by_the_operand, nothing_anywhere),
		cmocka_unit_test_setup(uncertain_base_is_proved_by_the_newest_object,
		                       nothing_anywhere),
		cmocka_unit_test_setup(address_outside_the_heap_is_no_object, nothing_anywhere),
		cmocka_unit_test_setup(nothing_that_is_proved_is_nothing, nothing_anywhere),
		cmocka_unit_test_setup(array_is_found_by_any_register, nothing_anywhere),
		cmocka_unit_test_setup(registers_at_a_breakpoint_are_those_before_the_access,
		                       nothing_anywhere),
		cmocka_unit_test_setup(stack_holds_what_registers_do_not, nothing_anywhere),
		cmocka_unit_test_setup(object_holds_the_array_that_is_walked, nothing_anywhere),
		cmocka_unit_test_setup(array_beside_another_is_found_by_its_cursor,
		                       nothing_anywhere),
		cmocka_unit_test_setup(nearest_object_below_wins, nothing_anywhere),
		cmocka_unit_test_setup(more_candidates_than_there_is_room_for, nothing_anywhere),
		cmocka_unit_test_setup(store_to_new_memory_is_in_the_object_that_begins_first,
		                       nothing_anywhere),
		cmocka_unit_test_setup(values_that_look_like_a_header_are_no_object,
		                       nothing_anywhere),
		cmocka_unit_test_setup(before_an_object_without_header_a_register_leads_there,
		                       nothing_anywhere),
		cmocka_unit_test_setup(what_reaches_beyond_the_newest_object_is_dead,
		                       nothing_anywhere),
		cmocka_unit_test_setup(cursor_at_the_end_is_in_what_it_cleared, nothing_anywhere),
		cmocka_unit_test_setup(header_that_is_being_written_proves_nothing,
		                       nothing_anywhere),
		cmocka_unit_test_setup(object_in_the_making_is_what_the_code_makes,
		                       nothing_anywhere),
		cmocka_unit_test_setup(stores_of_native_code_prove_nothing, nothing_anywhere),
		cmocka_unit_test_setup(the_base_comes_before_the_element, nothing_anywhere),
		cmocka_unit_test_setup(an_array_that_all_words_lead_to_is_the_only_one,
		                       nothing_anywhere),
		cmocka_unit_test_setup(an_array_is_found_near_the_top_of_the_stack,
		                       nothing_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
