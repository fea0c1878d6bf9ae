/* commands/agent_setting.c - finds the libraries and writes the options as the agent reads them. */
#include "analyzer/commands/agent_setting.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/cli/libraries.h"

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
		return lc_fail("cannot tell the current directory: %m");
	snprintf(path, sizeof(path), "%s/%s", cwd, o->output);
	if (lc_options_set(o, "output", path, error, sizeof(error)) != 0)
		return lc_usage("%s", error);
	return 0;
}

int lc_agent_argument(const char *library, const struct lc_options *o, char **out)
{
	char options[8 * LC_OPTION_TEXT_MAX];

	if (lc_options_format(o, options, sizeof(options)) < 0)
		return lc_fail("the options are too long");
	*out = lc_mem_text("-agentpath:%s=%s", library, options);
	return 0;
}
