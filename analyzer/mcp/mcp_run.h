/* SPDX-License-Identifier: Apache-2.0 */
/* mcp/mcp_run.h - runs a command of this program for a tool. */
#ifndef LC_MCP_MCP_RUN_H
#define LC_MCP_MCP_RUN_H

#include "analyzer/mcp/mcp.h"

/*
 * Run the command to its end with limits of time and of output. Its status 3, a damaged profile, is
 * a success.
 */
void lc_mcp_run(char *const *command, struct lc_mcp_output *out);

#endif
