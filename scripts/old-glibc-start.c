/* SPDX-License-Identifier: Apache-2.0 */
/*
 * old-glibc-start.c - has a program's constructors called
 *
 * Until 2.33 glibc's start files brought the function that calls them, and passed it to the C
 * library. The start files of newer glibc pass none, and the library finds the constructors by
 * itself; it still calls a function that it is passed. A program is linked with
 * -Wl,--wrap=__libc_start_main.
 */
#include <stddef.h>

typedef void construct_fn(int argc, char **argv, char **environment);

extern construct_fn *const __init_array_start[] __attribute__((visibility("hidden")));
extern construct_fn *const __init_array_end[] __attribute__((visibility("hidden")));

int __real___libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                             construct_fn *construct, void (*destruct)(void), void (*unload)(void),
                             void *stack);
int __wrap___libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                             construct_fn *construct, void (*destruct)(void), void (*unload)(void),
                             void *stack);

static void call_constructors(int argc, char **argv, char **environment)
{
	const size_t count = (size_t)(__init_array_end - __init_array_start);

	for (size_t i = 0; i < count; i++)
		__init_array_start[i](argc, argv, environment);
}

int __wrap___libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                             construct_fn *construct, void (*destruct)(void), void (*unload)(void),
                             void *stack)
{
	return __real___libc_start_main(main, argc, argv, construct ? construct : call_constructors,
	                                destruct, unload, stack);
}
