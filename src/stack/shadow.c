/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/shadow.c - walks a thread's stack, and keeps the words of the last walk's frames.
 *
 * Words and frames are kept from the outermost on. The words of a frame tell where its caller's
 * frame is and what runs there: of a compiled frame the return address into it, since its size
 * follows from that; of an interpreted one its method, its bytecode and its rbp too; where the JVM
 * called Java code, the words that lead to the frames beyond.
 *
 * A walk runs behind an allocation, when the store buffer is full: stores cost more there than
 * loads. So frames are looked at first, until one is known, and then written where they belong,
 * once.
 *
 * This file is longer than 600 lines, since all of a walk is inlined into one function.
 */
#include "src/stack/shadow.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/epoch.h"
#include "src/core/jvmti.h"
#include "src/core/memory.h"
#include "src/core/own.h"
#include "src/core/version.h"
#include "src/jvm/os/guard.h"
#include "src/stack/call_tree.h"
#include "src/stack/generated.h"
#include "src/stack/shadow_frames.h"
#include "src/stack/walk_credit.h"

enum {
	FRAMES_MAX = 1 << 18, /* of a stack */
	FRAMES_FEW = 4096,    /* every thread may have so many, whatever the limit of memory */
	FRAMES_FIRST = 16,
	FRAMES_FREE = 32, /* new ones of a walk, for which no credit is needed */
	FRAMES_SPENT = 8, /* ... where the last walk had no credit either */
	FRAMES_CUT = 2,   /* that an open path has without credit: so few that it comes again */
	SHALLOW = 256, /* frames: after that many walks of fewer, memory for deep ones goes back */
	SHALLOW_WALKS = 4096,
};

struct lc_shadow {
	struct passing passing;
	struct lc_shadow_last last;
	struct lc_shadow_sure sure;
	struct lc_walk_credit *credit;             /* NULL: no limit */
	uint32_t frames_cap, words_cap, found_cap; /* elements there is room for */
	uint32_t shallow;                          /* walks since the last deep one */
	uint32_t round;
	uint32_t root;   /* for lc_call_root() */
	uint32_t beyond; /* frames of the last walk, where the tree has no room for them; else 0 */
	bool open;       /* nothing is known beyond the outermost frame of the last walk */
	bool spent;      /* ... for lack of credit or memory */
	uint64_t looked;
	size_t taken_bytes; /* of core/memory.h */
	struct lc_call_tree tree;
	struct found *found; /* by the walk that is going on, innermost first */
	/* Nodes of the last walks for places of a set, and the way that the next new one takes. */
	uint32_t seen[LC_SHADOW_SETS][LC_SHADOW_WAYS];
	uint8_t next[LC_SHADOW_SETS];
};

int lc_shadow_create(struct lc_walk_credit *credit, struct lc_shadow **out)
{
	struct lc_shadow *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->credit = credit;
	s->last.generation_now = lc_generated_generation();
	s->passing.proof = lc_walk_proof_hook();
	s->last.sure = &s->sure;
	s->sure.stopped = lc_epoch_stopped();
	*out = s;
	return 0;
}

void lc_shadow_destroy(struct lc_shadow *s)
{
	if (!s)
		return;
	lc_call_tree_free(&s->tree);
	lc_memory_give(LC_MEMORY_CONTEXTS, s->taken_bytes);
	free(s->last.frames);
	free(s->last.words);
	free(s->found);
	free(s);
}

uint32_t lc_shadow_round(const struct lc_shadow *s)
{
	return s->round;
}

/* The array with room for `len` elements; NULL without memory: then the old one still serves. */
static void *reserve(struct lc_shadow *s, void *array, uint32_t *cap, uint32_t len,
                     size_t element_bytes)
{
	uint32_t bigger = *cap ? *cap : FRAMES_FIRST;
	size_t more_bytes;
	void *moved;

	while (bigger < len)
		bigger *= 2;
	if (bigger == *cap)
		return array;
	more_bytes = (bigger - *cap) * element_bytes;
	if (bigger <= FRAMES_FEW)
		lc_memory_have(LC_MEMORY_CONTEXTS, more_bytes);
	else if (!lc_memory_take(LC_MEMORY_CONTEXTS, more_bytes))
		return NULL;
	moved = realloc(array, bigger * element_bytes);
	if (!moved) {
		lc_memory_give(LC_MEMORY_CONTEXTS, more_bytes);
		return NULL;
	}
	s->taken_bytes += more_bytes;
	*cap = bigger;
	return moved;
}

