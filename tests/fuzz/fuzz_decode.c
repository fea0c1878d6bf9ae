/* uses: src/sample/decode.c src/sample/loaded_by.c src/sample/read_on.c src/sample/decode_straight.c src/sample/ways.c src/sample/new_object.c src/sample/step.c src/sample/insn.c src/sample/insn_step.c src/sample/insn_known.c src/sample/native_code.c src/jvm/code/code_cache.c src/jvm/os/peek.c src/offheap/granules.c -lZydis -lpthread src/core/method_number.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_decode.c - decodes any bytes as code: nothing outside them is read, and recipes make sense.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/record.h"
#include "src/format/kinds.h"
#include "src/jvm/layout/ranges.h"
#include "src/sample/decode.h"
#include "src/sample/insn.h"
#include "tests/unit/no_code_headers.h"

struct lc_range lc_ranges_code(void)
{
	return (struct lc_range){ 0 };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct lc_recipe *r, size_t len)
{
	if (r->how == LC_HOW_NO_OPERAND || r->how == LC_HOW_UNDECODED)
		return;
	if (r->how != LC_HOW_DIRECT && r->how != LC_HOW_NEARBY)
		abort();
	if (r->pc < 0x1000 || r->pc >= 0x1000 + len)
		abort();
	if (r->base >= LC_REGISTERS && r->base != LC_NO_REGISTER)
		abort();
	if (r->index >= LC_REGISTERS && r->index != LC_NO_REGISTER)
		abort();
	if (r->scale != 1 && r->scale != 2 && r->scale != 4 && r->scale != 8)
		abort();
	/* Constants in the code, and what a return reads, need no register. */
	if (r->base == LC_NO_REGISTER && r->index == LC_NO_REGISTER && !(r->access & LC_ACCESS_OWN))
		abort();
	if (!(r->access & (LC_TOUCH_LOAD | LC_TOUCH_STORE)))
		abort();
	if (r->made > LC_MADE_REGISTER || (r->made && !(r->access & LC_TOUCH_STORE)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lc_recipe recipe;
	struct lc_insn in;
	uint8_t *code;
	size_t len;

	if (size < 2)
		return 0;
	len = size - 1;
	code = malloc(len); /* exactly as long as the code, so that reading on is noticed */
	if (!code)
		return 0;
	memcpy(code, data + 1, len);
	for (int native = 0; native < 2; native++) {
		const struct lc_code_bytes bytes = { code, len, 0x1000, native, !native };
		const size_t pc_at = data[0] % len;

		lc_decode_straight(&bytes, 0, pc_at, &recipe);
		check(&recipe, len);
		if (recipe.pc >= bytes.address && recipe.pc < bytes.address + pc_at) {
			lc_decode_straight_past(&bytes, 0, pc_at, recipe.pc - bytes.address,
			                        &recipe);
			check(&recipe, len);
		}
		if (lc_insn_decode(code, len, native, &in) &&
		    lc_insn_length(code, len) != in.length)
			abort();
	}
	free(code);
	return 0;
}
