/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/lines.c - finds cache lines that several threads touch, and keeps their rows.
 *
 * Only the attribution thread uses it, so there is no lock.
 *
 * A touch is one thread's row of one line. It is in the list of its line and in that of its
 * thread. Invariant: a line has at least one touch; its number is set once two threads have
 * touched it; a thread's record has an entry while it has a touch.
 */
#include "src/attribute/lines.h"

#include <Judy.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "src/base/limit.h"
#include "src/core/counters.h"
#include "src/core/thread.h"
#include "src/profile/tally.h"

enum {
	TOUCHES_MAX = 1 << 16, /* about 8 MiB */
	LINE_TOUCHES_MAX = 256,
};

struct touch {
	LIST_ENTRY(touch) in_line, in_thread;
	struct line *line;
	struct toucher *toucher;
	struct lc_block_line row; /* samples and hitm: not handed over yet */
};

LIST_HEAD(touch_list, touch);
LIST_HEAD(line_list, line);

struct line {
	uint64_t address; /* number of the cache line: address / LC_LINE_BYTES */
	uint64_t number;  /* 0: only one thread has touched it */
	uint64_t heat;    /* samples, halved whenever room is made */
	size_t touches_len;
	struct touch_list touches;
	LIST_ENTRY(line) in_shared;
};

struct toucher {
	struct lc_thread *thread;
	struct touch_list touches;
};

static struct {
	Pvoid_t lines;    /* address -> struct line * */
	Pvoid_t touchers; /* struct lc_thread * -> struct toucher * */
	struct line_list shared;
	uint64_t last_number;
	struct {
		uint64_t shared; /* lines found to be shared, ever */
		uint64_t
		    dropped; /* samples whose touch found no room, or was dropped to make room */
		uint64_t touches; /* held now */
	} stats;
} lines;

/*
 * Look up, or add, an entry of a table by its key: NULL if there is none, or no memory for a new
 * one.
 */
static void *table_get(Pvoid_t table, Word_t key)
{
	Word_t *slot = NULL;

	JLG(slot, table, key);
	return slot ? (void *)*slot : NULL;
}

static void *table_add(Pvoid_t *table, Word_t key, size_t bytes)
{
	void *added = calloc(1, bytes);
	Word_t *slot = NULL;

	if (added)
		JLI(slot, *table, key);
	if (!slot || slot == PJERR) {
		free(added);
		return NULL;
	}
	*slot = (Word_t)added;
	return added;
}

/* Without memory to make the table smaller the key stays in it, and leads to nothing. */
static void table_remove(Pvoid_t *table, Word_t key, void *removed)
{
	Word_t *slot = NULL;
	int deleted;

	JLG(slot, *table, key);
	*slot = 0;
	JLD(deleted, *table, key);
	(void)deleted;
	free(removed);
}

/* The entry with the least key from *key on, which becomes its key; NULL: there is none. */
static void *table_next(Pvoid_t table, Word_t *key)
{
	void **slot = JudyLFirst(table, key, PJE0);

	while (slot && !*slot)
		slot = JudyLNext(table, key, PJE0);
	return slot ? *slot : NULL;
}

static void note_no_memory(void)
{
	(void)lc_limit_note("lines_lost", "there was no memory for some samples in cache lines: "
	                                  "results on shared lines do not include them");
}

/*
 * Hand the samples of a touch to the tally. The touch stays: the line is known to be shared, and by
 * whom.
 */
static void hand_over(struct touch *touch)
{
	struct lc_thread *t = touch->toucher->thread;

	if (!touch->row.samples)
		return;
	touch->row.line = touch->line->number;
	if (!lc_tally_made(&t->tally) || lc_tally_line(t->tally, &touch->row)) {
		lines.stats.dropped += touch->row.samples;
		note_no_memory();
	}
	touch->row.samples = 0;
	touch->row.hitm = 0;
	touch->row.pairs = 0;
}

static void remove_touch(struct touch *touch)
{
	struct line *line = touch->line;
	struct toucher *toucher = touch->toucher;

	LIST_REMOVE(touch, in_line);
	LIST_REMOVE(touch, in_thread);
	free(touch);
	lines.stats.touches--;
	line->touches_len--;
	if (LIST_EMPTY(&line->touches)) {
		if (line->number)
			LIST_REMOVE(line, in_shared);
		table_remove(&lines.lines, line->address, line);
	}
	if (LIST_EMPTY(&toucher->touches))
		table_remove(&lines.touchers, (Word_t)toucher->thread, toucher);
}

static void remove_line(struct line *line)
{
	const bool shared = line->number != 0;
	struct touch *touch, *next;

	for (touch = LIST_FIRST(&line->touches); touch; touch = next) {
		next = LIST_NEXT(touch, in_line);
		if (shared)
			hand_over(touch);
		remove_touch(touch); /* the last one frees the line */
	}
}

/* Drop the lines that were touched least, until a quarter of the room is free. */
static void make_room(void)
{
	for (uint64_t heat = 1; lines.stats.touches > TOUCHES_MAX / 4 * 3; heat *= 2) {
		Word_t address = 0;
		struct line *line;

		for (; (line = table_next(lines.lines, &address)); address++) {
			if (line->heat <= heat) {
				if (!line->number)
					lines.stats.dropped += line->heat;
				remove_line(line);
			}
		}
	}
	for (Word_t address = 0;; address++) {
		struct line *line = table_next(lines.lines, &address);

		if (!line)
			break;
		line->heat /= 2;
	}
}