static bool reserve_found(struct lc_shadow *s, uint32_t len)
{
	struct found *found =
	    len <= FRAMES_MAX ? reserve(s, s->found, &s->found_cap, len, sizeof(*found)) : NULL;

	s->found = found ? found : s->found;
	return found;
}

/* Room for the frames of the last walk, and their words. */
static bool reserve_last(struct lc_shadow *s, uint32_t frames, uint32_t words)
{
	struct lc_shadow_last *l = &s->last;
	struct lc_shadow_frame *f =
	    frames <= FRAMES_MAX ? reserve(s, l->frames, &s->frames_cap, frames, sizeof(*f)) : NULL;
	struct lc_shadow_word *w = reserve(s, l->words, &s->words_cap, words, sizeof(*w));

	l->frames = f ? f : l->frames;
	l->words = w ? w : l->words;
	return f && w;
}

/* Give back what deep stacks have needed: the last walk's frames fit in what is left. */
static void shrink(struct lc_shadow *s)
{
	const uint32_t frames_cap = SHALLOW, words_cap = SHALLOW * ENTRY_WORDS;
	struct lc_shadow_frame *f = realloc(s->last.frames, frames_cap * sizeof(*f));
	struct lc_shadow_word *w;
	size_t bytes;

	if (!f)
		return;
	bytes = (s->frames_cap - frames_cap) * sizeof(*f);
	s->last.frames = f;
	s->frames_cap = frames_cap;
	w = s->words_cap > words_cap ? realloc(s->last.words, words_cap * sizeof(*w)) : NULL;
	if (w) {
		bytes += (s->words_cap - words_cap) * sizeof(*w);
		s->last.words = w;
		s->words_cap = words_cap;
	}
	bytes += s->found_cap * sizeof(*s->found);
	free(s->found);
	s->found = NULL;
	s->found_cap = 0;
	lc_memory_give(LC_MEMORY_CONTEXTS, bytes);
	s->taken_bytes -= bytes;
}

/* Returns whether there is a tree that the walk can add to. */
static bool make_ready(struct lc_shadow *s)
{
	bool forgotten, ready = lc_call_tree_ready(&s->tree, &forgotten);

	if (forgotten) {
		memset(s->last.places, 0, sizeof(s->last.places));
		memset(s->seen, 0, sizeof(s->seen));
		s->last.frames_len = 0;
		s->round++;
	}
	return ready;
}

/* The number of the last walk's first `len` frames whose words are all among the first `words`. */
static uint32_t frames_before(const struct lc_shadow *s, uint32_t words, uint32_t len)
{
	uint32_t low = 0;

	/* Words of frames end further and further behind. */
	while (low < len) {
		const uint32_t middle = low + (len - low) / 2;

		if (s->last.frames[middle].words_end <= words)
			low = middle + 1;
		else
			len = middle;
	}
	return low;
}

/* The number of the last walk's first `len` frames that certainly still stand. */
static uint32_t sure_frames(const struct lc_shadow *s, uint32_t len)
{
	return s->sure.words ? frames_before(s, lc_shadow_sure_words(&s->sure), len) : 0;
}

/* The number of the last walk's frames, from the outermost on, that still stand above `frame`. */
static uint32_t still_there(const struct lc_shadow *s, uint64_t frame)
{
	const struct lc_shadow_word *words = s->last.words;
	uint32_t word, end, frames, len = s->last.frames_len;

	while (len && s->last.frames[len - 1].pc_at <= frame)
		len--;
	frames = sure_frames(s, len);
	word = frames ? s->last.frames[frames - 1].words_end : 0;
	end = len ? s->last.frames[len - 1].words_end : 0;
	while (word + BLOCK <= end && !block_differs(words + word))
		word += BLOCK;
	while (word < end && lc_peek_load64(words[word].at) == words[word].value)
		word++;
	return word == end ? len : frames_before(s, word, len);
}

/* Is the frame compiled? Its caller is found without rbp. */
static bool is_compiled(const struct lc_shadow_frame *f)
{
	return f->code && f->code->blob;
}

/*
 * How many frames of the last walk, of the `len` that still stand, are those that the walk has come
 * to and all beyond; 0: it has come to none.
 */
static inline uint32_t joins(const struct lc_shadow *s, const struct walk *w, uint32_t *len)
{
	const struct lc_shadow_frame *f;

	while (*len && s->last.frames[*len - 1].pc_at < w->at.pc_at)
		--*len;
	f = *len ? &s->last.frames[*len - 1] : NULL;
	return f && f->pc_at == w->at.pc_at && f->sp == w->at.sp &&
	               (is_compiled(f) || f->rbp == w->at.rbp)
	           ? *len
	           : 0;
}

