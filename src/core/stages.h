/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/stages.h - says in which stage an attach or a detach is, and ends an attach early.
 *
 * Each piece of work that may wait is a stage: for the JVM, the disk, or the program's threads. So
 * a user who waits for an answer learns what Locus waits for.
 */
#ifndef LC_CORE_STAGES_H
#define LC_CORE_STAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for the words of a stage with its parts. */
enum { LC_STAGE_TEXT_MAX = 96 };

enum lc_stage {
	LC_STAGE_NONE = 0,
	/* of an attach */
	LC_STAGE_JVM,
	LC_STAGE_PROFILE,
	LC_STAGE_ENGINES,
	LC_STAGE_HOOK_CLASS,
	LC_STAGE_COSTS,
	LC_STAGE_THREADS,
	LC_STAGE_CLASSES,
	LC_STAGE_OLDER,
	/* of a detach, or of an attach that failed */
	LC_STAGE_STOP,
	LC_STAGE_WRITE,
	LC_STAGE_RESTORE,
	LC_STAGE_LEAVE,
	LC_STAGES
};

/*
 * The stage begins. A client that waits for an answer (base/say.h) gets a line, which begins with
 * LC_ATTACH_PROGRESS. Context: any but [signal].
 */
void lc_stages_begin(enum lc_stage stage);

/*
 * The stage has done so many of its parts; total 0: it lives, but has none. The client gets a line
 * each second, even if no part was done meanwhile: call this at least so often. Does nothing if
 * `stage` is not the current one. Context: as above.
 */
void lc_stages_parts(enum lc_stage stage, uint32_t done, uint32_t total);

/* The current stage in words, "instrumenting classes: 3 of 70". Context: any. */
void lc_stages_text(char *out, size_t out_len);

/*
 * End the attach early: its long stages look whether they are to stop. A new recording resets this.
 * Context: any but [signal].
 */
void lc_stages_stop(void);
bool lc_stages_stopped(void);

#endif
