/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/os/imports.c - puts functions of ours in the place of functions that a library imports. */
#include "src/jvm/os/imports.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The dynamic linker's data about a library. */
struct library {
	uint64_t inside; /* an address in it */
	uint64_t base, low, high;
	uint64_t sealed_low, sealed_high;
	const ElfW(Dyn) * dynamic;
};

/* The parts of its dynamic section that are needed. */
struct tables {
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * rows[2];
	size_t rows_len[2];
};

static int look(struct dl_phdr_info *info, size_t bytes, void *context)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct library *l = context, found = { .inside = l->inside, .base = info->dlpi_addr };

	found.low = UINT64_MAX;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint64_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_DYNAMIC)
			found.dynamic = (const void *)(uintptr_t)at;
		if (p->p_type == PT_GNU_RELRO) { /* whole pages, as the dynamic linker does it */
			found.sealed_low = at & ~(page - 1);
			found.sealed_high = (at + p->p_memsz) & ~(page - 1);
		}
		if (p->p_type != PT_LOAD)
			continue;
		found.low = at < found.low ? at : found.low;
		found.high = at + p->p_memsz > found.high ? at + p->p_memsz : found.high;
	}
	if (found.inside < found.low || found.inside >= found.high || !found.dynamic)
		return 0;
	*l = found;
	return 1;
}

/* glibc has added the base to the section's addresses, other linkers have not. */
static const void *address(const struct library *l, uint64_t value)
{
	return (const void *)(uintptr_t)(value < l->base ? l->base + value : value);
}

static bool read_dynamic(const struct library *l, struct tables *t)
{
	bool rela = true;

	*t = (struct tables){ 0 };
	for (const ElfW(Dyn) *d = l->dynamic; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			t->symbols = address(l, d->d_un.d_ptr);
		else if (d->d_tag == DT_STRTAB)
			t->names = address(l, d->d_un.d_ptr);
		else if (d->d_tag == DT_RELA)
			t->rows[0] = address(l, d->d_un.d_ptr);
		else if (d->d_tag == DT_RELASZ)
			t->rows_len[0] = d->d_un.d_val / sizeof(ElfW(Rela));
		else if (d->d_tag == DT_JMPREL)
			t->rows[1] = address(l, d->d_un.d_ptr);
		else if (d->d_tag == DT_PLTRELSZ)
			t->rows_len[1] = d->d_un.d_val / sizeof(ElfW(Rela));
		else if (d->d_tag == DT_PLTREL)
			rela = d->d_un.d_val == DT_RELA;
	}
	return t->symbols && t->names && rela;
}

/* A slot that was not used yet holds the address of code that looks the function up, and would
 * write its address over ours: so it is looked up here. */
static void *function_of(const struct library *l, const char *name, uint64_t held)
{
	if (held >= l->low && held < l->high)
		return dlsym(RTLD_DEFAULT, name);
	return (void *)(uintptr_t)held;
}

static int take_slot(const struct library *l, struct lc_import *i, uint64_t at)
{
	uint64_t *slot = (uint64_t *)(uintptr_t)at;
	uint64_t held;

	if (at < l->low || at >= l->high || at % sizeof(*slot))
		return -ENOENT;
	if (i->slots_len == LC_IMPORT_SLOTS_MAX)
		return -E2BIG;
	held = __atomic_load_n(slot, __ATOMIC_RELAXED);
	/* A slot that could not be restored earlier still holds `ours`: `before` is known. */
	if (!i->slots_len && held != (uintptr_t)i->ours)
		i->before = function_of(l, i->name, held);
	i->slots[i->slots_len++] = slot;
	return i->before ? 0 : -ENOENT;
}

static int find_slots(const struct library *l, const struct tables *t, struct lc_import *i)
{
	i->slots_len = 0;
	for (size_t k = 0; k < 2; k++) {
		for (size_t n = 0; t->rows[k] && n < t->rows_len[k]; n++) {
			const ElfW(Rela) *r = &t->rows[k][n];
			const uint64_t type = ELF64_R_TYPE(r->r_info);
			int err;

			if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||
			    strcmp(t->names + t->symbols[ELF64_R_SYM(r->r_info)].st_name, i->name))
				continue;
			err = take_slot(l, i, l->base + r->r_offset);
			if (err)
				return err;
		}
	}
	return i->slots_len ? 0 : -ENOENT;
}

