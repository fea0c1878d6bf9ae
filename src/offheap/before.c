/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offheap/before.c - walks the JDK's list of cleaners, and the kernel's list of mappings.
 *
 * The list holds a Deallocator for each direct buffer. Its fields are asked for by name and type,
 * so a JDK that has others gives none. add() and remove() of the list synchronize on its class, and
 * a buffer is removed before its memory is freed. The walk holds that monitor, so that each block
 * is known before its memory may be freed.
 */
#include "src/offheap/before.h"
#include "src/base/ends.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/limit.h"
#include "src/core/counters.h"
#include "src/core/path.h"
#include "src/format/kinds.h"
#include "src/jvm/layout/ranges.h"
#include "src/offheap/block_class.h"
#include "src/offheap/blocks.h"

enum { BUFFERS_MAX = 1 << 20, LINE_MAX_BYTES = 4352 };

static struct {
	uint64_t buffers, files;
} found;

/* -- direct buffers ------------------------------------------------------------------------ */

struct list {
	jclass cleaner, deallocator;
	jfieldID first, next, thunk, address, size;
};

/* Is a buffer's cleaner of the kind that the list holds? */
static bool uses_list(JNIEnv *jni)
{
	jclass buffer = (*jni)->FindClass(jni, "java/nio/DirectByteBuffer");
	const bool uses =
	    buffer && (*jni)->GetFieldID(jni, buffer, "cleaner", "Ljdk/internal/ref/Cleaner;");

	(*jni)->DeleteLocalRef(jni, buffer);
	return uses;
}

static bool find_list(JNIEnv *jni, struct list *l)
{
	if (uses_list(jni))
		l->cleaner = (*jni)->FindClass(jni, "jdk/internal/ref/Cleaner");
	if (l->cleaner)
		l->deallocator = (*jni)->FindClass(jni, "java/nio/DirectByteBuffer$Deallocator");
	if (l->deallocator)
		l->first = (*jni)->GetStaticFieldID(jni, l->cleaner, "first",
		                                    "Ljdk/internal/ref/Cleaner;");
	if (l->first)
		l->next = (*jni)->GetFieldID(jni, l->cleaner, "next", "Ljdk/internal/ref/Cleaner;");
	if (l->next)
		l->thunk = (*jni)->GetFieldID(jni, l->cleaner, "thunk", "Ljava/lang/Runnable;");
	if (l->thunk)
		l->address = (*jni)->GetFieldID(jni, l->deallocator, "address", "J");
	if (l->address)
		l->size = (*jni)->GetFieldID(jni, l->deallocator, "size", "J");
	(*jni)->ExceptionClear(jni);
	return l->size;
}

static void add_buffer(JNIEnv *jni, const struct list *l, jobject cleaner, uint32_t site)
{
	jobject thunk = (*jni)->GetObjectField(jni, cleaner, l->thunk);

	if (thunk && (*jni)->IsInstanceOf(jni, thunk, l->deallocator)) {
		const jlong address = (*jni)->GetLongField(jni, thunk, l->address);
		const jlong size = (*jni)->GetLongField(jni, thunk, l->size);

		if (address && size > 0) {
			lc_blocks_before((uint64_t)address, (uint64_t)size, site);
			found.buffers++;
		}
	}
	(*jni)->DeleteLocalRef(jni, thunk);
}

static void walk(JNIEnv *jni, const struct list *l, uint32_t site)
{
	jobject cleaner = (*jni)->GetStaticObjectField(jni, l->cleaner, l->first), next;
	unsigned left;

	for (left = BUFFERS_MAX; cleaner && left; left--) {
		add_buffer(jni, l, cleaner, site);
		next = (*jni)->GetObjectField(jni, cleaner, l->next);
		(*jni)->DeleteLocalRef(jni, cleaner);
		cleaner = next;
	}
	if (cleaner)
		(void)lc_limit_note("buffers_before", "only the newest of the direct buffers that "
		                                      "were made before the attach are known");
	(*jni)->DeleteLocalRef(jni, cleaner);
}

