/* uses: analyzer/out/source.c analyzer/base/progress.c analyzer/base/plain.c analyzer/base/file.c analyzer/base/memory.c analyzer/base/table.c -lzip -lzstd */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_source.c - gives arbitrary bytes to the reader of source archives, and arbitrary names to
 * look for.
 *
 * The first two bytes are the lengths of a class's and a file's name, which follow; the rest is the
 * archive.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/out/source.h"
#include "src/format/block.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* In place of analyzer/base/fail.c: nearly each input costs a line. */
int lc_fail(const char *format, ...)
{
	return 1;
}

/* The archive has no name but this one; only its reader sees what stands in it. */
static char path[64];
static int archive = -1;

static void make_archive(void)
{
	archive = memfd_create("fuzz_source", 0);
	if (archive < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", archive);
}

static void look(struct lc_source *s, const char *class_name, size_t class_len, const char *file,
                 size_t file_len)
{
	for (uint32_t line = 0; line < 4; line++) {
		struct lc_text t =
		    lc_source_line(s, (struct lc_text){ class_name, (uint32_t)class_len },
		                   (struct lc_text){ file, (uint32_t)file_len },
		                   line ? UINT32_MAX >> (line - 1) * 15 : 1);

		/* Whole lines without their ends; each byte is read. */
		if (t.len && memchr(t.bytes, '\n', t.len))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	size_t class_len, file_len;
	const char *names;
	struct lc_source *s;

	if (archive < 0)
		make_archive();
	if (len < 2)
		return 0;
	class_len = data[0];
	file_len = data[1];
	names = (const char *)data + 2;
	if (len < 2 + class_len + file_len)
		return 0;
	data += 2 + class_len + file_len;
	len -= 2 + class_len + file_len;
	if (ftruncate(archive, 0) || pwrite(archive, data, len, 0) != (ssize_t)len)
		abort();
	s = lc_source_open(path);
	look(s, names, class_len, names + class_len, file_len);
	look(s, "a.B", 3, "B.java", 6);
	look(s, "B", 1, "B.java", 6);
	(void)lc_source_unreadable(s);
	lc_source_close(s);
	return 0;
}
