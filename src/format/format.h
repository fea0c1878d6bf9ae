/*
 * format/format.h - the profile format, shared by the agent and the analyzer. The norm is docs/FORMAT.md.
 *
 * Everything here is pure: no locks, no allocation, no system calls. Context: any.
 */
#ifndef LC_FORMAT_FORMAT_H
#define LC_FORMAT_FORMAT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "src/base/bytes.h"

#define LC_FORMAT_VERSION 1

#define LC_MANIFEST_NAME "manifest.json"
#define LC_BLOCK_SUFFIX ".lcb"

/* First eight bytes of a block. Not text, and changed by every newline conversion. */
#define LC_BLOCK_MAGIC "\x89LCB\r\n\x1a\n"

enum {
	LC_BLOCK_MAGIC_LEN = 8,
	LC_BLOCK_HEADER_LEN = 72,        /* of version 1 */
	LC_BLOCK_HEADER_LEN_MAX = 4096,  /* of any later one */
	LC_BLOCK_RAW_MAX = 256 << 20,    /* payload bytes, uncompressed */
	LC_BLOCK_STORED_MAX = 257 << 20, /* payload bytes in the file */
	LC_VARINT_MAX = 10,              /* bytes of the longest varint */
	LC_ENGINES_MAX = 64,             /* rows of `engines` in the manifest */
};

/* Header field `thread_index` (and then `process`) of a block that holds all threads as one. */
#define LC_THREAD_ALL UINT32_MAX

/* Sections of a payload. A reader skips the types that it does not know. */
enum lc_section {
	LC_SECTION_STRINGS = 1,
	LC_SECTION_THREAD = 2,
	LC_SECTION_METHODS = 3,
	LC_SECTION_FRAMES = 4,
	LC_SECTION_PATHS = 5,
	LC_SECTION_SITES = 6,
	LC_SECTION_ALLOCATIONS = 7,
	LC_SECTION_ACCESSES = 8,
	LC_SECTION_BUCKETS = 9,
	LC_SECTION_DETAILS = 10,
	LC_SECTION_THREADS = 11,
	LC_SECTION_FIELDS = 12,
	LC_SECTION_METRICS = 13,
	LC_SECTION_LINES = 14,
	LC_SECTION_ESTIMATES = 15,
	LC_SECTION_SPLITS = 16,
	LC_SECTION_MERGED_LINES = 17, /* LINES in a block of all threads */
	LC_SECTION_PLACEMENTS = 18,
	LC_SECTION_NODES = 19,
	LC_SECTION_HOMES = 20,
	LC_SECTION_SPANS = 21, /* executions of streams and tasks */
	LC_SECTION_TASKS = 22, /* created and submitted ones */
	LC_SECTION_SPAN_ACCESSES = 23,
	LC_SECTION_TIMELINE = 24,
	LC_SECTION_PAUSES = 25,
	LC_SECTION_TRACE = 26,
	LC_SECTION_COUNT
};

/* Where a sample ended. Every sample is in exactly one; the total is their sum. */
enum lc_bucket {
	LC_BUCKET_OBJECT = 0,   /* a tracked object: has a site */
	LC_BUCKET_HEAP_CLASS,   /* heap, not tracked; class known */
	LC_BUCKET_HEAP_UNKNOWN, /* heap, nothing known */
	LC_BUCKET_JVM,          /* code cache, metaspace, thread stacks, the JVM's own data */
	LC_BUCKET_NATIVE,       /* any other memory, or native code was running */
	LC_BUCKET_NO_ADDRESS,   /* the address could not be recovered */
	LC_BUCKET_LOST,         /* no room for the record */
	LC_BUCKET_COUNT
};

/* Numbers of the DETAILS section: where the program counter was, how the address was found. */
enum { LC_DETAIL_WHERE_COUNT = 5, LC_DETAIL_HOW_COUNT = 9 };

/*
 * What an access did: bits of FIELDS and LINES. Both: an increment in place, a compare-and-swap. None:
 * unknown.
 */
enum { LC_TOUCH_LOAD = 1, LC_TOUCH_STORE = 2, LC_TOUCH_END = 4 };

