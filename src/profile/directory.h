/* SPDX-License-Identifier: Apache-2.0 */
/* profile/directory.h - makes, opens and removes the directories of profiles. */
#ifndef LC_PROFILE_DIRECTORY_H
#define LC_PROFILE_DIRECTORY_H

#include <stddef.h>
#include <sys/stat.h>

/*
 * Make directory `path` where there is none, for its owner alone, with its parents, and open it.
 * Returns a descriptor; or -errno: -ELOOP when it is a link, -EPERM when it is another user's.
 * Context: [attach].
 */
int lc_directory_make(const char *path);

/*
 * Make directory `name` in directory `parent`, and open it: *st tells which one it is. Returns a
 * descriptor; or -errno: -EEXIST when there is something of that name. Context: [attach] [writer].
 */
int lc_directory_make_in(int parent, const char *name, struct stat *st);

/* 1 when the directory holds files of a profile, or profiles of a loop (loop.h), 0 when not, or
 * -errno. Context: as above. */
int lc_directory_holds_profile(int fd);

/*
 * Remove the profile `name` in directory `parent` that *made says, and nothing that is not of a
 * profile. Returns 0 or -errno: -ESTALE where the name is another directory's now. Context:
 * [writer].
 */
int lc_directory_remove(int parent, const char *name, const struct stat *made);

/* Why there is no profile in `dir`: one line without a newline. Context: any. */
void lc_directory_tell(const char *dir, int err, char *error, size_t error_len);

#endif
