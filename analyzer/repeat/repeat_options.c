/* repeat/repeat_options.c - reads the values of those options. */
#include "analyzer/repeat/repeat_options.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analyzer/base/fail.h"
#include "analyzer/cli/report_command.h"

int lc_repeat_set_flag(const struct lc_option_info *row, const char *value, bool *out)
{
	if (value && strcmp(value, "on") != 0)
		return lc_usage("--%s takes no value", row->name);
	*out = true;
	return 0;
}

int lc_repeat_set_count(const struct lc_option_info *row, const char *value, unsigned long max,
                        size_t *out)
{
	unsigned long number;

	if (lc_report_number(value, max, &number) || !number)
		return lc_usage("--%s: '%.64s' is not a number of %s from 1 to %lu", row->name,
		                value, row->unit, max);
	*out = number;
	return 0;
}

/* As long as --duration may be. */
int lc_repeat_set_timeout(const char *value, uint64_t *out_ns)
{
	struct lc_options o;
	char error[256];

	lc_options_init(&o);
	if (lc_options_set(&o, "duration", value, error, sizeof(error)))
		return lc_usage("--timeout: '%.64s' is no length of time from 1ms to 1000000s, as "
		                "90s",
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
