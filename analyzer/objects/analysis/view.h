/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/view.h - builds a view: one engine's samples, summed up and sorted for a report.
 */
#ifndef LC_OBJECTS_ANALYSIS_VIEW_H
#define LC_OBJECTS_ANALYSIS_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/wilson.h"
#include "analyzer/model/load.h"
#include "analyzer/model/tree.h"

enum lc_view_sort { LC_SORT_SAMPLES, LC_SORT_BYTES, LC_SORT_ALLOCATIONS, LC_SORT_CLASS };

struct lc_view_access {
	uint32_t bucket; /* enum lc_bucket */
	uint32_t site; /* in LC_BUCKET_HEAP_CLASS that of the class; 0 in the others, or unknown */
	uint32_t path;
	uint64_t samples;
	uint64_t pairs; /* of the samples, as in struct lc_weighted */
};

/* A field, or a range of elements, and the samples that fell in it. */
struct lc_view_field {
	uint32_t name;        /* string; the empty one: elements */
	uint64_t first, last; /* elements */
	uint64_t samples;
	uint64_t loads, stores; /* of these; what does both counts in both, the unknown in none */
	uint64_t pairs, store_pairs; /* of samples and of stores */
};

/* Samples of a site's or class's objects that were taken in a loop whose accesses are so far apart.
 */
struct lc_view_step {
	uint64_t bytes; /* 0: not known */
	uint32_t end;   /* enum lc_array_end */
	uint64_t samples, pairs;
};

/* The code around the accesses to a site's or class's objects tells this of their samples. */
struct lc_view_wait {
	uint64_t all;              /* samples of these objects */
	uint64_t elsewhere;        /* of these, whose instruction was not the access */
	uint64_t reads_on;         /* that read a header and then more of its cache line */
	uint64_t stores_somewhere; /* stores and no loads, of no known part of the object */
	uint64_t same_object;      /* that repeat the small object of the thread's last sample */
};

/* Samples of Java code at a site's or class's objects that were reached in one way. */
struct lc_view_reach {
	uint32_t bucket, site, path;
	uint32_t why;  /* enum lc_why */
	uint32_t kind; /* enum lc_reference */
	uint32_t name; /* string; the empty one: unknown */
	uint64_t samples, pairs;
};

/* Measurements of some samples by a hardware engine. */
struct lc_view_metric {
	uint64_t samples;
	uint64_t timed;                          /* samples of rows that have a latency */
	uint64_t latency_sum, latency_max;       /* cycles */
	uint64_t hitm, tlb_miss, locked, stores; /* samples */
	uint64_t sources[LC_SOURCE_COUNT];       /* samples */
};

/* An estimated part of a whole, with its 95% interval; 0 to 1. */
struct lc_view_part {
	uint32_t site;
	uint64_t id;
	double share, low, high;
};

/* A class's samples split over allocation sites. */
struct lc_view_split {
	uint32_t class_site;
	enum lc_split_method method;
	double covered; /* samples that the split was made from */
	double rest;    /* share of them whose site is not known */
	/* number of equal objects that would give the split's error; INFINITY: it has none */
	double objects;
	/*
	 * Largest half-width of the intervals, which are of HITS alone: LIVE rests on what is not
	 * known, and its parts' `low` and `high` are those of its sampling error only.
	 */
	double error;
	const struct lc_view_part *parts; /* largest first */
	size_t parts_len;
};

/* A site's estimates from sampled allocations, with 95% intervals. */
struct lc_view_estimate {
	uint32_t site;
	uint64_t id;
	uint64_t sampled;
	double objects, objects_variance, objects_low, objects_high;
	double bytes, bytes_variance, bytes_low, bytes_high;
	double live[LC_LIVE_COLUMNS]; /* objects that outlived lc_live_collections(i) */
};

/* An object site; in lc_view.classes, a class of objects that were not tracked. */
struct lc_view_site {
	uint32_t bucket; /* LC_BUCKET_OBJECT or LC_BUCKET_HEAP_CLASS */
	uint32_t site;
	uint64_t id; /* lc_tree_site_id() */
	uint64_t allocations;
	uint64_t bytes;
	uint64_t spread; /* of the allocations: so many may be of other callers of the line */
	uint64_t samples, pairs;
	const struct lc_view_access *accesses; /* most samples first */
	size_t accesses_len;
	const struct lc_view_split *split; /* NULL: none */
};

/* A place where the program stores the objects of a site. */
struct lc_view_name {
	uint32_t site;
	uint32_t kind; /* enum lc_site_name */
	uint32_t name; /* string: "com.acme.Spectrum.re", "rows[]" */
};

struct lc_view_thread {
	uint32_t row; /* of tree.threads */
	uint32_t process;
	uint32_t tid;
	uint32_t name; /* string */
	uint64_t allocations;
	uint64_t bytes;
	uint64_t samples;
	uint64_t buckets[LC_BUCKET_COUNT];
};

/* Code that samples fell into: a source line, or a method. */
struct lc_view_code {
	uint32_t method;
	uint32_t line1;      /* line + 1; 0: unknown, or a method */
	uint64_t samples;    /* it was the leaf */
	uint64_t in_objects; /* samples in objects whose class is known */
	uint64_t tracked;    /* of these, samples in tracked objects */
	uint64_t total;      /* it was anywhere on the path; methods only */
};

