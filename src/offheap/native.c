/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offheap/native.c - has the functions that native libraries call in place of malloc(), mmap() and
 * their kin.
 *
 * They run in any thread at any time, and record nothing where that is not safe:
 * - In a forked child, another thread of the parent may have held any lock. So `recording` lies in
 *   a page that the kernel empties in a child, and nothing else is touched there.
 * - A signal handler that interrupts code of ours finds core/inside.h.
 * - A signal handler may have interrupted the allocator, or fork(), which holds the allocator's
 *   locks. The JVM allocates when it names a call path, so in handlers it is not asked, and the
 *   block has no path (jvm/os/signal_frame.h).
 * - A thread that is in the JVM itself, and not in native code, calls for the JVM.
 * - Before and after a recording, they only call on. Whatever that needs is LC_KEPT.
 *
 * A new library is looked for when libjvm calls dlsym(): without that call, neither JNI_OnLoad nor
 * any native method of the library can run. The attribution thread looks, too, for libraries that
 * native code loads by itself.
 *
 * A block is noted before its address is returned, and freed before the call that frees it: in
 * between, no other thread can have the address.
 */
#include "src/offheap/native.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/options.h"
#include "src/base/say.h"
#include "src/core/counters.h"
#include "src/core/inside.h"
#include "src/core/own_work.h"
#include "src/core/path.h"
#include "src/core/reset.h"
#include "src/core/thread.h"
#include "src/heap/estimate_path.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/os/imports.h"
#include "src/jvm/os/libraries.h"
#include "src/jvm/os/signal_frame.h"
#include "src/jvm/stack/call_trace.h"
#include "src/offheap/block_class.h"
#include "src/offheap/blocks.h"
#include "src/offheap/mapped_file.h"

enum { HOME_MAX = 1024, PAGE_BYTES = 4096 };

/* The C library's mmap(): the page outlives recordings, so core/own_memory.c must not count it. */
void *__real_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset);

static struct {
	uint64_t min_size_bytes;
	uint32_t depth;
	uint32_t site; /* of blocks whose call path is not known */
	char home[HOME_MAX];
	struct lc_libraries_seen seen; /* under `looking` */
	_Atomic uint64_t libraries, missed;
} native;

/* 1 while blocks are recorded; NULL: that was never so. Written by: begin, stop, a forked child. */
static LC_KEPT _Atomic(_Atomic uint8_t *) recording;
static LC_KEPT _Atomic uint32_t inside; /* threads in code that uses a recording */
static LC_KEPT pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;

/* ---- whether to record ---- */

static inline bool is_recording(void)
{
	_Atomic uint8_t *const page = atomic_load_explicit(&recording, memory_order_acquire);

	return page && atomic_load_explicit(page, memory_order_relaxed);
}

struct visit {
	int error; /* the caller's errno */
};

/* May the thread use data of the recording? If so, it ends with leave(). */
static bool enter(struct visit *v)
{
	if (!is_recording() || lc_inside)
		return false;
	v->error = errno;
	atomic_fetch_add(&inside, 1);
	lc_inside_begin();
	if (is_recording()) /* still: nobody ends it before leave() */
		return true;
	lc_inside_end();
	atomic_fetch_sub(&inside, 1);
	return false;
}

static void leave(const struct visit *v)
{
	lc_inside_end();
	atomic_fetch_sub(&inside, 1);
	errno = v->error;
}

bool lc_native_inside(void)
{
	return atomic_load(&inside);
}

/* ---- blocks ---- */

/*
 * The site of a block that the calling thread allocates. `class_site` stands for its class. 0: the
 * block is the JVM's or ours.
 */
static uint32_t find_site(const char *signature, uint32_t class_site)
{
	const struct lc_estimate_kind kind = { .site = class_site, .signature = signature };
	const uint64_t here = (uintptr_t)__builtin_frame_address(0);
	JNIEnv *const jni = lc_call_trace_env();
	struct lc_last_java at;
	struct lc_thread *t;
	uint32_t site;

	if (!jni) /* a thread that the JVM does not know */
		return class_site;
	if (!lc_call_trace_in_native(jni))
		return 0;
	if (!lc_call_trace_last_java(jni, &at) || /* it has not come from Java code */
	    !lc_call_trace_own_stack(jni, here, at.sp) || lc_signal_frame_between(here, at.sp))
		return lc_thread_is_ours() ? 0 : class_site;
	t = lc_thread_self();
	t = t ? t : lc_thread_enter(jni);
	if (!t)
		return lc_thread_is_ours() ? 0 : class_site;
	site = lc_estimate_path_site(jni, t, &kind, native.depth);
	return site ? site : class_site;
}