/* May a walk that has come to so many new frames go on? */
static inline bool may_go_on(struct lc_shadow *s, uint32_t frames)
{
	if (frames < s->found_cap && frames % FRAMES_SPENT)
		return true;
	if (frames >= (s->spent ? FRAMES_SPENT : FRAMES_FREE) && s->credit &&
	    !lc_walk_credit_left(s->credit))
		return false;
	return reserve_found(s, frames + 1);
}

enum ended { JOINED, OPEN, SPENT };

/* The walk ends at the frame that `pc` returns to. */
static void end_at_unknown(struct lc_shadow *s, struct walk *w)
{
	if (!is_word(w, w->at.pc_at))
		return;
	s->found[w->frames] = (struct found){ .kind = UNKNOWN };
	w->frames++;
	w->words += COMPILED_WORDS;
}

/*
 * Look at the frames from *w on, until one is known. JOINED: it is, or there is no further one;
 * *known: how many frames of the last walk stay. OPEN: the next frame cannot be told. SPENT: there
 * is no credit to look at it, or no memory. at_new: the first one is not among those of the last
 * walk.
 */
static inline enum ended look_on(struct lc_shadow *s, struct walk *w, bool at_new, uint32_t *known)
{
	uint32_t len = still_there(s, w->stack.low);

	*known = 0;
	while (!w->complete) {
		struct found f = { 0 };

		if (w->frames || !at_new)
			*known = joins(s, w, &len);
		if (*known)
			return JOINED;
		if (!may_go_on(s, w->frames))
			return SPENT;
		if (!look(w, &f)) {
			end_at_unknown(s, w);
			return OPEN;
		}
		s->found[w->frames] = f;
		if (!leave(w, &f))
			return OPEN;
	}
	return JOINED;
}

/* The `frames` new ones from `w` on, innermost first, become the last walk's behind `known`. */
static inline void set_frames(struct lc_shadow *s, struct walk w, uint32_t known, uint32_t frames,
                              uint32_t words)
{
	uint32_t end = (known ? s->last.frames[known - 1].words_end : 0) + words;

	for (uint32_t i = 0; i < frames; i++) {
		const struct found *found = &s->found[i];
		struct lc_shadow_frame *f = &s->last.frames[known + frames - 1 - i];

		f->code = found->code;
		f->pc_at = w.at.pc_at;
		f->sp = w.at.sp;
		f->rbp = w.at.rbp;
		f->words_end = end;
		end -= words_of(found);
		set_words(&w, found, s->last.words + end);
		(void)leave(&w, found);
	}
}

/* The nodes of the frames behind `known`. Returns that of the innermost; 0 without memory. */
static inline uint32_t set_nodes(struct lc_shadow *s, uint32_t known, uint32_t len)
{
	struct lc_call_node *n = known ? lc_call_node(&s->tree, s->last.frames[known - 1].node)
	                               : lc_call_root(&s->tree, s->root);

	if (!known && s->open)
		n = lc_call_cut(&s->tree, n);

	for (uint32_t i = known; i < len && n; i++) {
		struct lc_shadow_frame *f = &s->last.frames[i];

		if (f->code)
			n = lc_call_callee(&s->tree, n, f->code);
		if (n)
			f->node = n->number;
	}
	return n && n->kind != LC_CALL_NODE_ROOT ? n->number : 0;
}

/* Code was freed since: what a return address means is looked up anew. */
static void look_at_generation(struct lc_shadow *s)
{
	const uint32_t now =
	    atomic_load_explicit(s->last.generation_now, memory_order_relaxed); /* a hint */

	if (s->last.generation == now)
		return;
	/* Code with a frame that has stood all the time was not freed. */
	s->last.frames_len = sure_frames(s, s->last.frames_len);
	s->last.generation = now;
}

/* Frames of the hook's own, before those of the program. */
static uint32_t own_frames(const struct lc_shadow *s, const struct walk *w)
{
	uint32_t i = 0;

	while (i < w->frames && s->found[i].code &&
	       lc_own_frames(s->found[i].code->frames, s->found[i].code->len) ==
	           s->found[i].code->len)
		i++;
	return i;
}

