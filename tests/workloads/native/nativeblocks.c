/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nativeblocks.c - allocates blocks in all ways that Locus sees, and counts those of at least 1 KiB
 * itself. For NativeBlocks.java.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <jni.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIN_BYTES = 1024, LIVE = 64, CHILDREN = 10, MAPPED_BYTES = 1 << 16 };

static atomic_long allocated, allocated_bytes, freed, freed_bytes, in_handler;

static void count(atomic_long *blocks, atomic_long *bytes, size_t n)
{
	if (n < MIN_BYTES)
		return;
	atomic_fetch_add(blocks, 1);
	atomic_fetch_add(bytes, (long)n);
}

static void born(size_t n)
{
	count(&allocated, &allocated_bytes, n);
}

static void gone(size_t n)
{
	count(&freed, &freed_bytes, n);
}

static void *make(unsigned how, size_t n)
{
	void *p = NULL;

	if (how == 0)
		p = malloc(n);
	else if (how == 1)
		p = calloc(n, 1);
	else if (how == 2)
		p = aligned_alloc(64, n);
	else if (posix_memalign(&p, 4096, n))
		abort();
	if (!p)
		abort();
	memset(p, 1, n);
	born(n);
	return p;
}

/* Blocks of many sizes, of which some grow, and all are freed. */
static void *churn(void *rounds)
{
	void *live[LIVE] = { NULL };
	size_t bytes[LIVE] = { 0 };
	unsigned seed = (unsigned)(uintptr_t)&live;

	for (long i = 0; i < (long)(intptr_t)rounds; i++) {
		const unsigned r = (unsigned)rand_r(&seed), k = r % LIVE;
		const size_t n = 1 + (unsigned)rand_r(&seed) % 3000;

		if (live[k] && r & 64) {
			void *grown = realloc(live[k], n);

			if (!grown)
				abort();
			gone(bytes[k]);
			born(n);
			live[k] = grown;
		} else {
			free(live[k]);
			gone(bytes[k]);
			live[k] = make(r / 128 % 4, n);
		}
		bytes[k] = n;
	}
	for (unsigned k = 0; k < LIVE; k++) {
		free(live[k]);
		gone(bytes[k]);
	}
	return NULL;
}

/* Maps in the handler of a signal, which may interrupt the agent. */
static void on_signal(int signal)
{
	void *p =
	    mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || munmap(p, MAPPED_BYTES))
		abort();
	atomic_fetch_add(&in_handler, 1);
}

/* Returns how many children did not end by themselves. */
static long fork_children(void)
{
	long hung = 0;
	int status;

	for (unsigned i = 0; i < CHILDREN; i++) {
		const pid_t child = fork();

		if (!child) {
			alarm(30);
			for (unsigned k = 0; k < 100; k++)
				free(realloc(malloc(2000), 5000 + k));
			_exit(0);
		}
		hung += child < 0 || waitpid(child, &status, 0) != child || status;
	}
	return hung;
}

/* Two threads that are interrupted all the time. */
static struct {
	pthread_t threads[2];
	atomic_bool ended;
} interrupted;

static void *interrupt(void *unused)
{
	for (unsigned i = 0; !interrupted.ended; i++) {
		pthread_kill(interrupted.threads[i % 2], SIGUSR1);
		usleep(3000);
	}
	return NULL;
}

/* Threads that the JVM does not know allocate, and meanwhile this one forks and is interrupted. */
JNIEXPORT jlong JNICALL Java_NativeBlocks_threads(JNIEnv *jni, jclass type, jint threads,
                                                  jint rounds)
{
	pthread_t all[16], interrupter;
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	jlong hung;

	sigaction(SIGUSR1, &action, NULL);
	for (jint i = 0; i < threads; i++)
		if (pthread_create(&all[i], NULL, churn, (void *)(intptr_t)rounds))
			abort();
	interrupted.threads[0] = pthread_self();
	interrupted.threads[1] = all[0];
	interrupted.ended = false;
	if (pthread_create(&interrupter, NULL, interrupt, NULL))
		abort();
	hung = fork_children();
	churn((void *)(intptr_t)rounds);
	interrupted.ended = true;
	pthread_join(interrupter, NULL);
	for (jint i = 0; i < threads; i++)
		pthread_join(all[i], NULL);
	return hung;
}

/* Blocks that stay: by the caller's line. */
JNIEXPORT void JNICALL Java_NativeBlocks_keep(JNIEnv *jni, jclass type, jint blocks, jint bytes)
{
	for (jint i = 0; i < blocks; i++)
		(void)make(0, (size_t)bytes);
}

/* A block that is freed by the C library, unseen, and whose address is handed out again. */
JNIEXPORT void JNICALL Java_NativeBlocks_freeUnseen(JNIEnv *jni, jclass type, jint times)
{
	void (*unseen)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "free");

	for (jint i = 0; i < times; i++) {
		void *p = make(0, 100000);

		unseen(p);
		gone(100000);
		p = make(0, 100000); /* a thread gets its last block again */
		free(p);
		gone(100000);
	}
}

/* A mapping that is unmapped in parts. */
JNIEXPORT void JNICALL Java_NativeBlocks_mapParts(JNIEnv *jni, jclass type, jint fd)
{
	char *p =
	    mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || munmap(p, 4096) || munmap(p + MAPPED_BYTES - 4096, 4096))
		abort();
}

/* A mapped file that grows. */
JNIEXPORT void JNICALL Java_NativeBlocks_growFile(JNIEnv *jni, jclass type)
{
	char path[] = "/tmp/locus-grown-XXXXXX";
	const int fd = mkstemp(path);
	char *p = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, 2 * MAPPED_BYTES))
		p = mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED ||
	    mremap(p, MAPPED_BYTES, 2 * MAPPED_BYTES, MREMAP_MAYMOVE) == MAP_FAILED)
		abort();
	close(fd);
	unlink(path);
}

JNIEXPORT jlongArray JNICALL Java_NativeBlocks_counts(JNIEnv *jni, jclass type)
{
	const jlong all[] = { allocated, allocated_bytes, freed, freed_bytes, in_handler };
	jlongArray array = (*jni)->NewLongArray(jni, 5);

	(*jni)->SetLongArrayRegion(jni, array, 0, 5, all);
	return array;
}
