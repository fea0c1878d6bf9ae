/* uses: src/classfile/ src/base/track.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_image.c - checks that class files are found in an image of modules, and damage is survived.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/bytes.h"
#include "src/classfile/image.h"

enum { SEED = 0x01000193, RESOURCES = 3, TABLE_LEN = 7 };

/* A resource of the image: its path in the parts that the index names, and its bytes. */
static const struct resource {
	const char *module, *parent, *base, *extension, *bytes;
	uint32_t len;
} resources[RESOURCES] = {
	{ "packages", "", "a", "b",
	  "\1\0\0\0\1\0\0\0"
	  "\0\0\0\0\5\0\0\0",
	  16 },
	{ "good", "a/b", "One", "class", "first", 5 },
	{ "good", "a/b", "Two", "class", "second!", 7 },
};

/* "bad" begins at 1, "good" at 5. */
static const char strings[] = "\0bad\0good\0packages\0a\0b\0a/b\0One\0Two\0class";

static uint8_t *image;
static size_t image_len;

static uint32_t string_at(const char *s)
{
	uint32_t at = 0;

	for (; at < sizeof(strings); at += (uint32_t)strlen(strings + at) + 1)
		if (!strcmp(strings + at, s))
			return at;
	fail();
	return 0;
}

static uint32_t hash(const struct resource *r, uint32_t h)
{
	char path[64];

	snprintf(path, sizeof(path), "/%s/%s%s%s.%s", r->module, r->parent, *r->parent ? "/" : "",
	         r->base, r->extension);
	for (const char *p = path; *p; p++)
		h = h * SEED ^ (uint8_t)*p;
	return (h & INT32_MAX) % TABLE_LEN;
}

static void add4(struct lc_bytes *out, uint32_t v)
{
	lc_bytes_add(out, &v, sizeof(v));
}

static void add_attribute(struct lc_bytes *out, uint8_t kind, uint32_t v)
{
	const uint8_t two[] = { (uint8_t)(kind << 3 | 1), (uint8_t)(v >> 8), (uint8_t)v };

	lc_bytes_add(out, two, sizeof(two));
}

/* The fault of the image that build() makes. */
static bool compressed;
static uint32_t version = 1 << 16;

/*
 * The offsets' places: each resource goes to the first free one, and the place of its first hash
 * says which that is: by its number, or, where `seeds`, by another seed of the hash.
 */
static void place(int32_t redirect[TABLE_LEN], unsigned at[TABLE_LEN], bool seeds)
{
	bool taken[TABLE_LEN] = { false };

	for (unsigned i = 0; i < RESOURCES; i++) {
		const uint32_t first = hash(&resources[i], SEED);
		unsigned free_place = 0;
		int32_t seed = 1;

		assert_int_equal(redirect[first], 0); /* the paths above do not collide */
		while (taken[free_place])
			free_place++;
		while (hash(&resources[i], (uint32_t)seed) != free_place)
			seed++;
		redirect[first] = seeds ? seed : -1 - (int32_t)free_place;
		taken[free_place] = true;
		at[free_place] = i;
	}
}

static void build(bool seeds)
{
	struct lc_bytes out = { 0 }, locations = { 0 }, data = { 0 };
	int32_t redirect[TABLE_LEN] = { 0 };
	uint32_t location[TABLE_LEN] = { 0 };
	unsigned at[TABLE_LEN];

	place(redirect, at, seeds);
	for (unsigned i = 0; i < RESOURCES; i++) {
		const struct resource *r = &resources[at[i]];

		location[i] = (uint32_t)locations.len;
		add_attribute(&locations, 1, string_at(r->module));
		if (*r->parent)
			add_attribute(&locations, 2, string_at(r->parent));
		add_attribute(&locations, 3, string_at(r->base));
		add_attribute(&locations, 4, string_at(r->extension));
		add_attribute(&locations, 5, (uint32_t)data.len);
		if (compressed)
			add_attribute(&locations, 6, 3);
		add_attribute(&locations, 7, r->len);
		lc_bytes_add(&locations, "", 1);
		lc_bytes_add(&data, r->bytes, r->len);
	}
	add4(&out, 0xcafedada);
	add4(&out, version);
	add4(&out, 0);
	add4(&out, TABLE_LEN);
	add4(&out, TABLE_LEN);
	add4(&out, (uint32_t)locations.len);
	add4(&out, sizeof(strings));
	lc_bytes_add(&out, redirect, sizeof(redirect));
	lc_bytes_add(&out, location, sizeof(location));
	lc_bytes_add(&out, locations.data, locations.len);
	lc_bytes_add(&out, strings, sizeof(strings));
	lc_bytes_add(&out, data.data, data.len);
	free(locations.data);
	free(data.data);
	assert_false(out.failed);
	free(image);
	image = out.data;
	image_len = out.len;
}

static bool holds(const char *name, const char *bytes)
{
	struct lc_image read;
	const uint8_t *found;
	size_t len;

	assert_int_equal(lc_image_read(image, image_len, &read), 0);
	if (!lc_image_class(&read, name, &found, &len))
		return false;
	assert_in_range((uintptr_t)found, (uintptr_t)image, (uintptr_t)(image + image_len - len));
	return len == strlen(bytes) && !memcmp(found, bytes, len);
}

