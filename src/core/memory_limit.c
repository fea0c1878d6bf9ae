/* SPDX-License-Identifier: Apache-2.0 */
/* core/memory_limit.c - finds the limit where none is asked for, and says that it was reached. */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/limit.h"
#include "src/core/memory.h"

#define MIB (UINT64_C(1) << 20)
#define DEFAULT_MAX (256 * MIB)

enum { DEFAULT_PERCENT = 5 };

uint64_t lc_memory_default_of(uint64_t machine_bytes)
{
	const uint64_t part = machine_bytes / 100 * DEFAULT_PERCENT;

	return part && part < DEFAULT_MAX ? part : DEFAULT_MAX;
}

/* A file that has one number; UINT64_MAX where it has none ("max"), or is not there. */
static uint64_t read_number(const char *path)
{
	char text[32];
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (len <= 0 || text[0] < '0' || text[0] > '9')
		return UINT64_MAX;
	text[len] = '\0';
	return strtoull(text, NULL, 10);
}

/* The least limit of the control group at `path` below `root`, and of those around it. */
static uint64_t group_limit(const char *root, char *path, const char *file)
{
	uint64_t least = UINT64_MAX;
	char name[PATH_MAX];

	for (;;) {
		uint64_t bytes;
		char *last = strrchr(path, '/');

		snprintf(name, sizeof(name), "%s%s/%s", root, path, file);
		bytes = read_number(name);
		least = bytes < least ? bytes : least;
		if (!last)
			return least;
		*last = '\0';
	}
}

/* The memory limit of the process's control groups; UINT64_MAX: there is no limit. */
static uint64_t groups_limit(void)
{
	char text[8192], *rest = text, *line;
	const int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	const ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	uint64_t least = UINT64_MAX;

	if (fd >= 0)
		close(fd);
	text[len > 0 ? len : 0] = '\0';
	while ((line = strsep(&rest, "\n"))) {
		char *path = strrchr(line, ':');
		uint64_t bytes = UINT64_MAX;

		if (!path)
			continue;
		if (!strncmp(line, "0::", 3))
			bytes = group_limit("/sys/fs/cgroup", path + 1, "memory.max");
		else if (strstr(line, ":memory:"))
			bytes =
			    group_limit("/sys/fs/cgroup/memory", path + 1, "memory.limit_in_bytes");
		least = bytes < least ? bytes : least;
	}
	return least;
}

uint64_t lc_memory_default_limit(void)
{
	const uint64_t group = groups_limit();
	const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	const uint64_t machine = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;

	return lc_memory_default_of(group < machine ? group : machine);
}

void lc_memory_tell(void)
{
	static const struct {
		const char *kind, *lost;
	} texts[LC_MEMORY_USES] = {
		[LC_MEMORY_RECORDS] = { "memory_records",
		                        "some objects are counted but not tracked; only the class "
		                        "of their samples is known" },
		[LC_MEMORY_SMALL] = { "memory_small",
		                      "some objects of 64 bytes or less are not tracked; only the "
		                      "class of their samples is known" },
		[LC_MEMORY_CONTEXTS] = { "memory_contexts",
		                         "threads share tables of call paths, which takes more "
		                         "time; counts are exact" },
		[LC_MEMORY_COUNTERS] = { "memory_counters",
		                         "some allocations are counted for all threads together; "
		                         "the sites' counts are exact" },
		[LC_MEMORY_COPIES] = { "memory_copies",
		                       "objects that some collections moved are lost; only the "
		                       "class of their samples is known" },
		[LC_MEMORY_BLOCKS] = { "memory_blocks",
		                       "some blocks outside the heap are counted but not tracked; "
		                       "accesses to them have no line, and they count as never "
		                       "freed" },
		[LC_MEMORY_PATHS] = { "memory_paths", "some call paths are empty" },
	};

	for (unsigned i = 0; i < LC_MEMORY_USES; i++)
		if (lc_memory_refused(i))
			(void)lc_limit_reached(texts[i].kind,
			                       "Locus has reached its memory limit (%" PRIu64
			                       " MB, --max-memory): %s",
			                       lc_memory_limited_to() / MIB, texts[i].lost);
}
