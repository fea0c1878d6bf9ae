/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format/kinds.h - lists the numbers that a profile holds for kinds of things, and their names in
 * reports.
 *
 * docs/FORMAT.md is the norm. The agent and the analyzer share this file. Context of all functions:
 * any.
 */
#ifndef LC_FORMAT_KINDS_H
#define LC_FORMAT_KINDS_H

#include <stdbool.h>
#include <stdint.h>

enum { LC_ENGINES_MAX = 64 }; /* rows of `engines` in the manifest; engine numbers are below it */

/* Sections of a payload. A reader skips the types that it does not know. */
enum lc_section {
#define LC_OTHER(name, number) LC_SECTION_##name = (number),
#define LC_SECTION(name, number, prefix, noun, list, owner, by, columns)                           \
	LC_SECTION_##name = (number),
#include "src/format/sections.def"
	LC_SECTION_COUNT
};

/* Results of attribution. Every sample is in exactly one bucket; the total is their sum. */
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

/* The kind of code that a sampled program counter was in: DETAILS. */
enum lc_where {
	LC_WHERE_COMPILED = 0, /* method compiled by C1 or C2 */
	LC_WHERE_STUB,         /* generated stub: array copy, fill, intrinsic */
	LC_WHERE_INTERPRETER,
	LC_WHERE_JVM,    /* libjvm, or a runtime blob of the code cache */
	LC_WHERE_NATIVE, /* any other native code */
	LC_WHERE_COUNT
};

/* How the address of a sample was found, or why it was not: DETAILS. */
enum lc_how {
	LC_HOW_DIRECT = 0, /* operand of the instruction before the sampled one */
	LC_HOW_NEARBY,     /* operand of the nearest memory instruction in the same straight line */
	LC_HOW_BASE, /* index destroyed, base register intact: an address in the same object */
	LC_HOW_TRAP, /* execute breakpoint on the next run of the instruction */
	LC_HOW_NO_OPERAND, /* no memory operand near the sampled instruction */
	LC_HOW_DESTROYED,  /* base destroyed and the breakpoint did not fire or could not be set */
	LC_HOW_UNDECODED,  /* instruction boundaries unknown */
	LC_HOW_NOT_JAVA,   /* interpreter, JVM or native code: not decoded */
	LC_HOW_KERNEL,     /* the kernel or the CPU gave it with the sample */
	LC_HOW_COUNT
};

/*
 * Kinds of access: bits of FIELDS and LINES. Both: an increment in place, a compare-and-swap. None:
 * unknown.
 */
enum { LC_TOUCH_LOAD = 1, LC_TOUCH_STORE = 2, LC_TOUCH_END = 4 };

enum { LC_LINE_BYTES_MAX = 64 }; /* byte numbers of LINES are below it */

/*
 * Columns that name a NUMA node hold its number + 1, and 0 where it is unknown. Linux numbers at
 * most 1024 nodes.
 */
enum { LC_NODE_NUMBERS = 1024, LC_NODE_END = LC_NODE_NUMBERS + 1 };

/* Kinds of names in SITE_NAMES. */
enum lc_site_name {
	LC_NAME_FIELD = 0, /* a field that the object is stored in */
	LC_NAME_LOCAL,     /* a local variable */
	LC_NAME_ARGUMENT,  /* a method that it is passed to */
	LC_NAME_KINDS
};

/* The source of an access's data, as far as a hardware engine tells: METRICS. */
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

/* The code around an access tells more than which part of the object it is: bits of WAITS. */
enum {
	/* The instruction before the sample touches no object: the time is not the access's. */
	LC_WAIT_ELSEWHERE = 1,
	/* A header was read, and the code reads a part of the same cache line of the object next.
	 */
	LC_WAIT_READS_ON = 2,
	/* A store and no load, of which the part of the object is not known. */
	LC_WAIT_STORES_SOMEWHERE = 4,
	/* The thread's last sample of this bucket and site was at the same object, of at most
	 * LC_WAIT_SAME_BYTES. */
	LC_WAIT_SAME_OBJECT = 8,
	LC_WAIT_FLAGS_END = 16
};

enum { LC_WAIT_SAME_BYTES = 4096 };

