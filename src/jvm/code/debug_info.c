/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/code/debug_info.c - sets the JVM's flag DebugNonSafepoints for as long as a recording runs.
 */
#include "src/jvm/code/debug_info.h"

#include <stdint.h>

#include "src/jvm/layout/vmstructs.h"
#include "src/jvm/os/peek.h"

#define FLAG "DebugNonSafepoints"

static uint64_t flag; /* address of its byte, where it was set here; 0: it was not */

static bool set(uint64_t at, bool on)
{
	const uint8_t byte = on;

	return lc_peek_poke(at, &byte, sizeof(byte));
}

bool lc_debug_info_begin(void)
{
	const uint8_t *value = lc_vm_flag(FLAG);

	if (!value || lc_vm_flag_is_default(FLAG) < 0)
		return false;
	if (*value || !lc_vm_flag_is_default(FLAG))
		return true;
	if (!set((uint64_t)(uintptr_t)value, true))
		return false;
	flag = (uint64_t)(uintptr_t)value;
	return true;
}

void lc_debug_info_end(void)
{
	if (flag)
		(void)set(flag, false);
	flag = 0;
}
