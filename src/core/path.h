/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/path.h - numbers methods, call paths (the agent's calling context tree) and sites, each
 * once.
 */
#ifndef LC_CORE_PATH_H
#define LC_CORE_PATH_H

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A method by name. Immutable once it is returned, but for `version`. Class names are as a Java
 * programmer writes them in a stack trace ("java.util.HashMap$Node"), bytes in modified UTF-8 as
 * the JVM gives them.
 */
struct lc_method {
	const char *class_name;
	const char *name;
	const char *signature;
	const char *source_file; /* "" where unknown */
	uint32_t code_bytes;     /* of its bytecode; 0 where unknown */
	uint32_t lines_len;
	const jvmtiLineNumberEntry *lines; /* as JVMTI gave them, sorted by start_location */
	bool left_out; /* a method of our own that calls the program's: no path has it */
	_Atomic uint64_t
	    version; /* the last one that was found to be this method (core/version.h) */
};

/* A node of the tree. Node 0 is the root, an empty path; parents have smaller numbers. */
struct lc_path_node {
	uint32_t parent; /* towards the thread's entry point */
	uint32_t method; /* for lc_method_get() */
	uint16_t bci;    /* LC_BCI_NONE where there is none */
	uint16_t depth;  /* 1 for a child of the root */
	uint16_t cycle;  /* the longest that was folded here; for core/path.c, under its lock */
};

/*
 * A node at which recursion was folded: the path to it ends with a cycle of `frames` frames, and in
 * some stack the cycle followed itself.
 */
struct lc_path_recursion {
	uint32_t path;
	uint32_t frames;
};

/* An object site: class and allocation path. */
struct lc_site {
	const char *class_name; /* "byte[]", "java.lang.String[][]", "com.acme.Big" */
	uint64_t
	    class_word; /* of the headers of its objects (jvm/layout/header.h); 0 where unknown */
	uint32_t path;
};

/*
 * By number; valid for ever. Numbers that were not handed out give NULL.
 * Context: [java] [writer]. No lock.
 */
const struct lc_method *lc_method_get(uint32_t method);
const struct lc_path_node *lc_path_get(uint32_t node);
const struct lc_site *lc_site_get(uint32_t site);

/*
 * By number from 0, in the order in which they were found; NULL for a number that was not handed
 * out. A node comes again when a longer cycle is found. Context: as above.
 */
const struct lc_path_recursion *lc_path_recursion_get(uint32_t number);

uint32_t lc_path_count(void);
uint32_t lc_site_count(void);

/*
 * The JVM's ID of the method, of the class that was met last where several loaders have the same;
 * NULL where there is none. Context: any.
 */
jmethodID lc_method_id(const struct lc_method *m);

/* Source line of a bci in a method, or -1. */
int lc_method_line(const struct lc_method *m, unsigned bci);

/* Prepare the tables. Returns 0 or -ENOMEM. Context: [attach]. */
int lc_path_init(void);

/*
 * The node of a call path, `frames` as lc_frame_pack() makes them, leaf first. Methods that are
 * new are named now, while their class is still loaded. A path that finds no room (the tables
 * are bounded) becomes node 0 and is counted. Frames of LocusSpan are left
 * out. Context: [java] [writer], a thread that the JVM knows (`jni` is its own). Takes a lock, but
 * never across a call into the JVM.
 */
uint32_t lc_path_intern(JNIEnv *jni, const uint64_t *frames, size_t frames_len);

/*
 * The same, of a path's `depth` frames that are nearest to the leaf when recursion is folded. The
 * path begins below the node `root`, which does not count as a frame (core/request.h); 0: none.
 * Without room it is `root`.
 */
uint32_t lc_path_intern_nearest(JNIEnv *jni, uint32_t root, const uint64_t *frames,
                                size_t frames_len, uint32_t depth);

/*
 * The path of the leaf of `leaf` called by the path `callers`, of at most `depth` frames from the
 * leaf on. 0 without room, which is counted. Context: [java] [writer]. Takes the lock.
 */
uint32_t lc_path_below(uint32_t leaf, uint32_t callers, uint32_t depth);

/*
 * The site of objects of the class with JVM signature `class_signature` ("[B", "Lcom/acme/Big;")
 * whose headers hold `class_word`, allocated at path `path`. Classes of one name in two loaders
 * are two sites. Never 0 unless the table is full (counted). Context: as above.
 */
uint32_t lc_site_intern(const char *class_signature, uint64_t class_word, uint32_t path);

/*
 * The method with this ID, named like those of a path; NULL when there is no room. Context: as
 * lc_path_intern().
 */
const struct lc_method *lc_path_method(JNIEnv *jni, jmethodID method);

/* The same for the ID of a version (core/version.h), as frames hold it. Context: as above. */
const struct lc_method *lc_path_version(JNIEnv *jni, uint64_t version);

/*
 * Name a method that the JVM is not asked for: `id` is below LC_PATH_DEFINED_MAX, which no
 * jmethodID is, and may stand in frames from now on. Returns 0 or -ENOMEM. Context: [attach].
 */
enum { LC_PATH_DEFINED_MAX = 4096 };

/* IDs of methods that are none, but for those of intrinsics, which count up from 1. */
enum {
	/* The callers of a path that was cut, as its outermost frame; lc_path_init() defines it. */
	LC_PATH_CUT = LC_PATH_DEFINED_MAX - 1,
	LC_PATH_OTHER_PLACES = LC_PATH_DEFINED_MAX - 2, /* span/span.c: no slot was left */
	LC_PATH_BEFORE = LC_PATH_DEFINED_MAX - 3,       /* attribute/preexisting.c */
	LC_PATH_REQUESTS = 2048, /* and more: core/request.c, of request contexts */
};

int lc_path_define(uint64_t id, const char *class_name, const char *name, const char *signature);

/*
 * A JVM signature as a Java programmer writes the type: "[[Ljava/lang/String;" becomes
 * "java.lang.String[][]", "Lcom/acme/Hidden.0x1f;" becomes "com.acme.Hidden/0x1f".
 * Returns 0, or -ENOSPC and an empty string.
 */
int lc_path_type_name(const char *signature, char *out, size_t out_len);

#endif
