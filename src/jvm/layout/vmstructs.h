/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/vmstructs.h - looks names up in HotSpot's exported type database (gHotSpotVMStructs),
 * read-only.
 */
#ifndef LC_JVM_LAYOUT_VMSTRUCTS_H
#define LC_JVM_LAYOUT_VMSTRUCTS_H

#include <stdint.h>

/*
 * Find the tables that libjvm exports for its serviceability agent. Call once, before the rest.
 * Returns 0, or -ENOENT when this JVM exports none (then the functions below return -ENOENT).
 * Context: [attach].
 */
int lc_vm_init(void);

/* Byte offset of a non-static field, or -ENOENT. Context: [attach]. Linear search. */
long lc_vm_offset(const char *type, const char *field);

/*
 * Bytes of a non-static integer field, by its type's name; 0 where that is no fixed one, or the
 * field is not exported. Context: [attach].
 */
int lc_vm_field_bytes(const char *type, const char *field);

/* Address of a static field, or NULL. Context: [attach]. */
void *lc_vm_static(const char *type, const char *field);

/* sizeof a type, or -ENOENT. Context: [attach]. */
long lc_vm_sizeof(const char *type);

/* Value of a named int or long constant; 0 and *out set, or -ENOENT. Context: [attach]. */
int lc_vm_constant(const char *name, int64_t *out);

/* Address of a product flag's value ("UseG1GC"), or NULL. Context: [attach]. Linear search. */
const void *lc_vm_flag(const char *name);

/*
 * Has the flag the value that the JVM is built with? 1 or 0; -ENOENT where that is not known.
 * Context: as above.
 */
int lc_vm_flag_is_default(const char *name);

/* Address range of libjvm's mappings. Returns 0 or -ENOENT. Context: [attach]. */
int lc_vm_library_range(uint64_t *low, uint64_t *high);

#endif
