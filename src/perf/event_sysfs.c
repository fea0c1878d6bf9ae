/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf/event_sysfs.c - reads which CPU and which PMUs there are, and the formats of config words.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/perf/event_impl.h"

/* Intel's models as /proc/cpuinfo numbers them (family 6), by what libpfm4 calls their core PMU. */
static const struct {
	uint16_t model;
	const char *pmu;
} intel_models[] = {
	{ 0x2a, "snb" },     { 0x2d, "snb_ep" },  { 0x3a, "ivb" },     { 0x3e, "ivb_ep" },
	{ 0x3c, "hsw" },     { 0x45, "hsw" },     { 0x46, "hsw" },     { 0x3f, "hsw_ep" },
	{ 0x3d, "bdw" },     { 0x47, "bdw" },     { 0x4f, "bdw_ep" },  { 0x56, "bdw_ep" },
	{ 0x4e, "skl" },     { 0x5e, "skl" },     { 0x8e, "skl" },     { 0x9e, "skl" },
	{ 0xa5, "skl" },     { 0xa6, "skl" },     { 0x55, "skx" },     { 0x7d, "icl" },
	{ 0x7e, "icl" },     { 0x8c, "icl" },     { 0x8d, "icl" },     { 0xa7, "icl" },
	{ 0x6a, "icx" },     { 0x6c, "icx" },     { 0x8f, "spr" },     { 0xcf, "emr" },
	{ 0xad, "gnr" },     { 0xae, "gnr" },     { 0x97, "adl_glc" }, { 0x9a, "adl_glc" },
	{ 0xb7, "adl_glc" }, { 0xba, "adl_glc" }, { 0xbf, "adl_glc" },
};

/* The models that have presets, and how their events are called. */
static const struct lc_event_model models[] = {
	{ "hsw", true, false },     { "hsw_ep", true, false }, { "bdw", true, false },
	{ "bdw_ep", true, false },  { "skl", false, false },   { "skx", false, false },
	{ "clx", false, false },    { "icl", false, false },   { "icx", false, false },
	{ "spr", false, true },     { "emr", false, true },    { "gnr", false, false },
	{ "adl_glc", false, true },
};

const struct lc_event_model *lc_event_model(const char *pmu)
{
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (strcmp(models[i].pmu, pmu) == 0)
			return &models[i];
	return NULL;
}

int lc_event_read_file(const char *directory, const char *name, char *out, size_t out_len)
{
	char path[LC_EVENT_PATH_MAX + 64];
	ssize_t len;
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = read(fd, out, out_len - 1);
	if (len < 0)
		err = -errno;
	close(fd);
	if (err)
		return err;
	out[len] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return 0;
}

int lc_event_read_number(const char *directory, const char *name, uint64_t *out)
{
	char text[64] = "";
	int err = lc_event_read_file(directory, name, text, sizeof(text));

	if (err)
		return err;
	return lc_event_number(text, out) ? 0 : -EINVAL;
}

bool lc_event_format_has(const char *directory, const char *name)
{
	uint64_t words[3] = { 0 };

	return lc_event_format_put(directory, name, 0, words) == 0;
}

/* Parse "7" or "0-7" at *text and step over it. Returns false where it is neither. */
static bool take_range(const char **text, unsigned long *low, unsigned long *high)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	*low = *high = strtoul(*text, &end, 10);
	if (*end == '-') {
		*text = end + 1;
		if (**text < '0' || **text > '9')
			return false;
		*high = strtoul(*text, &end, 10);
	}
	*text = end;
	return *low <= *high && *high < 64;
}

/* Put the low bits of `value`, as many as the ranges hold, to the bits that the ranges name. */
static int put_bits(const char *ranges, uint64_t value, uint64_t *word)
{
	unsigned long low, high;
	uint64_t result = *word;

	do {
		if (!take_range(&ranges, &low, &high))
			return -EINVAL;
		for (unsigned long bit = low; bit <= high; bit++, value >>= 1)
			result = (result & ~(UINT64_C(1) << bit)) | (value & 1) << bit;
	} while (*ranges++ == ',');
	if (ranges[-1])
		return -EINVAL;
	if (value)
		return -ERANGE;
	*word = result;
	return 0;
}

