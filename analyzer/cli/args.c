/* SPDX-License-Identifier: Apache-2.0 */
/* cli/args.c - reads a command line by a table of options. */
#include "analyzer/cli/args.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/cli/command.h"
#include "src/base/nearest.h"

enum { ARGS_ROWS_MAX = 64 };

static bool is_flag(const struct lc_option_info *row)
{
	return strcmp(row->type, "FLAG") == 0;
}

/* The agent's own options, which `locus run` takes too, may be switched off: --trace=off. */
static bool is_agents(const struct lc_option_info *row)
{
	size_t count;
	const struct lc_option_info *infos = lc_option_table(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(infos[i].name, row->name) == 0)
			return true;
	return false;
}

static int unknown_long(const struct lc_args *a, const char *name, size_t len)
{
	const char *names[ARGS_ROWS_MAX];
	const char *near;
	char word[64];

	snprintf(word, sizeof(word), "%.*s", (int)len, name);
	for (size_t i = 0; i < a->count && i < ARGS_ROWS_MAX; i++)
		names[i] = a->table[i].name;
	near = lc_nearest(word, names, a->count < ARGS_ROWS_MAX ? a->count : ARGS_ROWS_MAX);
	if (near)
		lc_usage("unknown option '--%s'; did you mean '--%s'?", word, near);
	else
		lc_usage("unknown option '--%s'; '%s help %s' lists them", word, lc_program(),
		         a->argv[0]);
	return LC_ARGS_ERROR;
}

/* The argument of row `row`: `attached` where it is in the same word, else the next word. */
static int with_argument(struct lc_args *a, size_t row, const char *attached, const char **value)
{
	const struct lc_option_info *r = &a->table[row];

	if (!attached && !is_flag(r)) {
		if (a->next >= a->argc) {
			lc_usage("option '--%s' needs a value: %s", r->name, r->argument);
			return LC_ARGS_ERROR;
		}
		attached = a->argv[a->next++];
	}
	if (is_flag(r) && attached && strcmp(attached, "on") != 0 && !is_agents(r)) {
		lc_usage("--%s takes no value", r->name);
		return LC_ARGS_ERROR;
	}
	*value = attached;
	return (int)row;
}

static int next_letter(struct lc_args *a, const char **value)
{
	char letter = *a->cluster++;
	const char *rest = *a->cluster ? a->cluster : NULL;

	if (!rest)
		a->cluster = NULL;
	for (size_t i = 0; i < a->count; i++) {
		if (a->table[i].letter != letter)
			continue;
		if (is_flag(&a->table[i])) {
			*value = NULL;
			return (int)i;
		}
		a->cluster = NULL;
		return with_argument(a, i, rest, value);
	}
	if (letter == 'h')
		return LC_ARGS_HELP;
	if (letter == 'V')
		return LC_ARGS_VERSION;
	lc_usage("unknown option '-%c'; '%s help %s' lists them", letter, lc_program(), a->argv[0]);
	return LC_ARGS_ERROR;
}

int lc_args_next(struct lc_args *a, const char **value)
{
	const char *word, *name;
	size_t len;

	*value = NULL;
	if (a->cluster)
		return next_letter(a, value);
	if (a->next >= a->argc)
		return LC_ARGS_END;
	word = a->argv[a->next++];
	if (!a->operands_only && strcmp(word, "--") == 0) {
		a->operands_only = true;
		return lc_args_next(a, value);
	}
	if (a->operands_only || word[0] != '-' || !word[1]) {
		*value = word;
		return LC_ARGS_OPERAND;
	}
	if (word[1] != '-') {
		a->cluster = word + 1;
		return next_letter(a, value);
	}
	name = word + 2;
	len = strcspn(name, "=");
	for (size_t i = 0; i < a->count; i++)
		if (strlen(a->table[i].name) == len && strncmp(a->table[i].name, name, len) == 0)
			return with_argument(a, i, name[len] ? name + len + 1 : NULL, value);
	if (strcmp(name, "help") == 0)
		return LC_ARGS_HELP;
	return strcmp(name, "version") == 0 ? LC_ARGS_VERSION : unknown_long(a, name, len);
}

int lc_args_read(struct lc_args *a, int (*set)(void *context, int row, const char *value),
                 void *context, char ***operands, size_t *count)
{
	char **found = lc_mem_zeroed((size_t)a->argc, sizeof(*found));
	const char *value;
	int status = 0, row;

	*count = 0;
	while (!status && (row = lc_args_next(a, &value)) != LC_ARGS_END) {
		if (row == LC_ARGS_HELP || row == LC_ARGS_VERSION)
			status = row;
		else if (row == LC_ARGS_ERROR)
			status = LC_EXIT_USAGE;
		else if (row == LC_ARGS_OPERAND)
			found[(*count)++] = (char *)(uintptr_t)value;
		else
			status = set(context, row, value);
	}
	if (status) {
		free(found);
		found = NULL;
	}
	*operands = found;
	return status;
}

int lc_args_number(const char *text, unsigned long max, unsigned long *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*out = strtoul(text, &end, 10);
	return errno || *end || *out > max ? -EINVAL : 0;
}
