/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/advice_users.c - finds whose code accesses objects: own code can be changed. */
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/advice.h"
#include "analyzer/objects/analysis/own_code.h"
#include "src/base/order.h"

/* Packages of the JDK that make collections for themselves. */
#define INSIDE                                                                                     \
	"java.lang.invoke.* java.lang.module.* java.lang.reflect.* java.net.* java.security.* "    \
	"java.text.* java.time.* java.util.logging.* java.util.regex.* javax.crypto.* "            \
	"javax.management.* javax.net.* javax.xml.* jdk.internal.loader.* jdk.internal.module.* "  \
	"jdk.xml.* sun.net.* sun.reflect.* sun.security.* sun.util.* com.sun.crypto.* "            \
	"com.sun.org.apache.*"

/* Samples of one path to a user; the path stands for all that end at its line or method. */
struct user {
	uint32_t path;
	uint64_t samples;
};

static int order_methods(const void *a, const void *b, void *context)
{
	return lc_order_u64(lc_tree_method_number(context, ((const struct user *)a)->path),
	                    lc_tree_method_number(context, ((const struct user *)b)->path));
}

/* By the method, and the line of own code that calls it. */
static int order_calls(const void *a, const void *b, void *context)
{
	const struct lc_tree *t = context;
	const uint32_t *x = lc_tree_frame(t, lc_own_path(t, ((const struct user *)a)->path)),
	               *y = lc_tree_frame(t, lc_own_path(t, ((const struct user *)b)->path));
	int order = order_methods(a, b, context);

	if (!order)
		order = lc_order_u64(x[LC_FRAME_METHOD], y[LC_FRAME_METHOD]);
	return order ? order : lc_order_u64(x[LC_FRAME_LINE1], y[LC_FRAME_LINE1]);
}

/* The path to the library's method that own code calls on the way to the leaf; 0: there is none. */
static uint32_t library_call(const struct lc_tree *t, uint32_t path)
{
	const uint32_t own = lc_own_path(t, path);
	uint32_t call = 0;

	for (; own && path != own; path = lc_tree_parent(t, path))
		if (!lc_own_is_jdk_frame(t, path))
			call = path;
	return call;
}

/* The path that has most samples together with its equals; 0: not half of `all`. */
static uint32_t most_of(const struct lc_tree *t, struct user *users, size_t len, uint64_t all,
                        int (*order)(const void *, const void *, void *))
{
	struct user best = { 0 };

	if (len)
		qsort_r(users, len, sizeof(*users), order, (void *)(uintptr_t)t);
	for (size_t from = 0, to; from < len; from = to) {
		struct user sum = { .path = users[from].path };

		for (to = from; to < len && !order(&users[from], &users[to], (void *)(uintptr_t)t);
		     to++)
			sum.samples += users[to].samples;
		if (sum.samples > best.samples)
			best = sum;
	}
	return 2 * best.samples >= all ? best.path : 0;
}

/*
 * Does the JDK access the objects for itself, between the leaf and the next frame outside it?
 * `*call`: the path to the method that is called from there.
 */
static bool is_inside(const struct lc_tree *t, uint32_t path, uint32_t *call)
{
	bool inside = false;

	for (; path; path = lc_tree_parent(t, path)) {
		const struct lc_text class =
		    lc_tree_text(t, lc_tree_method(t, path)[LC_METHOD_CLASS]);

		if (!lc_own_is_jdk(class))
			return inside;
		inside |= lc_advice_matches(INSIDE, class);
		*call = path;
	}
	return false; /* a thread of the JDK */
}

struct lc_advice_users lc_advice_users_of(const struct lc_tree *t,
                                          const struct lc_rank_access *accesses, size_t len,
                                          uint64_t samples)
{
	struct user *libraries = lc_mem_zeroed(len, sizeof(*libraries));
	struct user *calls = lc_mem_zeroed(len, sizeof(*calls));
	size_t libraries_len = 0, calls_len = 0;
	struct lc_advice_users users;

	for (size_t i = 0; i < len; i++) {
		const struct lc_rank_access *a = &accesses[i];
		uint32_t call = library_call(t, a->path);

		if (call)
			libraries[libraries_len++] = (struct user){ call, a->samples };
		if (is_inside(t, a->path, &call))
			calls[calls_len++] = (struct user){ call, a->samples };
	}
	users.library = most_of(t, libraries, libraries_len, samples, order_calls);
	users.inside = most_of(t, calls, calls_len, samples, order_methods);
	free(libraries);
	free(calls);
	return users;
}
