/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out/jfr.h - writes a file of Java Flight Recorder, version 2.1: one chunk with its metadata and
 * constant pools. It knows the layout of the types; the caller gives the values.
 *
 * The format has no document of its own. Its norm is OpenJDK's reader: ChunkHeader, MetadataReader,
 * ParserFactory and StringParser in src/jdk.jfr/share/classes/jdk/jfr/internal/consumer. Names and
 * fields of the JDK's types are those of src/hotspot/share/jfr/metadata/metadata.xml. A type may
 * lack fields there, since the metadata describes each type.
 */
#ifndef LC_OUT_JFR_H
#define LC_OUT_JFR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/base/table.h"
#include "src/base/bytes.h"

/* The types of a file, with the JDK's names and our own; jfr_types.c has their fields. */
enum lc_jfr_type {
	LC_JFR_BOOLEAN,
	LC_JFR_INT,
	LC_JFR_LONG,
	LC_JFR_STRING,
	/* with constant pools */
	LC_JFR_SYMBOL,
	LC_JFR_PACKAGE,
	LC_JFR_CLASS,
	LC_JFR_METHOD,
	LC_JFR_FRAME_TYPE,
	LC_JFR_STACK,
	LC_JFR_THREAD_GROUP,
	LC_JFR_THREAD,
	LC_JFR_THREAD_STATE,
	LC_JFR_POOLS_END,
	/* no pool: part of a stack */
	LC_JFR_FRAME = LC_JFR_POOLS_END,
	/* annotations */
	LC_JFR_LABEL,
	LC_JFR_DESCRIPTION,
	LC_JFR_CATEGORY,
	LC_JFR_TIMESTAMP,
	LC_JFR_TIMESPAN,
	LC_JFR_DATA_AMOUNT,
	LC_JFR_CONTENT_TYPE,
	/* events of the JDK */
	LC_JFR_EXECUTION_SAMPLE,
	LC_JFR_ALLOCATION_SAMPLE,
	LC_JFR_GC_PAUSE,
	LC_JFR_JVM_INFORMATION,
	LC_JFR_CPU_INFORMATION,
	LC_JFR_ACTIVE_RECORDING,
	LC_JFR_ACTIVE_SETTING,
	/* our own */
	LC_JFR_ENGINE,
	LC_JFR_OBJECT_ACCESS,
	LC_JFR_FIELD_ACCESS,
	LC_JFR_NODE_ACCESS,
	LC_JFR_ALLOCATION,
	LC_JFR_LIVE,
	LC_JFR_OFFHEAP,
	LC_JFR_TYPES
};

enum { LC_JFR_FIELDS_MAX = 15 };

/* A long that says that the value is unknown. */
#define LC_JFR_NONE ((uint64_t)1 << 63)

/* Annotations that say what a number of a field is. */
enum lc_jfr_unit { LC_JFR_PLAIN, LC_JFR_TICKS, LC_JFR_TICKS_LONG, LC_JFR_EPOCH_MS, LC_JFR_BYTES };

struct lc_jfr_field {
	const char *name, *label;
	enum lc_jfr_type type;
	bool constant; /* a key of the type's pool, not the value */
	bool array;
	enum lc_jfr_unit unit;
};

struct lc_jfr_info {
	const char *name;
	const char *super;               /* NULL: none */
	const char *label, *description; /* NULL: none */
	const char *category[3];         /* outermost first, up to the first NULL */
	bool simple;                     /* a wrapper of its only field, which readers take off */
	struct lc_jfr_field fields[LC_JFR_FIELDS_MAX + 1]; /* up to one without a name */
};

extern const struct lc_jfr_info lc_jfr_types[LC_JFR_TYPES];

/*
 * The value of a field: a number, a key of a pool (0: none), or a time or duration in ns; a string,
 * of which NULL is none; or an array, with its length as the number and its elements as bytes.
 */
struct lc_jfr_value {
	uint64_t number;
	const char *text; /* UTF-8 */
	const struct lc_bytes *elements;
};

/* A value that is a number, or a text. */
#define LC_JFR_NUMBER(n)                                                                           \
	{                                                                                          \
		.number = (n)                                                                      \
	}
#define LC_JFR_TEXT(t)                                                                             \
	{                                                                                          \
		.text = (t)                                                                        \
	}

struct lc_jfr_pool {
	struct lc_table keys; /* two numbers, the caller's; row: the constant's key - 1 */
	struct lc_bytes constants;
};

/* The members are the module's own. */
struct lc_jfr {
	struct lc_bytes events, scratch;
	struct lc_jfr_pool pools[LC_JFR_POOLS_END];
	uint64_t counts[LC_JFR_TYPES];
};

/* Without memory the program ends. Free with lc_jfr_free(). */
void lc_jfr_init(struct lc_jfr *j);
void lc_jfr_free(struct lc_jfr *j);

/* The number by which an event about settings names a type. */
uint64_t lc_jfr_type_id(enum lc_jfr_type type);

/*
 * Append an event, or append a struct to *b. `values` are those of the type's fields, in their
 * order; times are in ns since the begin of the chunk.
 */
void lc_jfr_event(struct lc_jfr *j, enum lc_jfr_type type, const struct lc_jfr_value *values);
void lc_jfr_put(struct lc_bytes *b, enum lc_jfr_type type, const struct lc_jfr_value *values);

/*
 * The key of the constant that the caller calls `what` and `row`. *fresh: it is new, and
 * lc_jfr_define() must follow.
 */
uint64_t lc_jfr_constant(struct lc_jfr *j, enum lc_jfr_type type, uint32_t what, uint32_t row,
                         bool *fresh);
void lc_jfr_define(struct lc_jfr *j, enum lc_jfr_type type, uint64_t key,
                   const struct lc_jfr_value *values);

/* Write the file. The chunk begins at `begin_ns` since 1970 and takes `duration_ns`. */
void lc_jfr_finish(struct lc_jfr *j, FILE *out, uint64_t begin_ns, uint64_t duration_ns);

#endif
