/* uses: src/classfile/ src/base/track.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_rewrite.c - rewrites any bytes as a class file: the result must parse, and be stable. Looks
 * in each method for stores, as if the JVM had loaded it.
 *
 * The first byte chooses the options. With -DREPLAY it has a main() that runs files.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/classfile/edit.h"
#include "src/classfile/hook_class.h"
#include "src/classfile/method_file.h"
#include "src/classfile/rewrite.h"
#include "src/classfile/store_names.h"

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
	free(twice.bytes);
	free(once.bytes);
}

static void find_stores(struct lc_method_file *f)
{
	struct lc_store_names_scan scan = { 0 };
	struct lc_store_names stores = { 0 };
	const struct lc_store *rows;

	if (lc_store_names_open(&scan, &f->cls, &stores) &&
	    lc_store_names_find(&scan, &f->method, &f->code) == LC_REWRITE_DONE) {
		rows = stores.rows.data;
		for (size_t i = 0; i < stores.rows.len; i++)
			if (rows[i].source != LC_STORE_OF_PARAMETER &&
			    rows[i].at + rows[i].bytes > f->code.len)
				fail("a row beyond the code");
	}
	lc_store_names_close(&scan);
	lc_store_names_free(&stores);
}

/* Look for stores in the method as the JVM would give it, with any name. */
static enum lc_rewrite_status load(void *user, const struct lc_member *method,
                                   const struct lc_attribute *a)
{
	static const struct lc_local_variable locals[] = { { 0, 9, 1, 2, 0 }, { 3, 4, 5, 6, 1 } };
	const struct lc_class *c = user;
	struct lc_class_text descriptor = lc_class_utf8(c, method->descriptor);
	struct lc_method_source s = { .pool = c->bytes + 10,
		                      .pool_bytes = c->pool_end - 10,
		                      .pool_count = c->pool_count,
		                      .class_name = "A",
		                      .name = "m",
		                      .access_flags = method->access_flags,
		                      .locals = locals,
		                      .locals_len = 2 };
	struct lc_method_code code;
	struct lc_method_file f;
	char text[256];

	if (!lc_method_code_read(c, a, &code) || !descriptor.data)
		return LC_REWRITE_DONE;
	snprintf(text, sizeof(text), "%.*s", (int)descriptor.len, descriptor.data);
	s.descriptor = text;
	s.max_locals = code.max_locals;
	s.code = code.insns;
	s.code_bytes = code.len;
	if (lc_method_file_open(&f, &s)) {
		find_stores(&f);
		lc_method_file_close(&f);
	}
	return LC_REWRITE_DONE;
}

static void load_all(const uint8_t *in, size_t len)
{
	struct lc_edit e;

	if (lc_edit_open(&e, in, len) == LC_REWRITE_DONE)
		(void)lc_edit_methods(&e, load, &e.cls);
	lc_edit_close(&e);
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
	options.exact = !(data[0] & 128);
	options.watched_len = data[0] & 32 ? sizeof(watched) / sizeof(*watched) : 0;
	copy = malloc(size); /* of that very size: reads beyond the end are found */
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	copy = realloc(copy, size - 1 ? size - 1 : 1);
	check(copy, size - 1, &options);
	load_all(copy, size - 1);
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
