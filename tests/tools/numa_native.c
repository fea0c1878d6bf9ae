/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numa_native.c - calls the kernel for tests/workloads/NumaPlacement.java: to pin threads to nodes,
 * and to know on which nodes a thread and an array are. Plain system calls, no libnuma, so that the
 * truth does not come from what is tested against it.
 */
#include <dirent.h>
#include <errno.h>
#include <jni.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 512 };

static void raise_error(JNIEnv *env, const char *what, int error)
{
	char text[200];
	jclass cls = (*env)->FindClass(env, "java/lang/IllegalStateException");

	snprintf(text, sizeof(text), "%s: %s", what, strerror(error));
	if (cls)
		(*env)->ThrowNew(env, cls, text);
}

/* The CPUs of a node, "0-1,4". Returns 0 or an errno. */
static int node_cpus(int node, cpu_set_t *set)
{
	char name[80];
	int first, last;
	FILE *file;

	CPU_ZERO(set);
	snprintf(name, sizeof(name), "/sys/devices/system/node/node%d/cpulist", node);
	file = fopen(name, "r");
	if (!file)
		return errno;
	while (fscanf(file, "%d", &first) == 1) {
		int c = fgetc(file);

		last = first;
		if (c == '-' && fscanf(file, "%d", &last) == 1)
			c = fgetc(file);
		for (int cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
			CPU_SET((size_t)cpu, set);
		if (c != ',')
			break;
	}
	fclose(file);
	return CPU_COUNT(set) ? 0 : ENOENT;
}

/* The calling thread. */
JNIEXPORT void JNICALL Java_NumaPlacement_pin(JNIEnv *env, jclass self, jint node)
{
	cpu_set_t set;
	int err = node_cpus(node, &set);

	if (!err && sched_setaffinity(0, sizeof(set), &set) != 0)
		err = errno;
	if (err)
		raise_error(env, "pin", err);
}

static int starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* The threads that collect garbage, whatever the collector; those to come inherit it. */
JNIEXPORT jint JNICALL Java_NumaPlacement_pinCollector(JNIEnv *env, jclass self, jint node)
{
	struct dirent *entry;
	cpu_set_t set;
	jint pinned = 0;
	int err = node_cpus(node, &set);
	DIR *tasks;

	if (err) {
		raise_error(env, "pinCollector", err);
		return 0;
	}
	tasks = opendir("/proc/self/task");
	if (!tasks) {
		raise_error(env, "/proc/self/task", errno);
		return 0;
	}
	while ((entry = readdir(tasks)) != NULL) {
		char path[300], name[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file) &&
		    (starts_with(name, "VM Thread") || starts_with(name, "GC Thread") ||
		     starts_with(name, "G1 ")) &&
		    sched_setaffinity((pid_t)atoi(entry->d_name), sizeof(set), &set) == 0)
			pinned++;
		fclose(file);
	}
	closedir(tasks);
	return pinned;
}

/* The node of the CPU on which the calling thread is. */
JNIEXPORT jint JNICALL Java_NumaPlacement_node(JNIEnv *env, jclass self)
{
	unsigned int cpu = 0, node = 0;

	if (syscall(SYS_getcpu, &cpu, &node, NULL) != 0)
		raise_error(env, "getcpu", errno);
	return (jint)node;
}

/* CPU time of the calling thread. */
JNIEXPORT jlong JNICALL Java_NumaPlacement_cpuNs(JNIEnv *env, jclass self)
{
	struct timespec now = { 0 };

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
		raise_error(env, "clock_gettime", errno);
	return (jlong)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Ask for the pages that hold [begin, end), and add the 8-byte elements on each to its node. */
static int count_elements(uintptr_t begin, uintptr_t end, jlong *count, jsize nodes)
{
	uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t at = begin & ~(page_bytes - 1);
	void *page[BATCH];
	int status[BATCH];

	while (at < end) {
		unsigned long n = 0;

		for (uintptr_t a = at; n < BATCH && a < end; a += page_bytes)
			page[n++] = (void *)a;
		if (syscall(SYS_move_pages, 0, n, page, NULL, status, 0) != 0)
			return errno;
		for (unsigned long i = 0; i < n; i++, at += page_bytes) {
			uintptr_t from = at < begin ? begin : at;
			uintptr_t to = at + page_bytes > end ? end : at + page_bytes;
			jsize node = status[i] >= 0 && status[i] < nodes ? status[i] : nodes;

			count[node] += (jlong)((to - from) / sizeof(jlong));
		}
	}
	return 0;
}

/*
 * count[n] = elements of array[from, to) on node n; the last of count is for those on no node.
 * The collector leaves the array where it is meanwhile. Returns the address of array[from].
 */
JNIEXPORT jlong JNICALL Java_NumaPlacement_locate(JNIEnv *env, jclass self, jlongArray array,
                                                  jint from, jint to, jlongArray count)
{
	jsize slots = (*env)->GetArrayLength(env, count);
	jlong *found = calloc((size_t)slots, sizeof(*found));
	jlong *elements;
	jlong address;
	int err;

	elements = found ? (*env)->GetPrimitiveArrayCritical(env, array, NULL) : NULL;
	if (!elements) {
		free(found);
		raise_error(env, "locate", ENOMEM);
		return 0;
	}
	address = (jlong)(uintptr_t)(elements + from);
	err = count_elements((uintptr_t)(elements + from), (uintptr_t)(elements + to), found,
	                     slots - 1);
	(*env)->ReleasePrimitiveArrayCritical(env, array, elements, JNI_ABORT);
	if (err)
		raise_error(env, "move_pages", err);
	else
		(*env)->SetLongArrayRegion(env, count, 0, slots, found);
	free(found);
	return address;
}
