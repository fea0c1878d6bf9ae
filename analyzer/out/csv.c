/* SPDX-License-Identifier: Apache-2.0 */
/* out/csv.c - quotes text for tables of spreadsheets. */
#include "analyzer/out/csv.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/out/emit.h"

void lc_csv_text(FILE *out, struct lc_text text)
{
	char *plain = NULL;
	size_t len;
	FILE *memory = lc_text_open(&plain, &len);

	lc_emit_text(memory, text);
	lc_mem_close_text(memory);
	putc('"', out);
	if (len && strchr("=+-@", plain[0]))
		putc('\'', out);
	for (size_t i = 0; i < len; i++) {
		if (plain[i] == '"')
			putc('"', out);
		putc(plain[i], out);
	}
	putc('"', out);
	free(plain);
}

void lc_csv_string(FILE *out, const char *text)
{
	lc_csv_text(out, (struct lc_text){ text, (uint32_t)strlen(text) });
}
