/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/sample_log.c - keeps samples in a byte ring with one producer and one consumer.
 *
 * A record is one word (its length in bytes, this word included) and the sample. A record that
 * would cross the end of the ring goes to its start; the rest of the ring is then a filler, a
 * word with FILLER set. Lengths are multiples of 8, so a word always fits before the end.
 *
 * Invariant: 0 <= head - tail <= size; both count bytes and never wrap (64 bits).
 * Order:     R1  put stores head (release)  -> peek loads head (acquire):
 *                a record is whole before it is seen.
 *            R2  drop stores tail (release) -> put loads tail (acquire):
 *                a record is read before its bytes are reused.
 */
#include "src/sample/sample_log.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define FILLER (UINT64_C(1) << 63)

struct lc_sample_log {
	_Alignas(64) _Atomic uint64_t head; /* written by: owner thread's handlers */
	_Atomic uint64_t lost;              /* written by: owner thread's handlers */
	_Atomic bool in_put;                /* owner thread only; tells its nested handlers */
	_Alignas(64) _Atomic uint64_t tail; /* written by: attribution thread */
	uint64_t peeked_bytes;              /* attribution thread only: length of the last peek */
	_Alignas(64) size_t size_bytes;     /* set once by create */
	_Alignas(64) unsigned char ring[];
};

int lc_sample_log_create(size_t size_bytes, struct lc_sample_log **out)
{
	struct lc_sample_log *log;

	if (size_bytes < LC_SAMPLE_LOG_MIN_BYTES || size_bytes > LC_SAMPLE_LOG_MAX_BYTES ||
	    (size_bytes & (size_bytes - 1)))
		return -EINVAL;
	log = mmap(NULL, sizeof(*log) + size_bytes, PROT_READ | PROT_WRITE,
	           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (log == MAP_FAILED)
		return -ENOMEM;
	log->size_bytes = size_bytes;
	*out = log;
	return 0;
}

void lc_sample_log_reset(struct lc_sample_log *log)
{
	/* Relaxed: the next owner gets the log by way of a lock. */
	atomic_store_explicit(&log->head, 0, memory_order_relaxed);
	atomic_store_explicit(&log->tail, 0, memory_order_relaxed);
	atomic_store_explicit(&log->lost, 0, memory_order_relaxed);
	log->peeked_bytes = 0;
}

void lc_sample_log_destroy(struct lc_sample_log *log)
{
	if (log)
		munmap(log, sizeof(*log) + log->size_bytes);
}

static uint64_t word_read(const struct lc_sample_log *log, uint64_t position)
{
	uint64_t word;

	memcpy(&word, log->ring + (position & (log->size_bytes - 1)), sizeof(word));
	return word;
}

static void word_write(struct lc_sample_log *log, uint64_t position, uint64_t word)
{
	memcpy(log->ring + (position & (log->size_bytes - 1)), &word, sizeof(word));
}

static int put(struct lc_sample_log *log, const struct lc_sample *sample, const uint64_t *frames)
{
	const size_t frames_bytes =
	    sample->frames_len > 0 ? (size_t)sample->frames_len * sizeof(*frames) : 0;
	const uint64_t need = sizeof(uint64_t) + sizeof(*sample) + frames_bytes;
	uint64_t head = atomic_load_explicit(&log->head, memory_order_relaxed);       /* ours */
	const uint64_t tail = atomic_load_explicit(&log->tail, memory_order_acquire); /* R2 */
	const uint64_t to_end = log->size_bytes - (head & (log->size_bytes - 1));
	const uint64_t filler = need > to_end ? to_end : 0;
	unsigned char *at;

	if (filler + need > log->size_bytes - (head - tail))
		return -EAGAIN;
	if (filler)
		word_write(log, head, filler | FILLER);
	head += filler;
	word_write(log, head, need);
	at = log->ring + (head & (log->size_bytes - 1)) + sizeof(uint64_t);
	memcpy(at, sample, sizeof(*sample));
	if (frames_bytes)
		memcpy(at + sizeof(*sample), frames, frames_bytes);
	atomic_store_explicit(&log->head, head + need, memory_order_release); /* R1 */
	return 0;
}

int lc_sample_log_put(struct lc_sample_log *log, const struct lc_sample *head,
                      const uint64_t *frames)
{
	int err = -EAGAIN;

	if (!atomic_load_explicit(&log->in_put, memory_order_relaxed)) { /* same thread */
		atomic_store_explicit(&log->in_put, true, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		err = put(log, head, frames);
		atomic_signal_fence(memory_order_seq_cst);
		atomic_store_explicit(&log->in_put, false, memory_order_relaxed);
	}
	if (err)
		atomic_fetch_add_explicit(&log->lost, 1 + (uint64_t)head->overrun,
		                          memory_order_relaxed); /* a count */
	return err;
}

bool lc_sample_log_half_full(const struct lc_sample_log *log)
{
	/* Relaxed: a late answer wakes the reader one sample later. */
	const uint64_t head = atomic_load_explicit(&log->head, memory_order_relaxed);
	const uint64_t tail = atomic_load_explicit(&log->tail, memory_order_relaxed);

	return head - tail >= log->size_bytes / 2;
}

const struct lc_sample *lc_sample_log_peek(struct lc_sample_log *log)
{
	uint64_t tail = atomic_load_explicit(&log->tail, memory_order_relaxed);       /* ours */
	const uint64_t head = atomic_load_explicit(&log->head, memory_order_acquire); /* R1 */
	uint64_t word;

	log->peeked_bytes = 0;
	if (tail == head)
		return NULL;
	word = word_read(log, tail);
	if (word & FILLER) { /* head never rests behind a filler: a record follows */
		log->peeked_bytes = word & ~FILLER;
		tail += log->peeked_bytes;
		word = word_read(log, tail);
	}
	log->peeked_bytes += word;
	return (const struct lc_sample *)(const void *)(log->ring + (tail & (log->size_bytes - 1)) +
	                                                sizeof(uint64_t));
}

void lc_sample_log_drop(struct lc_sample_log *log)
{
	const uint64_t tail = atomic_load_explicit(&log->tail, memory_order_relaxed); /* ours */

	atomic_store_explicit(&log->tail, tail + log->peeked_bytes, memory_order_release); /* R2 */
	log->peeked_bytes = 0;
}

uint64_t lc_sample_log_lost(const struct lc_sample_log *log)
{
	return atomic_load_explicit(&log->lost, memory_order_relaxed); /* a count */
}
