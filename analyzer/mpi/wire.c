/* SPDX-License-Identifier: Apache-2.0 */
/* mpi/wire.c - sends and receives messages in chunks, and sleeps while there is nothing to do. */
#include "analyzer/mpi/wire.h"

#include <mpi.h>
#include <time.h>

#include "analyzer/base/memory.h"

enum { TAG = 1, SLEEP_LEAST_NS = 2000, SLEEP_MOST_NS = 1000000 };

/* MPI would look again and again, which a rank that shares the CPU pays for. */
static void wait_for(MPI_Request *request)
{
	struct timespec pause = { .tv_nsec = SLEEP_LEAST_NS };
	int done = 0;

	for (;;) {
		MPI_Test(request, &done, MPI_STATUS_IGNORE);
		if (done)
			return;
		(void)nanosleep(&pause, NULL);
		if (pause.tv_nsec < SLEEP_MOST_NS)
			pause.tv_nsec *= 2;
	}
}

static int chunk_of(uint64_t left)
{
	return left < LC_WIRE_CHUNK_BYTES ? (int)left : LC_WIRE_CHUNK_BYTES;
}

static void reserve(struct lc_bytes *b, uint64_t more)
{
	if (!lc_bytes_reserve(b, more))
		lc_no_memory();
}

void lc_wire_send(int to, const void *data, size_t len)
{
	const uint64_t length = len;
	const char *at = data;
	MPI_Request request;

	MPI_Isend(&length, 1, MPI_UINT64_T, to, TAG, MPI_COMM_WORLD, &request);
	wait_for(&request);
	for (uint64_t left = length; left;) {
		const int chunk = chunk_of(left);

		MPI_Isend(at, chunk, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request);
		wait_for(&request);
		at += chunk;
		left -= (uint64_t)chunk;
	}
}

double lc_wire_receive(int from, struct lc_bytes *out)
{
	const double begin = MPI_Wtime();
	double waited;
	uint64_t length;
	MPI_Request request;

	MPI_Irecv(&length, 1, MPI_UINT64_T, from, TAG, MPI_COMM_WORLD, &request);
	wait_for(&request);
	waited = MPI_Wtime() - begin;
	reserve(out, length);
	for (uint64_t left = length; left;) {
		const int chunk = chunk_of(left);

		MPI_Irecv(out->data + out->len, chunk, MPI_BYTE, from, TAG, MPI_COMM_WORLD,
		          &request);
		wait_for(&request);
		out->len += (size_t)chunk;
		left -= (uint64_t)chunk;
	}
	return waited;
}

void lc_wire_share(int from, struct lc_bytes *out)
{
	uint64_t length = out->len;
	uint8_t *at;
	MPI_Request request;

	MPI_Ibcast(&length, 1, MPI_UINT64_T, from, MPI_COMM_WORLD, &request);
	wait_for(&request);
	if (length > out->len)
		reserve(out, length - out->len);
	at = out->data;
	out->len = (size_t)length;
	while (length) {
		const int chunk = chunk_of(length);

		MPI_Ibcast(at, chunk, MPI_BYTE, from, MPI_COMM_WORLD, &request);
		wait_for(&request);
		at += chunk;
		length -= (uint64_t)chunk;
	}
}

int lc_wire_most(int number)
{
	int most = number;
	MPI_Request request;

	MPI_Iallreduce(&number, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
	wait_for(&request);
	return most;
}
