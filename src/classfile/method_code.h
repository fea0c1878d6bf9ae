/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/method_code.h - reads the instructions of a method and relocates them around inserted
 * code.
 *
 * Steps: lc_method_code_read() finds the parts, the caller walks the instructions with
 * lc_method_insn_bytes() and lc_method_code_mark_targets(), chooses what to insert,
 * lc_method_code_layout() computes where everything moves to, and the emit functions write it.
 * Positions are offsets from the first instruction.
 *
 * An old position becomes the start of the code inserted before its instruction, or else the new
 * position of the instruction. So a branch reaches the code inserted before its target, and a range
 * of instructions covers the code inserted behind its last one.
 *
 * A prologue is in front of all code, and no branch reaches it: the first instruction moves behind
 * it. Lines and local variables that begin with the code still do. A tail is behind all code. With
 * a tail_type it handles every exception that the code throws and does not handle, except those of
 * the prologue; else inserted jumps lead there, and the caller gives the tail's frames and lines.
 */
#ifndef LC_CLASSFILE_METHOD_CODE_H
#define LC_CLASSFILE_METHOD_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/classfile/big_endian.h"
#include "src/classfile/class_file.h"

enum {
	LC_CODE_MAX_BYTES = 65535,
	LC_INSERT_MAX_BYTES = 16,
	LC_HANDLER_BYTES = 8, /* an entry of the exception table */
};

/* The opcodes that readers of bytecode use. */
enum lc_opcode {
	LC_OP_NOP = 0,
	LC_OP_ICONST_M1 = 2,
	LC_OP_ICONST_5 = 8,
	LC_OP_BIPUSH = 16,
	LC_OP_SIPUSH = 17,
	LC_OP_LDC = 18,
	LC_OP_LDC_W = 19,
	LC_OP_ILOAD = 21,
	LC_OP_LLOAD = 22,
	LC_OP_ALOAD = 25,
	LC_OP_LLOAD_0 = 30,
	LC_OP_LLOAD_3 = 33,
	LC_OP_ALOAD_0 = 42,
	LC_OP_ALOAD_3 = 45,
	LC_OP_IALOAD = 46,
	LC_OP_AALOAD = 50,
	LC_OP_SALOAD = 53,
	LC_OP_ISTORE = 54,
	LC_OP_ASTORE = 58,
	LC_OP_ISTORE_0 = 59,
	LC_OP_ASTORE_0 = 75,
	LC_OP_ASTORE_3 = 78,
	LC_OP_IASTORE = 79,
	LC_OP_LASTORE = 80,
	LC_OP_DASTORE = 82,
	LC_OP_AASTORE = 83,
	LC_OP_SASTORE = 86,
	LC_OP_POP = 87,
	LC_OP_POP2 = 88,
	LC_OP_DUP = 89,
	LC_OP_DUP2 = 92,
	LC_OP_DUP2_X2 = 94,
	LC_OP_SWAP = 95,
	LC_OP_IINC = 132,
	LC_OP_IFEQ = 153,
	LC_OP_GOTO = 167,
	LC_OP_JSR = 168,
	LC_OP_RET = 169,
	LC_OP_TABLESWITCH = 170,
	LC_OP_LOOKUPSWITCH = 171,
	LC_OP_IRETURN = 172,
	LC_OP_ARETURN = 176,
	LC_OP_RETURN = 177,
	LC_OP_GETSTATIC = 178,
	LC_OP_PUTSTATIC = 179,
	LC_OP_GETFIELD = 180,
	LC_OP_PUTFIELD = 181,
	LC_OP_INVOKEVIRTUAL = 182,
	LC_OP_INVOKESPECIAL = 183,
	LC_OP_INVOKESTATIC = 184,
	LC_OP_INVOKEINTERFACE = 185,
	LC_OP_INVOKEDYNAMIC = 186,
	LC_OP_NEW = 187,
	LC_OP_NEWARRAY = 188,
	LC_OP_ANEWARRAY = 189,
	LC_OP_ARRAYLENGTH = 190,
	LC_OP_ATHROW = 191,
	LC_OP_CHECKCAST = 192,
	LC_OP_INSTANCEOF = 193,
	LC_OP_MONITORENTER = 194,
	LC_OP_MONITOREXIT = 195,
	LC_OP_WIDE = 196,
	LC_OP_MULTIANEWARRAY = 197,
	LC_OP_IFNULL = 198,
	LC_OP_IFNONNULL = 199,
	LC_OP_GOTO_W = 200,
	LC_OP_JSR_W = 201,
};

