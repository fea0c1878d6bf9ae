/*
 * poison.c - lets the thread's last Java frame lead to memory that cannot be read, while the thread
 * spends CPU time in native code, so that whoever walks its stack then faults.
 *
 * Nothing must stop the world meanwhile: the JVM itself would fault.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <jni.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

struct entry { /* of gHotSpotVMStructs */
	const char *type, *field, *type_of_field;
	int32_t is_static;
	uint64_t offset;
	void *address;
};

static int64_t offset_of(const char *type, const char *field)
{
	void *libjvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
	const struct entry **table = libjvm ? dlsym(libjvm, "gHotSpotVMStructs") : NULL;

	for (const struct entry *e = table ? *table : NULL; e && e->type; e++)
		if (!strcmp(e->type, type) && !strcmp(e->field, field))
			return (int64_t)e->offset;
	return -1;
}

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Returns how long it spun, in ns, or -1 where this JVM is not known. */
JNIEXPORT jlong JNICALL Java_Poison_spin(JNIEnv *jni, jclass poison, jint ms)
{
	const int64_t anchor = offset_of("JavaThread", "_anchor");
	const int64_t fp = offset_of("JavaFrameAnchor", "_last_Java_fp");
	void *gone = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	jclass class = (*jni)->FindClass(jni, "java/lang/Thread");
	jmethodID current =
	    (*jni)->GetStaticMethodID(jni, class, "currentThread", "()Ljava/lang/Thread;");
	jfieldID eetop = (*jni)->GetFieldID(jni, class, "eetop", "J");
	jobject self = (*jni)->CallStaticObjectMethod(jni, class, current);
	char *thread = (char *)(intptr_t)(*jni)->GetLongField(jni, self, eetop);
	const int64_t begin = cpu_ns();
	void *kept, *poisoned = (char *)gone + 2048;

	if (anchor < 0 || fp < 0 || gone == MAP_FAILED)
		return -1;
	memcpy(&kept, thread + anchor + fp, sizeof(kept));
	memcpy(thread + anchor + fp, &poisoned, sizeof(poisoned));
	while (cpu_ns() - begin < (int64_t)ms * 1000000)
		;
	memcpy(thread + anchor + fp, &kept, sizeof(kept));
	munmap(gone, 4096);
	return cpu_ns() - begin;
}
