/* SPDX-License-Identifier: Apache-2.0 */
/* model/facts.c - gives the facts about a process by which profiles are chosen and grouped. */
#include "analyzer/model/facts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/program_name.h"

#define SECOND_NS UINT64_C(1000000000)

const char *lc_fact_time(char *out, size_t out_len, uint64_t wall_ns)
{
	const time_t seconds = (time_t)(wall_ns / SECOND_NS);
	struct tm t;

	if (!gmtime_r(&seconds, &t) || !strftime(out, out_len, "%Y-%m-%dT%H:%M:%SZ", &t))
		snprintf(out, out_len, "%s", LC_FACT_NONE);
	return out;
}

static char *or_none(const char *text)
{
	return lc_mem_text("%s", text && *text ? text : LC_FACT_NONE);
}

static char *start_of(const struct lc_load_process *p)
{
	char time[32];

	return p->start_wall_ns
	           ? lc_mem_text("%s", lc_fact_time(time, sizeof(time), p->start_wall_ns))
	           : or_none(NULL);
}

static char *process_of(const struct lc_load_process *p)
{
	char *start = start_of(p);
	char *text =
	    lc_mem_text("%" PRId64 "@%s %s", p->pid, *p->host ? p->host : LC_FACT_NONE, start);

	free(start);
	return text;
}

static char *command_of(const struct lc_load_process *p)
{
	const struct lc_text name = lc_program_name(p->command);

	return name.len ? lc_mem_text("%.*s", (int)name.len, name.bytes) : or_none(NULL);
}

char *lc_fact(const struct lc_load_process *p, const char *key)
{
	if (!strcmp(key, "host"))
		return or_none(p->host);
	if (!strcmp(key, "pid"))
		return p->pid ? lc_mem_text("%" PRId64, p->pid) : or_none(NULL);
	if (!strcmp(key, "process"))
		return process_of(p);
	if (!strcmp(key, "command"))
		return command_of(p);
	if (!strcmp(key, "jdk"))
		return or_none(p->jdk);
	if (!strcmp(key, "gc"))
		return or_none(p->gc);
	if (!strcmp(key, "start"))
		return start_of(p);
	return or_none(json_string_value(json_object_get(p->labels, key)));
}

static bool is_among(const char *key, char *const *keys, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strcmp(keys[i], key))
			return true;
	return false;
}

bool lc_fact_fits_where(const struct lc_where_terms *w, const struct lc_load_process *p,
                        char *const *but, size_t but_len)
{
	bool fits = true;

	for (size_t i = 0; w && i < w->len && fits; i++) {
		const char *key = w->list[i].key;
		char *value;

		if (is_among(key, but, but_len))
			continue;
		value = lc_fact(p, key);
		fits =
		    lc_where_value_fits(w, key, value, strcmp(key, "command") ? NULL : p->command);
		free(value);
	}
	return fits;
}
