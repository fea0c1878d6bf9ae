/* SPDX-License-Identifier: Apache-2.0 */
/* commands/agent_setting.c - finds the libraries and writes the options as the agent reads them. */
#include "analyzer/commands/agent_setting.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/cli/libraries.h"
#include "src/perf/event.h"

int lc_agent_library(const char *name, char *out)
{
	char error[LC_LIBRARIES_ERROR_MAX];

	return lc_libraries_find(name, out, error) ? lc_fail("%s", error) : 0;
}

int lc_agent_output(struct lc_options *o)
{
	char cwd[PATH_MAX], path[2 * PATH_MAX], error[256];

	if (o->output[0] == '/')
		return 0;
	if (!getcwd(cwd, sizeof(cwd)))
		return lc_fail("cannot find the current directory: %m");
	snprintf(path, sizeof(path), "%s/%s", cwd, o->output);
	if (lc_options_set(o, "output", path, error, sizeof(error)) != 0)
		return lc_usage("%s", error);
	return 0;
}

int lc_agent_argument(const char *library, const struct lc_options *o, char **out)
{
	char options[LC_OPTIONS_TEXT_MAX];

	if (lc_options_format(o, options, sizeof(options)) < 0)
		return lc_fail("the options are too long");
	*out = lc_mem_text("-agentpath:%s=%s", library, options);
	return 0;
}

int lc_agent_check_events(const struct lc_options *o)
{
	const struct lc_event_machine here = { .root = NULL };
	struct lc_events events;
	char error[512];

	if (lc_event_parse(o->event, &here, &events, error, sizeof(error)) == -EINVAL)
		return lc_usage("event: %s", error);
	return 0;
}

int lc_agent_preload(const char *library)
{
	const char *before = getenv("LD_PRELOAD");
	char *all =
	    lc_mem_text("%s%s%s", before ? before : "", before && *before ? ":" : "", library);
	int status = setenv("LD_PRELOAD", all, 1) ? lc_fail("out of memory") : 0;

	free(all);
	return status;
}

int lc_agent_launch(const char *library, const struct lc_options *o, char **argument)
{
	if (lc_agent_argument(library, o, argument))
		return 1;
	if (!setenv(LC_LAUNCH_VARIABLE, *argument, 1))
		return 0;
	free(*argument);
	return lc_fail("out of memory");
}

int lc_agent_not_started(const char *command, int err, bool forked)
{
	lc_fail("cannot run '%s': %s", command, strerror(err));
	if (!forked)
		return LC_EXIT_TOOL;
	return err == ENOENT ? LC_AGENT_STATUS_NOT_FOUND : LC_AGENT_STATUS_NOT_EXECUTABLE;
}
