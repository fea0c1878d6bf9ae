/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_resident.c - see report_resident.h. */
#include "analyzer/objects/text/report_resident.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/resident.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"
#include "src/base/order.h"

enum {
	TITLE_COLUMNS = 26,
	BRIEF_PARTS = 4,
	NAMES = 10, /* of a part */
	SMALL_BYTES = 1 << 20,
};

#define MB 1048576.0

/* The parts from HEAP on, those with most resident memory first; the rest is the last one. */
static size_t order_parts(const struct lc_resident *s, unsigned *out)
{
	size_t len = 0;

	for (unsigned p = LC_RESIDENT_HEAP; p < LC_RESIDENT_REST; p++) {
		size_t at = len++;

		for (; at && s->resident_bytes[out[at - 1]] < s->resident_bytes[p]; at--)
			out[at] = out[at - 1];
		out[at] = p;
	}
	out[len++] = LC_RESIDENT_REST;
	return len;
}

static void print_amount(const struct lc_screen *s, const struct lc_resident *r, uint64_t bytes)
{
	fprintf(s->out, " %9.1f MB %5.1f%%", (double)bytes / MB,
	        100 * lc_share(bytes, r->resident_bytes[LC_RESIDENT_ALL]));
}

static void print_names(const struct lc_screen *s, const struct lc_resident *r, unsigned part)
{
	size_t shown = 0, more = 0;

	for (size_t i = 0; i < r->names_len; i++) {
		const struct lc_resident_name *n = &r->names[i];
		char resident[32], size[32];

		if (n->part != part)
			continue;
		if (shown && (shown == NAMES || n->resident_bytes < SMALL_BYTES)) {
			more++;
			continue;
		}
		shown++;
		fprintf(s->out, "  %9s of %9s  ",
		        lc_emit_bytes(resident, sizeof(resident), n->resident_bytes),
		        lc_emit_bytes(size, sizeof(size), n->size_bytes));
		if (n->name.len)
			lc_emit_text(s->out, n->name);
		else
			fputs("(others)", s->out);
		putc('\n', s->out);
	}
	if (more)
		fprintf(s->out, "  and %zu more\n", more);
}

/* Malloc()'s memory by its owners, if the JVM counts its own. */
static void print_malloc(const struct lc_screen *s, const struct lc_resident *r)
{
	uint64_t libraries;
	char number[32];

	if (!r->nmt_len)
		return;
	fprintf(s->out, "  %9s               allocated by the JVM itself, resident or not (NMT)\n",
	        lc_emit_bytes(number, sizeof(number), lc_resident_jvm(r)));
	if (lc_resident_libraries(r, &libraries) && libraries)
		fprintf(s->out, "  %9s               of libraries, at least\n",
		        lc_emit_bytes(number, sizeof(number), libraries));
}

/* The JVM's own counts. Committed memory is not all resident. */
static void print_nmt(const struct lc_screen *s, const struct lc_resident *r)
{
	char committed[32], reserved[32], from_malloc[32];

	for (size_t i = 0; i < r->nmt_len && i <= NAMES; i++) {
		const struct lc_resident_nmt *n = &r->nmt[i];

		lc_emit_bytes(committed, sizeof(committed), n->committed_bytes);
		lc_emit_bytes(reserved, sizeof(reserved), n->reserved_bytes);
		lc_emit_bytes(from_malloc, sizeof(from_malloc), n->malloc_bytes);
		if (!i) {
			fprintf(s->out,
			        "the JVM's own count (NMT): %s committed of %s reserved, %s of it "
			        "by malloc()\n",
			        committed, reserved, from_malloc);
			continue;
		}
		fprintf(s->out, "  %9s of %9s  ", committed, reserved);
		lc_emit_text(s->out, n->name);
		if (n->malloc_bytes)
			fprintf(s->out, ", %s by malloc()", from_malloc);
		putc('\n', s->out);
	}
	if (r->nmt_len > NAMES + 1)
		fprintf(s->out, "  and %zu more\n", r->nmt_len - NAMES - 1);
}

static void print_part(const struct lc_screen *s, const struct lc_resident *last,
                       const struct lc_resident *highest, unsigned part)
{
	fprintf(s->out, "%-*s", TITLE_COLUMNS, lc_resident_part_title(part));
	print_amount(s, last, last->resident_bytes[part]);
	if (highest)
		print_amount(s, highest, highest->resident_bytes[part]);
	if (part == LC_RESIDENT_HEAP)
		fprintf(s->out, "  of %.1f MB committed", (double)last->size_bytes[part] / MB);
	if (part == LC_RESIDENT_MALLOC && last->free_known)
		fprintf(s->out, "  %.1f MB of malloc()'s are free",
		        (double)last->size_bytes[LC_RESIDENT_FREE] / MB);
	putc('\n', s->out);
	if (part == LC_RESIDENT_FILES || part == LC_RESIDENT_BLOCKS)
		print_names(s, last, part);
	if (part == LC_RESIDENT_MALLOC)
		print_malloc(s, last);
}

