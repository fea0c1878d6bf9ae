/* uses: analyzer/diff/diff_condition.c analyzer/base/memory.c src/base/nearest.c -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_condition.c - parses any text as --fail-on: an accepted one has a finite limit and a pattern
 * that stands in it, any other a line that says why.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/diff/diff_condition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lc_diff_condition c = { .pattern = NULL };
	char text[512], error[128] = "";
	int err;

	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	err = lc_diff_condition_parse(text, &c, error, sizeof(error));
	if (err) {
		if (err != -EINVAL || !error[0] || strchr(error, '\n') || c.pattern)
			abort();
		return 0;
	}
	if (error[0] || !isfinite(c.limit) || c.limit < 0 || c.metric >= LC_DIFF_METRICS)
		abort();
	if (c.pattern && (!c.pattern[0] || !strstr(text, c.pattern)))
		abort();
	free(c.pattern);
	return 0;
}
