/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/own_choice.c - finds the program's packages by its main class and its threads.
 */
#include "analyzer/objects/analysis/own_choice.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/program_name.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"
#include "src/base/glob.h"
#include "src/base/hash.h"

enum {
	NONE = UINT32_MAX,
	MAIN_PART = 10,   /* one in so many samples below a main method makes it one */
	OWN_PART = 10,    /* own code with less than one sample in so many says too little */
	THREAD_PART = 20, /* one in so many samples makes a thread's package one of the program */
	SHOWN = 3,        /* patterns */
	UNNAMED_MAX = 64, /* patterns for classes without a package */
};

/* A group of packages that begin with the same names; "": classes without a package. */
struct root {
	struct lc_text name;
	uint64_t main;      /* samples below its main method, the last one of the path */
	uint64_t passed_on; /* samples in which its main method ran another one by reflection */
	uint64_t begins;    /* samples of paths on which it is the outermost one */
	uint64_t calls_own; /* of these, samples with an own frame further down */
	bool called_by_own; /* on some path */
	bool own;
};

struct choice {
	const struct lc_load *load;
	struct lc_tree *t;
	struct root *roots;
	size_t len, cap;
	struct lc_table names;   /* of the roots, by hash; the same rows */
	uint32_t *root_of;       /* by method; NONE: of the JDK or of a launcher, or no method */
	const uint64_t *samples; /* by path */
	/* By path, roots: the outermost one, and those of the first and the last main method. */
	uint32_t *outermost, *first_main, *last_main;
	bool launched; /* a main method is a launcher's */
};

/* Does the class start programs that others wrote? */
static bool is_launcher(struct lc_text class)
{
	static const char *const prefixes[] = {
		"clojure.main",
		"com.intellij.rt.",
		"com.sun.tools.javac.launcher.",
		"groovy.ui.",
		"io.quarkus.bootstrap.",
		"org.apache.catalina.startup.",
		"org.apache.maven.surefire.",
		"org.codehaus.groovy.tools.",
		"org.codehaus.plexus.classworlds.",
		"org.eclipse.equinox.launcher.",
		"org.eclipse.jetty.start.",
		"org.gradle.",
		"org.jruby.",
		"org.junit.",
		"org.openjdk.jmh.",
		"org.python.",
		"org.springframework.boot.loader.",
		"org.testng.",
		"scala.tools.nsc.",
		"worker.org.gradle.",
	};

	return lc_text_begins_any(class, prefixes, sizeof(prefixes) / sizeof(*prefixes));
}

/* Do projects that have nothing to do with each other share these first two names? */
static bool is_shared(struct lc_text package)
{
	static const char *const prefixes[] = {
		"com.amazonaws.", "com.github.",      "com.gitlab.",      "com.google.",
		"com.ibm.",       "com.microsoft.",   "com.oracle.",      "com.sun.",
		"io.github.",     "io.gitlab.",       "net.sourceforge.", "org.apache.",
		"org.codehaus.",  "org.eclipse.",     "org.jboss.",       "org.jetbrains.",
		"org.openjdk.",   "org.sourceforge.", "software.amazon.",
	};

	return lc_text_begins_any(package, prefixes, sizeof(prefixes) / sizeof(*prefixes));
}

/* "com.acme" of "com.acme.shop.Main$Inner"; "" without a package. */
static struct lc_text root_name(struct lc_text class)
{
	unsigned names = is_shared(class) ? 3 : 2;
	struct lc_text root = { class.bytes, 0 };

	for (uint32_t at = 0; at < class.len && class.bytes[at] != '/'; at++) {
		if (class.bytes[at] != '.')
			continue;
		root.len = at;
		if (!--names)
			break;
	}
	return root;
}

