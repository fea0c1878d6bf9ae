/*
 * refuse_call.c - runs a command for which the kernel refuses one system call, as containers'
 * filters do.
 *
 * Usage: refuse_call CALL ERRNO COMMAND...   CALL: move_pages or get_mempolicy; ERRNO: a number
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

static long number_of(const char *name)
{
	return !strcmp(name, "move_pages")      ? SYS_move_pages
	       : !strcmp(name, "get_mempolicy") ? SYS_get_mempolicy
	                                        : -1;
}

int main(int argc, char **argv)
{
	long call = argc > 3 ? number_of(argv[1]) : -1;
	unsigned int error = argc > 3 ? (unsigned int)atoi(argv[2]) : 0;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	if (call < 0 || !error) {
		fprintf(stderr, "usage: refuse_call move_pages|get_mempolicy ERRNO COMMAND...\n");
		return 2;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		fprintf(stderr, "refuse_call: seccomp: %s\n", strerror(errno));
		return 2;
	}
	execvp(argv[3], argv + 3);
	fprintf(stderr, "refuse_call: %s: %s\n", argv[3], strerror(errno));
	return 127;
}