struct lc_view {
	const struct lc_load *load;
	const struct lc_tree *tree;
	uint32_t engine;
	uint64_t total; /* samples of the engine: sum of buckets */
	uint64_t pairs; /* of these; of samples without an access like of the others */
	/*
	 * Interrupts, and the samples that each counts as, if the profiles have them for all
	 * samples.
	 */
	uint64_t interrupts, lightest, heaviest; /* 0: not known */
	uint64_t buckets[LC_BUCKET_COUNT];
	uint64_t where[LC_WHERE_COUNT];
	uint64_t how[LC_HOW_COUNT];
	uint64_t details[LC_WHERE_COUNT][LC_HOW_COUNT];
	struct lc_view_access *accesses; /* without a site, of objects, of classes: each by site,
	                                    then most samples first */
	size_t accesses_len;
	struct lc_view_site *sites; /* as asked for; each allocated or accessed one */
	size_t sites_len;
	struct lc_view_site *classes; /* most samples first */
	size_t classes_len;
	struct lc_view_estimate *estimates; /* most bytes first */
	size_t estimates_len;
	struct lc_view_split *splits; /* by class */
	size_t splits_len;
	struct lc_view_part *parts; /* of splits */
	struct lc_view_field *fields;
	struct lc_table field_groups; /* bucket, site, path to a first field and how many */
	struct lc_view_step *steps;
	/* Bucket, site to a first step, how many, all samples and their pairs. */
	struct lc_table step_groups;
	struct lc_table wait_groups;   /* bucket, site to the numbers of struct lc_view_wait */
	struct lc_view_reach *reaches; /* by bucket and site */
	size_t reaches_len;
	struct lc_view_metric *metrics;
	struct lc_table metric_groups; /* bucket, site, path to row of metrics */
	struct lc_view_name *names;    /* by site, kind and text */
	size_t names_len;
	struct lc_view_thread *threads; /* most samples first */
	size_t threads_len;
	struct lc_view_code *lines; /* most samples first */
	size_t lines_len;
	struct lc_view_code *methods;
	size_t methods_len;
};

/* Free with lc_view_free(). Equal inputs give equal orders, whatever order they were loaded in. */
void lc_view_build(struct lc_view *v, const struct lc_load *load, uint32_t engine,
                   enum lc_view_sort sort);
void lc_view_free(struct lc_view *v);

/* For the path of a question about all paths of a site. */
#define LC_VIEW_ALL_PATHS UINT32_MAX

/* Fields of a site's objects touched on a path, most samples first. NULL where none are known. */
const struct lc_view_field *lc_view_fields(const struct lc_view *v, uint32_t bucket, uint32_t site,
                                           uint32_t path, size_t *len);

/*
 * Steps of a site or class, each with each end once. *total: all samples at it, of which some have
 * no row. NULL where none are known.
 */
const struct lc_view_step *lc_view_steps(const struct lc_view *v, uint32_t bucket, uint32_t site,
                                         size_t *len, struct lc_weighted *total);

/* All samples of the view. */
static inline struct lc_weighted lc_view_all(const struct lc_view *v)
{
	return (struct lc_weighted){ v->total, v->pairs };
}

/* All 0 where the profile does not tell. */
struct lc_view_wait lc_view_waits(const struct lc_view *v, uint32_t bucket, uint32_t site);

/* How a site's or class's objects were reached, in any order; NULL where nothing is known. */
const struct lc_view_reach *lc_view_reaches(const struct lc_view *v, uint32_t bucket, uint32_t site,
                                            size_t *len);

/* Measurements of a site's samples on a path; NULL: none. */
const struct lc_view_metric *lc_view_metric(const struct lc_view *v, uint32_t bucket, uint32_t site,
                                            uint32_t path);

/* Measurements of all samples; NULL: none. */
const struct lc_view_metric *lc_view_metric_all(const struct lc_view *v);

/* The names of a site's objects, by kind and text; NULL where none are known. */
const struct lc_view_name *lc_view_names(const struct lc_view *v, uint32_t site, size_t *len);

/*
 * Samples in code of a Java program: compiled, intrinsic, interpreted. 0 where the engine gives
 * addresses wherever the code was: buckets do not tell then what Java code left unexplained.
 */
uint64_t lc_view_java(const struct lc_view *v);

/* How many of them are in interpreted code, where no address is known. */
uint64_t lc_view_interpreted(const struct lc_view *v);

/* How many of them have no address, or one in the heap whose object is not known. */
uint64_t lc_view_unexplained(const struct lc_view *v);

/* For view.c: each fills its part of the view. */
void lc_view_build_fields(struct lc_view *v);
void lc_view_build_steps(struct lc_view *v);
void lc_view_build_waits(struct lc_view *v);
void lc_view_build_reaches(struct lc_view *v);
void lc_view_build_metrics(struct lc_view *v);
void lc_view_build_estimates(struct lc_view *v);
void lc_view_build_splits(struct lc_view *v);
void lc_view_build_names(struct lc_view *v);

/*
 * Shares of `counts` in their sum as tenths of a percent, rounded so that they add up to 1000
 * (or all 0 when the sum is 0).
 */
void lc_view_tenths(const uint64_t *counts, size_t n, unsigned *tenths);

#endif