static uint32_t put_root(struct choice *c, struct lc_text class)
{
	const struct lc_text name = root_name(class);
	uint64_t hash = name.len;
	uint32_t key[2], row;

	for (uint32_t i = 0; i < name.len; i++)
		hash = lc_hash_add(hash, (unsigned char)name.bytes[i]);
	lc_tree_wide_put(key, hash);
	row = lc_table_put(&c->names, key);
	if (row == c->len) {
		c->roots = lc_mem_grow(c->roots, &c->cap, c->len + 1, sizeof(*c->roots));
		c->roots[c->len++] = (struct root){ .name = name };
	}
	return row;
}

static struct lc_text class_of(const struct lc_tree *t, uint32_t method)
{
	return lc_tree_text(t, lc_table_key(&t->methods, method)[LC_METHOD_CLASS]);
}

/* Is it a method of a class outside the JDK, and not the frame of a group? */
static bool is_candidate(const struct lc_tree *t, uint32_t method)
{
	return method && lc_tree_text(t, lc_table_key(&t->methods, method)[LC_METHOD_NAME]).len &&
	       !lc_own_is_jdk(class_of(t, method));
}

static void find_roots(struct choice *c)
{
	c->root_of = lc_mem_zeroed(c->t->methods.count, sizeof(*c->root_of));
	for (uint32_t m = 0; m < c->t->methods.count; m++)
		c->root_of[m] = is_candidate(c->t, m) && !is_launcher(class_of(c->t, m))
		                    ? put_root(c, class_of(c->t, m))
		                    : NONE;
}

/* Samples of all engines by path; without any sample, each allocation site counts as one. The
 * caller frees them. */
static uint64_t *count_samples(const struct lc_tree *t)
{
	uint64_t all = 0, *samples = lc_mem_zeroed(t->paths.count, sizeof(*samples));

	for (uint32_t i = 0; i < t->accesses.count; i++) {
		const uint64_t n = lc_table_values(&t->accesses, i)[LC_ACCESS_SAMPLES];

		samples[lc_table_key(&t->accesses, i)[LC_ACCESS_PATH]] += n;
		all += n;
	}
	for (uint32_t i = 1; !all && i < t->sites.count; i++)
		samples[lc_table_key(&t->sites, i)[LC_SITE_PATH]]++;
	return samples;
}

static bool is_main(const struct lc_tree *t, uint32_t method)
{
	return lc_text_is(lc_tree_text(t, lc_table_key(&t->methods, method)[LC_METHOD_NAME]),
	                  "main");
}

static bool is_reflection(const struct lc_tree *t, uint32_t path)
{
	static const char *const prefixes[] = { "java.lang.reflect.", "jdk.internal.reflect.",
		                                "sun.reflect.", "java.lang.invoke." };

	return lc_text_begins_any(class_of(t, lc_tree_frame(t, path)[LC_FRAME_METHOD]), prefixes,
	                          sizeof(prefixes) / sizeof(*prefixes));
}

/* Fill in what each path begins with. A parent stands before its children. */
static void follow_paths(struct choice *c)
{
	const struct lc_tree *t = c->t;
	const uint32_t count = t->paths.count;

	c->outermost = lc_mem_zeroed(count, sizeof(*c->outermost));
	c->first_main = lc_mem_zeroed(count, sizeof(*c->first_main));
	c->last_main = lc_mem_zeroed(count, sizeof(*c->last_main));
	c->outermost[0] = c->first_main[0] = c->last_main[0] = NONE;
	for (uint32_t path = 1; path < count; path++) {
		const uint32_t parent = lc_tree_parent(t, path);
		const uint32_t method = lc_tree_frame(t, path)[LC_FRAME_METHOD];
		const uint32_t root = c->root_of[method];

		c->outermost[path] = c->outermost[parent];
		c->first_main[path] = c->first_main[parent];
		c->last_main[path] = c->last_main[parent];
		if (is_main(t, method) && !parent && is_launcher(class_of(t, method)))
			c->launched = true;
		if (root == NONE)
			continue;
		if (c->outermost[parent] == NONE) {
			c->outermost[path] = root;
			if (is_main(t, method))
				c->first_main[path] = c->last_main[path] = root;
		} else if (c->last_main[parent] != NONE && is_main(t, method) &&
		           is_reflection(t, parent)) {
			c->last_main[path] = root;
		}
	}
}

