/* SPDX-License-Identifier: Apache-2.0 */
/* commands/doctor_machine.c - makes the checks of `locus doctor` that read procfs and sysfs. */
#include "analyzer/commands/doctor.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/file.h"
#include "src/perf/perf.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38 /* Linux 5.8 */
#endif

#define DEVICES "/sys/bus/event_source/devices/"

/* Below this many threads that can be sampled at once by an event, the limit is worth a word. */
enum { FEW_THREADS = 100 };

/* -- checks ------------------------------------------------------------------------------- */

struct lc_doctor_check *lc_doctor_add(struct lc_doctor *d, const char *name,
                                      enum lc_doctor_status status, const char *format, ...)
{
	/* There is room for all; a further one would overwrite the last. */
	struct lc_doctor_check *c =
	    &d->check[d->len < LC_DOCTOR_CHECKS_MAX ? d->len++ : LC_DOCTOR_CHECKS_MAX - 1];
	va_list args;

	c->name = name;
	c->status = status;
	c->advice[0] = '\0';
	va_start(args, format);
	vsnprintf(c->value, sizeof(c->value), format, args);
	va_end(args);
	return c;
}

void lc_doctor_advise(struct lc_doctor_check *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->advice, sizeof(c->advice), format, args);
	va_end(args);
}

const struct lc_doctor_check *lc_doctor_find(const struct lc_doctor *d, const char *name)
{
	for (size_t i = 0; i < d->len; i++)
		if (strcmp(d->check[i].name, name) == 0)
			return &d->check[i];
	return NULL;
}

static bool usable(const struct lc_doctor *d, const char *name)
{
	const struct lc_doctor_check *c = lc_doctor_find(d, name);

	return c && c->status != LC_DOCTOR_MISSING;
}

/* Was it not tried, or with success? */
static bool lives(const struct lc_doctor *d, const char *trial)
{
	return !lc_doctor_find(d, trial) || usable(d, trial);
}

bool lc_doctor_works(const struct lc_doctor *d)
{
	return usable(d, "launcher") && usable(d, "agent") && usable(d, "timer") &&
	       usable(d, "disk") &&
	       ((usable(d, "jdk") && lives(d, "trial")) ||
	        (usable(d, "jdk_home") && lives(d, "trial_home")));
}

/* -- files -------------------------------------------------------------------------------- */

/*
 * Read what follows "NAME" and blanks in /proc/self/FILE. Returns false if there is no such line.
 */
static bool self_line(const char *root, const char *file, const char *name, char *out,
                      size_t out_len)
{
	char path[64], text[8192];
	const char *line = text;
	size_t len;

	snprintf(path, sizeof(path), "/proc/self/%s", file);
	if (!lc_file_text(root, path, text, sizeof(text)))
		return false;
	while (strncmp(line, name, strlen(name)) != 0) {
		line = strchr(line, '\n');
		if (!line)
			return false;
		line++;
	}
	line += strlen(name);
	line += strspn(line, " \t");
	len = strcspn(line, "\n");
	snprintf(out, out_len, "%.*s", (int)len, line);
	return true;
}

static bool capable(const char *root, unsigned capability)
{
	char text[64];

	return self_line(root, "status", "CapEff:", text, sizeof(text)) &&
	       strtoull(text, NULL, 16) >> capability & 1;
}

static bool may_use_perf(const char *root)
{
	return capable(root, CAP_PERFMON) || capable(root, CAP_SYS_ADMIN);
}

/* Members of a list like "0-3,8". */
static unsigned long list_count(const char *list)
{
	unsigned long count = 0, first, last;
	char *end;

	while (*list >= '0' && *list <= '9') {
		first = last = strtoul(list, &end, 10);
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		count += last >= first ? last - first + 1 : 0;
		list = end + (*end == ',');
	}
	return count;
}

/* -- kernel ------------------------------------------------------------------------------- */

void lc_doctor_kernel(struct lc_doctor *d, const char *root)
{
	struct lc_doctor_check *c;
	unsigned major = 0, minor = 0;
	char release[128];

	if (!lc_file_text(root, "/proc/sys/kernel/osrelease", release, sizeof(release)))
		snprintf(release, sizeof(release), "of unknown release");
	c = lc_doctor_add(d, "kernel", LC_DOCTOR_OK, "Linux %s", release);
	if (sscanf(release, "%u.%u", &major, &minor) != 2 || major > 5 ||
	    (major == 5 && minor >= 13))
		return;
	c->status = LC_DOCTOR_LIMITED;
	lc_doctor_advise(c, "with Linux 5.13 or newer the timer also finds addresses whose "
	                    "registers the instruction overwrites");
}

