/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/reset.c - restores the library's static variables when a recording is over.
 *
 * The variables are the part of the library's writable segment that the dynamic linker has not
 * sealed. The file lacks the values that the linker has written there, so a copy is made when the
 * library is loaded. Memory behind the file's part began as zeroes.
 */
#include "src/core/reset.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/core/own_memory.h"

/* The C library's mmap(): the copy outlives recordings, so core/own_memory.c must not count it. */
void *__real_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset);

/* The bounds of the section, by the linker. */
extern char __start_lc_kept[] __attribute__((visibility("hidden")));
extern char __stop_lc_kept[] __attribute__((visibility("hidden")));

static LC_KEPT struct {
	char *low, *file_end, *end;
	uint32_t recordings;
	char *copy; /* of low to file_end; NULL: there is none */
} image = { .copy = NULL };

static int look(struct dl_phdr_info *info, size_t bytes, void *context)
{
	const uintptr_t here = (uintptr_t)__start_lc_kept;
	char *sealed_end = NULL;

	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		char *at = (char *)(uintptr_t)(info->dlpi_addr + p->p_vaddr);

		if (p->p_type == PT_GNU_RELRO)
			sealed_end = at + p->p_memsz;
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W) || here < (uintptr_t)at ||
		    here >= (uintptr_t)at + p->p_memsz)
			continue;
		image.low = at;
		image.file_end = at + p->p_filesz;
		image.end = at + p->p_memsz;
	}
	if (!image.low)
		return 0;
	if (sealed_end > image.low && sealed_end <= image.end) {
		const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

		image.low = (char *)(((uintptr_t)sealed_end + page - 1) & ~(page - 1));
	}
	return 1;
}

/* Runs when the library is loaded: nothing has been written yet. */
static __attribute__((constructor)) void take_copy(void)
{
	void *copy;
	size_t bytes;

	if (!dl_iterate_phdr(look, NULL) || image.low > __start_lc_kept ||
	    __stop_lc_kept > image.end || image.low >= image.file_end)
		return;
	bytes = (size_t)(image.file_end - image.low);
	copy = __real_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy != MAP_FAILED)
		image.copy = memcpy(copy, image.low, bytes);
}

void lc_reset_begin(void)
{
	atomic_store(&lc_reset_recording, ++image.recordings);
}

void lc_reset_over(void)
{
	atomic_store(&lc_reset_recording, 0);
}

bool lc_reset_can_end(void)
{
	return image.copy != NULL;
}

/* Set back from `from` to `to`, which does not cross the kept part. */
static void set_back(char *from, char *to)
{
	char *const file_end = to < image.file_end ? to : image.file_end;

	if (from < file_end)
		memcpy(from, image.copy + (from - image.low), (size_t)(file_end - from));
	if (to > image.file_end && to > from) {
		char *at = from > image.file_end ? from : image.file_end;

		memset(at, 0, (size_t)(to - at));
	}
}

void lc_reset_end(void)
{
	lc_own_memory_give_back();
	/* own_memory.c's list of mappings is set back as well. */
	set_back(image.low, __start_lc_kept);
	set_back(__stop_lc_kept, image.end);
}
