/* repeat/repeat_options.h - options of the commands that run a program several times. */
#ifndef LC_REPEAT_REPEAT_OPTIONS_H
#define LC_REPEAT_REPEAT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/options.h"

enum { LC_REPEAT_RUNS = 10, LC_REPEAT_RUNS_MAX = 1000 };

#define LC_REPEAT_ROW_TIMEOUT                                                                      \
	{                                                                                          \
		"timeout", 0, "DURATION", "TIME", "none", "ns",                                    \
		    "stop a run that has not ended after so long, and leave it out"                \
	}
#define LC_REPEAT_ROW_STDERR                                                                       \
	{                                                                                          \
		"any-stderr", 0, "FLAG", "", "off", "",                                            \
		    "count runs that write to standard error too"                                  \
	}
#define LC_REPEAT_ROW_OUTPUT                                                                       \
	{                                                                                          \
		"any-output", 0, "FLAG", "", "off", "",                                            \
		    "count runs whose output differs from that of the others too"                  \
	}

/* Each returns 0 and sets *out, or an exit status after one line on stderr. */
int lc_repeat_set_flag(const struct lc_option_info *row, const char *value, bool *out);
int lc_repeat_set_count(const struct lc_option_info *row, const char *value, unsigned long max,
                        size_t *out);
int lc_repeat_set_timeout(const char *value, uint64_t *out_ns);

/*
 * A new directory's name for a command that was given none, "PREFIX-20261124-143005", in the
 * `out_len` bytes of `out`. Returns out.
 */
const char *lc_repeat_directory(const char *prefix, char *out, size_t out_len);

#endif
