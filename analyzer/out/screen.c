/* SPDX-License-Identifier: Apache-2.0 */
/* out/screen.c - measures, cuts and wraps text for a terminal. */
#include "analyzer/out/screen.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "analyzer/base/memory.h"
#include "analyzer/out/emit.h"
#include "src/format/utf8.h"

enum { CUT_LEAST = 4, GAP = 2, SHORT = 2, WIDTH_LEAST = 40, WIDTH_MOST = 1000 };

/* ---- the terminal ---- */

/* A text that is kept in memory is for stdout. */
static int file_of(FILE *out)
{
	return fileno(out) < 0 ? STDOUT_FILENO : fileno(out);
}

static unsigned columns_of(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = { 0 };
	long width = 0;

	if (isatty(file_of(out)) && !ioctl(file_of(out), TIOCGWINSZ, &size))
		width = size.ws_col;
	if (width <= 0 && columns)
		width = strtol(columns, NULL, 10);
	if (width <= 0)
		return LC_SCREEN_WIDTH;
	return width < WIDTH_LEAST  ? WIDTH_LEAST
	       : width > WIDTH_MOST ? WIDTH_MOST
	                            : (unsigned)width;
}

void lc_screen_init(struct lc_screen *s, FILE *out)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	const char *forced = getenv("CLICOLOR_FORCE");

	s->out = out;
	s->width = columns_of(out);
	s->colors = (!no_color || !*no_color) &&
	            ((forced && *forced && strcmp(forced, "0") != 0) ||
	             (isatty(file_of(out)) && term && strcmp(term, "dumb") != 0));
}

void lc_screen_ink(const struct lc_screen *s, enum lc_ink ink, const char *text)
{
	static const char *const codes[] = {
		[LC_INK_PLAIN] = "", [LC_INK_BOLD] = "1", [LC_INK_DIM] = "2", [LC_INK_HOT] = "31"
	};

	if (s->colors && *codes[ink])
		fprintf(s->out, "\033[%sm%s\033[0m", codes[ink], text);
	else
		fputs(text, s->out);
}

/* ---- columns ---- */

/* A locale in which wcwidth() knows Unicode; 0 where the C library has none. */
static locale_t unicode(void)
{
	static locale_t found;

	if (!found)
		found = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	return found;
}

static unsigned columns_of_char(uint32_t c)
{
	int columns = 1;

	if (c < 0x300) /* of these none is wide, and none combines */
		return 1;
	if (unicode()) {
		locale_t before = uselocale(unicode());

		columns = wcwidth((wchar_t)c);
		uselocale(before);
	}
	return columns < 0 ? 1 : (unsigned)columns;
}

static unsigned columns_to(const char *from, const char *to)
{
	const uint8_t *at = (const uint8_t *)from, *end = (const uint8_t *)to;
	unsigned columns = 0;

	while (at < end)
		columns += columns_of_char(lc_utf8_next(&at, end));
	return columns;
}

unsigned lc_columns(const char *text)
{
	return columns_to(text, text + strlen(text));
}

/* Bytes of the longest beginning of `text` that takes at most `columns`. */
static size_t beginning(const char *text, size_t len, unsigned columns)
{
	const uint8_t *at = (const uint8_t *)text, *end = at + len;
	unsigned used = 0;

	while (at < end) {
		const uint8_t *next = at;

		used += columns_of_char(lc_utf8_next(&next, end));
		if (used > columns)
			break;
		at = next;
	}
	return (size_t)(at - (const uint8_t *)text);
}

void lc_cut_middle(char *text, unsigned columns)
{
	const size_t len = strlen(text);
	const unsigned whole = lc_columns(text);
	unsigned tail;
	size_t head, skip;

	if (columns < CUT_LEAST)
		columns = CUT_LEAST;
	if (whole <= columns)
		return;
	tail = (columns - GAP) * 2 / 3;
	head = beginning(text, len, columns - GAP - tail);
	skip = beginning(text, len, whole - tail);
	/* A wide character may have been too wide for the beginning to end where the tail starts.
	 */
	while (skip < len && columns_to(text + skip, text + len) > tail)
		skip += beginning(text + skip, len - skip, 2);
	memset(text + head, '.', GAP);
	memmove(text + head + GAP, text + skip, len - skip + 1);
}