static void note(void *p, size_t n, const char *signature, uint32_t class_site)
{
	struct lc_own_work work;
	uint32_t site;

	lc_own_work_begin(&work);
	site = find_site(signature, class_site);
	lc_own_work_end(&work);
	if (site)
		lc_blocks_allocated((uintptr_t)p, n, site);
}

static void freed(const void *p, uint64_t number)
{
	struct visit v;

	if (!enter(&v))
		return;
	lc_blocks_freed_number((uintptr_t)p, number);
	leave(&v);
}

/* A block that is handed out. A small one may lie where a block was that was freed unseen. */
static void *allocated(void *p, size_t n)
{
	struct visit v;

	if (!p || !is_recording())
		return p;
	if (n < native.min_size_bytes) {
		if (lc_blocks_may_begin((uintptr_t)p))
			freed(p, 0);
	} else if (enter(&v)) {
		note(p, n, LC_BLOCK_CLASS_NATIVE, native.site);
		leave(&v);
	} else {
		lc_count(&native.missed);
	}
	return p;
}

/* The name of the file that is open as `fd`, without its directories. */
static void file_name(int fd, char out[LC_BLOCK_FILE_MAX])
{
	char link[32], path[4096], *slash;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	snprintf(out, LC_BLOCK_FILE_MAX, "%.*s", LC_BLOCK_FILE_MAX - 1, slash ? slash + 1 : path);
}

enum { NO_FILE = -1, ANY_FILE = -2 }; /* instead of a descriptor: there is none; ask the kernel */

/* Pages that nobody may use are only addresses. */
static void mapped(void *p, size_t n, int protection, int fd)
{
	char file[LC_BLOCK_FILE_MAX] = "", signature[LC_BLOCK_CLASS_MAX] = LC_BLOCK_CLASS_NATIVE;
	uint32_t site = native.site;
	struct visit v;

	if (p == MAP_FAILED || !is_recording())
		return;
	if (!enter(&v)) {
		lc_count(&native.missed);
		return;
	}
	lc_blocks_unmapped((uintptr_t)p, n);
	if (n >= native.min_size_bytes && protection != PROT_NONE) {
		if (fd >= 0)
			file_name(fd, file);
		if (fd >= 0 || (fd == ANY_FILE && lc_mapped_file_ask((uintptr_t)p, n, file))) {
			lc_block_class_mapped(file, signature);
			site = lc_site_intern(signature, 0, 0);
		}
		note(p, n, signature, site);
	}
	leave(&v);
}

