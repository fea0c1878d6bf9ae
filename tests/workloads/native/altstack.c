/* altstack.c - gives the calling thread a stack for its signal handlers, and tells how much of it
 * was used. */
#include <jni.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATTERN = 0x5a };

static unsigned char *low;
static size_t bytes;

/* A stack of `size` bytes, below which nothing can be written. Returns whether the kernel takes it.
 */
JNIEXPORT jboolean JNICALL Java_AltStack_install(JNIEnv *env, jclass class, jint size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *map;
	stack_t stack;

	bytes = ((size_t)size + page - 1) / page * page;
	map = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED || mprotect(map, page, PROT_NONE))
		return JNI_FALSE;
	low = map + page;
	memset(low, PATTERN, bytes);
	stack = (stack_t){ .ss_sp = low, .ss_size = bytes };
	return sigaltstack(&stack, NULL) == 0;
}

/* How many bytes handlers have used. */
JNIEXPORT jint JNICALL Java_AltStack_used(JNIEnv *env, jclass class)
{
	size_t i = 0;

	while (i < bytes && low[i] == PATTERN)
		i++;
	return (jint)(bytes - i);
}
