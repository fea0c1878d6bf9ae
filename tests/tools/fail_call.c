/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fail_call.c - fails one call of the agent: preloaded, it counts the calls that code of
 * liblocus.so makes of the C library, and has one of them fail.
 *
 * FAIL_LOG names a file that gets a line for each call: its kind, its number among all of the kind,
 * the hash of the functions of liblocus.so that led to it, and their return addresses there.
 * FAIL_CALL=KIND:NUMBER says which call fails, FAIL_CALL=KIND@HASH:NUMBER which of those with that
 * hash; with a "+" at the end so do all after it. The file then gets the lines of the calls that
 * failed, which begin with "!", and no other. FAIL_ERROR is the number that errno then has, where
 * it is not the usual one.
 *
 * The agent's own heap gets no range of addresses, so that each allocation is a call of the C
 * library's; FAIL_OWN_HEAP lets it have one.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#define WITHIN(at) ((uintptr_t)(at) >= agent.low && (uintptr_t)(at) < agent.end)
#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

enum { FRAMES_MAX = 12, LINE_MAX = 512 };

enum kind {
	ALLOCATE,
	MAP,
	PROTECT,
	OPEN,
	READ,
	WRITE,
	TRUNCATE,
	MAKE_DIRECTORY,
	RENAME,
	PERF,
	TIMER,
	THREAD,
	LIBRARY,
	KINDS
};

static const struct {
	const char *name;
	int error;
} kinds[KINDS] = {
	[ALLOCATE] = { "malloc", ENOMEM },
	[MAP] = { "mmap", ENOMEM },
	[PROTECT] = { "mprotect", ENOMEM },
	[OPEN] = { "open", EMFILE },
	[READ] = { "read", EIO },
	[WRITE] = { "write", ENOSPC },
	[TRUNCATE] = { "ftruncate", EIO },
	[MAKE_DIRECTORY] = { "mkdir", ENOSPC },
	[RENAME] = { "rename", EIO },
	[PERF] = { "perf_event_open", EMFILE },
	[TIMER] = { "timer_create", EAGAIN },
	[THREAD] = { "pthread_create", EAGAIN },
	[LIBRARY] = { "dlopen", 0 },
};

static struct {
	uintptr_t base, low, end; /* of the agent's code; written once, by who loads it */
	int log;                  /* -1: none */
	int kind;                 /* which fails; -1: none */
	uint32_t hash;            /* 0: any */
	unsigned long number;     /* from 1 */
	int error;                /* 0: the one of the kind */
	bool on;                  /* all after it fail, too */
	bool own_heap;
	_Atomic unsigned long calls[KINDS], matching;
} agent = { .log = -1, .kind = -1 };

/* The C library's functions behind the names that this file defines. */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t alignment, size_t n);

struct walk {
	uintptr_t at[FRAMES_MAX];
	size_t len;
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg)
{
	const uintptr_t at = _Unwind_GetIP(context);
	struct walk *w = arg;

	if (WITHIN(at))
		w->at[w->len++] = at - agent.base;
	else if (w->len)
		return _URC_END_OF_STACK;
	return w->len < FRAMES_MAX ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static uint32_t hash_of(const struct walk *w)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < w->len; i++)
		hash = (hash ^ (uint32_t)w->at[i]) * 16777619u;
	return hash | 1;
}

static void write_line(bool fails, enum kind kind, unsigned long number, const struct walk *w)
{
	char line[LINE_MAX];
	int len = snprintf(line, sizeof(line), "%s%s %lu %08x", fails ? "!" : "", kinds[kind].name,
	                   number, hash_of(w));

	for (size_t i = 0; i < w->len; i++)
		len += snprintf(line + len, sizeof(line) - (size_t)len, " %lx", (long)w->at[i]);
	line[len++] = '\n';
	(void)!syscall(SYS_write, agent.log, line, (size_t)len);
}

static int error_of(enum kind kind)
{
	return agent.error ? agent.error : kinds[kind].error;
}

/* Counts a call. Returns whether it is to fail, with errno set. */
static bool fails(enum kind kind, const void *caller)
{
	const int before = errno;
	struct walk w = { .len = 0 };
	unsigned long number;
	bool now;

	if (!WITHIN(caller))
		return false;
	number = atomic_fetch_add(&agent.calls[kind], 1) + 1;
	if (agent.kind >= 0 && agent.kind != (int)kind)
		return false;
	_Unwind_Backtrace(step, &w);
	now = agent.kind >= 0 && (!agent.hash || hash_of(&w) == agent.hash);
	if (now) {
		const unsigned long n = atomic_fetch_add(&agent.matching, 1) + 1;

		now = agent.on ? n >= agent.number : n == agent.number;
	}
	if (agent.log >= 0 && (now || agent.kind < 0))
		write_line(now, kind, number, &w);
	errno = now ? error_of(kind) : before;
	return now;
}

