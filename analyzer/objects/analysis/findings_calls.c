/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/findings_calls.c - finds time that goes into calls of the JDK, whose samples are
 * mostly in the JVM or at many objects, so that no row of the ranking has them: stack traces of
 * exceptions, values of ThreadLocals, and calls that make the same objects each time.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/advice.h"
#include "analyzer/objects/analysis/findings_impl.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/out/screen.h"
#include "src/base/hash.h"
#include "src/base/order.h"

#define TRACE "java.lang.Throwable.fillInStackTrace"
/* A caller of the JDK that wants the trace itself, */
#define WANTS "java.lang.Thread.getStackTrace java.lang.Thread.dumpStack"
/* ... and the calls that read one. */
#define READS                                                                                      \
	"java.lang.Throwable.getStackTrace java.lang.Throwable.getOurStackTrace "                  \
	"java.lang.Throwable.printStackTrace java.lang.Throwable.getStackTraceDepth " WANTS
#define LOOKS "java.lang.ThreadLocal.* java.lang.ThreadLocal$*"
#define MAKES "java.lang.ThreadLocal.setInitialValue"
#define REMOVES "java.lang.ThreadLocal.remove java.lang.ThreadLocal$ThreadLocalMap.remove"
/* The map of a thread's values has many entries, or some of values that were dropped. */
#define MISSES                                                                                     \
	"java.lang.ThreadLocal$ThreadLocalMap.getEntryAfterMiss "                                  \
	"java.lang.ThreadLocal$ThreadLocalMap.*expunge* "                                          \
	"java.lang.ThreadLocal$ThreadLocalMap.cleanSomeSlots "                                     \
	"java.lang.ThreadLocal$ThreadLocalMap.replaceStaleEntry "                                  \
	"java.lang.ThreadLocal$ThreadLocalMap.nextIndex "                                          \
	"java.lang.ThreadLocal$ThreadLocalMap.rehash java.lang.ThreadLocal$ThreadLocalMap.resize"

enum { BY_LOOK_UP = 1, BY_MAKING = 2 }; /* numbers of findings of ThreadLocals */

/* The search. */
struct search {
	struct lc_finding_search *s;
	bool *jdk;     /* by number of the method: it is the JDK's */
	bool *library; /* by path: a finding of calls of a library has its samples */
};

static bool is_jdk(const struct search *c, uint32_t path)
{
	return c->jdk[lc_tree_method_number(c->s->t, path)];
}

static bool is_named(const struct lc_tree *t, uint32_t path, const char *name)
{
	return lc_text_is(lc_tree_text(t, lc_tree_method(t, path)[LC_METHOD_NAME]), name);
}

/* The same as lc_finding_below(), as far as the call goes: code of the program may do more. */
static bool *inside(const struct search *c, const struct lc_advice_call *call)
{
	const struct lc_tree *t = c->s->t;
	bool *of = lc_mem_zeroed(t->methods.count, sizeof(*of)), *on = lc_finding_flags(c->s);

	for (uint32_t i = 0; i < t->methods.count; i++)
		of[i] = lc_advice_is_below(t, call, i);
	for (uint32_t path = 1; path < t->paths.count; path++)
		on[path] = (lc_advice_is_call(t, call, path, of[lc_tree_method_number(t, path)]) ||
		            on[lc_tree_parent(t, path)]) &&
		           lc_advice_goes_on(t, call, path);
	free(of);
	return on;
}

/* The flagged paths' samples are the finding's: rows that have no others are explained. */
static void take(const struct search *c, const bool *on)
{
	struct lc_finding_search *s = c->s;

	if (!s->called)
		s->called = lc_finding_flags(s);
	for (uint32_t path = 1; path < s->t->paths.count; path++)
		s->called[path] |= on[path];
}

/* The call of a library by own code below which half of the flagged paths' samples are; 0: none. */
static uint32_t library_call(const struct lc_finding_search *s, const bool *on, uint64_t samples)
{
	struct lc_rank_access *accesses = lc_mem_zeroed(s->v->accesses_len, sizeof(*accesses));
	size_t len = 0;
	uint32_t call;

	for (size_t i = 0; i < s->v->accesses_len; i++) {
		const struct lc_view_access *a = &s->v->accesses[i];

		if (a->path && on[a->path])
			accesses[len++] = (struct lc_rank_access){ a->path, a->samples };
	}
	call = lc_advice_users_of(s->t, accesses, len, samples).library;
	free(accesses);
	return call;
}

