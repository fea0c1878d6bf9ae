/* uses: analyzer/commands/attach_target.c analyzer/base/fail.c analyzer/base/memory.c analyzer/base/progress.c analyzer/base/plain.c -lpthread */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_attach_target.c - checks that a process whose threads have not all stopped counts as
 * stopped. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/commands/attach_target.h"

enum { WAIT_MS = 60000, STEP_MS = 5 };

static char fifo[64];
static pid_t pid; /* of the process, and of its group */

static int end_the_process(void **state)
{
	(void)kill(-pid, SIGKILL);
	if (*fifo)
		unlink(fifo);
	return waitpid(pid, NULL, 0) == pid ? 0 : -1;
}

static void wait_for_ever(void)
{
	for (;;)
		pause();
}

static void *wait_on(void *unused)
{
	wait_for_ever();
	return unused;
}

/*
 * The first thread waits for its child, which waits for another process to open the FIFO. That wait
 * ends neither by SIGSTOP nor by SIGCONT, so the thread is as one that a busy machine does not run.
 */
static void be_the_process(void)
{
	posix_spawn_file_actions_t actions;
	char *const words[] = { "true", NULL };
	pthread_t other;
	pid_t child;

	if (pthread_create(&other, NULL, wait_on, NULL) ||
	    posix_spawn_file_actions_init(&actions) ||
	    posix_spawn_file_actions_addopen(&actions, 0, fifo, O_RDONLY, 0))
		_exit(1);
	(void)posix_spawn(&child, "/bin/true", &actions, NULL, words, NULL);
	_exit(0);
}

/* The state of the process's first thread, or 0. */
static char state_of_first(void)
{
	char path[64], line[256], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f) && strrchr(line, ')'))
		state = strrchr(line, ')')[2];
	if (f)
		fclose(f);
	return state;
}

static void wait_for_state(char state)
{
	for (int waited = 0; state_of_first() != state; waited += STEP_MS) {
		assert_true(waited < WAIT_MS);
		nanosleep(&(struct timespec){ .tv_nsec = STEP_MS * 1000000L }, NULL);
	}
}

static void start(void (*work)(void))
{
	pid = fork();
	if (!pid) {
		(void)setpgid(0, 0);
		work();
	}
	(void)setpgid(pid, pid);
}

static void a_process_is_stopped_before_its_first_thread_is(void **state)
{
	snprintf(fifo, sizeof(fifo), "/tmp/test_attach_target-%d", (int)getpid());
	assert_int_equal(mkfifo(fifo, 0600), 0);
	start(be_the_process);
	wait_for_state('D');
	assert_false(lc_attach_stopped(pid));
	assert_int_equal(kill(pid, SIGSTOP), 0);
	for (unsigned i = 0; i < 100; i++)
		assert_true(lc_attach_stopped(pid));
	assert_int_equal(state_of_first(), 'D');
}

static void a_process_that_goes_on_is_not_stopped(void **state)
{
	start(wait_for_ever);
	wait_for_state('S');
	assert_int_equal(kill(pid, SIGSTOP), 0);
	wait_for_state('T');
	assert_true(lc_attach_stopped(pid));
	assert_int_equal(kill(pid, SIGCONT), 0);
	wait_for_state('S');
	assert_false(lc_attach_stopped(pid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_process_is_stopped_before_its_first_thread_is,
		                          end_the_process),
		cmocka_unit_test_teardown(a_process_that_goes_on_is_not_stopped, end_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
