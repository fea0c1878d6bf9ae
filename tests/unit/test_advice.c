/* uses: analyzer/objects/analysis/advice.c analyzer/objects/analysis/advice_calls.c analyzer/objects/analysis/advice_users.c analyzer/objects/analysis/own_code.c analyzer/objects/analysis/reaches.c analyzer/objects/analysis/ranking.c analyzer/objects/analysis/offheap.c analyzer/objects/analysis/known_lines.c analyzer/objects/analysis/roll_up.c analyzer/objects/analysis/deal.c analyzer/objects/analysis/touch.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/out/json.c analyzer/out/screen.c analyzer/out/emit.c analyzer/model/load.c analyzer/model/load_groups.c analyzer/model/load_process.c analyzer/model/redacted.c analyzer/model/load_range.c analyzer/model/periods.c analyzer/model/manifest_file.c analyzer/model/blockfile.c analyzer/base/file.c analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree_spans.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/base/options.c src/base/nearest.c src/format/section.c analyzer/objects/analysis/advice_block.c src/base/redact.c -lm -lzstd -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_advice.c - checks which change is advised for a row, and that one which lacks a part of the
 * evidence gets another or none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/objects/analysis/advice.h"
#include "src/format/kinds.h"

enum { SAMPLES = 100 };

/* A row, in few words. */
struct row {
	const char *class, *name; /* `name`: field that holds the objects */
	const char *through;      /* reference of 80 of the samples */
	enum lc_reference kind;
	enum lc_why why; /* for which 80 of the samples read the header */
	enum lc_finding_kind finding;
	enum lc_touch_kind touch;
	const char *field;
	uint64_t made, stepped; /* samples at the line that allocates; with a known step */
	double size;
	bool young; /* the objects die young */
	const char *const
	    *made_by;   /* "Class.method" from the program's frame to the leaf, then NULL */
	const char *in; /* "Class.method" of most samples; NULL: none is known */
	const char *const *used_by; /* instead: as made_by */
};

static struct lc_tree tree;

static uint32_t text(const char *s)
{
	return lc_tree_string(&tree, s, strlen(s));
}

/* A path that ends in line 7 of a method, "A.m". */
static uint32_t below(uint32_t parent, const char *name)
{
	const char *dot = strrchr(name, '.');
	const uint32_t method[LC_METHOD_KEY] = { lc_tree_string(&tree, name, (size_t)(dot - name)),
		                                 text(dot + 1), text("()V"), text("A.java") };
	const uint32_t frame[LC_FRAME_KEY] = { lc_table_put(&tree.methods, method), 8, 8 };
	const uint32_t path[LC_PATH_KEY] = { parent, lc_table_put(&tree.frames, frame) };

	return lc_table_put(&tree.paths, path);
}

static uint32_t path_of(const char *const *names)
{
	uint32_t path = 0;

	for (size_t i = 0; names && names[i]; i++)
		path = below(path, names[i]);
	return path;
}

/* The site of the row's objects, of that call path. */
static uint32_t site_of(const struct row *r)
{
	const uint32_t key[LC_SITE_KEY] = { text(r->class), path_of(r->made_by) };

	return lc_table_put(&tree.sites, key);
}

static char *advice_of(const struct row *r, struct lc_advice_change *change)
{
	const struct lc_rank_name name = { .kind = LC_NAME_FIELD,
		                           .name = text(r->name ? r->name : "") };
	const uint32_t site = site_of(r);
	const struct lc_rank_access access = { r->in ? below(0, r->in) : path_of(r->used_by), 80 };
	const struct lc_rank_row row = { .class = text(r->class),
		                         .samples = SAMPLES,
		                         .names = &name,
		                         .names_len = r->name ? 1 : 0,
		                         .path = lc_table_key(&tree.sites, site)[LC_SITE_PATH],
		                         .accesses = &access,
		                         .accesses_len = 1,
		                         .sites = &site,
		                         .sites_len = 1 };
	struct lc_touch touch = { .kind = r->touch,
		                  .made = r->made,
		                  .observed = SAMPLES,
		                  .at = SAMPLES,
		                  .stepped = r->stepped,
		                  .field = text(r->field ? r->field : "") };
	struct lc_reaches_one one = { .name = text(r->through ? r->through : ""),
		                      .kind = r->kind,
		                      .samples = 80 };
	struct lc_reaches reaches = { .samples = SAMPLES,
		                      .known = r->through ? 80 : 0,
		                      .list = &one,
		                      .len = r->through ? 1 : 0 };

	reaches.why[r->why] =
	    (struct lc_reaches_why){ .samples = 80, .path = below(0, "A.m"), .path_samples = 80 };
	return lc_advice_find(
	    &(struct lc_advice_of){ &tree, &row, &touch, &reaches, r->finding, r->size, r->young },
	    change);
}

