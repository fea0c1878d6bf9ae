/* SPDX-License-Identifier: Apache-2.0 */
/* agent/agent_proofs.c - see agent/agent_proofs.h. The state is of attach, but for the tick's own.
 */
#include "src/agent/agent_proofs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "src/base/limit.h"
#include "src/core/jvmti.h"
#include "src/jvm/code/blob.h"
#include "src/jvm/code/code_frames.h"
#include "src/jvm/code/code_headers.h"
#include "src/jvm/code/debug_info.h"
#include "src/jvm/code/scopes.h"
#include "src/jvm/layout/klass.h"
#include "src/jvm/layout/local_variables.h"
#include "src/jvm/layout/method_ids.h"
#include "src/jvm/stack/frames.h"
#include "src/jvm/stack/walk_proof.h"
#include "src/sample/new_object.h"
#include "src/stack/generated.h"

static const jvmtiEvent compiled_events[] = { JVMTI_EVENT_COMPILED_METHOD_LOAD,
	                                      JVMTI_EVENT_COMPILED_METHOD_UNLOAD };

static int jdk_version; /* of lc_agent_proofs_classes() */
static bool code_known; /* its range, blobs, debug information and headers are as they must be */

static int enable(jvmtiEventMode mode)
{
	for (size_t i = 0; i < sizeof(compiled_events) / sizeof(*compiled_events); i++)
		if ((*lc_jvmti())
		        ->SetEventNotificationMode(lc_jvmti(), mode, compiled_events[i], NULL))
			return -EIO;
	return 0;
}

static void announce_compiled(void)
{
	(*lc_jvmti())->GenerateEvents(lc_jvmti(), JVMTI_EVENT_COMPILED_METHOD_LOAD);
}

/* Compiled methods are announced until those that were have proved that they can be found. */
static int judge_compiled(void)
{
	const int found = lc_code_headers_judge();

	if (found > 0)
		return enable(JVMTI_DISABLE);
	if (found < 0) {
		code_known = false;
		announce_compiled(); /* those that were left out as found */
	}
	return 0;
}

/* Does the range of generated code hold the interpreter, and no more than such a range can? */
static bool is_code(struct lc_range code, struct lc_range interpreter)
{
	const struct lc_range library = lc_ranges_library();
	const uint64_t largest = UINT64_C(2) << 30; /* -XX:ReservedCodeCacheSize */

	return code.low <= interpreter.low && interpreter.low < interpreter.high &&
	       interpreter.high <= code.high && code.high - code.low <= largest &&
	       (library.high <= code.low || code.high <= library.low);
}

int lc_agent_proofs_code(struct lc_range interpreter)
{
	const struct lc_range code = lc_ranges_code();
	const bool lines = lc_debug_info_begin(), bounded = is_code(code, interpreter);
	bool headers = false;
	int err;

	code_known =
	    bounded && !lc_frames_init(interpreter.low, interpreter.high) && !lc_scopes_init();
	if (code_known) {
		(void)lc_code_frames_init(lc_generated_generation());
		headers = lines && !lc_code_headers_init(interpreter.low);
	}
	err = enable(JVMTI_ENABLE);
	announce_compiled();
	if (headers && !err)
		err = judge_compiled();
	if (bounded)
		lc_generated_init(&(struct lc_generated){ interpreter.low, interpreter.high });
	return err;
}

/* -- what is said --------------------------------------------------------------------------- */

enum {
	WHOLLY_SUPPORTED = 17
}; /* older ones are known, but not in all parts, and cost what they cost */

static void tell(int jdk, bool classes_known)
{
	char parts[128];

	snprintf(parts, sizeof(parts), "%s%s%s%s", lc_method_ids_known() ? "" : ", method IDs",
	         code_known ? "" : ", generated code", classes_known ? "" : ", classes",
	         lc_local_variables_known() ? "" : ", local variables");
	if (parts[0] && jdk >= WHOLLY_SUPPORTED)
		(void)lc_limit_reached("jvm_unknown",
		                       "Locus does not know this JVM's layout of: %s; it does not "
		                       "read these parts, so profiling costs more or names less",
		                       parts + strlen(", "));
}

void lc_agent_proofs_classes(int jdk)
{
	const int known = lc_klass_init();

	jdk_version = jdk;
	lc_local_variables_init();
	if (!known)
		lc_new_object_class_offset(lc_klass_word_offset());
	else if (known == -ENOMEM)
		(void)lc_limit_reached("classes_unknown",
		                       "there was no memory for the names of classes: samples in "
		                       "untracked objects have no class");
	tell(jdk, !known || known == -ENOMEM);
}

void lc_agent_proofs_tick(void)
{
	if (lc_code_headers_proving())
		(void)judge_compiled();
	if (lc_walk_proof_refuted() && jdk_version >= WHOLLY_SUPPORTED)
		(void)lc_limit_reached("walks_refuted",
		                       "Locus's stack walks differ from this JVM's at some kind of "
		                       "frame: the JVM walks such stacks, so profiling costs more");
}
