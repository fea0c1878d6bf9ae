/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/agent_attach.c - does on a thread of its own what the JVM's attach listener asks for.
 *
 * The listener must have returned before a native method of a class of the boot loader is looked
 * for in this library, so nothing is started before one is found.
 */
#include "src/agent/agent_attach.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jvmti.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/agent/agent.h"
#include "src/agent/agent_end.h"
#include "src/agent/agent_profile.h"
#include "src/agent/agent_undo.h"
#include "src/agent/holder_sites.h"
#include "src/agent/holders.h"
#include "src/attribute/attribution.h"
#include "src/base/attach_answer.h"
#include "src/base/limit.h"
#include "src/base/options.h"
#include "src/base/say.h"
#include "src/core/jvmti.h"
#include "src/core/memory.h"
#include "src/core/own_cost.h"
#include "src/core/own_thread.h"
#include "src/core/reset.h"
#include "src/core/stages.h"
#include "src/core/thread.h"
#include "src/hooks/batches.h"
#include "src/offheap/rss.h"
#include "src/sample/engine.h"

#define FLUSH_NS UINT64_C(30000000000)

enum { TRIES = 5000, TRY_NS = 1000000 };

struct request {
	JavaVM *vm;
	char command[16];
	char options[LC_OPTIONS_TEXT_MAX];
	int reply; /* -1: none */
};

/* A request is being worked off. */
static LC_KEPT atomic_flag busy = ATOMIC_FLAG_INIT;

/*
 * The work of the thread that holds the lock. A detach that arrives during an attach hands over the
 * descriptor for its answer. The attaching thread ends the recording as soon as it has begun.
 * `handed_over` is 0, or the descriptor + 1.
 */
enum { DOING_ELSE, DOING_ATTACH, DOING_DETACH };
static LC_KEPT _Atomic int doing;
static LC_KEPT _Atomic int handed_over;

/* Reserves the lock: back-to-back requests must not starve the thread that ends the recording. */
static _Atomic bool claimed;

void lc_agent_attach_claim(bool claim)
{
	atomic_store(&claimed, claim);
}

bool lc_agent_attach_try_lock(void)
{
	return !atomic_flag_test_and_set(&busy);
}

void lc_agent_attach_unlock(void)
{
	atomic_flag_clear(&busy);
}

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

		if (n < 0) {
			lc_say("cannot write the answer to '%s': %s", r->command, strerror(errno));
			return;
		}
		text += n;
		len -= (size_t)n;
	}
}

static bool start(const struct request *r, JNIEnv *jni)
{
	const uint64_t begin = lc_own_cost_begin();
	bool done = false;

	if (lc_agent_left_behind()) {
		lc_say("the disk did not answer at the end of the last recording, so this JVM "
		       "cannot be recorded again; restart it");
		return false;
	}
	if (lc_agent_records()) {
		lc_say("this JVM is already being recorded");
		return false;
	}
	if (!lc_agent_prepare(r->vm, r->options, true))
		done = lc_agent_start_attached(jni);
	if (done && lc_stages_stopped()) {
		uint32_t with, of;

		lc_batches_progress(&with, &of);
		lc_say_answer(
		    "'locus detach' is already ending it: %u of %u classes were instrumented", with,
		    of);
	}
	if (done)
		lc_own_cost_end(LC_OWN_STARTUP, begin);
	else
		lc_agent_undo(jni);
	return done;
}

/* Record what holds live objects, if the options say "holders NS". Returns false if that fails. */
static bool record_holders(const struct request *r)
{
	uint64_t pause_ns;

	return sscanf(r->options, "holders %" SCNu64, &pause_ns) != 1 ||
	       lc_holder_sites_record(r->vm, pause_ns, false);
}

static bool stop(const struct request *r, JNIEnv *jni)
{
	bool held;

	if (!lc_agent_records()) {
		lc_say("this JVM is not being recorded");
		return false;
	}
	held = record_holders(r);
	/* Else somebody else has ended it, or the disk does not answer, which has been said. */
	return (lc_agent_end_now(jni) || !lc_agent_left_behind()) && held;
}

static bool dump(const struct request *r)
{
	bool held;

	if (!lc_agent_records()) {
		lc_say("this JVM is not being recorded");
		return false;
	}
	held = record_holders(r);
	if (!lc_attribution_flush(FLUSH_NS)) {
		lc_say("the profile could not be written within %d s",
		       (int)(FLUSH_NS / UINT64_C(1000000000)));
		return false;
	}
	lc_say_answer("written to %s", lc_agent_profile_directory());
	return held;
}

