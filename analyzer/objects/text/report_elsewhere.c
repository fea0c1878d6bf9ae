/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_elsewhere.c - see report_elsewhere.h. */
#include "analyzer/objects/text/report_elsewhere.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/findings.h"
#include "analyzer/objects/analysis/ranking.h"
#include "src/base/order.h"
#include "src/format/kinds.h"

enum {
	SHOWN = 4,         /* parts */
	LEAST_PERCENT = 3, /* of all samples: less is not shown */
};

static const struct {
	const char *name, *more;
} texts[LC_ELSEWHERE_COUNT] = {
	[LC_ELSEWHERE_INTERPRETER] = { "interpreter", "--since leaves the warm-up out" },
	[LC_ELSEWHERE_JVM_CODE] = { "libjvm", "--view=code shows which code calls libjvm" },
	[LC_ELSEWHERE_NATIVE_CODE] = { "native code",
	                               "--view=code shows which code calls native code; perf looks "
	                               "into it" },
	[LC_ELSEWHERE_JVM_MEMORY] = { "stack or JVM memory",
	                              "--view=code shows where compiled code calculates" },
	[LC_ELSEWHERE_OUTSIDE] = { "memory outside the heap",
	                           "--view=code shows which code uses that memory" },
	[LC_ELSEWHERE_NO_ACCESS] = { "code without memory access",
	                             "--view=code shows where compiled code calculates" },
	[LC_ELSEWHERE_UNKNOWN] = { "address unknown",
	                           "--view=recording shows how addresses were found" },
};

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

void lc_report_elsewhere_divide(const struct lc_view *v, uint64_t parts[LC_ELSEWHERE_COUNT])
{
	uint64_t rest = 0;

	for (unsigned b = LC_BUCKET_HEAP_UNKNOWN; b < LC_BUCKET_COUNT; b++)
		rest += v->buckets[b];
	memset(parts, 0, LC_ELSEWHERE_COUNT * sizeof(*parts));
	parts[LC_ELSEWHERE_INTERPRETER] = v->details[LC_WHERE_INTERPRETER][LC_HOW_NOT_JAVA];
	parts[LC_ELSEWHERE_JVM_CODE] = v->details[LC_WHERE_JVM][LC_HOW_NOT_JAVA];
	parts[LC_ELSEWHERE_NATIVE_CODE] = v->details[LC_WHERE_NATIVE][LC_HOW_NOT_JAVA];
	parts[LC_ELSEWHERE_JVM_MEMORY] =
	    less(v->buckets[LC_BUCKET_JVM],
	         parts[LC_ELSEWHERE_INTERPRETER] + parts[LC_ELSEWHERE_JVM_CODE]);
	parts[LC_ELSEWHERE_OUTSIDE] =
	    less(v->buckets[LC_BUCKET_NATIVE], parts[LC_ELSEWHERE_NATIVE_CODE]);
	parts[LC_ELSEWHERE_NO_ACCESS] = v->details[LC_WHERE_COMPILED][LC_HOW_NO_OPERAND] +
	                                v->details[LC_WHERE_STUB][LC_HOW_NO_OPERAND];
	/* Damaged profiles may tell more details than samples: no part takes what another has. */
	for (unsigned i = 0; i < LC_ELSEWHERE_UNKNOWN; i++) {
		parts[i] = parts[i] < rest ? parts[i] : rest;
		rest -= parts[i];
	}
	parts[LC_ELSEWHERE_UNKNOWN] = rest;
}

static bool is_loader(struct lc_text class)
{
	static const char *const prefixes[] = { "java.lang.ClassLoader", "jdk.internal.loader.",
		                                "java.net.URLClassLoader" };

	return lc_text_begins_any(class, prefixes, sizeof(prefixes) / sizeof(*prefixes));
}

uint64_t lc_report_elsewhere_loading(const struct lc_view *v)
{
	const struct lc_tree *t = v->tree;
	bool *loads = lc_mem_zeroed(t->paths.count, sizeof(*loads));
	uint64_t samples = 0;

	for (uint32_t path = 1; path < t->paths.count; path++)
		loads[path] = loads[lc_tree_parent(t, path)] ||
		              is_loader(lc_tree_text(t, lc_tree_method(t, path)[LC_METHOD_CLASS]));
	for (size_t i = 0; i < v->accesses_len; i++)
		if (v->accesses[i].bucket > LC_BUCKET_HEAP_CLASS && loads[v->accesses[i].path])
			samples += v->accesses[i].samples;
	free(loads);
	return samples;
}

static unsigned most_of(const uint64_t parts[LC_ELSEWHERE_COUNT])
{
	unsigned most = 0;

	for (unsigned i = 1; i < LC_ELSEWHERE_COUNT; i++)
		if (parts[i] > parts[most])
			most = i;
	return most;
}

static bool is_worth_a_word(uint64_t samples, uint64_t all)
{
	return samples * 100 >= all * LEAST_PERCENT;
}

void lc_report_elsewhere(const struct lc_screen *s, const struct lc_report *r)
{
	const uint64_t all = r->view->total, elsewhere = all - r->ranking->in_objects.samples;
	uint64_t parts[LC_ELSEWHERE_COUNT], loading;
	unsigned first;
	char *text;
	size_t len;
	FILE *out;

	if (2 * elsewhere <= all ||
	    lc_wilson_effective(lc_view_all(r->view)) < LC_FINDING_SAMPLES_MIN)
		return;
	out = lc_text_open(&text, &len);
	lc_report_elsewhere_divide(r->view, parts);
	loading = lc_report_elsewhere_loading(r->view);
	first = most_of(parts);
	fprintf(out, "%.1f%% are elsewhere:", 100 * lc_share(elsewhere, all));
	for (unsigned i = 0; i < SHOWN; i++) {
		const unsigned most = most_of(parts);

		if (i && !is_worth_a_word(parts[most], all))
			break;
		fprintf(out, "%s %s %.0f%%", i ? "," : "", texts[most].name,
		        100 * lc_share(parts[most], all));
		parts[most] = 0;
	}
	if (is_worth_a_word(loading, all))
		fprintf(out, "; %.0f%% load classes", 100 * lc_share(loading, all));
	fprintf(out, "; %s", texts[first].more);
	lc_mem_close_text(out);
	lc_screen_wrap(s, 0, 2, text);
	free(text);
}
