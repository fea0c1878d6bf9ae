/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/redacted.h - hides secrets in commands: in those that an older Locus has recorded whole,
 * and in those that Locus runs and keeps.
 */
#ifndef LC_MODEL_REDACTED_H
#define LC_MODEL_REDACTED_H

#include <jansson.h>

struct lc_options;

/* An array of the words without their secrets; what is no string is left out. */
json_t *lc_redacted_words(const json_t *words);

/* The same of a command's words, which NULL ends, as --redact and --no-arguments ask. */
json_t *lc_redacted_command(char *const *command, const struct lc_options *options);

/* A command as one text, whose words are taken to end at spaces. The caller frees it. */
char *lc_redacted_text(const char *command);

/* The words with spaces between them. The caller frees the text. */
char *lc_redacted_join(const json_t *words);

#endif
