/* SPDX-License-Identifier: Apache-2.0 */
/* delay/delay_result.c - prints the object, and renames the file when it is whole. */
#include "src/delay/delay_result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void print_text(FILE *f, const char *s)
{
	putc('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if ((unsigned char)*s < ' ')
			fprintf(f, "\\u%04x", (unsigned)*s);
		else
			putc(*s, f);
	}
	putc('"', f);
}

static void print_delay(FILE *f, const struct lc_delay_options *o, size_t i,
                        const struct lc_delay_result *r, const int64_t *executions)
{
	fprintf(f, "%s\n  {\"method\": ", i ? "," : "");
	print_text(f, o->asked[i]);
	fprintf(f, ", \"iterations\": %" PRIu32 ", \"state\": ", o->delays[i].iterations);
	print_text(f, lc_delay_state_text(r->state));
	fprintf(f, ", \"methods\": %" PRIu32 ", \"returns\": %" PRIu32 ", \"executions\": ",
	        r->methods[LC_DELAY_IN_PLACE], r->returns);
	if (executions)
		fprintf(f, "%" PRId64 "}", executions[i]);
	else
		fputs("null}", f);
}

static void print(FILE *f, const struct lc_delay_options *o, const struct lc_delay_result *results,
                  const int64_t *executions, const struct lc_delay_times *t)
{
	/* In picoseconds: a number with a point depends on the locale. */
	const uint64_t ps = (uint64_t)(t->ns_per_iteration * 1000 + 0.5);

	fprintf(f,
	        "{\"format\": 1, \"java_cpu_ns\": %" PRIu64 ", \"process_cpu_ns\": %" PRIu64
	        ", \"ns_per_iteration\": %" PRIu64 ".%03" PRIu64 ",\n \"delays\": [",
	        t->java_cpu_ns, t->process_cpu_ns, ps / 1000, ps % 1000);
	for (size_t i = 0; i < o->len; i++)
		print_delay(f, o, i, &results[i], executions);
	fputs("\n ]}\n", f);
}

int lc_delay_result_write(const struct lc_delay_options *o, const struct lc_delay_result *results,
                          const int64_t *executions, const struct lc_delay_times *times)
{
	char *beside = NULL;
	int err = 0;
	FILE *f;

	if (asprintf(&beside, "%s.tmp", o->out) < 0)
		return -ENOMEM;
	f = fopen(beside, "we");
	if (!f) {
		err = -errno;
		free(beside);
		return err;
	}
	print(f, o, results, executions, times);
	err = ferror(f) ? -EIO : 0;
	if (fclose(f) && !err)
		err = -errno;
	if (!err && rename(beside, o->out))
		err = -errno;
	if (err)
		unlink(beside);
	free(beside);
	return err;
}