/* The row gets that advice; NULL: none. */
static void gets(const struct row *r, const char *wanted)
{
	struct lc_advice_change change;
	char *found = advice_of(r, &change);

	if (!wanted) {
		if (found)
			fail_msg("%s: %s", r->class, found);
	} else if (!found || !strstr(found, wanted)) {
		fail_msg("%s: \"%s\" is not in: %s", r->class, wanted, found ? found : "nothing");
	}
	free(found);
}

static int a_tree(void **state)
{
	lc_tree_init(&tree);
	return 0;
}

static int no_tree(void **state)
{
	lc_tree_free(&tree);
	return 0;
}

#define HOT .finding = LC_FINDING_HOT, .touch = LC_TOUCH_ALL_OVER

static void boxes_are_better_numbers(void **state)
{
	gets(&(struct row){ "java.lang.Long", NULL, "a.Main.keys[]", LC_REFERENCE_FIELD, HOT },
	     "keep the numbers themselves in Main.keys[]");
	gets(&(struct row){ "java.lang.Long", NULL, "a.Main.key", LC_REFERENCE_FIELD, HOT },
	     "make Main.key a number");
	gets(&(struct row){ "java.lang.Long", NULL, "java.util.HashMap$Node.key",
	                    LC_REFERENCE_FIELD, HOT },
	     "a collection of primitives");
	gets(&(struct row){ "java.lang.Integer", .made = 90, HOT }, "pass the number itself");
	gets(&(struct row){ "long[]", NULL, "a.Main.keys", LC_REFERENCE_FIELD, HOT }, NULL);
	/* A new array is in no field that could keep something else. */
	gets(&(struct row){ "java.lang.Long", NULL, "(new a.Key[])[]", LC_REFERENCE_NEW, HOT },
	     "use numbers");
	gets(&(struct row){ "a.Integer", HOT }, NULL);
}

static void tables_of_maps_are_known_by_the_field_that_holds_them(void **state)
{
	struct lc_advice_change change;

	gets(&(struct row){ "java.util.HashMap$Node[]", "java.util.HashMap.table", HOT },
	     "look a key up once");
	gets(
	    &(struct row){ "java.util.HashMap$Node[]", "java.util.HashMap.table", .made = 90, HOT },
	    "give the map its size");
	gets(&(struct row){ "java.util.HashMap$Node", HOT }, "look a key up once");
	gets(&(struct row){ "java.util.HashMap$Node", NULL, "java.util.HashMap$HashIterator.next",
	                    LC_REFERENCE_FIELD, HOT },
	     "keep the values in an array");
	gets(&(struct row){ "java.util.TreeMap$Entry", NULL,
	                    "java.util.TreeMap$PrivateEntryIterator.next", LC_REFERENCE_FIELD,
	                    HOT },
	     "keep the values in an array");
	gets(&(struct row){ "java.util.TreeMap$Entry", NULL, "java.util.TreeMap.root",
	                    LC_REFERENCE_FIELD, HOT },
	     "use a hash map");
	gets(&(struct row){ "java.util.HashMap$Node[]", "a.Own.table", HOT }, NULL);
	free(advice_of(&(struct row){ "java.util.HashMap$Node", HOT }, &change));
	assert_int_equal(change.joins, LC_JOINS_ALL); /* nodes and tables are of one map */
	free(advice_of(&(struct row){ "java.util.LinkedList$Node", HOT }, &change));
	assert_int_equal(change.joins, LC_JOINS_NONE);
}

