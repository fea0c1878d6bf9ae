/* uses: src/sample/decode.c src/sample/loaded_by.c src/sample/read_on.c src/sample/decode_straight.c src/sample/ways.c src/sample/new_object.c src/sample/step.c src/sample/insn.c src/sample/insn_step.c src/sample/insn_known.c src/sample/native_code.c src/jvm/code/code_cache.c src/jvm/os/peek.c src/offheap/granules.c -lZydis -lpthread src/core/method_number.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_decode.c - checks recipes made from hand-assembled code, and addresses made from registers.
 *
 * The file is longer than 600 lines: the tests share the assembled pieces of code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/record.h"
#include "src/format/kinds.h"
#include "src/jvm/code/code_cache.h"
#include "src/jvm/layout/ranges.h"
#include "src/offheap/granules.h"
#include "src/sample/decode.h"
#include "src/sample/insn.h"
#include "src/sample/native_code.h"
#include "src/sample/new_object.h"
#include "tests/unit/no_code_headers.h"

/* This JVM exports nothing: the tables lie around the first code that is reported. */
struct lc_range lc_ranges_code(void)
{
	return (struct lc_range){ 0 };
}

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R14 = 14, NONE = 0xff };

#define MOV_EAX_RSI_RAX4 "\x8b\x44\x86\x10"        /* mov eax,[rsi+rax*4+16] */
#define MOV_EAX_RSI_RCX4 "\x8b\x44\x8e\x10"        /* mov eax,[rsi+rcx*4+16] */
#define MOV_R11_R12_R11 "\x47\x8b\x5c\xdc\x0c"     /* mov r11d,[r12+r11*8+12] */
#define MOV_R10_R10 "\x4d\x8b\x52\x10"             /* mov r10,[r10+16] */
#define MOV_RDX_R10 "\x4c\x89\xd2"                 /* mov rdx,r10 */
#define CMP_EAX_R8D "\x44\x39\xc0"                 /* cmp eax,r8d */
#define ADD_RBX_RAX "\x48\x01\xc3"                 /* add rbx,rax */
#define MOV_RAX_STACK "\x48\x8b\x44\x24\x08"       /* mov rax,[rsp+8] */
#define PUSH_RAX_8 "\xff\x70\x08"                  /* push [rax+8] */
#define PUSH_RBP "\x55"                            /* push rbp */
#define MOV_RAX_R15 "\x49\x8b\x87\x18\x01\x00\x00" /* mov rax,[r15+0x118] */
#define MOV_RAX_RIP "\x48\x8b\x05\x00\x01\x00\x00" /* mov rax,[rip+0x100] */
#define LEA_RAX "\x48\x8d\x04\x8e"                 /* lea rax,[rsi+rcx*4] */
#define PREFETCH "\x0f\x18\x86\xc0\x00\x00\x00"    /* prefetchnta [rsi+0xc0] */
#define NOP_MEMORY "\x0f\x1f\x04\x00"              /* nop dword [rax+rax] */
#define REP_STOSQ "\xf3\x48\xab"                   /* rep stosq */
#define REP_MOVSQ "\xf3\x48\xa5"                   /* rep movsq */
#define CALL_RAX "\xff\xd0"                        /* call rax */
#define RET "\xc3"                                 /* ret */
#define JNE_16 "\x75\x0e"                          /* jne .+16 */
#define GATHER "\xc4\xe2\x6d\x90\x44\x8e\x10"      /* vpgatherdd ymm0,[rsi+ymm1*4+16],ymm2 */
#define MOV_RSI_RBX "\x48\x89\xde"                 /* mov rsi,rbx */
#define XOR_RSI_RBX "\x48\x31\xde"                 /* xor rsi,rbx */
#define SUB_RSP "\x48\x83\xec\x20"                 /* sub rsp,32 */
#define CMP_RSI_8 "\x83\x7e\x08\x05"               /* cmp dword [rsi+8],5 */
#define MOV_FS "\x64\x48\x8b\x00"                  /* mov rax,fs:[rax] */
#define MOVSXD_RBP "\x4b\x63\x6c\x96\x10"          /* movsxd rbp,[r14+r10*4+16] */
#define VMOVDQU_RDI_RAX "\xc5\xfe\x6f\x44\x07\x10" /* vmovdqu ymm0,[rdi+rax+16] */
#define ZERO_ESI "\x31\xf6"                        /* xor esi,esi */
#define CMPXCHG_R9 "\xf0\x4d\x0f\xb1\x51\x10"      /* lock cmpxchg [r9+16],r10 */
#define LOCK_ADD_STACK "\xf0\x83\x44\x24\xc0\x00"  /* lock add dword [rsp-64],0 */
#define LEAVE "\xc9"                               /* leave */
#define MOV_MARK "\x48\xc7\x00\x01\x00\x00\x00"    /* mov qword [rax],1 */
#define MOV_CLASS "\xc7\x40\x08\xc8\x29\x04\x00"   /* mov dword [rax+8],0x429c8 */
#define MOV_CLASS_R10 "\x4c\x89\x50\x08"           /* mov [rax+8],r10 */
#define MOV_MARK_R10 "\x4c\x89\x10"                /* mov [rax],r10 */
#define MOVABS_R10 "\x49\xba\x44\x33\x22\x11\x00\x7f\x00\x00" /* mov r10,0x7f0011223344 */
#define INC_BYTE "\xfe\x46\x08"                               /* inc byte [rsi+8] */
#define FSTP_80 "\xdb\x7e\x08"                                /* fstp tbyte [rsi+8] */
#define JMP_BACK_5 "\xeb\xf9"                     /* jmp .-5: over a call and a compare */
#define JE_6 "\x74\x04"                           /* je .+6 */
#define JNE_OUT "\x0f\x85\x00\x10\x00\x00"        /* jne .+0x1006 */
#define BANG_STACK "\x89\x84\x24\x00\xc0\xfe\xff" /* mov [rsp-0x14000],eax */
#define MOV_RBP_EDI "\x89\x7d\x00"                /* mov [rbp],edi */
#define JE_CARD "\x74\x13"                        /* je .+21: over the next five */
#define MOV_RCX_RBP "\x48\x89\xe9"                /* mov rcx,rbp */
#define SHR_RCX "\x48\xc1\xe9\x09"                /* shr rcx,9 */
#define ADD_RCX_R13 "\x49\x03\xcd"                /* add rcx,r13 */
#define MOVABS_RDI "\x48\xbf\x44\x33\x22\x11\x00\x7f\x00\x00" /* mov rdi,0x7f0011223344 */
#define ADD_RDI_RCX "\x48\x01\xcf"                            /* add rdi,rcx */
#define CMP_CARD_RDI "\x80\x3f\x04"                           /* cmp byte [rdi],4 */
#define LEA_RSI_R11 "\x4b\x8d\x34\xdc"                        /* lea rsi,[r12+r11*8] */
#define CMP_CARD "\x80\x39\x02"                               /* cmp byte [rcx],2 */
#define ZERO_ECX "\x31\xc9"                                   /* xor ecx,ecx */
#define ZERO_R10D "\x45\x31\xd2"                              /* xor r10d,r10d */
#define ZERO_EDX "\x31\xd2"                                   /* xor edx,edx */
#define ZERO_EDI "\x31\xff"                                   /* xor edi,edi */
#define POLL_R9 "\x41\x85\x01"                                /* test [r9],eax */
#define MOV_EAX_RBX "\x8b\x43\x08"                            /* mov eax,[rbx+8] */
#define JE_13 "\x74\x0b"                                      /* je .+13 */
#define BAD "\x06"                                            /* no instruction in 64-bit mode */

#define LEN(s) (sizeof(s) - 1)

static struct lc_recipe at(const char *bytes, size_t len, size_t pc_at)
{
	struct lc_recipe r;

	lc_decode_straight(
	    &(struct lc_code_bytes){ (const uint8_t *)bytes, len, 0x1000, false, false }, 0, pc_at,
	    &r);
	return r;
}

static struct lc_registers registers;

static void registers_are_numbered(void)
{
	for (unsigned i = 0; i < LC_REGISTERS; i++)
		registers.r[i] = 3 + i;
}

#define RECIPE(before, after) at(before after, LEN(before after), LEN(before))

static void assert_operand(const struct lc_recipe *r, unsigned base, unsigned index, unsigned scale,
                           int disp)
{
	assert_int_equal(r->base, base);
	assert_int_equal(r->index, index);
	assert_int_equal(r->scale, scale);
	assert_int_equal(r->disp, disp);
}

static void instruction_before_the_pc_is_direct(void **state)
{
	const struct lc_recipe r = RECIPE(ADD_RBX_RAX MOVSXD_RBP, ADD_RBX_RAX);

	assert_int_equal(r.how, LC_HOW_DIRECT);
	assert_int_equal(r.pc, 0x1000 + LEN(ADD_RBX_RAX));
	assert_operand(&r, R14, R10, 4, 16);
	assert_false(r.base_lost);
	assert_false(r.index_lost);
	assert_true(r.same_frame);
}

