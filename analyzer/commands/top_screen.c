/* SPDX-License-Identifier: Apache-2.0 */
/* commands/top_screen.c - scrolls and draws, and reads keys. */
#include "analyzer/commands/top_screen.h"

#include <curses.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"

enum { ESCAPE = 27, ESCAPE_MS = 25, AROUND = 2 /* title and keys */ };

static SCREEN *screen;
static const char *shown = "";
static int first; /* line of the text at the top */

int lc_top_screen_begin(void)
{
	const char *name = getenv("TERM");

	setlocale(LC_CTYPE, "");
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return lc_fail("no description of the terminal '%s' was found; set TERM, or use "
		               "--batch",
		               name ? name : "");
	set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	if (has_colors()) {
		start_color();
		use_default_colors();
		init_pair(1, COLOR_RED, -1);
	}
	return 0;
}

void lc_top_screen_end(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

unsigned lc_top_screen_columns(void)
{
	return (unsigned)COLS;
}

static int count_lines(void)
{
	int lines = 0;

	for (const char *c = shown; *c; c++)
		lines += *c == '\n';
	return lines;
}

static void scroll_to(int line)
{
	const int most = count_lines() - (LINES - AROUND);

	first = line > most ? most : line;
	if (first < 0)
		first = 0;
}

void lc_top_screen_text(const char *text, bool keep)
{
	shown = text;
	scroll_to(keep ? first : 0);
}

/* ---- drawing ---- */

/* The attribute of a sequence "ESC [ NUMBER m", of which *at is behind the bracket; moves it. */
static int read_attribute(const char **at)
{
	char *end;
	const long code = strtol(*at, &end, 10);

	*at = *end == 'm' ? end + 1 : end;
	if (code == 1)
		return (int)A_BOLD;
	if (code == 2)
		return (int)A_DIM;
	return code == 31 && has_colors() ? (int)(COLOR_PAIR(1) | A_BOLD) : (int)A_NORMAL;
}

/* A line that is too long goes on in the next one, which is then erased. */
static const char *draw_line(int y, const char *text)
{
	const char *end = strchrnul(text, '\n');

	move(y, 0);
	clrtoeol();
	for (const char *at = text; at < end;) {
		const char *escape = memchr(at, ESCAPE, (size_t)(end - at));
		const char *stop = escape ? escape : end;

		if (getcury(stdscr) != y)
			break;
		addnstr(at, (int)(stop - at));
		at = stop;
		if (escape) {
			at = escape + (escape[1] == '[' ? 2 : 1);
			attrset(read_attribute(&at));
		}
	}
	attrset((int)A_NORMAL);
	return *end ? end + 1 : end;
}

static void draw_bar(int y, const char *text)
{
	attrset((int)A_REVERSE);
	mvhline(y, 0, ' ', COLS);
	mvaddnstr(y, 0, text, COLS);
	attrset((int)A_NORMAL);
}

void lc_top_screen_draw(const char *title)
{
	const char *at = shown;
	int skip = first;

	erase();
	for (; skip && *at; at++)
		skip -= *at == '\n';
	for (int y = LINES - AROUND; y > 0 && *at; y--)
		at = draw_line(LINES - AROUND - y + 1, at);
	draw_bar(0, title);
	draw_bar(LINES - 1, " q quit  Tab view  w window  / frame  p pause  +/- speed  h help");
	refresh();
}

/* ---- keys ---- */

static bool scrolled(int key)
{
	const int page = LINES - AROUND > 1 ? LINES - AROUND - 1 : 1;

	switch (key) {
	case KEY_UP:
	case 'k':
		scroll_to(first - 1);
		return true;
	case KEY_DOWN:
	case 'j':
		scroll_to(first + 1);
		return true;
	case KEY_PPAGE:
		scroll_to(first - page);
		return true;
	case KEY_NPAGE:
		scroll_to(first + page);
		return true;
	case KEY_HOME:
	case 'g':
		scroll_to(0);
		return true;
	case KEY_END:
	case 'G':
		scroll_to(count_lines());
		return true;
	default:
		return false;
	}
}

enum lc_top_key lc_top_screen_key(bool *again)
{
	static const struct {
		int key;
		enum lc_top_key means;
	} keys[] = { { 'q', LC_TOP_QUIT },          { KEY_F(10), LC_TOP_QUIT },
		     { '\t', LC_TOP_NEXT_VIEW },    { KEY_RIGHT, LC_TOP_NEXT_VIEW },
		     { 'v', LC_TOP_NEXT_VIEW },     { KEY_LEFT, LC_TOP_PREVIOUS_VIEW },
		     { 'w', LC_TOP_WINDOW },        { KEY_BTAB, LC_TOP_PREVIOUS_VIEW },
		     { 'p', LC_TOP_PAUSE },         { '+', LC_TOP_FASTER },
		     { '-', LC_TOP_SLOWER },        { '/', LC_TOP_FRAME },
		     { 'h', LC_TOP_HELP },          { '?', LC_TOP_HELP },
		     { KEY_F(1), LC_TOP_HELP },     { ' ', LC_TOP_REFRESH },
		     { KEY_RESIZE, LC_TOP_RESIZED } };
	const int key = getch();

	*again = key != ERR;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].key == key)
			return keys[i].means;
	(void)scrolled(key);
	return LC_TOP_NONE;
}

bool lc_top_screen_ask(const char *prompt, char text[LC_TOP_FRAME_MAX])
{
	char line[LC_TOP_FRAME_MAX];
	size_t len;
	int key = 0;

	snprintf(line, sizeof(line), "%s", text);
	nodelay(stdscr, FALSE);
	curs_set(1);
	while (key != '\n' && key != KEY_ENTER && key != ESCAPE && key != ERR) {
		len = strlen(line);
		mvhline(LINES - 1, 0, ' ', COLS);
		mvprintw(LINES - 1, 0, "%s%s", prompt, line);
		key = getch();
		if ((key == KEY_BACKSPACE || key == '\b' || key == 127) && len)
			line[len - 1] = '\0';
		else if (key == 'U' - '@')
			*line = '\0';
		else if (key >= ' ' && key < 127 && len + 1 < sizeof(line))
			line[len] = (char)key, line[len + 1] = '\0';
	}
	curs_set(0);
	nodelay(stdscr, TRUE);
	if (key == ESCAPE || key == ERR || !strcmp(line, text))
		return false;
	memcpy(text, line, sizeof(line));
	return true;
}

const char *lc_top_screen_help(void)
{
	return "\033[1mKeys\033[0m\n"
	       "\n"
	       "  q, F10          quit: end the recording, if this command has begun it\n"
	       "  Tab, right, v   next view: brief, objects, code, alloc, live, offheap, threads\n"
	       "  left            previous view\n"
	       "  up, down, j, k  scroll by a line\n"
	       "  PgUp, PgDn      scroll by a page; Home, End: to the begin, the end\n"
	       "  w               count the last minute (--window), or all of the recording\n"
	       "  /               count only call paths that contain a frame; empty: all\n"
	       "  p               pause; the recording goes on\n"
	       "  +, -            refresh more often, less often\n"
	       "  space           refresh now\n"
	       "  h, ?, F1        this text; again: back\n";
}
