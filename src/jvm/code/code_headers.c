/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/code/code_headers.c - finds compiled methods by the code heaps' maps and the headers of
 * blobs. */
#include "src/jvm/code/code_headers.h"

#include <errno.h>
#include <stdatomic.h>

#include "src/base/hash.h"
#include "src/core/method_number.h"
#include "src/jvm/code/blob.h"
#include "src/jvm/code/scopes.h"
#include "src/jvm/layout/method_ids.h"
#include "src/jvm/os/guard.h"
#include "src/jvm/os/peek.h"

/* Relaxed: who sees an old value uses what was announced. */
static struct {
	_Atomic bool known, proving;
	_Atomic uint32_t right, wrong; /* specimens */
} headers;

int lc_code_headers_init(uint64_t stub)
{
	const bool found = lc_scopes_known() && lc_blob_watch_freed(stub);

	atomic_store(&headers.known, false);
	atomic_store(&headers.right, 0);
	atomic_store(&headers.wrong, 0);
	atomic_store(&headers.proving, found);
	return found ? 0 : -ENOENT;
}

bool lc_code_headers_proving(void)
{
	return atomic_load_explicit(&headers.proving, memory_order_relaxed);
}

bool lc_code_headers_known(void)
{
	return atomic_load_explicit(&headers.known, memory_order_relaxed);
}

static bool find(uint64_t pc, struct lc_code_header *out)
{
	struct lc_blob blob;
	uint64_t end;

	if (!lc_blob_find(pc, &blob) || blob.kind != LC_BLOB_METHOD || !lc_blob_used(blob.at))
		return false;
	end = lc_scopes_code_end(blob.at);
	if (end <= blob.code || end > blob.end)
		end = blob.end;
	out->blob = blob.at;
	out->start = blob.code;
	out->end = end;
	out->life = lc_hash(lc_scopes_identity(blob.at)) | 1;
	return pc < end;
}

bool lc_code_headers_find(uint64_t pc, struct lc_code_header *out)
{
	return lc_code_headers_known() && find(pc, out);
}

/* -- proof ---------------------------------------------------------------------------------- */

struct specimen {
	uint64_t start, last;
	uint64_t method; /* its number */
	bool bounds, right;
};

static void look_at(void *arg)
{
	struct specimen *s = arg;
	struct lc_code_header first, last;
	uint64_t method;

	if (!find(s->start, &first) || !find(s->last, &last) || first.blob != last.blob ||
	    first.start != s->start || first.end != s->last + 1)
		return;
	method = lc_method_ids_number(lc_scopes_compiled(first.blob));
	s->right = method == s->method;
	/* No class lists what the JVM makes for method handles. */
	s->bounds = s->right || !method;
}

bool lc_code_headers_specimen(uint64_t start, uint64_t bytes, jmethodID method)
{
	struct specimen s = { .start = start,
		              .last = start + bytes - 1,
		              .method = lc_method_number(method) };

	if (!lc_code_headers_proving() || !bytes)
		return false;
	if (!lc_guard_prove(look_at, &s) || !s.bounds)
		atomic_fetch_add_explicit(&headers.wrong, 1, memory_order_relaxed);
	else if (s.right)
		atomic_fetch_add_explicit(&headers.right, 1, memory_order_relaxed);
	return s.right;
}

int lc_code_headers_judge(void)
{
	if (lc_code_headers_known())
		return 1;
	if (lc_code_headers_proving() && !atomic_load(&headers.right) &&
	    !atomic_load(&headers.wrong))
		return 0;
	atomic_store(&headers.known, lc_code_headers_proving() && !atomic_load(&headers.wrong));
	atomic_store(&headers.proving, false);
	return lc_code_headers_known() ? 1 : -EIO;
}

uint64_t lc_code_headers_method(uint64_t pc)
{
	const bool in_handler = lc_peek_in_handler(); /* which has begun, or must not */
	struct lc_code_header code;
	uint64_t method = 0;
	unsigned before = 0;

	if (!lc_code_headers_find(pc, &code))
		return 0;
	if (!in_handler)
		before = lc_peek_begin(NULL);
	method = lc_method_ids_number(lc_scopes_compiled(code.blob));
	if (!in_handler)
		lc_peek_end(before);
	return method;
}

uint64_t lc_code_headers_boundary(uint64_t pc, uint64_t limit)
{
	struct lc_code_header code;
	uint64_t at;

	if (!lc_code_headers_find(pc, &code))
		return 0;
	at = lc_scopes_before(code.blob, limit);
	return at >= code.start && at <= limit ? at : 0;
}