static bool status(void)
{
	char options[LC_OPTIONS_TEXT_MAX];
	uint64_t samples, lost, resident, peak;
	struct lc_limit limits[LC_LIMITS_MAX];

	if (!lc_agent_records()) {
		lc_say_answer("not recording");
		return true;
	}
	lc_engines_samples(&samples, &lost);
	lc_say_answer("recording for %.1f s into %s", (double)lc_agent_seconds(),
	              lc_agent_profile_directory());
	if (lc_options_format(lc_agent_options(), options, sizeof(options)) > 0)
		lc_say_answer("options: %s", options);
	lc_say_answer("samples: %" PRIu64 ", lost: %" PRIu64, samples, lost);
	lc_say_answer("threads: %u", lc_threads_registered());
	lc_say_answer("Locus's memory: %.1f MB", (double)lc_memory_held() / 1e6);
	lc_rss_now(&resident, &peak);
	if (resident)
		lc_say_answer("resident memory: %.1f MB, at its peak %.1f MB",
		              (double)resident / 1e6, (double)peak / 1e6);
	for (size_t i = 0, len = lc_limits(limits); i < len; i++)
		lc_say_answer("limit: %s", limits[i].text);
	return true;
}

static bool obey(const struct request *r, JNIEnv *jni)
{
	const bool attach = !strcmp(r->command, "attach"), detach = !strcmp(r->command, "detach");

	atomic_store(&doing, attach ? DOING_ATTACH : detach ? DOING_DETACH : DOING_ELSE);
	if (attach)
		return start(r, jni);
	if (detach)
		return stop(r, jni);
	if (!strcmp(r->command, "dump"))
		return dump(r);
	if (!strcmp(r->command, "status"))
		return status();
	if (!strcmp(r->command, "holders"))
		return lc_holders_answer(r->vm, jni, r->options);
	lc_say("this version of the agent does not know '%s'", r->command);
	return false;
}

/* Nothing of the request is in memory of a recording that may be ended here. */
static struct request take(struct request *r)
{
	const struct request copy = *r;

	free(r);
	return copy;
}

/* A JVM that has just begun answers requests before it takes threads, or runs the program. */
static JNIEnv *enter_jvm(JavaVM *vm)
{
	const struct timespec time = { .tv_nsec = TRY_NS };
	JavaVMAttachArgs args = { JNI_VERSION_1_8, (char *)(uintptr_t) "Locus attach", NULL };
	jvmtiPhase phase = JVMTI_PHASE_START;
	JNIEnv *jni = NULL;
	jvmtiEnv *jvmti;
	unsigned i = 0;

	while ((*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&jni, &args)) {
		if (++i == TRIES)
			return NULL;
		nanosleep(&time, NULL);
	}
	for (; i < TRIES; i++) {
		jvmti = lc_jvmti_of(vm);
		if (jvmti)
			(*jvmti)->GetPhase(jvmti, &phase);
		if (phase == JVMTI_PHASE_LIVE || phase == JVMTI_PHASE_DEAD)
			break;
		nanosleep(&time, NULL);
	}
	return jni;
}

/* Do it. Returns what the answer ends with. */
static const char *carry_out(const struct request *r, JNIEnv *jni)
{
	bool done;

	lc_say_to(r->reply);
	done = obey(r, jni);
	lc_say_to(-1);
	return done ? "ok\n" : "failed\n";
}

/* A detach that was handed over; its `reply` is -1: there is none. */
static struct request take_detach(JavaVM *vm)
{
	return (struct request){ .vm = vm,
		                 .command = "detach",
		                 .reply = atomic_exchange(&handed_over, 0) - 1 };
}

static void *run(void *context)
{
	struct request r = take(context);
	const char *end = "the JVM could not attach a thread for Locus\nfailed\n";
	struct request next;
	JNIEnv *jni;

	lc_thread_set_ours();
	jni = enter_jvm(r.vm);
	if (jni)
		end = carry_out(&r, jni);
	atomic_store(&doing, DOING_ELSE);
	next = take_detach(r.vm);
	if (next.reply >= 0) {
		answer(&r, end);
		close(r.reply);
		r = next;
		if (jni)
			end = carry_out(&r, jni);
		atomic_store(&doing, DOING_ELSE);
	}
	if (jni)
		(*r.vm)->DetachCurrentThread(r.vm);
	answer(&r, end);
	lc_thread_ours_ends();
	lc_agent_attach_unlock();
	/* After the unlock: at the end of the reply the client may send the next request. */
	if (r.reply >= 0)
		close(r.reply);
	return NULL;
}

