/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/findings_offheap.c - finds costs of blocks outside the heap other than those of
 * accesses to them: blocks that are made and freed again and again, heap buffers that I/O copies,
 * and mapped files whose pages accesses read in.
 *
 * Counts of blocks are exact, and tell no cost. A finding needs samples of the code that makes,
 * frees or copies.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/advice.h"
#include "analyzer/objects/analysis/findings_impl.h"
#include "analyzer/objects/analysis/offheap.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"
#include "src/base/order.h"

/* The JDK's methods that a program calls for a block, */
#define MAKE                                                                                       \
	"java.nio.ByteBuffer.allocateDirect java.nio.DirectByteBuffer.<init> "                     \
	"java.lang.foreign.*.allocate* jdk.internal.foreign.*.allocate* "                          \
	"sun.misc.Unsafe.allocateMemory sun.misc.Unsafe.reallocateMemory "                         \
	"jdk.internal.misc.Unsafe.allocateMemory* jdk.internal.misc.Unsafe.reallocateMemory* "     \
	"java.nio.channels.FileChannel.map sun.nio.ch.FileChannelImpl.map*"
/* ... or that call such a method for it, */
#define ADAPT "java.lang.invoke.* java.lang.reflect.* jdk.internal.reflect.*"
/* ... or that free one, whoever calls them, */
#define FREE                                                                                       \
	"java.nio.DirectByteBuffer$Deallocator.run sun.misc.Unsafe.invokeCleaner "                 \
	"sun.misc.Unsafe.freeMemory jdk.internal.misc.Unsafe.freeMemory* "                         \
	"java.lang.foreign.Arena.close jdk.internal.foreign.*.close "                              \
	"sun.nio.ch.FileChannelImpl$Unmapper.*"
/* ... or that get a direct buffer for the I/O of a heap buffer, */
#define TEMPORARY                                                                                  \
	"sun.nio.ch.Util.*TemporaryDirectBuffer sun.nio.ch.Util.*TemporaryAlignedDirectBuffer"
/* ... and, where classes of `sun.nio.ch` call them, copy between the two. */
#define COPY "java.nio.*Buffer.put* java.nio.*Buffer.get*"
#define STREAMS "sun.nio.ch.NioSocketImpl.* sun.nio.ch.SocketInputStream.*"
/* ... or that read a mapped file in, because the program says so. */
#define READ_IN                                                                                    \
	"java.nio.MappedByteBuffer.load java.nio.MappedMemoryUtils.load "                          \
	"java.lang.foreign.MemorySegment.load jdk.internal.foreign.*.load"

static uint64_t number_of(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	return row->sites_len ? lc_tree_site_id(s->t, row->sites[0]) : 0;
}

/* ---- blocks that are made and freed again and again ---- */

static const char *again_change(struct lc_text class)
{
	if (lc_offheap_mapped(class))
		return "map the file once, and keep the mapping";
	if (lc_text_begins(class, "java.nio."))
		return "keep one direct buffer (in a field, or one for each thread) and use it "
		       "again "
		       "(clear()), or take buffers from a pool";
	if (lc_text_begins(class, "java.lang.foreign."))
		return "allocate one segment and use it again "
		       "(SegmentAllocator.prefixAllocator()), or keep segments in a pool";
	return "keep the blocks in a pool and use them again";
}

static char *again_words(const struct lc_finding_search *s, const struct lc_finding *f,
                         double making)
{
	const struct lc_rank_offheap *o = &f->row->offheap;
	const double seconds = (double)lc_finding_recorded_ns(s) / 1e9;
	char *what = lc_finding_row_words(s, f->row), *text, all[32], each[32], rate[48] = "";
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	if (seconds > 0 && !lc_load_range_on(s->v->load->range))
		snprintf(rate, sizeof(rate), " (%.0f each second)", (double)o->allocated / seconds);
	fprintf(out,
	        "%s: %" PRIu64 " blocks were allocated%s, %s in all (%s each), and %.0f%% of them "
	        "freed. %.1f%% of the samples (%.1f to %.1f) make, clear and free them: %.1f%% at "
	        "that line, and a part of those that free blocks, by bytes.",
	        what, o->allocated, rate, lc_emit_bytes(all, sizeof(all), o->allocated_bytes),
	        lc_emit_bytes(each, sizeof(each), o->allocated_bytes / o->allocated),
	        100 * lc_share(o->freed, o->allocated), 100 * f->share, 100 * f->low, 100 * f->high,
	        100 * making);
	lc_finding_put_gain(out, f);
	lc_mem_close_text(out);
	free(what);
	return text;
}

