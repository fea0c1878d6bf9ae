/*
 * sealed.c - preloaded, keeps pages of libjvm from being made writable, as a hardened system may.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int mprotect(void *at, size_t bytes, int protection)
{
	Dl_info of;

	if (protection & PROT_WRITE && dladdr(at, &of) && of.dli_fname &&
	    strstr(of.dli_fname, "/libjvm.so")) {
		errno = EACCES;
		return -1;
	}
	return (int)syscall(SYS_mprotect, at, bytes, protection);
}
