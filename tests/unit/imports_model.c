/* SPDX-License-Identifier: Apache-2.0 */
/* imports_model.c - stands for libjvm: what it calls to copy, redirected as jvm/os/imports.h does
 * it.
 */
#include "tests/unit/imports_model.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "src/jvm/layout/ranges.h"
#include "src/jvm/os/imports.h"

void *(*model_memcpy)(void *, const void *, size_t) = memcpy;
void *(*model_memmove)(void *, const void *, size_t) = memmove;
void *(*model_mmap)(void *, size_t, int, int, int, off_t) = mmap;
int model_imports_error, model_redirect_error;

struct lc_range lc_ranges_library(void)
{
	return (struct lc_range){ 0 };
}

int lc_imports_find(uint64_t inside, struct lc_imports *i)
{
	const int err = model_imports_error;

	model_imports_error = 0;
	for (size_t k = 0; k < i->len && !err; k++) {
		struct lc_import *m = &i->list[k];

		if (!strcmp(m->name, "memcpy"))
			m->before = (void *)(uintptr_t)memcpy;
		else if (!strcmp(m->name, "memmove"))
			m->before = (void *)(uintptr_t)memmove;
		else if (!strcmp(m->name, "mmap64"))
			m->before = (void *)(uintptr_t)mmap;
		m->slots_len = 1;
	}
	return err;
}

int lc_imports_redirect(const struct lc_imports *i)
{
	const int err = model_redirect_error;

	model_redirect_error = 0;
	for (size_t k = 0; k < i->len && !err; k++) {
		if (!strcmp(i->list[k].name, "memcpy"))
			memcpy(&model_memcpy, &i->list[k].ours, sizeof(model_memcpy));
		else if (!strcmp(i->list[k].name, "memmove"))
			memcpy(&model_memmove, &i->list[k].ours, sizeof(model_memmove));
		else if (!strcmp(i->list[k].name, "mmap64"))
			memcpy(&model_mmap, &i->list[k].ours, sizeof(model_mmap));
	}
	return err;
}

bool lc_imports_ours(const struct lc_imports *i)
{
	return (void *)(uintptr_t)model_memcpy == i->list[0].ours;
}

int lc_imports_restore(const struct lc_imports *i)
{
	for (size_t k = 0; k < i->len; k++) {
		if (!strcmp(i->list[k].name, "memcpy"))
			model_memcpy = memcpy;
		else if (!strcmp(i->list[k].name, "memmove"))
			model_memmove = memmove;
		else if (!strcmp(i->list[k].name, "mmap64"))
			model_mmap = mmap;
	}
	return 0;
}
