/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/calibration_file.c - does the statistics of calibrations and keeps their file: see
 * calibration_impl.h.
 *
 * The file is text, a line each for the key, a line each for a cost, and the checksum of all before
 * it. Numbers are whole, since the program's locale may write fractions with a comma.
 */
#include "src/span/calibration_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/format/block.h"

#define MAGIC "locus calibration 1\n"
#define MILLION 1e6

enum { FILE_MAX = 8192 };

const char *lc_calibration_cost_name(enum lc_cost cost)
{
	static const char *const names[LC_COSTS] = {
		"inner",  "anonymous", "primordial", "support", "task",    "task_inner", "flat",
		"pulled", "created",   "submitted",  "entered", "counted", "yardstick"
	};

	return names[cost];
}

/* -- statistics ----------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *sorted, size_t len)
{
	return len % 2 ? sorted[len / 2] : (sorted[len / 2 - 1] + sorted[len / 2]) / 2;
}

/* The median distance from `middle`: merged from both ends, since the values are sorted. */
static double deviation(const double *sorted, size_t len, double middle)
{
	size_t low = 0, high = len;
	double distance = 0;

	/* Drop the farther end until half of them are left. */
	while (high - low > len / 2) {
		double below = fabs(middle - sorted[low]), above = fabs(sorted[high - 1] - middle);

		distance = below > above ? below : above;
		if (below > above)
			low++;
		else
			high--;
	}
	return distance;
}

struct lc_cost_value lc_calibration_summarize(double *values, size_t len)
{
	struct lc_cost_value out = { 0 };
	double middle, limit, sum = 0, squares = 0;

	if (!len)
		return out;
	qsort(values, len, sizeof(*values), by_value);
	middle = median(values, len);
	limit = fmax(3 * deviation(values, len, middle), fabs(middle) / 100);
	for (size_t i = 0; i < len; i++) {
		if (fabs(values[i] - middle) > limit) {
			out.removed++;
			continue;
		}
		out.batches++;
		sum += values[i];
	}
	out.mean = sum / out.batches;
	for (size_t i = 0; i < len; i++)
		if (fabs(values[i] - middle) <= limit)
			squares += (values[i] - out.mean) * (values[i] - out.mean);
	if (out.batches > 1 && out.mean != 0)
		out.variation = sqrt(squares / (out.batches - 1)) / fabs(out.mean);
	out.known = true;
	return out;
}

bool lc_calibration_steady(const struct lc_cost_value *v)
{
	return v->variation <= LC_CALIBRATION_VARIATION_MAX && v->removed <= v->batches;
}

int lc_calibration_repeat(int (*attempt)(void *context, struct lc_cost_value *inner,
                                         struct lc_cost_value *outer),
                          void *context, struct lc_cost_value *inner, struct lc_cost_value *outer)
{
	struct lc_cost_value best[2], now[2];
	bool steady = false;

	for (unsigned i = 0; i < LC_CALIBRATION_ATTEMPTS && !steady; i++) {
		int err = attempt(context, &now[0], &now[1]);

		if (err)
			return err;
		steady = lc_calibration_steady(&now[0]) && lc_calibration_steady(&now[1]);
		if (!i || steady ||
		    fmax(now[0].variation, now[1].variation) <
		        fmax(best[0].variation, best[1].variation))
			memcpy(best, now, sizeof(best));
	}
	*inner = best[0];
	*outer = best[1];
	return 0;
}

void lc_calibration_warn(struct lc_calibration *c, const char *format, ...)
{
	size_t len = strlen(c->warning);
	va_list args;

	if (len)
		len += (size_t)snprintf(c->warning + len, sizeof(c->warning) - len, "; ");
	if (len >= sizeof(c->warning))
		return;
	va_start(args, format);
	vsnprintf(c->warning + len, sizeof(c->warning) - len, format, args);
	va_end(args);
}

void lc_calibration_judge(struct lc_calibration *c)
{
	for (unsigned i = 0; i < LC_COSTS; i++)
		if (c->costs[i].known && !lc_calibration_steady(&c->costs[i]))
			lc_calibration_warn(
			    c,
			    "the cost '%s' varied by %.0f%% between batches, as on a busy machine",
			    lc_calibration_cost_name(i), c->costs[i].variation * 100);
}

/* -- file ----------------------------------------------------------------------------------- */

int lc_calibration_path(const struct lc_calibration_key *key, char *out, size_t out_len)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char all[4 * LC_CALIBRATION_TEXT_MAX];
	uint64_t name;
	int n;

	n = snprintf(all, sizeof(all), "%s\n%s\n%s\n%s", key->cpu, key->jdk, key->agent,
	             key->variant);
	name = lc_checksum(all, n < (int)sizeof(all) ? (size_t)n : sizeof(all) - 1);
	if (cache && cache[0] == '/') /* the specification says to ignore relative ones */
		n = snprintf(out, out_len, "%s/locus/calibration-%016llx", cache,
		             (unsigned long long)name);
	else if (home && home[0] == '/')
		n = snprintf(out, out_len, "%s/.cache/locus/calibration-%016llx", home,
		             (unsigned long long)name);
	else
		return -ENOENT;
	return (size_t)n < out_len ? 0 : -ENAMETOOLONG;
}

static void put(char *text, size_t *len, const char *name, const char *value)
{
	if (*len < FILE_MAX)
		*len += (size_t)snprintf(text + *len, FILE_MAX - *len, "%s %s\n", name, value);
}

