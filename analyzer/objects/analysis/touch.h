/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/touch.h - describes which part of objects is touched: the header alone, one
 * field, one end of an array, or everything; and whether it is read at all.
 */
#ifndef LC_OBJECTS_ANALYSIS_TOUCH_H
#define LC_OBJECTS_ANALYSIS_TOUCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/objects/analysis/ranking.h"
#include "src/format/kinds.h"

enum lc_touch_kind {
	LC_TOUCH_UNKNOWN,   /* too few samples have a field */
	LC_TOUCH_HEADER,    /* class word, mark word, length */
	LC_TOUCH_ONE_FIELD, /* nearly all of what is not in the header */
	LC_TOUCH_ONE_PART,  /* of an array: one sixteenth, or less, of its length */
	LC_TOUCH_ALL_OVER,
};

/* In which order a loop goes through an object, which is nearly always an array. */
enum lc_touch_walk {
	LC_WALK_UNKNOWN,    /* no step is that of most samples, by its interval */
	LC_WALK_SEQUENTIAL, /* less than LC_WALK_LINE bytes from one access to the next */
	LC_WALK_STRIDE,     /* `step` bytes, which is not less: each is in another cache line */
};

struct lc_touch {
	enum lc_touch_kind kind;
	bool off_heap;   /* the objects are blocks outside the heap, whose elements are bytes */
	uint64_t known;  /* samples of which the field or element is known */
	uint64_t header; /* of these in the header */
	uint64_t loads, stores; /* of `known`, not of the header; what does both is in both */
	uint64_t cleared;       /* of `stores`: by the line that allocates, which clears it */
	double observed;        /* observations that `known` is: lc_wilson_effective() */
	/*
	 * Observations that `stores` without `cleared` is. 0 for blocks outside the heap: the
	 * kernel and native code may read these, unseen.
	 */
	double written;
	/* Samples of no known part that may be loads. */
	uint64_t unplaced;
	uint64_t made;        /* of `at`: samples at the line that allocates */
	uint32_t field;       /* string: the most touched that is not in the header; "": elements */
	uint64_t first, last; /* elements */
	uint64_t samples;     /* in that field, or those elements */
	enum lc_touch_walk walk;
	uint64_t waits;       /* all samples at the objects, where the next three are known */
	uint64_t elsewhere;   /* of these, whose instruction was not the access */
	uint64_t same_object; /* of these, that repeat the small object of the thread's last one */
	uint64_t reads_on;    /* of `header`: the code reads more of the object's cache line next */
	uint64_t stores_somewhere; /* stores of no known part */
	uint64_t at;           /* all samples at the objects, whether their step is known or not */
	uint64_t stepped;      /* of these with a known step */
	uint64_t sequential;   /* of these with a step of less than LC_WALK_LINE bytes */
	uint64_t step;         /* the one of most of them, in bytes; 0: none is known */
	uint64_t step_samples; /* that have it */
	uint64_t ends[LC_END_COUNT]; /* samples, by enum lc_array_end */
	enum lc_array_end hot_end;   /* LC_END_FIRST or _LAST has most samples; else LC_END_NONE */
};

enum {
	LC_TOUCH_SAMPLES_MIN = 10, /* fewer observations say nothing of the part */
	LC_WALK_SAMPLES_MIN = 30,  /* fewer observations say nothing of the order */
	/*
	 * So many observations, all of stores, say that an object is not read: if one in a hundred
	 * were of a load, none of 299 would be one with a probability of 0.99^299 = 5%. The part is
	 * so small since a load soon after the store finds the line in the cache, and takes less
	 * time than the store.
	 */
	LC_TOUCH_WRITTEN_MIN = 299,
	LC_WALK_LINE = 64, /* bytes of a cache line */
};

/*
 * The row's parts, one for each bucket and site: what a view knows is known by these. The caller
 * frees the array.
 */
const struct lc_rank_part **lc_touch_places(const struct lc_rank_row *row, size_t *len);

/*
 * Steps of a row's objects, most samples first, each once; those that are not known are left out.
 * The caller frees the array.
 */
struct lc_view_step *lc_touch_steps(const struct lc_ranking *r, const struct lc_rank_row *row,
                                    size_t *len);

/*
 * Fields and elements of a row's objects, most samples first. If the row is an estimate, they are
 * its whole class's. The caller frees the array.
 */
struct lc_view_field *lc_touch_fields(const struct lc_ranking *r, const struct lc_rank_row *row,
                                      size_t *len);

/* The touched part of a row's objects, by lc_touch_fields(). */
struct lc_touch lc_touch_of(const struct lc_ranking *r, const struct lc_rank_row *row);

/* Samples of the view in objects whose field is known, and how many of them are in headers. */
void lc_touch_all(const struct lc_view *v, struct lc_weighted *known, struct lc_weighted *header);

/* A class, and samples that touched the header of its objects alone. */
struct lc_touch_class {
	uint32_t class; /* string */
	uint64_t samples, pairs;
};

/* The classes of lc_touch_all()'s header samples, most first. The caller frees the array. */
struct lc_touch_class *lc_touch_headers(const struct lc_view *v, size_t *len);

/* Is it written, and was no load seen in LC_TOUCH_WRITTEN_MIN observations or more? */
bool lc_touch_never_read(const struct lc_touch *t);

/* Is a part so large that a kind of touch says "mostly"? */
bool lc_touch_nearly_all(uint64_t part, uint64_t whole);

/* Does lc_touch_text() say anything of the part or the order? */
bool lc_touch_known(const struct lc_touch *t);

/*
 * "mostly the header", "mostly field hash", "mostly elements 0 to 63", "all over, in steps of 8192
 * bytes": nothing where unknown.
 */
void lc_touch_text(FILE *out, const struct lc_tree *tree, const struct lc_touch *t);

#endif
