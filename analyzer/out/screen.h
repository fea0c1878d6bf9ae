/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out/screen.h - fits reports into the width of a terminal: lines of text that know their columns,
 * names that are cut in the middle, and colours.
 */
#ifndef LC_OUT_SCREEN_H
#define LC_OUT_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/model/tree.h"
#include "src/format/kinds.h"

enum { LC_SCREEN_WIDTH = 80 }; /* where nothing tells */

struct lc_screen {
	FILE *out;
	unsigned width; /* columns */
	bool colors;
};

/* With less room, what would stand beside something else has a line of its own. */
enum { LC_SCREEN_NARROW = 45 };

/*
 * The width is the terminal's, else that of the environment variable COLUMNS, else 80. Colours are
 * for a terminal alone, unless CLICOLOR_FORCE is set (bixense.com/clicolors), and not where
 * NO_COLOR is set (no-color.org) or TERM is "dumb".
 * A stream in memory counts as what is shown on stdout later.
 */
void lc_screen_init(struct lc_screen *s, FILE *out);

enum lc_ink { LC_INK_PLAIN, LC_INK_BOLD, LC_INK_DIM, LC_INK_HOT };

/* Print `text` in a colour, or as it is where there are none. */
void lc_screen_ink(const struct lc_screen *s, enum lc_ink ink, const char *text);

/*
 * Columns that UTF-8 takes: one for each character, none for marks that combine, two for wide ones,
 * as wcwidth() says in a locale of UTF-8.
 */
unsigned lc_columns(const char *text);

/*
 * Cut `text` in the middle to at most `columns`, with ".." for the gap. Two thirds of the rest are
 * at the end, which has class, method and line. Less than 4 columns count as 4.
 */
void lc_cut_middle(char *text, unsigned columns);

/*
 * Shorten a class, or a method with its line, to at most `columns`: its package goes first, from
 * the left ("o.h2.v.Value.get:12" is "Value.get:12"), then the end of a method's class
 * ("Va..get:12") or all of it, and the middle of a name at last. `dots` stay between names: 0 of a
 * class, 1 of a method.
 */
void lc_cut_code(char *text, unsigned columns, unsigned dots);

/*
 * A class as people say it: each part of its package that is longer than two bytes is one letter
 * ("o.h2.v.Value$Kind[]"). The result is malloc'ed and the caller's, never NULL; control characters
 * are \uXXXX in it.
 */
char *lc_short_class(struct lc_text name);

/* Is the class a mapped file's (format/kinds.h)? Its dots separate no packages. */
static inline bool lc_short_is_file(struct lc_text name)
{
	return lc_text_begins(name, LC_OFFHEAP_MAPPED);
}

/* "o.h2.v.Value.compareTo:42", for a method and line + 1 (0: none). Like lc_short_class(). */
char *lc_short_code(const struct lc_tree *t, uint32_t method, uint32_t line1);

/* Make "HashMap.newNode:1901" of "j.u.HashMap.newNode:1901". */
void lc_short_without_package(char *code);

/* "o.h2.v.Value.compareTo:42-47", for lines + 1. Like lc_short_class(). */
char *lc_short_lines(const struct lc_tree *t, uint32_t method, uint32_t first1, uint32_t last1);

/*
 * Print `text` in lines that are at most the screen's width: the first after `used` columns that
 * stand there, the others indented by `indent` spaces. Breaks between words; ends with a newline.
 */
void lc_screen_wrap(const struct lc_screen *s, unsigned used, unsigned indent, const char *text);

/* How many lines lc_screen_wrap() would print. */
unsigned lc_screen_lines(const struct lc_screen *s, unsigned used, unsigned indent,
                         const char *text);

#endif