/* Methods of the JDK, by number. */
struct makers {
	bool *make;  /* MAKE */
	bool *adapt; /* ADAPT */
};

/*
 * Flag paths below a call at the row's line that makes blocks. `under`: flags for paths whose leaf
 * that line calls, itself or by an adapter.
 */
static void flag_making(const struct lc_finding_search *s, const struct lc_rank_row *row,
                        const struct makers *m, bool *under, bool *on)
{
	const struct lc_tree *t = s->t;

	for (uint32_t path = 1; path < t->paths.count; path++) {
		const uint32_t parent = lc_tree_parent(t, path);

		under[path] =
		    parent && (lc_tree_same_line(t, parent, row->path) ||
		               (under[parent] && m->adapt[lc_tree_method_number(t, parent)]));
		on[path] = on[parent] || (under[path] && m->make[lc_tree_method_number(t, path)]);
	}
}

/* The row's part of the samples that free blocks: that of the bytes freed. */
static struct lc_weighted freeing_of(const struct lc_rank_row *row, struct lc_weighted freeing,
                                     uint64_t freed_bytes)
{
	const double part = lc_share(row->offheap.freed_bytes, freed_bytes);

	return (struct lc_weighted){ (uint64_t)llround(part * (double)freeing.samples),
		                     (uint64_t)llround(part * (double)freeing.pairs) };
}

/* Samples on all paths through a method that frees blocks. */
static struct lc_weighted all_freeing(const struct lc_finding_search *s)
{
	bool *on = lc_finding_below(s, FREE);
	const struct lc_weighted sum = lc_finding_sum(s, on);

	free(on);
	return sum;
}

static void find_again(struct lc_finding_search *s)
{
	const struct lc_ranking *r = s->of->ranking;
	const uint64_t freed_bytes = lc_offheap_all(r).freed_bytes;
	const struct makers m = { lc_finding_methods(s, MAKE), lc_finding_methods(s, ADAPT) };
	bool *under = lc_finding_flags(s), *on = lc_finding_flags(s);
	const struct lc_weighted freeing = all_freeing(s);

	for (size_t i = 0; i < r->len; i++) {
		const struct lc_rank_row *row = &r->rows[i];
		const struct lc_rank_offheap *o = &row->offheap;
		struct lc_weighted making, sum;
		struct lc_finding *f;

		if (!row->path || o->allocated < LC_FINDING_BLOCKS_MIN ||
		    (double)o->freed < LC_FINDING_FREED_MIN * (double)o->allocated ||
		    lc_advice_method_matches(s->t, row->path, TEMPORARY))
			continue;
		flag_making(s, row, &m, under, on);
		making = lc_finding_sum(s, on);
		sum = lc_wilson_sum(making, freeing_of(row, freeing, freed_bytes));
		if (!lc_finding_is_enough(s, sum))
			continue;
		f = lc_finding_add(s, LC_FINDING_SHORT_BLOCKS, number_of(s, row));
		f->row = row;
		f->row_samples = lc_finding_row_sum(row, on);
		lc_finding_weigh(s, f, sum);
		f->text =
		    lc_finding_keep(s, again_words(s, f, lc_share(making.samples, s->v->total)));
		f->change = again_change(lc_tree_text(s->t, row->class));
	}
	free(m.make);
	free(m.adapt);
	free(under);
	free(on);
}

/* ---- heap buffers that I/O copies ---- */

