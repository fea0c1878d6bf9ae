/* SPDX-License-Identifier: Apache-2.0 */
/* base/replace.c - writes to a temporary file beside the one that is meant, and renames it. */
#include "analyzer/base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"

static int open_directly(struct lc_replace *r, const char *name)
{
	r->out = fopen(name, "we");
	return r->out ? 0 : -errno;
}

/* With the permissions of the file that it replaces, or those that a new one has. */
static int open_beside(struct lc_replace *r, const struct stat *old)
{
	const mode_t mask = umask(0);
	int fd, err;

	umask(mask);
	fd = mkostemp(r->temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!fchmod(fd, old ? old->st_mode & 0777 : 0666 & ~mask))
		r->out = fdopen(fd, "w");
	if (r->out)
		return 0;
	err = -errno;
	close(fd);
	unlink(r->temporary);
	return err;
}

int lc_replace_begin(struct lc_replace *r, const char *name)
{
	struct stat st;
	const bool old = !lstat(name, &st);
	int err;

	memset(r, 0, sizeof(*r));
	if (!strncmp(name, "/dev/", 5) || !strncmp(name, "/proc/", 6))
		return open_directly(r, name);
	if (old && S_ISLNK(st.st_mode))
		return -ELOOP;
	if (old && !S_ISREG(st.st_mode))
		return open_directly(r, name);
	r->name = lc_mem_text("%s", name);
	r->temporary = lc_mem_text("%s.XXXXXX", name);
	err = open_beside(r, old ? &st : NULL);
	if (err) {
		free(r->name);
		free(r->temporary);
	}
	return err;
}

int lc_replace_end(struct lc_replace *r)
{
	int err = 0;

	errno = 0;
	if (fflush(r->out) || ferror(r->out))
		err = errno ? -errno : -EIO;
	if (fclose(r->out) && !err)
		err = errno ? -errno : -EIO;
	if (r->temporary) {
		if (!err && rename(r->temporary, r->name))
			err = -errno;
		if (err)
			unlink(r->temporary);
	}
	free(r->name);
	free(r->temporary);
	return err;
}

int lc_replace_whole(const char *name, void (*put)(FILE *out, const void *of), const void *of)
{
	struct lc_replace file;
	int err = lc_replace_begin(&file, name);

	if (!err) {
		put(file.out, of);
		err = lc_replace_end(&file);
	}
	return err ? lc_fail("cannot write '%s': %s", name, strerror(-err)) : 0;
}
