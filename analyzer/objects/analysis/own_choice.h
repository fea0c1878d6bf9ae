/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/own_choice.h - decides which methods are the program's own: those of classes
 * that the user names, or of packages that the profile tells apart from libraries.
 */
#ifndef LC_OBJECTS_ANALYSIS_OWN_CHOICE_H
#define LC_OBJECTS_ANALYSIS_OWN_CHOICE_H

#include "analyzer/model/frame_filter.h"
#include "analyzer/model/load.h"

/*
 * Decide it for each method of load->tree, once: later calls change nothing. `given` are patterns
 * of --app, of which `fitted` is set; NULL or none: found from the profile. The tree keeps what was
 * decided: lc_tree_own_choice. Call it before lc_tree_rename(), since packages tell.
 *
 * A package is own if it is that of the main class, or if threads of the program begin there that
 * neither call the main class's package nor are called by it. A package is its first two names
 * ("com.acme"), or three below a name that many projects share ("org.apache.lucene").
 */
void lc_own_choose(const struct lc_load *load, struct lc_frame_patterns *given);

/*
 * "com.acme.*, net.acme.* and 2 more", in at most `columns`, which are 20 or more; or "all outside
 * the JDK". The caller frees it.
 */
char *lc_own_choice_text(const struct lc_tree_own_choice *c, unsigned columns);

#endif
