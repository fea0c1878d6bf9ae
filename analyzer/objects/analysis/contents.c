/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/contents.c - describes what was seen in a row's arrays. */
#include "analyzer/objects/analysis/contents.h"

#include <inttypes.h>
#include <math.h>

#include "analyzer/out/emit.h"

#define Z_DIFFER 3.29 /* 1 in 1,000 */

static const unsigned parts[LC_CONTENTS_PARTS] = { 64, 16, 8, 4, 2 };

unsigned lc_contents_used(const struct lc_rank_contents *c, uint64_t *within)
{
	const uint64_t written = lc_contents_written(c);

	*within = 0;
	for (unsigned i = 0; written && i < LC_CONTENTS_PARTS; i++) {
		*within += c->parts[i];
		if (*within * 20 >= written * 19)
			return parts[i];
	}
	return 0;
}

/* Mean class of used parts, and the square of its standard error. */
static double mean_class(const struct lc_rank_contents *c, double *error)
{
	const double n = (double)lc_contents_written(c);
	double left = n, sum = 0, squares = 0;

	for (unsigned i = 0; i < LC_CONTENTS_PARTS; i++) {
		const double k = (double)c->parts[i];

		sum += k * i;
		squares += k * i * i;
		left -= k;
	}
	sum = (sum + left * LC_CONTENTS_PARTS) / n;
	squares = (squares + left * LC_CONTENTS_PARTS * LC_CONTENTS_PARTS) / n;
	/* If all are of one class, a next one may be of another: as if one were the next class. */
	*error = fmax(squares - sum * sum, 1 / n) / n;
	return sum;
}

bool lc_contents_differ(const struct lc_rank_contents *a, const struct lc_rank_contents *b)
{
	double error_a, error_b, change;

	if (lc_contents_written(a) < LC_CONTENTS_MIN || lc_contents_written(b) < LC_CONTENTS_MIN)
		return false;
	change = mean_class(a, &error_a) - mean_class(b, &error_b);
	return fabs(change) > Z_DIFFER * sqrt(error_a + error_b);
}

void lc_contents_text(FILE *out, const struct lc_rank_contents *c)
{
	const uint64_t written = lc_contents_written(c);
	uint64_t within;
	const unsigned used = lc_contents_used(c, &within);
	char each[32];

	if (c->dead)
		fprintf(out, "%" PRIu64 " dead arrays looked at", c->dead);
	if (written) {
		fprintf(out, ": used %.1f%% of %s on average",
		        100 * (double)c->used_bytes / (double)c->bytes,
		        lc_emit_bytes(each, sizeof(each), c->bytes / written));
		if (used)
			fprintf(out, ", at most 1/%u in %" PRIu64, used, within);
	}
	if (c->zero)
		fprintf(out, "%s nothing but zeros in %" PRIu64, written ? "," : ":", c->zero);
	if (c->outlived)
		fprintf(out,
		        "%s%" PRIu64 " that outlived a collection: %" PRIu64
		        " equal to another (%" PRIu64 " of this line)",
		        c->dead ? "; " : "", c->outlived, lc_contents_equal(c), c->same);
}