/* Does a library make half of these calls, and a finding name the library's? */
static bool of_library(const struct search *c, const bool *on, uint64_t samples)
{
	bool *both = lc_finding_flags(c->s);
	uint64_t sum;

	for (uint32_t path = 1; path < c->s->t->paths.count; path++)
		both[path] = on[path] && c->library[path];
	sum = lc_finding_sum(c->s, both).samples;
	free(both);
	return 2 * sum >= samples;
}

/* A finding with the samples of the flagged paths; NULL: they are too few, or another's. */
static struct lc_finding *add(const struct search *c, enum lc_finding_kind kind, uint64_t number,
                              const bool *on)
{
	const struct lc_weighted sum = lc_finding_sum(c->s, on);
	struct lc_finding *f;

	if (!lc_finding_is_enough(c->s, sum) || of_library(c, on, sum.samples))
		return NULL;
	f = lc_finding_add(c->s, kind, number);
	lc_finding_weigh(c->s, f, sum);
	f->saves.all = lc_finding_part(c->s, on);
	f->about.call = library_call(c->s, on, sum.samples);
	lc_finding_take_calls(c->s, f);
	take(c, on);
	return f;
}

/* "12.0% of the samples (10.1 to 14.2) `does`" */
static void put_share(FILE *out, const struct lc_finding *f, const char *does)
{
	fprintf(out, "%.1f%% of the samples (%.1f to %.1f) %s", 100 * f->share, 100 * f->low,
	        100 * f->high, does);
}

/* ---- exceptions ---- */

/* Does the method allocate objects of the class? */
static bool allocates(const struct lc_tree *t, uint32_t method, uint32_t class)
{
	for (uint32_t i = 1; i < t->sites.count; i++) {
		const uint32_t *site = lc_table_key(&t->sites, i);

		if (site[LC_SITE_CLASS] == class && site[LC_SITE_PATH] &&
		    lc_tree_method_number(t, site[LC_SITE_PATH]) == method)
			return true;
	}
	return false;
}

/*
 * Is the path's leaf the constructor of an exception? `below`: the class of the exception's
 * constructor that it calls. A class whose name does not tell is one if its caller allocates
 * objects of it, and it none of the class below.
 */
static bool constructs_exception(const struct lc_tree *t, uint32_t path, uint32_t below)
{
	const uint32_t class = lc_tree_method(t, path)[LC_METHOD_CLASS],
	               caller = lc_tree_parent(t, path);
	const struct lc_text name = lc_tree_text(t, class);

	if (!is_named(t, path, "<init>"))
		return false;
	if (lc_text_ends(name, "Exception") || lc_text_ends(name, "Error") ||
	    lc_text_ends(name, "Throwable"))
		return true;
	return caller && allocates(t, lc_tree_method_number(t, caller), class) &&
	       !allocates(t, lc_tree_method_number(t, path), below);
}

/*
 * The path to the frame that makes the exception. `*class`: that of its outermost constructor; 0:
 * not known.
 */
static uint32_t thrower_of(const struct lc_tree *t, const bool *on, uint32_t path, uint32_t *class)
{
	*class = 0;
	for (path = lc_finding_caller(t, on, path); path && constructs_exception(t, path, *class);
	     path = lc_tree_parent(t, path))
		*class = lc_tree_method(t, path)[LC_METHOD_CLASS];
	return path;
}

static uint32_t thrower(const struct lc_tree *t, const bool *on, uint32_t path)
{
	uint32_t class;

	return thrower_of(t, on, path, &class);
}

/* Samples of traces that code of the program or a library records, without those that want it. */
static bool *recording(const struct search *c)
{
	const struct lc_tree *t = c->s->t;
	bool *on = lc_finding_below(c->s, TRACE), *wants = lc_finding_methods(c->s, WANTS);
	bool *kept = lc_finding_flags(c->s);

	for (uint32_t path = 1; path < t->paths.count; path++) {
		const uint32_t by = on[path] ? thrower(t, on, path) : 0;

		kept[path] = by && !wants[lc_tree_method_number(t, by)];
	}
	free(on);
	free(wants);
	return kept;
}

