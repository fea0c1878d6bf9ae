/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refuse_call.c - runs a command for which the kernel refuses some system calls, as containers'
 * filters do.
 *
 * Usage: refuse_call CALL[,CALL...] ERRNO COMMAND...   CALL: a name of `calls`; ERRNO: a number
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CALLS_MAX = 8 };

static const struct {
	const char *name;
	long number;
} calls[] = {
	{ "get_mempolicy", SYS_get_mempolicy },
	{ "membarrier", SYS_membarrier },
	{ "move_pages", SYS_move_pages },
	{ "perf_event_open", SYS_perf_event_open },
	{ "process_vm_readv", SYS_process_vm_readv },
	{ "process_vm_writev", SYS_process_vm_writev },
	{ "timer_create", SYS_timer_create },
};

static int number_of(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(calls[i].name, name))
			return (int)calls[i].number;
	return -1;
}

/* The numbers of calls whose names are separated by commas. Returns how many; 0 is a mistake. */
static size_t read_calls(char *names, unsigned int *numbers)
{
	size_t len = 0;

	for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
		int number = number_of(name);

		if (number < 0 || len == CALLS_MAX)
			return 0;
		numbers[len++] = (unsigned int)number;
	}
	return len;
}

static int refuse(const unsigned int *numbers, size_t len, unsigned int error)
{
	struct sock_filter code[2 * CALLS_MAX + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .len = (unsigned short)(2 * len + 2), .filter = code };
	struct sock_filter *at = code + 1;

	for (size_t i = 0; i < len; i++) {
		*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], 0, 1);
		*at++ = (struct sock_filter)BPF_STMT(
		    BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA));
	}
	*at = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	unsigned int numbers[CALLS_MAX];
	unsigned int error = argc > 3 ? (unsigned int)atoi(argv[2]) : 0;
	size_t len = argc > 3 ? read_calls(argv[1], numbers) : 0;

	if (!len || !error) {
		fprintf(stderr, "usage: refuse_call CALL[,CALL...] ERRNO COMMAND...\n");
		return 2;
	}
	if (refuse(numbers, len, error)) {
		fprintf(stderr, "refuse_call: seccomp: %s\n", strerror(errno));
		return 2;
	}
	execvp(argv[3], argv + 3);
	fprintf(stderr, "refuse_call: %s: %s\n", argv[3], strerror(errno));
	return 127;
}
