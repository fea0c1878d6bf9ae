/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/findings_impl.h - declares what the files that look for findings share. */
#ifndef LC_OBJECTS_ANALYSIS_FINDINGS_IMPL_H
#define LC_OBJECTS_ANALYSIS_FINDINGS_IMPL_H

#include <stdio.h>

#include "analyzer/objects/analysis/findings.h"
#include "analyzer/objects/analysis/reaches.h"
#include "analyzer/objects/analysis/touch.h"

/* The state of a search. */
struct lc_finding_search {
	struct lc_findings *found;
	const struct lc_findings_of *of;
	const struct lc_view *v;
	const struct lc_tree *t;
	const struct lc_savings *savings; /* of what the objects of rows cost */
	size_t cap;
	bool *called; /* by path: a finding about calls has its samples; NULL: there is none */
};

/* Move a text into the arena of the findings. Frees `text`. */
const char *lc_finding_keep(struct lc_finding_search *s, char *text);

/* Add a finding. `number` identifies its subject, and is equal in every profile. */
struct lc_finding *lc_finding_add(struct lc_finding_search *s, enum lc_finding_kind kind,
                                  uint64_t number);

/* Add rows to those that the finding is about. */
void lc_finding_add_rows(struct lc_finding_search *s, struct lc_finding *f,
                         const struct lc_rank_row *const *more, size_t len);

enum { LC_FINDING_JOINED = 2 /* rows that a text names beside the first one */ };

/* Do both paths end in one method? Not if one is 0. */
bool lc_finding_one_method(const struct lc_tree *t, uint32_t a, uint32_t b);

/* The line that allocates the row's objects, plus 1; 0: not known. */
uint32_t lc_finding_line1(const struct lc_finding_search *s, const struct lc_rank_row *row);

/* "char[] of line 187", or the class alone. The caller frees it. */
char *lc_finding_line_words(const struct lc_finding_search *s, const struct lc_rank_row *row);

/*
 * Write what a change is worth: " Accesses alone: up to 1.12x (1.05 to 1.21)." If removing the
 * object saves more: " Accesses alone: 1.12x. With what makes, clears, fills, copies and collects
 * it: up to 1.31x (1.22 to 1.43)." If own code can only change how it calls a library: " Calls of
 * a.Library.parse at b.Main.load:12 take 42.0% of the CPU time without the JIT (38.1 to 46.0)."
 * Above a limit the text only names the limit: nearly all samples are in one object.
 */
void lc_finding_put_gain(FILE *out, const struct lc_finding *f);

/* Let the finding save its share of the CPU time, or of the samples, and nothing else. */
void lc_finding_saves_time(struct lc_finding *f);
void lc_finding_saves_samples(const struct lc_finding_search *s, struct lc_finding *f);

/* Write a text as a sentence of a finding, if it is not empty. Frees it. */
void lc_finding_put_sentence(FILE *out, char *text);

/* " Header read: 58% for a virtual call at Page.get:12." The shares are parts of `whole`. */
void lc_finding_put_whys(FILE *out, const struct lc_tree *t, const struct lc_reaches *reaches,
                         uint64_t whole);

/*
 * Describe a row: "j.l.Long of j.l.Long.valueOf:1204 in a.Main.load:12 (an estimate)". The caller
 * frees the text.
 */
char *lc_finding_row_words(const struct lc_finding_search *s, const struct lc_rank_row *row);

/*
 * findings_rules.c decides which rows are no findings, and which are about headers alone.
 *
 * Does the row say where time goes? There are two exceptions. The instructions that waited may
 * mostly not be the accesses; if the objects die young, they may be the code that makes them. Or
 * all the row's objects fit the first cache of a core, and no other thread takes their lines away.
 */
bool lc_finding_waits_elsewhere(const struct lc_rank_row *row, const struct lc_touch *touch);
bool lc_finding_costs_time(const struct lc_finding_search *s, const struct lc_rank_row *row,
                           const struct lc_touch *touch);

/*
 * Does the program make the row's objects again and again, so that hardly any outlives a
 * collection?
 */
bool lc_finding_dies_young(const struct lc_finding_search *s, const struct lc_rank_row *row);

/*
 * Does the program make the row's objects one after the other, and keep at most the part `most`?
 * Counted objects stay by the bytes that outlived a collection, sampled ones by that column of
 * row->live. False if Locus could not follow the objects.
 */
