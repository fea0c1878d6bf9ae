/* SPDX-License-Identifier: Apache-2.0 */
/* model/redacted.c - hides secrets in words of JSON and of the command line. */
#include "analyzer/model/redacted.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "src/base/bytes.h"
#include "src/base/options.h"
#include "src/base/redact.h"

static void add(json_t *to, struct lc_redact *r, const char *word, size_t len)
{
	struct lc_bytes out = { 0 };

	lc_redact_word(r, word, len, &out);
	if (out.failed)
		lc_no_memory();
	/* A word of a command line need not be UTF-8; who writes it sees to that. */
	json_array_append_new(to, json_stringn_nocheck(out.len ? (char *)out.data : "", out.len));
	free(out.data);
}

json_t *lc_redacted_words(const json_t *words)
{
	struct lc_redact r = { 0 };
	json_t *out = json_array();
	const json_t *word;
	size_t i;

	json_array_foreach(words, i, word)
	{
		if (json_is_string(word))
			add(out, &r, json_string_value(word), json_string_length(word));
	}
	return out;
}

json_t *lc_redacted_command(char *const *command, const struct lc_options *options)
{
	struct lc_redact r = { .patterns = options->redact };
	json_t *out = json_array();

	for (size_t i = 0; command[i] && !(i && options->no_arguments); i++)
		add(out, &r, command[i], strlen(command[i]));
	return out;
}

char *lc_redacted_join(const json_t *words)
{
	const json_t *word;
	char *text, *at;
	size_t len = 1, i;

	json_array_foreach(words, i, word)
	{
		len += 1 + json_string_length(word);
	}
	text = at = lc_mem_zeroed(len, 1); /* a stream in memory takes 8 KB for each process */
	json_array_foreach(words, i, word)
	{
		if (json_is_string(word))
			at = stpcpy(stpcpy(at, i ? " " : ""), json_string_value(word));
	}
	return text;
}

char *lc_redacted_text(const char *command)
{
	struct lc_redact r = { 0 };
	struct lc_bytes out = { 0 };
	char *text;

	while (*command) {
		const size_t spaces = strspn(command, " "), len = strcspn(command + spaces, " ");

		lc_bytes_add(&out, command, spaces);
		if (len)
			lc_redact_word(&r, command + spaces, len, &out);
		command += spaces + len;
	}
	if (out.failed)
		lc_no_memory();
	text = lc_mem_text("%.*s", (int)out.len, out.len ? (char *)out.data : "");
	free(out.data);
	return text;
}
