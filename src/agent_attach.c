/*
 * agent_attach.c - does on a thread of its own what the JVM's attach listener asks for.
 *
 * The listener must have returned before a native method of a class of the boot loader is looked
 * for in this library, so nothing is started before one is found.
 */
#include "src/agent_attach.h"

#include <errno.h>
#include <fcntl.h>
#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/agent.h"
#include "src/agent_end.h"
#include "src/base/say.h"
#include "src/core/own_cost.h"
#include "src/core/own_thread.h"
#include "src/core/thread.h"

enum { TRIES = 5000, TRY_NS = 1000000 };

struct request {
	JavaVM *vm;
	char command[16];
	char *options;
	int reply; /* -1: none */
};

/* A request is being worked off. */
static atomic_flag busy = ATOMIC_FLAG_INIT;

int lc_agent_attach_linked(JNIEnv *jni, jclass hook)
{
	const struct timespec time = { .tv_nsec = TRY_NS };
	const jmethodID native =
	    (*jni)->GetStaticMethodID(jni, hook, "allocObject", "(Ljava/lang/Object;I)V");

	for (unsigned i = 0; native && i < TRIES; i++) {
		(*jni)->CallStaticVoidMethod(jni, hook, native, NULL, 0);
		if (!(*jni)->ExceptionCheck(jni))
			return 0;
		(*jni)->ExceptionClear(jni); /* UnsatisfiedLinkError */
		nanosleep(&time, NULL);
	}
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	return -ETIMEDOUT;
}

static void answer(const struct request *r, const char *text)
{
	size_t len = strlen(text);

	while (r->reply >= 0 && len) {
		const ssize_t n = write(r->reply, text, len);

		if (n <= 0)
			break;
		text += n;
		len -= (size_t)n;
	}
}

static bool start(const struct request *r, JNIEnv *jni)
{
	const uint64_t begin = lc_own_cost_begin();
	bool done = false;

	if (lc_agent_records()) {
		lc_say("this JVM is being profiled already");
		return false;
	}
	if (!lc_agent_prepare(r->vm, r->options))
		done = lc_agent_start_attached(jni);
	lc_own_cost_end(LC_OWN_STARTUP, begin);
	return done;
}

static bool obey(const struct request *r, JNIEnv *jni)
{
	if (!strcmp(r->command, "attach"))
		return start(r, jni);
	lc_say("this version of the agent does not know '%s'", r->command);
	return false;
}

static void request_free(struct request *r)
{
	if (r->reply >= 0)
		close(r->reply);
	free(r->options);
	free(r);
}

static void *run(void *context)
{
	JavaVMAttachArgs args = { JNI_VERSION_1_8, (char *)(uintptr_t) "Locus attach", NULL };
	struct request *r = context;
	JavaVM *vm = r->vm;
	JNIEnv *jni = NULL;

	lc_thread_set_ours();
	if (!(*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&jni, &args)) {
		lc_say_to(r->reply);
		answer(r, obey(r, jni) ? "ok\n" : "failed\n");
		lc_say_to(-1);
		(*vm)->DetachCurrentThread(vm);
	}
	lc_thread_ours_ends();
	request_free(r);
	atomic_flag_clear(&busy);
	return NULL;
}

/* An empty file of this user that nobody else writes: who asks has just made it. */
static int reply_open(const char *path)
{
	const int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_size ||
	    st.st_nlink != 1 || st.st_mode & (S_IRWXG | S_IRWXO)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Returns the request that the text is, or NULL; what is wrong is said. */
static struct request *read_request(JavaVM *vm, const char *text)
{
	struct request *r = calloc(1, sizeof(*r));
	char *reply = NULL;
	size_t len;

	if (!r)
		return NULL;
	r->vm = vm;
	r->reply = -1;
	snprintf(r->command, sizeof(r->command), "attach");
	if (*text == '@') {
		len = strcspn(text, " ");
		snprintf(r->command, sizeof(r->command), "%.*s", (int)len - 1, text + 1);
		text += len + (text[len] == ' ');
		len = strcspn(text, " ");
		reply = strdup(text);
		if (reply) {
			reply[len] = '\0';
			r->reply = reply_open(reply);
		}
		text += len + (text[len] == ' ');
	}
	r->options = strdup(text);
	if (r->options && (!reply || r->reply >= 0)) {
		free(reply);
		return r;
	}
	lc_say("attach: %s", reply && r->options ? "the file for the answer is not as it should be"
	                                         : strerror(ENOMEM));
	free(reply);
	request_free(r);
	return NULL;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *text, void *reserved)
{
	struct request *r = read_request(vm, text ? text : "");
	pthread_t thread;
	int err;

	(void)reserved;
	if (!r)
		return JNI_ERR;
	if (atomic_flag_test_and_set(&busy)) {
		answer(r, "Locus is busy with another request\nfailed\n");
		request_free(r);
		return JNI_OK;
	}
	err = lc_own_thread_start(&thread, "locus-attach", run, r);
	if (!err) {
		pthread_detach(thread);
		return JNI_OK;
	}
	lc_say("attach: %s", strerror(-err));
	answer(r, "failed\n");
	request_free(r);
	atomic_flag_clear(&busy);
	return JNI_ERR;
}