int lc_imports_find(uint64_t inside, struct lc_imports *i)
{
	struct library l = { .inside = inside };
	struct tables t;
	int err = 0;

	if (!dl_iterate_phdr(look, &l) || !read_dynamic(&l, &t))
		return -ENOENT;
	i->sealed_low = l.sealed_low;
	i->sealed_high = l.sealed_high;
	for (size_t k = 0; k < i->len && !err; k++)
		err = find_slots(&l, &t, &i->list[k]);
	return err;
}

static bool is_sealed(const struct lc_imports *i, const uint64_t *slot)
{
	return (uintptr_t)slot >= i->sealed_low && (uintptr_t)slot < i->sealed_high;
}

/*
 * Is the page that the slot lies in writable? Somebody else may redirect slots, too, and have left
 * it so: async-profiler writes to it again at its end. True where the kernel does not tell.
 */
static bool is_writable(const uint64_t *slot)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	bool writable = true;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		uint64_t low, high;
		char access[5];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &low, &high, access) == 3 &&
		    (uintptr_t)slot >= low && (uintptr_t)slot < high) {
			writable = access[1] == 'w';
			break;
		}
	}
	if (maps)
		fclose(maps);
	return writable;
}

/* A slot does not cross pages: it is aligned. */
static int protect(const uint64_t *slot, int how)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	return mprotect((void *)((uintptr_t)slot & ~(page - 1)), page, how) ? -errno : 0;
}

int lc_imports_exchange(uint64_t *slot, bool sealed, uint64_t from, uint64_t to)
{
	const bool writable = !sealed || is_writable(slot);
	int err = sealed ? protect(slot, PROT_READ | PROT_WRITE) : 0;

	if (err)
		return err;
	/* Release: what the function at `to` needs was written before. */
	if (from && !__atomic_compare_exchange_n(slot, &from, to, false, __ATOMIC_RELEASE,
	                                         __ATOMIC_RELAXED))
		err = -EBUSY;
	if (!from)
		__atomic_store_n(slot, to, __ATOMIC_RELEASE);
	if (!writable)
		(void)protect(slot, PROT_READ);
	return err;
}

/* Have the slots hold `to`, which `from` is replaced by. */
static int swap(const struct lc_imports *i, uint64_t *slot, uint64_t from, uint64_t to)
{
	return lc_imports_exchange(slot, is_sealed(i, slot), from, to);
}

int lc_imports_restore(const struct lc_imports *i)
{
	int first = 0;

	for (size_t k = 0; k < i->len; k++) {
		const struct lc_import *m = &i->list[k];

		for (size_t n = 0; n < m->slots_len; n++) {
			int err = 0;

			if (__atomic_load_n(m->slots[n], __ATOMIC_RELAXED) != (uintptr_t)m->before)
				err =
				    swap(i, m->slots[n], (uintptr_t)m->ours, (uintptr_t)m->before);
			first = first ? first : err;
		}
	}
	return first;
}

int lc_imports_redirect(const struct lc_imports *i)
{
	for (size_t k = 0; k < i->len; k++) {
		const struct lc_import *m = &i->list[k];

		for (size_t n = 0; n < m->slots_len; n++) {
			int err = swap(i, m->slots[n], 0, (uintptr_t)m->ours);

			if (err) {
				(void)lc_imports_restore(i);
				return err;
			}
		}
	}
	return 0;
}

bool lc_imports_ours(const struct lc_imports *i)
{
	for (size_t k = 0; k < i->len; k++)
		for (size_t n = 0; n < i->list[k].slots_len; n++)
			if (__atomic_load_n(i->list[k].slots[n], __ATOMIC_RELAXED) !=
			    (uintptr_t)i->list[k].ours)
				return false;
	return true;
}