static void unmapped(const void *p, size_t n)
{
	const size_t whole = (n + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
	struct visit v;

	if ((uintptr_t)p % PAGE_BYTES || !whole || !enter(&v))
		return; /* the kernel will refuse it */
	lc_blocks_unmapped((uintptr_t)p, whole);
	leave(&v);
}

/* ---- the functions ---- */

enum function {
	MALLOC,
	CALLOC,
	REALLOC,
	REALLOCARRAY,
	FREE,
	POSIX_MEMALIGN,
	ALIGNED_ALLOC,
	MEMALIGN,
	MMAP,
	MMAP64,
	MUNMAP,
	MREMAP,
	FUNCTIONS
};

static LC_KEPT struct lc_swap swaps[FUNCTIONS];

#define THEIRS(type, function) ((type *)(uintptr_t)swaps[function].theirs)

typedef void *malloc_fn(size_t);
typedef void *calloc_fn(size_t, size_t);
typedef void *realloc_fn(void *, size_t);
typedef void *reallocarray_fn(void *, size_t, size_t);
typedef void free_fn(void *);
typedef int posix_memalign_fn(void **, size_t, size_t);
typedef void *memalign_fn(size_t, size_t);
typedef void *mmap_fn(void *, size_t, int, int, int, off_t);
typedef int munmap_fn(void *, size_t);
typedef void *mremap_fn(void *, size_t, size_t, int, ...);

static void *our_malloc(size_t n)
{
	return allocated(THEIRS(malloc_fn, MALLOC)(n), n);
}

static void *our_calloc(size_t n, size_t size)
{
	return allocated(THEIRS(calloc_fn, CALLOC)(n, size), n * size);
}

static void our_free(void *p)
{
	if (p && is_recording() && lc_blocks_may_begin((uintptr_t)p))
		freed(p, 0);
	THEIRS(free_fn, FREE)(p);
}

/* A number of the block that is about to be moved or freed; 0: there is none. */
static uint64_t number_of(const void *p)
{
	uint64_t number;
	struct visit v;

	if (!p || !is_recording() || !lc_blocks_may_begin((uintptr_t)p) || !enter(&v))
		return 0;
	number = lc_blocks_number((uintptr_t)p);
	leave(&v);
	return number;
}

/* If it fails, the old block stays; else another thread may have its address by now. */
static void *reallocated(const void *p, uint64_t number, void *q, size_t n)
{
	if (number && (q || !n))
		freed(p, number);
	return allocated(q, n);
}

static void *our_realloc(void *p, size_t n)
{
	const uint64_t number = number_of(p);

	return reallocated(p, number, THEIRS(realloc_fn, REALLOC)(p, n), n);
}

static void *our_reallocarray(void *p, size_t n, size_t size)
{
	const uint64_t number = number_of(p);
	void *q = THEIRS(reallocarray_fn, REALLOCARRAY)(p, n, size);

	return reallocated(p, number, q, n && size ? (q ? n * size : 1) : 0);
}

static int our_posix_memalign(void **out, size_t alignment, size_t n)
{
	const int err = THEIRS(posix_memalign_fn, POSIX_MEMALIGN)(out, alignment, n);

	if (!err)
		(void)allocated(*out, n);
	return err;
}

static void *our_aligned_alloc(size_t alignment, size_t n)
{
	return allocated(THEIRS(memalign_fn, ALIGNED_ALLOC)(alignment, n), n);
}

static void *our_memalign(size_t alignment, size_t n)
{
	return allocated(THEIRS(memalign_fn, MEMALIGN)(alignment, n), n);
}

static void *map(enum function f, void *at, size_t n, int protection, int flags, int fd,
                 off_t offset)
{
	void *p = THEIRS(mmap_fn, f)(at, n, protection, flags, fd, offset);

	mapped(p, n, protection, flags & MAP_ANONYMOUS ? NO_FILE : fd);
	return p;
}

static void *our_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	return map(MMAP, at, n, protection, flags, fd, offset);
}

static void *our_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	return map(MMAP64, at, n, protection, flags, fd, offset);
}

static int our_munmap(void *p, size_t n)
{
	unmapped(p, n);
	return THEIRS(munmap_fn, MUNMAP)(p, n);
}

/*
 * The old block is freed and a new one allocated, even if that fails and the block stays. It has
 * the class of the same file, if the kernel tells which one is mapped there.
 */
static void *our_mremap(void *p, size_t before, size_t n, int flags, ...)
{
	void *at = NULL, *q;
	va_list more;

	va_start(more, flags);
	if (flags & MREMAP_FIXED)
		at = va_arg(more, void *);
	va_end(more);
	unmapped(p, before);
	q = THEIRS(mremap_fn, MREMAP)(p, before, n, flags, at);
	if (q == MAP_FAILED)
		mapped(p, before, PROT_READ, ANY_FILE);
	else
		mapped(q, n, PROT_READ, ANY_FILE);
	return q;
}

#define SWAP(function)                                                                             \
	{                                                                                          \
		.name = #function, .ours = (void *)(uintptr_t)our_##function                       \
	}

static const struct lc_swap functions[FUNCTIONS] = {
	[MALLOC] = SWAP(malloc),
	[CALLOC] = SWAP(calloc),
	[REALLOC] = SWAP(realloc),
	[REALLOCARRAY] = SWAP(reallocarray),
	[FREE] = SWAP(free),
	[POSIX_MEMALIGN] = SWAP(posix_memalign),
	[ALIGNED_ALLOC] = SWAP(aligned_alloc),
	[MEMALIGN] = SWAP(memalign),
	[MMAP] = SWAP(mmap),
	[MMAP64] = SWAP(mmap64),
	[MUNMAP] = SWAP(munmap),
	[MREMAP] = SWAP(mremap),
};

/* ---- libraries ---- */

static void look(bool anyway)
{
	const struct lc_program program = { .jvm = lc_ranges_library().low,
		                            .own = (uintptr_t)swaps,
		                            .home = native.home };

	pthread_mutex_lock(&looking);
	if (is_recording() && (lc_libraries_changed(&native.seen) || anyway))
		atomic_store_explicit(&native.libraries,
		                      lc_libraries_redirect(swaps, FUNCTIONS, &program),
		                      memory_order_relaxed);
	pthread_mutex_unlock(&looking);
}

