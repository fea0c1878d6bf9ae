/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/loaders.c - asks class loaders for the agent's classes before a class of theirs is
 * rewritten.
 *
 * A loader that has found a class once is on record in the JVM as an initiating loader of it, and
 * from then on the JVM resolves the name for that loader's classes from its own table: no code of
 * the program runs, and the answer cannot change. ClassLoader.findLoadedClass(), which is final,
 * reads that table. So a class is rewritten only where findLoadedClass() gives the agent's classes,
 * and its calls of them cannot fail.
 *
 * A loader that is not in that table yet is asked in ClassFileLoadHook: it is defining a class just
 * then, and next the JVM asks it for that class's superclass, on the same thread and with the same
 * locks held. A loader must stand that. (At ClassPrepare the JVM holds the lock of the class's
 * initialisation, and a loader's lock taken under it may deadlock.)
 *
 * Invariant: a slot of `refusing` is written once, by the thread that took it from `len`; readers
 *            acquire it and see none or the whole reference.
 */
#include "src/hooks/loaders.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "src/base/say.h"
#include "src/core/counters.h"
#include "src/core/refs.h"

enum {
	OWN_CLASSES = 2,
	REFUSING_MAX = 1024, /* loaders beyond it are asked again for each class */
	NESTED_MAX = 8,      /* loaders asked while another one answers */
};

/* A loader that this thread is asking; the outer one has caused the question. */
struct asking {
	jobject loader;
	const struct asking *outer;
	unsigned depth;
};

static const char *const own_names[OWN_CLASSES] = { "java.lang.LocusHook", "java.lang.LocusSpan" };

static struct {
	jclass class_class; /* global references */
	jclass machine_error;
	jstring names[OWN_CLASSES];
	unsigned names_len; /* 0: nobody can be asked */
	jmethodID for_name, find_loaded;
	_Atomic(jweak) refusing[REFUSING_MAX];
	_Atomic uint64_t refusing_len; /* slots that are taken; may be more than there are */
	_Atomic uint64_t not_hooked, asked;
} loaders;

static _Thread_local const struct asking *asking __attribute__((tls_model("initial-exec")));

int lc_loaders_init(JNIEnv *jni, bool spans)
{
	const unsigned len = spans ? OWN_CLASSES : 1;
	jclass class = (*jni)->FindClass(jni, "java/lang/Class");
	jclass loader = class ? (*jni)->FindClass(jni, "java/lang/ClassLoader") : NULL;
	jclass error = loader ? (*jni)->FindClass(jni, "java/lang/VirtualMachineError") : NULL;
	unsigned made = 0;

	if (error) {
		loaders.for_name = (*jni)->GetStaticMethodID(
		    jni, class, "forName",
		    "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
		loaders.find_loaded = (*jni)->GetMethodID(jni, loader, "findLoadedClass",
		                                          "(Ljava/lang/String;)Ljava/lang/Class;");
		loaders.class_class = lc_ref_new(jni, class);
		loaders.machine_error = lc_ref_new(jni, error);
	}
	while (made < len && loaders.class_class && loaders.machine_error) {
		jstring name = (*jni)->NewStringUTF(jni, own_names[made]);

		loaders.names[made] = name ? lc_ref_new(jni, name) : NULL;
		if (!loaders.names[made])
			break;
		made++;
	}
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	else if (made == len)
		loaders.names_len = len;
	return loaders.names_len ? 0 : -EIO;
}

/* Is the JVM's table of the loader's classes known to have all of ours? */
static bool on_record(JNIEnv *jni, jobject loader)
{
	unsigned found = 0;

	while (found < loaders.names_len) {
		jobject class = (*jni)->CallObjectMethod(jni, loader, loaders.find_loaded,
		                                         loaders.names[found]);
		const bool thrown = (*jni)->ExceptionCheck(jni);

		if (thrown)
			(*jni)->ExceptionClear(jni);
		if (!class || thrown)
			return false;
		(*jni)->DeleteLocalRef(jni, class);
		found++;
	}
	return true;
}

static bool refuses(JNIEnv *jni, jobject loader)
{
	const uint64_t len = atomic_load_explicit(&loaders.refusing_len, memory_order_relaxed);

	for (uint64_t i = 0; i < len && i < REFUSING_MAX; i++) {
		jweak known = atomic_load_explicit(&loaders.refusing[i], memory_order_acquire);

		if (known && (*jni)->IsSameObject(jni, known, loader))
			return true;
	}
	return false;
}

/* The program's console gets no name of a loader: it may hold any character. */
static void remember(JNIEnv *jni, jobject loader)
{
	const uint64_t at =
	    atomic_fetch_add_explicit(&loaders.refusing_len, 1, memory_order_relaxed);

	if (!at)
		lc_say("a class loader cannot see java.lang.LocusHook: allocations in its classes "
		       "are not counted, and only the class of their objects is known");
	if (at < REFUSING_MAX)
		atomic_store_explicit(&loaders.refusing[at], lc_ref_new_weak(jni, loader),
		                      memory_order_release);
}

/*
 * Clear what a loader has thrown. Returns whether it is an answer: without stack or heap left, the
 * loader may answer otherwise next time.
 */
static bool is_answer(JNIEnv *jni)
{
	jthrowable thrown = (*jni)->ExceptionOccurred(jni);
	bool answer;

	if (!thrown)
		return true;
	(*jni)->ExceptionClear(jni);
	answer = !(*jni)->IsInstanceOf(jni, thrown, loaders.machine_error);
	(*jni)->DeleteLocalRef(jni, thrown);
	return answer;
}

static bool ask(JNIEnv *jni, jobject loader)
{
	struct asking here = { .loader = loader, .outer = asking };
	bool answered = true;

	for (const struct asking *a = asking; a; a = a->outer)
		if (++here.depth >= NESTED_MAX || (*jni)->IsSameObject(jni, a->loader, loader))
			return false; /* a class that it loads in order to answer */
	asking = &here;
	lc_count(&loaders.asked);
	for (unsigned i = 0; i < loaders.names_len && answered; i++) {
		jobject class =
		    (*jni)->CallStaticObjectMethod(jni, loaders.class_class, loaders.for_name,
		                                   loaders.names[i], JNI_FALSE, loader);

		answered = is_answer(jni);
		if (class)
			(*jni)->DeleteLocalRef(jni, class);
	}
	asking = here.outer;
	if (on_record(jni, loader))
		return true;
	if (answered && !refuses(jni, loader)) /* another thread may have asked it, too */
		remember(jni, loader);
	return false;
}

bool lc_loaders_know_hooks(JNIEnv *jni, jobject loader)
{
	if (!loader || (loaders.names_len && on_record(jni, loader)) ||
	    (loaders.names_len && !refuses(jni, loader) && ask(jni, loader)))
		return true;
	lc_count(&loaders.not_hooked);
	return false;
}

static const struct lc_counter counters[] = {
	/* Class files left as they were. */
	LC_COUNTER("classes_no_hook_loader", &loaders.not_hooked),
	/* Loaders that do not find the agent's classes. */
	LC_COUNTER("class_loaders_refusing", &loaders.refusing_len),
	LC_COUNTER("class_loaders_asked", &loaders.asked), /* times that a loader was asked */
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
