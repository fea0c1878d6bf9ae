/* SPDX-License-Identifier: Apache-2.0 */
/* out/emit.c - writes names, numbers and frames as they stand in reports. */
#include "analyzer/out/emit.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "analyzer/base/plain.h"

enum { NAME_SEPARATOR = ';' };

void lc_emit_text(FILE *out, struct lc_text text)
{
	lc_plain_put(out, text.bytes, text.len);
}

void lc_emit_text_c(FILE *out, const char *text)
{
	lc_plain_put(out, text, strlen(text));
}

void lc_emit_word(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                            "0123456789_-+=./,:@%";
	const bool quoted = !*word || word[strspn(word, plain)];

	if (quoted)
		putc('\'', out);
	while (*word) {
		const size_t len = strcspn(word, "'");

		lc_plain_put(out, word, len);
		word += len;
		if (*word == '\'') {
			fputs("'\\''", out);
			word++;
		}
	}
	if (quoted)
		putc('\'', out);
}

void lc_emit_collapsed(FILE *out, struct lc_text text)
{
	const char *at = text.bytes, *end = at + text.len, *next;

	for (; (next = memchr(at, NAME_SEPARATOR, (size_t)(end - at))); at = next + 1) {
		lc_plain_put(out, at, (size_t)(next - at));
		putc('_', out);
	}
	lc_plain_put(out, at, (size_t)(end - at));
}

static void place(FILE *out, struct lc_text file, uint32_t line1)
{
	putc('(', out);
	if (file.len)
		lc_emit_text(out, file);
	else
		fputs("Unknown Source", out);
	if (line1)
		fprintf(out, ":%u", line1 - 1);
	putc(')', out);
}

void lc_emit_method(FILE *out, struct lc_text class_name, struct lc_text method_name)
{
	lc_emit_text(out, class_name);
	if (!method_name.len)
		return;
	putc('.', out);
	lc_emit_text(out, method_name);
}

void lc_emit_place(FILE *out, struct lc_text class_name, struct lc_text method_name,
                   struct lc_text file, uint32_t line1)
{
	lc_emit_method(out, class_name, method_name);
	if (method_name.len)
		place(out, file, line1);
}

void lc_emit_code(FILE *out, const struct lc_tree *t, uint32_t method, uint32_t line1)
{
	const uint32_t *m = lc_table_key(&t->methods, method);

	lc_emit_place(out, lc_tree_text(t, m[LC_METHOD_CLASS]), lc_tree_text(t, m[LC_METHOD_NAME]),
	              lc_tree_text(t, m[LC_METHOD_FILE]), line1);
}

void lc_emit_frame(FILE *out, const struct lc_tree *t, uint32_t path)
{
	const uint32_t *frame = lc_tree_frame(t, path);

	const uint64_t cycle = lc_tree_recursion(t, path);

	lc_emit_code(out, t, frame[LC_FRAME_METHOD], frame[LC_FRAME_LINE1]);
	if (cycle == 1)
		fputs(", recursive", out);
	else if (cycle)
		fprintf(out, ", recursive over %" PRIu64 " frames", cycle);
}

const char *lc_emit_bytes(char *out, size_t out_len, uint64_t bytes)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB", "EB" };
	double v = (double)bytes;
	unsigned unit = 0;

	for (; v >= 1023.95 && unit < 6; unit++)
		v /= 1024;
	snprintf(out, out_len, unit ? "%.1f %s" : "%.0f %s", v, units[unit]);
	return out;
}

const char *lc_emit_duration(char *out, size_t out_len, uint64_t ns)
{
	if (ns < 1000)
		snprintf(out, out_len, "%u ns", (unsigned)ns);
	else if (ns < 1000000)
		snprintf(out, out_len, "%.4g us", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(out, out_len, "%.4g ms", (double)ns / 1e6);
	else
		snprintf(out, out_len, "%.1f s", (double)ns / 1e9);
	return out;
}

const char *lc_emit_time(char *out, size_t out_len, double ns)
{
	if (ns >= 10e6 && ns < 999.5e6)
		snprintf(out, out_len, "%.0f ms", ns / 1e6);
	else if (ns >= 999.5e6)
		snprintf(out, out_len, "%.2f s", ns / 1e9);
	else
		lc_emit_duration(out, out_len, ns < 0 ? 0 : (uint64_t)(ns + 0.5));
	return out;
}
