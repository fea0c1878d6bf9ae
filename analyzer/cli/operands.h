/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/operands.h - turns the operands of a command into profiles. A directory that is no profile
 * stands for all profiles below it.
 */
#ifndef LC_CLI_OPERANDS_H
#define LC_CLI_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>

struct lc_operands {
	char **paths;
	bool *found; /* of each path: below an operand; else it is one */
	size_t len, cap, found_cap;
	bool partial; /* a directory below an operand could not be read; a line has said so */
};

/*
 * Find the profiles that `operands` stand for, in their order. One that is no profile and has none
 * below it stands for itself: whoever reads it says what is wrong. Free with lc_operands_free().
 */
void lc_operands_find(struct lc_operands *o, char **operands, size_t count);

/* Append a path that the user has named, of which a copy is kept. */
void lc_operands_add(struct lc_operands *o, const char *path);
void lc_operands_free(struct lc_operands *o);

#endif
