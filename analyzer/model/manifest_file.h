/* SPDX-License-Identifier: Apache-2.0 */
/* model/manifest_file.h - reads the manifest of a profile, whoever wrote it. */
#ifndef LC_MODEL_MANIFEST_FILE_H
#define LC_MODEL_MANIFEST_FILE_H

#include <jansson.h>

/*
 * The manifest in the directory `path`; free it with json_decref(). Returns NULL where there is
 * none that can be read; *why, malloc, then says why, and is "" else. It may hold bytes of the
 * file.
 */
json_t *lc_manifest_load(const char *path, char **why);

#endif
