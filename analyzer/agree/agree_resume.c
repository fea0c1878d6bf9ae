/* SPDX-License-Identifier: Apache-2.0 */
/* agree/agree_resume.c - continues the runs of a directory with the same program and profilers. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/agree/agree_record.h"
#include "analyzer/agree/agree_run.h"
#include "analyzer/base/fail.h"
#include "analyzer/model/redacted.h"
#include "analyzer/repeat/repeat.h"

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool are_same_sides(const struct lc_agree *a, const struct lc_agree *b)
{
	bool same = a->sides_len == b->sides_len;

	for (size_t i = 0; i < a->sides_len && same; i++)
		same = a->sides[i].kind == b->sides[i].kind &&
		       is_same_text(a->sides[i].name, b->sides[i].name) &&
		       is_same_text(a->sides[i].command, b->sides[i].command);
	return same;
}

/* The command as a record has it: without secrets, and with what a terminal can show. */
static bool is_same_command(const struct lc_agree *a, const struct lc_agree_request *q)
{
	json_t *words = lc_redacted_command(q->command, &q->machine.options);
	char *text = lc_repeat_plain(lc_redacted_join(words));
	const bool same = is_same_text(a->all.command, text);

	free(text);
	json_decref(words);
	return same;
}

int lc_agree_resume(struct lc_agree *a, const struct lc_agree_request *q)
{
	const size_t rounds = a->rounds;
	struct lc_agree old;
	int status;

	lc_agree_init(&old);
	status = lc_agree_record_load(&old, q->directory, true);
	if (!status && !is_same_command(&old, q))
		status = lc_fail("--resume: '%s' has runs of another command: %s", q->directory,
		                 old.all.command ? old.all.command : "");
	if (!status && !are_same_sides(&old, a))
		status = lc_fail("--resume: '%s' has runs of other profilers; name the same with "
		                 "--profilers",
		                 q->directory);
	if (status) {
		lc_agree_free(&old);
		return status;
	}
	lc_agree_free(a);
	*a = old;
	a->rounds = rounds > a->rounds ? rounds : a->rounds;
	return 0;
}