/* The class of most of these exceptions; `*jdk`: does the JDK's code throw most of them? */
static uint32_t most_thrown(const struct search *c, const bool *on, bool *jdk)
{
	const struct lc_view *v = c->s->v;
	const struct lc_tree *t = c->s->t;
	uint64_t *samples = lc_mem_zeroed(t->strings.count, sizeof(*samples)), all = 0, jdks = 0;
	uint32_t best = 0;

	for (size_t i = 0; i < v->accesses_len; i++) {
		const uint32_t path = v->accesses[i].path;
		uint32_t class, by;

		if (!path || !on[path])
			continue;
		by = thrower_of(t, on, path, &class);
		samples[class] += v->accesses[i].samples;
		if (class && samples[class] > samples[best])
			best = class;
		all += v->accesses[i].samples;
		if (is_jdk(c, by))
			jdks += v->accesses[i].samples;
	}
	*jdk = 2 * jdks > all;
	if (2 * samples[best] < all)
		best = 0;
	free(samples);
	return best;
}

/* Traces that are read: a log that prints the caller of each message, or prints exceptions. */
static void find_readers(const struct search *c, const bool *recording, const bool *reads)
{
	bool *both = lc_finding_flags(c->s);
	struct lc_finding *f;
	char *text;
	size_t len;
	FILE *out;

	for (uint32_t path = 1; path < c->s->t->paths.count; path++)
		both[path] = recording[path] || reads[path];
	f = add(c, LC_FINDING_STACK_TRACES, 2, both);
	if (f) {
		out = lc_text_open(&text, &len);
		put_share(out, f, "record and read stack traces");
		lc_finding_put_callers(out, c->s, both, lc_finding_caller);
		putc('.', out);
		lc_finding_put_gain(out, f);
		lc_mem_close_text(out);
		f->text = lc_finding_keep(c->s, text);
		f->change =
		    "ask for fewer traces: leave class, method and line out of a log's pattern, "
		    "print an exception's trace once, or read the first frames alone (StackWalker)";
	}
	free(both);
}

static char *trace_words(const struct search *c, const struct lc_finding *f, const bool *on,
                         uint32_t class, uint64_t reading)
{
	char *text, *name;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	put_share(out, f, "record stack traces of exceptions");
	lc_finding_put_callers(out, c->s, on, thrower);
	if (class) {
		name = lc_short_class(lc_tree_text(c->s->t, class));
		fprintf(out, ", most of class %s", name);
		free(name);
	}
	fprintf(out, "; %.1f%% read traces.", 100 * lc_share(reading, c->s->v->total));
	lc_finding_put_gain(out, f);
	lc_mem_close_text(out);
	return text;
}

/*
 * To read a trace takes longer than to record it: with less time, most are never read. Otherwise
 * the cause is who reads them.
 */
static void find_traces(const struct search *c)
{
	bool *on = recording(c), *reads = lc_finding_below(c->s, READS), jdk;
	const uint64_t reading = lc_finding_sum(c->s, reads).samples;
	const uint32_t class = most_thrown(c, on, &jdk);
	struct lc_finding *f = NULL;

	if (reading < lc_finding_sum(c->s, on).samples)
		f = add(c, LC_FINDING_STACK_TRACES, 1, on);
	else
		find_readers(c, on, reads);
	if (f) {
		f->text = lc_finding_keep(c->s, trace_words(c, f, on, class, reading));
		f->change = jdk ? "test the value before the call, or use a call that returns a "
		                  "value: this one throws an exception each time that it fails"
		                : "return a value instead of throwing, throw an exception that was "
		                  "made once, or leave the stack trace out (a constructor with "
		                  "writableStackTrace false)";
	}
	free(on);
	free(reads);
}

/* ---- values of ThreadLocals ---- */

/* Paths that look values up for code outside the JDK, which can keep the value. */
static bool *looking_up(const struct search *c, const bool *making)
{
	const struct lc_tree *t = c->s->t;
	bool *of = lc_finding_methods(c->s, LOOKS), *on = lc_finding_flags(c->s);

	for (uint32_t path = 1; path < t->paths.count; path++) {
		const uint32_t parent = lc_tree_parent(t, path);

		on[path] = !making[path] && is_jdk(c, path) &&
		           (on[parent] ||
		            (parent && !is_jdk(c, parent) && of[lc_tree_method_number(t, path)]));
	}
	free(of);
	return on;
}

