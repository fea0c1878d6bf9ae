/* jvm/tiers.h - tells in which order the JVM compiles a method. */
#ifndef LC_JVM_TIERS_H
#define LC_JVM_TIERS_H

#include <stdbool.h>

/* Is a method interpreted and compiled by C1 before C2 compiles it? Context: [attach]. */
bool lc_tiers_c1_first(void);

#endif