/* Keep the nearest frames of the walk alone: the path is cut. */
static void cut(const struct lc_shadow *s, struct walk *w)
{
	const uint32_t kept = own_frames(s, w) + FRAMES_CUT;

	if (w->frames > kept) {
		s->found[kept] = (struct found){ .kind = UNKNOWN };
		w->frames = kept + 1;
	}
	w->words = 0;
	for (uint32_t i = 0; i < w->frames; i++)
		w->words += words_of(&s->found[i]);
}

/* The last walk has found `len` frames; 0: none that are of use to the next one. */
static void set_last(struct lc_shadow *s, uint32_t len)
{
	const uint32_t words = len ? s->last.frames[len - 1].words_end : 0;

	s->last.frames_len = len;
	s->sure.words = words > LC_SHADOW_SURE_FROM ? words : 0;
	s->shallow = len < SHALLOW ? s->shallow + 1 : 0;
	if (s->shallow > SHALLOW_WALKS && s->frames_cap > FRAMES_FEW)
		shrink(s);
}

/* The argument of the function that may fault. */
struct looking {
	struct lc_shadow *s;
	struct walk *w;
	bool at_new;
	enum ended ended;
	uint32_t *known;
};

static void look_guarded(void *arg)
{
	struct looking *l = arg;

	l->ended = look_on(l->s, l->w, l->at_new, l->known);
}

/* A walk that may be misled anywhere. */
static __attribute__((noinline)) enum ended look_on_to_prove(struct lc_shadow *s, struct walk *w,
                                                             bool at_new, uint32_t *known)
{
	struct looking l = { .s = s, .w = w, .at_new = at_new, .known = known };

	if (lc_guard_prove(look_guarded, &l))
		return l.ended;
	lc_walk_proof_fault(s->passing.proof);
	*known = w->frames = w->words = 0;
	return OPEN;
}

/*
 * Look at the frames of the walk, and let them be the last walk's: *w is then behind the new ones,
 * and *known how many stay. Returns whether there are any.
 */
static inline bool find_frames(struct lc_shadow *s, const struct walk *start, struct walk *w,
                               bool at_new, uint32_t *known)
{
	enum ended ended = s->passing.proves ? look_on_to_prove(s, w, at_new, known)
	                                     : look_on(s, w, at_new, known);
	const uint32_t before = *known ? s->last.frames[*known - 1].words_end : 0;

	s->looked += w->frames;
	if (ended == SPENT)
		cut(s, w);
	if (!reserve_last(s, *known + w->frames, before + w->words)) {
		ended = SPENT;
		*known = 0;
		cut(s, w);
		if (!reserve_last(s, w->frames, w->words))
			return false;
	}
	if (ended != JOINED && !has_java(s->found, w->frames))
		return false;
	if (!*known) {
		s->open = ended != JOINED;
		s->spent = ended == SPENT;
	}
	set_frames(s, *start, *known, w->frames, w->words);
	return true;
}

/* Walk from *start on. Returns the innermost frame's node; 0 where a frame cannot be told. */
static uint32_t walk_from(struct lc_shadow *s, const struct walk *start, bool at_new)
{
	uint32_t known, node = 0, len = 0;
	struct walk w = *start;
	bool found;

	look_at_generation(s);
	if (s->spent && lc_walk_credit_left(s->credit))
		s->last.frames_len = 0;
	s->tree.folded = false;
	found = find_frames(s, start, &w, at_new, &known);
	if (found) {
		len = known + w.frames;
		node = set_nodes(s, known, len);
	}
	set_last(s, node ? len : 0);
	s->beyond = found && !node && s->tree.full ? len : 0;
	s->tree.beyond += s->beyond != 0;
	return node;
}

/* -- proof ---------------------------------------------------------------------------------- */

enum { PROOF_FRAMES = 48 };

/* Does the walk's frame agree with the JVM's frames from frames[at] on? Returns behind them. */
static jint compare(const struct lc_shadow_frame *f, const jvmtiFrameInfo *frames, jint at,
                    jint len)
{
	for (uint32_t i = 0; f->code && i < f->code->len && at < len; i++, at++)
		if (!lc_version_same(f->code->frames[i], frames[at].method,
		                     (int)frames[at].location))
			return -1;
	return at;
}

/* Does the JVM walk to the same frames, `skip` of its own left out? */
static bool jvm_agrees(const struct lc_shadow *s, jint skip)
{
	jvmtiFrameInfo frames[PROOF_FRAMES];
	uint32_t left = s->last.frames_len;
	jint len = 0, at = skip;

	if ((*lc_jvmti())->GetStackTrace(lc_jvmti(), NULL, 0, PROOF_FRAMES, frames, &len))
		return false;
	while (left && at >= 0 && at < len)
		at = compare(&s->last.frames[--left], frames, at, len);
	/* The JVM's walk leaves entry frames out. */
	while (left && !s->last.frames[left - 1].code)
		left--;
	return at == len && (!left || len == PROOF_FRAMES);
}

