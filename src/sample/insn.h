/* SPDX-License-Identifier: Apache-2.0 */
/* sample/insn.h - decodes one x86-64 instruction, as far as sampling needs it. */
#ifndef LC_SAMPLE_INSN_H
#define LC_SAMPLE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_insn {
	uint8_t length;
	bool control; /* branch, call, return, trap: the next instruction in memory need not run
	                 next */
	bool calls;   /* a call: it comes back, and it is not known what ran meanwhile */
	bool falls;   /* control may go on to the next instruction in memory */
	bool repeats; /* rep string instruction: when it is interrupted, the pc stays on it */
	bool memory;  /* has an operand that may be in an object; the fields below hold */
	bool
	    fence; /* waits until the thread's stores are done, and touches its own stack at most */
	bool own;  /* its only memory operand is in the stack, the JVM's data of the thread, or the
	              code */
	bool moves;   /* movs: reads at rsi, which the fields below are about, and writes at rdi */
	bool vector;  /* VSIB */
	uint8_t base; /* register number or LC_NO_REGISTER */
	uint8_t index;
	uint8_t scale;
	uint8_t access; /* LC_ACCESS_* of core/record.h */
	uint8_t step;   /* string instruction: bytes by which each run advances the base */
	bool polls;     /* test [register],eax: a safepoint poll where the JVM gave the register */
	uint16_t written; /* general registers that it writes, one bit each */
	uint8_t copy_to;  /* mov r64,r64: destination; LC_NO_REGISTER for anything else */
	uint8_t copy_from;
	uint8_t address_to;  /* lea r64: the register, `base` to `disp` the address; LC_NO_REGISTER
	                        for anything else */
	uint8_t store_from;  /* mov [memory],r: the register; LC_NO_REGISTER for anything else */
	uint8_t constant_to; /* mov r,constant: the register, or LC_NO_REGISTER */
	bool constant;       /* mov of a constant, to memory or a register: `value` */
	uint8_t add_to;      /* add r,r2 or r,constant in 64 bits: r, or LC_NO_REGISTER */
	uint8_t add_from;    /* r2; LC_NO_REGISTER: `value` */
	uint8_t sub_to;      /* sub r,r2 or r,constant in 64 bits: r, or LC_NO_REGISTER */
	uint8_t sub_from;    /* r2; LC_NO_REGISTER: `value` */
	uint8_t shr_to;      /* shr r,constant in 64 bits: r, by `value` */
	uint64_t value;
	uint8_t from_thread; /* register loaded from the JVM's thread data; or LC_NO_REGISTER */
	int32_t disp;
	int64_t target; /* of a direct branch, relative to the instruction's start; 0 for none */
};

/* Length of the instruction at bytes[0], or 0 where there is none within `len`. [signal] */
size_t lc_insn_length(const uint8_t *bytes, size_t len);

/*
 * Length as above; *target: where the instruction branches to directly, relative to its start; 0
 * for none. [signal]
 */
size_t lc_insn_step(const uint8_t *bytes, size_t len, int64_t *target);

/* The same for most instructions of compiled code: 0 where it is not known, too. [signal] */
size_t lc_insn_known_step(const uint8_t *bytes, size_t len, int64_t *target);

/*
 * Decode the instruction at bytes[0] in full. `native`: it is not the JVM's, so that r15 is a
 * register as others are, and nothing polls. Returns false where there is none. [signal]
 */
bool lc_insn_decode(const uint8_t *bytes, size_t len, bool native, struct lc_insn *out);

/* The same for those that are decoded without Zydis, and by Zydis alone. [signal] */
bool lc_insn_known_decode(const uint8_t *bytes, size_t len, bool native, struct lc_insn *out);
bool lc_insn_zydis_decode(const uint8_t *bytes, size_t len, bool native, struct lc_insn *out);

#endif
