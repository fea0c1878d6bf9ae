/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/code/blob.h - finds the code blob around an address of generated code, and what the JVM knows
 * of its frame.
 *
 * Each piece of generated code, be it a compiled method or a stub, is in a blob, whose header tells
 * how large its frame is. HotSpot on x86.
 */
#ifndef LC_JVM_CODE_BLOB_H
#define LC_JVM_CODE_BLOB_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Find the code heaps. Returns 0; -ENOENT when this JVM does not export them: then no blob is
 * found. Context: [attach]; lc_layout_find() first.
 */
int lc_blob_init(void);

/* Find no blob from now on. Context: [attach]. */
void lc_blob_forget(void);

/* Are there code heaps? Context: any. */
bool lc_blob_known(void);

enum { LC_BLOB_NONE = 0, LC_BLOB_FREE = 1 };

/*
 * The address of the blob around `pc`. LC_BLOB_NONE where that is no generated code but the JVM's
 * own, LC_BLOB_FREE where no blob is. Context: any.
 */
uint64_t lc_blob_at(uint64_t pc);

/*
 * Is the blob, which lc_blob_at() returned, in use? The map of a code heap may still show one that
 * is not. Context: any.
 */
bool lc_blob_used(uint64_t blob);

/*
 * From now on lc_blob_freed() tells. `stub` is an address of code that no method was compiled to: a
 * code heap of its own, which the JIT takes room from for each compilation and gives it back, is
 * not looked at. Returns whether it can be told. Context: [attach].
 */
bool lc_blob_watch_freed(uint64_t stub);

/*
 * Has code of compiled methods been freed since the last call, or since lc_blob_watch_freed()? Also
 * true where only room that had been freed before was taken again, and where the one code heap
 * there is has that of stubs as well. Context: one thread at a time.
 */
bool lc_blob_freed(void);

/* Words of a frame of the blob, which lc_blob_at() returned. Context: any. */
int lc_blob_frame_words(uint64_t blob);

enum lc_blob_kind {
	LC_BLOB_OTHER,   /* stubs of all kinds, the interpreter */
	LC_BLOB_METHOD,  /* compiled, native wrappers included */
	LC_BLOB_ADAPTER, /* between compiled code and the interpreter */
};

/* A blob as its header describes it. */
struct lc_blob {
	uint64_t at;
	uint64_t code, end; /* its instructions are somewhere in [code, end), from `code` on */
	uint64_t whole;     /* from here on a method's frame is whole; 0: never */
	enum lc_blob_kind kind;
	int frame_words; /* 0 or less where it has no frame of one size */
};

/*
 * Describe the blob around `pc`. Returns false where there is none, or its header makes no sense.
 * A blob that is freed meanwhile may be described wrongly. Context: any.
 */
bool lc_blob_find(uint64_t pc, struct lc_blob *out);

/*
 * Does the blob take compiled frames apart and put interpreted ones in their place? While a thread
 * is in it, its frames are not what they seem. Context: any.
 */
bool lc_blob_unpacks(const struct lc_blob *blob);

/*
 * Is `pc` where a frame of the method returns to that was deoptimized while it waited? Context:
 * any.
 */
bool lc_blob_is_deopt(const struct lc_blob *blob, uint64_t pc);

/*
 * The return address that a deoptimized frame replaced: `sp` is its stack pointer. Returns `pc` if
 * it cannot be found, and for any other frame. Context: any, on the stack's thread.
 */
uint64_t lc_blob_original_pc(const struct lc_blob *blob, uint64_t pc, uint64_t sp);

/* The address of that return address; 0 for any other frame. Context: any. */
uint64_t lc_blob_original_pc_at(const struct lc_blob *blob, uint64_t pc, uint64_t sp);

/*
 * The JVM marks frames of its runtime stubs as never complete, and does not walk from them. Mark
 * the frame of the stub around `pc`, which has called the JVM, as complete. Returns whether it is
 * marked. Context: [signal].
 */
bool lc_blob_make_whole(uint64_t pc);

#endif
