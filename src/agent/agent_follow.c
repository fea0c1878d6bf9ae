/* SPDX-License-Identifier: Apache-2.0 */
/* agent/agent_follow.c - finds out whether objects can be followed while the collector moves them.
 */
#include "src/agent/agent_follow.h"

#include <errno.h>
#include <string.h>

#include "src/base/options.h"
#include "src/base/say.h"
#include "src/core/record.h"
#include "src/gc/copy_log.h"
#include "src/gc/move_log.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/ranges.h"

bool lc_agent_follow_in_order(JNIEnv *jni, const struct lc_options *options)
{
	const struct lc_range heap = lc_ranges_objects();
	int err;

	if (!lc_collector_moves_while_running() || !lc_ranges_views_known() ||
	    heap.low >= heap.high) {
		lc_say("cannot track objects with this JVM's %s collector: allocations are "
		       "counted, but samples name only classes",
		       lc_collector_name());
		return false;
	}
	if (options->min_size_bytes <= LC_MOVE_INLINE_BYTES) {
		lc_say("with the %s collector, tracking objects needs --min-size %d or more: "
		       "allocations are counted, but samples name only classes",
		       lc_collector_name(), (int)LC_MOVE_INLINE_BYTES + 8);
		return false;
	}
	err = lc_copy_log_init();
	if (!err && !lc_copy_log_probe(jni))
		err = -ENOENT;
	if (!err)
		err = lc_move_log_init();
	if (err) {
		lc_say("cannot track objects (%s): allocations are counted, but samples name only "
		       "classes",
		       err == -ENOENT ? "libjvm has its own memcpy" : strerror(-err));
		return false;
	}
	lc_copy_log_note_all(heap.low, heap.high, options->min_size_bytes);
	return true;
}
