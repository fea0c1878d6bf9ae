/* SPDX-License-Identifier: Apache-2.0 */
/* offheap/block_class.h - makes the JVM signatures of the classes that blocks outside the heap
 * have. */
#ifndef LC_OFFHEAP_BLOCK_CLASS_H
#define LC_OFFHEAP_BLOCK_CLASS_H

#include <ctype.h>
#include <stdio.h>

#include "src/format/kinds.h"

#define LC_BLOCK_CLASS_DIRECT "Ljava/nio/DirectByteBuffer" LC_OFFHEAP_SUFFIX ";"
#define LC_BLOCK_CLASS_SEGMENT "Ljava/lang/foreign/MemorySegment" LC_OFFHEAP_SUFFIX ";"
#define LC_BLOCK_CLASS_NATIVE "Lnative memory" LC_OFFHEAP_SUFFIX ";"

enum { LC_BLOCK_FILE_MAX = 128, LC_BLOCK_CLASS_MAX = LC_BLOCK_FILE_MAX + 32 };

/*
 * The class of blocks that are a mapped file; `file` has no directories, and is "" if it is not
 * known. In signatures '/' is '.' of the name, and '.' is '/'. Context: any.
 */
static inline void lc_block_class_mapped(const char *file, char out[LC_BLOCK_CLASS_MAX])
{
	int at =
	    snprintf(out, LC_BLOCK_CLASS_MAX, "L" LC_OFFHEAP_MAPPED "%.*s" LC_OFFHEAP_SUFFIX ";",
	             LC_BLOCK_FILE_MAX - 1, *file ? file : "file");

	for (char *c = out; at > 0 && *c; c++) {
		if (*c == '.')
			*c = '/';
		else if ((*c == ';' && c[1]) || !isprint((unsigned char)*c))
			*c = '?';
	}
}

#endif
