/* SPDX-License-Identifier: Apache-2.0 */
/* event_root.c - makes the /proc and /sys of another machine in a temporary directory. */
#include <assert.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/event_root.h"

static char root[64];

const char *root_make(void)
{
	char *made;

	snprintf(root, sizeof(root), "/tmp/locus-root-XXXXXX");
	made = mkdtemp(root);
	assert(made);
	return made;
}

void root_write(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *p = strchr(full + strlen(root) + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	f = fopen(full, "w");
	assert(f);
	fputs(text, f);
	fclose(f);
}

void root_put(const char *path, const char *text)
{
	char line[1024];
	int len = snprintf(line, sizeof(line), "%s\n", text);

	assert(len < (int)sizeof(line));
	root_write(path, line);
}

void root_put_node(unsigned number, const char *cpus, unsigned long memory_kib,
                   const char *distances)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "sys/devices/system/node/node%u/cpulist", number);
	root_put(path, cpus);
	snprintf(path, sizeof(path), "sys/devices/system/node/node%u/meminfo", number);
	snprintf(text, sizeof(text), "Node %u MemTotal:    %lu kB\nNode %u MemFree:   1 kB", number,
	         memory_kib, number);
	root_put(path, text);
	snprintf(path, sizeof(path), "sys/devices/system/node/node%u/distance", number);
	root_put(path, distances);
}

void root_put_cpu(const char *vendor, unsigned family, unsigned model, unsigned stepping)
{
	char text[1024];
	int len = 0;

	for (int cpu = 0; cpu < 2; cpu++)
		len +=
		    snprintf(text + len, sizeof(text) - (size_t)len,
		             "processor\t: %d\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\n"
		             "model name\t: Some CPU model : 7\nstepping\t: %u\n\n",
		             cpu, vendor, family, model, stepping);
	root_put("proc/cpuinfo", text);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

void root_remove(void)
{
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
