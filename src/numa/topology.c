/* SPDX-License-Identifier: Apache-2.0 */
/* numa/topology.c - reads the files below /sys and /proc that describe the NUMA nodes. */
#include "src/numa/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NODES_DIR "/sys/devices/system/node"

enum {
	TEXT_MAX = 64 << 10, /* of a list or of distances: 8192 CPUs take at most 40 KiB */
	DISTANCE_LOCAL = 10,
};

/* Read a file's text to `out`, which has TEXT_MAX bytes; "" on an error. Returns 0 or -errno. */
__attribute__((format(printf, 3, 4))) static int read_text(char *out, const char *root,
                                                           const char *name, ...)
{
	char path[PATH_MAX];
	ssize_t n = 0;
	size_t len;
	va_list args;
	int fd;

	out[0] = '\0';
	len = (size_t)snprintf(path, sizeof(path), "%s", root);
	if (len >= sizeof(path))
		return -ENAMETOOLONG;
	va_start(args, name);
	vsnprintf(path + len, sizeof(path) - len, name, args);
	va_end(args);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (len = 0; len < TEXT_MAX - 1; len += (size_t)n) {
		n = read(fd, out + len, TEXT_MAX - 1 - len);
		if (n <= 0)
			break;
	}
	out[len] = '\0';
	close(fd);
	return n < 0 ? -EIO : 0;
}

static bool take_number(const char **at, uint32_t limit, uint32_t *out)
{
	uint64_t v = 0;

	if (**at < '0' || **at > '9')
		return false;
	for (; **at >= '0' && **at <= '9'; ++*at) {
		v = v * 10 + (uint64_t)(**at - '0');
		if (v >= limit)
			return false;
	}
	*out = (uint32_t)v;
	return true;
}

int lc_topology_number_list(const char *text, uint32_t limit, struct lc_number_set *set)
{
	memset(set, 0, sizeof(*set));
	if (limit > LC_TOPOLOGY_CPUS)
		return -EINVAL;
	while (*text == ' ' || *text == '\t')
		text++;
	if (!*text || *text == '\n')
		return 0;
	for (;; text++) {
		uint32_t first, last;

		if (!take_number(&text, limit, &first))
			return -EINVAL;
		last = first;
		if (*text == '-') {
			text++;
			if (!take_number(&text, limit, &last) || last < first)
				return -EINVAL;
		}
		for (uint32_t i = first; i <= last; i++)
			set->bits[i / 64] |= UINT64_C(1) << (i % 64);
		if (*text != ',')
			break;
	}
	return !*text || (*text == '\n' && !text[1]) ? 0 : -EINVAL;
}

/* The buffers of lc_topology_read(), which are too large for a stack. */
struct reading {
	const char *root;
	struct lc_topology *t;
	char text[TEXT_MAX];
	struct lc_number_set online;
	struct lc_number_set cpus; /* the CPUs of one node */
	struct lc_number_set allowed;
};

__attribute__((format(printf, 2, 3))) static void complain(struct lc_topology *t, const char *fmt,
                                                           ...)
{
	va_list args;

	if (t->error[0])
		return; /* the first error says most */
	va_start(args, fmt);
	vsnprintf(t->error, sizeof(t->error), fmt, args);
	va_end(args);
}

static int read_online(struct reading *r)
{
	struct lc_topology *t = r->t;
	int err = read_text(r->text, r->root, NODES_DIR "/online");

	if (err) {
		complain(t, "the kernel shows no NUMA nodes (%s: %s)", NODES_DIR "/online",
		         strerror(-err));
		return -ENOENT;
	}
	if (lc_topology_number_list(r->text, LC_TOPOLOGY_NUMBERS, &r->online)) {
		complain(t, "cannot understand the list of NUMA nodes '%.40s'", r->text);
		return -EINVAL;
	}
	for (uint32_t n = 0; n < LC_TOPOLOGY_NUMBERS; n++) {
		if (!lc_topology_number_in(&r->online, n))
			continue;
		if (t->nodes_len == LC_TOPOLOGY_NODES) {
			t->nodes_len = 0;
			complain(t, "more than %d NUMA nodes", LC_TOPOLOGY_NODES);
			return -E2BIG;
		}
		t->rows[n] = (int16_t)t->nodes_len;
		t->nodes[t->nodes_len++].number = n;
	}
	if (!t->nodes_len) {
		complain(t, "no NUMA node is online");
		return -EINVAL;
	}
	return 0;
}

static void read_cpus(struct reading *r, struct lc_topology_node *node)
{
	if (read_text(r->text, r->root, NODES_DIR "/node%u/cpulist", node->number) ||
	    lc_topology_number_list(r->text, LC_TOPOLOGY_CPUS, &r->cpus)) {
		complain(r->t, "the CPUs of node %u are unknown", node->number);
		return;
	}
	for (uint32_t cpu = 0; cpu < LC_TOPOLOGY_CPUS; cpu++) {
		if (!lc_topology_number_in(&r->cpus, cpu))
			continue;
		r->t->node_of_cpu[cpu] = (int16_t)node->number;
		node->cpus++;
	}
}