static int find_agent(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	if (!name || strcmp(name, "/liblocus.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		agent.base = info->dlpi_addr;
		agent.low = info->dlpi_addr + p->p_vaddr;
		agent.end = agent.low + p->p_memsz;
	}
	return 1;
}

static _Unwind_Reason_Code once(struct _Unwind_Context *context, void *unused)
{
	return _URC_END_OF_STACK;
}

__attribute__((constructor)) static void begin(void)
{
	const char *call = getenv("FAIL_CALL"), *log = getenv("FAIL_LOG");
	const char *error = getenv("FAIL_ERROR");
	char name[32] = "";
	const char *at;

	_Unwind_Backtrace(once, NULL); /* it allocates the first time */
	(void)!read(-1, NULL, 0);      /* who calls first may be a signal handler, which must not */
	(void)!pread(-1, NULL, 0, 0);  /* look for a symbol */
	(void)!write(-1, NULL, 0);
	(void)syscall(SYS_getpid);
	agent.own_heap = getenv("FAIL_OWN_HEAP");
	if (log)
		agent.log = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (error)
		agent.error = atoi(error);
	if (!call || sscanf(call, "%31[a-z_]", name) != 1)
		return;
	at = call + strlen(name);
	if (*at == '@')
		agent.hash = (uint32_t)strtoul(at + 1, (char **)(uintptr_t)&at, 16);
	if (*at != ':')
		return;
	agent.number = strtoul(at + 1, (char **)(uintptr_t)&at, 10);
	agent.on = *at == '+';
	for (int i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			agent.kind = i;
}

#define NEXT(f)                                                                                    \
	static __typeof__(&f) next;                                                                \
	if (!next)                                                                                 \
	*(void **)&next = dlsym(RTLD_NEXT, #f)

void *malloc(size_t n)
{
	return fails(ALLOCATE, CALLER) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails(ALLOCATE, CALLER) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return fails(ALLOCATE, CALLER) ? NULL : __libc_realloc(p, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
	return fails(ALLOCATE, CALLER) ? NULL : __libc_memalign(alignment, n);
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	NEXT(mmap);
	if (!agent.own_heap && WITHIN(CALLER) && protection == PROT_NONE) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return fails(MAP, CALLER) ? MAP_FAILED : next(at, n, protection, flags, fd, offset);
}

int mprotect(void *at, size_t n, int protection)
{
	NEXT(mprotect);
	return fails(PROTECT, CALLER) ? -1 : next(at, n, protection);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	return fails(OPEN, CALLER) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	return fails(OPEN, CALLER) ? -1 : (int)syscall(SYS_openat, directory, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	NEXT(fopen);
	return fails(OPEN, CALLER) ? NULL : next(path, mode);
}

ssize_t read(int fd, void *to, size_t n)
{
	NEXT(read);
	return fails(READ, CALLER) ? -1 : next(fd, to, n);
}

ssize_t pread(int fd, void *to, size_t n, off_t offset)
{
	NEXT(pread);
	return fails(READ, CALLER) ? -1 : next(fd, to, n, offset);
}

ssize_t write(int fd, const void *from, size_t n)
{
	NEXT(write);
	return fails(WRITE, CALLER) ? -1 : next(fd, from, n);
}

int ftruncate(int fd, off_t length)
{
	NEXT(ftruncate);
	return fails(TRUNCATE, CALLER) ? -1 : next(fd, length);
}

int mkdir(const char *path, mode_t mode)
{
	NEXT(mkdir);
	return fails(MAKE_DIRECTORY, CALLER) ? -1 : next(path, mode);
}

int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
	NEXT(renameat);
	return fails(RENAME, CALLER) ? -1 : next(from_directory, from, to_directory, to);
}

int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
	NEXT(timer_create);
	return fails(TIMER, CALLER) ? -1 : next(clock, event, timer);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *arg)
{
	NEXT(pthread_create);
	return fails(THREAD, CALLER) ? EAGAIN : next(thread, attributes, run, arg);
}

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	va_list args;
	long a[6];

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_perf_event_open && fails(PERF, CALLER))
		return -1;
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* The agent is in the process as soon as the JVM has loaded it. */
void *dlopen(const char *path, int flags)
{
	void *library;

	NEXT(dlopen);
	if (fails(LIBRARY, CALLER))
		return NULL;
	library = next(path, flags);
	if (!agent.low)
		dl_iterate_phdr(find_agent, NULL);
	return library;
}
