/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/image.c - reads the index of the JDK's image of its modules. */
#include "src/classfile/image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The header: seven numbers of 4 bytes, in the byte order of the machine. */
enum { MAGIC, VERSION, FLAGS, RESOURCES, TABLE_LEN, LOCATIONS_BYTES, STRINGS_BYTES, HEADER };
enum { HEADER_BYTES = HEADER * 4, VERSION_1_0 = 1 << 16, PATH_LEN_MAX = 512 };

#define IMAGE_MAGIC UINT32_C(0xcafedada)
#define HASH_SEED 0x01000193

/* Kinds of attributes of a resource: a byte kind << 3 | bytes - 1, and a big-endian number. */
enum attribute { END, MODULE, PARENT, BASE, EXTENSION, OFFSET, COMPRESSED, BYTES, ATTRIBUTES };

static uint32_t get4(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

int lc_image_read(const uint8_t *bytes, size_t len, struct lc_image *out)
{
	uint32_t h[HEADER];
	uint64_t index;

	if (len < HEADER_BYTES)
		return -EINVAL;
	memcpy(h, bytes, HEADER_BYTES);
	index = HEADER_BYTES + (uint64_t)h[TABLE_LEN] * 8 + h[LOCATIONS_BYTES] + h[STRINGS_BYTES];
	if (h[MAGIC] != IMAGE_MAGIC || h[VERSION] != VERSION_1_0 || !h[TABLE_LEN] || index > len)
		return -EINVAL;
	*out = (struct lc_image){
		.bytes = bytes,
		.len = len,
		.redirect = bytes + HEADER_BYTES,
		.table_len = h[TABLE_LEN],
		.locations_len = h[LOCATIONS_BYTES],
		.strings_len = h[STRINGS_BYTES],
		.index_len = (size_t)index,
	};
	out->offsets = out->redirect + (size_t)out->table_len * 4;
	out->locations = out->offsets + (size_t)out->table_len * 4;
	out->strings = out->locations + out->locations_len;
	return 0;
}

int lc_image_open(const char *home, struct lc_image *out)
{
	char path[PATH_MAX];
	struct stat st = { 0 };
	void *map = MAP_FAILED;
	int fd, err;

	if ((size_t)snprintf(path, sizeof(path), "%s/lib/modules", home) >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_size > 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return -EINVAL;
	err = lc_image_read(map, (size_t)st.st_size, out);
	if (err)
		munmap(map, (size_t)st.st_size);
	return err;
}

void lc_image_close(struct lc_image *image)
{
	if (image->bytes)
		munmap((void *)(uintptr_t)image->bytes, image->len);
	*image = (struct lc_image){ 0 };
}

void lc_image_rest(const struct lc_image *image)
{
	/* If it fails, the pages stay resident. */
	if (image->bytes)
		(void)madvise((void *)(uintptr_t)image->bytes, image->len, MADV_DONTNEED);
}

static uint32_t hash(const char *path, int32_t seed)
{
	uint32_t h = (uint32_t)seed;

	for (; *path; path++)
		h = h * HASH_SEED ^ (uint8_t)*path;
	return h & INT32_MAX;
}

/* The attributes at `at` in the locations. Returns false where they leave them. */
static bool read_location(const struct lc_image *image, uint32_t at, uint64_t out[ATTRIBUTES])
{
	memset(out, 0, ATTRIBUTES * sizeof(*out));
	while (at < image->locations_len) {
		const uint8_t head = image->locations[at++];
		const uint32_t kind = head >> 3, bytes = (head & 7u) + 1;

		if (kind == END)
			return true;
		if (kind >= ATTRIBUTES || bytes > image->locations_len - at)
			return false;
		for (uint32_t i = 0; i < bytes; i++)
			out[kind] = out[kind] << 8 | image->locations[at++];
	}
	return false;
}

/* The string at `at`; "" where it does not end within the strings. */
static const char *string(const struct lc_image *image, uint64_t at)
{
	const char *s = (const char *)image->strings;

	return at < image->strings_len && memchr(s + at, '\0', image->strings_len - (size_t)at)
	           ? s + at
	           : "";
}

/* Leave out `before` (if there is a text), the text and `behind` at *path, if they stand there. */
static bool skip(const char **path, const char *before, const char *text, const char *behind)
{
	const char *const parts[] = { before, text, behind };

	for (unsigned i = 0; *text && i < 3; i++) {
		const size_t len = strlen(parts[i]);

		if (strncmp(*path, parts[i], len))
			return false;
		*path += len;
	}
	return true;
}

/* The bytes of a resource by its whole path. */
static bool find(const struct lc_image *image, const char *path, const uint8_t **out, size_t *len)
{
	const uint32_t first = hash(path, HASH_SEED) % image->table_len;
	const int32_t redirect = (int32_t)get4(image->redirect + (size_t)first * 4);
	uint64_t a[ATTRIBUTES];
	const char *rest = path;
	uint32_t at;

	if (!redirect)
		return false;
	at = redirect > 0 ? hash(path, redirect) % image->table_len
	                  : (uint32_t)-1 - (uint32_t)redirect;
	if (at >= image->table_len ||
	    !read_location(image, get4(image->offsets + (size_t)at * 4), a) ||
	    !skip(&rest, "/", string(image, a[MODULE]), "/") ||
	    !skip(&rest, "", string(image, a[PARENT]), "/") ||
	    !skip(&rest, "", string(image, a[BASE]), "") ||
	    !skip(&rest, ".", string(image, a[EXTENSION]), "") || *rest)
		return false;
	if (a[COMPRESSED] || a[OFFSET] > image->len - image->index_len ||
	    a[BYTES] > image->len - image->index_len - a[OFFSET])
		return false;
	*out = image->bytes + image->index_len + a[OFFSET];
	*len = (size_t)a[BYTES];
	return true;
}

/* The module that has the package of the class; NULL where there is none. */
static const char *module_of(const struct lc_image *image, const char *name)
{
	const char *end = strrchr(name, '/'), *module;
	char path[PATH_LEN_MAX];
	const uint8_t *list;
	size_t len;
	int n;

	if (!end)
		return NULL;
	n = snprintf(path, sizeof(path), "/packages/%.*s", (int)(end - name), name);
	if (n < 0 || (size_t)n >= sizeof(path))
		return NULL;
	for (char *p = path + sizeof("/packages/") - 1; *p; p++)
		if (*p == '/')
			*p = '.';
	if (!find(image, path, &list, &len))
		return NULL;
	/* Pairs of numbers: whether the module's part of the package is empty, and its name. */
	for (size_t i = 0; i + 8 <= len; i += 8) {
		module = string(image, get4(list + i + 4));
		if (!get4(list + i))
			return *module ? module : NULL;
	}
	return NULL;
}

bool lc_image_class(const struct lc_image *image, const char *name, const uint8_t **out,
                    size_t *len)
{
	const char *module = module_of(image, name);
	char path[PATH_LEN_MAX];
	int n;

	if (!module)
		return false;
	n = snprintf(path, sizeof(path), "/%s/%s.class", module, name);
	return n > 0 && (size_t)n < sizeof(path) && find(image, path, out, len);
}
