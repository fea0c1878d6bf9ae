/* uses: analyzer/mcp/mcp.c analyzer/mcp/mcp_tools.c analyzer/mcp/mcp_profile.c analyzer/mcp/mcp_next.c analyzer/base/memory.c -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_mcp.c - answers any bytes as a request: an answer is one line of JSON in printable ASCII,
 * and no command is run for a directory outside the root.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/mcp/mcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The last word is the profile, or the root of a list. */
static void run(char *const *command, struct lc_mcp_output *out)
{
	const char *last = NULL;

	for (; *command; command++)
		last = *command;
	if (!last || strcmp(last, "/proc/sys/kernel/random") != 0)
		abort();
	out->text = lc_mem_text("{\"samples\":{\"total\":1},\"ranking\":{\"rows\":[{}]},\"code\":"
	                        "{\"lines\":[{}]},\"profiles\":[{}]}");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[] = "/proc/sys/kernel/random", *roots[] = { path };
	const struct lc_mcp server = {
		.roots = roots, .roots_len = 1, .self = "locus", .run = run
	};
	char *answer = lc_mcp_answer(&server, (const char *)data, size);
	json_t *json = answer ? json_loads(answer, JSON_REJECT_DUPLICATES, NULL) : NULL;

	for (const char *c = answer; c && *c; c++)
		if (*c < ' ' || *c >= 0x7f)
			abort();
	if (answer && (!json_object_get(json, "id") ||
	               !json_object_get(json, "result") == !json_object_get(json, "error")))
		abort();
	json_decref(json);
	free(answer);
	return 0;
}