bool lc_finding_few_stay(const struct lc_finding_search *s, const struct lc_rank_row *row,
                         unsigned column, double most);

/* Do nearly all samples fetch the row's objects for their headers alone? */
bool lc_finding_header_alone(const struct lc_touch *touch);

/*
 * Find the samples in headers of objects that are fetched for the header alone, and the classes of
 * these objects as lc_touch_headers() has them. The caller frees the array.
 */
struct lc_touch_class *lc_finding_headers_alone(const struct lc_finding_search *s, size_t *len,
                                                struct lc_weighted *header);

/* findings_calls.c: findings of calls that make objects or look them up again and again. */
void lc_finding_calls(struct lc_finding_search *s);

/*
 * findings_again.c: evidence that a call is made again and again. Samples are below the call in at
 * least four stretches of time in which the same threads also did something else; and the program
 * keeps at most a tenth of the row's objects.
 */
bool lc_finding_is_repeated(const struct lc_finding_search *s, const bool *on);
bool lc_finding_is_dropped(const struct lc_finding_search *s, const struct lc_rank_row *row);

/* findings_rows.c: findings of rows that no finding so far explains. */
void lc_finding_rows(struct lc_finding_search *s);

/*
 * findings_paths.c sums samples up by call path. Flags by path; the methods that match the patterns
 * of "Class.method", looked up once for all their paths; and flags of all paths at or below such a
 * method. The caller frees the arrays.
 */
bool *lc_finding_flags(const struct lc_finding_search *s);
bool *lc_finding_methods(const struct lc_finding_search *s, const char *patterns);
bool *lc_finding_below(const struct lc_finding_search *s, const char *patterns);

/* The part of the CPU time that the flagged paths take, with the collector's work for them. */
struct lc_saving_part lc_finding_part(const struct lc_finding_search *s, const bool *on);

/* Find what the calls take of which the finding's change has one. */
void lc_finding_take_calls(struct lc_finding_search *s, struct lc_finding *f);

/* The samples of the view, of it at or below such methods, and of a row, on the flagged paths. */
struct lc_weighted lc_finding_sum(const struct lc_finding_search *s, const bool *on);
uint64_t lc_finding_sum_below(const struct lc_finding_search *s, const bool *on,
                              const char *patterns);
uint64_t lc_finding_row_sum(const struct lc_rank_row *row, const bool *on);

/* Do the calls of a finding make half of the row's objects, by call path? */
bool lc_finding_made_below(const struct lc_finding_search *s, const struct lc_rank_row *row);

/* Give the finding the share of these samples, and let it save them. Are they enough for one? */
void lc_finding_weigh(const struct lc_finding_search *s, struct lc_finding *f,
                      struct lc_weighted sum);
bool lc_finding_is_enough(const struct lc_finding_search *s, struct lc_weighted sum);

/* The path to the frame that made a call: the nearest one above that is not flagged; 0: none. */
typedef uint32_t lc_finding_caller_fn(const struct lc_tree *t, const bool *on, uint32_t path);
lc_finding_caller_fn lc_finding_caller;

/*
 * ", 93% of them for Main.send:30": the line outside the JDK from which most samples on flagged
 * paths come, by the frame that made the call.
 */
void lc_finding_put_callers(FILE *out, const struct lc_finding_search *s, const bool *on,
                            lc_finding_caller_fn *caller);

/* ", most by a.Parser.<init>": the flagged method that most samples are below. */
void lc_finding_put_method(FILE *out, const struct lc_finding_search *s, const bool *on);

/* findings_offheap.c: findings of blocks outside the heap that are not about their accesses. */
void lc_finding_blocks(struct lc_finding_search *s);

/* The longest time that a process of the profile was recorded, in ns; 0: not known. */
uint64_t lc_finding_recorded_ns(const struct lc_finding_search *s);

/* findings_other.c: findings of other analyses. */
void lc_finding_sharing(struct lc_finding_search *s);
void lc_finding_remote(struct lc_finding_search *s);
void lc_finding_spans(struct lc_finding_search *s);

/* findings_contents.c: arrays of which little is used, and arrays equal to others. */
void lc_finding_contents(struct lc_finding_search *s);

/* findings_grows.c: lines that hold more and more. */
void lc_finding_grows(struct lc_finding_search *s);

/* A number for a row that may have no samples, equal in every profile: a hash of class and line. */
uint64_t lc_finding_number_of_line(const struct lc_finding_search *s,
                                   const struct lc_rank_row *row);

#endif
