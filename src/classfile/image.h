/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/image.h - finds class files in the JDK's own image of its modules, lib/modules.
 *
 * The image is an index by a perfect hash over the paths of resources, such as
 * "/java.base/java/lang/String.class", and their bytes. Every offset is checked against the length
 * of the image. Images of another version, and resources that are compressed, are not read.
 */
#ifndef LC_CLASSFILE_IMAGE_H
#define LC_CLASSFILE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_image {
	const uint8_t *bytes; /* owner: who filled them in, or lc_image_open() */
	size_t len;
	const uint8_t *redirect; /* the parts of the index */
	const uint8_t *offsets;
	const uint8_t *locations;
	const uint8_t *strings;
	uint32_t table_len;
	uint32_t locations_len;
	uint32_t strings_len;
	size_t index_len; /* resources begin behind it */
};

/* Look at `bytes`, which must outlive *out. Returns 0, or -EINVAL. Context: any. */
int lc_image_read(const uint8_t *bytes, size_t len, struct lc_image *out);

/*
 * Map the image of the JDK at `home`. Returns 0 (release it with lc_image_close()), or -errno.
 * Context: [attach].
 */
int lc_image_open(const char *home, struct lc_image *out);
void lc_image_close(struct lc_image *image);

/*
 * Give up the resident pages of an image that lc_image_open() mapped. The bytes stay readable: the
 * next read maps their pages again. Context: any.
 */
void lc_image_rest(const struct lc_image *image);

/*
 * The class file of "java/lang/String", in whichever module it is. Returns false where the image
 * has none that can be read; else *out lies in the image. Context: any.
 */
bool lc_image_class(const struct lc_image *image, const char *name, const uint8_t **out,
                    size_t *len);

#endif
