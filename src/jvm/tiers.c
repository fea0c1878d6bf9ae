/* jvm/tiers.c - reads the JVM's flags on its compilers. */
#include "src/jvm/tiers.h"

#include "src/jvm/vmstructs.h"

bool lc_tiers_c1_first(void)
{
	const bool *tiered = lc_vm_flag("TieredCompilation");
	const bool *interpreted = lc_vm_flag("UseInterpreter");

	return tiered && *tiered && interpreted && *interpreted;
}
