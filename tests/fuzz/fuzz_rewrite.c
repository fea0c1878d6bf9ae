/* uses: src/classfile/ */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_rewrite.c - rewrites any bytes as a class file: the result must parse, and be stable.
 *
 * The first byte chooses the options. With -DREPLAY it has a main() that runs files.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/classfile/hook_class.h"
#include "src/classfile/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t next_site(void *user)
{
	uint32_t *last = user;

	/* Most sites need a constant in the pool, some do not. */
	*last += *last % 3 ? 1 : 30000;
	return *last % (LC_SITE_LIMIT - 1) + 1;
}

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	abort();
}

static void check(const uint8_t *in, size_t len, const struct lc_rewrite_options *options)
{
	struct lc_rewrite_result once, twice;
	enum lc_rewrite_status status = lc_rewrite_class(in, len, options, &once);

	if (status != LC_REWRITE_DONE) {
		if (once.bytes || once.len)
			fail("bytes without success");
		lc_store_names_free(&once.stores);
		return;
	}
	if (!once.sites)
		fail("success without a hook");
	/* Another agent may hand on what we made: it must be as well formed as what we got. */
	status = lc_rewrite_class(once.bytes, once.len, options, &twice);
	if (status == LC_REWRITE_MALFORMED || status == LC_REWRITE_UNSUPPORTED)
		fail("the result does not parse");
	if (status == LC_REWRITE_DONE && twice.own_field_bytes != once.own_field_bytes)
		fail("fields changed");
	lc_store_names_free(&twice.stores);
	lc_store_names_free(&once.stores);
	free(twice.bytes);
	free(once.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct lc_hook_layout layout = {
		.min_size_bytes = 1024,
		.base_bytes = { 16, 16, 16, 16, 16 },
		.reference_bytes = 4,
		.object_align_bytes = 8,
	};
	static const char *const watched[] = { "A", "[B", "[LA;", "[[I" };
	uint32_t site = 0;
	struct lc_rewrite_options options = {
		.watched = watched,
		.array_header_bytes = 16,
		.next_site = next_site,
		.user = &site,
	};
	uint8_t *copy;

	if (size < 1)
		return 0;
	options.min_size_bytes = data[0] & 1 ? 1024 : 1;
	options.reference_bytes = data[0] & 2 ? 8 : 4;
	options.force_object = data[0] & 4;
	options.objects = data[0] & 8;
	options.constructed = data[0] & 16;
	options.stores = data[0] & 64;
	options.exact = !(data[0] & 128);
	options.watched_len = data[0] & 32 ? sizeof(watched) / sizeof(*watched) : 0;
	copy = malloc(size); /* of that very size: reads beyond the end are found */
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	copy = realloc(copy, size - 1 ? size - 1 : 1);
	check(copy, size - 1, &options);
	(void)lc_hook_class_patch(copy, size - 1, &layout);
	free(copy);
	return 0;
}

#ifdef REPLAY
int main(int argc, char **argv)
{
	static uint8_t bytes[1 << 20];

	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		size_t len = f ? fread(bytes, 1, sizeof(bytes), f) : 0;

		if (f)
			fclose(f);
		(void)LLVMFuzzerTestOneInput(bytes, len);
	}
	return 0;
}
#endif
