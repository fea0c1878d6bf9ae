/* uses: src/base/redact.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_redact.c - hides secrets in any command, whose words end at newlines: a word without one
 * stays as it is, and the value of a known name is not shown.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/base/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy has the exact size, so that a read behind the word is seen. */
static bool hide(struct lc_redact *r, const void *word, size_t len, struct lc_bytes *out)
{
	char *copy = malloc(len ? len : 1);
	bool hidden;

	if (!copy)
		abort();
	memcpy(copy, word, len);
	lc_bytes_empty(out);
	hidden = lc_redact_word(r, copy, len, out);
	if (hidden ? !memmem(out->data, out->len, LC_REDACTED, strlen(LC_REDACTED))
	           : out->len != len || (len && memcmp(out->data, word, len) != 0))
		abort();
	free(copy);
	return hidden;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char secret[] = "-Dpassword=", value[] = "hunter2hunter2";
	struct lc_redact r = { .patterns = "x*;y" };
	struct lc_bytes out = { 0 };
	uint8_t *end, *all = malloc(size + 64);

	if (!all)
		abort();
	for (size_t at = 0; at <= size; at++) {
		const uint8_t *line = size > at ? memchr(data + at, '\n', size - at) : NULL;
		const size_t len = line ? (size_t)(line - data) - at : size - at;

		if (memchr(data + at, '\0', len))
			break;
		hide(&r, data + at, len, &out);
		/* The same bytes behind a name and a value. */
		end = mempcpy(mempcpy(all, secret, strlen(secret)), value, strlen(value));
		end = mempcpy(end, data + at, len);
		hide(&(struct lc_redact){ .words = 1 }, all, (size_t)(end - all), &out);
		if (memmem(out.data, out.len, value, strlen(value)))
			abort();
		at += len;
	}
	free(all);
	free(out.data);
	return 0;
}
