/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/redact.h - hides secrets in the words of a command line.
 *
 * A name says whether its value is a secret: "--password=x", "-Ddb.token=x", "--api-key x",
 * "...;password=x". The rest of the word is hidden, since a value may hold any separator. So is the
 * user of a URL, "//user:password@host". Hiding too much does less harm than hiding too little.
 */
#ifndef LC_BASE_REDACT_H
#define LC_BASE_REDACT_H

#include <stdbool.h>
#include <stddef.h>

struct lc_bytes;

/* Replaces a secret. */
#define LC_REDACTED "[redacted]"

/* Reads one command, from its first word to its last; all else is zero at first. */
struct lc_redact {
	const char *patterns; /* of --redact, separated by ';'; NULL: none */
	size_t words;         /* read so far */
	bool in_program;      /* the program's class or jar was read */
	bool secret_follows;  /* the next word is the value of a secret */
	bool path_follows;    /* the next word is the value of an option of java's */
};

/* Is the value of this name a secret? It has `len` bytes. Context: any. */
bool lc_redact_is_secret(const char *name, size_t len);

/*
 * Append the next word of the command without its secrets. Returns whether anything was hidden.
 * Context: any that may allocate; *out says whether memory was short.
 */
bool lc_redact_word(struct lc_redact *r, const char *word, size_t len, struct lc_bytes *out);

#endif
