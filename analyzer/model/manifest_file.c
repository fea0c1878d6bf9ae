/* model/manifest_file.c - reads the manifest of a profile, whoever wrote it. */
#include "analyzer/model/manifest_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/base/file.h"
#include "analyzer/base/memory.h"
#include "src/format/block.h"

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
	*why = lc_mem_text("%s", m ? "" : error.text);
	return m;
}
