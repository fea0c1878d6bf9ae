/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/live.h - sums up by line what stays after collections, and how it grows: the
 * section LIVE.
 */
#ifndef LC_OBJECTS_ANALYSIS_LIVE_H
#define LC_OBJECTS_ANALYSIS_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/trend.h"
#include "analyzer/objects/analysis/live_holders.h"
#include "analyzer/objects/analysis/ranking.h"

enum { LC_LIVE_AGES = 5 };

/* Objects that a line holds: counted objects, or blocks, and those that samples stand for. */
struct lc_live_held {
	uint64_t objects, bytes;
	struct lc_rank_number estimated, estimated_bytes;
	uint64_t sampled;
};

/* Least bytes in equal parts of the recording: seconds since its begin, bytes. */
struct lc_live_points {
	struct lc_trend_point *points; /* [LC_TREND_POINTS_MAX] */
	size_t len;
};

struct lc_live_line {
	const struct lc_rank_row *row;
	bool off_heap;
	struct lc_live_held now;   /* after the last collection */
	struct lc_live_held young; /* allocated since, dead or not; not of blocks */
	/* Objects now, by the fifth of the collections that they have survived; all 0: unknown. */
	double ages[LC_LIVE_AGES];
	struct lc_live_holders holders; /* of some of the objects; empty if there was no walk */
	struct lc_live_points by_old;   /* of objects: after collections of old ones, too */
	struct lc_live_points by_all;   /* after all before the walk: with dead old objects */
	struct lc_live_reached walked;  /* of the line's sites; all 0: no walk has looked for it */
	/* Now, by the walk: an estimate, and the upper end of its 95% interval. */
	double dead_bytes, dead_most_bytes;
	bool by_walk; /* the trend is that of by_all, since hardly any of them are dead */
	/* The bytes' trend, in bytes a second; the interval has the error of the estimate, too. */
	struct lc_trend trend;
	double first_s, last_s; /* of points at which the line held something; since the begin */
	uint64_t collections;   /* from the first of these on */
	bool matters;           /* it grows, and much */
	/* Since the line held something first, by the trend; at most what it holds now. */
	double grown_bytes, grown_s;
	double left_bytes; /* of the limit; below 0: unknown */
	double full_s;     /* until nothing is left, if it grows on; below 0: unknown */
};

/* The state now of a site that has rows, in the order of lines. */
struct lc_live_site {
	uint32_t site;
	bool off_heap;
	struct lc_live_held now;
};

struct lc_live {
	const char *none; /* a line: why there is nothing to tell; NULL: there is something */
	struct lc_live_line *lines; /* most bytes first, those that hold something now or have */
	size_t len;
	struct lc_live_site *sites;
	size_t sites_len;
	bool one_process;    /* else growth is not told */
	uint64_t heap_bytes; /* in use after the last collection; 0: unknown */
	uint64_t heap_max_bytes, direct_max_bytes; /* 0: unknown */
	uint64_t collections;
	uint64_t old_collections; /* of these: of old objects, too, or of some */
	uint64_t incomplete;      /* collections after which objects were forgotten */
	double seconds;           /* of the points */
	/*
	 * The line that grows most, of those that would be a finding if all their objects were
	 * live, which too few collections can tell; NULL: there is none. In bytes a second.
	 */
	const struct lc_rank_row *unknown;
	double unknown_slope;
	bool ages; /* any line has ages */
	/*
	 * The most collections that objects of each age have survived, and the seconds since the
	 * first of these; all 0 if there are several processes.
	 */
	uint64_t age_collections[LC_LIVE_AGES];
	double age_s[LC_LIVE_AGES];
	struct lc_arena arena;
};

/* Free with lc_live_free(), before the ranking. */
void lc_live_build(struct lc_live *l, const struct lc_ranking *rank);
void lc_live_free(struct lc_live *l);

/* The points of the line's trend. */
static inline const struct lc_live_points *lc_live_points(const struct lc_live_line *line)
{
	return line->by_walk ? &line->by_all : &line->by_old;
}

/* Sampled objects that an estimate needs, as in analyzer/viewer/live.js. */
enum { LC_LIVE_SAMPLED_MIN = 5 };

/* Is it an estimate from so few objects that it says nothing? */
static inline bool lc_live_is_vague(const struct lc_live_held *h)
{
	return !h->objects && h->sampled < LC_LIVE_SAMPLED_MIN;
}

/* Bytes now, counted and estimated. */
static inline double lc_live_bytes(const struct lc_live_held *h)
{
	return (double)h->bytes + h->estimated_bytes.value;
}

/* The part of the line's objects that have this age, of the known ones; 0 if none is known. */
double lc_live_age_part(const struct lc_live_line *line, size_t age);

/* Are the ages of the line's objects known? */
static inline bool lc_live_has_ages(const struct lc_live_line *line)
{
	bool any = false;

	for (size_t i = 0; i < LC_LIVE_AGES; i++)
		any |= line->ages[i] > 0;
	return any;
}

static inline double lc_live_objects(const struct lc_live_held *h)
{
	return (double)h->objects + h->estimated.value;
}

#endif