/* Flag paths that copy between a heap buffer and a temporary direct one, or get the latter. */
static void flag_copies(const struct lc_finding_search *s, bool *on)
{
	const struct lc_tree *t = s->t;
	bool *temporary = lc_finding_methods(s, TEMPORARY), *copies = lc_finding_methods(s, COPY);
	bool *channels = lc_finding_methods(s, "sun.nio.ch.*");

	for (uint32_t path = 1; path < t->paths.count; path++) {
		const uint32_t parent = lc_tree_parent(t, path),
		               method = lc_tree_method_number(t, path);

		on[path] = on[parent] || temporary[method] ||
		           (copies[method] && parent && channels[lc_tree_method_number(t, parent)]);
	}
	free(temporary);
	free(copies);
	free(channels);
}

/* Do most of these samples come from streams of sockets, which have no buffer of the program's? */
static bool of_streams(const struct lc_finding_search *s, const bool *on)
{
	return 2 * lc_finding_sum_below(s, on, STREAMS) > lc_finding_sum(s, on).samples;
}

/* The blocks of temporary buffers; *row: the row with most bytes of them, or NULL. */
static struct lc_rank_offheap temporary_of(const struct lc_finding_search *s,
                                           const struct lc_rank_row **row)
{
	const struct lc_ranking *r = s->of->ranking;
	struct lc_rank_offheap sum = { 0 };

	*row = NULL;
	for (size_t i = 0; i < r->len; i++) {
		const struct lc_rank_offheap *o = &r->rows[i].offheap;

		if (!o->allocated || !r->rows[i].path ||
		    !lc_advice_method_matches(s->t, r->rows[i].path, TEMPORARY))
			continue;
		if (!*row || o->allocated_bytes > (*row)->offheap.allocated_bytes)
			*row = &r->rows[i];
		sum.allocated += o->allocated;
		sum.allocated_bytes += o->allocated_bytes;
		sum.freed += o->freed;
		sum.freed_bytes += o->freed_bytes;
	}
	return sum;
}

static char *copied_words(const struct lc_finding_search *s, const struct lc_finding *f,
                          const struct lc_rank_offheap *o, const bool *on)
{
	char *text, *at, live[32];
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	if (f->share > 0) {
		fprintf(out,
		        "%.1f%% of the samples (%.1f to %.1f) copy buffers of the heap for I/O, "
		        "through temporary direct buffers",
		        100 * f->share, 100 * f->low, 100 * f->high);
		lc_finding_put_callers(out, s, on, lc_finding_caller);
		putc('.', out);
		lc_finding_put_gain(out, f);
		putc(' ', out);
	} else {
		fputs("I/O copies buffers of the heap through temporary direct buffers. ", out);
	}
	fputs("The JDK keeps the temporary buffers for each thread, as large as its largest I/O",
	      out);
	if (o->allocated) {
		at = lc_own_origin(s->t, f->row, UINT32_MAX);
		fprintf(out,
		        ": %" PRIu64 " of %" PRIu64 " blocks are live, %s; most were allocated at "
		        "%s.",
		        lc_offheap_live(o), o->allocated,
		        lc_emit_bytes(live, sizeof(live), lc_offheap_live_bytes(o)), at);
		free(at);
	} else {
		fputs("; they are older than the recording.", out);
	}
	lc_mem_close_text(out);
	return text;
}

static void find_copied(struct lc_finding_search *s)
{
	bool *on = lc_finding_flags(s);
	const struct lc_rank_row *row;
	const struct lc_rank_offheap o = temporary_of(s, &row);
	struct lc_weighted sum;
	struct lc_finding *f;
	bool costs, keeps;

	flag_copies(s, on);
	sum = lc_finding_sum(s, on);
	costs = lc_finding_is_enough(s, sum);
	keeps = lc_offheap_live_bytes(&o) >= LC_FINDING_KEPT_BYTES;
	if (costs || keeps) {
		f = lc_finding_add(s, LC_FINDING_COPIED_BUFFERS, 1);
		f->row = row;
		f->row_samples = row ? lc_finding_row_sum(row, on) : 0;
		lc_finding_weigh(s, f, costs ? sum : (struct lc_weighted){ 0 });
		f->text = lc_finding_keep(s, copied_words(s, f, &o, on));
		f->change =
		    costs && of_streams(s, on)
		        ? "use a SocketChannel and direct buffers, or larger reads and writes: "
		          "streams of sockets copy each block"
		    : keeps ? "pass a direct buffer, kept and used again, to the channel, or set "
		              "-Djdk.nio.maxCachedBufferSize=262144, which frees larger temporary "
		              "buffers after each use"
		            : "pass a direct buffer, kept and used again, to the channel";
	}
	free(on);
}