/* Everything before the checksum. Returns its length. */
static size_t write_text(char *text, const struct lc_calibration_key *key,
                         const struct lc_calibration *c)
{
	char line[128];
	size_t len = 0;

	len = (size_t)snprintf(text, FILE_MAX, "%s", MAGIC);
	put(text, &len, "cpu", key->cpu);
	put(text, &len, "jdk", key->jdk);
	put(text, &len, "agent", key->agent);
	put(text, &len, "variant", key->variant);
	snprintf(line, sizeof(line), "%llu", (unsigned long long)key->hz);
	put(text, &len, "hz", line);
	for (unsigned i = 0; i < LC_COSTS; i++) {
		const struct lc_cost_value *v = &c->costs[i];

		if (!v->known)
			continue;
		/* Millionths of a cycle, and of one. */
		snprintf(line, sizeof(line), "%lld %lld %lu %lu", llround(v->mean * MILLION),
		         llround(v->variation * MILLION), (unsigned long)v->batches,
		         (unsigned long)v->removed);
		put(text, &len, lc_calibration_cost_name(i), line);
	}
	return len < FILE_MAX ? len : FILE_MAX - 1;
}

/* The value of the line that begins with `name`, in `out`. */
static bool get(const char *text, const char *name, char *out, size_t out_len)
{
	const size_t name_len = strlen(name);

	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		size_t len = strcspn(at, "\n");

		if (len <= name_len || memcmp(at, name, name_len) != 0 || at[name_len] != ' ')
			continue;
		snprintf(out, out_len, "%.*s", (int)(len - name_len - 1), at + name_len + 1);
		return true;
	}
	return false;
}

static bool same(const char *text, const char *name, const char *value)
{
	char found[LC_CALIBRATION_TEXT_MAX];

	return get(text, name, found, sizeof(found)) && !strcmp(found, value);
}

static bool get_cost(const char *line, struct lc_cost_value *out)
{
	long long mean, variation;
	unsigned long batches, removed;
	int end = 0;

	if (sscanf(line, "%lld %lld %lu %lu%n", &mean, &variation, &batches, &removed, &end) != 4 ||
	    line[end] || variation < 0 || !batches || batches > UINT32_MAX || removed > UINT32_MAX)
		return false;
	*out = (struct lc_cost_value){
		.known = true,
		.mean = (double)mean / MILLION,
		.variation = (double)variation / MILLION,
		.batches = (uint32_t)batches,
		.removed = (uint32_t)removed,
	};
	return true;
}

/* Read at most FILE_MAX - 1 bytes and end them with 0. Returns their number or -errno. */
static ssize_t read_all(const char *path, char *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n, len = 0;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, text + len, (size_t)(FILE_MAX - 1 - len))) > 0)
		len += n;
	if (n < 0)
		len = -errno;
	close(fd);
	if (len >= 0)
		text[len] = '\0';
	return len;
}

int lc_calibration_load(const char *path, const struct lc_calibration_key *key,
                        struct lc_calibration *out)
{
	struct lc_cost_value costs[LC_COSTS] = { 0 };
	char text[FILE_MAX] = "", line[LC_CALIBRATION_TEXT_MAX], *sum;
	ssize_t len = read_all(path, text);
	unsigned long long hz;

	if (len < 0)
		return (int)len;
	sum = strstr(text, "\nchecksum ");
	if (strncmp(text, MAGIC, strlen(MAGIC)) != 0 || !sum ||
	    sscanf(sum + 1, "checksum %llx", &hz) != 1 ||
	    hz != lc_checksum(text, (size_t)(sum + 1 - text)))
		return -EBADMSG;
	if (!same(text, "cpu", key->cpu) || !same(text, "jdk", key->jdk) ||
	    !same(text, "agent", key->agent) || !same(text, "variant", key->variant))
		return -ESTALE;
	if (!get(text, "hz", line, sizeof(line)) || sscanf(line, "%llu", &hz) != 1)
		return -EBADMSG;
	if (hz > key->hz + key->hz / 100 || hz < key->hz - key->hz / 100)
		return -ESTALE;
	for (unsigned i = 0; i < LC_COSTS; i++)
		if (get(text, lc_calibration_cost_name(i), line, sizeof(line)) &&
		    !get_cost(line, &costs[i]))
			return -EBADMSG;
	memcpy(out->costs, costs, sizeof(costs));
	return 0;
}

/* Make the directories that `path` is in; the last of them for the user alone, as the cache is. */
static int make_directories(const char *path)
{
	char part[PATH_MAX];

	for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		if ((size_t)snprintf(part, sizeof(part), "%.*s", (int)(at - path), path) >=
		    sizeof(part))
			return -ENAMETOOLONG;
		if (mkdir(part, 0700) && errno != EEXIST)
			return -errno;
	}
	return 0;
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

int lc_calibration_save(const char *path, const struct lc_calibration_key *key,
                        const struct lc_calibration *c)
{
	char text[FILE_MAX + 64], temporary[PATH_MAX];
	size_t len = write_text(text, key, c);
	int fd, err = make_directories(path);

	if (err)
		return err;
	len += (size_t)snprintf(text + len, sizeof(text) - len, "checksum %016llx\n",
	                        (unsigned long long)lc_checksum(text, len));
	if ((size_t)snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >= sizeof(temporary))
		return -ENAMETOOLONG;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = write_all(fd, text, len);
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(temporary, path))
		err = -errno;
	if (err)
		unlink(temporary);
	return err;
}