enum { LC_LINE_BYTES_MAX = 64 }; /* byte numbers of LINES are below it */

/*
 * Columns that name a NUMA node hold its number + 1, and 0 where it is unknown. Linux numbers at
 * most 1024 nodes.
 */
enum { LC_NODE_NUMBERS = 1024, LC_NODE_END = LC_NODE_NUMBERS + 1 };

/* Where the data of an access came from, as far as a hardware engine tells: METRICS. */
enum lc_data_source {
	LC_SOURCE_UNKNOWN = 0,
	LC_SOURCE_L1,
	LC_SOURCE_FILL_BUFFER, /* a miss on the same line was under way */
	LC_SOURCE_L2,
	LC_SOURCE_L3,
	LC_SOURCE_LOCAL_DRAM,
	LC_SOURCE_REMOTE_DRAM,
	LC_SOURCE_REMOTE_CACHE,
	LC_SOURCE_OTHER, /* uncached, I/O, persistent memory */
	LC_SOURCE_COUNT
};

/* Bits beside the source. */
enum {
	LC_METRIC_HITM = 1,     /* the line was modified in another core's cache */
	LC_METRIC_TLB_MISS = 2, /* the second-level TLB missed */
	LC_METRIC_LOCKED = 4,   /* a locked instruction */
	LC_METRIC_STORE = 8,    /* else a load */
	LC_METRIC_FLAGS_END = 16
};

/* Columns of an ESTIMATES row: objects that outlived at least so many collections. */
enum { LC_LIVE_COLUMNS = 5 };

/* How a row of SPLITS was made. */
enum lc_split_method {
	LC_SPLIT_LIVE = 0, /* in proportion to the class's live objects of each site */
	LC_SPLIT_HITS,     /* accesses to sampled objects themselves, weighted */
	LC_SPLIT_COUNT
};

/* What a span is. */
enum lc_span_kind {
	LC_SPAN_ANONYMOUS = 0, /* a stream executed sequentially */
	LC_SPAN_PRIMORDIAL,    /* the thread that executes a parallel stream's terminal operation */
	LC_SPAN_SUPPORT,       /* a task of a parallel stream */
	LC_SPAN_PULLED,        /* asked for its iterator or spliterator: counted, has no cycles */
	LC_SPAN_FOREIGN,       /* a stream of a type that is not java.util.stream's */
	LC_SPAN_TASK,
	LC_SPAN_THREAD, /* run() of a thread, or the loop of a pool's worker */
	LC_SPAN_KINDS
};

#define LC_TIMELINE_NS UINT64_C(100000000)

/* Of a span by itself. */
enum {
	LC_TRACE_FOLDED = 1,      /* ended inside another task and belongs to it */
	LC_TRACE_SUBMITTED = 2,   /* by way of an executor */
	LC_TRACE_SAME_THREAD = 4, /* created by the thread that executes it */
	LC_TRACE_FORK_JOIN = 8,
	LC_TRACE_VIRTUAL = 16, /* on a virtual thread */
	LC_TRACE_FLAGS_END = 32
};

enum {
	LC_SPAN_NESTED =
	    4, /* kinds that are told apart inside another: anonymous, primordial, support, task */
	LC_SPAN_LEVEL_MAX = 255, /* and deeper */
	LC_SPAN_BUCKETS = 192    /* of a histogram of cycles */
};

/* How a task came to be executed by another. */
enum lc_submit_kind {
	LC_SUBMIT_NONE = 0,
	LC_SUBMIT_EXECUTE,    /* Executor.execute() */
	LC_SUBMIT_SUBMIT,     /* ExecutorService.submit() */
	LC_SUBMIT_FORK,       /* ForkJoinTask.fork() */
	LC_SUBMIT_FORK_JOIN,  /* ForkJoinPool.execute(), invoke(), submit() */
	LC_SUBMIT_INVOKE_ALL, /* invokeAll(), invokeAny() */
	LC_SUBMIT_SCHEDULE,   /* ScheduledExecutorService */
	LC_SUBMIT_ASYNC,      /* CompletableFuture.*Async() */
	LC_SUBMIT_START,      /* Thread.start() */
	LC_SUBMIT_KINDS
};