static void overwritten_index_is_lost_and_base_is_not(void **state)
{
	const struct lc_recipe r = RECIPE(MOV_EAX_RSI_RAX4, CMP_EAX_R8D);

	assert_int_equal(r.how, LC_HOW_DIRECT);
	assert_operand(&r, RSI, RAX, 4, 16);
	assert_false(r.base_lost);
	assert_true(r.index_lost);
}

static void overwritten_base_is_lost(void **state)
{
	const struct lc_recipe r = RECIPE(MOV_R10_R10, CMP_EAX_R8D);

	assert_int_equal(r.how, LC_HOW_DIRECT);
	assert_operand(&r, R10, NONE, 1, 16);
	assert_true(r.base_lost);
}

static void copy_of_a_lost_base_serves(void **state)
{
	const struct lc_recipe r = RECIPE(MOV_RDX_R10 MOV_R10_R10, CMP_EAX_R8D);
	const struct lc_recipe late = RECIPE(MOV_R10_R10 MOV_RDX_R10, CMP_EAX_R8D);

	assert_false(r.base_lost);
	assert_operand(&r, RDX, NONE, 1, 16);
	assert_true(late.base_lost); /* what is copied there is the value loaded */
}

static void copy_of_another_value_serves_not(void **state)
{
	assert_true(RECIPE(MOV_RDX_R10 ZERO_R10D MOV_R10_R10, CMP_EAX_R8D).base_lost);
	assert_true(RECIPE(MOV_RDX_R10 ZERO_EDX MOV_R10_R10, CMP_EAX_R8D).base_lost);
	assert_true(RECIPE(MOV_RDX_R10 MOV_R10_R10 ZERO_EDX, CMP_EAX_R8D).base_lost);
	/* Whom it calls may use rdx. */
	assert_true(RECIPE(MOV_RDX_R10 CALL_RAX MOV_R10_R10, CMP_EAX_R8D).base_lost);
}

static void nearest_earlier_access_is_nearby(void **state)
{
	const struct lc_recipe r = RECIPE(MOV_EAX_RSI_RCX4 ADD_RBX_RAX, CMP_EAX_R8D);

	assert_int_equal(r.how, LC_HOW_NEARBY);
	assert_int_equal(r.pc, 0x1000);
	assert_operand(&r, RSI, RCX, 4, 16);
}

static void register_written_since_the_access_is_lost(void **state)
{
	const struct lc_recipe r = RECIPE(MOV_EAX_RSI_RCX4 ZERO_ESI, CMP_EAX_R8D);

	assert_true(r.base_lost);
	assert_false(r.index_lost);
}

static void branch_that_was_not_taken_is_in_the_line(void **state)
{
	const struct lc_recipe r = RECIPE(MOV_EAX_RSI_RCX4 JNE_16, ADD_RBX_RAX CMP_RSI_8 RET);

	assert_int_equal(r.how, LC_HOW_NEARBY);
	assert_int_equal(r.pc, 0x1000);
	assert_operand(&r, RSI, RCX, 4, 16);
}

/* The last that ran before the pc is the callee's return, which read the stack. */
static void call_between_hides_what_ran_before_it(void **state)
{
	struct lc_recipe r = RECIPE(MOV_EAX_RSI_RCX4 CALL_RAX ADD_RBX_RAX, RET);

	assert_int_equal(r.how, LC_HOW_NEARBY);
	assert_int_equal(r.access & LC_ACCESS_OWN, LC_ACCESS_OWN);
	assert_int_equal(r.pc, 0x1000 + LEN(MOV_EAX_RSI_RCX4));
	r = RECIPE(MOV_EAX_RSI_RCX4 CALL_RAX, RET);
	assert_int_equal(r.how, LC_HOW_DIRECT);
	assert_int_equal(r.access & LC_ACCESS_OWN, LC_ACCESS_OWN);
	r = RECIPE(MOV_EAX_RSI_RCX4 CALL_RAX, CMP_RSI_8 RET); /* unless there is something behind */
	assert_operand(&r, RSI, NONE, 1, 8);
}

static void only_branch_to_the_pc_is_followed_back(void **state)
{
	/* The return between ends the line; jne +3 is what leads over it. */
	struct lc_recipe r = RECIPE(CMP_RSI_8 "\x75\x01" RET, ADD_RBX_RAX);

	assert_int_equal(r.how, LC_HOW_NEARBY);
	assert_int_equal(r.pc, 0x1000);
	assert_operand(&r, RSI, NONE, 1, 8);
	r = RECIPE(MOV_EAX_RSI_RCX4 "\x75\x05" CMP_RSI_8 "\x75\x01" RET, ADD_RBX_RAX);
	assert_int_equal(r.how, LC_HOW_NEARBY); /* jne +5 leads to the other jne: no choice */
	r = RECIPE(MOV_EAX_RSI_RCX4 "\x75\x07" CMP_RSI_8 "\x75\x01" RET, ADD_RBX_RAX RET);
	assert_int_equal(r.how, LC_HOW_NO_OPERAND); /* both lead to the pc */
}

static void head_of_a_loop_follows_its_tail(void **state)
{
	/* before: mov eax,[rsi+rcx*4+16]; loop: add rbx,rax; mov r10,[r10+16]; jne loop */
	struct lc_recipe r = RECIPE(MOV_EAX_RSI_RCX4, ADD_RBX_RAX MOV_R10_R10 "\x75\xf7" RET);

	assert_int_equal(r.how, LC_HOW_NEARBY);
	assert_operand(&r, R10, NONE, 1, 16);
	assert_true(r.ahead); /* its next run, for which its base is there */
	assert_false(r.base_lost);
	/* before: the same; loop: add rbx,rax; jne loop+3; mov r10,[r10+16]; jne loop */
	r = RECIPE(MOV_EAX_RSI_RCX4, ADD_RBX_RAX "\x75\x00" MOV_R10_R10 "\x75\xf5" RET);
	assert_operand(&r, R10, NONE, 1, 16);
	assert_false(r.ahead);
	assert_true(r.base_lost);
}

static void safepoint_poll_is_no_access_but_a_null_check_is(void **state)
{
	/* mov r9,[r15+0x348]; test [r9],eax - and with r9 from an object */
	struct lc_recipe r = RECIPE(MOV_EAX_RSI_RCX4 "\x4d\x8b\x8f\x48\x03\x00\x00"
	                                             "\x41\x85\x01",
	                            ADD_RBX_RAX);

	assert_int_equal(r.how, LC_HOW_NEARBY);
	assert_operand(&r, RSI, RCX, 4, 16);
	r = RECIPE("\x4c\x8b\x4e\x10"
	           "\x41\x85\x01",
	           ADD_RBX_RAX);
	assert_int_equal(r.how, LC_HOW_DIRECT);
	assert_operand(&r, R9, NONE, 1, 0);
	r = RECIPE(RET, POLL_R9 CMP_RSI_8 RET); /* ahead, too */
	assert_operand(&r, RSI, NONE, 1, 8);
}

static void endless_jumps_end(void **state)
{
	const struct lc_recipe r = RECIPE("", "\xeb\xfe" RET); /* jmp to itself */

	assert_int_equal(r.how, LC_HOW_NO_OPERAND);
}

static void access_ahead_whose_base_is_not_there_yet_needs_a_trap(void **state)
{
	const struct lc_recipe r = RECIPE(RET, MOV_RSI_RBX CMP_RSI_8 RET);

	assert_int_equal(r.how, LC_HOW_NEARBY);
	assert_true(r.base_lost);
}

static bool own(struct lc_recipe r)
{
	return r.how == LC_HOW_DIRECT && (r.access & LC_ACCESS_OWN);
}

static void stack_thread_and_constants_are_the_threads_own(void **state)
{
	struct lc_recipe r;

	assert_true(own(RECIPE(RET MOV_RAX_STACK, RET)));
	assert_true(own(RECIPE(RET PUSH_RBP, RET)));
	assert_true(own(RECIPE(RET MOV_RAX_R15, RET)));
	assert_true(own(RECIPE(RET MOV_RAX_RIP, RET)));
	/* Only where there is nothing else, before or behind. */
	r = RECIPE(MOV_EAX_RSI_RCX4 MOV_RAX_STACK, RET);
	assert_int_equal(r.how, LC_HOW_NEARBY);
	assert_operand(&r, RSI, RCX, 4, 16);
	assert_int_equal(r.access & LC_ACCESS_OWN, 0);
	r = RECIPE(RET MOV_RAX_STACK, CMP_RSI_8 RET);
	assert_operand(&r, RSI, NONE, 1, 8);
	r = RECIPE(RET MOV_RAX_STACK ADD_RBX_RAX, RET);
	assert_int_equal(r.how, LC_HOW_NEARBY);
	assert_int_equal(r.access & LC_ACCESS_OWN, LC_ACCESS_OWN);
	/* loop: mov r10,rbx; mov r10,[r10+16]; mov rax,[rsp+8]; jne loop: both are of the last
	 * round, if there was one. */
	r = RECIPE(RET, "\x49\x89\xda" MOV_R10_R10 MOV_RAX_STACK "\x75\xf2" RET);
	assert_int_equal(r.access & LC_ACCESS_OWN, 0);
	assert_operand(&r, RBX, NONE, 1, 16);
}

