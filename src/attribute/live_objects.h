/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/live_objects.h - chooses objects of allocation sites, for a walk of the heap
 * (agent/holder_sites.h).
 *
 * Candidates are the objects of the map, and sampled objects that a weak reference is held to; if
 * collections are followed, those that have outlived one. Some may be dead: a walk does not reach
 * these. If the map does not follow objects (ZGC, Shenandoah), the references are all that is
 * known.
 */
#ifndef LC_ATTRIBUTE_LIVE_OBJECTS_H
#define LC_ATTRIBUTE_LIVE_OBJECTS_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_map;
struct lc_path_node;

enum {
	LC_LIVE_OBJECTS_SITES = 32,
	LC_LIVE_OBJECTS_OF_SITE = 128,
	LC_LIVE_OBJECTS_REFERENCES = 32, /* of a site, if objects have references */
	LC_LIVE_OBJECTS_FRAME_MAX = 1024,
};

/* A site, and some of its objects, evenly chosen from the candidates. */
struct lc_live_objects_site {
	uint32_t site;
	uint32_t len;
	uint64_t seen, step; /* candidates; each step-th is chosen */
	/* An object has its address here, or its reference. */
	union {
		uint64_t address;
		jweak ref;
	} objects[LC_LIVE_OBJECTS_OF_SITE];
};

struct lc_live_objects {
	bool by_address;
	size_t len;
	struct lc_live_objects_site sites[LC_LIVE_OBJECTS_SITES];
};

/*
 * Choose the sites that grow and hold most. `pattern`: only those whose call path has a frame that
 * matches, such as "com.acme.Cache.fill:42"; "": all. Context: [writer].
 */
void lc_live_objects_sites(struct lc_live_objects *o, const char *pattern);

/*
 * Write the innermost frame of the node, "com.acme.Cache.fill:42", cut to out_len - 1 bytes.
 * Returns its length. Context: [writer].
 */
int lc_live_objects_frame(const struct lc_path_node *n, char *out, size_t out_len);

/*
 * Choose objects of these sites. Addresses are good until the next collection begins, references
 * until lc_estimate_keep(false). `m`: NULL if there are no addresses. Context: [writer].
 */
void lc_live_objects_find(struct lc_live_objects *o, const struct lc_map *m);

#endif