static void queues_and_maps_that_are_gone_through(void **state)
{
	gets(&(struct row){ "java.util.concurrent.LinkedBlockingQueue$Node", HOT },
	     "use an ArrayBlockingQueue");
	gets(&(struct row){ "java.util.concurrent.ConcurrentLinkedDeque$Node", HOT },
	     "use an ArrayBlockingQueue");
	gets(&(struct row){ "a.LinkedBlockingQueue$Node", HOT }, NULL);
	/* A map has no index. */
	gets(&(struct row){ "java.util.HashMap$KeyIterator", .young = true, HOT },
	     "with forEach()");
	gets(&(struct row){ "java.util.TreeMap$EntryIterator", .young = true, HOT },
	     "with forEach()");
	gets(&(struct row){ "java.util.HashMap$KeyIterator", HOT }, NULL);
	gets(&(struct row){ "java.util.AbstractList$Itr", .young = true, HOT }, "by index");
}

static void what_is_made_again_and_again_is_kept(void **state)
{
	gets(&(struct row){ "byte[]", "java.lang.AbstractStringBuilder.value", .made = 90, HOT },
	     "give the builder the size");
	gets(&(struct row){ "byte[]", "java.lang.AbstractStringBuilder.value", .made = 10, HOT },
	     NULL);
	gets(&(struct row){ "byte[]", "java.io.BufferedInputStream.buf", .made = 90, HOT },
	     "keep one stream or buffer");
	gets(&(struct row){ "java.util.regex.Matcher", .made = 90, HOT }, "use one Matcher again");
	gets(&(struct row){ "java.util.regex.Matcher", .made = 10, HOT }, NULL);
	gets(&(struct row){ "java.util.regex.Matcher", .young = true, HOT }, "use one Matcher");
	gets(&(struct row){ "java.util.Optional", .young = true, HOT }, "makes an Optional");
	gets(&(struct row){ "java.util.Optional[]", .young = true, HOT }, NULL);
	gets(&(struct row){ "java.util.stream.ReferencePipeline$Head", .young = true, HOT },
	     "use a loop here");
	gets(&(struct row){ "java.util.ArrayList$Itr", .young = true, HOT }, "by index");
	gets(&(struct row){ "java.time.LocalDateTime", .young = true, HOT }, "time as a long");
	gets(&(struct row){ "java.time.LocalDateTime", HOT }, NULL);
	gets(&(struct row){ "a.Record", .young = true, HOT }, NULL);
	gets(&(struct row){ "a.b.ParseException", .made = 90, HOT }, "return a value");
	gets(&(struct row){ "a.Record", .made = 90, HOT }, "allocate fewer or smaller ones");
}

static void a_call_that_makes_objects_each_time_is_made_once(void **state)
{
	static const char *const compile[] = { "a.Main.find", "java.util.regex.Pattern.compile",
		                               "java.util.regex.Pattern.newSlice", NULL };
	static const char *const format[] = { "a.Main.print", "java.text.SimpleDateFormat.<init>",
		                              "sun.util.calendar.Gregorian.newCalendarDate", NULL };
	static const char *const text_of[] = { "a.Main.print", "java.lang.String.format",
		                               "java.util.Formatter.parse", NULL };
	static const char *const member[] = { "a.Main.call", "java.lang.Class.getMethods",
		                              "java.lang.reflect.Method.copy", NULL };
	static const char *const direct[] = { "a.Main.send", "java.nio.ByteBuffer.allocateDirect",
		                              "java.nio.DirectByteBuffer.<init>", NULL };
	static const char *const proxy[] = { "a.Main.wrap",
		                             "java.lang.reflect.Proxy.newProxyInstance",
		                             "java.lang.Class.reflectionData", NULL };
	static const char *const mine[] = { "a.Main.print", NULL };
	static const char *const jdks[] = { "a.Main.print", "java.text.Format.format", NULL };
	/* A program's own comparator, or loader, runs below the JDK's call. */
	static const char *const own[] = { "a.Main.find", "java.util.regex.Pattern.compile",
		                           "a.Main.map", NULL };

	gets(&(struct row){ "int[]", .young = true, .made_by = compile, HOT },
	     "static final Pattern");
	gets(&(struct row){ "int[]", .made_by = compile, HOT }, NULL);
	gets(&(struct row){ "int[]", .young = true, .made_by = own, HOT }, NULL);
	gets(&(struct row){ "sun.util.calendar.Gregorian$Date", .young = true, .made_by = format,
	                    HOT },
	     "make the formatter once");
	gets(&(struct row){ "java.lang.Object[]", .young = true, .made_by = text_of, HOT },
	     "append the parts to a StringBuilder");
	gets(&(struct row){ "java.lang.Object[]", .made_by = text_of, HOT }, NULL);
	gets(&(struct row){ "java.lang.reflect.Method", .young = true, .made_by = member, HOT },
	     "look the member up once");
	gets(&(struct row){ "java.nio.DirectByteBuffer", .young = true, .made_by = direct, HOT },
	     "keep one direct buffer");
	gets(&(struct row){ "a.Any", .young = true, .made_by = proxy, HOT },
	     "proxy or class loader");
	gets(&(struct row){ "java.lang.StringBuffer", .young = true, .made_by = mine, HOT },
	     "use one builder again");
	gets(&(struct row){ "java.lang.StringBuffer", .young = true, .made_by = jdks, HOT }, NULL);
}