/*
 * In TASKS, in place of a kind: objects that were executed at least once. Creations less these are what was
 * never executed.
 */
enum { LC_SUBMIT_FIRST = 255 };

static inline const char *lc_span_kind_name(unsigned kind)
{
	static const char *const names[LC_SPAN_KINDS] = {
		"anonymous", "primordial", "support", "pulled", "foreign", "task", "thread",
	};

	return kind < LC_SPAN_KINDS ? names[kind] : "unknown";
}

static inline const char *lc_submit_kind_name(unsigned kind)
{
	static const char *const names[LC_SUBMIT_KINDS] = {
		"none",       "execute",  "submit", "fork",  "fork_join_pool",
		"invoke_all", "schedule", "async",  "start",
	};

	return kind < LC_SUBMIT_KINDS ? names[kind] : "unknown";
}

/*
 * Bucket of a span's cycles: four to each power of two, so that one is at most a quarter wide; below 4
 * (and below 0) each number is its own and 0 is the lowest.
 */
static inline unsigned lc_span_bucket(int64_t cycles)
{
	unsigned log, bucket;

	if (cycles < 4)
		return cycles < 0 ? 0 : (unsigned)cycles;
	log = 63u - (unsigned)__builtin_clzll((unsigned long long)cycles);
	bucket = (log - 1) * 4 + (unsigned)((uint64_t)cycles >> (log - 2) & 3);
	return bucket < LC_SPAN_BUCKETS ? bucket : LC_SPAN_BUCKETS - 1;
}

/* The least number of cycles in a bucket. */
static inline uint64_t lc_span_bucket_low(unsigned bucket)
{
	return bucket < 4 ? bucket : (uint64_t)(4 + bucket % 4) << (bucket / 4 - 1);
}

static inline const char *lc_bucket_name(unsigned bucket)
{
	static const char *const names[LC_BUCKET_COUNT] = {
		"object", "heap_class", "heap_unknown", "jvm", "native", "no_address", "lost",
	};

	return bucket < LC_BUCKET_COUNT ? names[bucket] : "unknown";
}

static inline const char *lc_detail_where_name(unsigned where)
{
	static const char *const names[LC_DETAIL_WHERE_COUNT] = {
		"compiled", "stub", "interpreter", "jvm", "native",
	};

	return where < LC_DETAIL_WHERE_COUNT ? names[where] : "unknown";
}

static inline const char *lc_detail_how_name(unsigned how)
{
	static const char *const names[LC_DETAIL_HOW_COUNT] = {
		"direct",    "nearby",    "base",     "trap",   "no_operand",
		"destroyed", "undecoded", "not_java", "kernel",
	};

	return how < LC_DETAIL_HOW_COUNT ? names[how] : "unknown";
}

/* Collections that column `i` of an ESTIMATES row asks for. */
static inline unsigned lc_live_collections(unsigned i)
{
	return 1u << i; /* 1, 2, 4, 8, 16 */
}

static inline const char *lc_data_source_name(unsigned source)
{
	static const char *const names[LC_SOURCE_COUNT] = {
		"unknown",    "l1",          "fill_buffer",  "l2",    "l3",
		"local_dram", "remote_dram", "remote_cache", "other",
	};

	return source < LC_SOURCE_COUNT ? names[source] : "unknown";
}

/* XXH64 with seed 0: every checksum of the format. */
__attribute__((nonnull)) static inline uint64_t lc_checksum(const void *bytes, size_t len)
{
	return XXH64(bytes, len, 0);
}

/* Little-endian integers at any alignment. */
static inline void lc_put_u16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline void lc_put_u32(uint8_t *p, uint32_t v)
{
	lc_put_u16(p, (uint16_t)v);
	lc_put_u16(p + 2, (uint16_t)(v >> 16));
}

static inline void lc_put_u64(uint8_t *p, uint64_t v)
{
	lc_put_u32(p, (uint32_t)v);
	lc_put_u32(p + 4, (uint32_t)(v >> 32));
}

static inline uint16_t lc_get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t lc_get_u32(const uint8_t *p)
{
	return lc_get_u16(p) | (uint32_t)lc_get_u16(p + 2) << 16;
}

