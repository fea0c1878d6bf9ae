/*
 * child.c - starts children in each way there is, and enters critical sections: the native side of
 * Children.java.
 */
#include <jni.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char *const child[] = { "/bin/sh", "-c", "exit 3", NULL };

static int status_of(pid_t pid)
{
	int status = 0;

	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
	                                                                       : -1;
}

static pid_t forked(void)
{
	pid_t pid = fork();

	if (!pid) {
		volatile long sum = 0;

		/* Long enough for a timer of the parent's to fire here, if it were inherited. */
		for (long i = 0; i < 10000000; i++)
			sum += i;
		execv(child[0], child);
		_exit(127);
	}
	return pid;
}

static pid_t vforked(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execv(child[0], child);
		_exit(127);
	}
	return pid;
}

static pid_t spawned(void)
{
	pid_t pid;

	return posix_spawn(&pid, child[0], NULL, NULL, child, environ) ? -1 : pid;
}

/* The child's exit status, 3; -1 where it did not end so. */
JNIEXPORT jint JNICALL Java_Children_start(JNIEnv *env, jclass self, jint how)
{
	return status_of(how == 0 ? forked() : how == 1 ? vforked() : spawned());
}

JNIEXPORT jlong JNICALL Java_Children_critical(JNIEnv *env, jclass self, jbyteArray array)
{
	jsize len = (*env)->GetArrayLength(env, array);
	jbyte *bytes = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
	jlong sum = 0;

	for (int round = 0; round < 20; round++)
		for (jsize i = 0; i < len; i++)
			sum += ++bytes[i];
	(*env)->ReleasePrimitiveArrayCritical(env, array, bytes, 0);
	return sum;
}
