/* SPDX-License-Identifier: Apache-2.0 */
/* agree/agree_profilers.c - finds the profilers, and sets the environment and command of a run. */
#include "analyzer/agree/agree_profilers.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/agree/agree_async.h"
#include "analyzer/agree/agree_tool.h"
#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/cli/libraries.h"
#include "analyzer/commands/agent_setting.h"
#include "analyzer/commands/child.h"
#include "analyzer/repeat/repeat_record.h"

#define TOOL_OPTIONS "JAVA_TOOL_OPTIONS"
/* Samples a second; no divisor of what programs and kernels do regularly. */
#define PERF_RATE "99"

/* ---- finding them ---- */

/* The program of that name beside the java of the command, or of PATH. */
static bool find_of_jdk(const char *name, char *const *command, char *out)
{
	char java[PATH_MAX], real[PATH_MAX];
	const char *word = command[0], *base = strrchr(word, '/');

	base = base ? base + 1 : word;
	if (!lc_child_find(strcmp(base, "java") ? "java" : word, java, sizeof(java)) ||
	    !realpath(java, real))
		return lc_child_find(name, out, PATH_MAX);
	snprintf(out, PATH_MAX, "%.*s/%s", (int)(sizeof(real) - 32), dirname(real), name);
	return access(out, X_OK) == 0 || lc_child_find(name, out, PATH_MAX);
}

static void find_locus(struct lc_agree_machine *m, struct lc_agree_side *side)
{
	char error[LC_LIBRARIES_ERROR_MAX];

	if (lc_libraries_find("liblocus.so", m->locus, error) ||
	    lc_libraries_find("liblocus-preload.so", m->preload, error))
		side->absent = lc_mem_text("%s", error);
	else
		side->about = lc_mem_text("Locus " LC_VERSION);
}

static void find_jfr(struct lc_agree_machine *m, struct lc_agree_side *side, char *const *command)
{
	if (!find_of_jdk("jfr", command, m->jfr))
		side->absent = lc_mem_text("no 'jfr' is beside java or on PATH");
	else
		side->about = lc_mem_text(
		    "JFR, settings=profile%s",
		    side->kind == LC_AGREE_JFR_DEBUG ? ", -XX:+DebugNonSafepoints" : "");
}

/* It is there, and may record what runs on the CPU: that is tried. */
static void find_perf(struct lc_agree_side *side, const char *directory)
{
	char *data = lc_mem_text("%s/perf.data", directory);
	char *said = lc_mem_text("%s/perf.stderr", directory);
	char *version = lc_mem_text("%s/perf.version", directory), path[PATH_MAX], *line = NULL;
	const char *const record[] = { "perf", "record", "-q", "-e",   "cpu-clock",
		                       "-o",   data,     "--", "true", NULL };
	const char *const ask[] = { "perf", "--version", NULL };

	if (!lc_child_find("perf", path, sizeof(path))) {
		side->absent = lc_mem_text("no 'perf' is on PATH");
	} else if (!lc_agree_tool(record, NULL, said)) {
		line = lc_agree_first_line(said);
		side->absent =
		    lc_mem_text("perf cannot record here: %s", line ? line : "it failed");
	} else if (lc_agree_tool(ask, version, NULL)) {
		line = lc_agree_first_line(version);
		side->about =
		    lc_mem_text("%s, cpu-clock; no inlined methods", line ? line : "perf");
	}
	unlink(data);
	unlink(said);
	unlink(version);
	free(line);
	free(version);
	free(said);
	free(data);
}

static void find_own(struct lc_agree_side *side)
{
	char path[PATH_MAX];

	if (!lc_child_find(side->command, path, sizeof(path)))
		side->absent = lc_mem_text("there is no program '%s'", side->command);
	else
		side->about = lc_mem_text("%s", side->command);
}

void lc_agree_find_profiler(struct lc_agree_machine *m, struct lc_agree_side *side,
                            const char *async_file, const char *directory, char *const *command)
{
	switch (side->kind) {
	case LC_AGREE_LOCUS:
		find_locus(m, side);
		break;
	case LC_AGREE_ASYNC:
		lc_agree_find_async(m, side, async_file, directory);
		break;
	case LC_AGREE_JFR:
	case LC_AGREE_JFR_DEBUG:
		find_jfr(m, side, command);
		break;
	case LC_AGREE_PERF:
		find_perf(side, directory);
		break;
	case LC_AGREE_OWN:
		find_own(side);
		break;
	default:
		break;
	}
}

