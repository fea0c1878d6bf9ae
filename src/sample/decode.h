/* sample/decode.h - from a sampled program counter to the address that the access touched. */
#ifndef LC_SAMPLE_DECODE_H
#define LC_SAMPLE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LC_REGISTERS = 16 }; /* rax rcx rdx rbx rsp rbp rsi rdi r8..r15, as x86 encodes them */
#define LC_NO_REGISTER 0xff

/* Registers at a program counter. */
struct lc_registers {
	uint64_t pc;
	uint64_t r[LC_REGISTERS];
};

/*
 * What a sampled program counter means, by its code bytes alone: which instruction touched
 * memory last, and what became of its operand's registers until the sample.
 */
struct lc_recipe {
	uint64_t pc;    /* of the memory instruction */
	int32_t disp;   /* with it base + index * scale + disp is the address, at the sample */
	uint8_t base;   /* register number or LC_NO_REGISTER */
	uint8_t index;  /* likewise; LC_NO_REGISTER also for a vector of indexes */
	uint8_t scale;  /* 1, 2, 4, 8 */
	uint8_t access; /* LC_ACCESS_* of core/record.h */
	uint8_t how;    /* LC_HOW_DIRECT, _NEARBY; _NO_OPERAND and _UNDECODED hold nothing else */
	bool base_lost; /* overwritten between the access and the sample, its value included */
	bool index_lost;
	bool vector;     /* gather or scatter: base + disp is as near as it gets */
	bool ahead;      /* the instruction comes at or after the sample: it has not run */
	bool same_frame; /* the stack pointer is the same at `pc` and at the sample */
	uint8_t made;    /* enum lc_made: the store begins the header of a new object */
	uint64_t made_value;
};

/*
 * Of the store that begins an object's header: the word with the class, which the code stores there
 * too, perhaps only after the sample.
 */
enum lc_made {
	LC_MADE_NOTHING = 0,
	LC_MADE_VALUE,    /* made_value is the word */
	LC_MADE_REGISTER, /* it is calculated from a register, at the sample and at `pc`: see below */
};

/* With LC_MADE_REGISTER, by the registers at the sample, or at `pc`. */
static inline uint64_t lc_made_word(const struct lc_registers *regs, uint64_t made_value)
{
	return (regs->r[made_value >> 48 & 0xf] - (made_value & ((UINT64_C(1) << 48) - 1))) >>
	       (made_value >> 52 & 0x3f);
}

enum { LC_DECODE_INSTRUCTIONS_MAX = 4096 };

/*
 * Build the recipe for bytes[pc_at]; bytes[from] is a known instruction boundary, from <= pc_at.
 * `address` is that of bytes[0]. Reads nothing outside bytes[0, len).
 * Context: any, signal handlers included. Decodes LC_DECODE_INSTRUCTIONS_MAX at most.
 */
void lc_decode_straight(const uint8_t *bytes, size_t len, uint64_t address, size_t from,
                        size_t pc_at, struct lc_recipe *out);

/*
 * The heap's address range, for judging whether a register holds an object; empty at first, when
 * no register does. The engine sets it from what the JVM exports. Context: [attach].
 */
void lc_decode_heap_range(uint64_t low, uint64_t high);

/* Offset in an object of the word with the class; 8 until it is set. Context: [attach]. */
void lc_decode_class_offset(uint32_t offset);

/* An access as a sample holds it. */
struct lc_access {
	struct lc_recipe recipe;
	uint64_t life;  /* of the code, see lc_code_find() */
	uint64_t addr;  /* 0 where `how` says unknown */
	uint64_t base;  /* value of the base register, 0 where it has none or it is lost */
	uint8_t how;    /* enum lc_how; LC_HOW_DESTROYED: a breakpoint may still find it */
	uint8_t kind;   /* enum lc_code_kind; 0: in no code that is known */
	uint8_t access; /* LC_ACCESS_* of core/record.h; 0 where no instruction was found */
};

/*
 * Decode around regs->pc, which the calling thread was about to run. Recipes are cached.
 * Context: [signal].
 */
void lc_decode_sample(const struct lc_registers *regs, struct lc_access *out);

/*
 * Address of the recipe's operand when the instruction at recipe->pc is about to run. Returns
 * false where the code is no longer that of `life`, or it is not at that instruction.
 * Context: [signal].
 */
bool lc_decode_before(const struct lc_registers *regs, const struct lc_recipe *recipe,
                      uint64_t life, uint64_t *addr, uint64_t *base);

/* Reserve the recipe cache. Returns 0 or -ENOMEM. Context: [attach]. */
int lc_decode_init(void);

#endif