static void find_look_ups(const struct search *c, const bool *making)
{
	bool *on = looking_up(c, making);
	struct lc_finding *f = add(c, LC_FINDING_THREAD_LOCALS, BY_LOOK_UP, on);
	uint64_t samples, misses;
	char *text;
	size_t len;
	FILE *out;

	if (f) {
		samples = lc_finding_sum(c->s, on).samples;
		misses = lc_finding_sum_below(c->s, on, MISSES);
		out = lc_text_open(&text, &len);
		put_share(out, f, "look up values of ThreadLocals");
		lc_finding_put_callers(out, c->s, on, lc_finding_caller);
		if (2 * misses >= samples)
			fprintf(out, "; %.0f%% of them search beyond the first entry, or clear up",
			        100 * lc_share(misses, samples));
		putc('.', out);
		lc_finding_put_gain(out, f);
		lc_mem_close_text(out);
		f->text = lc_finding_keep(c->s, text);
		f->change = 2 * misses >= samples
		                ? "keep all that a thread needs in one object of one static "
		                  "ThreadLocal: the map of the thread's values is crowded"
		                : "get the thread's value once, before the loop, and pass it on";
	}
	free(on);
}

/*
 * Does the path allocate a value, not something that the code which makes one throws away? From the
 * leaf there are constructors, one method that makes the value, and the JDK's frames that call it.
 */
static bool makes_value(const struct search *c, const bool *making, uint32_t path)
{
	const struct lc_tree *t = c->s->t;

	while (making[path] && is_named(t, path, "<init>"))
		path = lc_tree_parent(t, path);
	if (making[path] && !is_jdk(c, path))
		path = lc_tree_parent(t, path);
	/* The class of a lambda expression may have a frame. */
	while (making[path] && (is_named(t, path, "get") || is_named(t, path, "initialValue")))
		path = lc_tree_parent(t, path);
	return making[path] && lc_advice_method_matches(t, path, MAKES);
}

/* Are half of the row's objects, by call path, values of ThreadLocals? */
static bool has_values(const struct search *c, const bool *making, const struct lc_rank_row *row)
{
	size_t sites = 0;

	for (size_t i = 0; i < row->sites_len; i++) {
		const uint32_t path = lc_table_key(&c->s->t->sites, row->sites[i])[LC_SITE_PATH];

		sites += path && makes_value(c, making, path);
	}
	return sites && 2 * sites >= row->sites_len;
}

/* The row of values that die young, though a thread keeps its values; NULL: there is none. */
static const struct lc_rank_row *values_that_die(const struct search *c, const bool *making)
{
	const struct lc_ranking *r = c->s->of->ranking;

	for (size_t i = 0; i < r->len; i++)
		if (has_values(c, making, &r->rows[i]) && lc_finding_dies_young(c->s, &r->rows[i]))
			return &r->rows[i];
	return NULL;
}

static void find_values(const struct search *c, const bool *making)
{
	const struct lc_rank_row *row = values_that_die(c, making);
	struct lc_finding *f = row ? add(c, LC_FINDING_THREAD_LOCALS, BY_MAKING, making) : NULL;
	struct lc_saving saves;
	bool *removes;
	uint64_t removing;
	char *text;
	size_t len;
	FILE *out;

	if (!f)
		return;
	f->row = row;
	saves = lc_saving_of(c->s->savings, &row, 1, NULL);
	if (saves.all.share > f->saves.all.share)
		f->saves.all = saves.all;
	removes = lc_finding_below(c->s, REMOVES);
	removing = lc_finding_sum(c->s, removes).samples;
	out = lc_text_open(&text, &len);
	put_share(out, f, "make values of ThreadLocals");
	lc_finding_put_callers(out, c->s, making, lc_finding_caller);
	fputs(". These values die young", out);
	if (removing)
		fprintf(out, "; %.1f%% remove such values",
		        100 * lc_share(removing, c->s->v->total));
	putc('.', out);
	lc_finding_put_gain(out, f);
	lc_mem_close_text(out);
	f->text = lc_finding_keep(c->s, text);
	f->change =
	    removing ? "clear the value after its use instead of calling remove(): the next get() "
	               "makes a new one"
	             : "keep the threads in a pool if they end soon, or clear the value instead of "
	               "calling remove(): the next get() makes a new one";
	free(removes);
}

static void find_thread_locals(const struct search *c)
{
	bool *making = lc_finding_below(c->s, MAKES);

	find_look_ups(c, making);
	find_values(c, making);
	free(making);
}

/* ---- calls that make the same objects each time ---- */

static uint64_t number_of(const struct lc_advice_call *call)
{
	uint64_t number = 0;

	for (const char *p = call->does; *p; p++)
		number = lc_hash_add(number, (uint8_t)*p);
	return number;
}