static void sum_up(struct choice *c)
{
	for (uint32_t path = 1; path < c->t->paths.count; path++) {
		const uint32_t first = c->first_main[path], last = c->last_main[path];
		const uint64_t n = c->samples[path];

		if (c->outermost[path] != NONE)
			c->roots[c->outermost[path]].begins += n;
		if (last != NONE)
			c->roots[last].main += n;
		if (first != last)
			c->roots[first].passed_on += n;
	}
}

/* Is its main method there to run another one? */
static bool starts_another(const struct root *root)
{
	return 2 * root->passed_on > root->main + root->passed_on;
}

/* The class after java's options makes its package own, unless it only started another one. */
static void add_commands(struct choice *c)
{
	for (size_t i = 0; i < c->load->processes_len; i++) {
		const struct lc_text name = lc_program_name(c->load->processes[i].command);
		struct root *root;
		uint32_t at;

		if (!name.len || lc_text_is(name, "java") || lc_text_ends(name, ".java") ||
		    lc_text_ends(name, ".jar"))
			continue;
		if (is_launcher(name)) {
			c->launched = true;
			continue;
		}
		at = put_root(c, name); /* moves the roots */
		root = &c->roots[at];
		root->own |= !starts_another(root);
	}
}

/* Returns whether a package was found to begin with. */
static bool find_main(struct choice *c)
{
	uint64_t all = 0, begins = 0;
	bool found = false;

	add_commands(c);
	for (size_t i = 0; i < c->len; i++) {
		all += c->roots[i].main;
		begins += c->roots[i].begins;
	}
	for (size_t i = 0; i < c->len; i++) {
		struct root *root = &c->roots[i];

		if (root->main && MAIN_PART * root->main >= all && !starts_another(root))
			root->own = true;
		found |= root->own;
	}
	/* A launcher's threads begin with its own code, which has no root: they go on with ours. */
	for (size_t i = 0; !found && c->launched && i < c->len; i++)
		c->roots[i].own = c->roots[i].begins && MAIN_PART * c->roots[i].begins >= begins;
	for (size_t i = 0; i < c->len; i++)
		found |= c->roots[i].own;
	return found;
}

/* By path: has it an own frame? The caller frees it. */
static bool *own_paths(struct choice *c)
{
	bool *own = lc_mem_zeroed(c->t->paths.count, sizeof(*own));

	for (uint32_t path = 1; path < c->t->paths.count; path++) {
		const uint32_t root = c->root_of[lc_tree_frame(c->t, path)[LC_FRAME_METHOD]];
		const bool before = own[lc_tree_parent(c->t, path)];

		own[path] = before || (root != NONE && c->roots[root].own);
		if (before && root != NONE)
			c->roots[root].called_by_own = true;
	}
	return own;
}

/* Packages at the bottom of threads: libraries call own code, or own code calls them. */
static void add_threads(struct choice *c)
{
	bool *own = own_paths(c);
	uint64_t all = 0;

	for (uint32_t path = 1; path < c->t->paths.count; path++) {
		if (c->outermost[path] == NONE)
			continue;
		all += c->samples[path];
		if (own[path])
			c->roots[c->outermost[path]].calls_own += c->samples[path];
	}
	for (size_t i = 0; i < c->len; i++) {
		struct root *root = &c->roots[i];

		if (root->begins && THREAD_PART * root->begins >= all && !root->calls_own &&
		    !root->called_by_own)
			root->own = true;
	}
	free(own);
}

/* The share of samples with an own frame in those with a frame outside the JDK. */
static double covered(struct choice *c)
{
	bool *own = own_paths(c);
	uint64_t all = 0, found = 0;

	for (uint32_t path = 1; path < c->t->paths.count; path++) {
		all += c->outermost[path] != NONE ? c->samples[path] : 0;
		found += own[path] ? c->samples[path] : 0;
	}
	free(own);
	return all ? (double)found / (double)all : 0;
}

