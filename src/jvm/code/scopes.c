/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/code/scopes.c - reads the debug information of compiled methods.
 *
 * A table of PcDesc, sorted by address, leads from each call to a place in a stream of compressed
 * numbers, where the innermost method stands, its bytecode index, and where its caller stands in
 * the stream. The outermost method of each such chain must be the one that was compiled: what does
 * not lead there is not believed. The layout is that of HotSpot's pcDesc.hpp, debugInfo.hpp and
 * compressedStream.hpp; the offsets are exported.
 */
#include "src/jvm/code/scopes.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "src/jvm/layout/vmstructs.h"
#include "src/jvm/os/peek.h"

enum {
	BCI_BIAS = -1,    /* bytecode indexes are stored without a sign: 0 is -1 */
	NUMBER_BYTES = 5, /* of a compressed number at most */
	LAST_BIT = 6,     /* a byte of a number holds so many bits, if more follow */
	PC_DESCS_MAX = 1 << 20,
	NATIVE_ACCESS = 0x0100, /* JVM_ACC_NATIVE */
	INNER_MAX = 256,        /* methods that are inlined into each other */
	NO_ZEROS_SINCE = 20,    /* JDK in which the bytes of compressed numbers are never 0 */
};

static struct {
	bool known;
	/* In a compiled method's blob. */
	long method, compile_id;
	long code_begin, code_offset; /* one of them is -1 or less */
	long metadata_offset, mutable_data, relocation_bytes;
	long pcs_offset, pcs_end_offset;
	long immutable_data;          /* -1 or less: offsets are from the blob */
	long data_begin, data_offset; /* of the stream */
	long desc_bytes, desc_pc, desc_scope;
	long code_end, code_end_offset; /* one of them tells where the code ends, or none does */
	/* In a Method and what hangs on it. */
	long access, const_method, code_bytes;
	long const_method_bytes; /* behind it are the bytecodes */
	unsigned least;          /* value of a byte of a compressed number */
} scopes;

static bool find_code(void)
{
	scopes.code_begin = lc_vm_offset("CodeBlob", "_code_begin");
	scopes.code_offset = lc_vm_offset("CodeBlob", "_code_offset");
	scopes.method = lc_vm_offset("CompiledMethod", "_method");
	if (scopes.method < 0)
		scopes.method = lc_vm_offset("nmethod", "_method");
	scopes.compile_id = lc_vm_offset("nmethod", "_compile_id");
	return (scopes.code_begin >= 0 || scopes.code_offset >= 0) && scopes.method >= 0 &&
	       scopes.compile_id >= 0;
}

/*
 * All data in the blob, to JDK 22; or the stream in memory of its own, and the methods after the
 * relocations, since JDK 25. JDK 23 and 24 are unknown.
 */
static bool is_known_layout(void)
{
	if (scopes.immutable_data < 0)
		return scopes.data_begin >= 0 && scopes.metadata_offset >= 0;
	return scopes.metadata_offset < 0 && scopes.data_offset >= 0 && scopes.mutable_data >= 0 &&
	       scopes.relocation_bytes >= 0;
}

static bool find_debug_information(void)
{
	const void *version = lc_vm_static("Abstract_VM_Version", "_vm_major_version");

	scopes.pcs_offset = lc_vm_offset("nmethod", "_scopes_pcs_offset");
	scopes.immutable_data = lc_vm_offset("nmethod", "_immutable_data");
	scopes.metadata_offset = lc_vm_offset("nmethod", "_metadata_offset");
	scopes.mutable_data = lc_vm_offset("CodeBlob", "_mutable_data");
	scopes.relocation_bytes = lc_vm_offset("CodeBlob", "_relocation_size");
	scopes.data_begin = lc_vm_offset("CompiledMethod", "_scopes_data_begin");
	scopes.data_offset = lc_vm_offset("nmethod", "_scopes_data_offset");
	scopes.pcs_end_offset = scopes.immutable_data >= 0
	                            ? scopes.data_offset
	                            : lc_vm_offset("nmethod", "_dependencies_offset");
	scopes.desc_bytes = lc_vm_sizeof("PcDesc");
	scopes.desc_pc = lc_vm_offset("PcDesc", "_pc_offset");
	scopes.desc_scope = lc_vm_offset("PcDesc", "_scope_decode_offset");
	scopes.code_end = lc_vm_offset("CodeBlob", "_code_end");
	scopes.code_end_offset = lc_vm_offset("CodeBlob", "_data_offset");
	if (scopes.desc_bytes < 0)
		scopes.desc_bytes = 16;
	scopes.least = version && lc_peek_load32((uint64_t)(uintptr_t)version) >= NO_ZEROS_SINCE;
	return scopes.pcs_offset >= 0 && scopes.pcs_end_offset >= 0 && scopes.desc_pc >= 0 &&
	       scopes.desc_scope >= 0 && is_known_layout();
}

