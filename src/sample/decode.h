/* SPDX-License-Identifier: Apache-2.0 */
/* sample/decode.h - finds the address that an access touched, from the sampled program counter. */
#ifndef LC_SAMPLE_DECODE_H
#define LC_SAMPLE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/sample/step.h"

struct lc_code_cache_piece;

enum { LC_REGISTERS = 16 }; /* rax rcx rdx rbx rsp rbp rsi rdi r8..r15, as x86 encodes them */
#define LC_NO_REGISTER 0xff

/* The register's bit in a set of registers; 0 of LC_NO_REGISTER. Context: any. */
static inline uint16_t lc_decode_register_bit(uint8_t reg)
{
	return (uint16_t)(reg < LC_REGISTERS ? 1u << reg : 0u);
}

/* Registers at a program counter. */
struct lc_registers {
	uint64_t pc;
	uint64_t r[LC_REGISTERS];
};

/*
 * The result of decoding the code around a sampled program counter: the instruction that touched
 * memory last, and the changes to its operand's registers until the sample.
 */
struct lc_recipe {
	uint64_t pc; /* of the memory instruction */
	int32_t
	    disp; /* base + index * scale + disp is the address, by the registers at the sample */
	uint8_t base;   /* register number or LC_NO_REGISTER */
	uint8_t index;  /* register number or LC_NO_REGISTER, which a vector of indexes has too */
	uint8_t scale;  /* 1, 2, 4, 8 */
	uint8_t access; /* LC_ACCESS_* of core/record.h */
	uint8_t
	    how; /* LC_HOW_DIRECT or _NEARBY; with _NO_OPERAND and _UNDECODED nothing else is set */
	bool base_lost;    /* overwritten between the access and the sample, its value included */
	bool base_differs; /* it is lost only because it may hold something else if control came
	                      another way */
	bool index_lost;
	bool index_differs; /* it may hold something else if control came another way */
	bool vector;        /* gather or scatter: base + disp is the nearest known address */
	bool ahead;         /* the instruction comes at or after the sample: it has not run */
	bool moves;         /* rep movs: `base` is the source's, and rdi the destination's */
	uint8_t read_on;    /* lc_read_on() of a Java method's instruction at `pc` */
	int16_t loaded;  /* bytes from the load that lc_loaded_by() finds for it to `pc`; 0: none */
	bool same_frame; /* the stack pointer is the same at `pc` and at the sample */
	uint8_t made;    /* enum lc_made: the store begins the header of a new object */
	uint64_t made_value;
	struct lc_step step; /* sought when a pc is sampled for the third time */
};

/*
 * How to get the class word that the code stores to the header of a new object, perhaps only after
 * the sample.
 */
enum lc_made {
	LC_MADE_NOTHING = 0,
	LC_MADE_VALUE,    /* made_value is the word */
	LC_MADE_REGISTER, /* lc_decode_made_word() computes it from the registers at the sample, or
	                   * at `pc`
	                   */
};

/* The class word with LC_MADE_REGISTER, by the registers at the sample or at `pc`. */
static inline uint64_t lc_decode_made_word(const struct lc_registers *regs, uint64_t made_value)
{
	return (regs->r[made_value >> 48 & 0xf] - (made_value & ((UINT64_C(1) << 48) - 1))) >>
	       (made_value >> 52 & 0x3f);
}

enum { LC_DECODE_INSTRUCTIONS_MAX = 4096 };

/* Code to decode: bytes[0] lies at `address`. */
struct lc_code_bytes {
	const uint8_t *bytes;
	size_t len;
	uint64_t address;
	bool native; /* a C compiler's or an assembler's; else the JVM's, with its use of registers
	              */
	bool method; /* all of a Java method's, from the entry by which virtual calls come */
};

/*
 * Build the recipe for bytes[pc_at]; bytes[from] is a known instruction boundary, from <= pc_at.
 * Reads nothing outside bytes[0, len).
 * Context: any, signal handlers included. Decodes LC_DECODE_INSTRUCTIONS_MAX at most.
 */
void lc_decode_straight(const struct lc_code_bytes *code, size_t from, size_t pc_at,
                        struct lc_recipe *out);

/*
 * The same, where it is known that the memory instruction at bytes[not_run] has not run, which lies
 * before the pc: control came by a branch that leads past it. Context: as above.
 */
void lc_decode_straight_past(const struct lc_code_bytes *code, size_t from, size_t pc_at,
                             size_t not_run, struct lc_recipe *out);

/*
 * Set recipe->loaded, where recipe->pc is known to be the access: no way by which control came
 * there is left out. bytes[from] is an instruction boundary before it. Context: as above.
 */
void lc_decode_load(const struct lc_code_bytes *code, size_t from, struct lc_recipe *recipe);

/*
 * Set the heap's address range, by which a register is judged to hold an object. It is empty at
 * first: no register does. The engine takes it from the JVM's exports. Context: [attach].
 */
void lc_decode_heap_range(uint64_t low, uint64_t high);

/* An access as a sample holds it. */
struct lc_access {
	struct lc_recipe recipe;
	uint64_t life;       /* number of the code's life, see lc_code_cache_find() */
	uint64_t addr;       /* 0 where `how` says unknown */
	uint64_t base;       /* value of the base register, 0 where it has none or it is lost */
	uint64_t loaded;     /* where the reference to the object was loaded; 0: not known */
	int32_t loaded_disp; /* the constant part of that operand */
	uint32_t step;       /* bytes from one access of the loop to the next; 0: unknown */
	uint8_t how;         /* enum lc_how; LC_HOW_DESTROYED: a breakpoint may still find it */
	uint8_t kind;        /* enum lc_code_cache_kind; 0: in no code that is known */
	uint8_t access;      /* LC_ACCESS_* of core/record.h; 0 where no instruction was found */
	bool fenced; /* behind a fence, with no access to an object near it: it waited for the
	                stores before it */
	bool native; /* in code that is not the JVM's generated code, and `addr` in the heap, or
	                perhaps in a block outside of it */
};

/*
 * Find the access of a sample at regs->pc, which the calling thread was about to run. Recipes are
 * cached.
 * Context: [signal].
 */
void lc_decode_sample(const struct lc_registers *regs, struct lc_access *out);

/*
 * Find what the code around an access tells, where out->recipe.pc in `code` is known to be its
 * instruction: by which load the reference came, which field is read next, and the step. Cached,
 * too. `regs` are those of the thread just before or just behind the instruction; NULL: they are
 * not known, and neither is the step. `same_stack`: the frame is still on the stack.
 * Context: [signal].
 */
void lc_decode_known(const struct lc_code_cache_piece *code, const struct lc_registers *regs,
                     bool same_stack, struct lc_access *out);

/*
 * Compute the address of the recipe's operand when the instruction at recipe->pc is about to run.
 * Returns false if the code is no longer that of `life`, or regs->pc is another instruction.
 * Context: [signal].
 */
bool lc_decode_before(const struct lc_registers *regs, const struct lc_recipe *recipe,
                      uint64_t life, uint64_t *addr, uint64_t *base);

/* Reserve the recipe cache. Returns 0 or -ENOMEM. Context: [attach]. */
int lc_decode_init(void);

#endif