/* How code reached an object: REACHES. */
enum lc_reference {
	LC_REFERENCE_UNKNOWN = 0,
	LC_REFERENCE_FIELD,     /* of an object */
	LC_REFERENCE_STATIC,    /* a static field */
	LC_REFERENCE_PARAMETER, /* whose argument is not known */
	LC_REFERENCE_RESULT,    /* of a method */
	LC_REFERENCE_NEW,       /* the code has just made it */
	LC_REFERENCE_CONSTANT,  /* a string or another constant of the class */
	LC_REFERENCE_CLASS,     /* the class that holds a static field */
	LC_REFERENCE_CAUGHT,    /* an exception */
	LC_REFERENCE_SEVERAL,   /* one of several */
	LC_REFERENCE_KINDS
};

/* Reasons to read a header: REACHES. */
enum lc_why {
	LC_WHY_NO_HEADER = 0, /* another part of the object, or it is not known which */
	LC_WHY_UNKNOWN,
	LC_WHY_VIRTUAL,    /* a virtual call reads the class */
	LC_WHY_INTERFACE,  /* an interface call reads it */
	LC_WHY_TYPE,       /* instanceof, a cast, getClass() */
	LC_WHY_STORE,      /* the check that an element fits the array */
	LC_WHY_LENGTH,     /* of an array, by itself */
	LC_WHY_BOUNDS,     /* the check of an index */
	LC_WHY_MONITOR,    /* synchronized */
	LC_WHY_HASH,       /* the identity hash */
	LC_WHY_NULL,       /* the check for null */
	LC_WHY_ALLOCATION, /* the code writes the header of a new object */
	LC_WHYS
};

/* Columns of an ESTIMATES row: objects that outlived at least so many collections. */
enum { LC_LIVE_COLUMNS = 5 };

/* How a row of SPLITS was made. */
enum lc_split_method {
	LC_SPLIT_LIVE = 0, /* in proportion to the class's live objects of each site */
	LC_SPLIT_HITS,     /* accesses to sampled objects themselves, weighted */
	/* Site: the class. All samples that LIVE or HITS was to give to sites: the rest has none.
	 */
	LC_SPLIT_LIVE_WHOLE,
	LC_SPLIT_HITS_WHOLE,
	LC_SPLIT_COUNT
};

/* The part of an array that an access fell in, by sixteenths of its length. */
enum lc_array_end {
	LC_END_NONE = 0, /* no array, a short one, or it is not known where */
	LC_END_FIRST,
	LC_END_LAST,
	LC_END_MIDDLE, /* anywhere else */
	LC_END_COUNT
};

/* Kinds of spans. */
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

