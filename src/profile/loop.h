/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/loop.h - divides a recording into profiles, one after the other: directories 000001,
 * 000002 ... of one directory.
 *
 * Old ones are removed where only some are kept: those that the loop has made itself, and of their
 * files those of a profile.
 */
#ifndef LC_PROFILE_LOOP_H
#define LC_PROFILE_LOOP_H

#include <stddef.h>
#include <stdint.h>

struct lc_loop; /* opaque, see loop.c */
struct lc_profile;

enum { LC_LOOP_NAME_MAX = 16 };

/*
 * Make `dir`, as lc_profile_create() does. `keep`: profiles that stay, with the one that is
 * written; 0: all. Returns 0 and *out, or -errno after one line in `error`. Context: [attach].
 */
int lc_loop_create(const char *dir, uint32_t keep, struct lc_loop **out, char *error,
                   size_t error_len);

/* Begin the next profile. Returns 0 and *out; or -errno, and it may be tried again. [attach]
 * [writer] */
int lc_loop_next(struct lc_loop *l, struct lc_profile **out);

/* The directory, in `dir`, of the last profile that was begun. Context: as above. */
void lc_loop_name(const struct lc_loop *l, char out[LC_LOOP_NAME_MAX]);

/*
 * The profile before it is whole, and of that size: remove those that are not kept, and older ones
 * too until those that stay have less than `max_bytes`, of the one that is written none counting.
 * With `keep` 0 none is removed. Context: [writer].
 */
void lc_loop_closed(struct lc_loop *l, uint64_t bytes, uint64_t max_bytes);

/* Bytes of the profiles that are whole and still there. Context: [writer]. */
uint64_t lc_loop_bytes(const struct lc_loop *l);

void lc_loop_free(struct lc_loop *l); /* NULL is fine. Context: [attach] [writer] */

#endif