/*
 * The walk has come to frames of a kind that is not proved yet: walk again, past them, and compare
 * with the JVM's walk. Returns the node, or 0.
 */
static __attribute__((noinline)) uint32_t prove(struct lc_shadow *s, const struct walk *start,
                                                bool at_new, jint skip)
{
	struct passing *p = &s->passing;
	uint32_t node;
	bool agrees;

	p->proves = true;
	p->kinds = 0;
	s->last.frames_len = 0;
	node = walk_from(s, start, at_new);
	p->proves = false;
	/* A walk that did not come to the end says nothing of the kinds on its way. */
	agrees = node && !s->open && jvm_agrees(s, skip);
	if (node && !s->open)
		lc_walk_proof_take(p->proof, p->kinds, agrees);
	if (agrees)
		return node;
	set_last(s, 0);
	return 0;
}

/* Walk from *start on, where the JVM's own walk has `skip` frames before. */
static uint32_t walk_proved(struct lc_shadow *s, struct walk *start, bool at_new, jint skip)
{
	uint32_t node;

	start->passing = &s->passing;
	s->passing.unproved = false;
	node = walk_from(s, start, at_new);
	return s->passing.unproved ? prove(s, start, at_new, skip) : node;
}

uint32_t lc_shadow_walk(struct lc_shadow *s, const struct lc_native_frame *at, uint64_t stack_end)
{
	struct walk w = { .stack = { at->frame, stack_end } };

	s->beyond = 0;
	if (!make_ready(s) || !lc_frame_step_native(&w.at, &w.stack, at)) {
		set_last(s, 0);
		return 0;
	}
	return walk_proved(s, &w, false, 1);
}

/* Go to the caller of the stub through which compiled code has called the JVM. */
static bool leave_stub(struct walk *w, const struct lc_blob *stub)
{
	if (!lc_frame_fits_compiled(&w->at, &w->stack, stub->frame_words))
		return false;
	lc_frame_step_compiled(&w->at, stub->frame_words);
	w->from_jvm = false;
	return true;
}

uint32_t lc_shadow_walk_last(struct lc_shadow *s, const struct lc_last_java *at, uint64_t frame,
                             uint64_t stack_end)
{
	/* Not all of where a thread left Java code stands on its stack: `rbp_at` is any word. */
	struct walk w = { .stack = { frame, stack_end },
		          .at = { .pc = at->pc,
		                  .pc_at = at->sp - 8,
		                  .sp = at->sp,
		                  .rbp = at->rbp,
		                  .rbp_at = at->sp },
		          .from_jvm = true };
	struct lc_blob blob;
	uint32_t node;

	if (!make_ready(s) || !is_word(&w, w.at.pc_at) || !is_word(&w, at->sp))
		return 0;
	if (!lc_frames_interpreted(w.at.pc) && lc_blob_find(w.at.pc, &blob) &&
	    blob.kind == LC_BLOB_OTHER)
		return leave_stub(&w, &blob) ? walk_proved(s, &w, false, 0) : 0;
	if (lc_frames_entry(w.at.pc))
		return 0;
	node = walk_proved(s, &w, true, 0);
	/* No word tells whether the innermost frame is still the same. */
	if (node)
		set_last(s, s->last.frames_len - 1);
	return node;
}

uint64_t *lc_shadow_note(struct lc_shadow *s, uint32_t node, uint64_t key)
{
	uint64_t *note = lc_call_note(&s->tree, node, key);

	/* The path is to be noted once more, so that it is known where it was folded. */
	if (note && s->tree.folded)
		*note = 0;
	s->tree.folded = false;
	return note;
}

void lc_shadow_stand_words(struct lc_shadow_sure *s, uint32_t words)
{
	const uint32_t sequence = lc_epoch_gc_sequence();

	s->tsc = lc_shadow_ticks(s);
	atomic_signal_fence(memory_order_seq_cst);
	s->words = !lc_epoch_gc_sequence_moving(sequence) && lc_epoch_gc_sequence() == sequence
	               ? words
	               : 0;
}

void lc_shadow_stand(struct lc_shadow *s)
{
	if (s->sure.words)
		lc_shadow_stand_words(&s->sure, s->sure.words);
}