static void a_collection_that_grows_each_time_is_given_its_size(void **state)
{
	static const char *const list[] = { "a.Main.load", "java.util.ArrayList.grow",
		                            "java.util.Arrays.copyOf", NULL };
	static const char *const first[] = { "a.Main.load", "java.util.ArrayList.grow", NULL };
	static const char *const text_of[] = {
		"a.Main.print", "java.lang.AbstractStringBuilder.ensureCapacityInternal",
		"java.util.Arrays.copyOf", NULL
	};

	gets(&(struct row){ "java.lang.Object[]", .young = true, .made_by = list, HOT },
	     "it grows by copying");
	gets(&(struct row){ "java.lang.Object[]", .made_by = list, HOT }, NULL);
	gets(&(struct row){ "java.lang.Object[]", .young = true, .made_by = first, HOT }, NULL);
	gets(&(struct row){ "byte[]", .young = true, .made_by = text_of, HOT }, "give the builder");
}

static void constants_that_are_fetched_for_their_hash_are_better_in_an_enum_map(void **state)
{
	gets(&(struct row){ "a.Colour", .in = "java.lang.Enum.hashCode", HOT },
	     "use an EnumMap or EnumSet");
	gets(&(struct row){ "a.Colour", .in = "java.lang.Enum.ordinal", HOT }, NULL);
}

static void headers_alone_are_kept_beside_the_reference(void **state)
{
	const struct row row = { .class = "a.Square",
		                 .through = "a.Main.shapes[]",
		                 .kind = LC_REFERENCE_FIELD,
		                 .why = LC_WHY_INTERFACE,
		                 .finding = LC_FINDING_HEADER,
		                 .touch = LC_TOUCH_HEADER };
	struct row other = row;

	gets(&row, "because the call at A.m:7 has several targets");
	gets(&row, "beside each element of Main.shapes[]");
	other.through = "a.Owner.shape";
	gets(&other, "keep a number for the class in a.Owner");
	other.why = LC_WHY_TYPE;
	gets(&other, "keep what the type check at A.m:7 decides in a.Owner");
	other.through = NULL;
	gets(&other, "in the referring object or array");
	other.finding = LC_FINDING_HOT; /* its fields are read too */
	gets(&other, NULL);
	other.class = "int[]";
	other.finding = LC_FINDING_HEADER;
	gets(&other, "keep the length beside the reference");
}

static void shapes_of_the_program_s_own_classes(void **state)
{
	struct row row = { .class = "a.Node",
		           .through = "a.Node.next or a.Main.head",
		           .kind = LC_REFERENCE_SEVERAL,
		           HOT };

	gets(&row, "each node is reached only through another (Node.next)");
	row.through = "a.Main.nodes[]";
	row.kind = LC_REFERENCE_FIELD;
	gets(&row, NULL);
	row.size = 32;
	gets(&row, "in arrays, one for each field, instead of Main.nodes[]");
	row.through = "java.util.ArrayList.elementData[]"; /* an array that the code does not see */
	gets(&row, NULL);
	row.through = "(new a.Node[])[]";
	row.kind = LC_REFERENCE_NEW;
	gets(&row, "in arrays, one for each field, instead of an array of objects");
	row.size = 0;
	gets(&row, NULL);
	row.kind = LC_REFERENCE_FIELD;
	row.through = "a.Main.nodes[]";
	row.touch = LC_TOUCH_ONE_FIELD;
	row.field = "rank";
	gets(&row, "keep rank in an array of its own, beside Main.nodes[]");
	row.through = "a.Order.item";
	gets(&row, "keep rank in a.Order");
	row.through = "java.util.Optional.value"; /* a class that nobody can change */
	gets(&row, NULL);
	row = (struct row){ "double[]", NULL, "a.Point.xy", LC_REFERENCE_FIELD, .size = 32, HOT };
	gets(&row, "keep the few elements in fields of a.Point");
	row.size = 1024;
	gets(&row, NULL);
	row.size = 1 << 20;
	gets(&row, "use smaller or fewer elements");
	/* A matrix of rows: going down a column has no step in any of them. */
	row.through = "a.Matrix.rows[]";
	gets(&row, "if the inner loop goes from array to array of Matrix.rows[], swap the loops");
	row.stepped = SAMPLES / 2;
	gets(&row, "use smaller or fewer elements");
}