static bool find_methods(void)
{
	scopes.access = lc_vm_offset("Method", "_access_flags");
	scopes.const_method = lc_vm_offset("Method", "_constMethod");
	scopes.code_bytes = lc_vm_offset("ConstMethod", "_code_size");
	scopes.const_method_bytes = lc_vm_sizeof("ConstMethod");
	return scopes.access >= 0 && scopes.const_method >= 0 && scopes.code_bytes >= 0 &&
	       scopes.const_method_bytes > 0;
}

int lc_scopes_init(void)
{
	scopes.known = find_code() && find_debug_information() && find_methods();
	return scopes.known ? 0 : -ENOENT;
}

static uint32_t get32(uint64_t at, long offset)
{
	return lc_peek_load32(at + (uint64_t)offset);
}

static uint64_t get64(uint64_t at, long offset)
{
	return lc_peek_load64(at + (uint64_t)offset);
}

/*
 * Read `bytes` bytes of a blob's data. In a handler a walk may have been misled to freed code,
 * whose data is also freed: this returns 0, which leads nowhere.
 */
static uint64_t fetch(uint64_t at, size_t bytes)
{
	const void *from = (const void *)(uintptr_t)at; /* NOLINT */
	uint64_t value = 0;

	if (lc_peek_in_handler())
		return lc_peek(at, &value, bytes) ? value : 0;
	memcpy(&value, from, bytes);
	return value;
}

static uint32_t fetch32(uint64_t at, long offset)
{
	return (uint32_t)fetch(at + (uint64_t)offset, sizeof(uint32_t));
}

/* Addresses of the parts of a compiled method. */
struct parts {
	uint64_t code, descs, descs_end, stream, metadata;
};

static struct parts parts_of(uint64_t blob)
{
	const uint64_t base =
	    scopes.immutable_data >= 0 ? get64(blob, scopes.immutable_data) : blob;

	return (struct parts){
		.code = scopes.code_begin >= 0 ? get64(blob, scopes.code_begin)
		                               : blob + get32(blob, scopes.code_offset),
		.descs = base + get32(blob, scopes.pcs_offset),
		.descs_end = base + get32(blob, scopes.pcs_end_offset),
		.stream = scopes.data_begin >= 0 ? get64(blob, scopes.data_begin)
		                                 : base + get32(blob, scopes.data_offset),
		.metadata = scopes.metadata_offset >= 0 ? blob + get32(blob, scopes.metadata_offset)
		                                        : get64(blob, scopes.mutable_data) +
		                                              get32(blob, scopes.relocation_bytes),
	};
}

/* The next number of a stream, as UNSIGNED5 of HotSpot stores it. */
static uint32_t number(uint64_t *at)
{
	const unsigned more = 256 - (1u << LAST_BIT); /* from here on, bytes say that more follow */
	uint32_t sum = 0;

	for (unsigned i = 0; i < NUMBER_BYTES; i++) {
		const uint8_t byte = (uint8_t)fetch((*at)++, 1);

		sum += (uint32_t)(byte - scopes.least) << (i * LAST_BIT);
		if (byte < more)
			break;
	}
	return sum;
}