/* Properties of a position, as bits. */
enum {
	LC_AT_START = 1,  /* an instruction begins here */
	LC_AT_TARGET = 2, /* a jump, a switch or a handler leads here */
	LC_AT_WIDEN = 4,  /* goto or jsr that becomes goto_w or jsr_w */
	LC_AT_BUILT = 8,  /* see alloc_built.h */
};

/* A frame of the tail, which may refer to the frame before it in the tail. */
struct lc_tail_frame {
	uint32_t at;          /* offset in the tail */
	uint8_t type;         /* as StackMapTable numbers frames: with distance 0 */
	const uint8_t *types; /* what follows the distance */
	uint32_t types_len;
};

/* From offset `at` in the tail on, the code is of that line. */
struct lc_tail_line {
	uint32_t at;
	uint16_t line;
};

struct lc_method_code {
	const uint8_t *insns;
	uint32_t len; /* 1..65535 */
	uint16_t max_stack;
	uint16_t max_locals;
	const uint8_t *handlers; /* exception table */
	uint32_t handlers_len;   /* entries */
	uint32_t attributes;     /* offset in the class of the count of attributes */
	uint32_t end;            /* offset in the class behind the last attribute */
	/* Scratch that the caller lends, [len + 1] each. */
	uint8_t *flags;  /* LC_AT_* */
	uint32_t *moved; /* new position of each old one, set by lc_method_code_layout() */
	uint32_t new_len;
	/*
	 * All empty unless the caller sets them between lc_method_code_read() and
	 * lc_method_code_layout().
	 */
	const uint8_t *prologue;
	const uint8_t *tail;
	uint16_t prologue_len;
	uint16_t tail_len;
	uint16_t tail_type;     /* number of the Class constant of Throwable; 0: no handler */
	uint16_t stackmap_name; /* of the Utf8 constant "StackMapTable" */
	const struct lc_tail_frame *tail_frames; /* in their order; of a tail that is no handler */
	const struct lc_tail_line *tail_lines; /* for the first LineNumberTable, if there is one */
	uint32_t tail_frames_len;
	uint32_t tail_lines_len;
};

/* Straight-line code to be inserted; `bytes` need not be set before lc_method_code_emit(). */
struct lc_insert {
	uint32_t at;  /* position of the instruction it belongs to */
	bool before;  /* in front of it, not behind it */
	bool instead; /* in its place; nops fill what the instruction has more than `len` bytes */
	uint8_t len;
	uint8_t bytes[LC_INSERT_MAX_BYTES];
};

/* Find the parts of a Code attribute; false if they do not fill it. Leaves scratch fields alone. */
bool lc_method_code_read(const struct lc_class *c, const struct lc_attribute *a,
                         struct lc_method_code *out);

/* Bytes of the instruction at `at`, 0 where it is no instruction or reaches beyond the end. */
uint32_t lc_method_insn_bytes(const struct lc_method_code *code, uint32_t at);

/*
 * Call visit() for each target of the jump or switch at `at`, until it returns false. Returns
 * whether all were visited, none of them outside the code. Other instructions have no targets.
 */
typedef bool lc_method_code_visit(void *user, uint32_t at, uint32_t target);
bool lc_method_code_each_target(const struct lc_method_code *code, uint32_t at,
                                lc_method_code_visit *visit, void *user);

/*
 * Set LC_AT_TARGET where the jump or switch at `at` leads. Returns false if that is outside of the
 * code. Other instructions have no effect. lc_method_code_mark_handlers() does this for the
 * exception table.
 */
bool lc_method_code_mark_targets(struct lc_method_code *code, uint32_t at);
bool lc_method_code_mark_handlers(struct lc_method_code *code);

/* Does the instruction write to local variable 0? */
bool lc_method_insn_stores_local0(const uint8_t *insn);

/*
 * Compute code->moved and code->new_len for `inserts`, sorted by position, one per instruction,
 * none before a jump or a switch.
 * Returns LC_REWRITE_TOO_LARGE when the code outgrows 65535 bytes, or a conditional branch would
 * no longer reach (a detour would need a new stack map frame), and LC_REWRITE_MALFORMED when a
 * target is not the start of an instruction.
 */
enum lc_rewrite_status lc_method_code_layout(struct lc_method_code *code,
                                             const struct lc_insert *inserts, size_t len);

/*
 * Append the relocated instructions; then the exception table with its count. After
 * lc_method_code_layout().
 */
void lc_method_code_emit(const struct lc_method_code *code, const struct lc_insert *inserts,
                         size_t len, struct lc_bytes *out);
void lc_method_code_emit_handlers(const struct lc_method_code *code, struct lc_bytes *out);

#endif
