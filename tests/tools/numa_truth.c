/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numa_truth.c - prints on which NUMA node pages are; it asks the kernel and no library.
 *
 * Usage: numa_truth pages PID ADDRESS BYTES    the pages of a range of a process
 *        numa_truth touch BYTES [SECONDS]      touches so much memory itself, then stays a while
 *
 * Prints one line of JSON. "pages" has the count per node; "absent" are pages that were never
 * touched or are swapped out. Exit status 1 when the kernel refuses.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BATCH = 512, NODES = 1024 };

struct count {
	unsigned long node[NODES];
	unsigned long absent;
};

/* Count the pages that [begin, end) touches. Returns 0 or -errno. */
static int count_pages(int pid, uintptr_t begin, uintptr_t end, size_t page_bytes, struct count *c)
{
	void *page[BATCH];
	int status[BATCH];
	uintptr_t at = begin & ~(uintptr_t)(page_bytes - 1);

	memset(c, 0, sizeof(*c));
	while (at < end) {
		unsigned long n = 0;

		for (; n < BATCH && at < end; at += page_bytes)
			page[n++] = (void *)at;
		if (syscall(SYS_move_pages, pid, n, page, NULL, status, 0) != 0)
			return -errno;
		for (unsigned long i = 0; i < n; i++) {
			if (status[i] >= 0 && status[i] < NODES)
				c->node[status[i]]++;
			else if (status[i] == -ENOENT || status[i] == -EFAULT)
				c->absent++;
			else
				return status[i] < 0 ? status[i] : -ERANGE;
		}
	}
	return 0;
}

static int print_pages(int pid, uintptr_t begin, uintptr_t end, size_t page_bytes)
{
	static struct count c;
	const char *comma = "";
	int err = count_pages(pid, begin, end, page_bytes, &c);

	if (err) {
		fprintf(stderr, "numa_truth: move_pages: %s\n", strerror(-err));
		return 1;
	}
	printf("\"page_bytes\": %zu, \"pages\": {", page_bytes);
	for (int i = 0; i < NODES; i++) {
		if (c.node[i]) {
			printf("%s\"%d\": %lu", comma, i, c.node[i]);
			comma = ", ";
		}
	}
	printf("}, \"absent\": %lu}\n", c.absent);
	return fflush(stdout) == 0 ? 0 : 1;
}

static int touch(size_t bytes, unsigned int seconds, size_t page_bytes)
{
	unsigned int cpu = 0, node = 0;
	volatile char *memory;
	int status;

	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		perror("numa_truth: mmap");
		return 1;
	}
	for (size_t i = 0; i < bytes; i += page_bytes)
		memory[i] = 1;
	if (syscall(SYS_getcpu, &cpu, &node, NULL) != 0) {
		perror("numa_truth: getcpu");
		return 1;
	}
	printf("{\"pid\": %d, \"address\": %" PRIuPTR ", \"cpu\": %u, \"node\": %u, ",
	       (int)getpid(), (uintptr_t)memory, cpu, node);
	status = print_pages(0, (uintptr_t)memory, (uintptr_t)memory + bytes, page_bytes);
	sleep(seconds);
	return status;
}

int main(int argc, char **argv)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	if (argc >= 3 && argc <= 4 && strcmp(argv[1], "touch") == 0)
		return touch(strtoul(argv[2], NULL, 0),
		             argc == 4 ? (unsigned int)strtoul(argv[3], NULL, 0) : 0, page_bytes);
	if (argc == 5 && strcmp(argv[1], "pages") == 0) {
		uintptr_t begin = strtoul(argv[3], NULL, 0);

		putchar('{');
		return print_pages(atoi(argv[2]), begin, begin + strtoul(argv[4], NULL, 0),
		                   page_bytes);
	}
	fprintf(stderr, "usage: numa_truth pages PID ADDRESS BYTES | touch BYTES [SECONDS]\n");
	return 2;
}
