/* uses: src/classfile/ src/base/track.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_span_rewrite.c - inserts spans into any bytes as a class file: the result must parse, for
 * both rewriters.
 *
 * The first byte gives the types that the class is of, the second one the spans to hook.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/classfile/rewrite.h"
#include "src/classfile/span_rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t next_site(void *user)
{
	return 40000;
}

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	abort();
}

static void check(const uint8_t *in, size_t len, unsigned what, uint32_t is)
{
	const struct lc_rewrite_options options = {
		.min_size_bytes = 1,
		.array_header_bytes = 16,
		.reference_bytes = 4,
		.next_site = next_site,
	};
	struct lc_rewrite_result spans, twice, hooked;
	enum lc_rewrite_status status = lc_span_rewrite(in, len, what, is, &spans);
	uint32_t known, known_then;

	if (lc_span_matters(in, len, what, &known) & known)
		fail("asked for what is known");
	(void)lc_span_stream_mismatch(in, len);
	if (status != LC_REWRITE_DONE) {
		if (spans.bytes || spans.len)
			fail("bytes without success");
		return;
	}
	if (!spans.sites)
		fail("success without a hook");
	(void)lc_span_matters(spans.bytes, spans.len, what, &known_then);
	if (known_then != known)
		fail("supertypes changed");
	status = lc_span_rewrite(spans.bytes, spans.len, what, is, &twice);
	if (status == LC_REWRITE_MALFORMED || status == LC_REWRITE_UNSUPPORTED)
		fail("the result does not parse");
	status = lc_rewrite_class(spans.bytes, spans.len, &options, &hooked);
	if (status == LC_REWRITE_UNSUPPORTED)
		fail("the result is of another version");
	free(hooked.bytes);
	free(twice.bytes);
	free(spans.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;

	if (size < 3)
		return 0;
	copy = malloc(size - 2); /* of that very size: reads beyond the end are found */
	if (!copy)
		return 0;
	memcpy(copy, data + 2, size - 2);
	check(copy, size - 2, data[1] % 4, data[0] & ((1u << LC_SPAN_TYPES) - 1));
	free(copy);
	return 0;
}