/* ---- patterns ---- */

static void add_pattern(struct lc_tree_own_choice *o, char *pattern)
{
	size_t cap = o->len;

	for (size_t i = 0; i < o->len; i++)
		if (!strcmp(o->patterns[i], pattern)) {
			free(pattern);
			return;
		}
	o->patterns = lc_mem_grow(o->patterns, &cap, o->len + 1, sizeof(*o->patterns));
	o->patterns[o->len++] = pattern;
}

/* "Main", and "Main$*" if it has nested classes, for each class without a package. */
static void add_unnamed(struct choice *c, uint32_t root)
{
	for (uint32_t m = 0; m < c->t->methods.count && c->t->own.len <= UNNAMED_MAX; m++) {
		const struct lc_text class = class_of(c->t, m);
		const char *dollar = memchr(class.bytes, '$', class.len);
		const int len = (int)(dollar ? dollar - class.bytes : class.len);

		if (c->root_of[m] != root || !len)
			continue;
		add_pattern(&c->t->own, lc_mem_text("%.*s", len, class.bytes));
		if (dollar)
			add_pattern(&c->t->own, lc_mem_text("%.*s$*", len, class.bytes));
	}
}

static int order_patterns(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void make_patterns(struct choice *c)
{
	struct lc_tree_own_choice *o = &c->t->own;

	for (size_t i = 0; i < c->len; i++) {
		const struct root *root = &c->roots[i];

		if (root->own && root->name.len)
			add_pattern(o,
			            lc_mem_text("%.*s.*", (int)root->name.len, root->name.bytes));
		else if (root->own)
			add_unnamed(c, (uint32_t)i);
	}
	if (o->len)
		qsort(o->patterns, o->len, sizeof(*o->patterns), order_patterns);
}

static void drop_patterns(struct lc_tree_own_choice *o)
{
	for (size_t i = 0; i < o->len; i++)
		free(o->patterns[i]);
	o->len = 0;
}

/* Take back what was found: the reason is freed with the tree. */
static void give_up(struct lc_tree_own_choice *o, char *why)
{
	drop_patterns(o);
	free(o->why);
	o->why = why;
}

/* Decide by the packages that were found. */
static void decide(struct choice *c)
{
	struct lc_tree_own_choice *o = &c->t->own;
	const double share = covered(c);
	char *tried;

	make_patterns(c);
	o->why = lc_mem_text("%s", c->launched ? "packages that the launcher calls"
	                                       : "packages of the main class and of threads");
	tried = lc_own_choice_text(o, UINT32_MAX);
	if (share <= 0)
		give_up(o, lc_mem_text("no sample is in or below the main class"));
	else if (OWN_PART * share < 1)
		give_up(o, lc_mem_text("only %.1f%% of the samples outside the JDK are in or "
		                       "below %s",
		                       100 * share, tried));
	else if (o->len > UNNAMED_MAX)
		give_up(o, lc_mem_text("the program has many classes without a package"));
	free(tried);
}

static void find(const struct lc_load *load, const uint64_t *samples)
{
	struct choice c = { .load = load, .t = load->tree, .samples = samples };

	lc_table_init(&c.names, 2, 0);
	find_roots(&c);
	follow_paths(&c);
	sum_up(&c);
	if (find_main(&c)) {
		add_threads(&c);
		decide(&c);
	} else {
		c.t->own.why =
		    lc_mem_text("%s", c.launched ? "the main class is a launcher's, and its "
		                                   "threads begin in no other package"
		                                 : "the profile does not tell the main class");
	}
	lc_table_free(&c.names);
	free(c.roots);
	free(c.root_of);
	free(c.outermost);
	free(c.first_main);
	free(c.last_main);
}

static void take(struct lc_tree_own_choice *o, const struct lc_frame_patterns *given)
{
	for (size_t i = 0; i < given->len; i++)
		add_pattern(o, lc_mem_text("%s", given->list[i].text));
	o->given = true;
	o->why = lc_mem_text("--app");
}

static bool matches(const char *pattern, struct lc_text class)
{
	return lc_glob(pattern, pattern + strlen(pattern), class.bytes, class.bytes + class.len,
	               true);
}

static void mark(struct lc_tree *t, struct lc_frame_patterns *given)
{
	for (uint32_t m = 0; m < t->methods.count; m++) {
		const struct lc_text class = class_of(t, m);
		bool own = !t->own.len && is_candidate(t, m);

		if (!lc_tree_text(t, lc_table_key(&t->methods, m)[LC_METHOD_NAME]).len)
			continue;
		for (size_t i = 0; i < t->own.len; i++)
			own |= matches(t->own.patterns[i], class);
		for (size_t i = 0; given && i < given->len; i++)
			given->list[i].fitted |= matches(given->list[i].text, class);
		lc_table_values(&t->methods, m)[LC_METHOD_OWN] =
		    own ? LC_TREE_OWN : LC_TREE_NOT_OWN;
	}
}

/* Find the own line that half of all samples or more are below. */
static void find_common(struct lc_tree *t, const uint64_t *samples)
{
	uint64_t all = samples[0];
	struct lc_table lines;
	uint32_t at;

	lc_table_init(&lines, 2, 1);
	for (uint32_t path = 1; path < t->paths.count; path++) {
		const uint32_t own = samples[path] ? lc_own_path(t, path) : 0, *frame;

		all += samples[path];
		if (!own)
			continue;
		frame = lc_tree_frame(t, own);
		at = lc_table_put(
		    &lines, (const uint32_t[]){ frame[LC_FRAME_METHOD], frame[LC_FRAME_LINE1] });
		*lc_table_values(&lines, at) += samples[path];
	}
	for (uint32_t i = 0; i < lines.count; i++) {
		const uint32_t *line = lc_table_key(&lines, i);

		if (2 * *lc_table_values(&lines, i) < all)
			continue;
		t->own.common_method = line[0];
		t->own.common_line1 = line[1];
	}
	lc_table_free(&lines);
}

void lc_own_choose(const struct lc_load *load, struct lc_frame_patterns *given)
{
	struct lc_tree_own_choice *o = &load->tree->own;
	uint64_t *samples;

	if (o->made)
		return;
	samples = count_samples(load->tree);
	if (given && given->len)
		take(o, given);
	else
		find(load, samples);
	o->made = true;
	mark(load->tree, given);
	find_common(load->tree, samples);
	free(samples);
}

/* A pattern without control characters, which a class of any name may bring. The caller frees it.
 */
static char *visible(const char *pattern)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	lc_emit_text(out, (struct lc_text){ pattern, (uint32_t)strlen(pattern) });
	lc_mem_close_text(out);
	return text;
}

char *lc_own_choice_text(const struct lc_tree_own_choice *c, unsigned columns)
{
	char *text = lc_mem_text("%s", c->len ? "" : "all outside the JDK");

	for (size_t i = 0, shown = c->len; i < c->len && i < shown; i++) {
		char *more = i + 1 < c->len ? lc_mem_text(" and %zu more", c->len - i - 1)
		                            : lc_mem_text("%s", "");
		char *pattern = visible(c->patterns[i]);
		char *longer = lc_mem_text("%s%s%s", text, i ? ", " : "", pattern);

		if (i && (i == SHOWN || lc_columns(longer) + lc_columns(more) > columns)) {
			free(longer);
			free(more);
			more = lc_mem_text(" and %zu more", c->len - i);
			longer = lc_mem_text("%s%s", text, more);
			shown = i;
		}
		free(pattern);
		free(more);
		free(text);
		text = longer;
	}
	lc_cut_middle(text, columns);
	return text;
}
