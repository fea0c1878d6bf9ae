/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/site_classes.h - remembers the classes of each site's new objects while a full collection
 * slides them.
 *
 * An allocation record has no class. After a slide, another object may lie over a dead one. So the
 * look ahead notes the class of each new object, by site, and the look after the slide compares.
 *
 * All functions run on the thread that posts the GC events. Context: [gc].
 */
#ifndef LC_GC_SITE_CLASSES_H
#define LC_GC_SITE_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

/* The site has objects of this class. Returns false without memory. */
bool lc_site_classes_add(uint32_t site, uint32_t class_word);

/* Was this class noted for the site? */
bool lc_site_classes_has(uint32_t site, uint32_t class_word);

/* Forget all. */
void lc_site_classes_forget(void);

#endif