uint32_t lc_shadow_beyond(const struct lc_shadow *s, const struct lc_shadow_frame **frames)
{
	*frames = s->last.frames;
	return s->beyond;
}

/* The Java frames of the first `from` frames of the last walk. Returns how many, at most `max`. */
static size_t java_frames(const struct lc_shadow *s, uint32_t from, uint64_t *frames, size_t max)
{
	size_t len = 0;

	for (uint32_t i = from; i-- && len < max;) {
		const struct lc_code_frames *code = s->last.frames[i].code;

		for (uint32_t j = 0; code && j < code->len && len < max; j++)
			frames[len++] = code->frames[j];
	}
	return len;
}

size_t lc_shadow_nearest(const struct lc_shadow *s, uint64_t *frames, size_t max)
{
	return java_frames(s, s->last.frames_len, frames, max);
}

size_t lc_shadow_beyond_frames(const struct lc_shadow *s, uint64_t *frames, size_t max)
{
	size_t len = java_frames(s, s->beyond, frames, max);

	if (s->open && len < max)
		frames[len++] = lc_call_cut_frame();
	return len;
}

void lc_shadow_set_root(struct lc_shadow *s, uint32_t root)
{
	if (s->root == root)
		return;
	s->root = root;
	/* The frames lead to other nodes. Remembered places of the other root fit none of these. */
	set_last(s, 0);
}

bool lc_shadow_open(const struct lc_shadow *s)
{
	return s->open;
}

bool lc_shadow_unknown(const struct lc_shadow *s)
{
	return s->open && !s->spent;
}

void lc_shadow_try_again(struct lc_shadow *s)
{
	if (lc_shadow_unknown(s))
		set_last(s, 0);
}

uint64_t lc_shadow_looked(const struct lc_shadow *s)
{
	return s->looked;
}

const struct lc_shadow_last *lc_shadow_last(const struct lc_shadow *s)
{
	return &s->last;
}

/* Was there a walk to that node lately, for a place of the set? There will have been. */
static bool seen_lately(struct lc_shadow *s, uint32_t set, uint32_t node)
{
	uint32_t *seen = s->seen[set];

	for (unsigned i = 0; i < LC_SHADOW_WAYS; i++)
		if (seen[i] == node)
			return true;
	memmove(seen + 1, seen, (LC_SHADOW_WAYS - 1) * sizeof(*seen));
	seen[0] = node;
	return false;
}

/* The way for a place: one that has the same note and is no longer true, or any. */
static struct lc_shadow_place *place_of(struct lc_shadow *s, uint32_t set, uint64_t frame,
                                        uint64_t key, uint64_t note)
{
	struct lc_shadow_place *ways = s->last.places[set];

	for (unsigned i = 0; i < LC_SHADOW_WAYS; i++)
		if (ways[i].frame == frame && ways[i].key == key && ways[i].note == note)
			return &ways[i];
	return &ways[s->next[set]++ % LC_SHADOW_WAYS];
}

void lc_shadow_remember(struct lc_shadow *s, uint64_t frame, uint64_t key, uint64_t note)
{
	const uint32_t set = lc_shadow_set(frame);
	uint32_t far = s->last.frames_len, from;
	struct lc_shadow_place *p;

	/* In recursion the thread is hardly twice in a place; then it is not worth its stores. */
	if (!far || !seen_lately(s, set, s->last.frames[far - 1].node))
		return;
	p = place_of(s, set, frame, key, note);
	p->frame = 0;
	/* The words of the nearest frames that fit in; one frame at least is beyond. */
	while (far > 1 && s->last.frames[s->last.frames_len - 1].words_end -
	                          s->last.frames[far - 2].words_end <=
	                      LC_SHADOW_NEAR_WORDS)
		far--;
	from = s->last.frames[far - 1].words_end;
	p->words_len = s->last.frames[s->last.frames_len - 1].words_end - from;
	memcpy(p->words, s->last.words + from, p->words_len * sizeof(p->words[0]));
	p->key = key;
	p->note = note;
	p->generation = s->last.generation;
	p->far_at = s->last.frames[far - 1].pc_at;
	p->far_node = s->last.frames[far - 1].node;
	p->far_frame = far;
	p->far_words = from;
	p->frame = frame;
}

size_t lc_shadow_frames(const struct lc_shadow *s, uint32_t node, uint64_t *frames, size_t max)
{
	return lc_call_frames(&s->tree, node, frames, max);
}
