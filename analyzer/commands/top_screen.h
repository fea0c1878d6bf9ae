/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/top_screen.h - draws `locus top` on a terminal, by ncurses: a title, a text that can be
 * scrolled, and a line of keys.
 */
#ifndef LC_COMMANDS_TOP_SCREEN_H
#define LC_COMMANDS_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/* The request that a key stands for. */
enum lc_top_key {
	LC_TOP_NONE,
	LC_TOP_QUIT,
	LC_TOP_NEXT_VIEW,
	LC_TOP_PREVIOUS_VIEW,
	LC_TOP_WINDOW,
	LC_TOP_PAUSE,
	LC_TOP_FASTER,
	LC_TOP_SLOWER,
	LC_TOP_FRAME, /* lc_top_screen_ask() */
	LC_TOP_HELP,
	LC_TOP_REFRESH,
	LC_TOP_RESIZED, /* the text is to be made again */
};

enum { LC_TOP_FRAME_MAX = 256 }; /* bytes of what lc_top_screen_ask() returns, with its end */

/* Take the terminal of stdin and stdout. Returns 0, or 1 after one line on stderr. */
int lc_top_screen_begin(void);

/* Give it back. May be called twice. */
void lc_top_screen_end(void);

unsigned lc_top_screen_columns(void);

/*
 * Show a text from now on: lines with the colours of lc_screen_ink(). It belongs to the caller, and
 * stays valid until the next. `keep`: stay where the last text was scrolled to.
 */
void lc_top_screen_text(const char *text, bool keep);

/* Draw the screen, with `title` above. */
void lc_top_screen_draw(const char *title);

/*
 * The next key that was pressed; LC_TOP_NONE: none, or one that scrolled the text. Does not wait.
 * *again: call it once more.
 */
enum lc_top_key lc_top_screen_key(bool *again);

/* Ask for a text in the last line; Escape leaves `text` alone. Waits. Returns whether it changed.
 */
bool lc_top_screen_ask(const char *prompt, char text[LC_TOP_FRAME_MAX]);

/* The keys, as a text for lc_top_screen_text(). Static storage. */
const char *lc_top_screen_help(void);

#endif
