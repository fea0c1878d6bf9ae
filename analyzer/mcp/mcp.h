/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp/mcp.h - answers requests of the Model Context Protocol: JSON-RPC 2.0, a message a line.
 *
 * A tool runs a command of this program as a child, so that a damaged profile or a huge report
 * cannot end the server. Names in a profile come from the profiled program, so each result says
 * that its strings are data. All text is ASCII: control characters are escaped.
 */
#ifndef LC_MCP_MCP_H
#define LC_MCP_MCP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	LC_MCP_LINE_MAX = 1 << 20,   /* of a request */
	LC_MCP_RESULT_MAX = 1 << 20, /* of a tool's text */
	LC_MCP_WORDS_MAX = 128,      /* of a command, NULL included */
};

/* The output of a command; both texts are from malloc(). */
struct lc_mcp_output {
	char *text;    /* NULL: the command failed */
	char *problem; /* why; or what it said on standard error beside its text; NULL: nothing */
};

struct lc_mcp {
	char **roots; /* absolute paths without links; profiles outside are refused */
	size_t roots_len;
	bool allow_record;
	const char *self; /* this program */
	/* Run a command that NULL ends. */
	void (*run)(char *const *command, struct lc_mcp_output *out);
};

/*
 * The answer to a line without its newline: one line from malloc(), without a newline; NULL: there
 * is none, since the line is a notification. `line` may be any bytes.
 */
char *lc_mcp_answer(const struct lc_mcp *m, const char *line, size_t len);

/* The answer to a line that is longer than LC_MCP_LINE_MAX. The caller frees it. */
char *lc_mcp_too_long(void);

/* For mcp.c: the list of tools, as "tools/list" has it. */
json_t *lc_mcp_tools(const struct lc_mcp *m);

/*
 * For mcp.c: the result of a tool. Returns NULL where there is no such tool; else an object, or
 * with *problem, from malloc(), what is wrong.
 */
json_t *lc_mcp_call(const struct lc_mcp *m, const char *name, const json_t *arguments,
                    char **problem);

/*
 * For the tools: the absolute path of a profile's directory, from malloc(). NULL with *problem
 * where it is none, lies outside the roots, or is made of links.
 */
char *lc_mcp_profile(const struct lc_mcp *m, const char *name, char **problem);

#endif