static inline uint64_t lc_get_u64(const uint8_t *p)
{
	return lc_get_u32(p) | (uint64_t)lc_get_u32(p + 4) << 32;
}

/* Write `v` with seven bits to a byte, low ones first. `out` has LC_VARINT_MAX bytes. */
static inline size_t lc_varint_put(uint8_t *out, uint64_t v)
{
	size_t n = 0;

	while (v >= 0x80) {
		out[n++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	out[n++] = (uint8_t)v;
	return n;
}

/*
 * Read a varint at *p and advance *p past it. Returns 0, or -EBADMSG when it runs past `end` or
 * over 64 bits; then *p and *v are untouched.
 */
static inline int lc_varint_get(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
	const uint8_t *q = *p;
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		if (q == end)
			return -EBADMSG;
		byte = *q++;
		if (shift == 63 && byte > 1)
			return -EBADMSG;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*p = q;
			*v = value;
			return 0;
		}
	}
	return -EBADMSG;
}

/* Numbers with a sign as varints: 0, -1, 1, -2 .. are 0, 1, 2, 3 .. */
static inline uint64_t lc_zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static inline int64_t lc_zigzag_value(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

/* What stands before each payload. */
struct lc_block_header {
	uint16_t version;
	uint16_t header_len;
	uint32_t process;      /* row of `processes` in the manifest */
	uint32_t tid;          /* kernel's thread ID */
	uint32_t thread_index; /* unique within the process; LC_THREAD_ALL for all of them */
	uint64_t sequence;     /* 0, 1, 2 .. within a file */
	uint64_t t_begin_ns;   /* CLOCK_MONOTONIC of the process */
	uint64_t t_end_ns;
	uint32_t raw_len;    /* payload, uncompressed */
	uint32_t stored_len; /* payload in the file: one zstd frame */
	uint64_t checksum;   /* XXH64, seed 0, of the stored payload */
};

/* Write *h as LC_BLOCK_HEADER_LEN bytes, with this version and the header's own checksum. */
static inline void lc_block_header_put(uint8_t *out, const struct lc_block_header *h)
{
	memcpy(out, LC_BLOCK_MAGIC, LC_BLOCK_MAGIC_LEN);
	lc_put_u16(out + 8, LC_FORMAT_VERSION);
	lc_put_u16(out + 10, LC_BLOCK_HEADER_LEN);
	lc_put_u32(out + 12, h->process);
	lc_put_u32(out + 16, h->tid);
	lc_put_u32(out + 20, h->thread_index);
	lc_put_u64(out + 24, h->sequence);
	lc_put_u64(out + 32, h->t_begin_ns);
	lc_put_u64(out + 40, h->t_end_ns);
	lc_put_u32(out + 48, h->raw_len);
	lc_put_u32(out + 52, h->stored_len);
	lc_put_u64(out + 56, h->checksum);
	lc_put_u64(out + 64, lc_checksum(out, LC_BLOCK_HEADER_LEN - 8));
}

/*
 * Read a header from `len` bytes. Returns 0; -EBADMSG when it is none or damaged; -EAGAIN when
 * more bytes are needed to tell; -ENOTSUP when it is whole and of a newer version (then only
 * h->version and h->header_len are set). *h is otherwise untouched on failure.
 */
static inline int lc_block_header_get(const uint8_t *in, size_t len, struct lc_block_header *h)
{
	size_t header_len;
	uint16_t version;

	if (memcmp(in, LC_BLOCK_MAGIC, len < LC_BLOCK_MAGIC_LEN ? len : LC_BLOCK_MAGIC_LEN))
		return -EBADMSG;
	if (len < 12)
		return -EAGAIN;
	version = lc_get_u16(in + 8);
	header_len = lc_get_u16(in + 10);
	if (header_len < 20 || header_len > LC_BLOCK_HEADER_LEN_MAX)
		return -EBADMSG;
	if (len < header_len)
		return -EAGAIN;
	if (lc_get_u64(in + header_len - 8) != lc_checksum(in, header_len - 8))
		return -EBADMSG;
	if (version > LC_FORMAT_VERSION) {
		h->version = version;
		h->header_len = (uint16_t)header_len;
		return -ENOTSUP;
	}
	if (!version || header_len < LC_BLOCK_HEADER_LEN)
		return -EBADMSG;
	if (lc_get_u32(in + 48) > LC_BLOCK_RAW_MAX || lc_get_u32(in + 52) > LC_BLOCK_STORED_MAX)
		return -EBADMSG;
	h->version = version;
	h->header_len = (uint16_t)header_len;
	h->process = lc_get_u32(in + 12);
	h->tid = lc_get_u32(in + 16);
	h->thread_index = lc_get_u32(in + 20);
	h->sequence = lc_get_u64(in + 24);
	h->t_begin_ns = lc_get_u64(in + 32);
	h->t_end_ns = lc_get_u64(in + 40);
	h->raw_len = lc_get_u32(in + 48);
	h->stored_len = lc_get_u32(in + 52);
	h->checksum = lc_get_u64(in + 56);
	return 0;
}

#define LC_UTF8_REPLACEMENT 0xfffdu

/* One sequence as it stands: surrogates and the two-byte NUL are let through. */
static inline size_t lc_utf8_sequence(const uint8_t *p, size_t len, uint32_t *c)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	*c = LC_UTF8_REPLACEMENT;
	if (!n || n > len || p[0] > 0xf4)
		return 1;
	if (n == 1) {
		*c = p[0];
		return 1;
	}
	uint32_t v = p[0] & (0xffu >> (n + 1));

	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 1;
		v = v << 6 | (p[i] & 0x3fu);
	}
	if ((v < least[n] && v) || v > 0x10ffff || (!v && n != 2))
		return 1;
	*c = v;
	return n;
}

