/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delay/delay_options.h - parses the options of the agent that delays methods.
 *
 *   out=FILE,at=CLASS.METHOD:ITERATIONS[/N][;CLASS.METHOD:ITERATIONS[/N]]...
 *
 * CLASS is a name as java.util.Map$Entry; behind METHOD a descriptor may stand, as in
 * java.util.HashMap.getNode(Ljava/lang/Object;)Ljava/util/HashMap$Node;:100. N is a power of two:
 * each N-th execution is delayed, or each one without N. In FILE a comma is written "\," and a
 * backslash "\\".
 */
#ifndef LC_DELAY_OPTIONS_H
#define LC_DELAY_OPTIONS_H

#include <stddef.h>

#include "src/delay/delay_rewrite.h"

enum { LC_DELAYS_MAX = 100 };

struct lc_delay_options {
	char *out; /* all texts are malloc'ed */
	char *asked[LC_DELAYS_MAX];
	struct lc_delay delays[LC_DELAYS_MAX];
	size_t len;
};

/*
 * Parse `text` (NULL is ""). Returns 0; or -EINVAL and one line without a newline in `error`, or
 * -ENOMEM. Free *o whatever this returns. Context: [attach].
 */
int lc_delay_options_parse(struct lc_delay_options *o, const char *text, char *error,
                           size_t error_len);
void lc_delay_options_free(struct lc_delay_options *o);

#endif
