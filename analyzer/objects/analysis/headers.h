/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/headers.h - lists the classes of objects that are visited for their header: how
 * much of what is touched in each is the header, and how large an object is.
 */
#ifndef LC_OBJECTS_ANALYSIS_HEADERS_H
#define LC_OBJECTS_ANALYSIS_HEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/objects/analysis/view.h"

struct lc_header_class {
	uint32_t class;   /* string */
	uint64_t samples; /* in the headers of its objects; never 0 */
	uint64_t known;   /* samples of which the field is known, those in headers included */
	double low, high; /* 95% interval of samples / known */
	bool only;        /* enough samples say that more than half of them are in the header */
};

/*
 * Classes with samples in headers, most of them first; tracked objects and others together. The
 * caller frees the array.
 */
struct lc_header_class *lc_headers_of(const struct lc_view *v, size_t *len);

/* Bytes of an object of that class, on average; 0: not known. */
double lc_headers_size(const struct lc_view *v, uint32_t class);

#endif