static void hints_are_no_operands(void **state)
{
	assert_int_equal(RECIPE(RET LEA_RAX, RET).how, LC_HOW_NO_OPERAND);
	assert_int_equal(RECIPE(RET PREFETCH, RET).how, LC_HOW_NO_OPERAND);
	assert_int_equal(RECIPE(RET NOP_MEMORY, RET).how, LC_HOW_NO_OPERAND);
	assert_int_equal(RECIPE(RET MOV_FS, RET).how, LC_HOW_NO_OPERAND);
}

static unsigned width(unsigned access)
{
	return access >> LC_ACCESS_WIDTH_SHIFT;
}

static void loads_stores_and_widths_are_told(void **state)
{
	const unsigned both = LC_TOUCH_LOAD | LC_TOUCH_STORE;
	unsigned a;

	a = RECIPE(MOV_EAX_RSI_RCX4, RET).access;
	assert_int_equal(a, LC_TOUCH_LOAD | 2 << LC_ACCESS_WIDTH_SHIFT);
	a = RECIPE(MOV_MARK, RET).access;
	assert_int_equal(a, LC_TOUCH_STORE | 3 << LC_ACCESS_WIDTH_SHIFT);
	a = RECIPE(CMPXCHG_R9, RET).access;
	assert_int_equal(a, both | 3 << LC_ACCESS_WIDTH_SHIFT);
	a = RECIPE(INC_BYTE, RET).access;
	assert_int_equal(a, both | 0 << LC_ACCESS_WIDTH_SHIFT);
	a = RECIPE(VMOVDQU_RDI_RAX, RET).access;
	assert_int_equal(a, LC_TOUCH_LOAD | 5 << LC_ACCESS_WIDTH_SHIFT);
	a = RECIPE(FSTP_80, RET).access;
	assert_int_equal(width(a), LC_ACCESS_WIDTH_UNKNOWN);
	assert_int_equal(RECIPE(RET ADD_RBX_RAX, RET).access, 0);
}

/* Into the loop from above, or around it: the way around leads to a call, whence nobody knows. */
static void loop_that_was_entered_is_tried_after_one_that_repeats(void **state)
{
	const struct lc_recipe r =
	    RECIPE(MOV_EAX_RSI_RCX4 ADD_RBX_RAX, CMP_EAX_R8D CALL_RAX JMP_BACK_5);

	assert_int_equal(r.how, LC_HOW_NEARBY);
	assert_operand(&r, RSI, RCX, 4, 16);
}

/* If ways meet, a register that one of them has written may lead to another object. */
static void register_that_differs_by_the_way_needs_a_trap(void **state)
{
	/* je over the next two; xor rsi,rbx; cmp [rsi+8],5 */
	struct lc_recipe r = RECIPE("\x74\x07" XOR_RSI_RBX CMP_RSI_8, ADD_RBX_RAX CMP_EAX_R8D RET);

	assert_int_equal(r.pc, 0x1000 + 2 + LEN(XOR_RSI_RBX));
	assert_true(r.base_lost);
	/* The register is the same whether the access has run or not. */
	r = RECIPE(MOV_RSI_RBX JE_6 CMP_RSI_8, ADD_RBX_RAX CMP_EAX_R8D RET);
	assert_int_equal(r.how, LC_HOW_DIRECT);
	assert_operand(&r, RSI, NONE, 1, 8);
	assert_false(r.base_lost);
	/* loop: add rbx,rax; mov rsi,rbx; cmp [rsi+8],5; jne loop - at its head for the first time,
	 * too, when rsi holds what the code before the loop has left there. */
	r = RECIPE(MOV_EAX_RSI_RCX4, ADD_RBX_RAX MOV_RSI_RBX CMP_RSI_8 "\x75\xf4" RET);
	assert_operand(&r, RSI, NONE, 1, 8);
	assert_false(r.ahead);
	assert_true(r.base_lost);
	r = RECIPE(MOV_EAX_RSI_RCX4, ADD_RBX_RAX CMP_RSI_8 "\x75\xf7" RET); /* the same all along */
	assert_operand(&r, RSI, NONE, 1, 8);
	assert_false(r.base_lost);
	/* The object of an element is known by its base. */
	r = RECIPE(RET, ADD_RBX_RAX "\x31\xc9" MOV_EAX_RSI_RCX4 "\x75\xf5" RET);
	assert_operand(&r, RSI, RCX, 4, 16);
	assert_false(r.base_lost);
}

enum { FAR = 3000, BEFORE_JUMP = LEN(XOR_RSI_RBX CMP_RSI_8), JUMP_BYTES = 6 };

/* Put a branch before bytes[end]. */
static void branch(uint8_t *bytes, size_t end, const char *opcode, size_t to)
{
	const int32_t distance = (int32_t)to - (int32_t)end;

	memcpy(bytes + end - sizeof(distance) - strlen(opcode), opcode, strlen(opcode));
	memcpy(bytes + end - sizeof(distance), &distance, sizeof(distance));
}

/*
 * The slow path of a barrier is at the end of a method: xor rsi,rbx; cmp [rsi+8],5; jne far; here
 * the sample is, and the code at `far` leads back. Is the base lost?
 */
static bool lost_by_slow_path(const char *slow, size_t slow_len, const char *behind,
                              size_t behind_len)
{
	enum { PC = BEFORE_JUMP + JUMP_BYTES };
	static uint8_t bytes[FAR + 32];
	struct lc_recipe r;

	memset(bytes, 0x90, sizeof(bytes));
	memcpy(bytes, XOR_RSI_RBX CMP_RSI_8, BEFORE_JUMP);
	branch(bytes, PC, "\x0f\x85", FAR);
	memcpy(bytes + PC, behind, behind_len);
	bytes[FAR - 1] = 0xc3; /* ret */
	memcpy(bytes + FAR, slow, slow_len);
	branch(bytes, FAR + slow_len + 5, "\xe9", PC);
	r = at((const char *)bytes, sizeof(bytes), PC);
	assert_int_equal(r.base, RSI);
	return r.base_lost;
}

#define LOST_BY(slow, behind) lost_by_slow_path(slow, LEN(slow), behind, LEN(behind))

static void a_way_from_far_away_counts(void **state)
{
	assert_true(LOST_BY(MOV_RSI_RBX, ADD_RBX_RAX RET));
	assert_true(LOST_BY(MOV_RSI_RBX, CMP_RSI_8 RET));
	assert_false(LOST_BY(ADD_RBX_RAX, ADD_RBX_RAX RET));
	/* A call keeps the registers that are in use, and no others. */
	assert_true(LOST_BY(CALL_RAX, ADD_RBX_RAX MOV_RSI_RBX CMP_RSI_8 RET));
	assert_false(LOST_BY(CALL_RAX, ADD_RBX_RAX CMP_RSI_8 RET));
	/* It is not known how control came to the last branch. */
	assert_true(LOST_BY(ADD_RBX_RAX RET, CMP_RSI_8 RET));
}

static void a_register_that_no_way_to_a_fork_writes_is_kept(void **state)
{
	/* mov rsi,rbx; cmp [rsi+8],5; je: one way writes another register, and calls nobody */
	struct lc_recipe r =
	    RECIPE(MOV_RSI_RBX CMP_RSI_8 "\x74\x03" ADD_RBX_RAX, CMP_EAX_R8D CMP_EAX_R8D RET);

	assert_operand(&r, RSI, NONE, 1, 8);
	assert_false(r.base_lost);
	/* Each of both ways writes it, not in the same place. */
	r = RECIPE("\x74\x05" XOR_RSI_RBX "\xeb\x07" XOR_RSI_RBX CMP_RSI_8, ADD_RBX_RAX RET);
	assert_operand(&r, RSI, NONE, 1, 8);
	assert_true(r.base_lost);
	/* An object above which there are two loops, one in the other. */
	r = RECIPE(MOV_RSI_RBX, CMP_EAX_R8D ADD_RBX_RAX CMP_RSI_8 "\x75\xfa"
	                                                          "\x75\xf4" RET);
	assert_operand(&r, RSI, NONE, 1, 8);
	assert_false(r.base_lost);
}

