/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/agent_api.c - defines the native methods of src/java/api/locusapi/Locus.java, by which a
 * program records itself.
 *
 * The thread that serves the attach listener (agent/agent_attach.c) also serves these requests. The
 * caller waits for the answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <jni.h>
#include <stdbool.h>
#include <unistd.h>

#include "src/agent/agent_attach.h"
#include "src/agent/agent_end.h"
#include "src/agent/marks.h"

enum { ANSWER_MAX = 8 << 10 };

JNIEXPORT jboolean JNICALL Java_locusapi_Locus_recording0(JNIEnv *jni, jclass type);
JNIEXPORT jboolean JNICALL Java_locusapi_Locus_mark0(JNIEnv *jni, jclass type, jstring name);
JNIEXPORT jstring JNICALL Java_locusapi_Locus_ask0(JNIEnv *jni, jclass type, jstring command,
                                                   jstring options);

JNIEXPORT jboolean JNICALL Java_locusapi_Locus_recording0(JNIEnv *jni, jclass type)
{
	return lc_agent_records();
}

JNIEXPORT jboolean JNICALL Java_locusapi_Locus_mark0(JNIEnv *jni, jclass type, jstring name)
{
	return lc_marks_add_string(jni, name);
}

/* All that comes until the writer closes, of which `text` gets what there is room for. */
static void read_all(int fd, char text[ANSWER_MAX])
{
	char more[256] = { 0 };
	size_t len = 0;
	ssize_t n;

	do {
		const bool room = len < ANSWER_MAX - 1;

		n = read(fd, room ? text + len : more, room ? ANSWER_MAX - 1 - len : sizeof(more));
		len += room && n > 0 ? (size_t)n : 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	text[len] = '\0';
}

/* The agent's memory may be given back while this waits, so the text is on the stack. */
static jstring ask(JNIEnv *jni, const char *command, const char *options)
{
	char text[ANSWER_MAX];
	JavaVM *vm = NULL;
	int ends[2];

	if ((*jni)->GetJavaVM(jni, &vm) || pipe2(ends, O_CLOEXEC))
		return NULL;
	lc_agent_attach_ask(vm, command, options, ends[1]);
	read_all(ends[0], text);
	close(ends[0]);
	return (*jni)->NewStringUTF(jni, text);
}

JNIEXPORT jstring JNICALL Java_locusapi_Locus_ask0(JNIEnv *jni, jclass type, jstring command,
                                                   jstring options)
{
	const char *what = (*jni)->GetStringUTFChars(jni, command, NULL);
	const char *how = (*jni)->GetStringUTFChars(jni, options, NULL);
	jstring answer = what && how ? ask(jni, what, how) : NULL;

	if (what)
		(*jni)->ReleaseStringUTFChars(jni, command, what);
	if (how)
		(*jni)->ReleaseStringUTFChars(jni, options, how);
	return answer;
}