void lc_doctor_paranoid(struct lc_doctor *d, const char *root)
{
	struct lc_doctor_check *c;
	long paranoid;

	if (!lc_file_number(root, "/proc/sys/kernel/perf_event_paranoid", &paranoid)) {
		c = lc_doctor_add(d, "perf_event_paranoid", LC_DOCTOR_MISSING, "not there");
		lc_doctor_advise(c, "this kernel is built without perf events, or /proc hides it: "
		                    "only the timer can work");
		return;
	}
	if (paranoid <= 2) {
		lc_doctor_add(d, "perf_event_paranoid", LC_DOCTOR_OK, "%ld", paranoid);
		return;
	}
	if (may_use_perf(root)) {
		lc_doctor_add(d, "perf_event_paranoid", LC_DOCTOR_OK,
		              "%ld, which does not restrict this user (CAP_PERFMON)", paranoid);
		return;
	}
	c = lc_doctor_add(d, "perf_event_paranoid", LC_DOCTOR_LIMITED, "%ld", paranoid);
	lc_perf_explain(-EACCES, root, c->advice, sizeof(c->advice));
}

void lc_doctor_seccomp(struct lc_doctor *d, const char *root, int refusal)
{
	const bool refused = refusal == EPERM || refusal == ENOSYS;
	struct lc_doctor_check *c;
	char mode[16] = "0";

	self_line(root, "status", "Seccomp:", mode, sizeof(mode));
	if (mode[0] == '0') {
		lc_doctor_add(d, "seccomp", LC_DOCTOR_OK, "no filter");
		return;
	}
	if (!refused) {
		lc_doctor_add(d, "seccomp", LC_DOCTOR_OK, "a filter that permits perf_event_open");
		return;
	}
	c = lc_doctor_add(d, "seccomp", LC_DOCTOR_LIMITED, "a filter that forbids perf_event_open");
	lc_perf_explain(-EPERM, root, c->advice, sizeof(c->advice));
}

void lc_doctor_mlock(struct lc_doctor *d, const char *root)
{
	const unsigned long ring_kb =
	    (1 + (unsigned long)LC_PERF_RING_PAGES) * ((unsigned long)sysconf(_SC_PAGESIZE) / 1024);
	char limit[64] = "", cpus[4096] = "";
	unsigned long limit_kb, threads, cpu_count = 1;
	struct lc_doctor_check *c;
	long per_cpu_kb;

	if (!lc_file_number(root, "/proc/sys/kernel/perf_event_mlock_kb", &per_cpu_kb)) {
		c = lc_doctor_add(d, "mlock", LC_DOCTOR_MISSING,
		                  "no perf_event_mlock_kb, so no memory for perf buffers");
		lc_doctor_advise(c, "this kernel is built without perf events, or /proc hides it");
		return;
	}
	self_line(root, "limits", "Max locked memory", limit, sizeof(limit));
	if (capable(root, CAP_IPC_LOCK) || strncmp(limit, "unlimited", 9) == 0) {
		lc_doctor_add(d, "mlock", LC_DOCTOR_OK, "no limit for this user");
		return;
	}
	if (lc_file_text(root, "/sys/devices/system/cpu/online", cpus, sizeof(cpus)) &&
	    list_count(cpus))
		cpu_count = list_count(cpus);
	limit_kb = strtoul(limit, NULL, 10) / 1024;
	threads = ((unsigned long)per_cpu_kb * cpu_count + limit_kb) / ring_kb;
	c = lc_doctor_add(d, "mlock", LC_DOCTOR_OK,
	                  "perf_event_mlock_kb %ld for each of %lu CPUs, ulimit -l %lu: room for "
	                  "the buffers of %lu threads",
	                  per_cpu_kb, cpu_count, limit_kb, threads);
	if (threads >= FEW_THREADS)
		return;
	c->status = LC_DOCTOR_LIMITED;
	lc_doctor_advise(c, "for programs with more threads raise 'sysctl "
	                    "kernel.perf_event_mlock_kb' or 'ulimit -l'; the timer needs none");
}

/* -- PMU ---------------------------------------------------------------------------------- */

static const char *const core_pmus[] = { "cpu", "cpu_core", "cpu_atom" };
enum { CORE_PMUS = sizeof(core_pmus) / sizeof(core_pmus[0]) };

