/* jvm/code_headers.c - finds compiled methods by the code heaps' maps and the headers of blobs. */
#include "src/jvm/code_headers.h"

#include <errno.h>

#include "src/base/hash.h"
#include "src/jvm/blob.h"
#include "src/jvm/method_ids.h"
#include "src/jvm/peek.h"
#include "src/jvm/scopes.h"

static bool known;

int lc_code_headers_init(uint64_t stub)
{
	known = lc_scopes_known() && lc_blob_watch_freed(stub);
	return known ? 0 : -ENOENT;
}

bool lc_code_headers_known(void)
{
	return known;
}

bool lc_code_headers_find(uint64_t pc, struct lc_code_header *out)
{
	struct lc_blob blob;
	uint64_t end;

	if (!known || !lc_blob_find(pc, &blob) || blob.kind != LC_BLOB_METHOD ||
	    !lc_blob_used(blob.at))
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
