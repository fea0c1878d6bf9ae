/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/advice.h - says which change to try for a row that takes much time. All advice
 * stands in one table, each sentence with the evidence that it needs. A row that fits no sentence
 * gets none.
 */
#ifndef LC_OBJECTS_ANALYSIS_ADVICE_H
#define LC_OBJECTS_ANALYSIS_ADVICE_H

#include <stdbool.h>

#include "analyzer/objects/analysis/findings.h"
#include "analyzer/objects/analysis/reaches.h"
#include "analyzer/objects/analysis/touch.h"

/* A row, and the evidence. Everything outlives the call. */
struct lc_advice_of {
	const struct lc_tree *tree;
	const struct lc_rank_row *row;
	const struct lc_touch *touch;
	const struct lc_reaches *reaches;
	enum lc_finding_kind kind;
	double size;     /* mean bytes of an object; 0: unknown */
	bool dies_young; /* nearly all of the objects die before a collection */
};

/*
 * The change to try, as one sentence without its end; NULL: none. The caller frees it. Pure
 * function.
 */
char *lc_advice_find(const struct lc_advice_of *of, struct lc_advice_change *change);

/*
 * "a.Library.parse at b.Main.load:12" of the change's call, or "a.Library.parse, and other calls,
 * at b.Main.load:12". The caller frees it.
 */
char *lc_advice_call_words(const struct lc_tree *t, uint32_t call, bool others);

/* The same of a row of blocks outside the heap. */
char *lc_advice_block(const struct lc_advice_of *of);

/* Calls below which half of some samples or more are. */
struct lc_advice_users {
	uint32_t library; /* path to a library's method that own code calls at one line, or 0 */
	uint32_t inside;  /* path to a method of the JDK that keeps its objects for itself, or 0 */
};

/*
 * Own code and libraries use collections, boxes and buffers of the JDK, which are not its inside.
 * Pure function.
 */
struct lc_advice_users lc_advice_users_of(const struct lc_tree *t,
                                          const struct lc_rank_access *accesses, size_t len,
                                          uint64_t samples);

#define LC_ADVICE_LOOK_UP_ONCE                                                                     \
	"look the member up once and keep it: each look-up makes a copy of what it finds"

/* The evidence that a program makes a call again and again. */
enum lc_advice_repeats {
	LC_REPEATS_JDK,     /* objects die young that the JDK's frames make below the call */
	LC_REPEATS_NOTHING, /* the samples: the call itself takes the time, and makes no objects */
	/*
	 * The call is a library's, up to the next own frame. All objects of classes outside the JDK
	 * that it makes must die young: what is kept would not.
	 */
	LC_REPEATS_LIBRARY,
	/*
	 * The call is one of any library, and own code makes it. `below` has patterns of the
	 * method's name. Calls must be seen apart in time, and the program must keep few objects
	 * that they make.
	 */
	LC_REPEATS_TEXT,      /* a text is among the parameters */
	LC_REPEATS_EVALUATES, /* the same; evaluating the text is part of the call */
	LC_REPEATS_SET_UP,    /* it makes an object of its class, and gets only settings */
};

/* A call of the JDK, or of a library, that a program makes again and again. Static storage. */
struct lc_advice_call {
	const char *below; /* patterns of "Class.method", with spaces between; see `repeats` */
	const char *leaf;  /* the same of the method that allocates; NULL: any */
	const char *does;  /* what samples below it do; NULL: these alone say too little */
	const char *text;
	enum lc_advice_repeats repeats;
};

const struct lc_advice_call *lc_advice_calls(size_t *len);

/* Is the path's leaf such a call? `of`: the method matches `below`. Pure function. */
bool lc_advice_is_call(const struct lc_tree *t, const struct lc_advice_call *call, uint32_t path,
                       bool of);

/* Does the method match `below`? Pure function. */
bool lc_advice_is_below(const struct lc_tree *t, const struct lc_advice_call *call,
                        uint32_t method);

/* Does the path's leaf belong to the call, if its caller does? Pure function. */
bool lc_advice_goes_on(const struct lc_tree *t, const struct lc_advice_call *call, uint32_t path);

/*
 * Are half of the row's objects allocated below the call, by call path? `below`: flags by path of
 * the tree, if they are known; or NULL. Pure function.
 */
bool lc_advice_made_by(const struct lc_tree *t, const struct lc_rank_row *row,
                       const struct lc_advice_call *call, const bool *below);

/* Does the text match one of the patterns, which have spaces between? NULL: of none. */
bool lc_advice_matches(const char *patterns, struct lc_text text);

/* Does "Class.method" of the method, or of the path's leaf, match one of the patterns? */
bool lc_advice_is_method(const struct lc_tree *t, uint32_t method, const char *patterns);
bool lc_advice_method_matches(const struct lc_tree *t, uint32_t path, const char *patterns);

#endif
