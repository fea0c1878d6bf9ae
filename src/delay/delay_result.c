/* SPDX-License-Identifier: Apache-2.0 */
/* delay/delay_result.c - prints the object, and renames the file when it is whole. */
#include "src/delay/delay_result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *lc_delay_result_text(enum lc_delay_state state)
{
	static const char *const texts[LC_DELAY_STATES] = {
		[LC_DELAY_NO_CLASS] = "no such class was loaded",
		[LC_DELAY_NO_METHOD] = "no such method",
		[LC_DELAY_ABSTRACT] = "the method is abstract",
		[LC_DELAY_NATIVE] = "the method is native",
		[LC_DELAY_CONSTRUCTOR] = "constructors and initializers of classes are not delayed",
		[LC_DELAY_NO_RETURN] = "the method has no return that can be delayed",
		[LC_DELAY_MALFORMED] = "the method or its class cannot be read",
		[LC_DELAY_TOO_LARGE] = "the method or its class would be too large",
		[LC_DELAY_NO_MEMORY] = "out of memory",
		[LC_DELAY_REFUSED] = "the JVM refused the class",
		[LC_DELAY_IN_PLACE] = "in place",
	};

	return texts[state];
}

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
                        const struct lc_delay_result *r, const struct lc_delay_counts *counts)
{
	fprintf(f, "%s\n  {\"method\": ", i ? "," : "");
	print_text(f, o->asked[i]);
	fprintf(f, ", \"iterations\": %" PRIu32 ", \"every\": %" PRIu32 ", \"state\": ",
	        o->delays[i].iterations, o->delays[i].every);
	print_text(f, lc_delay_result_text(r->state));
	fprintf(f, ", \"methods\": %" PRIu32 ", \"returns\": %" PRIu32,
	        r->methods[LC_DELAY_IN_PLACE], r->returns);
	if (counts)
		fprintf(f, ", \"executions\": %" PRId64 ", \"loops\": %" PRId64 "}",
		        counts[i].executions, counts[i].loops);
	else
		fputs(", \"executions\": null, \"loops\": null}", f);
}

static void print(FILE *f, const struct lc_delay_options *o, const struct lc_delay_result *results,
                  const struct lc_delay_counts *counts, const struct lc_delay_times *t)
{
	/* In picoseconds: a number with a point depends on the locale. */
	const uint64_t ps = (uint64_t)(t->ns_per_iteration * 1000 + 0.5);

	fprintf(f,
	        "{\"format\": 1, \"java_cpu_ns\": %" PRIu64 ", \"process_cpu_ns\": %" PRIu64
	        ", \"ns_per_iteration\": %" PRIu64 ".%03" PRIu64 ",\n \"delays\": [",
	        t->java_cpu_ns, t->process_cpu_ns, ps / 1000, ps % 1000);
	for (size_t i = 0; i < o->len; i++)
		print_delay(f, o, i, &results[i], counts);
	fputs("\n ]}\n", f);
}

int lc_delay_result_write(const struct lc_delay_options *o, const struct lc_delay_result *results,
                          const struct lc_delay_counts *counts, const struct lc_delay_times *times)
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
	print(f, o, results, counts, times);
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