/* The first PcDesc from `pc` on; 0 where there is none. */
static uint64_t find_near(const struct parts *p, uint64_t pc)
{
	const uint64_t len = (p->descs_end - p->descs) / (uint64_t)scopes.desc_bytes;
	const int32_t wanted = (int32_t)(pc - p->code);
	uint64_t low = 0, high = len;

	if (p->descs_end <= p->descs || len > PC_DESCS_MAX)
		return 0;
	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;
		const uint64_t desc = p->descs + middle * (uint64_t)scopes.desc_bytes;

		if ((int32_t)fetch32(desc, scopes.desc_pc) < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low < len ? p->descs + low * (uint64_t)scopes.desc_bytes : 0;
}

/* The place in the stream for `pc`: -ENOENT where there is none. */
static int64_t find_desc(const struct parts *p, uint64_t pc)
{
	const uint64_t desc = find_near(p, pc);

	if (!desc || (int32_t)fetch32(desc, scopes.desc_pc) != (int32_t)(pc - p->code))
		return -ENOENT;
	return (int64_t)fetch32(desc, scopes.desc_scope);
}

uint64_t lc_scopes_near(uint64_t blob, uint64_t pc)
{
	struct parts p;
	uint64_t desc;

	if (!scopes.known)
		return 0;
	p = parts_of(blob);
	desc = find_near(&p, pc);
	return desc && fetch32(desc, scopes.desc_scope)
	           ? p.code + (uint64_t)(int64_t)(int32_t)fetch32(desc, scopes.desc_pc)
	           : 0;
}

uint64_t lc_scopes_before(uint64_t blob, uint64_t limit)
{
	struct parts p;
	uint64_t behind, first;

	if (!scopes.known)
		return 0;
	p = parts_of(blob);
	behind = find_near(&p, limit + 1);
	if (!behind)
		behind = p.descs_end > p.descs ? p.descs_end : p.descs;
	first = p.descs + (uint64_t)scopes.desc_bytes; /* the very first one is no place */
	if (behind <= first)
		return 0;
	return p.code + (uint64_t)(int64_t)(int32_t)fetch32(behind - (uint64_t)scopes.desc_bytes,
	                                                    scopes.desc_pc);
}

uint64_t lc_scopes_compiled(uint64_t blob)
{
	return scopes.known ? get64(blob, scopes.method) : 0;
}

uint64_t lc_scopes_code_end(uint64_t blob)
{
	if (!scopes.known)
		return 0;
	if (scopes.code_end >= 0)
		return get64(blob, scopes.code_end);
	return scopes.code_end_offset >= 0 ? blob + get32(blob, scopes.code_end_offset) : 0;
}

static bool bci_makes_sense(uint64_t method, int bci)
{
	const uint64_t at = fetch(method + (uint64_t)scopes.const_method, sizeof(at));

	return bci >= -1 && bci < (int)fetch(at + (uint64_t)scopes.code_bytes, sizeof(uint16_t));
}

int lc_scopes_at(uint64_t blob, uint64_t pc, struct lc_scope *out, int max)
{
	const uint64_t compiled = scopes.known ? get64(blob, scopes.method) : 0;
	struct parts p;
	int64_t place;
	int n = 0;

	if (!compiled)
		return -ENOENT;
	if (fetch32(compiled, scopes.access) & NATIVE_ACCESS) {
		if (max < 1)
			return -ENOSPC;
		out[0] = (struct lc_scope){ compiled, -1 };
		return 1;
	}
	p = parts_of(blob);
	place = find_desc(&p, pc);
	if (place <= 0)
		return place < 0 ? (int)place : -ENOENT;
	while (place) {
		uint64_t at = p.stream + (uint64_t)place;
		uint32_t index;

		if (n == max)
			return -ENOSPC;
		place = number(&at);
		index = number(&at);
		if (!index || n == INNER_MAX)
			return -EIO;
		out[n].method = fetch(p.metadata + (uint64_t)(index - 1) * 8, sizeof(uint64_t));
		out[n].bci = (int)number(&at) + BCI_BIAS;
		n++;
	}
	if (out[n - 1].method != compiled)
		return -EIO;
	for (int i = 0; i < n; i++)
		if (!bci_makes_sense(out[i].method, out[i].bci))
			return -EIO;
	return n;
}

uint64_t lc_scopes_identity(uint64_t blob)
{
	return get64(blob, scopes.method) ^ (uint64_t)get32(blob, scopes.compile_id) << 48;
}

static bool peek(uint64_t at, long offset, void *out, size_t bytes)
{
	return lc_peek(at + (uint64_t)offset, out, bytes);
}

int lc_scopes_bci(uint64_t method, uint64_t bcp)
{
	uint32_t access = 0;
	uint16_t bytes = 0;
	uint64_t at = 0;

	if (!scopes.known || !peek(method, scopes.access, &access, sizeof(access)) ||
	    !peek(method, scopes.const_method, &at, sizeof(at)) ||
	    !peek(at, scopes.code_bytes, &bytes, sizeof(bytes)))
		return -EIO;
	if (access & NATIVE_ACCESS)
		return -1;
	at += (uint64_t)scopes.const_method_bytes;
	return bcp - at < bytes ? (int)(bcp - at) : -EIO;
}

bool lc_scopes_known(void)
{
	return scopes.known;
}