/* All objects of classes outside the JDK that the library's calls make, as if of one row. */
static struct lc_rank_row made_by_library(const struct search *c, const struct lc_advice_call *call,
                                          const bool *on)
{
	const struct lc_ranking *r = c->s->of->ranking;
	struct lc_rank_row sum = { 0 };

	for (size_t i = 0; i < r->len; i++) {
		const struct lc_rank_row *row = &r->rows[i];

		if (lc_own_is_jdk(lc_tree_text(c->s->t, row->class)) ||
		    !lc_advice_made_by(c->s->t, row, call, on))
			continue;
		sum.path = row->path;
		sum.allocations += row->allocations;
		sum.bytes += row->bytes;
		sum.copies.outlived_bytes += row->copies.outlived_bytes;
		sum.sampled += row->sampled;
		sum.objects.value += row->objects.value;
		for (unsigned k = 0; k < LC_LIVE_COLUMNS; k++)
			sum.live[k] += row->live[k];
	}
	return sum;
}

/* Do objects that the call makes die young? Without that, it may be made once for each of many. */
static bool made_again(const struct search *c, const struct lc_advice_call *call, const bool *on)
{
	const struct lc_ranking *r = c->s->of->ranking;

	if (call->repeats >= LC_REPEATS_LIBRARY) {
		const struct lc_rank_row sum = made_by_library(c, call, on);

		return call->repeats == LC_REPEATS_LIBRARY
		           ? lc_finding_dies_young(c->s, &sum)
		           : lc_finding_is_repeated(c->s, on) && lc_finding_is_dropped(c->s, &sum);
	}
	for (size_t i = 0; i < r->len; i++)
		if (lc_finding_dies_young(c->s, &r->rows[i]) &&
		    lc_advice_made_by(c->s->t, &r->rows[i], call, on))
			return true;
	return false;
}

/* The own frame, or the library's, above the call. */
static uint32_t own_caller(const struct lc_tree *t, const bool *on, uint32_t path)
{
	return lc_own_or_library(t, lc_finding_caller(t, on, path));
}

static void find_repeated(const struct search *c, const struct lc_advice_call *call)
{
	bool *on = inside(c, call);
	const bool nothing = call->repeats == LC_REPEATS_NOTHING;
	const uint32_t paths = c->s->t->paths.count;
	struct lc_finding *f = NULL;
	char *text;
	size_t len;
	FILE *out;

	if (lc_finding_is_enough(c->s, lc_finding_sum(c->s, on)) &&
	    (nothing || made_again(c, call, on)))
		f = add(c, LC_FINDING_REPEATED_CALLS, number_of(call), on);
	if (f) {
		/* The texts are still to be evaluated: what that takes is not known. */
		f->about.less_often = call->repeats == LC_REPEATS_EVALUATES;
		out = lc_text_open(&text, &len);
		put_share(out, f, call->does);
		lc_finding_put_callers(out, c->s, on,
		                       call->repeats >= LC_REPEATS_LIBRARY ? own_caller
		                                                           : lc_finding_caller);
		if (call->repeats > LC_REPEATS_LIBRARY)
			lc_finding_put_method(out, c->s, on);
		fputs(nothing ? "."
		      : call->repeats <= LC_REPEATS_LIBRARY
		          ? ". The objects that they make die young."
		          : ". Few objects that they make are kept.",
		      out);
		lc_finding_put_gain(out, f);
		lc_mem_close_text(out);
		f->text = lc_finding_keep(c->s, text);
		f->change = call->text;
	}
	for (uint32_t i = 0; f && call->repeats >= LC_REPEATS_LIBRARY && i < paths; i++)
		c->library[i] |= on[i];
	free(on);
}

/* Calls of libraries first: what they call in the JDK is no finding of its own. */
static void find_all_repeated(const struct search *c, bool of_libraries)
{
	size_t len;
	const struct lc_advice_call *calls = lc_advice_calls(&len);

	for (size_t i = 0; i < len; i++)
		if (calls[i].does && (calls[i].repeats >= LC_REPEATS_LIBRARY) == of_libraries)
			find_repeated(c, &calls[i]);
}

void lc_finding_calls(struct lc_finding_search *s)
{
	const struct lc_tree *t = s->t;
	const struct search c = { s, lc_mem_zeroed(t->methods.count, sizeof(bool)),
		                  lc_finding_flags(s) };

	for (uint32_t i = 0; i < t->methods.count; i++)
		c.jdk[i] =
		    lc_own_is_jdk(lc_tree_text(t, lc_table_key(&t->methods, i)[LC_METHOD_CLASS]));
	find_all_repeated(&c, true);
	find_traces(&c);
	find_thread_locals(&c);
	find_all_repeated(&c, false);
	free(c.jdk);
	free(c.library);
}