/* A lost base is replaced by what it was computed from, if that is the same on all ways. */
static void the_origin_of_a_base_serves(void **state)
{
	/* je over the next two; mov rsi,rbx; cmp [rsi+8],5 */
	struct lc_recipe r = RECIPE("\x74\x07" MOV_RSI_RBX CMP_RSI_8, ADD_RBX_RAX CMP_EAX_R8D RET);

	assert_operand(&r, RBX, NONE, 1, 8);
	assert_false(r.base_lost);
	/* lea rsi,[r12+r11*8]; cmp [rsi+8],5; xor esi,esi */
	r = RECIPE(LEA_RSI_R11 CMP_RSI_8 ZERO_ESI, CMP_EAX_R8D RET);
	assert_operand(&r, R12, R11, 8, 8);
	assert_false(r.base_lost);
	assert_false(r.index_lost);
	/* ... and there is an index already. */
	r = RECIPE(LEA_RSI_R11 MOV_EAX_RSI_RCX4 ZERO_ESI, CMP_EAX_R8D RET);
	assert_operand(&r, RSI, RCX, 4, 16);
	assert_true(r.base_lost);
	/* ... and the register has been written since, or by the lea itself. */
	r = RECIPE(LEA_RSI_R11 CMP_RSI_8 ZERO_ESI "\x45\x31\xdb", CMP_EAX_R8D RET);
	assert_true(r.base_lost);
	r = RECIPE("\x48\x8d\x76\x10" CMP_RSI_8 ZERO_ESI, CMP_EAX_R8D RET);
	assert_true(r.base_lost);
}

/* mov rsi,rbx; jmp to the loop's end; loop: cmp [rsi+8],5; add rsi,64; sub rax,8; jge loop */
#define MOVED_ON                                                                                   \
	MOV_RSI_RBX "\xeb\x08" CMP_RSI_8 "\x48\x83\xc6\x40"                                        \
	            "\x48\x83\xe8\x08\x7d\xf2"

static void a_base_that_moves_on_leads_to_the_same_object(void **state)
{
	struct lc_recipe r = RECIPE(MOVED_ON, CMP_EAX_R8D RET);

	assert_int_equal(r.how, LC_HOW_NEARBY);
	assert_int_equal(r.base, RBX);
	assert_int_equal(r.index, NONE);
	assert_false(r.base_lost);
	assert_true(r.vector); /* the place in the object is not known */
	r = RECIPE(MOVED_ON ADD_RBX_RAX, CMP_EAX_R8D RET);
	assert_true(r.base_lost);
}

static void copy_from_before_a_loop_serves_not(void **state)
{
	/* mov rdx,r10; loop: mov r10,[r10+16]; jne loop */
	const struct lc_recipe r = RECIPE(MOV_RDX_R10 MOV_R10_R10 "\x75\xfa", ADD_RBX_RAX RET);

	assert_true(r.base_lost);
}

/* C1 counts which case of a switch is taken: cmp edx,1; mov rax,rbx; mov rbx,48; cmovne rbx,rax for
 * each, and at last inc qword [rdi+rbx]. */
static void the_count_of_a_long_switch_is_found_ahead(void **state)
{
	static const char one[] =
	    "\x83\xfa\x01\x48\x89\xd8\x48\xc7\xc3\x30\x00\x00\x00\x48\x0f\x45\xd8";
	enum { CASES = 480 };
	static char code[CASES * LEN(one) + 16];
	struct lc_recipe r;

	for (size_t i = 0; i < CASES; i++)
		memcpy(code + i * LEN(one), one, LEN(one));
	memcpy(code + CASES * LEN(one), "\x48\xff\x04\x1f\xc3", 5);
	r = at(code, sizeof(code), LEN(one));
	assert_true(r.ahead);
	assert_int_equal(r.pc, 0x1000 + CASES * LEN(one));
	assert_operand(&r, RDI, RBX, 1, 0);
	assert_false(r.base_lost);
	assert_true(r.index_lost);
}

static void access_ahead_says_so(void **state)
{
	assert_true(RECIPE(RET, CMP_RSI_8 RET).ahead);
	assert_false(RECIPE(CMP_RSI_8, RET).ahead);
}

static void class_of_an_object_in_the_making_is_stored_next(void **state)
{
	struct lc_recipe r;

	r = RECIPE(MOV_MARK, ADD_RBX_RAX MOV_CLASS RET);
	assert_int_equal(r.made, LC_MADE_VALUE);
	assert_int_equal(r.made_value, 0x429c8);
	r = RECIPE(RET, MOV_MARK MOV_CLASS RET);
	assert_true(r.ahead);
	assert_int_equal(r.made_value, 0x429c8);
	r = RECIPE(MOV_MARK, MOVABS_R10 MOV_CLASS_R10 RET); /* a constant by way of a register */
	assert_int_equal(r.made, LC_MADE_VALUE);
	assert_int_equal(r.made_value, UINT64_C(0x7f0011223344));
	r = RECIPE(MOV_MARK, MOV_CLASS_R10 RET);
	assert_int_equal(r.made, LC_MADE_REGISTER);
	registers_are_numbered();
	assert_int_equal(lc_decode_made_word(&registers, r.made_value), registers.r[R10]);
	assert_int_equal(RECIPE(MOV_MARK, MOV_R10_R10 MOV_CLASS_R10 RET).made, LC_MADE_NOTHING);
	/* C1 compresses it so: mov rcx,rdx; mov r10,base; sub rcx,r10; shr rcx,3. */
	r = RECIPE(MOV_MARK, "\x48\x89\xd1" MOVABS_R10 "\x4c\x29\xd1\x48\xc1\xe9\x03"
	                     "\x89\x48\x08" RET);
	assert_int_equal(r.made, LC_MADE_REGISTER);
	registers.r[RDX] = UINT64_C(0x7f0011223344) + 0x1238;
	assert_int_equal(lc_decode_made_word(&registers, r.made_value), 0x1238 >> 3);
	/* ... and with a base below 4 GiB: mov rcx,rdx; mov r10d,0x8a000000; sub rcx,r10 */
	r = RECIPE(MOV_MARK, "\x48\x89\xd1\x41\xba\x00\x00\x00\x8a\x4c\x29\xd1"
	                     "\x89\x48\x08" RET);
	assert_int_equal(r.made, LC_MADE_REGISTER);
	registers.r[RDX] = 0x8b0c0210;
	assert_int_equal(lc_decode_made_word(&registers, r.made_value), 0x10c0210);
	r = RECIPE(MOV_MARK, "\x48\x89\xd1" ADD_RBX_RAX "\x48\x01\xd1\x89\x48\x08" RET);
	assert_int_equal(r.made, LC_MADE_NOTHING); /* add rcx,rdx: nothing that is known */
	assert_int_equal(RECIPE(MOV_MARK, MOV_RAX_STACK MOV_CLASS RET).made, LC_MADE_NOTHING);
	assert_int_equal(RECIPE(MOV_MARK, RET MOV_CLASS).made, LC_MADE_NOTHING);
	assert_int_equal(RECIPE(MOV_CLASS, RET).made, LC_MADE_NOTHING); /* it is there */
	assert_int_equal(RECIPE(CMPXCHG_R9, MOV_CLASS RET).made, LC_MADE_NOTHING);
}

static void class_in_the_mark_is_stored_with_it(void **state)
{
	struct lc_recipe r;

	lc_new_object_class_offset(0);
	r = RECIPE(RET, MOVABS_R10 MOV_MARK_R10 RET);
	assert_int_equal(r.made, LC_MADE_VALUE);
	assert_int_equal(r.made_value, UINT64_C(0x7f0011223344));
	r = RECIPE(RET, MOV_MARK_R10 RET);
	assert_int_equal(r.made, LC_MADE_REGISTER);
	registers_are_numbered();
	assert_int_equal(lc_decode_made_word(&registers, r.made_value), registers.r[R10]);
	r = RECIPE(MOVABS_R10 MOV_MARK_R10, RET); /* it is there */
	assert_int_equal(r.made, LC_MADE_NOTHING);
	lc_new_object_class_offset(8);
}

static void push_of_memory_and_locked_operations_count(void **state)
{
	struct lc_recipe r = RECIPE(PUSH_RAX_8, ADD_RBX_RAX);

	assert_int_equal(r.how, LC_HOW_DIRECT);
	assert_operand(&r, RAX, NONE, 1, 8);
	assert_false(r.same_frame);
	r = RECIPE(CMPXCHG_R9, JNE_16);
	assert_int_equal(r.how, LC_HOW_DIRECT);
	assert_operand(&r, R9, NONE, 1, 16);
}

static void moved_stack_pointer_is_another_frame(void **state)
{
	assert_false(RECIPE(MOV_EAX_RSI_RCX4 SUB_RSP, ADD_RBX_RAX).same_frame);
	assert_false(RECIPE(RET, SUB_RSP CMP_RSI_8).same_frame);
	assert_true(RECIPE(SUB_RSP MOV_EAX_RSI_RCX4, ADD_RBX_RAX).same_frame);
}

