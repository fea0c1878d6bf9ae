/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/object_names.h - names objects, as in "Spectrum.re (double[])", by the fields
 * and local variables in which the program stores them.
 */
#ifndef LC_OBJECTS_ANALYSIS_OBJECT_NAMES_H
#define LC_OBJECTS_ANALYSIS_OBJECT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/tree.h"
#include "analyzer/objects/analysis/ranking.h"

struct lc_json;
struct lc_view;

enum { LC_OBJECT_NAMES = 3 }; /* of a row that are shown */

/*
 * "a.Spectrum.re, rows[], ... (double[])": at most `names` names, and the class; the class alone
 * where no name is known. Longer than `columns`, it goes without packages, without the classes that
 * enclose others, then with one name, and at last the name is cut. The caller frees it.
 */
char *lc_object_label(const struct lc_tree *t, const struct lc_rank_row *row, size_t names,
                      unsigned columns);

/* "names" of a row and of a site, unless there are none. */
void lc_object_json_row(struct lc_json *j, const struct lc_tree *t, const struct lc_rank_row *row);
void lc_object_json_site(struct lc_json *j, const struct lc_view *v, uint32_t site);

/* "HashMap$Node[]" of "java.util.HashMap$Node[]". The caller frees it. */
char *lc_object_simple_class(struct lc_text class);

#endif
