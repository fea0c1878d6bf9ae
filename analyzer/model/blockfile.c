/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/blockfile.c - finds, checks and unpacks blocks.
 *
 * The reader holds a window of the file. After a bad block it looks for the next magic number, so a
 * damaged block costs no other block. The search begins one byte behind the bad block's start: if
 * bytes are missing, the lengths in a header lead past the next block. A file that consists of
 * headers would be checked once per header. So the reader believes the lengths after it has checked
 * more than WASTE_TIMES the file's bytes in vain.
 */
#include "analyzer/model/blockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "analyzer/base/file.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/progress.h"
#include "src/format/block.h"

enum { WINDOW_MIN = 1 << 18, WASTE_MIN = 16 << 20, WASTE_TIMES = 4 };

struct lc_blockfile {
	int fd;          /* -1: all of it is in the window */
	uint8_t *buffer; /* where a file's window is */
	size_t buffer_cap;
	const uint8_t *data; /* the window */
	size_t len;
	size_t pos; /* of the reader in the window */
	int error;  /* -errno of the last read */
	const char *path;
	uint64_t passed, wasted; /* bytes of the file behind the position; checked for nothing */
	uint8_t *payload;
	size_t payload_cap;
	ZSTD_DCtx *zstd;
	struct lc_block_decoder decoder;
};

struct lc_blockfile *lc_blockfile_create(void)
{
	struct lc_blockfile *f = lc_mem_zeroed(1, sizeof(*f));

	f->zstd = ZSTD_createDCtx();
	if (!f->zstd)
		lc_no_memory();
	return f;
}

void lc_blockfile_free(struct lc_blockfile *f)
{
	if (!f)
		return;
	ZSTD_freeDCtx(f->zstd);
	lc_block_decoder_free(&f->decoder);
	free(f->buffer);
	free(f->payload);
	free(f);
}