/* Report the progress of the request that is being worked off. */
static void answer_progress(const struct request *r)
{
	const int what = atomic_load(&doing);
	char stage[LC_STAGE_TEXT_MAX], text[LC_STAGE_TEXT_MAX + 32];

	lc_stages_text(stage, sizeof(stage));
	if (what == DOING_ELSE)
		snprintf(text, sizeof(text), LC_ATTACH_BUSY);
	else
		snprintf(text, sizeof(text), "%s: %s\nok\n",
		         what == DOING_ATTACH ? "attaching" : "detaching", stage);
	answer(r, text);
}

/*
 * Have the thread that attaches end the recording, too. Returns whether it will; the descriptor is
 * its own then.
 */
static bool hand_over(const struct request *r)
{
	int none = 0, ours = r->reply + 1;

	if (r->reply < 0 || atomic_load(&doing) != DOING_ATTACH ||
	    !atomic_compare_exchange_strong(&handed_over, &none, ours))
		return false;
	lc_stages_stop();
	/* It may have looked before: then it has stored `doing`, and the descriptor is still here.
	 */
	return atomic_load(&doing) == DOING_ATTACH ||
	       !atomic_compare_exchange_strong(&handed_over, &ours, 0);
}

/*
 * A file of this user that nobody else writes: who asks has just made it, and sees by the lock
 * whether anything is still to come. It is empty, or with `options` has these.
 */
static int reply_open(const char *path, char *options, size_t options_len)
{
	const int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1 ||
	    st.st_mode & (S_IRWXG | S_IRWXO) || (size_t)st.st_size >= (options ? options_len : 1) ||
	    (options && pread(fd, options, (size_t)st.st_size, 0) != st.st_size)) {
		close(fd);
		return -1;
	}
	(void)flock(fd, LOCK_EX | LOCK_NB); /* where there are no locks, who asks waits */
	return fd;
}

/* Read the text. Returns 0, or -EINVAL: what is wrong is said. */
static int read_request(struct request *r, const char *text)
{
	char reply[PATH_MAX];
	size_t len;

	r->reply = -1;
	snprintf(r->command, sizeof(r->command), "attach");
	if (*text == '@') {
		len = strcspn(text, " ");
		snprintf(r->command, sizeof(r->command), "%.*s", (int)len - 1, text + 1);
		text += len + (text[len] == ' ');
		len = strcspn(text, " ");
		snprintf(reply, sizeof(reply), "%.*s", (int)len, text);
		text += len + (text[len] == ' ');
		r->reply = reply_open(reply, *text ? NULL : r->options, sizeof(r->options));
		if (r->reply < 0) {
			lc_say("attach: the file for the answer has the wrong owner or mode");
			return -EINVAL;
		}
		if (!*text)
			return 0;
	}
	if ((size_t)snprintf(r->options, sizeof(r->options), "%s", text) < sizeof(r->options))
		return 0;
	answer(r, "the options are too long\nfailed\n");
	return -EINVAL;
}

/* With the lock held. Returns 0 or -errno. */
static int start_thread(const struct request *r)
{
	struct request *copy = malloc(sizeof(*copy));
	pthread_t thread;
	int err = -ENOMEM;

	if (copy) {
		*copy = *r;
		err = lc_own_thread_start(&thread, "locus-attach", run, copy);
	}
	if (err)
		free(copy);
	else
		pthread_detach(thread);
	return err;
}

/* Have it done. Returns 0 or -errno; the answer is given in either case. */
static int begin(const struct request *r)
{
	int err = 0;

	if (atomic_load(&claimed) || !lc_agent_attach_try_lock()) {
		if (!strcmp(r->command, "detach") && hand_over(r))
			return 0;
		if (!strcmp(r->command, "status"))
			answer_progress(r);
		else
			answer(r, LC_ATTACH_BUSY);
	} else {
		err = start_thread(r);
		if (!err)
			return 0;
		lc_agent_attach_unlock();
		lc_say("attach: %s", strerror(-err));
		answer(r, "failed\n");
	}
	if (r->reply >= 0)
		close(r->reply);
	return err;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *text, void *reserved)
{
	struct request r = { .vm = vm };
	int err;

	if (text && !strcmp(text, "@load"))
		return JNI_OK;
	err = read_request(&r, text ? text : "");
	if (!err)
		return begin(&r) ? JNI_ERR : JNI_OK;
	if (r.reply >= 0)
		close(r.reply);
	return JNI_ERR;
}

void lc_agent_attach_ask(JavaVM *vm, const char *command, const char *options, int reply)
{
	struct request r = { .vm = vm, .reply = reply };

	snprintf(r.command, sizeof(r.command), "%s", command);
	if ((size_t)snprintf(r.options, sizeof(r.options), "%s", options) < sizeof(r.options)) {
		(void)begin(&r);
		return;
	}
	answer(&r, "the options are too long\nfailed\n");
	close(reply);
}