/* Cut the class of "Class.method:12", or leave it out: the method stays whole if it fits. */
static void cut_class(char *text, unsigned columns)
{
	const char *dot = strrchr(text, '.');
	size_t head = 0, kept;
	unsigned method;

	if (!dot || lc_columns(text) <= columns)
		return;
	dot++;
	kept = strlen(dot) + 1;
	method = lc_columns(dot);
	if (method + GAP < columns)
		head = beginning(text, (size_t)(dot - text), columns - GAP - method);
	if (head) {
		memmove(text + head + GAP, dot, kept);
		memset(text + head, '.', GAP);
	} else {
		memmove(text, dot, kept);
	}
}

void lc_cut_code(char *text, unsigned columns, unsigned dots)
{
	const bool is_file = lc_short_is_file((struct lc_text){ text, (uint32_t)strlen(text) });
	char *at = text, *suffix = is_file ? strstr(text, LC_OFFHEAP_SUFFIX) : NULL;
	size_t more = 0;

	if (suffix && lc_columns(text) > columns) /* "mapped" says as much */
		*suffix = '\0';
	for (const char *c = text; *c && !is_file; c++)
		more += *c == '.';
	for (; more > dots && lc_columns(at) > columns; more--)
		at = strchr(at, '.') + 1;
	memmove(text, at, strlen(at) + 1);
	if (dots && !is_file)
		cut_class(text, columns);
	lc_cut_middle(text, columns);
}

/* ---- names ---- */

static void put_class(FILE *out, struct lc_text name)
{
	const char *at = name.bytes, *end = name.bytes + name.len;

	if (lc_short_is_file(name)) { /* the name of a file is no class's */
		lc_emit_text(out, name);
		return;
	}
	for (const char *dot; (dot = memchr(at, '.', (size_t)(end - at))); at = dot + 1) {
		const uint8_t *next = (const uint8_t *)at;

		lc_utf8_next(&next, (const uint8_t *)dot + 1);
		if (dot - at <= SHORT) /* "h2" is no longer than "h" is worth */
			next = (const uint8_t *)dot;
		lc_emit_text(out, (struct lc_text){ at, (uint32_t)((const char *)next - at) });
		putc('.', out);
	}
	lc_emit_text(out, (struct lc_text){ at, (uint32_t)(end - at) });
}

char *lc_short_class(struct lc_text name)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	put_class(out, name);
	lc_mem_close_text(out);
	return text;
}

char *lc_short_lines(const struct lc_tree *t, uint32_t method, uint32_t first1, uint32_t last1)
{
	const uint32_t *m = lc_table_key(&t->methods, method);
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	put_class(out, lc_tree_text(t, m[LC_METHOD_CLASS]));
	if (lc_tree_text(t, m[LC_METHOD_NAME]).len)
		putc('.', out);
	lc_emit_text(out, lc_tree_text(t, m[LC_METHOD_NAME]));
	if (first1)
		fprintf(out, ":%u", first1 - 1);
	if (first1 && last1 != first1)
		fprintf(out, "-%u", last1 - 1);
	lc_mem_close_text(out);
	return text;
}

char *lc_short_code(const struct lc_tree *t, uint32_t method, uint32_t line1)
{
	return lc_short_lines(t, method, line1, line1);
}

void lc_short_without_package(char *code)
{
	char *method = strrchr(code, '.'), *class = method;

	while (class && class > code && class[-1] != '.')
		class --;
	if (class)
		memmove(code, class, strlen(class) + 1);
}

/* ---- lines ---- */

/* Print `text` in lines where `out` is not NULL. Returns how many there are. */
static unsigned wrap(const struct lc_screen *s, FILE *out, unsigned used, unsigned indent,
                     const char *text)
{
	unsigned lines = 1;
	bool first = true; /* of the line: no space before it */

	for (;;) {
		size_t len = strcspn(text, " ");
		unsigned columns = columns_to(text, text + len);

		if (!first && used + 1 + columns > s->width) {
			if (out)
				fprintf(out, "\n%*s", (int)indent, "");
			used = indent;
			first = true;
			lines++;
		}
		if (out)
			fprintf(out, "%s%.*s", first ? "" : " ", (int)len, text);
		used += columns + !first;
		first = false;
		text += len;
		if (!*text)
			return lines;
		text++;
	}
}

void lc_screen_wrap(const struct lc_screen *s, unsigned used, unsigned indent, const char *text)
{
	wrap(s, s->out, used, indent, text);
	putc('\n', s->out);
}

unsigned lc_screen_lines(const struct lc_screen *s, unsigned used, unsigned indent,
                         const char *text)
{
	return wrap(s, NULL, used, indent, text);
}