/* Have `need` bytes in the window after the position, as far as the file has them. */
static size_t ensure(struct lc_blockfile *f, size_t need)
{
	size_t have = f->len - f->pos;

	if (have >= need || f->fd < 0)
		return have;
	if (need < WINDOW_MIN)
		need = WINDOW_MIN;
	if (f->pos)
		memmove(f->buffer, f->buffer + f->pos, have);
	f->pos = 0;
	f->len = have;
	f->buffer = lc_mem_grow(f->buffer, &f->buffer_cap, need, 1);
	f->data = f->buffer;
	while (f->len < need) {
		ssize_t n = read(f->fd, f->buffer + f->len, need - f->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			f->error = -errno;
		if (n <= 0)
			break;
		f->len += (size_t)n;
	}
	return f->len;
}

/*
 * The header at the position. Returns as lc_block_header_get(), and -EAGAIN only where the file
 * ends before the header does.
 */
static int header(struct lc_blockfile *f, struct lc_block_header *h)
{
	size_t have = ensure(f, LC_BLOCK_HEADER_LEN);
	int err = lc_block_header_get(f->data + f->pos, have, h);

	if (err != -EAGAIN)
		return err;
	have = ensure(f, LC_BLOCK_HEADER_LEN_MAX);
	return lc_block_header_get(f->data + f->pos, have, h);
}

/* Check, unpack and count the block at the position. Returns 0 or -EBADMSG. */
static int block(struct lc_blockfile *f, const struct lc_block_header *h,
                 struct lc_block_target *target)
{
	size_t need = (size_t)h->header_len + h->stored_len;
	const uint8_t *stored;
	size_t raw;

	if (ensure(f, need) < need)
		return -EBADMSG;
	stored = f->data + f->pos + h->header_len;
	if (lc_checksum(stored, h->stored_len) != h->checksum)
		return -EBADMSG;
	if (ZSTD_getFrameContentSize(stored, h->stored_len) != h->raw_len)
		return -EBADMSG;
	f->payload = lc_mem_grow(f->payload, &f->payload_cap, (size_t)h->raw_len + 1, 1);
	raw = ZSTD_decompressDCtx(f->zstd, f->payload, h->raw_len, stored, h->stored_len);
	if (ZSTD_isError(raw) || raw != h->raw_len)
		return -EBADMSG;
	return lc_block_decode(&f->decoder, h, f->payload, h->raw_len, target);
}

/* Go to the next magic after the position, or to the end. Returns the bytes passed. */
static size_t find_magic(struct lc_blockfile *f)
{
	size_t passed = 1;

	f->pos++;
	for (;;) {
		size_t have = ensure(f, LC_BLOCK_MAGIC_LEN);
		const uint8_t *at = f->data + f->pos, *found;
		size_t step;

		found = have ? memmem(at, have, LC_BLOCK_MAGIC, LC_BLOCK_MAGIC_LEN) : NULL;
		if (found)
			step = (size_t)(found - at);
		else if (have < LC_BLOCK_MAGIC_LEN)
			step = have; /* the end: no block fits any more */
		else
			step = have - (LC_BLOCK_MAGIC_LEN - 1);
		f->pos += step;
		passed += step;
		if (found || have < LC_BLOCK_MAGIC_LEN)
			return passed;
	}
}

/* Believe the header at the position, whose block is damaged. Returns the bytes passed. */
static size_t skip_block(struct lc_blockfile *f, const struct lc_block_header *h)
{
	const size_t block = (size_t)h->header_len + h->stored_len, have = ensure(f, block);
	const size_t step = have < block ? have : block;

	f->pos += step;
	return step;
}

/* Go on behind what could not be used; `h` is its header, or NULL. Returns the bytes passed. */
static size_t resynchronise(struct lc_blockfile *f, const struct lc_block_header *h)
{
	if (h)
		f->wasted += h->stored_len;
	if (h && f->wasted > WASTE_MIN + WASTE_TIMES * f->passed)
		return skip_block(f, h);
	return find_magic(f);
}

/* Blocks that are missing before this one, whose number is known; *expected is that of the next. */
static void count_gap(struct lc_damage *damage, const struct lc_block_header *h, bool skipping,
                      uint64_t *expected)
{
	if (h->sequence > *expected)
		damage->blocks += h->sequence - *expected;
	else if (skipping && h->sequence == *expected)
		damage->blocks++; /* not a block of ours, but something was there */
	*expected = h->sequence + 1;
}

static void read_blocks(struct lc_blockfile *f, struct lc_block_target *target,
                        struct lc_damage *damage, struct lc_blockfile_stats *stats)
{
	uint64_t expected = 0;
	bool skipping = false;

	f->passed = f->wasted = 0;
	lc_block_decoder_begin(&f->decoder);
	while (!(target->stop && atomic_load_explicit(target->stop, memory_order_relaxed)) &&
	       ensure(f, 1)) {
		struct lc_block_header h;
		const int bad_header = header(f, &h);
		size_t passed;

		if (bad_header == -ENOTSUP && h.version > damage->newer)
			damage->newer = h.version;
		f->decoder.lost = false;
		if ((bad_header || block(f, &h, target)) && !f->decoder.lost) {
			passed = resynchronise(f, bad_header ? NULL : &h);
			f->passed += passed;
			damage->bytes += passed;
			skipping = true;
			continue;
		}
		count_gap(damage, &h, skipping, &expected);
		skipping = false;
		damage->blocks += f->decoder.lost;
		damage->undefined += f->decoder.lost;
		stats->blocks += !f->decoder.lost;
		stats->process = h.process;
		if (h.t_end_ns > stats->last_end_ns)
			stats->last_end_ns = h.t_end_ns;
		passed = (size_t)h.header_len + h.stored_len;
		f->pos += passed;
		f->passed += passed;
		if (f->path)
			lc_progress_read(f->path, passed);
	}
	if (skipping)
		damage->blocks++;
	stats->paths += f->decoder.paths;
	stats->bytes += f->passed;
	f->decoder.paths = 0;
}

int lc_blockfile_read(struct lc_blockfile *f, const char *path, struct lc_block_target *target,
                      struct lc_damage *damage, struct lc_blockfile_stats *stats)
{
	f->fd = lc_file_open(AT_FDCWD, path);
	if (f->fd < 0)
		return f->fd;
	f->path = path;
	f->data = f->buffer;
	f->len = f->pos = 0;
	f->error = 0;
	stats->last_end_ns = 0;
	read_blocks(f, target, damage, stats);
	f->path = NULL;
	close(f->fd);
	return f->error;
}

void lc_blockfile_read_memory(struct lc_blockfile *f, const uint8_t *data, size_t len,
                              struct lc_block_target *target, struct lc_damage *damage,
                              struct lc_blockfile_stats *stats)
{
	f->fd = -1;
	f->data = data;
	f->len = len;
	f->pos = 0;
	stats->last_end_ns = 0;
	read_blocks(f, target, damage, stats);
}
