/* uses: src/offheap/nmt.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_nmt.c - reads arbitrary text as the JVM's counts of its own memory. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/offheap/nmt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const size_t cap = len ? data[0] % (LC_NMT_ROWS + 1) : 0;
	struct lc_nmt_row *rows = calloc(cap + 1, sizeof(*rows));
	char *text = malloc(len + 1);
	size_t found;

	if (!rows || !text)
		abort();
	memcpy(text, data, len);
	text[len] = '\0';
	found = lc_nmt_parse(text, rows, cap);
	if (found > cap)
		abort();
	for (size_t i = 0; i < found; i++)
		if (rows[i].committed_bytes > rows[i].reserved_bytes ||
		    memchr(rows[i].name, '\0', sizeof(rows[i].name)) == NULL ||
		    (i && rows[i].malloc_bytes > rows[i].committed_bytes))
			abort();
	free(text);
	free(rows);
	return 0;
}
