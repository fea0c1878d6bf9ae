/*
 * jvm/frames.c - walks from frame to frame by what the JVM knows of each piece of code.
 *
 * A compiled frame, from its lowest address: locals and spills, the caller's rbp, the return
 * address. An interpreted one is known by rbp: above it the same two words, below it what
 * LC_INTERPRETED_ says. Blobs are found by the segment map of their code heap: each byte says how
 * many segments back the block begins, in several hops where it is far. The JVM calls Java code
 * through a stub, whose frame leads to where the thread was in Java code before (JavaCallWrapper,
 * JavaFrameAnchor), if it was. A blob is not freed while a frame of it is on this stack.
 */
#include "src/jvm/frames.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>

#include "src/jvm/peek.h"
#include "src/jvm/vmstructs.h"

enum {
	HEAPS_MAX = 4,
	SEGMENT_FREE = 0xff,
	HOPS_MAX = 1 << 16,
	ENTRY_WRAPPER = -6, /* words from rbp of the stub through which the JVM calls Java code */
};

/* Addresses of fields that do not change, or not in a way that matters here. */
struct heap {
	uint64_t low;            /* of its code */
	const uint64_t *high;    /* where its committed part ends, now */
	const uint8_t *segments; /* the map */
	int log2_segment_bytes;
};

static struct {
	struct heap heaps[HEAPS_MAX];
	unsigned heaps_len;
	uint64_t interpreter_low, interpreter_high;
	uint64_t block_bytes; /* of a block's header; the blob is behind it */
	long frame_size;      /* in a blob: an int, in words */
	uint64_t entry_pc;    /* where Java code returns to that the JVM called; 0: not known */
	long last_sp, last_pc, last_rbp; /* in a JavaCallWrapper */
} frames;

static int add_heap(uint64_t heap)
{
	const long memory = lc_vm_offset("CodeHeap", "_memory");
	const long segmap = lc_vm_offset("CodeHeap", "_segmap");
	const long log2 = lc_vm_offset("CodeHeap", "_log2_segment_size");
	const long low = lc_vm_offset("VirtualSpace", "_low");
	const long high = lc_vm_offset("VirtualSpace", "_high");
	struct heap *h = &frames.heaps[frames.heaps_len];

	if (memory < 0 || segmap < 0 || log2 < 0 || low < 0 || high < 0 ||
	    frames.heaps_len == HEAPS_MAX)
		return -ENOENT;
	h->low = lc_load64(heap + (uint64_t)memory + (uint64_t)low);
	h->high = (const uint64_t *)(uintptr_t)(heap + (uint64_t)memory + /* NOLINT */
	                                        (uint64_t)high);
	h->segments = (const uint8_t *)(uintptr_t)lc_load64(heap + (uint64_t)segmap + /* NOLINT */
	                                                    (uint64_t)low);
	h->log2_segment_bytes = (int)lc_load32(heap + (uint64_t)log2);
	frames.heaps_len++;
	return h->low && h->segments && h->log2_segment_bytes > 0 && h->log2_segment_bytes < 24
	           ? 0
	           : -ENOENT;
}

static void find_entry(void)
{
	const void *pc = lc_vm_static("StubRoutines", "_call_stub_return_address");
	const long anchor = lc_vm_offset("JavaCallWrapper", "_anchor");

	frames.last_sp = lc_vm_offset("JavaFrameAnchor", "_last_Java_sp");
	frames.last_pc = lc_vm_offset("JavaFrameAnchor", "_last_Java_pc");
	frames.last_rbp = lc_vm_offset("JavaFrameAnchor", "_last_Java_fp");
	if (!pc || anchor < 0 || frames.last_sp < 0 || frames.last_pc < 0 || frames.last_rbp < 0)
		return;
	frames.last_sp += anchor;
	frames.last_pc += anchor;
	frames.last_rbp += anchor;
	frames.entry_pc = lc_load64((uint64_t)(uintptr_t)pc);
}

