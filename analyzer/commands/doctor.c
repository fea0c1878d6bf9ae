/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/doctor.c - runs `locus doctor`, which says whether profiling will work here, and how
 * well.
 *
 * Each check is one line: its name, how it stands, what was found, and what to do about it.
 */
#include "analyzer/commands/doctor.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/cli/args.h"
#include "analyzer/cli/command.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/json.h"

enum row { ROW_JSON, ROW_OUTPUT, ROW_JAVA, ROW_COUNT };

static const struct lc_option_info rows[ROW_COUNT] = {
	[ROW_JSON] = { "json", 0, "FLAG", "", "off", "", "write JSON" },
	[ROW_OUTPUT] = { "output", 'o', "STRING", "DIR", "", "",
	                 "directory to check for writing profiles; default: the current one" },
	[ROW_JAVA] = { "java", 0, "STRING", "FILE", "", "",
	               "java to check; default: those of PATH and JAVA_HOME" },
};

const struct lc_option_info *lc_cmd_doctor_options(size_t *count)
{
	*count = ROW_COUNT;
	return rows;
}

static const char *status_name(enum lc_doctor_status status)
{
	static const char *const names[] = { "ok", "limited", "missing" };

	return names[status];
}

static void print_text(const struct lc_doctor *d)
{
	int width = 0;

	for (size_t i = 0; i < d->len; i++)
		if ((int)strlen(d->check[i].name) > width)
			width = (int)strlen(d->check[i].name);
	for (size_t i = 0; i < d->len; i++) {
		const struct lc_doctor_check *c = &d->check[i];

		printf("%-*s  %-7s  ", width, c->name, status_name(c->status));
		lc_emit_text_c(stdout, c->value);
		if (c->advice[0]) {
			fputs("; ", stdout);
			lc_emit_text_c(stdout, c->advice);
		}
		putchar('\n');
	}
	if (lc_doctor_works(d))
		printf("\nProfiling works here; -e auto uses the engine '%s'.\n", d->engine);
	else
		puts("\nProfiling does not work here: see what is missing above.");
}

static void print_json(const struct lc_doctor *d)
{
	struct lc_json j;

	lc_json_init(&j, stdout);
	lc_json_object(&j, NULL);
	lc_json_u64(&j, "format", 1);
	lc_json_bool(&j, "works", lc_doctor_works(d));
	lc_json_string(&j, "engine", d->engine);
	lc_json_array(&j, "checks");
	putchar('\n');
	for (size_t i = 0; i < d->len; i++) {
		lc_json_line(&j, 0);
		lc_json_object(&j, NULL);
		lc_json_string(&j, "name", d->check[i].name);
		lc_json_string(&j, "status", status_name(d->check[i].status));
		lc_json_string(&j, "value", d->check[i].value);
		lc_json_string(&j, "advice", d->check[i].advice);
		lc_json_end_object(&j);
	}
	putchar('\n');
	lc_json_end_array(&j);
	lc_json_end_object(&j);
	lc_json_finish(&j);
	putchar('\n');
}

static void examine(struct lc_doctor *d, const char *output, const char *java)
{
	lc_doctor_kernel(d, "");
	lc_doctor_paranoid(d, "");
	lc_doctor_seccomp(d, "", lc_doctor_refusal());
	lc_doctor_mlock(d, "");
	lc_doctor_pmu(d, "");
	lc_doctor_memory_events(d);
	lc_doctor_aux_event(d, "");
	lc_doctor_debug_registers(d);
	lc_doctor_software_events(d);
	lc_doctor_timer(d);
	lc_doctor_calls(d);
	lc_doctor_libraries(d);
	lc_doctor_jdks(d, java);
	lc_doctor_numa(d, "");
	lc_doctor_disk(d, output);
}

int lc_cmd_doctor(int argc, char **argv)
{
	static struct lc_doctor d;
	struct lc_args args = { .argc = argc, .argv = argv, .next = 1 };
	const char *value, *output = ".", *java = NULL;
	bool json = false;
	int row;

	args.table = lc_cmd_doctor_options(&args.count);
	while ((row = lc_args_next(&args, &value)) >= 0) {
		if (row == ROW_JSON)
			json = true;
		else if (row == ROW_OUTPUT)
			output = value;
		else
			java = value;
	}
	if (row == LC_ARGS_ERROR)
		return LC_EXIT_USAGE;
	if (row == LC_ARGS_HELP || row == LC_ARGS_VERSION)
		return lc_answer(row, "doctor");
	if (row == LC_ARGS_OPERAND)
		return lc_usage("doctor: unexpected argument '%.64s'; 'locus help doctor' lists "
		                "the options",
		                value);
	examine(&d, output, java);
	if (json)
		print_json(&d);
	else
		print_text(&d);
	return lc_doctor_works(&d) ? 0 : 1;
}
