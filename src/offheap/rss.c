/* SPDX-License-Identifier: Apache-2.0 */
/* offheap/rss.c - decides when to look at the process's memory, and asks the kernel. */
#include "src/offheap/rss.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/vector.h"
#include "src/core/counters.h"
#include "src/core/own_memory.h"
#include "src/core/path.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/os/peek.h"
#include "src/offheap/blocks.h"
#include "src/offheap/nmt.h"
#include "src/offheap/resident.h"
#include "src/offheap/smaps.h"

#define SECOND UINT64_C(1000000000)
#define KIB UINT64_C(1024)
#define LARGE_BYTES (UINT64_C(1) << 30) /* resident */
#define PAGES_MAX (UINT64_C(1) << 25)   /* 128 GiB */
#define COST_MAX_NS UINT64_C(50000000)

enum {
	TEXT_BYTES = 64 << 10,
	OWN_MAX = 4200, /* ranges */
	BLOCKS_MAX = 1 << 16,
	BLOCKS_AT_ONCE = 256,
	TRIES = 3,
	HIGHER_PERCENT = 10, /* than before: worth a snapshot */
	SPARED = 16,         /* snapshots that only the end and requests may take */
};

struct snapshot {
	struct snapshot *next;
	uint64_t number, time_ns, peak_bytes, free_bytes;
	bool free_known;
	struct lc_resident_rows resident;
	struct lc_nmt_row nmt[LC_NMT_ROWS];
	size_t nmt_len;
};

/* lc_rss_begin() sets the ranges, all else is the attribution thread's. */
static struct {
	struct lc_range heap, cards, code, library;
	uint64_t classes, class_space_bytes;
	struct snapshot *first, **end; /* that are to be written */
	uint64_t number;               /* of the next one */
	uint64_t last_ns, looked_ns;
	uint64_t highest_bytes;       /* of the snapshots */
	uint64_t cost_ns, cost_bytes; /* of the last division, and what was resident */
	uint64_t taken, all_ns, max_ns;
	struct lc_vector rows, nmt; /* of the snapshots, for a block */
	bool over;                  /* any block takes the rows */
	int pagemap;
} rss;

void lc_rss_begin(void)
{
	rss.heap = lc_ranges_objects();
	rss.code = lc_ranges_code();
	rss.library = lc_ranges_library();
	rss.cards = lc_ranges_cards();
	lc_ranges_class_space(&rss.classes, &rss.class_space_bytes);
	lc_nmt_begin();
}

/* ---- the kernel's counts ---- */

/* The number after `name` in /proc/self/status, which is in KiB; 0: there is none. */
static uint64_t status_bytes(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	uint64_t kib;

	return at && sscanf(at + strlen(name), "%" SCNu64, &kib) == 1 &&
	               kib < UINT64_MAX / KIB / KIB
	           ? kib * KIB
	           : 0;
}

void lc_rss_now(uint64_t *bytes, uint64_t *peak_bytes)
{
	const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	char text[4096];
	uint64_t huge;
	ssize_t n = 0;

	*bytes = *peak_bytes = 0;
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	huge = status_bytes(text, "\nHugetlbPages:");
	*bytes = status_bytes(text, "\nVmRSS:");
	*peak_bytes = status_bytes(text, "\nVmHWM:");
	if (*bytes)
		*bytes += huge;
	if (*peak_bytes)
		*peak_bytes += huge;
}

/* ---- one division ---- */

static bool pages(uint64_t page, bool *out, size_t len)
{
	uint64_t entries[512];

	memset(out, 0, len * sizeof(*out));
	for (size_t at = 0, n; at < len; at += n) {
		ssize_t got;

		n = len - at < 512 ? len - at : 512;
		got = pread(rss.pagemap, entries, n * sizeof(*entries),
		            (off_t)((page + at) * sizeof(*entries)));
		if (got < 0)
			return false;
		for (size_t i = 0; i < (size_t)got / sizeof(*entries); i++)
			out[at + i] = entries[i] >> 63; /* present */
		if ((size_t)got < n * sizeof(*entries))
			break; /* behind the last address */
	}
	return true;
}