/* Parse a line such as "Node 0 MemTotal:  16777216 kB". */
static void read_memory(struct reading *r, struct lc_topology_node *node)
{
	const char *at;
	unsigned long long kib;

	if (read_text(r->text, r->root, NODES_DIR "/node%u/meminfo", node->number) ||
	    !(at = strstr(r->text, "MemTotal:")) || sscanf(at, "MemTotal: %llu", &kib) != 1 ||
	    kib > UINT64_MAX >> 10) {
		complain(r->t, "the memory of node %u is unknown", node->number);
		return;
	}
	node->memory_bytes = (uint64_t)kib << 10;
}

static void read_distances(struct reading *r, size_t row)
{
	struct lc_topology *t = r->t;
	const char *at = r->text;
	bool bad = read_text(r->text, r->root, NODES_DIR "/node%u/distance", t->nodes[row].number);

	for (size_t i = 0; i < t->nodes_len && !bad; i++) {
		uint32_t distance = 0;

		at += strspn(at, " \t");
		bad = !take_number(&at, UINT16_MAX, &distance) || distance < DISTANCE_LOCAL;
		t->distance[row][i] = (uint16_t)distance;
	}
	if (!bad && !at[strspn(at, " \t\n")])
		return;
	memset(t->distance[row], 0, sizeof(t->distance[row]));
	complain(t, "the distances of node %u are unknown", t->nodes[row].number);
}

/* Parse the line "Name:\t0-3" of /proc/self/status. Without such a line all numbers are allowed. */
static void read_allowed(struct reading *r, const char *name, uint32_t limit)
{
	const char *at = NULL;
	char *end;

	memset(&r->allowed, 0xff, sizeof(r->allowed));
	if (!read_text(r->text, r->root, "/proc/self/status"))
		at = strstr(r->text, name);
	if (!at)
		return;
	at += strlen(name);
	end = r->text + (at - r->text) + strcspn(at, "\n");
	*end = '\0';
	if (lc_topology_number_list(at, limit, &r->allowed)) {
		complain(r->t, "cannot understand '%s' of /proc/self/status", name);
		memset(&r->allowed, 0xff, sizeof(r->allowed));
	}
}

static void read_limits(struct reading *r)
{
	struct lc_topology *t = r->t;

	read_allowed(r, "Mems_allowed_list:", LC_TOPOLOGY_NUMBERS);
	for (size_t i = 0; i < t->nodes_len; i++)
		t->nodes[i].memory_allowed = t->nodes[i].memory_bytes &&
		                             lc_topology_number_in(&r->allowed, t->nodes[i].number);
	read_allowed(r, "Cpus_allowed_list:", LC_TOPOLOGY_CPUS);
	for (uint32_t cpu = 0; cpu < LC_TOPOLOGY_CPUS; cpu++)
		if (t->node_of_cpu[cpu] >= 0 && lc_topology_number_in(&r->allowed, cpu))
			t->nodes[t->rows[t->node_of_cpu[cpu]]].cpus_allowed = true;
	for (size_t i = 0; i < t->nodes_len; i++)
		t->usable += t->nodes[i].memory_allowed || t->nodes[i].cpus_allowed;
}

static void read_balancing(struct reading *r)
{
	r->t->balancing = -1;
	if (read_text(r->text, r->root, "/proc/sys/kernel/numa_balancing"))
		return;
	if (r->text[0] >= '0' && r->text[0] <= '9')
		r->t->balancing = atoi(r->text) != 0; /* 2: pages move between kinds of memory */
}

int lc_topology_read(const char *root, struct lc_topology *t)
{
	struct reading *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	memset(t, 0, sizeof(*t));
	memset(t->rows, 0xff, sizeof(t->rows));
	memset(t->node_of_cpu, 0xff, sizeof(t->node_of_cpu));
	t->balancing = -1;
	if (!r)
		return err;
	r->root = root;
	r->t = t;
	err = read_online(r);
	for (size_t i = 0; i < t->nodes_len; i++) {
		read_cpus(r, &t->nodes[i]);
		read_memory(r, &t->nodes[i]);
		read_distances(r, i);
	}
	if (!err) {
		read_limits(r);
		read_balancing(r);
	}
	free(r);
	return err;
}

void lc_topology_cpu_list(const struct lc_topology *t, uint32_t node, char *out, size_t out_len)
{
	size_t len = 0;

	if (!out_len)
		return;
	out[0] = '\0';
	for (uint32_t cpu = 0; cpu < LC_TOPOLOGY_CPUS && len < out_len; cpu++) {
		uint32_t first = cpu;

		if (t->node_of_cpu[cpu] != (int)node)
			continue;
		while (cpu + 1 < LC_TOPOLOGY_CPUS && t->node_of_cpu[cpu + 1] == (int)node)
			cpu++;
		len += (size_t)snprintf(out + len, out_len - len, first == cpu ? "%s%u" : "%s%u-%u",
		                        len ? "," : "", first, cpu);
	}
}

uint64_t lc_topology_pages_migrated(const char *root)
{
	static const char name[] = "\nnuma_pages_migrated ";
	char *text = malloc(TEXT_MAX);
	unsigned long long pages = 0;
	const char *at;

	if (text && !read_text(text, root, "/proc/vmstat") && (at = strstr(text, name)))
		pages = strtoull(at + strlen(name), NULL, 10);
	free(text);
	return pages;
}
