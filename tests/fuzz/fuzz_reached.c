/* uses: src/classfile/ src/base/track.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_reached.c - asks of all instructions of any class through which references they access
 * objects: each source must be one that the class has.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/classfile/reached.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	abort();
}

static void check_source(struct lc_reached *r, const struct lc_class *c,
                         const struct lc_reached_source *s)
{
	struct lc_class_ref ref;
	bool array;
	char element;

	if (s->elements > LC_REACHED_ELEMENTS)
		fail("too many elements");
	switch ((enum lc_reached_kind)s->kind) {
	case LC_REACHED_FIELD:
	case LC_REACHED_STATIC:
		if (!lc_class_field_ref(c, s->index, &ref) || !ref.name.data)
			fail("no field");
		break;
	case LC_REACHED_RESULT:
		if (!lc_reached_called(r, s->index, &ref) || !ref.descriptor.data)
			fail("no call");
		break;
	case LC_REACHED_NEW:
		(void)lc_reached_made(r, s->index, &array, &element);
		break;
	case LC_REACHED_CLASS:
	case LC_REACHED_PARAMETER:
	case LC_REACHED_CONSTANT:
	case LC_REACHED_CAUGHT:
		break;
	default:
		fail("no such kind");
	}
}

static void check(struct lc_reached *r, const struct lc_class *c,
                  const struct lc_reached_sources *s)
{
	if (s->len > LC_REACHED_SOURCES || (s->len && !s->known))
		fail("no set");
	for (unsigned i = 0; i < s->len; i++)
		check_source(r, c, &s->of[i]);
}

static void look(struct lc_reached *r, const struct lc_class *c)
{
	struct lc_reached_sources s;
	struct lc_reached_access a;

	for (uint32_t at = 0; lc_reached_opcode(r, at) != LC_REACHED_END;
	     at = lc_reached_next(r, at)) {
		if (lc_reached_access(r, at, &a)) {
			check(r, c, &a.object);
			check(r, c, &a.value);
		}
		for (uint32_t slot = 0; slot < 3; slot++)
			if (lc_reached_argument(r, at, slot, &s))
				check(r, c, &s);
	}
	if (lc_reached_returned(r, &s))
		check(r, c, &s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lc_class c;
	uint8_t *copy = malloc(size ? size : 1); /* of that very size: overruns are found */
	uint32_t at;

	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	if (lc_class_open(copy, size, &c) == LC_REWRITE_DONE) {
		at = c.methods + 2;
		for (unsigned n = (unsigned)copy[c.methods] << 8 | copy[c.methods + 1]; n; n--) {
			const struct lc_member m = lc_class_member(&c, at);
			struct lc_reached *r = lc_reached_open(&c, &m);

			if (r)
				look(r, &c);
			lc_reached_close(r);
			at = m.end;
		}
		lc_class_close(&c);
	}
	free(copy);
	return 0;
}