static void repeated_string_operation_waits_at_its_own_pc(void **state)
{
	struct lc_recipe r = RECIPE(MOV_EAX_RSI_RCX4, REP_STOSQ);

	assert_int_equal(r.how, LC_HOW_DIRECT);
	assert_int_equal(r.pc, 0x1000 + LEN(MOV_EAX_RSI_RCX4));
	assert_operand(&r, RDI, NONE, 1, 0);
	r = RECIPE(MOV_EAX_RSI_RCX4, REP_MOVSQ);
	assert_operand(&r, RSI, NONE, 1, 0); /* the load waits, not the store */
}

static void finished_string_operation_is_one_step_behind_its_register(void **state)
{
	const struct lc_recipe r = RECIPE(REP_STOSQ, ADD_RBX_RAX);

	assert_int_equal(r.how, LC_HOW_DIRECT);
	assert_operand(&r, RDI, NONE, 1, -8);
	assert_false(r.base_lost);
	/* Without the register nothing tells how far it has come. */
	assert_int_equal(RECIPE(REP_STOSQ ZERO_EDI, ADD_RBX_RAX RET).how, LC_HOW_NO_OPERAND);
}

static void gather_keeps_its_base(void **state)
{
	const struct lc_recipe r = RECIPE(GATHER, ADD_RBX_RAX);

	assert_int_equal(r.how, LC_HOW_DIRECT);
	assert_true(r.vector);
	assert_int_equal(r.base, RSI);
	assert_int_equal(r.index, NONE);
}

/* The barrier of G1 behind `mov [rbp],edi`: the card is looked at where the reference leads to
 * another region. */
#define BARRIER MOV_RBP_EDI JE_CARD MOV_RCX_RBP SHR_RCX ADD_RCX_R13 CMP_CARD JNE_OUT

static void the_card_of_a_reference_is_no_object(void **state)
{
	struct lc_recipe r = RECIPE(BARRIER, CMP_EAX_R8D RET);

	assert_int_equal(r.how, LC_HOW_NEARBY);
	assert_operand(&r, RBP, NONE, 1, 0);
	assert_false(r.base_lost);
	r = RECIPE(BARRIER "\x31\xc9", CMP_EAX_R8D RET); /* xor ecx,ecx */
	assert_operand(&r, RBP, NONE, 1, 0);
	/* The table's address may be the sum's first part. */
	r = RECIPE(MOV_RBP_EDI
	           "\x74\x19" MOV_RCX_RBP SHR_RCX MOVABS_RDI ADD_RDI_RCX CMP_CARD_RDI JNE_OUT,
	           CMP_EAX_R8D RET);
	assert_operand(&r, RBP, NONE, 1, 0);
	assert_false(r.base_lost);
	/* Directly behind it, it is what was waited for. */
	r = RECIPE(MOV_RBP_EDI MOV_RCX_RBP SHR_RCX ADD_RCX_R13 CMP_CARD, JNE_16 RET);
	assert_int_equal(r.how, LC_HOW_DIRECT);
	assert_operand(&r, RCX, NONE, 1, 0);
	/* The same without a shift is an object's byte, and so it is with one of other sizes. */
	r = RECIPE(MOV_RBP_EDI MOV_RCX_RBP "\x48\xc1\xe9\x03" ADD_RCX_R13 CMP_CARD ADD_RBX_RAX,
	           CMP_EAX_R8D RET);
	assert_operand(&r, RCX, NONE, 1, 0);
	r = RECIPE(MOV_RBP_EDI MOV_RCX_RBP "\x48\xc1\xe9\x0b" ADD_RCX_R13 CMP_CARD ADD_RBX_RAX,
	           CMP_EAX_R8D RET);
	assert_operand(&r, RCX, NONE, 1, 0);
	r = RECIPE(MOV_RBP_EDI MOV_RCX_RBP SHR_RCX ADD_RCX_R13 CMP_CARD ADD_RBX_RAX,
	           CMP_EAX_R8D RET);
	assert_operand(&r, RBP, NONE, 1, 0);
	r = RECIPE(MOV_RBP_EDI MOV_RCX_RBP ADD_RCX_R13 CMP_CARD ADD_RBX_RAX, CMP_EAX_R8D RET);
	assert_operand(&r, RCX, NONE, 1, 0);
}

/* The way back from a barrier's slow path is no loop, though it comes from further down. */
static void a_slow_path_is_no_loop(void **state)
{
	/* mov [rbp],edi; jne slow; here is the sample; ret; slow: cmp [rsi+8],5; jmp back */
	struct lc_recipe r = RECIPE(MOV_RBP_EDI "\x75\x04", CMP_EAX_R8D RET CMP_RSI_8 "\xeb\xf6");

	assert_operand(&r, RBP, NONE, 1, 0);
	/* A loop that is entered in its middle is one. */
	r = RECIPE(MOV_RBP_EDI "\xeb\x03", CMP_EAX_R8D CMP_RSI_8 "\x75\xf7" RET);
	assert_operand(&r, RSI, NONE, 1, 8);
}

static void the_check_of_the_receiver_may_not_have_run(void **state)
{
	static const char code[] =
	    CMP_RSI_8 JNE_OUT BANG_STACK PUSH_RBP SUB_RSP ADD_RBX_RAX CMP_EAX_R8D RET;
	struct lc_code_bytes bytes = { (const uint8_t *)code, LEN(code), 0x1000, false, true };
	const size_t entry = LEN(CMP_RSI_8 JNE_OUT),
	             body = LEN(CMP_RSI_8 JNE_OUT BANG_STACK PUSH_RBP SUB_RSP);
	struct lc_recipe r;

	lc_decode_straight(&bytes, 0, body, &r);
	assert_int_equal(r.access, LC_ACCESS_OWN | LC_TOUCH_STORE | 3 << LC_ACCESS_WIDTH_SHIFT);
	lc_decode_straight(&bytes, 0, entry, &r); /* the call has stored its return address */
	assert_int_equal(r.access, LC_ACCESS_OWN | LC_TOUCH_STORE | 3 << LC_ACCESS_WIDTH_SHIFT);
	assert_int_equal(r.how, LC_HOW_DIRECT);
	lc_decode_straight(&bytes, 0, LEN(CMP_RSI_8), &r); /* a virtual call does run it */
	assert_int_equal(r.how, LC_HOW_DIRECT);
	assert_operand(&r, RSI, NONE, 1, 8);
	bytes.method = false; /* no method: such a branch says nothing */
	lc_decode_straight(&bytes, 0, body, &r);
	assert_operand(&r, RSI, NONE, 1, 8);
}

static void pc_inside_an_instruction_is_undecoded(void **state)
{
	assert_int_equal(at(MOV_EAX_RSI_RCX4 RET, 5, 2).how, LC_HOW_UNDECODED);
	assert_int_equal(at(ADD_RBX_RAX BAD RET, 5, 4).how, LC_HOW_UNDECODED);
	assert_int_equal(at(RET, 1, 1).how, LC_HOW_UNDECODED);
}

static void decoding_stops_after_its_limit(void **state)
{
	static uint8_t nops[LC_DECODE_INSTRUCTIONS_MAX + 16];
	struct lc_recipe r;

	memset(nops, 0x90, sizeof(nops));
	lc_decode_straight(&(struct lc_code_bytes){ nops, sizeof(nops), 0, false, false }, 0,
	                   LC_DECODE_INSTRUCTIONS_MAX, &r);
	assert_int_equal(r.how, LC_HOW_NO_OPERAND);
	lc_decode_straight(&(struct lc_code_bytes){ nops, sizeof(nops), 0, false, false }, 0,
	                   LC_DECODE_INSTRUCTIONS_MAX + 1, &r);
	assert_int_equal(r.how, LC_HOW_UNDECODED);
}

static void lengths_of_both_decoders_agree(void **state)
{
	static const char code[] = MOV_EAX_RSI_RAX4 MOV_R11_R12_R11 GATHER VMOVDQU_RDI_RAX REP_MOVSQ
	    CMPXCHG_R9 MOV_FS NOP_MEMORY JNE_16 CALL_RAX MOV_RAX_RIP;
	struct lc_insn in;

	for (size_t i = 0; i < LEN(code); i += in.length) {
		const uint8_t *p = (const uint8_t *)code + i;

		assert_true(lc_insn_decode(p, LEN(code) - i, false, &in));
		assert_int_equal(lc_insn_length(p, LEN(code) - i), in.length);
	}
}

/* Code that the tables know, so that whole samples can be decoded. */
static uint8_t method[256] __attribute__((aligned(256)));

static struct lc_access sample(const char *bytes, size_t len, size_t pc_at)
{
	struct lc_access a;

	lc_code_cache_compiled_method_unload(NULL, method);
	memset(method, 0x90, sizeof(method));
	memcpy(method, bytes, len);
	lc_code_cache_compiled_method_load(NULL, sizeof(method), method, 0, NULL, NULL);
	registers.pc = (uintptr_t)method + pc_at;
	lc_decode_sample(&registers, &a);
	return a;
}

