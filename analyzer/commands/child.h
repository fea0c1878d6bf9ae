/*
 * commands/child.h - this module runs a command as our child. It keeps our terminal, standard
 * streams and process group; signals sent to us alone are handed on.
 */
#ifndef LC_COMMANDS_CHILD_H
#define LC_COMMANDS_CHILD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Start a command; there is one at a time. Returns 0, or the errno of what failed, with *forked:
 * there was a process, which could not execute it.
 */
int lc_child_start(char *const *command, bool *forked);

/* Wait for its end. Returns its status, as waitpid() has it. */
int lc_child_wait(void);

/* End as the child did, without a core file of our own; returns the exit status that it had. */
int lc_child_end_like(int status);

/* The program of that name that a shell would run; false where PATH has none. */
bool lc_child_find(const char *name, char *out, size_t out_len);

#endif
