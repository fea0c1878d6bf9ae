/*
 * core/own_memory.h - says how much memory the agent itself holds.
 *
 * The agent is linked so that its calls of malloc and mmap, and those of their kin, come by
 * own_memory.c, and libJudy's do too. What other libraries allocate for themselves does not.
 */
#ifndef LC_CORE_OWN_MEMORY_H
#define LC_CORE_OWN_MEMORY_H

#include <stdint.h>

/* Bytes allocated, and the touched pages of anonymous mappings. Context: [writer]. */
uint64_t lc_own_memory_bytes(void);

/*
 * What is allocated or mapped gives its pages back, but the addresses stay for the next recording:
 * a thread that comes late reads zeroes. Context: kept.c.
 */
void lc_own_memory_give_back(void);

#endif
