/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/ranges.h - tells where in memory the JVM has reserved the Java heap, generated code
 * and data of its own.
 *
 * The JVM reserves them before VMInit and keeps them until it ends.
 */
#ifndef LC_JVM_LAYOUT_RANGES_H
#define LC_JVM_LAYOUT_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/* [low, high); both are 0 where the JVM does not tell. */
struct lc_range {
	uint64_t low, high;
};

/* Owners of addresses. */
enum lc_range_owner {
	LC_RANGE_NOBODY, /* no range of the JVM holds it */
	LC_RANGE_HEAP,
	LC_RANGE_JVM, /* generated code, classes, card marks */
};

/*
 * Find the ranges. Returns 0, or -ENOENT if the heap's range is not exported; the others are known.
 * Context: [attach], after VMInit; lc_layout_find() and lc_collector_init() first.
 */
int lc_ranges_init(void);

/* The address range that is reserved for the Java heap. Context: any, after init. */
struct lc_range lc_ranges_heap(void);

/*
 * The range of objects' addresses: lc_ranges_heap(), or with ZGC, which exports no such range, all
 * the views that map its heap. Context: any, after init.
 */
struct lc_range lc_ranges_objects(void);

/*
 * With ZGC of JDK 17 an object has several addresses, one in each view of the heap. The plain one
 * stands for all of them, and can be read at any time. Other addresses, and those of other
 * collectors, are plain. If lc_ranges_views_known() is false, this JVM does not tell the views.
 * Context: any, after init.
 */
uint64_t lc_ranges_plain(uint64_t addr);
bool lc_ranges_views_known(void);

/*
 * The plain address in a reference of the JVM's own structures; 0: it is none. With ZGC the
 * reference has a colour, and may be the address before the object moved. Context: any, after init.
 */
uint64_t lc_ranges_of_stored(uint64_t reference);

/*
 * May the address in such a reference be the one of before the object moved? ZGC renews a reference
 * when it is loaded or when the next cycle marks, and its colour says whether that is due.
 * Context: any, after init.
 */
bool lc_ranges_may_be_old(uint64_t reference);

/* The owner of `addr`: Java code touches memory of the JVM, too. Context: any, after init. */
enum lc_range_owner lc_ranges_owner(uint64_t addr);

/* The code cache, as the JVM exports it just now. Context: [attach]; lc_vm_init() first. */
struct lc_range lc_ranges_code(void);

/* The mappings of libjvm. Context: [attach]; lc_vm_init() first. */
struct lc_range lc_ranges_library(void);

/*
 * The card table of collectors that have one: compiled code marks the byte at
 * base + (address >> shift) when it stores a reference. Context: [attach], after
 * lc_collector_init().
 */
struct lc_card_table {
	uint64_t base; /* 0: there is none, or the JVM does not tell */
	unsigned shift;
};
struct lc_card_table lc_ranges_card_table(void);

/* The bytes of that table; both 0: as above. Context: any, after init. */
struct lc_range lc_ranges_cards(void);

/*
 * The first address that compressed class pointers reach (0: the JVM does not tell), and how much
 * is reserved for classes behind the archive. Context: [attach], after init.
 */
void lc_ranges_class_space(uint64_t *base, uint64_t *bytes);

/* Does the JVM count its own memory (-XX:NativeMemoryTracking)? Context: [attach]. */
bool lc_ranges_counts(void);

#endif
