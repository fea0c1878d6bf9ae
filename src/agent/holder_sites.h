/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/holder_sites.h - finds through which references objects of allocation sites are held.
 *
 * The attribution thread chooses objects by their addresses (attribute/live_objects.h) and walks
 * the heap. A collection between the two is noticed in the walk's pause, before anything is looked
 * for, and the objects are chosen again. So a chain leads to the object that was chosen.
 */
#ifndef LC_AGENT_HOLDER_SITES_H
#define LC_AGENT_HOLDER_SITES_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Record what holds objects of the sites that hold most, in a walk of `pause_ns` at most. `ends`:
 * the recording ends, so a failure is a limit of the profile. Else a line says it. Returns whether
 * it is recorded. Context: a thread of ours, or VMDeath, while a recording runs.
 */
bool lc_holder_sites_record(JavaVM *vm, uint64_t pause_ns, bool ends);

/*
 * Answer `locus holders --site` as agent/holders.h says. `bytes`: memory for the walk; 0: what is
 * left. Context: a thread of ours.
 */
bool lc_holder_sites_answer(JavaVM *vm, uint64_t pause_ns, uint64_t bytes, const char *pattern);

#endif
