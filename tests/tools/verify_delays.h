/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_delays.h - delays every method in verify_agent.c, beside the hooks or without them, and
 * counts what came of it.
 */
#include "src/delay/delay_class.h"
#include "src/delay/delay_rewrite.h"

static _Atomic uint64_t delay_methods[LC_DELAY_STATES], delay_returns;

/* Before any class is delayed: the loops read its field. */
static void define_delays(JNIEnv *env, uint32_t iterations)
{
	uint8_t *bytes = NULL;
	size_t len = 0;
	jclass class;
	jfieldID field;

	if (!lc_delay_class_create(1, &bytes, &len) ||
	    !(class = (*env)->DefineClass(env, LC_DELAY_CLASS, NULL, (const jbyte *)bytes,
	                                  (jsize)len)) ||
	    !(field = (*env)->GetStaticFieldID(env, class, "n0", "I"))) {
		fprintf(stderr, "verify_agent: no class of delays\n");
		exit(3);
	}
	(*env)->SetStaticIntField(env, class, field, (jint)iterations);
	free(bytes);
}

/* Delay all methods. If that changes something, *out is malloc'ed. */
static void rewrite_delays(const uint8_t *in, size_t in_len, uint8_t **out, size_t *out_len)
{
	const struct lc_delay all = { 0 };
	struct lc_delay_result result;
	enum lc_rewrite_status status =
	    lc_delay_rewrite(in, in_len, &all, 1, &result, out, out_len);

	if (status != LC_REWRITE_DONE && status != LC_REWRITE_NOTHING)
		fprintf(stderr, "verify_agent: delays: status %d\n", (int)status);
	for (int s = 0; s < LC_DELAY_STATES; s++)
		atomic_fetch_add(&delay_methods[s], result.methods[s]);
	atomic_fetch_add(&delay_returns, result.returns);
}

/* The counts since the last time; they start anew. */
static size_t take_delays(char *out, size_t out_len)
{
	return (size_t)snprintf(
	    out, out_len,
	    " delayed=%lu delay_returns=%lu delay_no_return=%lu delay_malformed=%lu "
	    "delay_too_large=%lu",
	    atomic_exchange(&delay_methods[LC_DELAY_IN_PLACE], 0),
	    atomic_exchange(&delay_returns, 0),
	    atomic_exchange(&delay_methods[LC_DELAY_NO_RETURN], 0),
	    atomic_exchange(&delay_methods[LC_DELAY_MALFORMED], 0),
	    atomic_exchange(&delay_methods[LC_DELAY_TOO_LARGE], 0));
}
