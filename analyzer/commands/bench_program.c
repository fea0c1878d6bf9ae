/* SPDX-License-Identifier: Apache-2.0 */
/* commands/bench_program.c - parses the command line of a Java program. */
#include "analyzer/commands/bench_program.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/commands/bench_options.h"
#include "analyzer/model/load.h"
#include "src/base/java_option.h"

void lc_bench_words_add(struct lc_bench_words *w, const char *text, size_t len)
{
	w->list = lc_mem_grow(w->list, &w->cap, w->len + 1, sizeof(*w->list));
	w->list[w->len++] = lc_mem_text("%.*s", (int)len, text);
}

void lc_bench_words_free(struct lc_bench_words *w)
{
	for (size_t i = 0; i < w->len; i++)
		free(w->list[i]);
	free(w->list);
	*w = (struct lc_bench_words){ 0 };
}

static bool begins(const char *word, const char *with)
{
	return strncmp(word, with, strlen(with)) == 0;
}

/* ---- paths ---- */

/* A name as a pattern that fits it alone. The caller frees it. */
static char *quoted(const char *name)
{
	char *out = lc_mem_zeroed(2 * strlen(name) + 1, 1), *at = out;

	for (; *name; name++) {
		if (strchr("*?[\\", *name))
			*at++ = '\\';
		*at++ = *name;
	}
	return out;
}

/* The jars of a directory, which ends with '/' or is "", by their names. */
static void add_jars(struct lc_bench_words *w, const char *directory)
{
	char *fixed = quoted(directory), *pattern = lc_mem_text("%s*.[jJ][aA][rR]", fixed);
	glob_t found;

	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			lc_bench_words_add(w, found.gl_pathv[i], strlen(found.gl_pathv[i]));
		globfree(&found);
	}
	free(pattern);
	free(fixed);
}

void lc_bench_words_path(struct lc_bench_words *w, const char *path, const char *directory,
                         bool jars)
{
	char *copy = lc_mem_text("%s", path), *rest = copy, *name;

	while ((name = strsep(&rest, ":"))) {
		size_t len = strlen(name);
		char *whole;

		if (!len)
			continue;
		whole =
		    *name == '/' ? lc_mem_text("%s", name) : lc_mem_text("%s/%s", directory, name);
		len = strlen(whole);
		if (jars && whole[len - 1] == '*' && (len == 1 || whole[len - 2] == '/')) {
			whole[len - 1] = '\0';
			add_jars(w, whole);
		} else {
			lc_bench_words_add(w, whole, len);
		}
		free(whole);
	}
	free(copy);
}

/* ---- the command ---- */

static void read_words(struct lc_bench_program *p, const struct lc_load_process *process)
{
	char *copy, *rest, *word;
	size_t i;
	json_t *row;

	json_array_foreach(process->arguments, i, row)
	{
		if (json_is_string(row))
			lc_bench_words_add(&p->words, json_string_value(row),
			                   json_string_length(row));
	}
	if (p->words.len)
		return;
	copy = rest = lc_mem_text("%s", process->command);
	while ((word = strsep(&rest, " "))) {
		if (*word)
			lc_bench_words_add(&p->words, word, strlen(word));
	}
	p->split = p->words.len > 0;
	free(copy);
}

/* The last paths that the options name; NULL: none. */
struct paths {
	const char *classes, *modules;
};

/* Takes "--name=value", and "-short value" of two words. */
static void take_path(struct paths *p, const char *word, const char *next)
{
	static const struct {
		const char *name;
		bool attached, modules;
	} options[] = {
		{ "-cp", false, false },
		{ "-classpath", false, false },
		{ "--class-path", false, false },
		{ "--class-path=", true, false },
		{ "-p", false, true },
		{ "--module-path", false, true },
		{ "--module-path=", true, true },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		const size_t len = strlen(options[i].name);

		if (options[i].attached ? !begins(word, options[i].name)
		                        : strcmp(word, options[i].name) != 0)
			continue;
		*(options[i].modules ? &p->modules : &p->classes) =
		    options[i].attached ? word + len : next;
	}
}

/* The modules that the program names: a jar each, or directories of them. */
static void add_modules(struct lc_bench_program *p, const char *path)
{
	struct lc_bench_words all = { 0 };

	lc_bench_words_path(&all, path, p->directory, false);
	for (size_t i = 0; i < all.len; i++) {
		char *inside = lc_mem_text("%s/", all.list[i]);

		lc_bench_words_add(&p->class_path, all.list[i], strlen(all.list[i]));
		add_jars(&p->class_path, inside);
		free(inside);
	}
	lc_bench_words_free(&all);
}

/*
 * Sort an option of the program, in its `count` words, into what is run once more, what the
 * benchmark has too, and what is dropped.
 */
