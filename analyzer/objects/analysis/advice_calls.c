/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/advice_calls.c - holds the table of calls of the JDK, and of libraries, that
 * programs repeat.
 */
#include "analyzer/objects/analysis/advice.h"
#include "analyzer/objects/analysis/own_code.h"

/* Methods of libraries that compile a text. */
#define SQL_COMPILERS                                                                              \
	"org.hsqldb.ParserCommand.compile* org.h2.command.Parser.prepare* "                        \
	"org.apache.derby.impl.sql.GenericStatement.prep* "                                        \
	"org.apache.calcite.prepare.CalcitePrepareImpl.prepare*"
#define SPARQL_PARSERS "org.apache.jena.query.QueryFactory.create"
#define TEXT_COMPILERS                                                                             \
	"freemarker.template.Template.<init> "                                                     \
	"org.apache.commons.jexl3.JexlEngine.createExpression "                                    \
	"org.apache.commons.jexl3.JexlEngine.createScript "                                        \
	"org.apache.commons.jexl3.internal.Engine.createScript"

/*
 * Calls of the JDK and of libraries that the program makes again and again: most make objects.
 * Rows of objects with one such call have one cause.
 */
static const struct lc_advice_call calls[] = {
	{ "java.util.regex.Pattern.compile", NULL, "compile regular expressions",
	  "compile the expression once (a static final Pattern): the code compiles it each time",
	  LC_REPEATS_JDK },
	{ "java.text.*Format.<init> java.text.*Format.get*Instance "
	  "java.time.format.DateTimeFormatter.ofPattern",
	  NULL, "make formatters",
	  "make the formatter once and keep it: the code makes one each time", LC_REPEATS_JDK },
	{ "java.time.format.DateTimeFormatter.parse* java.text.*DateFormat.parse*", NULL,
	  "parse dates",
	  "say which format the texts have instead of trying several, keep the dates of texts that "
	  "repeat, or read the digits at fixed places",
	  LC_REPEATS_JDK },
	{ "java.util.Formatter.*", NULL, "format texts by patterns (String.format())",
	  "append the parts to a StringBuilder: each call reads its pattern again",
	  LC_REPEATS_JDK },
	{ "java.lang.Class.get*Method* java.lang.Class.get*Field* java.lang.Class.get*Constructor*",
	  NULL, NULL, LC_ADVICE_LOOK_UP_ONCE, LC_REPEATS_JDK },
	{ "java.lang.reflect.Proxy.* java.lang.ClassLoader.<init> "
	  "java.lang.ClassLoader.defineClass* "
	  "java.lang.invoke.MethodHandles$Lookup.define*",
	  NULL, NULL,
	  "make the class, proxy or class loader once and keep it: the code makes one each time",
	  LC_REPEATS_JDK },
	{ "java.nio.ByteBuffer.allocateDirect", NULL, NULL,
	  "keep one direct buffer and use it again (clear()): its memory is reserved, cleared and "
	  "freed each time",
	  LC_REPEATS_JDK },
	{ "java.util.ArrayList.grow java.util.ArrayDeque.grow java.util.Vector.grow "
	  "java.util.PriorityQueue.grow",
	  "java.util.Arrays.copyOf*", "copy the arrays of collections that grow",
	  "give the collection its size when it is made, or clear it and use it again: it grows by "
	  "copying each time",
	  LC_REPEATS_JDK },
	{ "java.lang.AbstractStringBuilder.*", "java.util.Arrays.copyOf*", NULL,
	  "give the builder the size that it needs, or use one builder again (setLength(0)): it "
	  "grows by copying each time",
	  LC_REPEATS_JDK },
	{ "java.util.Random.next", NULL, "draw numbers of java.util.Random",
	  "use a SplittableRandom for each thread, or ThreadLocalRandom: Random updates its seed "
	  "atomically for each number",
	  LC_REPEATS_NOTHING },
	{ SQL_COMPILERS, NULL, "compile SQL statements",
	  "prepare the statement once, with parameters (PreparedStatement), and keep it: the "
	  "library "
	  "compiles its text each time",
	  LC_REPEATS_LIBRARY },
	{ SPARQL_PARSERS, NULL, "parse SPARQL queries",
	  "parse the query once, keep it, and set its variables for each use (substitution()): the "
	  "library parses its text each time",
	  LC_REPEATS_LIBRARY },
	{ TEXT_COMPILERS, NULL, "compile templates or expressions",
	  "compile the text once, and keep the template or expression: the library compiles it "
	  "each "
	  "time",
	  LC_REPEATS_LIBRARY },
};

bool lc_advice_goes_on(const struct lc_tree *t, const struct lc_advice_call *call, uint32_t path)
{
	return call->repeats == LC_REPEATS_LIBRARY
	           ? !lc_own_is_method(t, lc_tree_method_number(t, path))
	           : lc_own_is_jdk_frame(t, path);
}

/* Is one of the frames at the end of the path such a call? */
static bool is_below(const struct lc_tree *t, uint32_t path, const struct lc_advice_call *call)
{
	for (; path && lc_advice_goes_on(t, call, path); path = lc_tree_parent(t, path))
		if (lc_advice_method_matches(t, path, call->below))
			return true;
	return false;
}

bool lc_advice_made_by(const struct lc_tree *t, const struct lc_rank_row *row,
                       const struct lc_advice_call *call, const bool *below)
{
	size_t sites = 0;

	for (size_t i = 0; i < row->sites_len; i++) {
		const uint32_t path = lc_table_key(&t->sites, row->sites[i])[LC_SITE_PATH];

		if (path && (below ? below[path] : is_below(t, path, call)) &&
		    (!call->leaf || lc_advice_method_matches(t, path, call->leaf)))
			sites++;
	}
	return sites && 2 * sites >= row->sites_len;
}

const struct lc_advice_call *lc_advice_calls(size_t *len)
{
	*len = sizeof(calls) / sizeof(*calls);
	return calls;
}