/*
 * Read one character of UTF-8 or of the JVM's modified UTF-8 (NUL as two bytes, surrogate pairs
 * as two sequences of three) at *p, which is below `end`, and advance *p. Returns its code point,
 * never a surrogate; what is neither gives LC_UTF8_REPLACEMENT, a byte or a sequence at a time.
 */
static inline uint32_t lc_utf8_next(const uint8_t **p, const uint8_t *end)
{
	uint32_t high, low;
	size_t n = lc_utf8_sequence(*p, (size_t)(end - *p), &high);

	*p += n;
	if (high < 0xd800 || high > 0xdfff)
		return high;
	if (high < 0xdc00 && end - *p >= 3) {
		n = lc_utf8_sequence(*p, (size_t)(end - *p), &low);
		if (low >= 0xdc00 && low <= 0xdfff) {
			*p += n;
			return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
		}
	}
	return LC_UTF8_REPLACEMENT;
}

/* Write code point `c` as UTF-8; `out` has 4 bytes. Returns the length. */
static inline size_t lc_utf8_put(uint8_t *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (uint8_t)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (uint8_t)(0xc0 | c >> 6);
		out[1] = (uint8_t)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (uint8_t)(0xe0 | c >> 12);
		out[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		out[2] = (uint8_t)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (uint8_t)(0xf0 | c >> 18);
	out[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
	out[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
	out[3] = (uint8_t)(0x80 | (c & 0x3f));
	return 4;
}

/*
 * Append code point `c` inside a JSON string: controls, quote, backslash and '<' (so that the
 * text may stand inside an HTML script element) escaped. `out` has 6 bytes. Returns the length.
 */
static inline size_t lc_json_char_put(uint8_t *out, uint32_t c)
{
	static const char hex[] = "0123456789abcdef";

	if (c == '"' || c == '\\') {
		out[0] = '\\';
		out[1] = (uint8_t)c;
		return 2;
	}
	if (c >= 0x20 && c != '<' && c != 0x7f && c != 0x2028 && c != 0x2029)
		return lc_utf8_put(out, c);
	memcpy(out, "\\u", 2);
	for (unsigned i = 0; i < 4; i++)
		out[2 + i] = (uint8_t)hex[c >> (12 - 4 * i) & 15];
	return 6;
}

/* Append a varint. Context: [writer]. */
static inline void lc_bytes_varint(struct lc_bytes *b, uint64_t v)
{
	if (lc_bytes_reserve(b, LC_VARINT_MAX))
		b->len += lc_varint_put(b->data + b->len, v);
}

#endif
