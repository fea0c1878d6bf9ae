/* SPDX-License-Identifier: Apache-2.0 */
/* mcp/mcp_next.h - suggests what to record next. */
#ifndef LC_MCP_MCP_NEXT_H
#define LC_MCP_MCP_NEXT_H

#include <jansson.h>

/* Options with reasons, from the report of a profile in JSON. `profile` is its path. */
json_t *lc_mcp_next(const json_t *report, const char *profile);

#endif
