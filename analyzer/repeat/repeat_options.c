/* SPDX-License-Identifier: Apache-2.0 */
/* repeat/repeat_options.c - reads the values of the options of repeated runs. */
#include "analyzer/repeat/repeat_options.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analyzer/base/fail.h"
#include "analyzer/cli/args.h"
#include "analyzer/cli/report_command.h"

int lc_repeat_set_count(const struct lc_option_info *row, const char *value, unsigned long max,
                        size_t *out)
{
	unsigned long number;

	if (lc_args_number(value, max, &number) || !number)
		return lc_usage("--%s: '%.64s' is not a number of %s from 1 to %lu", row->name,
		                value, row->unit, max);
	*out = number;
	return 0;
}

/* The limits are those of --duration. */
int lc_repeat_set_timeout(const char *value, uint64_t *out_ns)
{
	struct lc_options o;
	char error[256];

	lc_options_init(&o);
	if (lc_options_set(&o, "duration", value, error, sizeof(error)))
		return lc_usage(
		    "--timeout: '%.64s' is not a duration from 1ms to 1000000s, such as 90s",
		    value);
	*out_ns = o.duration_ns;
	return 0;
}

const char *lc_repeat_directory(const char *prefix, char *out, size_t out_len)
{
	const time_t now = time(NULL);
	struct tm local;
	char text[32];

	strftime(text, sizeof(text), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
	snprintf(out, out_len, "%s-%s", prefix, text);
	return out;
}

/* ---- the command line ---- */

#define OUTPUT "output"

size_t lc_repeat_rows(struct lc_option_info *rows, const struct lc_option_info *output,
                      const struct lc_option_info *own, size_t own_len)
{
	size_t count;
	const struct lc_option_info *table = lc_option_table(&count);

	memcpy(rows, table, count * sizeof(*table));
	for (size_t i = 0; i < count; i++)
		if (!strcmp(rows[i].name, OUTPUT))
			rows[i] = *output;
	memcpy(rows + count, own, own_len * sizeof(*own));
	return count + own_len;
}

static int set_of_agent(struct lc_repeat_line *l, const struct lc_option_info *row,
                        const char *value)
{
	char error[256];

	l->for_runs = row->name;
	if (!strcmp(row->name, OUTPUT)) {
		if (!*value)
			return lc_usage("--" OUTPUT ": name a directory");
		l->directory = value;
		return 0;
	}
	if (lc_options_set(l->options, row->name, value, error, sizeof(error)))
		return lc_usage("%s", error);
	return 0;
}

int lc_repeat_parse(struct lc_repeat_line *l, int argc, char **argv)
{
	struct lc_args args = {
		.argc = argc, .argv = argv, .next = 1, .table = l->rows, .count = l->rows_len
	};
	const int agent = (int)(l->rows_len - l->own_len);
	const char *value;
	int row, status = 0;

	while (!status && (row = lc_args_next(&args, &value)) != LC_ARGS_END) {
		if (row == LC_ARGS_ERROR)
			return LC_EXIT_USAGE;
		if (row == LC_ARGS_HELP || row == LC_ARGS_VERSION)
			return row;
		if (row == LC_ARGS_OPERAND && args.operands_only) {
			l->command = argv + args.next - 1;
			break;
		}
		if (row == LC_ARGS_OPERAND)
			l->operands[l->operands_len++] = argv[args.next - 1];
		else if (row < agent)
			status = set_of_agent(l, &l->rows[row], value);
		else
			status = l->set(l->context, row - agent, value);
	}
	return status;
}