#define SAMPLE(before, after) sample(before after, LEN(before after), LEN(before))

static int make_heap(void **state)
{
	registers_are_numbered();
	lc_decode_heap_range(0x700000000, 0x800000000);
	return lc_decode_init();
}

static void address_is_computed_from_the_registers(void **state)
{
	struct lc_access a;

	registers.r[R14] = 0x700001000;
	registers.r[R10] = 5;
	a = SAMPLE(MOVSXD_RBP, ADD_RBX_RAX);
	assert_int_equal(a.how, LC_HOW_DIRECT);
	assert_int_equal(a.addr, 0x700001000 + 5 * 4 + 16);
	assert_int_equal(a.base, 0x700001000);
	a = SAMPLE(MOVSXD_RBP, ADD_RBX_RAX); /* the same bytes again, code of another life */
	assert_int_equal(a.addr, 0x700001000 + 5 * 4 + 16);
	assert_int_equal(a.access, LC_TOUCH_LOAD | 2 << LC_ACCESS_WIDTH_SHIFT);
}

/* The access at a null reference has not run: control came by the branch that leads past
 * it. */
static void an_access_to_null_has_not_run(void **state)
{
	struct lc_access a;

	registers.r[R14] = 0x700001000;
	registers.r[R10] = 5;
	registers.r[RSI] = 0;
	a = SAMPLE(MOVSXD_RBP JE_6 CMP_RSI_8, ADD_RBX_RAX);
	assert_int_equal(a.how, LC_HOW_NEARBY);
	assert_int_equal(a.addr, 0x700001000 + 5 * 4 + 16);
	lc_decode_sample(&registers, &a); /* by the cache */
	assert_int_equal(a.addr, 0x700001000 + 5 * 4 + 16);
	registers.r[RSI] = 0x700002000;
	lc_decode_sample(&registers, &a);
	assert_int_equal(a.addr, 0x700002008);
	registers.r[RSI] = 0;
	a = SAMPLE(JE_6 CMP_RSI_8, ADD_RBX_RAX RET);
	assert_int_equal(a.how, LC_HOW_NO_OPERAND);
	assert_int_equal(a.addr, 0);
	registers.r[RBX] = 0x700003000;
	a = SAMPLE(MOV_EAX_RBX JE_13 MOVSXD_RBP JE_6 CMP_RSI_8, ADD_RBX_RAX RET);
	assert_int_equal(a.addr, 0x700001000 + 5 * 4 + 16); /* by the nearer branch */
	a = SAMPLE(RET, CMP_RSI_8 RET);                     /* it will be an exception */
	assert_int_equal(a.how, LC_HOW_NO_OPERAND);
}

/* A recipe that comes from the cache is the one that was put there. */
static void recipes_survive_the_cache(void **state)
{
	struct lc_access first, again;

	registers.r[RAX] = 0x700003000;
	first = SAMPLE("", MOV_RSI_RBX MOVABS_R10 MOV_MARK MOV_CLASS_R10 RET);
	lc_decode_sample(&registers, &again);
	assert_int_equal(first.recipe.step.kind, LC_STEP_NOT_SOUGHT);
	assert_int_equal(again.recipe.step.kind, LC_STEP_NOT_YET);
	lc_decode_sample(&registers, &again);
	assert_int_equal(again.recipe.step.kind, LC_STEP_UNKNOWN); /* it is in no loop */
	again.recipe.step = first.recipe.step;
	assert_memory_equal(&first.recipe, &again.recipe, sizeof(first.recipe));
	first = SAMPLE(RET, MOVSXD_RBP RET);
	lc_decode_sample(&registers, &again);
	assert_int_equal(again.recipe.base, R14);
	assert_int_equal(again.recipe.index, R10);
	assert_int_equal(again.recipe.scale, 4);
	assert_int_equal(again.recipe.disp, 16);
	assert_true(again.recipe.ahead);
	assert_int_equal(again.access, first.access);
	first = SAMPLE(RET MOV_RAX_STACK, RET);
	lc_decode_sample(&registers, &again);
	assert_int_equal(again.access, first.access);
	assert_int_equal(again.addr, registers.r[RSP] + 8);
	assert_int_equal(again.how, LC_HOW_DIRECT);
}

static void base_stands_for_the_object_when_the_index_is_lost(void **state)
{
	struct lc_access a;

	registers.r[RSI] = 0x700002000;
	a = SAMPLE(MOV_EAX_RSI_RAX4, CMP_EAX_R8D);
	assert_int_equal(a.how, LC_HOW_BASE);
	assert_int_equal(a.addr, 0x700002000);
	registers.r[RSI] = 0x1234; /* points to no object: only a breakpoint can tell */
	a = SAMPLE(MOV_EAX_RSI_RAX4, CMP_EAX_R8D);
	assert_int_equal(a.how, LC_HOW_DESTROYED);
	assert_int_equal(a.addr, 0);
}

/* The likeliest way is good enough for the index, if the base says which object it is. */
static void index_that_differs_by_the_way_is_still_an_element(void **state)
{
	struct lc_access a;

	registers_are_numbered();
	registers.r[RSI] = 0x700001000;
	registers.r[RCX] = 7;
	/* je over the next two; xor ecx,ecx; mov eax,[rsi+rcx*4+16] */
	a = SAMPLE("\x74\x06" ZERO_ECX MOV_EAX_RSI_RCX4, ADD_RBX_RAX RET);
	for (unsigned i = 0; i < 2; i++) { /* then by the cache */
		assert_int_equal(a.how, LC_HOW_DIRECT);
		assert_int_equal(a.addr, 0x700001000 + 7 * 4 + 16);
		lc_decode_sample(&registers, &a);
	}
	/* je over the next two; xor r10d,r10d; mov eax,[r12+r10*8+16]: a compressed reference */
	registers.r[R12] = 0;
	registers.r[R10] = 0x700001000 >> 3;
	a = SAMPLE("\x74\x08" ZERO_R10D "\x43\x8b\x44\xd4\x10", ADD_RBX_RAX RET);
	assert_int_equal(a.how, LC_HOW_DESTROYED);
	lc_decode_sample(&registers, &a);
	assert_int_equal(a.how, LC_HOW_DESTROYED);
	a = SAMPLE("\x43\x8b\x44\xd4\x10", ADD_RBX_RAX RET);
	assert_int_equal(a.addr, 0x700001010);
}

static void compressed_reference_in_the_index_is_not_taken_for_an_offset(void **state)
{
	struct lc_access a;
	uint64_t addr, base;

	registers.r[R12] = 0;
	a = SAMPLE(MOV_R11_R12_R11, CMP_EAX_R8D);
	assert_int_equal(a.how, LC_HOW_DESTROYED);
	registers.r[R11] = 0xe0000200; /* before it runs: the compressed reference */
	registers.pc = a.recipe.pc;
	assert_true(lc_decode_before(&registers, &a.recipe, a.life, &addr, &base));
	assert_int_equal(addr, 0x700001000 + 12);
}

static void object_in_an_index_of_scale_one_serves(void **state)
{
	struct lc_access a;

	registers.r[RDI] = 16;
	registers.r[RAX] = 0x700003000;
	a = SAMPLE(VMOVDQU_RDI_RAX "\x31\xff", CMP_EAX_R8D); /* then xor edi,edi */
	assert_int_equal(a.how, LC_HOW_BASE);
	assert_int_equal(a.addr, 0x700003000);
	a = SAMPLE(VMOVDQU_RDI_RAX ZERO_EDI "\x31\xc0", CMP_EAX_R8D); /* and xor eax,eax */
	assert_int_equal(a.how, LC_HOW_DESTROYED);
}

static void of_a_gather_the_object_is_known_and_no_element(void **state)
{
	struct lc_access a;

	registers.r[RSI] = 0x700002000;
	a = SAMPLE(GATHER, ADD_RBX_RAX);
	assert_int_equal(a.how, LC_HOW_BASE);
	assert_int_equal(a.addr, 0x700002000);
}

static void a_scaled_index_is_a_number_even_where_it_lies_in_the_heap(void **state)
{
	struct lc_access a;

	registers.r[RCX] = 0x700003000;
	a = SAMPLE(MOV_EAX_RSI_RCX4 ZERO_ESI, CMP_EAX_R8D);
	assert_true(a.recipe.base_lost);
	assert_int_equal(a.how, LC_HOW_DESTROYED);
	assert_int_equal(a.addr, 0);
}