static void find_buffers(JNIEnv *jni, uint32_t path)
{
	const uint32_t site = lc_site_intern(LC_BLOCK_CLASS_DIRECT, 0, path);
	struct list list = { 0 };

	if (!find_list(jni, &list))
		(void)lc_limit_note("buffers_before", "direct buffers that were made before the "
		                                      "attach cannot be found in this JVM");
	else if (site && !(*jni)->MonitorEnter(jni, list.cleaner)) {
		walk(jni, &list, site);
		(void)(*jni)->MonitorExit(jni, list.cleaner);
	}
	(*jni)->DeleteLocalRef(jni, list.cleaner);
	(*jni)->DeleteLocalRef(jni, list.deallocator);
}

/* -- mapped files -------------------------------------------------------------------------- */

/* Files that the JVM and libc map: classes, counters, tables of character sets. */
static bool is_of_jvm(const char *path, size_t len)
{
	static const char *const endings[] = { ".jsa",  ".jar",         ".zip",
		                               ".jmod", "/lib/modules", "/gconv-modules.cache" };

	if (!strncmp(path, "/memfd:", 7) || strstr(path, "/hsperfdata_") ||
	    (!strncmp(path, "/dev/", 5) && strncmp(path, "/dev/shm/", 9) != 0))
		return true;
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (lc_ends_with(path, len, endings[i]))
			return true;
	return false;
}

/* The line's parts; the file's path, or NULL. */
static const char *parse(const char *line, uint64_t *start, uint64_t *end, uint64_t *offset,
                         char mode[5])
{
	const char *path = strchr(line, '/');

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64, start, end, mode, offset) != 4 ||
	    *start >= *end)
		return NULL;
	return path;
}

bool lc_before_file_of_line(const char *line, struct lc_before_file *out)
{
	static const char deleted[] = " (deleted)";
	uint64_t start, end, offset;
	char mode[5] = "";
	const char *path = parse(line, &start, &end, &offset, mode), *name;
	size_t len = path ? strcspn(path, "\n") : 0;

	if (len && lc_ends_with(path, len, deleted))
		len -= sizeof(deleted) - 1;
	if (!len || mode[3] != 's' || mode[2] == 'x' || is_of_jvm(path, len))
		return false;
	for (name = path + len; name[-1] != '/'; name--)
		;
	out->addr = start;
	out->size_bytes = end - start;
	snprintf(out->name, sizeof(out->name), "%.*s", (int)(path + len - name), name);
	return true;
}

/* A mapping ends with a whole page: the file may end before it. */
static void cut_to_file(const char *line, struct lc_before_file *file)
{
	uint64_t start, end, offset;
	char path[LINE_MAX_BYTES], mode[5];
	const char *at = parse(line, &start, &end, &offset, mode);
	struct stat is;

	snprintf(path, sizeof(path), "%.*s", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
	if (!stat(path, &is) && (uint64_t)is.st_size > offset &&
	    (uint64_t)is.st_size - offset < file->size_bytes)
		file->size_bytes = (uint64_t)is.st_size - offset;
}

static void find_files(uint32_t path)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[LINE_MAX_BYTES], signature[LC_BLOCK_CLASS_MAX];
	struct lc_before_file file;

	while (maps && fgets(line, sizeof(line), maps)) {
		uint32_t site;

		if (!lc_before_file_of_line(line, &file) ||
		    lc_ranges_owner(file.addr) == LC_RANGE_HEAP)
			continue;
		cut_to_file(line, &file);
		lc_block_class_mapped(file.name, signature);
		site = lc_site_intern(signature, 0, path);
		if (!site)
			continue;
		lc_blocks_before(file.addr, file.size_bytes, site);
		found.files++;
	}
	if (maps)
		fclose(maps);
}

void lc_before_find(JNIEnv *jni, uint32_t path)
{
	found.buffers = found.files = 0;
	if (!path)
		return;
	find_buffers(jni, path);
	find_files(path);
}

static const struct lc_counter counters[] = {
	LC_COUNTER("offheap_before_buffers", &found.buffers),
	LC_COUNTER("offheap_before_files", &found.files),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
