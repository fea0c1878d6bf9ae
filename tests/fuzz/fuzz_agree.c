/* uses: analyzer/agree/agree_counts.c analyzer/agree/agree_jfr.c analyzer/base/table.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/progress.c analyzer/base/plain.c analyzer/base/arena.c -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_agree.c - reads any text as what each profiler writes: no more samples have a method than
 * there are, names have no slash, and the methods are read as they were written.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/agree/agree_counts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const struct lc_agree_counts *c)
{
	struct lc_agree_counts again;
	char *text = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&text, &len);

	lc_agree_write_methods(file, c);
	fclose(file);
	file = fmemopen(text, len, "r");
	lc_agree_counts_init(&again);
	if (lc_agree_read_methods(&again, file) || again.samples != c->samples ||
	    again.java != c->java || again.texts_len != c->texts_len)
		abort();
	lc_agree_counts_free(&again);
	fclose(file);
	free(text);
}

static void check(const struct lc_agree_counts *c)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->texts_len; i++) {
		sum += *lc_table_values(&c->names, (uint32_t)i);
		if (!*c->texts[i] || strchr(c->texts[i], '/') || strchr(c->texts[i], '\n'))
			abort();
	}
	if (sum != c->java || c->java > c->samples)
		abort();
	check_again(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (unsigned reader = 0; reader < 4 && size; reader++) {
		FILE *in = fmemopen((void *)(uintptr_t)data, size, "r");
		struct lc_agree_counts c;
		int err;

		lc_agree_counts_init(&c);
		if (reader < 2)
			err = lc_agree_read_collapsed(&c, in, (int)reader);
		else if (reader == 2)
			err = lc_agree_read_perf(&c, in);
		else
			err = lc_agree_read_jfr(&c, in);
		if (!err)
			check(&c);
		lc_agree_counts_free(&c);
		fclose(in);
	}
	return 0;
}