static void breakpoint_in_code_of_another_life_tells_nothing(void **state)
{
	struct lc_access a, b;
	uint64_t addr = 1, base = 1;

	a = SAMPLE(MOV_R10_R10, CMP_EAX_R8D);
	assert_int_equal(a.how, LC_HOW_DESTROYED);
	b = SAMPLE(MOV_R10_R10, CMP_EAX_R8D);
	registers.pc = a.recipe.pc;
	assert_false(lc_decode_before(&registers, &a.recipe, a.life, &addr, &base));
	assert_true(lc_decode_before(&registers, &b.recipe, b.life, &addr, &base));
	registers.pc++;
	assert_false(lc_decode_before(&registers, &b.recipe, b.life, &addr, &base));
}

static void interpreter_runtime_and_unknown_code_are_not_decoded(void **state)
{
	struct lc_access a;

	lc_code_cache_compiled_method_unload(NULL, method);
	registers.pc = (uintptr_t)method;
	lc_decode_sample(&registers, &a);
	assert_int_equal(a.how, LC_HOW_UNDECODED);
	assert_int_equal(a.kind, 0);
	lc_code_cache_dynamic_code_generated("Interpreter", method, sizeof(method));
	lc_decode_sample(&registers, &a);
	assert_int_equal(a.how, LC_HOW_NOT_JAVA);
	assert_int_equal(a.kind, LC_CODE_INTERPRETER);
	lc_code_cache_dynamic_code_generated("DeoptimizationBlob", method, sizeof(method));
	lc_decode_sample(&registers, &a);
	assert_int_equal(a.how, LC_HOW_NOT_JAVA);
	assert_int_equal(a.kind, LC_CODE_RUNTIME);
}

/*
 * Native code: of this program. Each instruction that is sampled has a name, and the one before it
 * is what waited.
 */
__asm__(".text\n"
        ".globl native_code\n"
        "native_code:\n"
        ".cfi_startproc\n"
        "	movq %rax, 16(%r15)\n"
        ".globl after_store\n"
        "after_store:\n"
        "	movl (%rcx), %ecx\n"
        ".globl after_lost\n"
        "after_lost:\n"
        "	addl %ecx, %edx\n"
        "	syscall\n"
        ".globl after_syscall\n"
        "after_syscall:\n"
        "	movq (%rbx), %rax\n"
        "	ret\n"
        "	movq %rax, 8(%r15)\n"
        "	lock addl $0, (%rsp)\n"
        ".globl after_fence\n"
        "after_fence:\n"
        "	movq (%rbx), %rax\n"
        "	mfence\n"
        ".globl after_mfence\n"
        "after_mfence:\n"
        "	lock cmpxchgl %ecx, (%rdx)\n"
        ".globl after_exchange\n"
        "after_exchange:\n"
        "	ret\n"
        ".globl copies\n"
        "copies:\n"
        "	rep movsb\n"
        "	ret\n"
        ".rept 2000\n" /* so that the next has to be looked for in steps */
        "	addq $1, %rax\n"
        ".endr\n"
        "	movq %rax, (%r8)\n"
        ".globl far_away\n"
        "far_away:\n"
        "	ret\n"
        ".cfi_endproc\n");
extern const char after_store[], after_lost[], after_syscall[], copies[], far_away[];
extern const char after_fence[], after_mfence[], after_exchange[];

enum { IN_HEAP = 0x700004000 };

static struct lc_access native(const char *pc)
{
	struct lc_access a;

	lc_native_code_refresh();
	registers.pc = (uintptr_t)pc;
	lc_decode_sample(&registers, &a);
	return a;
}

static void native_code_is_decoded_where_it_touches_the_heap(void **state)
{
	struct lc_access a;

	registers.r[15] = IN_HEAP;         /* no thread of the JVM here */
	for (unsigned i = 0; i < 2; i++) { /* the second from the cache */
		a = native(after_store);
		assert_true(a.native);
		assert_int_equal(a.how, LC_HOW_DIRECT);
		assert_int_equal(a.addr, IN_HEAP + 16);
		assert_int_equal(a.access, LC_TOUCH_STORE | 3 << LC_ACCESS_WIDTH_SHIFT);
		assert_int_equal(a.kind, 0);
	}
	registers.r[15] = 0x1234;
	a = native(after_store);
	assert_false(a.native);
	assert_int_equal(a.how, LC_HOW_NOT_JAVA);
	assert_int_equal(a.addr, 0);
	assert_int_equal(a.access, 0);
	registers.r[R8] = IN_HEAP;
	a = native(far_away);
	assert_int_equal(a.how, LC_HOW_DIRECT);
	assert_int_equal(a.addr, IN_HEAP);
}

static void no_breakpoint_is_set_in_native_code(void **state)
{
	struct lc_access a;

	registers.r[15] = IN_HEAP;
	registers.r[RCX] = IN_HEAP;
	a = native(after_lost);
	assert_int_equal(a.how, LC_HOW_NOT_JAVA);
	assert_false(a.native);
}

static void time_in_the_kernel_is_no_access_to_the_heap(void **state)
{
	struct lc_access a;

	registers.r[RBX] = registers.r[15] = IN_HEAP;
	a = native(after_syscall);
	assert_int_equal(a.how, LC_HOW_NOT_JAVA);
	assert_int_equal(a.addr, 0);
}

static void a_copy_is_of_the_side_that_is_in_the_heap(void **state)
{
	struct lc_access a;

	registers.r[RSI] = IN_HEAP;
	registers.r[RDI] = IN_HEAP + 0x1000;
	a = native(copies);
	assert_int_equal(a.how, LC_HOW_DIRECT);
	assert_int_equal(a.addr, IN_HEAP);
	assert_int_equal(a.access & (LC_TOUCH_LOAD | LC_TOUCH_STORE), LC_TOUCH_LOAD);
	registers.r[RSI] = 0x1234;
	a = native(copies);
	assert_int_equal(a.addr, IN_HEAP + 0x1000);
	assert_int_equal(a.access & (LC_TOUCH_LOAD | LC_TOUCH_STORE), LC_TOUCH_STORE);
	assert_int_equal(a.recipe.base, RDI);
	registers.r[RDI] = 0x1234;
	a = native(copies);
	assert_int_equal(a.addr, 0);
	assert_false(a.native);
}

/* In a granule of no other address of the tests. */
enum { BLOCK = 0x10020001000, NO_BLOCK = BLOCK + (4 << 20) };

static void native_code_is_decoded_where_it_may_touch_a_block(void **state)
{
	struct lc_access a;

	lc_granules_note(BLOCK, 64);
	registers.r[15] = BLOCK;
	a = native(after_store);
	assert_true(a.native);
	assert_int_equal(a.how, LC_HOW_DIRECT);
	assert_int_equal(a.addr, BLOCK + 16);
	registers.r[15] = NO_BLOCK;
	assert_false(native(after_store).native);
	registers.r[15] = 0;
	/* From block to block, from elsewhere to a block; to the heap as ever. */
	registers.r[RSI] = BLOCK;
	registers.r[RDI] = BLOCK + 32;
	assert_int_equal(native(copies).addr, BLOCK);
	registers.r[RSI] = NO_BLOCK;
	a = native(copies);
	assert_int_equal(a.addr, BLOCK + 32);
	assert_int_equal(a.access & (LC_TOUCH_LOAD | LC_TOUCH_STORE), LC_TOUCH_STORE);
	registers.r[RSI] = BLOCK;
	registers.r[RDI] = IN_HEAP;
	assert_int_equal(native(copies).addr, IN_HEAP);
	registers.r[RSI] = IN_HEAP;
	registers.r[RDI] = BLOCK;
	assert_int_equal(native(copies).addr, IN_HEAP);
	registers.r[RSI] = registers.r[RDI] = 0;
}

static void native_code_behind_a_fence_waited_for_stores_to_any_memory(void **state)
{
	struct lc_access a;

	registers.r[15] = registers.r[RBX] = IN_HEAP;
	for (unsigned i = 0; i < 2; i++) { /* the second from the cache */
		a = native(after_fence);
		assert_true(a.fenced);
		assert_false(a.native);
		assert_int_equal(a.how, LC_HOW_NOT_JAVA);
		assert_int_equal(a.addr, 0);
	}
	assert_true(native(after_mfence).fenced);
	assert_false(native(after_exchange).fenced);
	assert_false(native(after_store).fenced);
}

static void compiled_code_behind_a_fence_is_the_store_before_it(void **state)
{
	struct lc_recipe r = RECIPE(MOV_MARK LOCK_ADD_STACK, RET);

	assert_int_equal(r.base, RAX);
	assert_int_equal(r.access & (LC_ACCESS_OWN | LC_ACCESS_FENCE), 0);
	r = RECIPE(LOCK_ADD_STACK, RET);
	assert_int_equal(r.how, LC_HOW_DIRECT);
	assert_int_equal(r.access & (LC_ACCESS_OWN | LC_ACCESS_FENCE),
	                 LC_ACCESS_OWN | LC_ACCESS_FENCE);
}

