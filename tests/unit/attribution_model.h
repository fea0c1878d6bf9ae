/* SPDX-License-Identifier: Apache-2.0 */
/* attribution_model.h - what the attribution thread asks of the rest of the agent, for its test. */
#ifndef LC_TESTS_ATTRIBUTION_MODEL_H
#define LC_TESTS_ATTRIBUTION_MODEL_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/format/kinds.h"

enum { ATTRIBUTION_THREADS = 256, ATTRIBUTION_SITES = 12 };

struct attribution_totals {
	uint64_t samples[ATTRIBUTION_THREADS][LC_BUCKET_COUNT][ATTRIBUTION_SITES];
	uint64_t allocations[ATTRIBUTION_THREADS][ATTRIBUTION_SITES];
	uint64_t bytes[ATTRIBUTION_THREADS][ATTRIBUTION_SITES];
	uint64_t
	    names[ATTRIBUTION_SITES]; /* of each site: an odd one has its name, an even one none */
};

JavaVM *attribution_vm(void);
void attribution_manifest(bool final);

/* Shall one append in three fail, but for threads that have ended? */
void attribution_append_fails(bool on);
void attribution_ended(uint32_t index);
void attribution_lost(uint32_t index, uint64_t samples);

/* The sum of all blocks; after lc_attribution_stop(). */
const struct attribution_totals *attribution_written(void);

uint64_t attribution_epochs_closed(void);
unsigned attribution_manifests(void), attribution_final_manifests(void);
unsigned attribution_refinements(void), attribution_threads_freed(void);
bool attribution_freed(uint32_t index); /* at any time */

#endif