static int reset(void **state)
{
	compressed = false;
	version = 1 << 16;
	build(false);
	return 0;
}

static int drop(void **state)
{
	free(image);
	image = NULL;
	return 0;
}

static void a_class_is_found_in_the_module_that_has_its_package(void **state)
{
	for (unsigned seeds = 0; seeds < 2; seeds++) {
		build(seeds);
		assert_true(holds("a/b/One", "first"));
		assert_true(holds("a/b/Two", "second!"));
	}
}

static void what_the_image_has_not_is_not_found(void **state)
{
	static const char *const names[] = { "a/b/Thre", "a/b/Twp", "a/One", "One",  "",
		                             "/",        "a/b/",    "a/b/O", "b/Two" };
	char longest[2000];

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_false(holds(names[i], "first"));
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	longest[1000] = '/';
	assert_false(holds(longest, "first"));
	longest[1000] = 'a';
	longest[1] = '/';
	assert_false(holds(longest, "first"));
}

static void a_compressed_class_is_not_read(void **state)
{
	compressed = true;
	build(false);
	assert_false(holds("a/b/One", "first"));
}

static void an_image_of_another_version_is_not_read(void **state)
{
	struct lc_image read;

	version++;
	build(false);
	assert_true(lc_image_read(image, image_len, &read) < 0);
	reset(NULL);
	image[0] ^= 1;
	assert_true(lc_image_read(image, image_len, &read) < 0);
}

/* Reads beyond the bytes are found by ASan. */
static void a_cut_image_is_survived_at_every_length(void **state)
{
	for (size_t cut = 0; cut < image_len; cut++) {
		uint8_t *copy = malloc(cut ? cut : 1);
		struct lc_image read;
		const uint8_t *found;
		size_t len;

		assert_non_null(copy);
		memcpy(copy, image, cut);
		if (!lc_image_read(copy, cut, &read) &&
		    lc_image_class(&read, "a/b/Two", &found, &len))
			assert_true(found + len <= copy + cut);
		free(copy);
	}
}

static void any_changed_byte_is_survived(void **state)
{
	for (size_t at = 0; at < image_len; at++) {
		for (unsigned flip = 1; flip < 256; flip++) {
			struct lc_image read;
			const uint8_t *found;
			size_t len;

			image[at] ^= (uint8_t)flip;
			if (!lc_image_read(image, image_len, &read) &&
			    lc_image_class(&read, "a/b/One", &found, &len))
				assert_true(found >= image && found + len <= image + image_len);
			image[at] ^= (uint8_t)flip;
		}
	}
}

/* KiB that are resident of what the process has mapped of the file; -1: nothing is mapped. */
static long resident_kib(const char *path)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	bool is_of_file = false;
	char line[4096];
	long kib = -1;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (strstr(line, path))
			is_of_file = true;
		else if (is_of_file && sscanf(line, "Rss: %ld kB", &kib) == 1)
			break;
	}
	fclose(f);
	return kib;
}

static void an_image_is_opened_below_the_home_of_its_jdk(void **state)
{
	char home[] = "/tmp/locus-image-XXXXXX", path[64];
	struct lc_image read = { 0 };
	const uint8_t *found;
	size_t len;
	FILE *f;

	assert_non_null(mkdtemp(home));
	assert_true(lc_image_open(home, &read) < 0);
	snprintf(path, sizeof(path), "%s/lib", home);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/lib/modules", home);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	assert_true(lc_image_open(home, &read) < 0); /* empty */
	f = fopen(path, "w");
	assert_int_equal(fwrite(image, 1, image_len, f), image_len);
	fclose(f);
	assert_int_equal(lc_image_open(home, &read), 0);
	assert_true(lc_image_class(&read, "a/b/One", &found, &len));
	assert_true(resident_kib(path) > 0);
	lc_image_rest(&read);
	assert_int_equal(resident_kib(path), 0);
	assert_true(lc_image_class(&read, "a/b/One", &found, &len));
	assert_memory_equal(found, "first", len);
	lc_image_close(&read);
	lc_image_rest(&read); /* nothing is mapped */
	lc_image_close(&read);
	unlink(path);
	snprintf(path, sizeof(path), "%s/lib", home);
	rmdir(path);
	rmdir(home);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_class_is_found_in_the_module_that_has_its_package,
		                                reset, drop),
		cmocka_unit_test_setup_teardown(what_the_image_has_not_is_not_found, reset, drop),
		cmocka_unit_test_setup_teardown(a_compressed_class_is_not_read, reset, drop),
		cmocka_unit_test_setup_teardown(an_image_of_another_version_is_not_read, reset,
		                                drop),
		cmocka_unit_test_setup_teardown(a_cut_image_is_survived_at_every_length, reset,
		                                drop),
		cmocka_unit_test_setup_teardown(any_changed_byte_is_survived, reset, drop),
		cmocka_unit_test_setup_teardown(an_image_is_opened_below_the_home_of_its_jdk, reset,
		                                drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