static const char *block_name(uint32_t site)
{
	const struct lc_site *s = lc_site_get(site);

	return s && strncmp(s->class_name, LC_OFFHEAP_MAPPED, strlen(LC_OFFHEAP_MAPPED)) != 0
	           ? s->class_name
	           : NULL;
}

static bool read_maps(struct lc_smaps *maps, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = fd < 0 ? NULL : malloc(TEXT_BYTES);
	ssize_t n = -1;

	while (text && (n = read(fd, text, TEXT_BYTES)) > 0)
		lc_smaps_feed(maps, text, (size_t)n);
	free(text);
	if (fd >= 0)
		close(fd);
	return !n && maps->areas.len;
}

static uint64_t count_pages(uint64_t low, uint64_t high)
{
	bool resident[1024];
	uint64_t bytes = 0;

	for (uint64_t page = low / LC_RESIDENT_PAGE; page < high / LC_RESIDENT_PAGE;) {
		const uint64_t left = high / LC_RESIDENT_PAGE - page;
		const size_t n = left < 1024 ? (size_t)left : 1024;

		if (!pages(page, resident, n))
			break;
		for (size_t i = 0; i < n; i++)
			bytes += resident[i] ? LC_RESIDENT_PAGE : 0;
		page += n;
	}
	return bytes;
}

/*
 * Count the resident pages of areas that /proc/self/maps names, but for the Java heap, which has
 * what is left of all. The kernel holds its lock for some pages at a time only. Returns how much is
 * resident in all afterwards; 0: there are too many pages.
 */
static uint64_t count_areas(struct lc_smaps *maps)
{
	struct lc_smaps_area *a = maps->areas.data, *heap = NULL;
	uint64_t left = PAGES_MAX, counted = 0, all, peak;

	for (size_t i = 0; i < maps->areas.len; i++) {
		const uint64_t bytes = a[i].high - a[i].low;

		if (a[i].reserved)
			continue;
		if (a[i].low >= rss.heap.low && a[i].high <= rss.heap.high) {
			if (!heap || bytes > heap->high - heap->low)
				heap = &a[i];
			continue;
		}
		if (bytes / LC_RESIDENT_PAGE > left)
			return 0;
		left -= bytes / LC_RESIDENT_PAGE;
		a[i].resident_bytes = count_pages(a[i].low, a[i].high);
		counted += a[i].resident_bytes;
	}
	lc_rss_now(&all, &peak);
	if (heap)
		heap->resident_bytes = all > counted ? all - counted : 0;
	return all;
}

/* Does the kernel tell which pages are resident? The one that this function uses is. */
static bool pages_are_told(void)
{
	bool is_resident = false;

	return pages((uintptr_t)&is_resident / LC_RESIDENT_PAGE, &is_resident, 1) && is_resident;
}

/* The same of a process with much memory. If it gives much back meanwhile, count again. */
static bool read_large(struct lc_smaps *maps, uint64_t bytes)
{
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t after;

		lc_smaps_free(maps);
		lc_smaps_init(maps);
		if (!read_maps(maps, "/proc/self/maps"))
			return false;
		after = count_areas(maps);
		if (!after)
			return false;
		if (after >= bytes - bytes / 64)
			return true;
		bytes = after;
	}
	return false;
}

