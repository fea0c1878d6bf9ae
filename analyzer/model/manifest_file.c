/* model/manifest_file.c - reads the manifest of a profile, whoever wrote it. */
#include "analyzer/model/manifest_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyzer/base/file.h"
#include "analyzer/base/memory.h"
#include "src/format/block.h"

json_t *lc_manifest_load(const char *path, char **why)
{
	char *file = lc_mem_text("%s/" LC_MANIFEST_NAME, path);
	json_error_t error = { .text = "" };
	int fd = lc_file_open(AT_FDCWD, file);
	json_t *m = NULL;

	free(file);
	if (fd < 0) {
		*why = lc_mem_text("%s", lc_file_error(fd));
		return NULL;
	}
	m = json_loadfd(fd, JSON_ALLOW_NUL, &error);
	close(fd);
	*why = lc_mem_text("%s", m ? "" : error.text);
	return m;
}
