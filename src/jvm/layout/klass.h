/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/klass.h - knows classes of HotSpot by the word in an object's header: names, sizes,
 * and whether what lies at an address is an object at all.
 *
 * Everything is read through the kernel, so a wrong address never faults, and what is read is
 * believed only if it hangs together: the header's class word leads to a Klass whose mirror leads
 * back to it. Offsets come from the JVM's exported type database (vmstructs.h), by name.
 * Covers compressed and uncompressed class pointers, and compact headers (JDK 24 and newer).
 *
 * A class is named when its first object is seen, since it cannot be unloaded while an object of it
 * is in use. The number that stands for it here is a Klass * with, in the upper 16 bits, how many
 * other classes were seen at the same address before: it stays true after the class is gone.
 */
#ifndef LC_JVM_LAYOUT_KLASS_H
#define LC_JVM_LAYOUT_KLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/record.h"

/* An object as it was seen: its bounds are proved by its own header. */
struct lc_object_seen {
	uint64_t start;
	uint64_t klass; /* as at the top */
	uint64_t size_bytes;
	bool is_array;
};

/*
 * Make ready for this JVM. Returns 0; -ENOTSUP or -ENOMEM: then nothing is ever found.
 * Context: [attach]; lc_layout_find() and lc_areas_init() first.
 */
int lc_klass_init(void);

/*
 * Is there an object at `start`, and does it hold `addr`? Returns true and sets *out.
 * Context: [signal] or any, on a thread that runs Java code, so that no collection moves objects.
 */
bool lc_klass_object(uint64_t start, uint64_t addr, struct lc_object_seen *out);

/*
 * The first of `starts` that is an object and holds `addr`, at most LC_KLASS_STARTS_MAX of them:
 * their headers cost one system call together. Returns false where none does. Context: as above.
 */
enum { LC_KLASS_STARTS_MAX = 24 };
bool lc_klass_first_object(const uint64_t *starts, size_t len, uint64_t addr,
                           struct lc_object_seen *out);

/*
 * The object that is just being made at `start`: `word` is about to be stored where its class
 * stands. An array's size is that of its header. Returns false where the word names no class, or
 * `addr` is outside. Context: as above.
 */
bool lc_klass_new_object(uint64_t start, uint64_t word, uint64_t addr, struct lc_object_seen *out);

/*
 * The piece of the heap in which the thread whose JavaThread is at `thread` allocates: objects lie
 * in [low, top), one after the other; none in [top, end). Returns false where that cannot be read.
 * Context: as above.
 */
struct lc_klass_buffer {
	uint64_t low, top, end;
};
bool lc_klass_thread_buffer(uint64_t thread, struct lc_klass_buffer *out);

/* Is `address` in the heap? Context: any. */
bool lc_klass_in_heap(uint64_t address);

/* Could an object start there: is it aligned as well? Context: any. */
bool lc_klass_may_start(uint64_t address);

/* Offset of the first element of an array: of less than 8 bytes (0), of 8 (1). Context: any. */
uint32_t lc_klass_array_base(unsigned which);

/* Offset of the word that holds the class in an object, and of what is behind it. Context: any. */
uint32_t lc_klass_word_offset(void);
uint32_t lc_klass_word_end(void);

/* A compressed reference as an address; where references are not compressed, 0. Context: any. */
uint64_t lc_klass_decode_reference(uint32_t narrow);

/* The Klass * of a header's class word (as header.h reads it), or 0. Context: any. */
uint64_t lc_klass_of_word(uint64_t class_word);

/* The Klass * alone. */
static inline uint64_t lc_klass_address(uint64_t klass)
{
	return klass & LC_ADDR_MASK;
}

/*
 * Name of a class that was seen, as the JVM's signature ("[J", "Ljava/lang/String;"), valid for
 * ever; NULL where `klass` is none. Context: [writer].
 */
const char *lc_klass_signature(uint64_t klass);

/*
 * The site that stands for the class: its path is 0 (core/path.h); 0 where there is none. [writer]
 */
uint32_t lc_klass_site(uint64_t klass);

/* The site of its objects that were allocated at `path`; 0 where there is none. [writer] */
uint32_t lc_klass_site_at(uint64_t klass, uint32_t path);

#endif
