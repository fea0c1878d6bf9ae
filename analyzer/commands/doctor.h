/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/doctor.h - declares the checks of `locus doctor`: what each finds, and what to do about
 * it.
 *
 * Context: the analyzer. Functions with a `root` read procfs and sysfs below it, "" being this
 * machine, so that tests can lay out others; the rest try things out here.
 */
#ifndef LC_COMMANDS_DOCTOR_H
#define LC_COMMANDS_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

enum lc_doctor_status {
	LC_DOCTOR_OK,
	LC_DOCTOR_LIMITED, /* works, but not for everything */
	LC_DOCTOR_MISSING  /* is not there, or is of no use */
};

enum { LC_DOCTOR_CHECKS_MAX = 24, LC_DOCTOR_TEXT_MAX = 1024 };

struct lc_doctor_check {
	const char *name; /* static; one word, stays the same */
	enum lc_doctor_status status;
	char value[LC_DOCTOR_TEXT_MAX];  /* what was found; never empty */
	char advice[LC_DOCTOR_TEXT_MAX]; /* "" where nothing is to be done */
};

struct lc_doctor {
	struct lc_doctor_check check[LC_DOCTOR_CHECKS_MAX];
	size_t len;
	char engine[64]; /* what -e auto will take */
};

/* Append a check, its value printf style; the caller may write its advice. Never NULL. */
__attribute__((format(printf, 4, 5))) struct lc_doctor_check *
lc_doctor_add(struct lc_doctor *d, const char *name, enum lc_doctor_status status,
              const char *format, ...);
__attribute__((format(printf, 2, 3))) void lc_doctor_advise(struct lc_doctor_check *c,
                                                            const char *format, ...);

/* The check of that name, or NULL. */
const struct lc_doctor_check *lc_doctor_find(const struct lc_doctor *d, const char *name);

/* Will profiling work in some way? The status of what it cannot do without. */
bool lc_doctor_works(const struct lc_doctor *d);

/* -- doctor_machine.c: what the machine says of itself ------------------------------------- */

void lc_doctor_kernel(struct lc_doctor *d, const char *root);
void lc_doctor_paranoid(struct lc_doctor *d, const char *root);
/* `refusal`: errno of a perf_event_open() whose arguments are nonsense; EFAULT got through. */
void lc_doctor_seccomp(struct lc_doctor *d, const char *root, int refusal);
void lc_doctor_mlock(struct lc_doctor *d, const char *root);
void lc_doctor_pmu(struct lc_doctor *d, const char *root);
void lc_doctor_aux_event(struct lc_doctor *d, const char *root);
void lc_doctor_numa(struct lc_doctor *d, const char *root);

/* -- doctor_probe.c: what can be tried out here ------------------------------------------- */

int lc_doctor_refusal(void); /* for lc_doctor_seccomp() */
void lc_doctor_memory_events(struct lc_doctor *d);
void lc_doctor_libraries(struct lc_doctor *d); /* launcher, agent */
void lc_doctor_debug_registers(struct lc_doctor *d);
void lc_doctor_software_events(struct lc_doctor *d);
void lc_doctor_timer(struct lc_doctor *d);
void lc_doctor_calls(struct lc_doctor *d);                    /* process_vm_readv, membarrier */
void lc_doctor_disk(struct lc_doctor *d, const char *output); /* directory of a profile */

/* -- doctor_java.c ------------------------------------------------------------------------- */

/*
 * Run a command without stdin, at most `seconds` long, and collect what it writes on stdout and
 * stderr; *out is NUL-terminated, free it with free(). `preload`: LD_PRELOAD for it, or NULL to
 * leave that alone. Returns its wait status, or -errno with *out NULL: -ETIMEDOUT when it was
 * killed.
 */
int lc_doctor_capture(char *const *command, const char *preload, unsigned seconds, char **out);

/*
 * The JVMs that are found by PATH and JAVA_HOME, or only `java` where that is not NULL, and their
 * collectors.
 */
void lc_doctor_jdks(struct lc_doctor *d, const char *java);

/*
 * Judge a trial: a JVM ran with the agent, wrote `text` (NULL: nothing), and ended with this wait
 * status.
 */
void lc_doctor_judge_trial(struct lc_doctor *d, const char *name, int status, const char *text);

/*
 * Judge a JDK by what `java` prints: `version` is the output of -version, `flags` that of
 * -XX:+PrintFlagsFinal; NULL if the run failed.
 */
void lc_doctor_judge_jdk(struct lc_doctor *d, const char *jdk_name, const char *collector_name,
                         const char *path, const char *version, const char *flags);

#endif
