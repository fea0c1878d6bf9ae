/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/identity.c - writes texts with a zero behind each, and numbers as they lie in
 * memory. */
#include "analyzer/objects/analysis/identity.h"

void lc_identity_text(FILE *out, struct lc_text text)
{
	fwrite(text.bytes, 1, text.len, out);
	putc('\0', out);
}

void lc_identity_number(FILE *out, uint32_t number)
{
	fwrite(&number, sizeof(number), 1, out);
}

void lc_identity_method(FILE *out, const struct lc_tree *t, uint32_t method)
{
	const uint32_t *m = lc_table_key(&t->methods, method);

	lc_identity_text(out, lc_tree_text(t, m[LC_METHOD_CLASS]));
	lc_identity_text(out, lc_tree_text(t, m[LC_METHOD_NAME]));
	lc_identity_text(out, lc_tree_text(t, m[LC_METHOD_SIGNATURE]));
}

/* Without lines, places in the bytecode tell calls apart. */
static void put_line(FILE *out, const struct lc_tree *t, uint32_t path)
{
	const uint32_t *frame = lc_tree_frame(t, path);

	lc_identity_number(out, frame[LC_FRAME_LINE1]);
	lc_identity_number(out, frame[LC_FRAME_LINE1] ? 0 : frame[LC_FRAME_BCI1]);
}

void lc_identity_row(FILE *out, const struct lc_ranking *rank, const struct lc_rank_row *row,
                     bool lines)
{
	const struct lc_tree *t = rank->view->tree;
	const bool whole = rank->group == LC_GROUP_SITE;

	lc_identity_text(out, lc_rank_row_name(rank, row));
	if (rank->group == LC_GROUP_FIELD && row->field_known)
		lc_identity_text(out, lc_tree_text(t, row->field));
	for (uint32_t path = row->path; path; path = whole ? lc_tree_parent(t, path) : 0) {
		lc_identity_method(out, t, lc_tree_frame(t, path)[LC_FRAME_METHOD]);
		if (lines)
			put_line(out, t, path);
		else if (!whole)
			putc(lc_tree_frame(t, path)[LC_FRAME_LINE1] ? 'l' : 'b', out);
	}
}