/* ---- a run ---- */

static void set_or_unset(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

void lc_agree_restore(const struct lc_agree_machine *m)
{
	set_or_unset("LD_PRELOAD", m->preloaded);
	set_or_unset(TOOL_OPTIONS, m->tool_options);
	unsetenv(LC_LAUNCH_VARIABLE);
}

/* Options of the JVM that a side's runs have; NULL: none. The caller frees it. */
static char *jvm_options(const struct lc_agree_machine *m, const struct lc_agree_side *side,
                         const char *directory)
{
	switch (side->kind) {
	case LC_AGREE_ASYNC:
		return lc_mem_text("-agentpath:%s=start,event=cpu,collapsed,ann,loglevel=none,"
		                   "file=%s/" LC_REPEAT_PROFILE "%%p",
		                   m->async, directory);
	case LC_AGREE_JFR:
	case LC_AGREE_JFR_DEBUG:
		return lc_mem_text(
		    "-XX:StartFlightRecording:settings=profile,filename=%s/" LC_REPEAT_PROFILE
		    "%%p.jfr -Xlog:jfr+startup=off%s",
		    directory,
		    side->kind == LC_AGREE_JFR_DEBUG
		        ? " -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints"
		        : "");
	case LC_AGREE_PERF:
		return lc_mem_text("-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit "
		                   "-XX:+PreserveFramePointer");
	default:
		return NULL;
	}
}

static void add_tool_options(const struct lc_agree_machine *m, const char *options,
                             const struct lc_agree_begin *begin)
{
	char *text;
	size_t len;
	FILE *out;

	if (!options && !begin->delays)
		return;
	out = lc_text_open(&text, &len);
	if (m->tool_options)
		fprintf(out, "%s ", m->tool_options);
	if (options)
		fprintf(out, "%s ", options);
	if (begin->delays)
		fprintf(out, "-agentpath:%s=out=%s/" LC_AGREE_DELAY_FILE ",%s", m->delay,
		        begin->directory, begin->delays);
	lc_mem_close_text(out);
	setenv(TOOL_OPTIONS, text, 1);
	free(text);
}

static int launch_locus(struct lc_agree_machine *m, const char *directory)
{
	char *output = lc_mem_text("%s/" LC_REPEAT_PROFILE "%%p", directory), *argument = NULL;
	char error[256];
	int status = 0;

	if (lc_options_set(&m->options, "output", output, error, sizeof(error)))
		status = lc_usage("%s", error);
	else if (lc_agent_preload(m->preload) || lc_agent_launch(m->locus, &m->options, &argument))
		status = LC_EXIT_TOOL;
	free(argument);
	free(output);
	return status;
}

char **lc_agree_launch(struct lc_agree_machine *m, const struct lc_agree_side *side,
                       const struct lc_agree_begin *begin, char **command, char **own)
{
	const char *perf[] = { "perf",    "record", "-q", "-e", "cpu-clock", "-F",
		               PERF_RATE, "-g",     "-o", NULL, "--" };
	const size_t perf_len = sizeof(perf) / sizeof(*perf);
	char **words, *options;
	size_t count = 0, len = 0;

	lc_agree_restore(m);
	if (side->kind == LC_AGREE_LOCUS && launch_locus(m, begin->directory))
		return NULL;
	options = jvm_options(m, side, begin->directory);
	add_tool_options(m, options, begin);
	free(options);
	while (command[count])
		count++;
	words = lc_mem_zeroed(count + perf_len + 1, sizeof(*words));
	*own = NULL;
	if (side->kind == LC_AGREE_PERF) {
		*own = lc_mem_text("%s/" LC_REPEAT_PROFILE "perf", begin->directory);
		memcpy(words, perf, sizeof(perf));
		words[perf_len - 2] = *own;
		len = perf_len;
	} else if (side->kind == LC_AGREE_OWN) {
		*own = lc_mem_text("%s/" LC_REPEAT_PROFILE "own", begin->directory);
		words[len++] = side->command;
		words[len++] = *own;
	}
	memcpy(words + len, command, count * sizeof(*words));
	return words;
}
