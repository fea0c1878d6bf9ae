/* SPDX-License-Identifier: Apache-2.0 */
/* model/manifest_file.c - reads the manifest of a profile, whoever wrote it. */
#include "analyzer/model/manifest_file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyzer/base/file.h"
#include "analyzer/base/memory.h"
#include "src/format/block.h"

/* Read the mark that a full disk leaves, since the manifest had no room. */
static void add_disk_full(json_t *m, const char *path)
{
	char *mark = lc_mem_text("%s/" LC_DISK_FULL_NAME, path);
	const json_t *rows = json_object_get(m, "processes");
	const bool full = !access(mark, F_OK);

	for (size_t i = 0; full && i < json_array_size(rows); i++)
		json_object_set_new(json_array_get(rows, i), "disk_full", json_true());
	free(mark);
}

json_t *lc_manifest_load(const char *path, char **why)
{
	char *file = lc_mem_text("%s/" LC_MANIFEST_NAME, path);
	json_error_t error = { .text = "" };
	int fd = lc_file_open(AT_FDCWD, file);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r"); /* json_loadfd() reads a byte at a time */
	json_t *m = NULL;

	free(file);
	if (fd >= 0 && !in)
		lc_no_memory();
	if (fd < 0) {
		*why = lc_mem_text("%s", lc_file_error(fd));
		return NULL;
	}
	m = json_loadf(in, JSON_ALLOW_NUL, &error);
	fclose(in);
	add_disk_full(m, path);
	*why = lc_mem_text("%s", m ? "" : error.text);
	return m;
}
