/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/vmstructs.c - reads HotSpot's exported type database.
 *
 * libjvm exports, for its serviceability agent, arrays that name the fields, types and constants
 * of its C++ classes, and beside them the layout of the arrays' own entries. Nothing about an
 * entry is assumed here: not its size, and not where in it a name stands.
 */
#include "src/jvm/layout/vmstructs.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* An array of entries, ended by one whose first name is NULL. */
struct table {
	const char *entries;
	uint64_t stride;
	uint64_t name; /* offset of a char *; of the type's name in the table of fields */
	uint64_t value;
};

enum {
	FLAG_ORIGIN = 15, /* JVMFlag::VALUE_ORIGIN_MASK; 0: JVMFlag::DEFAULT */
	FLAGS_MAX = 1 << 14,
	FLAG_BYTES_MAX = 256,
};

/* All set once by lc_vm_init(); constant afterwards. */
static struct {
	bool ready;
	struct table fields; /* value: offset of the field's own offset */
	struct table types;  /* value: offset of the size */
	struct table ints;
	struct table longs;
	uint64_t field_name;
	uint64_t field_type;
	uint64_t field_is_static;
	uint64_t field_address;
	const void *probe; /* an address inside libjvm */
	uint64_t library_low, library_high;
	const char *flags;
	uint64_t flags_len;
	long flag_size;
	long flag_name;
	long flag_address;
} vm;

static uint64_t load_u64(const void *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static const char *load_string(const char *at)
{
	const char *s;

	memcpy(&s, at, sizeof(s));
	return s;
}

/* libjvm is global where the launcher loaded it, and local where another program embeds it. */
static void *find_symbol(const char *name)
{
	static void *library;
	void *at = dlsym(RTLD_DEFAULT, name);

	if (at)
		return at;
	if (!library)
		library = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
	return library ? dlsym(library, name) : NULL;
}

static bool read_symbol(const char *name, uint64_t *out)
{
	void *at = find_symbol(name);

	if (at)
		*out = load_u64(at);
	return at;
}

static bool read_tables(void)
{
	uint64_t entries[4];
	bool ok = read_symbol("gHotSpotVMStructs", &entries[0]) &&
	          read_symbol("gHotSpotVMStructEntryArrayStride", &vm.fields.stride) &&
	          read_symbol("gHotSpotVMStructEntryTypeNameOffset", &vm.fields.name) &&
	          read_symbol("gHotSpotVMStructEntryOffsetOffset", &vm.fields.value) &&
	          read_symbol("gHotSpotVMStructEntryFieldNameOffset", &vm.field_name) &&
	          read_symbol("gHotSpotVMStructEntryTypeStringOffset", &vm.field_type) &&
	          read_symbol("gHotSpotVMStructEntryIsStaticOffset", &vm.field_is_static) &&
	          read_symbol("gHotSpotVMStructEntryAddressOffset", &vm.field_address) &&
	          read_symbol("gHotSpotVMTypes", &entries[1]) &&
	          read_symbol("gHotSpotVMTypeEntryArrayStride", &vm.types.stride) &&
	          read_symbol("gHotSpotVMTypeEntryTypeNameOffset", &vm.types.name) &&
	          read_symbol("gHotSpotVMTypeEntrySizeOffset", &vm.types.value) &&
	          read_symbol("gHotSpotVMIntConstants", &entries[2]) &&
	          read_symbol("gHotSpotVMIntConstantEntryArrayStride", &vm.ints.stride) &&
	          read_symbol("gHotSpotVMIntConstantEntryNameOffset", &vm.ints.name) &&
	          read_symbol("gHotSpotVMIntConstantEntryValueOffset", &vm.ints.value) &&
	          read_symbol("gHotSpotVMLongConstants", &entries[3]) &&
	          read_symbol("gHotSpotVMLongConstantEntryArrayStride", &vm.longs.stride) &&
	          read_symbol("gHotSpotVMLongConstantEntryNameOffset", &vm.longs.name) &&
	          read_symbol("gHotSpotVMLongConstantEntryValueOffset", &vm.longs.value);

	if (!ok || !entries[0] || !entries[1] || !entries[2] || !entries[3])
		return false;
	vm.fields.entries = (const char *)(uintptr_t)entries[0];
	vm.types.entries = (const char *)(uintptr_t)entries[1];
	vm.ints.entries = (const char *)(uintptr_t)entries[2];
	vm.longs.entries = (const char *)(uintptr_t)entries[3];
	vm.probe = find_symbol("gHotSpotVMStructs");
	return true;
}

static const char *find_field(const char *type, const char *field)
{
	const struct table *t = &vm.fields;

	if (!vm.ready)
		return NULL;
	for (const char *e = t->entries; load_string(e + t->name); e += t->stride)
		if (strcmp(load_string(e + vm.field_name), field) == 0 &&
		    strcmp(load_string(e + t->name), type) == 0)
			return e;
	return NULL;
}

static const char *find_entry(const struct table *t, const char *name)
{
	if (!vm.ready)
		return NULL;
	for (const char *e = t->entries; load_string(e + t->name); e += t->stride)
		if (strcmp(load_string(e + t->name), name) == 0)
			return e;
	return NULL;
}

static bool is_static(const char *field)
{
	int32_t v;

	memcpy(&v, field + vm.field_is_static, sizeof(v));
	return v;
}

struct range_search {
	uint64_t probe;
	uint64_t low;
	uint64_t high;
};

static int find_range(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct range_search *r = arg;
	uint64_t low = UINT64_MAX, high = 0;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uint64_t at = info->dlpi_addr + h->p_vaddr;

		if (h->p_type != PT_LOAD)
			continue;
		if (at < low)
			low = at;
		if (at + h->p_memsz > high)
			high = at + h->p_memsz;
	}
	if (r->probe < low || r->probe >= high)
		return 0;
	r->low = low;
	r->high = high;
	return 1;
}

