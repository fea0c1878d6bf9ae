/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/rewrite.c - copies a class file and inserts the hooks of allocations on the way.
 *
 * A method whose code would grow beyond the limits keeps its bytes.
 */
#include "src/classfile/rewrite.h"

#include "src/base/hash.h"
#include "src/classfile/alloc_plan.h"
#include "src/classfile/edit.h"

struct rewrite {
	struct lc_edit edit;
	const struct lc_rewrite_options *options;
	struct lc_rewrite_result counts;
	struct lc_alloc_plan_scan scan;
	struct lc_alloc_plan hooks;
	struct lc_hook_constants constants;
	bool look_only; /* end at the first hook */
};

/* Does any hook that counts stand in the method? */
static bool has_hook(const struct rewrite *r)
{
	if (!r->options->tracked_only)
		return r->hooks.len;
	for (size_t i = 0; i < r->hooks.len; i++)
		if (r->hooks.hooks[i].site_bits & LC_SITE_TRACKED)
			return true;
	return false;
}

static enum lc_rewrite_status rewrite_code(void *user, const struct lc_member *method,
                                           const struct lc_attribute *a)
{
	struct rewrite *r = user;
	enum lc_rewrite_status status;
	struct lc_method_code code;

	status = lc_edit_read(&r->edit, a, &code);
	if (status == LC_REWRITE_DONE)
		status = lc_alloc_plan_find(&r->scan, method, &code, &r->hooks);
	r->counts.code_sum += lc_rewrite_code_sum(code.len);
	if (status != LC_REWRITE_DONE)
		return status;
	if (r->look_only && has_hook(r)) {
		r->counts.sites = 1;
		return LC_REWRITE_NOTHING; /* look no further */
	}
	if (r->look_only || !r->hooks.len)
		return LC_REWRITE_DONE;
	status = lc_method_code_layout(&code, r->hooks.inserts, r->hooks.len);
	if (status == LC_REWRITE_TOO_LARGE || code.max_stack > UINT16_MAX - LC_HOOK_STACK) {
		r->counts.methods_left++;
		return LC_REWRITE_DONE;
	}
	if (status != LC_REWRITE_DONE)
		return status;
	lc_alloc_plan_assemble(&r->hooks, &r->constants, r->options);
	status = lc_edit_put(&r->edit, a, &code, r->hooks.inserts, r->hooks.len,
	                     (uint32_t)code.max_stack + LC_HOOK_STACK);
	if (status == LC_REWRITE_DONE)
		r->counts.sites += (uint32_t)r->hooks.len;
	return status;
}

static enum lc_rewrite_status rewrite_methods(struct rewrite *r)
{
	enum lc_rewrite_status status = lc_edit_methods(&r->edit, rewrite_code, r);

	if (status != LC_REWRITE_DONE && !(r->look_only && r->counts.sites))
		return status;
	r->counts.skipped_constant = r->scan.skipped_constant;
	r->counts.own_field_bytes = r->scan.own_bytes;
	if (r->counts.sites)
		return LC_REWRITE_DONE;
	return r->counts.methods_left ? LC_REWRITE_TOO_LARGE : LC_REWRITE_NOTHING;
}

static enum lc_rewrite_status run(const uint8_t *in, size_t len,
                                  const struct lc_rewrite_options *options, bool look_only,
                                  struct lc_rewrite_result *out)
{
	struct rewrite r = { .options = options, .look_only = look_only };
	const struct lc_class *c = &r.edit.cls;
	enum lc_rewrite_status status = lc_edit_open(&r.edit, in, len);

	r.constants.pool = &r.edit.pool;
	*out = (struct lc_rewrite_result){ 0 };
	if (status != LC_REWRITE_DONE)
		return status;
	if (lc_class_text_is(lc_class_name(c, c->this_class), LC_HOOK_CLASS))
		status = LC_REWRITE_NOTHING;
	else if (!lc_alloc_plan_scan_open(&r.scan, c, options))
		status = LC_REWRITE_NO_MEMORY;
	else
		status = rewrite_methods(&r);
	if (status == LC_REWRITE_DONE && !look_only)
		status = lc_edit_join(&r.edit, &r.counts.bytes, &r.counts.len);
	*out = r.counts;
	lc_alloc_plan_scan_close(&r.scan);
	lc_alloc_plan_close(&r.hooks);
	lc_edit_close(&r.edit);
	return status;
}

enum lc_rewrite_status lc_rewrite_class(const uint8_t *in, size_t len,
                                        const struct lc_rewrite_options *options,
                                        struct lc_rewrite_result *out)
{
	return run(in, len, options, false, out);
}

enum lc_rewrite_status lc_rewrite_look(const uint8_t *in, size_t len,
                                       const struct lc_rewrite_options *options,
                                       struct lc_rewrite_result *out)
{
	return run(in, len, options, true, out);
}

uint64_t lc_rewrite_code_sum(uint64_t code_bytes)
{
	/* Never 0, and no multiple of what another length gives. */
	return lc_hash_add(1, code_bytes);
}

const char *lc_rewrite_status_name(enum lc_rewrite_status s)
{
	static const char *const names[LC_REWRITE_STATUS_COUNT] = {
		[LC_REWRITE_DONE] = "rewritten",
		[LC_REWRITE_NOTHING] = "no site",
		[LC_REWRITE_MALFORMED] = "malformed",
		[LC_REWRITE_UNSUPPORTED] = "unsupported version",
		[LC_REWRITE_TOO_LARGE] = "too large",
		[LC_REWRITE_NO_MEMORY] = "no memory",
	};

	return (unsigned)s < LC_REWRITE_STATUS_COUNT ? names[s] : "unknown";
}