int lc_frames_init(uint64_t interpreter_low, uint64_t interpreter_high)
{
	const void *static_heaps = lc_vm_static("CodeCache", "_heaps");
	const long block = lc_vm_sizeof("HeapBlock");
	const long data = lc_vm_offset("GrowableArray<int>", "_data");
	long len = lc_vm_offset("GrowableArrayBase", "_len");
	uint64_t array, at;
	int n = 0, err = 0;

	if (len < 0)
		len = lc_vm_offset("GenericGrowableArray", "_len"); /* JDK 11 */
	frames.frame_size = lc_vm_offset("CodeBlob", "_frame_size");
	if (!static_heaps || block <= 0 || data < 0 || len < 0 || frames.frame_size < 0)
		return -ENOENT;
	array = lc_load64((uint64_t)(uintptr_t)static_heaps);
	if (!array)
		return -ENOENT;
	n = (int)lc_load32(array + (uint64_t)len);
	at = lc_load64(array + (uint64_t)data);
	for (int i = 0; i < n && !err; i++)
		err = add_heap(lc_load64(at + (uint64_t)i * 8));
	if (err || n <= 0) {
		frames.heaps_len = 0;
		return -ENOENT;
	}
	find_entry();
	frames.block_bytes = (uint64_t)block;
	frames.interpreter_low = interpreter_low;
	frames.interpreter_high = interpreter_high;
	return 0;
}

/* Words of a frame of the code at `pc`; 0: none, the JVM's own; -1: not known. */
static int frame_size(uint64_t pc)
{
	for (unsigned i = 0; i < frames.heaps_len; i++) {
		const struct heap *h = &frames.heaps[i];
		uint64_t segment;

		if (pc < h->low || pc >= *h->high)
			continue;
		segment = (pc - h->low) >> h->log2_segment_bytes;
		if (h->segments[segment] == SEGMENT_FREE)
			return -1;
		for (unsigned hop = 0; h->segments[segment]; hop++) {
			if (hop == HOPS_MAX || h->segments[segment] > segment)
				return -1;
			segment -= h->segments[segment];
		}
		return (int)lc_load32(h->low + (segment << h->log2_segment_bytes) +
		                      frames.block_bytes + (uint64_t)frames.frame_size);
	}
	return 0; /* not generated code: the JVM's */
}

static bool interpreted(uint64_t pc)
{
	return pc >= frames.interpreter_low && pc < frames.interpreter_high;
}

/* Where a walk is: a return address, where it stands, and what the registers were there. */
struct walk {
	uint64_t frame, end;
	uint64_t pc, pc_at, sp, rbp;
	uint64_t *value;
	uint16_t *offset;
	unsigned words_max;
	struct lc_frame_words out;
};

/* Is this a word of the stack above the hook? */
static bool is_word(const struct walk *w, uint64_t address)
{
	return address > w->frame && address + 8 <= w->end && !(address & 7) &&
	       (address - w->frame) / 8 <= UINT16_MAX;
}

static bool add_word(struct walk *w, uint64_t address)
{
	if (w->out.len == w->words_max || !is_word(w, address))
		return false;
	w->value[w->out.len] = lc_load64(address);
	w->offset[w->out.len++] = (uint16_t)((address - w->frame) / 8);
	return true;
}

/* Go to the caller of the frame that has just begun at `pc`. Returns false where it cannot. */
static bool step_interpreted(struct walk *w)
{
	uint64_t rbp = w->rbp;

	if (!is_word(w, rbp) || !is_word(w, rbp + 8) || rbp < w->pc_at ||
	    !add_word(w, rbp + (uint64_t)(LC_INTERPRETED_METHOD * 8)) ||
	    !add_word(w, rbp + (uint64_t)(LC_INTERPRETED_BYTECODE * 8)))
		return false;
	w->pc_at = rbp + 8;
	w->pc = lc_load64(w->pc_at);
	w->sp = lc_load64(rbp + (uint64_t)(LC_INTERPRETED_SENDER_SP * 8));
	w->rbp = lc_load64(rbp);
	return true;
}