static void leave_reads_the_stack(void **state)
{
	struct lc_recipe r = RECIPE(LEAVE, RET);

	assert_int_equal(r.access & LC_ACCESS_OWN, LC_ACCESS_OWN);
	r = RECIPE(MOV_EAX_RSI_RCX4 LEAVE, RET);
	assert_int_equal(r.base, RSI);
	assert_int_equal(r.how, LC_HOW_NEARBY);
}

/* A record of PEBS or IBS names the instruction that accessed memory: nothing is looked for. */
static void of_a_known_access_the_load_of_its_reference_is_found(void **state)
{
	static const char bytes[] = "\x45\x8b\x4b\x10"     /* mov r9d,[r11+16] */
	                            "\x39\xf7"             /* cmp edi,esi */
	                            "\x41\x8b\x79\x08"     /* mov edi,[r9+8]: the class */
	                            "\x41\x8b\x41\x0c"     /* mov eax,[r9+12]: a field */
	                            "\x48\x8b\x44\x24\x08" /* mov rax,[rsp+8] */
	                            "\xc3";
	const uint64_t start = (uint64_t)(uintptr_t)bytes;
	const struct lc_code_cache_piece code = { start, start + sizeof(bytes) - 1, .life = 77,
		                                  .kind = LC_CODE_METHOD };
	struct lc_code_cache_piece stub = code;

	assert_int_equal(lc_decode_init(), 0);
	for (int twice = 0; twice < 2; twice++) { /* the second answer is the cache's */
		struct lc_access known = { .recipe = { .pc = start + 6,
			                               .how = LC_HOW_DIRECT,
			                               .base = R9,
			                               .index = NONE,
			                               .scale = 1,
			                               .disp = 8,
			                               .access = LC_TOUCH_LOAD } };

		lc_decode_known(&code, NULL, false, &known);
		assert_true(known.loaded == start);
		assert_int_equal(known.loaded_disp, 16);
		assert_int_equal(known.recipe.read_on, 4);
		known = (struct lc_access){ .recipe = { .pc = start,
			                                .how = LC_HOW_DIRECT,
			                                .base = R11,
			                                .index = NONE,
			                                .access = LC_TOUCH_LOAD } };
		lc_decode_known(&code, NULL, false, &known);
		assert_true(known.loaded == 0); /* an argument of the method */
	}
	stub.kind = LC_CODE_STUB; /* has no debug information */
	stub.life = 78;
	struct lc_access in_stub = { .recipe = { .pc = start + 6, .how = LC_HOW_DIRECT } };
	lc_decode_known(&stub, NULL, false, &in_stub);
	assert_true(in_stub.loaded == 0);
}

/*
 * The registers of a record that the loop does not change tell the step, whatever the moment. The
 * registers of a record that has none tell nothing.
 */
static void of_a_known_access_the_step_of_its_loop_is_found(void **state)
{
	static const char bytes[] = "\x31\xc9"         /* xor ecx,ecx */
	                            "\x8b\x44\x8e\x10" /* mov eax,[rsi+rcx*4+16] */
	                            "\x01\xd1"         /* add ecx,edx */
	                            "\x39\xf9"         /* cmp ecx,edi */
	                            "\x7c\xf6"         /* jl to the load */
	                            "\xc3";
	const uint64_t start = (uint64_t)(uintptr_t)bytes;
	const struct lc_code_cache_piece code = { start, start + sizeof(bytes) - 1, .life = 79,
		                                  .kind = LC_CODE_METHOD };
	struct lc_registers regs = { .pc = start + 2, .r = { [RDX] = 32 } };
	struct lc_access known;

	assert_int_equal(lc_decode_init(), 0);
	for (int i = 0; i < 200; i++) {
		known = (struct lc_access){ .recipe = { .pc = start + 2,
			                                .how = LC_HOW_DIRECT,
			                                .base = RSI,
			                                .index = RCX,
			                                .scale = 4,
			                                .disp = 16,
			                                .access = LC_TOUCH_LOAD } };
		lc_decode_known(&code, i < 100 ? NULL : &regs, false, &known);
		assert_true(i >= 100 || known.step == 0);
	}
	assert_int_equal(known.recipe.step.kind, LC_STEP_REGISTER);
	assert_int_equal(known.step, 128);
	regs.r[RDX] = 1; /* the next run of the loop */
	lc_decode_known(&code, &regs, false, &known);
	assert_int_equal(known.step, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_known_access_the_step_of_its_loop_is_found),
		cmocka_unit_test(of_a_known_access_the_load_of_its_reference_is_found),
		cmocka_unit_test(instruction_before_the_pc_is_direct),
		cmocka_unit_test(overwritten_index_is_lost_and_base_is_not),
		cmocka_unit_test(overwritten_base_is_lost),
		cmocka_unit_test(copy_of_a_lost_base_serves),
		cmocka_unit_test(copy_of_another_value_serves_not),
		cmocka_unit_test(nearest_earlier_access_is_nearby),
		cmocka_unit_test(register_written_since_the_access_is_lost),
		cmocka_unit_test(branch_that_was_not_taken_is_in_the_line),
		cmocka_unit_test(call_between_hides_what_ran_before_it),
		cmocka_unit_test(only_branch_to_the_pc_is_followed_back),
		cmocka_unit_test(head_of_a_loop_follows_its_tail),
		cmocka_unit_test(safepoint_poll_is_no_access_but_a_null_check_is),
		cmocka_unit_test(endless_jumps_end),
		cmocka_unit_test(access_ahead_whose_base_is_not_there_yet_needs_a_trap),
		cmocka_unit_test(stack_thread_and_constants_are_the_threads_own),
		cmocka_unit_test(hints_are_no_operands),
		cmocka_unit_test(loads_stores_and_widths_are_told),
		cmocka_unit_test(loop_that_was_entered_is_tried_after_one_that_repeats),
		cmocka_unit_test(register_that_differs_by_the_way_needs_a_trap),
		cmocka_unit_test(a_way_from_far_away_counts),
		cmocka_unit_test(a_register_that_no_way_to_a_fork_writes_is_kept),
		cmocka_unit_test(the_origin_of_a_base_serves),
		cmocka_unit_test(a_base_that_moves_on_leads_to_the_same_object),
		cmocka_unit_test(copy_from_before_a_loop_serves_not),
		cmocka_unit_test(the_count_of_a_long_switch_is_found_ahead),
		cmocka_unit_test(access_ahead_says_so),
		cmocka_unit_test(class_of_an_object_in_the_making_is_stored_next),
		cmocka_unit_test(class_in_the_mark_is_stored_with_it),
		cmocka_unit_test(push_of_memory_and_locked_operations_count),
		cmocka_unit_test(moved_stack_pointer_is_another_frame),
		cmocka_unit_test(repeated_string_operation_waits_at_its_own_pc),
		cmocka_unit_test(finished_string_operation_is_one_step_behind_its_register),
		cmocka_unit_test(gather_keeps_its_base),
		cmocka_unit_test(the_card_of_a_reference_is_no_object),
		cmocka_unit_test(a_slow_path_is_no_loop),
		cmocka_unit_test(the_check_of_the_receiver_may_not_have_run),
		cmocka_unit_test(pc_inside_an_instruction_is_undecoded),
		cmocka_unit_test(decoding_stops_after_its_limit),
		cmocka_unit_test(lengths_of_both_decoders_agree),
		cmocka_unit_test(address_is_computed_from_the_registers),
		cmocka_unit_test(an_access_to_null_has_not_run),
		cmocka_unit_test(recipes_survive_the_cache),
		cmocka_unit_test(base_stands_for_the_object_when_the_index_is_lost),
		cmocka_unit_test(index_that_differs_by_the_way_is_still_an_element),
		cmocka_unit_test(compressed_reference_in_the_index_is_not_taken_for_an_offset),
		cmocka_unit_test(object_in_an_index_of_scale_one_serves),
		cmocka_unit_test(of_a_gather_the_object_is_known_and_no_element),
		cmocka_unit_test(a_scaled_index_is_a_number_even_where_it_lies_in_the_heap),
		cmocka_unit_test(breakpoint_in_code_of_another_life_tells_nothing),
		cmocka_unit_test(interpreter_runtime_and_unknown_code_are_not_decoded),
		cmocka_unit_test(native_code_is_decoded_where_it_touches_the_heap),
		cmocka_unit_test(native_code_is_decoded_where_it_may_touch_a_block),
		cmocka_unit_test(no_breakpoint_is_set_in_native_code),
		cmocka_unit_test(time_in_the_kernel_is_no_access_to_the_heap),
		cmocka_unit_test(a_copy_is_of_the_side_that_is_in_the_heap),
		cmocka_unit_test(native_code_behind_a_fence_waited_for_stores_to_any_memory),
		cmocka_unit_test(compiled_code_behind_a_fence_is_the_store_before_it),
		cmocka_unit_test(leave_reads_the_stack),
	};

	return cmocka_run_group_tests(tests, make_heap, NULL);
}
