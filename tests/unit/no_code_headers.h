/* SPDX-License-Identifier: Apache-2.0 */
/* no_code_headers.h - for tests of announced code: a JVM whose own tables cannot be read. */
#ifndef LC_TESTS_NO_CODE_HEADERS_H
#define LC_TESTS_NO_CODE_HEADERS_H

#include "src/jvm/code/code_headers.h"

bool lc_code_headers_known(void)
{
	return false;
}

bool lc_code_headers_find(uint64_t pc, struct lc_code_header *out)
{
	return false;
}

uint64_t lc_code_headers_method(uint64_t pc)
{
	return 0;
}

uint64_t lc_code_headers_boundary(uint64_t pc, uint64_t limit)
{
	return 0;
}

#endif