static bool same_row(const struct lc_block_line *a, const struct lc_block_line *b)
{
	return a->engine == b->engine && a->bucket == b->bucket && a->site == b->site &&
	       a->path == b->path && a->byte == b->byte && a->bytes == b->bytes &&
	       a->access == b->access && a->name == b->name && a->first == b->first;
}

static struct touch *find_touch(const struct line *line, const struct lc_thread *t,
                                const struct lc_block_line *row)
{
	struct touch *touch;

	for (touch = LIST_FIRST(&line->touches); touch; touch = LIST_NEXT(touch, in_line))
		if (touch->toucher->thread == t && same_row(&touch->row, row))
			return touch;
	return NULL;
}

/*
 * Give the line a number if `t` is its second thread: without a number all touches are of one
 * thread.
 */
static void note_sharing(struct line *line, const struct lc_thread *t)
{
	const struct touch *first = LIST_FIRST(&line->touches);

	if (line->number || !first || first->toucher->thread == t)
		return;
	line->number = ++lines.last_number;
	lines.stats.shared++;
	LIST_INSERT_HEAD(&lines.shared, line, in_shared);
}

static struct line *line_at(uint64_t address)
{
	struct line *line = table_get(lines.lines, address);

	if (!line) {
		line = table_add(&lines.lines, address, sizeof(*line));
		if (line)
			line->address = address;
	}
	return line;
}

static struct toucher *toucher_of(struct lc_thread *t)
{
	struct toucher *toucher = table_get(lines.touchers, (Word_t)t);

	if (!toucher) {
		toucher = table_add(&lines.touchers, (Word_t)t, sizeof(*toucher));
		if (toucher)
			toucher->thread = t;
	}
	return toucher;
}

/* Add a touch without samples; NULL without memory, and then no empty line or toucher is left. */
static struct touch *add_touch(struct lc_thread *t, uint64_t address,
                               const struct lc_block_line *row)
{
	struct touch *touch = calloc(1, sizeof(*touch));
	struct line *line = touch ? line_at(address) : NULL;
	struct toucher *toucher = line ? toucher_of(t) : NULL;

	if (!toucher || line->touches_len == LINE_TOUCHES_MAX) {
		if (toucher && LIST_EMPTY(&toucher->touches))
			table_remove(&lines.touchers, (Word_t)t, toucher);
		if (line && LIST_EMPTY(&line->touches))
			table_remove(&lines.lines, address, line);
		free(touch);
		return NULL;
	}
	note_sharing(line, t);
	touch->line = line;
	touch->toucher = toucher;
	touch->row = *row;
	touch->row.samples = 0;
	touch->row.hitm = 0;
	touch->row.pairs = 0;
	LIST_INSERT_HEAD(&line->touches, touch, in_line);
	LIST_INSERT_HEAD(&toucher->touches, touch, in_thread);
	line->touches_len++;
	lines.stats.touches++;
	return touch;
}

void lc_lines_touch(struct lc_thread *t, uint64_t addr, const struct lc_block_line *row)
{
	uint64_t address = addr / LC_LINE_BYTES;
	struct line *line = table_get(lines.lines, address);
	struct touch *touch = line ? find_touch(line, t, row) : NULL;

	if (!touch) {
		if (lines.stats.touches >= TOUCHES_MAX)
			make_room();
		touch = add_touch(t, address, row);
	}
	if (!touch) {
		lines.stats.dropped += row->samples;
		note_no_memory();
		return;
	}
	touch->row.samples += row->samples;
	touch->row.hitm += row->hitm;
	touch->row.pairs += row->pairs;
	touch->line->heat += row->samples;
}

void lc_lines_flush(void)
{
	struct line *line;
	struct touch *touch;

	for (line = LIST_FIRST(&lines.shared); line; line = LIST_NEXT(line, in_shared))
		for (touch = LIST_FIRST(&line->touches); touch; touch = LIST_NEXT(touch, in_line))
			hand_over(touch);
}

void lc_lines_close_epoch(void)
{
	Word_t address = 0;
	struct line *line;

	lc_lines_flush();
	for (; (line = table_next(lines.lines, &address)); address++)
		remove_line(line);
}

void lc_lines_forget(const struct lc_thread *t)
{
	struct toucher *toucher = table_get(lines.touchers, (Word_t)t);
	struct touch *touch, *next;

	if (!toucher)
		return;
	for (touch = LIST_FIRST(&toucher->touches); touch; touch = next) {
		next = LIST_NEXT(touch, in_thread); /* the last touch frees the toucher */
		if (touch->line->number)
			hand_over(touch);
		remove_touch(touch);
	}
}

static const struct lc_counter counters[] = {
	LC_COUNTER("lines_shared", &lines.stats.shared),
	LC_COUNTER("lines_dropped", &lines.stats.dropped),
	LC_COUNTER("lines_touches", &lines.stats.touches),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
