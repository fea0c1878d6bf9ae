/*
 * classfile/edit.h - a class file whose methods' code changes, and what of it stays.
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
#include "src/classfile/method_code.h"
#include "src/classfile/pool.h"
#include "src/classfile/reader.h"

struct lc_edit {
	struct lc_class cls;
	struct lc_pool pool;
	struct lc_bytes out; /* what follows the constant pool */
	size_t copied;       /* the class is in `out` up to this offset */
	/* Scratch for one method's code, scratch_len positions. */
	uint8_t *flags;
	uint32_t *moved;
	size_t scratch_len;
};

/* Parse `in`, which must outlive *e. Whatever it returns, *e is to be closed. */
enum lc_rewrite_status lc_edit_open(struct lc_edit *e, const uint8_t *in, size_t len);
void lc_edit_close(struct lc_edit *e);

/*
 * Call `visit` for each method that has code, until it does not return LC_REWRITE_DONE. Returns
 * what it returned last, or LC_REWRITE_MALFORMED.
 */
enum lc_rewrite_status lc_edit_methods(struct lc_edit *e,
                                       enum lc_rewrite_status (*visit)(void *user,
                                                                       const struct lc_member *,
                                                                       const struct lc_attribute *),
                                       void *user);

/* Read the code of the attribute and lend it the scratch, all 0; valid until the next one. */
enum lc_rewrite_status lc_edit_read(struct lc_edit *e, const struct lc_attribute *a,
                                    struct lc_method_code *code);

/* Put the laid out code in the place of the attribute's. Methods come in the class's order. */
enum lc_rewrite_status lc_edit_put(struct lc_edit *e, const struct lc_attribute *a,
                                   const struct lc_method_code *code,
                                   const struct lc_insert *inserts, size_t len, uint32_t max_stack);

/* The class file, malloc'ed; owner: the caller. LC_REWRITE_DONE or LC_REWRITE_NO_MEMORY. */
enum lc_rewrite_status lc_edit_join(const struct lc_edit *e, uint8_t **bytes, size_t *len);

#endif
