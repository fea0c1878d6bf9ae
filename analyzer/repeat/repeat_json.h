/* SPDX-License-Identifier: Apache-2.0 */
/* repeat/repeat_json.h - writes a number over several runs as JSON. */
#ifndef LC_REPEAT_REPEAT_JSON_H
#define LC_REPEAT_REPEAT_JSON_H

#include "analyzer/out/json.h"
#include "analyzer/repeat/repeat.h"

/* {"mean":, "low":, "high":, "least":, "most":, "equal":}, or null where it is not known. */
void lc_repeat_json_number(struct lc_json *j, const char *name, const struct lc_repeat_number *n);

#endif