static int by_low(const void *a, const void *b)
{
	const struct lc_resident_range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

/* The ranges that are known, by address. Returns how many; *out is to be freed. */
static size_t known_ranges(struct lc_resident_range **out)
{
	struct lc_own_memory_range *own = malloc(OWN_MAX * sizeof(*own));
	struct lc_resident_range *r = malloc((OWN_MAX + 2) * sizeof(*r));
	size_t len = 0, own_len;

	*out = r;
	if (own && r) {
		own_len = lc_own_memory_ranges(own, OWN_MAX);
		for (size_t i = 0; i < own_len; i++)
			r[len++] =
			    (struct lc_resident_range){ own[i].low, own[i].end, LC_RESIDENT_LOCUS };
		if (rss.heap.low < rss.heap.high)
			r[len++] = (struct lc_resident_range){ rss.heap.low, rss.heap.high,
				                               LC_RESIDENT_HEAP };
		if (rss.code.low < rss.code.high)
			r[len++] = (struct lc_resident_range){ rss.code.low, rss.code.high,
				                               LC_RESIDENT_CODE };
		qsort(r, len, sizeof(*r), by_low);
	}
	free(own);
	return len;
}

/* The lock of the blocks is taken for a few blocks at a time, since the program waits for it. */
static size_t copy_blocks(struct lc_blocks_block **out)
{
	struct lc_blocks_block *all = malloc(BLOCKS_MAX * sizeof(*all));
	uint64_t from = 0;
	size_t len = 0, n;

	*out = all;
	while (all && len + BLOCKS_AT_ONCE <= BLOCKS_MAX) {
		n = lc_blocks_copy(from, all + len, BLOCKS_AT_ONCE);
		len += n;
		if (n < BLOCKS_AT_ONCE)
			break;
		from = all[len - 1].addr + 1;
	}
	return len;
}

/* So much is resident in all. */
static bool divide(uint64_t bytes, struct lc_resident_rows *out)
{
	struct lc_resident_range *known = NULL;
	struct lc_blocks_block *blocks = NULL;
	struct lc_resident_given g = {
		.block_name = block_name,
		.heap = rss.heap,
		.cards = rss.cards,
		.library = rss.library,
		.classes = rss.classes,
		.class_space_bytes = rss.class_space_bytes,
		.control_block = (uint64_t)pthread_self(),
		.read = lc_peek,
		.pages = pages,
	};
	struct lc_smaps maps;
	bool done;

	lc_smaps_init(&maps);
	rss.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	done = bytes < LARGE_BYTES || !pages_are_told() ? read_maps(&maps, "/proc/self/smaps")
	                                                : read_large(&maps, bytes);
	if (done) {
		g.maps = &maps;
		g.known_len = known_ranges(&known);
		g.known = known;
		g.blocks_len = copy_blocks(&blocks);
		g.blocks = blocks;
		done = !lc_resident_divide(&g, out);
	}
	free(blocks);
	free(known);
	lc_smaps_free(&maps);
	if (rss.pagemap >= 0)
		close(rss.pagemap);
	return done;
}

/*
 * Bytes that malloc() has and nobody uses. glibc 2.33 and later count them in 64 bits. It goes
 * through all free blocks, so only who asks for a profile waits for it.
 */
static bool free_bytes(uint64_t *out)
{
	struct counts {
		size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks,
		    keepcost;
	};
	void *const found = dlsym(RTLD_DEFAULT, "mallinfo2");
	struct counts (*count)(void);

	if (!found)
		return false;
	memcpy(&count, &found, sizeof(count));
	*out = count().fordblks;
	return true;
}

/* ---- snapshots ---- */

static uint64_t cpu_ns(void)
{
	struct timespec t = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* `slowly`: somebody waits for the profile, and for counts that take longer. */
static void take(JNIEnv *jni, uint64_t now_ns, uint64_t bytes, uint64_t peak_bytes, bool slowly)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	const uint64_t begin_ns = cpu_ns();
	struct lc_resident_row *all;

	if (!s)
		return;
	all = &s->resident.rows[0];
	if (!divide(bytes, &s->resident)) {
		s->resident.len = 1;
		memset(all, 0, sizeof(*all));
		all->resident_bytes = bytes;
	}
	all->part = LC_RESIDENT_ALL;
	s->free_known = slowly && free_bytes(&s->free_bytes);
	s->nmt_len = slowly ? lc_nmt_ask(jni, s->nmt, LC_NMT_ROWS) : 0;
	s->number = rss.number++;
	s->time_ns = now_ns;
	s->peak_bytes = peak_bytes > all->resident_bytes ? peak_bytes : all->resident_bytes;
	rss.last_ns = now_ns;
	if (all->resident_bytes > rss.highest_bytes)
		rss.highest_bytes = all->resident_bytes;
	rss.cost_ns = cpu_ns() - begin_ns;
	rss.cost_bytes = all->resident_bytes;
	rss.taken++;
	rss.all_ns += rss.cost_ns;
	rss.max_ns = rss.cost_ns > rss.max_ns ? rss.cost_ns : rss.max_ns;
	if (!rss.first)
		rss.end = &rss.first;
	*rss.end = s;
	rss.end = &s->next;
}

/* Would a division cost little, by the last one? */
static bool is_cheap(uint64_t bytes)
{
	return !rss.cost_bytes ||
	       (double)rss.cost_ns * (double)bytes / (double)rss.cost_bytes <= (double)COST_MAX_NS;
}

void lc_rss_look(JNIEnv *jni, uint64_t now_ns, enum lc_rss_why why)
{
	const uint64_t gap_ns = LC_RSS_SECONDS * SECOND;
	uint64_t bytes, peak_bytes;
	bool due = why == LC_RSS_END;

	if (why == LC_RSS_LOOK) {
		if (!rss.looked_ns)
			rss.looked_ns = now_ns; /* the recording begins */
		if (now_ns - rss.looked_ns < gap_ns || rss.number + SPARED >= LC_RSS_SNAPSHOTS)
			return;
		rss.looked_ns = now_ns;
	}
	lc_rss_now(&bytes, &peak_bytes);
	if (!bytes)
		return; /* there is no /proc */
	if (!rss.last_ns || now_ns - rss.last_ns >= gap_ns) {
		if (why == LC_RSS_ASKED)
			due = rss.number + 1 < LC_RSS_SNAPSHOTS;
		else if (why == LC_RSS_LOOK)
			due = is_cheap(bytes) && (double)bytes * 100 >= (double)rss.highest_bytes *
			                                                    (100 + HIGHER_PERCENT);
	}
	if (due)
		take(jni, now_ns, bytes, peak_bytes, why != LC_RSS_LOOK);
}

/* Returns 0 or -ENOMEM. */
static int add_row(const struct snapshot *s, uint8_t part, const char *name, uint64_t resident,
                   uint64_t size)
{
	const struct lc_block_memory row = { .number = s->number,
		                             .part = part,
		                             .name = name,
		                             .time_ns = s->time_ns,
		                             .resident_bytes = resident,
		                             .size_bytes = size };

	return lc_vector_push(&rss.rows, &row);
}

static int add_snapshot(const struct snapshot *s)
{
	int err = add_row(s, LC_RESIDENT_PEAK, "", s->peak_bytes, 0);

	for (size_t i = 0; i < s->resident.len && !err; i++) {
		const struct lc_resident_row *r = &s->resident.rows[i];

		err = add_row(s, r->part, r->name, r->resident_bytes, r->size_bytes);
	}
	if (s->free_known && !err)
		err = add_row(s, LC_RESIDENT_FREE, "", 0, s->free_bytes);
	for (size_t i = 0; i < s->nmt_len && !err; i++) {
		const struct lc_block_nmt row = { .number = s->number,
			                          .name = s->nmt[i].name,
			                          .time_ns = s->time_ns,
			                          .reserved_bytes = s->nmt[i].reserved_bytes,
			                          .committed_bytes = s->nmt[i].committed_bytes,
			                          .malloc_bytes = s->nmt[i].malloc_bytes };

		err = lc_vector_push(&rss.nmt, &row);
	}
	return err;
}

static void drop_snapshots(void)
{
	struct snapshot *s;

	while ((s = rss.first)) {
		rss.first = s->next;
		free(s);
	}
}

bool lc_rss_block(struct lc_block_input *in, bool any)
{
	if (!rss.first || (!any && !rss.over))
		return false;
	rss.rows.element_bytes = sizeof(struct lc_block_memory);
	rss.nmt.element_bytes = sizeof(struct lc_block_nmt);
	rss.rows.len = rss.nmt.len = 0;
	for (const struct snapshot *s = rss.first; s; s = s->next)
		if (add_snapshot(s))
			return false;
	in->memory = rss.rows.data;
	in->memory_len = rss.rows.len;
	in->nmt = rss.nmt.data;
	in->nmt_len = rss.nmt.len;
	return true;
}

bool lc_rss_left(void)
{
	rss.over = rss.first;
	return rss.over;
}

void lc_rss_clear(const struct lc_block_input *in)
{
	if (in->memory_len)
		drop_snapshots();
}

void lc_rss_again(void)
{
	drop_snapshots();
	rss.number = rss.highest_bytes = rss.last_ns = 0;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("memory_snapshots", &rss.taken),
	LC_COUNTER("memory_snapshots_us", &rss.all_ns, .unit = 1000),
	LC_COUNTER("memory_snapshot_max_us", &rss.max_ns, .unit = 1000),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
