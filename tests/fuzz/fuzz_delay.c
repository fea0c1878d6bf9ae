/* uses: src/classfile/ src/base/track.c src/delay/delay_depth.c src/delay/delay_options.c src/delay/delay_rewrite.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_delay.c - delays all methods of any bytes as a class file: the result must parse, and can be
 * delayed once more and hooked; and takes any text for the agent's options.
 *
 * The first byte says which of the two.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/classfile/class_file.h"
#include "src/classfile/span_rewrite.h"
#include "src/delay/delay_options.h"
#include "src/delay/delay_rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OPTIONS = 2, MAJOR_AT = 6 /* two bytes of a class file */ };

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	abort();
}

static bool is_broken(enum lc_rewrite_status status)
{
	return status == LC_REWRITE_MALFORMED || status == LC_REWRITE_UNSUPPORTED;
}

static bool can_be_hooked(const uint8_t *in, size_t len)
{
	struct lc_rewrite_result spans;
	enum lc_rewrite_status status =
	    lc_span_rewrite(in, len, LC_SPAN_STREAMS | LC_SPAN_TASKS, LC_SPAN_IS_RUNNABLE, &spans);

	free(spans.bytes);
	return !is_broken(status);
}

static void check_class(const uint8_t *in, size_t len)
{
	const struct lc_delay all = { .every = 4 };
	struct lc_delay_result first, second;
	uint8_t *once = NULL, *twice = NULL;
	size_t once_len = 0, twice_len = 0;
	enum lc_rewrite_status status =
	    lc_delay_rewrite(in, len, &all, 1, &first, &once, &once_len);

	if (status != LC_REWRITE_DONE) {
		if (once || first.state == LC_DELAY_IN_PLACE || first.returns)
			fail("delays without success");
		return;
	}
	if (first.state != LC_DELAY_IN_PLACE || !first.returns)
		fail("success without a delay");
	status = lc_delay_rewrite(once, once_len, &all, 1, &second, &twice, &twice_len);
	/* A malformed method may refer to constants beyond the pool, which the first delay adds:
	 * the second delay may then read more of the method, or less. */
	if (is_broken(status) && !first.methods[LC_DELAY_MALFORMED])
		fail("the result does not parse");
	/* Each loop returns. Without frames it may be delayed where the depth of the stack is
	 * unknown, which a loop's end makes known. */
	if (in[MAJOR_AT + 1] >= LC_CLASS_MAJOR_STACKMAP && status == LC_REWRITE_DONE &&
	    !second.methods[LC_DELAY_TOO_LARGE] && second.returns < first.returns)
		fail("returns are lost");
	if (can_be_hooked(in, len) && !can_be_hooked(once, once_len))
		fail("the result cannot be hooked");
	free(once);
	free(twice);
}

static void check_options(const char *text)
{
	struct lc_delay_options o;
	char error[100] = "";

	if (lc_delay_options_parse(&o, text, error, sizeof(error)) ? !*error : !o.len || !o.out)
		fail("options without a result");
	lc_delay_options_free(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;

	if (size < 2)
		return 0;
	copy = malloc(size); /* a text ends with its first 0 */
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	copy[size - 1] = '\0';
	if (data[0] & OPTIONS) {
		check_options((char *)copy);
	} else {
		uint8_t *exact = malloc(size - 1); /* reads beyond the end are found */

		if (exact) {
			memcpy(exact, data + 1, size - 1);
			check_class(exact, size - 1);
		}
		free(exact);
	}
	free(copy);
	return 0;
}
