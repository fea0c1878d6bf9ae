/*
 * heap/context.h - one thread's memory of the contexts that it allocated in.
 *
 * Walking the stack costs hundreds of times what an allocation hook may cost, and a program
 * allocates mostly in contexts it has been in before. A context is recognised by where the stack
 * pointer is, which bytecode allocated, and the return addresses on the stack: the first walk learns
 * at which words above the stack pointer they lie, later hooks only compare those words. Equal
 * return addresses mean equal call sites, inlined ones included. Of an interpreted frame, whose
 * return address says nothing, the words that hold its method and bytecode pointer are compared.
 */
#ifndef LC_HEAP_CONTEXT_H
#define LC_HEAP_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exact counts of one site in one thread. */
struct lc_site_counter {
	_Atomic uint64_t allocations; /* written by: owner thread */
	_Atomic uint64_t bytes;       /* written by: owner thread */
	uint64_t taken_allocations;   /* attribution thread only: already written to the profile */
	uint64_t taken_bytes;
	uint32_t site;
};

/*
 * Words compared: the return addresses of the nearest compiled frames, or half as many interpreted
 * frames. Callers further out are told apart by the depth of the stack alone (docs/ENGINES.md).
 */
enum { LC_CONTEXT_WORDS = 20 };

struct lc_context {
	uint64_t stack_pointer; /* 0: entry is empty */
	uint32_t bytecode_site;
	uint32_t class_key;
	uint16_t words_len;
	uint16_t relearned;  /* times its words were replaced */
	uint32_t generation; /* of the generated code, when the words were learnt */
	uint32_t site;       /* 0: allocations in this context are not recorded */
	struct lc_site_counter *counter;
	uint64_t value[LC_CONTEXT_WORDS];
	uint16_t offset[LC_CONTEXT_WORDS]; /* in words above stack_pointer */
};

struct lc_contexts; /* opaque */

/*
 * Address ranges of generated code, and of the interpreter in it; and how far call paths reach.
 * Call once, before the first lc_contexts_create(). Context: [attach].
 */
void lc_contexts_init(uint64_t code_low, uint64_t code_high, uint64_t interpreter_low,
                      uint64_t interpreter_high);

/*
 * Code was freed: other code may come to lie where its return addresses led. All contexts are
 * learnt anew, each with the next allocation in it. Context: any.
 */
void lc_contexts_code_freed(void);

/* The ranges of lc_contexts_init(). Context: any after it. */
void lc_contexts_code(uint64_t *code_low, uint64_t *code_high, uint64_t *interpreter_low,
                      uint64_t *interpreter_high);

/* Changes when code is freed, for who keeps words of stacks itself. Context: any. */
const _Atomic uint32_t *lc_contexts_generation(void);

/*
 * The words above `stack_pointer` that tell where its thread is, of the nearest `frames_max` frames:
 * their values, and their offsets from it in words. Returns how many. Context: [hook], own stack.
 */
unsigned lc_contexts_scan(uint64_t stack_pointer, uint64_t stack_end, unsigned frames_max,
                          unsigned words_max, uint64_t *value, uint16_t *offset);

/* Context: [attach] [java]. Returns 0 or -ENOMEM. */
int lc_contexts_create(struct lc_contexts **out);
void lc_contexts_destroy(struct lc_contexts *c);

/*
 * The known context of this hook, or NULL. `stack_pointer` is the hook's own frame address.
 * Context: [hook], owner thread.
 */
struct lc_context *lc_contexts_find(struct lc_contexts *c, uint64_t stack_pointer,
                                    uint32_t bytecode_site, uint32_t class_key);

/*
 * Remember that this context allocates at `site` (0: do not record). `stack_end` is the end of the
 * thread's stack. Returns the entry, or NULL without memory. Context: [hook], owner thread; slow.
 */
struct lc_context *lc_contexts_learn(struct lc_contexts *c, uint64_t stack_pointer,
                                     uint64_t stack_end, uint32_t bytecode_site, uint32_t class_key,
                                     uint32_t site);

/* The counter of a site, made when it is new; NULL without memory. Context: [hook], owner. */
struct lc_site_counter *lc_contexts_counter(struct lc_contexts *c, uint32_t site);

/* Walk the counters: number `i`, or NULL behind the last. Context: [writer]. */
struct lc_site_counter *lc_contexts_counter_at(struct lc_contexts *c, uint32_t i);

/* Scratch of at least `bytes` for a stack walk; owner: `c`. NULL without memory. [hook] */
void *lc_contexts_scratch(struct lc_contexts *c, size_t bytes);

/* End (highest address) of the calling thread's stack; asked of the system once. [hook], owner. */
uint64_t lc_contexts_stack_end(struct lc_contexts *c);

/* The last record that a later hook may report again, see hook.c. Owner thread only. */
struct lc_last_record {
	uint64_t tagged_addr;
	uint64_t position; /* of the thread's allocation log, behind the record */
	uint32_t size_words;
};
struct lc_last_record *lc_contexts_last(struct lc_contexts *c);

/* Contexts learnt: stack walks made for them. Context: [writer]. */
uint64_t lc_contexts_walks(const struct lc_contexts *c);

#endif