int lc_event_format_put(const char *directory, const char *name, uint64_t value, uint64_t words[3])
{
	static const char *const prefixes[] = { "config:", "config1:", "config2:" };
	char text[256] = "", file[64];
	int err;

	snprintf(file, sizeof(file), "format/%s", name);
	err = lc_event_read_file(directory, file, text, sizeof(text));
	if (err)
		return err;
	for (size_t i = 0; i < 3; i++)
		if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0)
			return put_bits(text + strlen(prefixes[i]), value, &words[i]);
	return -EINVAL;
}

/* The value behind "NAME : " in a line of /proc/cpuinfo, or NULL. */
static const char *cpuinfo_value(const char *line, const char *name)
{
	size_t len = strlen(name);

	if (strncmp(line, name, len) != 0)
		return NULL;
	line += len + strspn(line + len, " \t");
	return *line == ':' ? line + 1 + strspn(line + 1, " \t") : NULL;
}

static void read_cpuinfo(const char *root, struct lc_event_host *host)
{
	char path[LC_EVENT_PATH_MAX], line[1024];
	unsigned stepping = 0;
	const char *value;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	f = fopen(path, "re");
	if (!f)
		return;
	/* The first CPU stands for all of them; an empty line ends its part. */
	while (fgets(line, sizeof(line), f) && line[0] != '\n') {
		line[strcspn(line, "\n")] = '\0';
		if ((value = cpuinfo_value(line, "vendor_id"))) {
			if (strcmp(value, "GenuineIntel") == 0)
				host->vendor = LC_VENDOR_INTEL;
			else if (!strcmp(value, "AuthenticAMD") || !strcmp(value, "HygonGenuine"))
				host->vendor = LC_VENDOR_AMD;
		} else if ((value = cpuinfo_value(line, "cpu family"))) {
			host->family = (unsigned)strtoul(value, NULL, 10);
		} else if ((value = cpuinfo_value(line, "model"))) {
			host->model = (unsigned)strtoul(value, NULL, 10);
		} else if ((value = cpuinfo_value(line, "stepping"))) {
			stepping = (unsigned)strtoul(value, NULL, 10);
		}
	}
	fclose(f);
	if (host->vendor != LC_VENDOR_INTEL || host->family != 6)
		return;
	for (size_t i = 0; i < sizeof(intel_models) / sizeof(intel_models[0]); i++)
		if (intel_models[i].model == host->model)
			snprintf(host->pmu, sizeof(host->pmu), "%s", intel_models[i].pmu);
	/* Cascade Lake and Cooper Lake are later steppings of Skylake-X. */
	if (host->model == 0x55 && stepping >= 5)
		snprintf(host->pmu, sizeof(host->pmu), "clx");
}

/* Is there a PMU `name`? If so, `out` is its directory. */
static bool find_pmu(const char *root, const char *name, char *out)
{
	uint64_t type;

	snprintf(out, LC_EVENT_PATH_MAX, "%s/sys/bus/event_source/devices/%s", root, name);
	return lc_event_read_number(out, "type", &type) == 0;
}

void lc_event_host_read(const struct lc_event_machine *machine, struct lc_event_host *out)
{
	const char *root = machine->root ? machine->root : "";

	memset(out, 0, sizeof(*out));
	if (machine->pmu && !machine->root) {
		out->foreign = true;
		out->has_core_pmu = true;
	} else {
		read_cpuinfo(root, out);
		out->has_core_pmu =
		    find_pmu(root, "cpu_core", out->core) || find_pmu(root, "cpu", out->core);
		out->has_ibs = find_pmu(root, "ibs_op", out->ibs);
	}
	if (machine->pmu) {
		snprintf(out->pmu, sizeof(out->pmu), "%s", machine->pmu);
		out->vendor = lc_event_pmu_vendor(machine->pmu);
	}
}

const char *lc_event_vendor_name(enum lc_event_vendor vendor)
{
	switch (vendor) {
	case LC_VENDOR_INTEL:
		return "Intel's";
	case LC_VENDOR_AMD:
		return "AMD's";
	default:
		return "another vendor's";
	}
}

const char *lc_event_host_engine(const struct lc_event_host *host)
{
	if (host->vendor == LC_VENDOR_INTEL && host->has_core_pmu)
		return "'pebs'";
	return host->vendor == LC_VENDOR_AMD && host->has_ibs ? "'ibs'" : "'timer'";
}
