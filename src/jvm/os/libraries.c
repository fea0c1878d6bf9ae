/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/os/libraries.c - finds the program's native libraries, and their import slots.
 *
 * A slot that was not used yet holds the address of code of the library that looks the function up.
 * It would find the first definition in the order in which libraries are searched. That is
 * `theirs`, unless the library, or one that it needs, has a definition of its own and was loaded so
 * that this goes first. So libraries with such a definition are left alone.
 *
 * The tables are read where the dynamic linker has mapped them. It has used them itself to load the
 * library.
 */
#include "src/jvm/os/libraries.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "src/jvm/os/imports.h"

enum { LIBRARIES_MAX = 1024 };

/* Defined where an allocator is. */
#define ALLOCATES "malloc"

struct library {
	const char *path; /* as the dynamic linker has it; "" for the executable */
	uint64_t base, low, high, sealed_low, sealed_high;
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * rows[2];
	size_t rows_len[2];
	const uint32_t *gnu_hash, *hash;
	const ElfW(Dyn) * dynamic;
	bool foreign;   /* not the program's */
	bool allocates; /* has an allocator of its own */
};

/* Used by one thread at a time, while the dynamic linker's lock is held. */
static struct {
	struct library all[LIBRARIES_MAX]; /* in the order in which they were loaded */
	size_t len;
} loaded;

/* ---- reading a library ---- */

/* glibc has added the base to the section's addresses, other linkers have not. */
static const void *address(const struct library *l, uint64_t value)
{
	return (const void *)(uintptr_t)(value < l->base ? l->base + value : value);
}

static void read_dynamic(struct library *l)
{
	for (const ElfW(Dyn) *d = l->dynamic; d && d->d_tag != DT_NULL; d++) {
		const uint64_t value = d->d_un.d_val;

		if (d->d_tag == DT_SYMTAB)
			l->symbols = address(l, value);
		else if (d->d_tag == DT_STRTAB)
			l->names = address(l, value);
		else if (d->d_tag == DT_GNU_HASH)
			l->gnu_hash = address(l, value);
		else if (d->d_tag == DT_HASH)
			l->hash = address(l, value);
		else if (d->d_tag == DT_RELA)
			l->rows[0] = address(l, value);
		else if (d->d_tag == DT_RELASZ)
			l->rows_len[0] = value / sizeof(ElfW(Rela));
		else if (d->d_tag == DT_JMPREL)
			l->rows[1] = address(l, value);
		else if (d->d_tag == DT_PLTRELSZ)
			l->rows_len[1] = value / sizeof(ElfW(Rela));
	}
	if (!l->symbols || !l->names)
		l->rows[0] = l->rows[1] = NULL;
}

static int collect(struct dl_phdr_info *info, size_t bytes, void *context)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct library l = { .path = info->dlpi_name ? info->dlpi_name : "",
		             .base = info->dlpi_addr,
		             .low = UINT64_MAX };

	if (loaded.len == LIBRARIES_MAX)
		return 1;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint64_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_DYNAMIC)
			l.dynamic = (const void *)(uintptr_t)at;
		if (p->p_type == PT_GNU_RELRO) { /* whole pages, as the dynamic linker does it */
			l.sealed_low = at & ~(page - 1);
			l.sealed_high = (at + p->p_memsz) & ~(page - 1);
		}
		if (p->p_type != PT_LOAD)
			continue;
		l.low = at < l.low ? at : l.low;
		l.high = at + p->p_memsz > l.high ? at + p->p_memsz : l.high;
	}
	read_dynamic(&l);
	loaded.all[loaded.len++] = l;
	return 0;
}

static uint32_t gnu_hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

/* Is that symbol a definition with this name? */
static bool is_definition(const struct library *l, uint32_t symbol, const char *name)
{
	return l->symbols[symbol].st_shndx != SHN_UNDEF &&
	       !strcmp(l->names + l->symbols[symbol].st_name, name);
}