/* ---- whose code uses the objects ---- */

#define FRAMES(...)                                                                                \
	.used_by = (const char *const[])                                                           \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

static void of_library(const char *class, const char *method)
{
	const uint32_t key[LC_METHOD_KEY] = { text(class), text(method), text("()V"),
		                              text("A.java") };

	lc_table_values(&tree.methods, lc_table_put(&tree.methods, key))[LC_METHOD_OWN] =
	    LC_TREE_NOT_OWN;
}

static void a_library_that_makes_objects_anew_is_called_less_often(void **state)
{
	struct row row = { .class = "org.lib.Event",
		           FRAMES("a.Main.run", "org.lib.Sweep.add", "java.util.ArrayList.add"),
		           .young = true,
		           HOT };

	gets(&row, NULL); /* own code, so far as is known */
	of_library("org.lib.Sweep", "add");
	gets(&row, "call o.l.Sweep.add less often at a.Main.run:7, or let the library keep");
	row.young = false; /* what it keeps */
	gets(&row, NULL);
	row = (struct row){ .class = "org.lib.Event", FRAMES("a.Main.run"), .young = true, HOT };
	gets(&row, NULL); /* own code uses them */
}

/* Own code cannot make a library's elements smaller. */
static void large_arrays_of_a_library_are_asked_for_less_often(void **state)
{
	struct row row = {
		.class = "byte[]", FRAMES("a.Main.run", "org.lib.Store.get"), .size = 1 << 20, HOT
	};

	of_library("org.lib.Store", "get");
	gets(&row, "call o.l.Store.get less often at a.Main.run:7, keep what it returns, or ask");
	row = (struct row){ .class = "byte[]", FRAMES("a.Main.run"), .size = 1 << 20, HOT };
	gets(&row, "use smaller or fewer elements");
}

static void what_the_jdk_has_inside_is_asked_for_less_often(void **state)
{
	const struct row dates = { .class = "java.util.HashMap$Node",
		                   FRAMES("a.Main.run", "java.time.format.DateTimeFormatter.parse",
		                          "java.time.format.Parsed.copy",
		                          "java.util.HashMap.putVal"),
		                   HOT },
	                 own = { .class = "java.util.HashMap$Node",
		                 FRAMES("a.Main.run", "java.util.HashMap.putVal"),
		                 HOT },
	                 grouped = { .class = "java.util.HashMap$Node",
		                     FRAMES("a.Main.run", "java.util.stream.Collectors.groupingBy",
		                            "java.util.HashMap.putVal"),
		                     HOT };

	gets(&dates, "call j.t.f.DateTimeFormatter.parse less often, or keep what it returns");
	gets(&own, "open addressing");
	gets(&grouped, "open addressing"); /* the program's own map */
}

/* The call that uses the objects, in words (NULL: there is none), and is the advice about it? */
static void calls(const struct row *r, const char *wanted, bool less_often)
{
	struct lc_advice_change change;
	char *words;

	free(advice_of(r, &change));
	assert_int_equal(change.less_often, less_often);
	assert_int_equal(change.call != 0, wanted != NULL);
	if (!wanted)
		return;
	words = lc_advice_call_words(&tree, change.call, false);
	assert_string_equal(words, wanted);
	free(words);
}

