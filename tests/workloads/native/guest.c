/*
 * guest.c - is the native side of NativeGuest.java: a JNI library, and a JVMTI agent for "early".
 */
#include <jni.h>
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

/* Signals that raise() below sent itself: others (a profiler's) are not counted. */
static volatile sig_atomic_t raised_by_us;
static volatile sig_atomic_t arrived;
static JavaVM *vm;

static void on_signal(int signal, siginfo_t *info, void *context)
{
	if (raised_by_us && info->si_code <= 0)
		arrived = 1;
}

static void install(int signal)
{
	struct sigaction act;

	memset(&act, 0, sizeof(act));
	act.sa_sigaction = on_signal;
	act.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(signal, &act, NULL);
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *v, void *reserved)
{
	vm = v;
	return JNI_VERSION_10;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *v, char *options, void *reserved)
{
	install(SIGPROF);
	install(SIGTRAP);
	return 0;
}

JNIEXPORT void JNICALL Java_NativeGuest_install(JNIEnv *env, jclass self, jint signal)
{
	install(signal);
}

JNIEXPORT void JNICALL Java_NativeGuest_reset(JNIEnv *env, jclass self, jint number)
{
	signal(number, SIG_DFL);
}

/* How many of `times` signals arrived at the handler. */
JNIEXPORT jlong JNICALL Java_NativeGuest_raise(JNIEnv *env, jclass self, jint signal, jint times)
{
	jlong n = 0;

	for (int i = 0; i < times; i++) {
		arrived = 0;
		raised_by_us = 1;
		pthread_kill(pthread_self(), signal);
		raised_by_us = 0;
		n += arrived;
	}
	return n;
}

JNIEXPORT jlong JNICALL Java_NativeGuest_calls(JNIEnv *env, jclass self, jbyteArray shared,
                                               jint times)
{
	jmethodID callback = (*env)->GetStaticMethodID(env, self, "nativeCallback", "(I)V");
	jsize len = (*env)->GetArrayLength(env, shared);
	jlong total = 0;

	for (int i = 0; i < times; i++) {
		jbyteArray fresh = (*env)->NewByteArray(env, len);
		jbyte *from = (*env)->GetPrimitiveArrayCritical(env, shared, NULL);

		for (jsize k = 0; k < len; k += 64)
			total += ++from[k];
		(*env)->ReleasePrimitiveArrayCritical(env, shared, from, 0);
		(*env)->SetByteArrayRegion(env, fresh, 0, 8, (const jbyte *)"12345678");
		(*env)->CallStaticVoidMethod(env, self, callback, 1000);
		(*env)->DeleteLocalRef(env, fresh);
	}
	return total;
}

struct attached {
	jclass self;
	jint times;
};

static void *attached_main(void *arg)
{
	const struct attached *a = arg;
	JNIEnv *env;
	jmethodID callback;

	if ((*vm)->AttachCurrentThread(vm, (void **)&env, NULL) != JNI_OK)
		return NULL;
	callback = (*env)->GetStaticMethodID(env, a->self, "nativeCallback", "(I)V");
	for (int i = 0; i < a->times; i++)
		(*env)->CallStaticVoidMethod(env, a->self, callback, 1000);
	(*vm)->DetachCurrentThread(vm);
	return NULL;
}

JNIEXPORT jint JNICALL Java_NativeGuest_attachedThread(JNIEnv *env, jclass self, jint times)
{
	struct attached a = { (*env)->NewGlobalRef(env, self), times };
	pthread_t thread;
	int err = pthread_create(&thread, NULL, attached_main, &a);

	if (!err)
		pthread_join(thread, NULL);
	(*env)->DeleteGlobalRef(env, a.self);
	return err;
}
