/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/resident.h - tells what the resident memory of a process consists of. Pure. */
#ifndef LC_OBJECTS_ANALYSIS_RESIDENT_H
#define LC_OBJECTS_ANALYSIS_RESIDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/load.h"
#include "analyzer/model/tree.h"
#include "src/format/kinds.h"

/* A mapped file, or blocks of a class; the name is "" for what is too small for a row. */
struct lc_resident_name {
	uint8_t part; /* LC_RESIDENT_FILES or LC_RESIDENT_BLOCKS */
	struct lc_text name;
	uint64_t resident_bytes, size_bytes;
};

/* The JVM's own counts of a category; "": of all, which comes first. */
struct lc_resident_nmt {
	struct lc_text name;
	uint64_t reserved_bytes, committed_bytes, malloc_bytes;
};

/* A snapshot. */
struct lc_resident {
	uint64_t number, time_ns;
	uint64_t resident_bytes[LC_RESIDENT_PARTS], size_bytes[LC_RESIDENT_PARTS];
	bool divided;                   /* else LC_RESIDENT_ALL is all that is known */
	bool free_known;                /* size_bytes[LC_RESIDENT_FREE] is */
	struct lc_resident_name *names; /* by part, most resident memory first */
	size_t names_len;
	struct lc_resident_nmt *nmt; /* most committed memory first */
	size_t nmt_len;              /* 0: the JVM was not asked, or does not count */
};

/* The snapshots of a process that are shown. */
struct lc_resident_process {
	uint32_t process;
	uint64_t peak_bytes;              /* that the process ever had, by the kernel */
	struct lc_resident last, highest; /* the highest of the snapshots may be the last one */
};

/* By process, as the load has them. The result is the caller's: lc_resident_free(). */
struct lc_resident_process *lc_resident_list(const struct lc_load *load, size_t *len);
void lc_resident_free(struct lc_resident_process *list, size_t len);

/*
 * Bytes that the JVM has taken from malloc() for itself, resident or not; without its category
 * "Other", which is what Java code has asked for. 0 if it does not count.
 */
uint64_t lc_resident_jvm(const struct lc_resident *r);

/*
 * Bytes that malloc() has given to neither the JVM nor blocks, and that are in use: those of
 * libraries. At least so many, since free memory need not be resident. Returns whether it is known.
 */
bool lc_resident_libraries(const struct lc_resident *r, uint64_t *bytes);

/* "Java heap", "thread stacks"; its name in JSON: "heap", "stacks". Static storage. */
const char *lc_resident_part_title(unsigned part);
const char *lc_resident_part_name(unsigned part);

/*
 * Is the resident memory worth a line of the first screen? More than half of it, and more than
 * 256 MB, is not heap.
 */
bool lc_resident_stands_out(const struct lc_resident *r);

#endif