static void *our_dlsym(void *handle, const char *name);

static LC_KEPT struct lc_import jvm_list[] = { { .name = "dlsym",
	                                         .ours = (void *)(uintptr_t)our_dlsym } };
static LC_KEPT struct lc_imports jvm_imports = { .list = jvm_list, .len = 1 };

static void *our_dlsym(void *handle, const char *name)
{
	struct visit v;

	if (enter(&v)) {
		look(false);
		leave(&v);
	}
	return ((void *(*)(void *, const char *))(uintptr_t)jvm_list[0].before)(handle, name);
}

void lc_native_look(void)
{
	if (is_recording())
		look(false);
}

/* The JDK's directory: libjvm is in its lib/server. */
static void find_home(void)
{
	Dl_info jvm;
	char *slash;

	native.home[0] = '\0';
	if (!dladdr((void *)(uintptr_t)lc_ranges_library().low, &jvm) || !jvm.dli_fname)
		return;
	snprintf(native.home, sizeof(native.home), "%s", jvm.dli_fname);
	for (unsigned i = 0; i < 3; i++) {
		slash = strrchr(native.home, '/');
		if (!slash) {
			native.home[0] = '\0';
			return;
		}
		slash[i == 2] = '\0';
	}
}

/* ---- begin and end ---- */

static void in_child(void)
{
	atomic_store_explicit(atomic_load(&recording), 0, memory_order_relaxed);
}

/* The page that holds `recording`. Linux before 4.14 does not empty it in a child. */
static int make_page(void)
{
	void *page;

	if (atomic_load(&recording))
		return 0;
	page = __real_mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	                   -1, 0);
	if (page == MAP_FAILED)
		return -errno;
	atomic_store(&recording, (_Atomic uint8_t *)page);
	if (!madvise(page, PAGE_BYTES, MADV_WIPEONFORK))
		return 0;
	return -pthread_atfork(NULL, NULL, in_child);
}

/* Functions that the process does not have are in no slot. Nothing leads to `swaps` yet. */
static int find_functions(void)
{
	for (size_t i = 0; i < FUNCTIONS; i++) {
		if (!swaps[i].theirs)
			swaps[i] = functions[i];
		swaps[i].theirs = dlsym(RTLD_DEFAULT, functions[i].name);
	}
	return swaps[MALLOC].theirs && swaps[FREE].theirs ? 0 : -ENOENT;
}

int lc_native_begin(const struct lc_options *options)
{
	int err;

	if (options->offheap != LC_OFFHEAP_NATIVE)
		return 0;
	native.min_size_bytes = options->min_size_bytes;
	native.depth = (uint32_t)options->depth;
	native.site = lc_site_intern(LC_BLOCK_CLASS_NATIVE, 0, 0);
	err = native.site ? make_page() : -ENOMEM;
	if (!err)
		err = find_functions();
	if (!err)
		err = lc_imports_find(lc_ranges_library().low, &jvm_imports);
	if (err)
		return err;
	find_home();
	atomic_store_explicit(atomic_load(&recording), 1, memory_order_release);
	err = lc_imports_redirect(&jvm_imports);
	look(true);
	return err;
}

void lc_native_stop(void)
{
	_Atomic uint8_t *const page = atomic_load(&recording);

	if (page)
		atomic_store(page, 0);
}

void lc_native_end(void)
{
	size_t left = 0;

	if (!atomic_load(&recording))
		return;
	lc_native_stop();
	pthread_mutex_lock(&looking); /* who looks now has seen the recording, or does not */
	left += lc_imports_restore(&jvm_imports) != 0;
	left += lc_libraries_restore(swaps, FUNCTIONS);
	pthread_mutex_unlock(&looking);
	if (left)
		lc_say("cannot restore %zu calls of native libraries, which still go through the "
		       "agent",
		       left);
}

static bool is_counted(const struct lc_options *options)
{
	return options->offheap == LC_OFFHEAP_NATIVE;
}

static const struct lc_counter counters[] = {
	/* Native libraries of the program whose blocks are recorded. */
	LC_COUNTER("offheap_libraries", &native.libraries),
	/* Blocks that a signal handler took while its thread was in code of ours. */
	LC_COUNTER("offheap_missed", &native.missed),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = is_counted);