__attribute__((format(printf, 3, 4))) static void append(char *out, size_t out_len,
                                                         const char *format, ...)
{
	const size_t len = strlen(out);
	va_list args;

	va_start(args, format);
	vsnprintf(out + len, out_len - len, format, args);
	va_end(args);
}

static bool pmu_text(const char *root, const char *pmu, const char *name, char *out, size_t out_len)
{
	char path[256];

	snprintf(path, sizeof(path), DEVICES "%s/%s", pmu, name);
	return lc_file_text(root, path, out, out_len);
}

static bool pmu_has(const char *root, const char *pmu, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), DEVICES "%s/%s", pmu, name);
	return lc_file_exists(root, path);
}

/* The PMU `pmu` in `out`, with those of `names` that its `directory` has. Returns their number. */
static unsigned describe(const char *root, const char *pmu, const char *directory,
                         const char *const *names, char *out, size_t out_len)
{
	char text[64], path[128];
	unsigned found = 0;

	if (!pmu_text(root, pmu, "type", text, sizeof(text)))
		return 0;
	append(out, out_len, "%s%s (type %s", *out ? "; " : "", pmu, text);
	if (pmu_text(root, pmu, "caps/pmu_name", text, sizeof(text)))
		append(out, out_len, ", %s", text);
	if (pmu_text(root, pmu, "caps/max_precise", text, sizeof(text)))
		append(out, out_len, ", precise %s", text);
	append(out, out_len, ")");
	for (; *names; names++) {
		snprintf(path, sizeof(path), "%s/%s", directory, *names);
		if (!pmu_has(root, pmu, path))
			continue;
		append(out, out_len, "%s %s", found ? "," : ":", *names);
		found++;
	}
	return found;
}

void lc_doctor_pmu(struct lc_doctor *d, const char *root)
{
	static const char *const intel[] = { "mem-loads", "mem-stores", "mem-loads-aux", NULL };
	static const char *const amd[] = { "cnt_ctl", "l3missonly", "ldlat", "swfilt", NULL };
	char text[LC_DOCTOR_TEXT_MAX] = "", precise[16];
	bool memory = false;
	struct lc_doctor_check *c;

	for (size_t i = 0; i < CORE_PMUS; i++) {
		describe(root, core_pmus[i], "events", intel, text, sizeof(text));
		if (pmu_text(root, core_pmus[i], "caps/max_precise", precise, sizeof(precise)) &&
		    precise[0] > '0')
			memory = memory || pmu_has(root, core_pmus[i], "events/mem-loads");
	}
	if (pmu_has(root, "ibs_op", "type")) {
		describe(root, "ibs_op", "format", amd, text, sizeof(text));
		memory = true;
	}
	if (!text[0]) {
		c = lc_doctor_add(d, "pmu", LC_DOCTOR_MISSING, "none");
		lc_perf_explain(-ENODEV, root, c->advice, sizeof(c->advice));
		return;
	}
	c = lc_doctor_add(d, "pmu", memory ? LC_DOCTOR_OK : LC_DOCTOR_LIMITED, "%s", text);
	if (!memory)
		lc_doctor_advise(c, "the PMU counts, but has no memory events that sample "
		                    "addresses; many virtual machines have only such a PMU");
}

void lc_doctor_aux_event(struct lc_doctor *d, const char *root)
{
	bool any = false;

	for (size_t i = 0; i < CORE_PMUS; i++) {
		any = any || pmu_has(root, core_pmus[i], "type");
		if (!pmu_has(root, core_pmus[i], "events/mem-loads-aux"))
			continue;
		lc_doctor_add(d, "aux_event", LC_DOCTOR_OK,
		              "mem-loads-aux, which load latency needs, is available");
		return;
	}
	lc_doctor_add(d, "aux_event", LC_DOCTOR_OK,
	              any ? "this PMU does not need mem-loads-aux" : "no PMU needs mem-loads-aux");
}

void lc_doctor_numa(struct lc_doctor *d, const char *root)
{
	struct lc_doctor_check *c;
	unsigned long count;
	char text[4096];

	if (!lc_file_text(root, "/sys/devices/system/node/online", text, sizeof(text))) {
		c = lc_doctor_add(d, "numa", LC_DOCTOR_LIMITED, "unknown");
		lc_doctor_advise(c, "this kernel is built without NUMA support, or /sys hides it");
		return;
	}
	count = list_count(text);
	lc_doctor_add(d, "numa", LC_DOCTOR_OK, "%lu node%s (%.200s)", count, count == 1 ? "" : "s",
	              text);
}