/* The sums at the end, and at the highest snapshot. */
static void print_head(const struct lc_screen *s, const struct lc_load_process *p,
                       const struct lc_resident_process *of, bool many)
{
	const uint64_t begin = p->start_monotonic_ns;
	char last[32], peak[32], highest[32], at[32], *text, *which = NULL;

	lc_emit_bytes(last, sizeof(last), of->last.resident_bytes[LC_RESIDENT_ALL]);
	lc_emit_bytes(peak, sizeof(peak), of->peak_bytes);
	lc_emit_bytes(highest, sizeof(highest), of->highest.resident_bytes[LC_RESIDENT_ALL]);
	lc_emit_duration(at, sizeof(at),
	                 of->highest.time_ns > begin ? of->highest.time_ns - begin : 0);
	if (many)
		which = lc_mem_text(" of process %" PRId64, p->pid);
	text = lc_mem_text("Resident memory%s: %s in the last snapshot, %s at the process's peak; "
	                   "the highest snapshot has %s, after %s",
	                   which ? which : "", last, peak, highest, at);
	lc_screen_wrap(s, 0, 0, text);
	free(which);
	free(text);
}

static void print_process(const struct lc_screen *s, const struct lc_load_process *p,
                          const struct lc_resident_process *of, bool many)
{
	const struct lc_resident *highest =
	    of->highest.time_ns != of->last.time_ns && of->highest.divided ? &of->highest : NULL;
	unsigned parts[LC_RESIDENT_PARTS];
	const size_t len = order_parts(&of->last, parts);

	putc('\n', s->out);
	print_head(s, p, of, many);
	if (!of->last.divided) {
		fputs("its parts are unknown: /proc/self/smaps could not be read, or too much is "
		      "mapped\n",
		      s->out);
		return;
	}
	if (highest)
		fprintf(s->out, "%-*s %19s %19s\n", TITLE_COLUMNS, "", "last", "highest");
	for (size_t i = 0; i < len; i++)
		if (of->last.resident_bytes[parts[i]] || parts[i] == LC_RESIDENT_REST ||
		    (highest && highest->resident_bytes[parts[i]]))
			print_part(s, &of->last, highest, parts[i]);
	print_nmt(s, &of->last);
}

void lc_report_resident(const struct lc_screen *s, const struct lc_report *r)
{
	const struct lc_load *load = r->view->load;
	size_t len;
	struct lc_resident_process *list = lc_resident_list(load, &len);

	for (size_t i = 0; i < len && i < r->top; i++)
		print_process(s, &load->processes[list[i].process], &list[i], len > 1);
	if (len > r->top)
		fprintf(s->out, "and %zu more processes\n", len - r->top);
	lc_resident_free(list, len);
}

void lc_report_resident_brief(const struct lc_screen *s, const struct lc_report *r)
{
	size_t len, all, shown = 0;
	struct lc_resident_process *list = lc_resident_list(r->view->load, &len);
	unsigned parts[LC_RESIDENT_PARTS];
	char number[32], *text;
	FILE *out;

	if (len == 1 && lc_resident_stands_out(&list->last)) {
		const struct lc_resident *last = &list->last;
		const size_t parts_len = order_parts(last, parts);

		out = lc_text_open(&text, &all);
		fprintf(
		    out, "resident memory: %s, of which Java heap %.1f MB",
		    lc_emit_bytes(number, sizeof(number), last->resident_bytes[LC_RESIDENT_ALL]),
		    (double)last->resident_bytes[LC_RESIDENT_HEAP] / MB);
		for (size_t i = 0; i < parts_len && shown < BRIEF_PARTS - 1; i++) {
			if (parts[i] == LC_RESIDENT_HEAP || !last->resident_bytes[parts[i]])
				continue;
			fprintf(out, ", %s %.1f MB", lc_resident_part_title(parts[i]),
			        (double)last->resident_bytes[parts[i]] / MB);
			shown++;
		}
		fputs("; more: --view=offheap", out);
		lc_mem_close_text(out);
		lc_screen_wrap(s, 0, 0, text);
		free(text);
	}
	lc_resident_free(list, len);
}