int lc_vm_library_range(uint64_t *low, uint64_t *high)
{
	struct range_search r = { .probe = (uintptr_t)vm.probe };

	if (!vm.ready || !dl_iterate_phdr(find_range, &r))
		return -ENOENT;
	*low = r.low;
	*high = r.high;
	return 0;
}

/* Do `bytes` at the address lie in libjvm, where its variables and texts are? */
static bool in_library(const void *at, size_t bytes)
{
	const uint64_t address = (uintptr_t)at;

	return address >= vm.library_low && address + bytes <= vm.library_high;
}

static bool is_bool(const char *flag)
{
	const unsigned char *value = (const void *)load_string(flag + vm.flag_address);

	return *value <= 1;
}

/* Does a table of flags stand there? Each has a name and a value in libjvm, and some are known. */
static bool are_flags(const char *flags, uint64_t len)
{
	static const char *const known[] = { "UseG1GC", "UseSerialGC", "UseParallelGC" };
	const size_t longest = sizeof("UseParallelGC");
	size_t found = 0;

	if (len > FLAGS_MAX || !in_library(flags, len * (size_t)vm.flag_size))
		return false;
	for (uint64_t i = 0; i < len; i++, flags += vm.flag_size) {
		const char *name = load_string(flags + vm.flag_name);

		if (!name) /* the last one */
			continue;
		if (!in_library(name, longest) ||
		    !in_library(load_string(flags + vm.flag_address), sizeof(uint64_t)))
			return false;
		for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++)
			found += !strcmp(name, known[k]) && is_bool(flags);
	}
	return found == sizeof(known) / sizeof(*known);
}

static void resolve_flags(void)
{
	void *flags = lc_vm_static("JVMFlag", "flags");
	void *len = lc_vm_static("JVMFlag", "numFlags");

	vm.flag_size = lc_vm_sizeof("JVMFlag");
	vm.flag_name = lc_vm_offset("JVMFlag", "_name");
	vm.flag_address = lc_vm_offset("JVMFlag", "_addr");
	if (!flags || !len || vm.flag_size <= 0 || vm.flag_size > FLAG_BYTES_MAX ||
	    vm.flag_name < 0 || vm.flag_name > FLAG_BYTES_MAX || vm.flag_address < 0 ||
	    vm.flag_address > FLAG_BYTES_MAX || !are_flags(load_string(flags), load_u64(len)))
		return;
	vm.flags = load_string(flags);
	vm.flags_len = load_u64(len);
}

int lc_vm_init(void)
{
	if (!vm.ready) {
		if (!read_tables())
			return -ENOENT;
		vm.ready = true;
		if (!lc_vm_library_range(&vm.library_low, &vm.library_high))
			resolve_flags();
	}
	return 0;
}

long lc_vm_offset(const char *type, const char *field)
{
	const char *e = find_field(type, field);

	if (!e || is_static(e))
		return -ENOENT;
	return (long)load_u64(e + vm.fields.value);
}

int lc_vm_field_bytes(const char *type, const char *field)
{
	static const struct {
		const char *name;
		int bytes;
	} known[] = { { "int", 4 },     { "uint", 4 },     { "int16_t", 2 }, { "uint16_t", 2 },
		      { "short", 2 },   { "u2", 2 },       { "int32_t", 4 }, { "uint32_t", 4 },
		      { "int64_t", 8 }, { "uint64_t", 8 }, { "u1", 1 },      { "uint8_t", 1 } };
	const char *e = find_field(type, field);
	const char *name = e && !is_static(e) ? load_string(e + vm.field_type) : NULL;

	for (size_t i = 0; name && i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(name, known[i].name))
			return known[i].bytes;
	return 0;
}

void *lc_vm_static(const char *type, const char *field)
{
	const char *e = find_field(type, field);

	void *at;

	if (!e || !is_static(e))
		return NULL;
	at = (void *)(uintptr_t)load_u64(e + vm.field_address);
	return in_library(at, sizeof(uint64_t)) ? at : NULL;
}

long lc_vm_sizeof(const char *type)
{
	const char *e = find_entry(&vm.types, type);

	return e ? (long)load_u64(e + vm.types.value) : -ENOENT;
}

int lc_vm_constant(const char *name, int64_t *out)
{
	const char *e = find_entry(&vm.ints, name);
	int32_t v;

	if (e) {
		memcpy(&v, e + vm.ints.value, sizeof(v));
		*out = v;
		return 0;
	}
	e = find_entry(&vm.longs, name);
	if (!e)
		return -ENOENT;
	*out = (int64_t)load_u64(e + vm.longs.value);
	return 0;
}

static const char *find_flag(const char *name)
{
	const char *e = vm.flags;
	const char *s;

	for (uint64_t i = 0; i < vm.flags_len; i++, e += vm.flag_size) {
		s = load_string(e + vm.flag_name);
		if (s && strcmp(s, name) == 0)
			return e;
	}
	return NULL;
}

const void *lc_vm_flag(const char *name)
{
	const char *e = find_flag(name);

	return e ? load_string(e + vm.flag_address) : NULL;
}

int lc_vm_flag_is_default(const char *name)
{
	const long at = lc_vm_offset("JVMFlag", "_flags");
	const char *e = find_flag(name);
	uint32_t flags;

	if (!e || at < 0)
		return -ENOENT;
	memcpy(&flags, e + at, sizeof(flags));
	return !(flags & FLAG_ORIGIN);
}
