/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/advice_calls.c - holds the table of calls of the JDK, and of libraries, that
 * programs repeat.
 */
#include <string.h>

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

/* Names of methods that compile a text, evaluate one, and make an object of their own class. */
#define READS_TEXT                                                                                 \
	"compile* prepare* parseExpression createExpression createQuery createNativeQuery "        \
	"createScript"
#define EVALUATES "eval evaluate evaluateString"
#define MAKES "<init> new* create* getInstance"

/* Classes of parameters that say how, not on what, an object works. */
#define SETTINGS                                                                                   \
	"java.lang.Class java.lang.ClassLoader java.util.Locale java.nio.charset.Charset "         \
	"*Config *Configuration *Driver *Factory *Feature *Features *Options *Provider *Settings"

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
	{ "javax.xml.*Factory.new* javax.script.ScriptEngineManager.<init>", NULL,
	  "look for providers of XML or of scripts",
	  "keep the factory, one for each thread if threads cannot share it: each look-up searches "
	  "the class path",
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
	{ READS_TEXT, NULL, "have a library compile texts",
	  "if texts repeat, compile or prepare each once, keep the result, and pass what differs "
	  "as "
	  "parameters or variables: the library reads the text anew for each call",
	  LC_REPEATS_TEXT },
	{ EVALUATES, NULL, "have a library evaluate texts",
	  "if texts repeat, compile each once, keep the result, and pass what differs as "
	  "variables: "
	  "the library reads the text anew for each call",
	  LC_REPEATS_EVALUATES },
	{ MAKES, NULL, "set up objects of a library",
	  "make the object once and use it again, one for each thread if threads cannot share it: "
	  "the call gets no data, so it does the same work each time",
	  LC_REPEATS_SET_UP },
};

/* ---- parameters ---- */

/* The next parameter's class, with dots, in `name`; "" of a number. Returns what follows it. */
static const char *next_parameter(const char *p, const char *end, char *name, size_t size)
{
	size_t len = 0;

	while (p < end && *p == '[')
		p++;
	if (p < end && *p == 'L')
		for (p++; p < end && *p != ';'; p++)
			if (len + 1 < size)
				name[len++] = *p == '/' ? '.' : *p;
	name[len] = '\0';
	return p < end ? p + 1 : end;
}

/* Do parameters say how an object works, not on what? A boolean does. */
static bool takes_no_data(const char *p, const char *end)
{
	char name[256];

	while (p < end) {
		const bool is_boolean = *p == 'Z';

		p = next_parameter(p, end, name, sizeof(name));
		if (!is_boolean &&
		    !lc_advice_matches(SETTINGS, (struct lc_text){ name, (uint32_t)strlen(name) }))
			return false;
	}
	return true;
}

static bool takes_text(const char *p, const char *end)
{
	char name[256];

	while (p < end) {
		p = next_parameter(p, end, name, sizeof(name));
		if (!strcmp(name, "java.lang.String") || !strcmp(name, "java.lang.CharSequence"))
			return true;
	}
	return false;
}

/* Is the method a constructor, or does it return its own class, from `p` on, as a factory does? */
static bool makes_own_class(const struct lc_tree *t, const uint32_t *method, const char *p,
                            const char *end)
{
	const struct lc_text class = lc_tree_text(t, method[LC_METHOD_CLASS]);
	char name[256];

	if (lc_text_is(lc_tree_text(t, method[LC_METHOD_NAME]), "<init>"))
		return true;
	if (p >= end || *p != 'L')
		return false;
	next_parameter(p, end, name, sizeof(name));
	return lc_text_is(class, name);
}

/* Has the library's method the parameters that the call has? */
static bool has_parameters(const struct lc_tree *t, const struct lc_advice_call *call,
                           uint32_t number)
{
	const uint32_t *method = lc_table_key(&t->methods, number);
	const struct lc_text signature = lc_tree_text(t, method[LC_METHOD_SIGNATURE]);
	const char *end = signature.bytes + signature.len;
	const char *close = signature.len ? memchr(signature.bytes, ')', signature.len) : NULL;

	if (!close || lc_own_is_method(t, number) ||
	    lc_own_is_jdk(lc_tree_text(t, method[LC_METHOD_CLASS])))
		return false;
	return call->repeats != LC_REPEATS_SET_UP ? takes_text(signature.bytes + 1, close)
	                                          : takes_no_data(signature.bytes + 1, close) &&
	                                                makes_own_class(t, method, close + 1, end);
}

bool lc_advice_is_below(const struct lc_tree *t, const struct lc_advice_call *call, uint32_t method)
{
	if (call->repeats <= LC_REPEATS_LIBRARY)
		return lc_advice_is_method(t, method, call->below);
	return lc_advice_matches(
	           call->below,
	           lc_tree_text(t, lc_table_key(&t->methods, method)[LC_METHOD_NAME])) &&
	       has_parameters(t, call, method);
}

bool lc_advice_is_call(const struct lc_tree *t, const struct lc_advice_call *call, uint32_t path,
                       bool of)
{
	const uint32_t caller = of ? lc_tree_parent(t, path) : 0;

	return of && (call->repeats <= LC_REPEATS_LIBRARY ||
	              (caller && lc_own_is_method(t, lc_tree_method_number(t, caller))));
}

/* ---- paths ---- */

bool lc_advice_goes_on(const struct lc_tree *t, const struct lc_advice_call *call, uint32_t path)
{
	return call->repeats >= LC_REPEATS_LIBRARY
	           ? !lc_own_is_method(t, lc_tree_method_number(t, path))
	           : lc_own_is_jdk_frame(t, path);
}

/* Is one of the frames at the end of the path such a call? */
static bool is_below(const struct lc_tree *t, uint32_t path, const struct lc_advice_call *call)
{
	for (; path && lc_advice_goes_on(t, call, path); path = lc_tree_parent(t, path))
		if (lc_advice_is_call(t, call, path,
		                      lc_advice_is_below(t, call, lc_tree_method_number(t, path))))
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