/* Does the library define it? */
static bool defines(const struct library *l, const char *name)
{
	const uint32_t h = gnu_hash_of(name), *table = l->gnu_hash, *buckets, *chain;

	if (!l->symbols || !l->names)
		return false;
	if (table && table[0]) {
		buckets = table + 4 + (size_t)table[2] * 2; /* behind words of 64 bits */
		chain = buckets + table[0];
		for (uint32_t i = buckets[h % table[0]]; i && i >= table[1]; i++) {
			if ((chain[i - table[1]] | 1) == (h | 1) && is_definition(l, i, name))
				return true;
			if (chain[i - table[1]] & 1)
				return false;
		}
		return false;
	}
	for (uint32_t i = 1; l->hash && i < l->hash[1]; i++)
		if (is_definition(l, i, name))
			return true;
	return false;
}

/* ---- which are the program's ---- */

static const char *file_of(const struct library *l)
{
	const char *slash = strrchr(l->path, '/');

	return slash ? slash + 1 : l->path;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_system(const char *file)
{
	static const char *const names[] = {
		"ld-linux",   "ld-musl", "linux-vdso",   "libc.",    "libc-",
		"libpthread", "libdl.",  "libdl-",       "librt.",   "librt-",
		"libm.",      "libm-",   "libgcc_s.",    "libanl.",  "libresolv",
		"libnss_",    "libutil", "libthread_db", "liblocus",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (begins(file, names[i]))
			return true;
	return false;
}

static bool is_cxx(const struct library *l)
{
	return begins(file_of(l), "libstdc++.") || begins(file_of(l), "libc++.");
}

static bool holds(const struct library *l, uint64_t at)
{
	return at && at >= l->low && at < l->high;
}

/* The library that the entry of the dynamic section of `l` names; NULL: it is not loaded. */
static struct library *needed(const struct library *l, const ElfW(Dyn) * d)
{
	const char *name = l->names + d->d_un.d_val, *slash = strrchr(name, '/');

	name = slash ? slash + 1 : name;
	for (size_t i = 0; i < loaded.len; i++)
		if (!strcmp(file_of(&loaded.all[i]), name))
			return &loaded.all[i];
	return NULL;
}

/* Whatever libraries need that are not the program's is not the program's. */
static void spread(void)
{
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < loaded.len; i++) {
			const struct library *l = &loaded.all[i];

			for (const ElfW(Dyn) *d = l->foreign && l->names ? l->dynamic : NULL;
			     d && d->d_tag != DT_NULL; d++) {
				struct library *n = d->d_tag == DT_NEEDED ? needed(l, d) : NULL;

				if (!n || n->foreign || is_cxx(n))
					continue;
				n->foreign = more = true;
			}
		}
	}
}

/* Does one that it needs have an allocator of its own? */
static bool needs_allocator(const struct library *l)
{
	for (const ElfW(Dyn) *d = l->names ? l->dynamic : NULL; d && d->d_tag != DT_NULL; d++) {
		const struct library *n = d->d_tag == DT_NEEDED ? needed(l, d) : NULL;

		if (n && n->allocates)
			return true;
	}
	return false;
}

/* `malloc`: the process's own. */
static void choose(const struct lc_program *p, uint64_t malloc)
{
	size_t behind = 1; /* the executable */

	for (size_t i = 0; i < loaded.len; i++)
		if (holds(&loaded.all[i], p->jvm))
			behind = i + 1;
	for (size_t i = 0; i < loaded.len; i++) {
		struct library *l = &loaded.all[i];
		const bool system = is_system(file_of(l));

		l->foreign = i < behind || !l->dynamic || system || holds(l, p->own) ||
		             (*p->home && begins(l->path, p->home));
		l->allocates = !system && !holds(l, malloc) && defines(l, ALLOCATES);
	}
	spread();
	for (size_t i = 0; i < loaded.len; i++) {
		struct library *l = &loaded.all[i];

		l->foreign |= l->allocates || needs_allocator(l);
	}
}

/* ---- slots ---- */