static void the_call_that_uses_the_objects_is_known(void **state)
{
	const struct row dates = { .class = "java.util.HashMap$Node",
		                   FRAMES("a.Main.run", "java.time.format.DateTimeFormatter.parse",
		                          "java.util.HashMap.putVal"),
		                   HOT };
	struct row row = { .class = "org.lib.Event",
		           FRAMES("a.Main.run", "org.lib.Sweep.add", "java.util.ArrayList.add"),
		           HOT };

	of_library("org.lib.Sweep", "add");
	calls(&row, "o.l.Sweep.add at a.Main.run:7", false);
	row.young = true;
	calls(&row, "o.l.Sweep.add at a.Main.run:7", true);
	calls(&dates, "j.t.f.DateTimeFormatter.parse", true);
	row = (struct row){ .class = "java.util.HashMap$Node",
		            FRAMES("a.Main.run", "java.util.HashMap.putVal"),
		            HOT };
	calls(&row, NULL, false); /* own code uses them */
}

/* Decimal numbers go with all of their code, boxes with none beside their own. */
static void a_change_does_without_code_of_the_jdk(void **state)
{
	struct lc_advice_change change;

	free(advice_of(&(struct row){ "java.math.BigDecimal", HOT }, &change));
	assert_string_equal(change.gone, "java.math.*");
	free(advice_of(&(struct row){ "java.lang.Long", HOT }, &change));
	assert_null(change.gone);
}

static void a_list_of_scala_is_better_an_array(void **state)
{
	const struct row row = { .class = "scala.collection.immutable.$colon$colon",
		                 .through = "scala.collection.immutable.$colon$colon.next",
		                 .kind = LC_REFERENCE_FIELD,
		                 HOT };

	gets(&row, "use an ArraySeq, a Vector or an array");
}

static void names(const char *name, const char *wanted)
{
	char *found = lc_reaches_name((struct lc_text){ name, (uint32_t)strlen(name) }, 0);

	assert_string_equal(found, wanted);
	free(found);
}

static void references_are_named_without_packages(void **state)
{
	names("java.util.HashMap.table[]", "HashMap.table[]");
	names("a.b.C.d or a.b.E.f()", "C.d or E.f()");
	names("new java.util.HashMap$Node[]", "new HashMap$Node[]");
	names("(new java.lang.String[])[] or a.B.c", "(new String[])[] or B.c");
}

static void a_reference_of_few_samples_is_no_evidence(void **state)
{
	struct row row = { "java.lang.Long", NULL, "a.Main.keys[]", LC_REFERENCE_FIELD, HOT };
	const struct lc_rank_row few = { .class = text(row.class), .samples = SAMPLES };
	struct lc_reaches_one one = { .name = text(row.through), .kind = row.kind, .samples = 40 };
	const struct lc_reaches reaches = {
		.samples = SAMPLES, .known = 40, .list = &one, .len = 1
	};
	const struct lc_touch touch = { .kind = LC_TOUCH_ALL_OVER };
	struct lc_advice_change change;
	char *found = lc_advice_find(
	    &(struct lc_advice_of){ &tree, &few, &touch, &reaches, LC_FINDING_HOT, 0, false },
	    &change);

	assert_non_null(found);
	assert_null(strstr(found, "Main.keys"));
	free(found);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, a_tree, no_tree)
	const struct CMUnitTest tests[] = {
		TEST(boxes_are_better_numbers),
		TEST(tables_of_maps_are_known_by_the_field_that_holds_them),
		TEST(queues_and_maps_that_are_gone_through),
		TEST(what_is_made_again_and_again_is_kept),
		TEST(a_call_that_makes_objects_each_time_is_made_once),
		TEST(a_collection_that_grows_each_time_is_given_its_size),
		TEST(constants_that_are_fetched_for_their_hash_are_better_in_an_enum_map),
		TEST(headers_alone_are_kept_beside_the_reference),
		TEST(shapes_of_the_program_s_own_classes),
		TEST(a_library_that_makes_objects_anew_is_called_less_often),
		TEST(large_arrays_of_a_library_are_asked_for_less_often),
		TEST(what_the_jdk_has_inside_is_asked_for_less_often),
		TEST(the_call_that_uses_the_objects_is_known),
		TEST(a_change_does_without_code_of_the_jdk),
		TEST(a_list_of_scala_is_better_an_array),
		TEST(references_are_named_without_packages),
		TEST(a_reference_of_few_samples_is_no_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