static bool step_compiled(struct walk *w, int words)
{
	uint64_t at = w->sp + (uint64_t)words * 8 - 8;

	if (!is_word(w, at) || at <= w->pc_at || !add_word(w, w->pc_at))
		return false;
	w->rbp = lc_load64(at - 8);
	w->pc_at = at;
	w->pc = lc_load64(at);
	w->sp = at + 8;
	return true;
}

/*
 * The JVM called the frame that has just ended: go to where the thread was in Java code before.
 * Returns false where it cannot, or there is nothing: then that is all.
 */
static bool step_entry(struct walk *w)
{
	const uint64_t at = w->rbp + (uint64_t)(ENTRY_WRAPPER * 8);
	uint64_t wrapper, sp, pc_at;

	if (!frames.entry_pc || w->pc != frames.entry_pc || at <= w->frame || !is_word(w, at))
		return false;
	wrapper = lc_load64(at);
	if (!is_word(w, wrapper + (uint64_t)frames.last_sp) ||
	    !is_word(w, wrapper + (uint64_t)frames.last_pc) ||
	    !is_word(w, wrapper + (uint64_t)frames.last_rbp))
		return false;
	sp = lc_load64(wrapper + (uint64_t)frames.last_sp);
	if (!sp) {
		w->out.complete = true;
		return false;
	}
	pc_at = wrapper + (uint64_t)frames.last_pc;
	if (!lc_load64(pc_at))
		pc_at = sp - 8;
	if (!is_word(w, sp) || sp <= w->pc_at || !is_word(w, pc_at) || !add_word(w, w->pc_at) ||
	    !add_word(w, at) || !add_word(w, wrapper + (uint64_t)frames.last_sp))
		return false;
	w->pc_at = pc_at;
	w->pc = lc_load64(pc_at);
	w->sp = sp;
	w->rbp = lc_load64(wrapper + (uint64_t)frames.last_rbp);
	/*
	 * The rbp that is given there matters to an interpreted frame only, which is found by it.
	 */
	return !interpreted(w->pc) || add_word(w, wrapper + (uint64_t)frames.last_rbp);
}

struct lc_frame_words
lc_frames_words(const struct lc_native_frame *at, uint64_t stack_end, unsigned frames_max,
                unsigned words_max, uint64_t *value, /* NOLINT(readability-non-const-parameter) */
                uint16_t *offset)                    /* NOLINT(readability-non-const-parameter) */
{
	struct walk w = { .frame = at->frame,
		          .end = stack_end,
		          .value = value,
		          .offset = offset,
		          .words_max = words_max };
	uint64_t native = at->native;

	if (!frames.heaps_len || !is_word(&w, native) || !is_word(&w, native + 8))
		return w.out;
	w.pc_at = native + 8;
	w.pc = lc_load64(w.pc_at);
	w.sp = interpreted(at->into) ? lc_load64(native + (uint64_t)(LC_INTERPRETED_SENDER_SP * 8))
	                             : native + 16;
	w.rbp = lc_load64(native);
	while (w.out.frames < frames_max) {
		int words = interpreted(w.pc) ? -1 : frame_size(w.pc);

		if (!words) {
			if (step_entry(&w)) {
				frames_max += frames_max < UINT_MAX; /* one may be the JVM's stub */
				continue;
			}
			w.out.whole = true; /* the end of Java frames */
			return w.out;
		}
		if (interpreted(w.pc) ? !step_interpreted(&w)
		                      : words < 2 || !step_compiled(&w, words))
			return w.out;
		w.out.frames++;
	}
	w.out.whole = true;
	w.out.complete = true;
	return w.out;
}
