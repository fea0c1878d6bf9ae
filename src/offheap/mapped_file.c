/* SPDX-License-Identifier: Apache-2.0 */
/* offheap/mapped_file.c - reads names of mapped files from /proc. */
#include "src/offheap/mapped_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4352 };

/* Is that the kernel's name of memory of no file, which is shared or in huge pages? */
static bool is_no_file(const char *path)
{
	static const char *const names[] = { "/dev/zero (deleted)", "/anon_hugepage (deleted)" };
	const size_t len = strcspn(path, "\n");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (len == strlen(names[i]) && !memcmp(path, names[i], len))
			return true;
	return false;
}

/* `line`: the path, with or without what /proc/self/maps has before it. */
static bool put_name(const char *line, char out[LC_BLOCK_FILE_MAX])
{
	const char *path = strchr(line, '/');

	snprintf(out, LC_BLOCK_FILE_MAX, "%s",
	         path && !is_no_file(path) ? strrchr(path, '/') + 1 : "");
	out[strcspn(out, "\n")] = '\0';
	return *out;
}

bool lc_mapped_file_ask(uint64_t addr, uint64_t size_bytes, char out[LC_BLOCK_FILE_MAX])
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE),
	               end = (addr + size_bytes + page - 1) / page * page;
	char link[64], path[LINE_MAX_BYTES];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/map_files/%" PRIx64 "-%" PRIx64, addr, end);
	len = readlink(link, path, sizeof(path) - 1);
	if (len <= 0)
		return false;
	path[len] = '\0';
	return put_name(path, out);
}

bool lc_mapped_file_search(uint64_t addr, char out[LC_BLOCK_FILE_MAX])
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[LINE_MAX_BYTES];
	bool found = false;

	while (maps && fgets(line, sizeof(line), maps)) {
		uint64_t start, end;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2 || addr < start ||
		    addr >= end)
			continue;
		found = put_name(line, out);
		break;
	}
	if (maps)
		fclose(maps);
	return found;
}

void lc_mapped_file(uint64_t addr, uint64_t size_bytes, char out[LC_BLOCK_FILE_MAX])
{
	if (!lc_mapped_file_ask(addr, size_bytes, out) && !lc_mapped_file_search(addr, out))
		*out = '\0';
}
