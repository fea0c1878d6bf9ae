/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/legend.c - counts how much of the recursions of core/path.h and of the names of
 * heap/site_names.h is in the profile. Both are only added to.
 */
#include "src/attribute/legend.h"

#include "src/core/path.h"
#include "src/core/record.h"
#include "src/core/thread.h"
#include "src/heap/loaded_code.h"
#include "src/heap/site_names.h"
#include "src/profile/tally.h"

static struct {
	uint32_t recursions;
	uint32_t named; /* the last site whose names are in the profile */
} done;

static void take_recursions(struct lc_thread *t)
{
	const struct lc_path_recursion *r;

	for (; (r = lc_path_recursion_get(done.recursions)); done.recursions++)
		if (!lc_tally_made(&t->tally) ||
		    lc_tally_recursion(t->tally,
		                       &(struct lc_block_recursion){ r->path, r->frames }))
			return;
}

static void take_names(JNIEnv *jni, struct lc_thread *t)
{
	struct lc_site_names_one names[LC_SITE_NAMES_MAX];

	while (done.named + 1 < lc_site_count()) {
		const uint32_t site = done.named + 1;
		const size_t len = lc_site_names_of(jni, site, names);

		for (size_t i = 0; i < len; i++) {
			const struct lc_block_site_name row = { site, (uint8_t)names[i].kind,
				                                names[i].name };

			if (!lc_tally_made(&t->tally) || lc_tally_site_name(t->tally, &row))
				return;
		}
		done.named = site;
	}
}

void lc_legend_take(JNIEnv *jni, struct lc_thread *t)
{
	take_recursions(t);
	take_names(jni, t);
	lc_loaded_code_rest(jni);
}

void lc_legend_again(void)
{
	done.recursions = done.named = 0;
}
