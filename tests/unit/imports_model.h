/* SPDX-License-Identifier: Apache-2.0 */
/* imports_model.h - stands for libjvm: what it calls to copy, redirected as jvm/os/imports.h does
 * it.
 */
#ifndef LC_TEST_IMPORTS_MODEL_H
#define LC_TEST_IMPORTS_MODEL_H

#include <stddef.h>
#include <sys/types.h>

/* libjvm's slots: libc's functions, or those that stand in their place. */
extern void *(*model_memcpy)(void *, const void *, size_t);
extern void *(*model_memmove)(void *, const void *, size_t);
extern void *(*model_mmap)(void *, size_t, int, int, int, off_t);

/* The result of the next search for slots, or of the next redirection, instead of 0. */
extern int model_imports_error, model_redirect_error;

#endif