/* Flags of a span that was recorded by itself. */
enum {
	LC_TRACE_FOLDED = 1,      /* ended inside another task and belongs to it */
	LC_TRACE_SUBMITTED = 2,   /* by way of an executor */
	LC_TRACE_SAME_THREAD = 4, /* created by the thread that executes it */
	LC_TRACE_FORK_JOIN = 8,
	LC_TRACE_VIRTUAL = 16, /* on a virtual thread */
	LC_TRACE_LOOP = 32,    /* the target of a Thread: what it executes is in a thread */
	LC_TRACE_IN_LOOP = 64, /* by way of such a target, which may go on in it */
	LC_TRACE_OWN = 128,    /* inside a task that is a worker's loop: no part of it */
	LC_TRACE_FLAGS_END = 256
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
 * The class of tasks, and of the method that is the place of streams, for which the agent had no
 * slot: all of them in one, by thread and kind.
 */
#define LC_SPAN_OTHER_CLASS "(other places: no slot left)"

/*
 * From JDK 21 on, all lambda expressions of a class share one name, which ends with this. Tasks of
 * such a name are told apart by the place of their creation, too.
 */
#define LC_SPAN_LAMBDAS_SUFFIX "$$Lambda"

/* The class of the one method on the path of objects that were there before the attach. */
#define LC_BEFORE_CLASS "(before the attach)"

/*
 * The classes of sites of blocks outside the heap end with this. Before it stands what the program
 * holds the block by, "native memory", or the mapped file.
 */
#define LC_OFFHEAP_SUFFIX " (off-heap)"
#define LC_OFFHEAP_MAPPED "mapped " /* the name of the file follows */

/* The parts of a process's resident memory: MEMORY. */
enum lc_resident_part {
	LC_RESIDENT_ALL = 0,     /* all of it: the sum of the parts from HEAP to REST */
	LC_RESIDENT_PEAK,        /* the most that the process ever had, as the kernel counts it */
	LC_RESIDENT_HEAP,        /* the Java heap */
	LC_RESIDENT_CLASS_SPACE, /* classes that compressed pointers reach */
	LC_RESIDENT_METASPACE,   /* other data of classes */
	LC_RESIDENT_CODE,        /* the code cache */
	LC_RESIDENT_GC,          /* card tables, mark bitmaps and the like */
	LC_RESIDENT_STACKS,      /* of all threads */
	LC_RESIDENT_CDS,         /* the archive of classes */
	LC_RESIDENT_LIBRARIES,   /* code and data of programs and libraries */
	LC_RESIDENT_FILES,       /* other mapped files; has names */
	LC_RESIDENT_BLOCKS,      /* blocks outside the heap with a row of OFFHEAP; has names */
	LC_RESIDENT_MALLOC,      /* what else malloc() has taken from the kernel */
	LC_RESIDENT_LOCUS,       /* the agent's */
	LC_RESIDENT_REST,        /* nobody known */
	LC_RESIDENT_FREE,        /* of MALLOC: free at that moment, resident or not */
	LC_RESIDENT_PARTS
};

/* Rows of LIVE. */
enum lc_live_kind {
	LC_LIVE_LEAST, /* the least in the time from the row's on until the next */
	LC_LIVE_NOW,   /* after the last collection, or of blocks at that time: all sites that have
	                  any */
	LC_LIVE_YOUNG, /* allocated since the last collection, dead or not */
	LC_LIVE_KINDS
};

/*
 * In TASKS, in place of a kind: objects that were executed at least once. Creations less these are
 * what was never executed.
 */
enum { LC_SUBMIT_FIRST = 255 };

/*
 * Likewise, of a class's site without a path: the agent has ceased to record each creation of the
 * class (one row each time).
 */
enum { LC_SUBMIT_PART = 254 };

/* May a row of TASKS have this number? */
static inline bool lc_submit_of_tasks(uint64_t kind)
{
	return kind < LC_SUBMIT_KINDS || kind == LC_SUBMIT_FIRST || kind == LC_SUBMIT_PART;
}

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
 * Bucket of a span's cycles: four to each power of two, so that one is at most a quarter wide;
 * below 4 (and below 0) each number is its own and 0 is the lowest.
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
	static const char *const names[LC_WHERE_COUNT] = {
		"compiled", "stub", "interpreter", "jvm", "native",
	};

	return where < LC_WHERE_COUNT ? names[where] : "unknown";
}

static inline const char *lc_detail_how_name(unsigned how)
{
	static const char *const names[LC_HOW_COUNT] = {
		"direct",    "nearby",    "base",     "trap",   "no_operand",
		"destroyed", "undecoded", "not_java", "kernel",
	};

	return how < LC_HOW_COUNT ? names[how] : "unknown";
}

/* Collections that column `i` of an ESTIMATES row asks for. */
static inline unsigned lc_live_collections(unsigned i)
{
	return 1u << i; /* 1, 2, 4, 8, 16 */
}

static inline const char *lc_reference_name(unsigned kind)
{
	static const char *const names[LC_REFERENCE_KINDS] = {
		"unknown", "field",    "static", "parameter", "result",
		"new",     "constant", "class",  "caught",    "several",
	};

	return kind < LC_REFERENCE_KINDS ? names[kind] : "unknown";
}

static inline const char *lc_why_name(unsigned why)
{
	static const char *const names[LC_WHYS] = {
		"no_header",  "unknown",       "virtual_call", "interface_call",
		"type_check", "store_check",   "length",       "bounds_check",
		"monitor",    "identity_hash", "null_check",   "allocation",
	};

	return why < LC_WHYS ? names[why] : "unknown";
}

static inline const char *lc_data_source_name(unsigned source)
{
	static const char *const names[LC_SOURCE_COUNT] = {
		"unknown",    "l1",          "fill_buffer",  "l2",    "l3",
		"local_dram", "remote_dram", "remote_cache", "other",
	};

	return source < LC_SOURCE_COUNT ? names[source] : "unknown";
}

#endif
