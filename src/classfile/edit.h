/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/edit.h - replaces the code of methods in a class file and copies all the rest.
 *
 * Everything but the changed Code attributes is copied as it is. New constants are appended to the
 * pool, so that no index changes. Pure functions. Context: any but [signal].
 */
#ifndef LC_CLASSFILE_EDIT_H
#define LC_CLASSFILE_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/classfile/big_endian.h"
#include "src/classfile/class_file.h"
#include "src/classfile/method_code.h"
#include "src/classfile/pool.h"

/* A method handle of the pool that is to be another one. */
struct lc_handle_edit {
	uint32_t at; /* offset of the constant's tag */
	uint8_t kind;
	uint16_t ref;
};

enum { LC_HANDLE_EDITS = 8 };

struct lc_edit {
	struct lc_class cls;
	struct lc_pool pool;
	struct lc_bytes out; /* the new class file behind its constant pool */
	size_t copied;       /* the class is in `out` up to this offset */
	struct lc_handle_edit handles[LC_HANDLE_EDITS];
	unsigned handles_len;
	/* lc_edit_read() lends these to one method's code at a time: scratch_len positions. */
	uint8_t *flags;
	uint32_t *moved;
	size_t scratch_len;
};

/* Parse `in`, which must outlive *e. Close *e whatever this returns. */
enum lc_rewrite_status lc_edit_open(struct lc_edit *e, const uint8_t *in, size_t len);
void lc_edit_close(struct lc_edit *e);

/*
 * Call `visit` for each method that has code, until it does not return LC_REWRITE_DONE. Returns
 * the last status that `visit` returned, or LC_REWRITE_MALFORMED.
 */
enum lc_rewrite_status lc_edit_methods(struct lc_edit *e,
                                       enum lc_rewrite_status (*visit)(void *user,
                                                                       const struct lc_member *,
                                                                       const struct lc_attribute *),
                                       void *user);

/* Read the code of the attribute and lend it scratch memory, all 0, until the next call. */
enum lc_rewrite_status lc_edit_read(struct lc_edit *e, const struct lc_attribute *a,
                                    struct lc_method_code *code);

/*
 * Put the code, which is laid out, in the place of the attribute. Call in the order of the methods.
 */
enum lc_rewrite_status lc_edit_put(struct lc_edit *e, const struct lc_attribute *a,
                                   const struct lc_method_code *code,
                                   const struct lc_insert *inserts, size_t len, uint32_t max_stack);

/* Make the class file; it is malloc'ed, and the caller owns it. LC_REWRITE_DONE or _NO_MEMORY. */
enum lc_rewrite_status lc_edit_join(const struct lc_edit *e, uint8_t **bytes, size_t *len);

#endif
