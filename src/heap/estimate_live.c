/* SPDX-License-Identifier: Apache-2.0 */
/* heap/estimate_live.c - gives out the sampled objects that are not known to be dead. */
#include "src/heap/estimate_impl.h"
#include "src/jvm/layout/collector.h"

void lc_estimate_collected(void)
{
	struct lc_estimate_table *t = lc_estimate_table();

	if (!lc_estimate_enabled() || t->config.follow || lc_collector() != LC_GC_SHENANDOAH)
		return;
	pthread_mutex_lock(&t->lock);
	t->collections++;
	pthread_mutex_unlock(&t->lock);
}

void lc_estimate_live(lc_estimate_live_fn *add, void *user)
{
	struct lc_estimate_table *t = lc_estimate_table();

	if (!lc_estimate_enabled())
		return;
	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; i < t->len; i++) {
		const struct lc_estimate_entry *e = &t->entries[i];

		if (lc_estimate_alive(e))
			add(user, &(struct lc_estimate_held){
			              .site = e->object.site,
			              .size_bytes = e->size_bytes,
			              .chance = lc_estimate_chance_held(e),
			              .survived = e->survived,
			              .of = t->collections,
			              .address = e->object.address[0],
			              .ref = e->ref,
			          });
	}
	pthread_mutex_unlock(&t->lock);
}

void lc_estimate_keep(bool keep)
{
	struct lc_estimate_table *t = lc_estimate_table();

	pthread_mutex_lock(&t->lock);
	t->checking = keep;
	pthread_mutex_unlock(&t->lock);
}