static void sort_option(struct lc_bench_program *p, char *const *words, size_t count, bool trusted)
{
	char *one =
	    count == 2 ? lc_mem_text("%s=%s", words[0], words[1]) : lc_mem_text("%s", words[0]);
	const enum lc_bench_option kind = lc_bench_option_kind(one);

	if (kind == LC_BENCH_OPTION_DROPPED && !trusted)
		lc_bench_words_add(&p->dropped, one, strlen(one));
	for (size_t i = 0; i < count && (trusted || kind != LC_BENCH_OPTION_DROPPED); i++)
		lc_bench_words_add(&p->run, words[i], strlen(words[i]));
	if (kind == LC_BENCH_OPTION_BOTH ||
	    (trusted && (begins(one, "-X") || begins(one, "--patch-module"))))
		lc_bench_words_add(&p->jvm_options, one, strlen(one));
	free(one);
}

bool lc_bench_is_java(const char *name)
{
	const char *slash = strrchr(name, '/');

	return strcmp(slash ? slash + 1 : name, "java") == 0;
}

/* The index of the first word that is no option of java's; the number of words: there is none. */
static size_t first_of_program(const struct lc_bench_words *words)
{
	size_t i;

	for (i = 1; i < words->len; i++) {
		const char *word = words->list[i];

		if (!strcmp(word, "-jar") || !strcmp(word, "-m") || !strcmp(word, "--module") ||
		    (*word != '-' && *word != '@'))
			return i;
		i += lc_java_option_takes_word(word, strlen(word));
	}
	return words->len;
}

size_t lc_bench_words_main(const struct lc_bench_words *words)
{
	const size_t first = first_of_program(words);

	return words->len && lc_bench_is_java(words->list[0]) && first < words->len ? first : 0;
}

/* `classes`: the class path where no option names one. */
static void read_options(struct lc_bench_program *p, const char *classes, bool trusted)
{
	const struct lc_bench_words *words = &p->words;
	const size_t first = first_of_program(words);
	struct paths paths = { NULL, NULL };

	if (words->len)
		lc_bench_words_add(&p->run, words->list[0], strlen(words->list[0]));
	for (size_t i = 1; i < first; i++) {
		const char *word = words->list[i];
		const bool two =
		    i + 1 < words->len && lc_java_option_takes_word(word, strlen(word));

		p->argument_files |= *word == '@';
		take_path(&paths, word, i + 1 < words->len ? words->list[i + 1] : "");
		sort_option(p, words->list + i, two ? 2 : 1, trusted);
		i += two;
	}
	for (size_t i = first; i < words->len; i++)
		lc_bench_words_add(&p->run, words->list[i], strlen(words->list[i]));
	/* -jar's jar is the whole class path; its manifest names the rest, as java reads it. */
	if (first + 1 < words->len && !strcmp(words->list[first], "-jar"))
		paths.classes = words->list[first + 1];
	else if (!paths.classes && !paths.modules && first < words->len && !p->argument_files)
		paths.classes = classes;
	if (paths.classes)
		lc_bench_words_path(&p->class_path, paths.classes, p->directory, true);
	if (paths.modules)
		add_modules(p, paths.modules);
}

/* Which collector the JVM has chosen by itself depends on the machine, and on its memory. */
static void add_collector(struct lc_bench_program *p, const char *gc)
{
	static const char *const names[] = { "Serial", "Parallel", "G1" };
	char *option;

	for (size_t i = 0; i < p->jvm_options.len; i++) {
		const char *word = p->jvm_options.list[i];
		const size_t len = strlen(word);

		if (begins(word, "-XX:+Use") && len > 2 && !strcmp(word + len - 2, "GC"))
			return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(gc, names[i]) != 0)
			continue;
		option = lc_mem_text("-XX:+Use%sGC", gc);
		lc_bench_words_add(&p->jvm_options, option, strlen(option));
		free(option);
	}
}

void lc_bench_program_read(struct lc_bench_program *p, const struct lc_load_process *process,
                           const char *here, bool trusted)
{
	const char *directory = *process->directory ? process->directory : here;

	*p = (struct lc_bench_program){ .directory = lc_mem_text("%s", directory) };
	read_words(p, process);
	read_options(p, ".", trusted);
	add_collector(p, process->gc);
}

void lc_bench_program_command(struct lc_bench_program *p, char *const *command, const char *here)
{
	const char *classes = getenv("CLASSPATH");

	*p = (struct lc_bench_program){ .directory = lc_mem_text("%s", here) };
	for (; *command; command++)
		lc_bench_words_add(&p->words, *command, strlen(*command));
	if (lc_bench_is_java(p->words.list[0]))
		read_options(p, classes && *classes ? classes : ".", true);
}

void lc_bench_program_free(struct lc_bench_program *p)
{
	lc_bench_words_free(&p->words);
	lc_bench_words_free(&p->run);
	lc_bench_words_free(&p->dropped);
	lc_bench_words_free(&p->class_path);
	lc_bench_words_free(&p->jvm_options);
	free(p->directory);
}