/* ---- mapped files that accesses read in ---- */

static bool is_of_faults(const struct lc_finding_search *s)
{
	const char *name = s->v->load->engines[s->v->engine].name;

	return name && !strcmp(name, "fault");
}

/* Write the line that maps the pages of the finding's file: " one by one, 90% of them at ...". */
static void put_read_in_line(FILE *out, const struct lc_finding_search *s,
                             const struct lc_finding *f)
{
	struct lc_arena arena = { 0 };
	const struct lc_rank_lines *lines;
	size_t len;
	char *code;

	lines = lc_rank_roll_up(&arena, s->t, f->row->accesses, f->row->accesses_len, &len);
	if (len && lines->method != UINT32_MAX) {
		code = lc_own_access(s->t, lines, UINT32_MAX);
		fprintf(out, " one by one, %.0f%% of them %s",
		        100 * lc_share(lines->samples, f->row->samples), code);
		free(code);
	}
	lc_arena_free(&arena);
}

/* `files`: so many, of which the finding's row is one; 0: the row's file alone. */
static char *read_in_words(const struct lc_finding_search *s, const struct lc_finding *f,
                           size_t files)
{
	char *what = lc_finding_row_words(s, f->row), *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	if (files)
		fprintf(out, "%zu mapped files, such as ", files);
	fprintf(out, "%s: %.1f%% of the page faults (%.1f to %.1f) map %s pages", what,
	        100 * f->share, 100 * f->low, 100 * f->high, files ? "their" : "its");
	if (!files)
		put_read_in_line(out, s, f);
	fprintf(out, ". %" PRIu64 " faults of the process waited for a disk.",
	        lc_load_counter(s->v->load, "major_faults"));
	lc_mem_close_text(out);
	free(what);
	return text;
}

/* Page faults are no time, so the finding has no gain. `files`: see read_in_words(). */
static void add_read_in(struct lc_finding_search *s, const struct lc_rank_row *row, size_t files,
                        struct lc_weighted sum)
{
	struct lc_finding *f = lc_finding_add(s, LC_FINDING_READ_IN, number_of(s, row));

	f->row = row;
	f->row_samples = row->samples;
	f->share = lc_share(sum.samples, s->v->total);
	lc_rank_interval(sum, lc_view_all(s->v), &f->low, &f->high);
	f->text = lc_finding_keep(s, read_in_words(s, f, files));
	f->change = "read the file in before it is needed (MappedByteBuffer.load(), "
	            "MemorySegment.load()), in the order of its addresses, or with large "
	            "reads of a FileChannel into a buffer that is used again";
}

/*
 * A file is none of these if the program reads most of its pages in before they are needed, as the
 * finding would advise. Files with few page faults each are one finding.
 */
static void find_read_in(struct lc_finding_search *s)
{
	const struct lc_ranking *r = s->of->ranking;
	const struct lc_rank_row *first = NULL;
	struct lc_weighted rest = { 0 };
	size_t files = 0;
	bool *asked;

	if (!is_of_faults(s))
		return;
	asked = lc_finding_below(s, READ_IN);
	for (size_t i = 0; i < r->len; i++) {
		const struct lc_rank_row *row = &r->rows[i];
		const struct lc_weighted sum = { row->samples, row->pairs };

		if (!row->samples || !lc_offheap_mapped(lc_tree_text(s->t, row->class)) ||
		    2 * lc_finding_row_sum(row, asked) > row->samples)
			continue;
		if (row->low >= LC_FINDING_SHARE_MIN) {
			add_read_in(s, row, 0, sum);
			continue;
		}
		first = first ? first : row;
		rest = lc_wilson_sum(rest, sum);
		files++;
	}
	if (files > 1 && lc_finding_is_enough(s, rest))
		add_read_in(s, first, files, rest);
	free(asked);
}

void lc_finding_blocks(struct lc_finding_search *s)
{
	find_again(s);
	find_copied(s);
	find_read_in(s);
}