/* Call `visit` with each slot for one of the functions, if the library does not define it. */
static void each_slot(const struct library *l, const struct lc_swap *swaps, size_t len,
                      void (*visit)(const struct library *l, const struct lc_swap *swap,
                                    uint64_t *slot, size_t *count),
                      size_t *count)
{
	for (size_t k = 0; k < 2; k++) {
		for (size_t n = 0; l->rows[k] && n < l->rows_len[k]; n++) {
			const ElfW(Rela) *r = &l->rows[k][n];
			const uint64_t type = ELF64_R_TYPE(r->r_info), at = l->base + r->r_offset;
			const ElfW(Sym) *symbol = &l->symbols[ELF64_R_SYM(r->r_info)];
			const char *name = l->names + symbol->st_name;

			if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||
			    symbol->st_shndx != SHN_UNDEF || !holds(l, at) || at % sizeof(uint64_t))
				continue;
			for (size_t i = 0; i < len; i++)
				if (swaps[i].theirs && !strcmp(swaps[i].name, name))
					visit(l, &swaps[i], (uint64_t *)(uintptr_t)at, count);
		}
	}
}

static bool is_sealed(const struct library *l, const uint64_t *slot)
{
	return (uintptr_t)slot >= l->sealed_low && (uintptr_t)slot < l->sealed_high;
}

static void redirect_slot(const struct library *l, const struct lc_swap *swap, uint64_t *slot,
                          size_t *count)
{
	const uint64_t held = __atomic_load_n(slot, __ATOMIC_RELAXED);
	const uint64_t ours = (uintptr_t)swap->ours;

	if (held == ours || ((held == (uintptr_t)swap->theirs || holds(l, held)) &&
	                     !lc_imports_exchange(slot, is_sealed(l, slot), held, ours)))
		++*count;
}

static void restore_slot(const struct library *l, const struct lc_swap *swap, uint64_t *slot,
                         size_t *count)
{
	const uint64_t ours = (uintptr_t)swap->ours;

	if (__atomic_load_n(slot, __ATOMIC_RELAXED) == ours &&
	    lc_imports_exchange(slot, is_sealed(l, slot), ours, (uintptr_t)swap->theirs))
		++*count;
}

/* ---- with the lock ---- */

struct work {
	const struct lc_swap *swaps;
	size_t len;
	const struct lc_program *program; /* NULL: restore */
	size_t count;
};

static uint64_t malloc_of(const struct work *w)
{
	for (size_t i = 0; i < w->len; i++)
		if (!strcmp(w->swaps[i].name, ALLOCATES))
			return (uintptr_t)w->swaps[i].theirs;
	return 0;
}

/*
 * The first call does all of the work. The lock is held until it returns, and may be taken again by
 * the same thread.
 */
static int work_off(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct work *w = context;

	loaded.len = 0;
	(void)dl_iterate_phdr(collect, NULL);
	if (w->program)
		choose(w->program, malloc_of(w));
	for (size_t i = 0; i < loaded.len; i++) {
		const struct library *l = &loaded.all[i];
		size_t slots = 0;

		if (!w->program)
			each_slot(l, w->swaps, w->len, restore_slot, &w->count);
		else if (!l->foreign)
			each_slot(l, w->swaps, w->len, redirect_slot, &slots);
		w->count += slots > 0;
	}
	return 1;
}

size_t lc_libraries_redirect(const struct lc_swap *swaps, size_t len, const struct lc_program *p)
{
	struct work w = { .swaps = swaps, .len = len, .program = p };

	(void)dl_iterate_phdr(work_off, &w);
	return w.count;
}

size_t lc_libraries_restore(const struct lc_swap *swaps, size_t len)
{
	struct work w = { .swaps = swaps, .len = len };

	(void)dl_iterate_phdr(work_off, &w);
	return w.count;
}

static int count_changes(struct dl_phdr_info *info, size_t bytes, void *context)
{
	*(struct lc_libraries_seen *)context =
	    (struct lc_libraries_seen){ info->dlpi_adds, info->dlpi_subs };
	return 1;
}

bool lc_libraries_changed(struct lc_libraries_seen *seen)
{
	struct lc_libraries_seen now = { 0 };
	bool changed;

	(void)dl_iterate_phdr(count_changes, &now);
	changed = now.loaded != seen->loaded || now.unloaded != seen->unloaded;
	*seen = now;
	return changed;
}
