/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/holder_chain.h - reads chains of references off the table of a heap walk, joins those that
 * are alike, and writes them as text.
 *
 *     static Leak.cache -> java.util.HashMap.table[] -> java.util.HashMap$Node.value
 *
 * Indices of arrays are left out, and a field that follows itself, as in a linked list, is named
 * once. Long chains keep their two ends. Pure functions. Context: any but [signal].
 */
#ifndef LC_AGENT_HOLDER_CHAIN_H
#define LC_AGENT_HOLDER_CHAIN_H

#include <stddef.h>
#include <stdint.h>

struct lc_holder_table;

enum {
	LC_HOLDER_HOPS = 12,
	LC_HOLDER_NAME_MAX = 160,
	LC_HOLDER_TEXT_MAX = 1000, /* of a chain */
	LC_HOLDER_CHAINS_SHOWN = 5,
};

struct lc_holder_hop {
	uint32_t edge;     /* kind << 20 | index, of agent/holder_table.h */
	uint32_t class;    /* of the referrer; of the object of a root that is a class */
	uint32_t repeated; /* 0 or 1; of this width, hops have no padding and can be compared */
};

struct lc_holder_chain {
	struct lc_holder_hop hops[LC_HOLDER_HOPS]; /* from the root on */
	uint32_t len;
	uint32_t cut; /* index of the first hop behind those that are left out; 0: none are */
	uint32_t count;
};

/* These write a name of at most LC_HOLDER_NAME_MAX bytes. */
struct lc_holder_names {
	void *context;
	void (*class)(void *context, uint32_t class, char *out);
	/* With the class that declares it: "java.util.HashMap.table". */
	void (*field)(void *context, uint32_t class, uint32_t index, char *out);
	void (*method)(void *context, uint32_t number, char *out);
};

/* The chain that leads to an object that was reached; its count is 1. */
void lc_holder_chain_of(const struct lc_holder_table *t, uint32_t object,
                        struct lc_holder_chain *out);

/* Count the chain in `chains`: *len of them, and room for one more. */
void lc_holder_chains_add(struct lc_holder_chain *chains, size_t *len,
                          const struct lc_holder_chain *chain);

/*
 * All chains are counted: join those of equal text, whose classes only have equal names, and sort
 * the most frequent first.
 */
void lc_holder_chains_join(struct lc_holder_chain *chains, size_t *len,
                           const struct lc_holder_names *names);

/* Write the chain, cut to out_len - 1 bytes. */
void lc_holder_chain_text(const struct lc_holder_chain *chain, const struct lc_holder_names *names,
                          char *out, size_t out_len);

#endif
