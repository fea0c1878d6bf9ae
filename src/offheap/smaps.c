/* SPDX-License-Identifier: Apache-2.0 */
/* offheap/smaps.c - takes the lines of /proc/PID/smaps apart, one after the other. */
#include "src/offheap/smaps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIB = 1024, MODE_LEN = 5 };

void lc_smaps_init(struct lc_smaps *s)
{
	memset(s, 0, sizeof(*s));
	s->areas.element_bytes = sizeof(struct lc_smaps_area);
	s->names.element_bytes = 1;
}

void lc_smaps_free(struct lc_smaps *s)
{
	free(s->areas.data);
	free(s->names.data);
}

/* Keep the name. Returns its number, 0 without one. */
static uint32_t keep_name(struct lc_smaps *s, const char *name)
{
	const size_t at = s->names.len ? s->names.len : 1, len = strlen(name) + 1;
	char *names;

	if (len == 1 || at + len > UINT32_MAX)
		return 0;
	names = lc_vector_reserve_array(s->names.data, &s->names.cap, at + len, 1);
	if (!names)
		return 0;
	*names = '\0';
	memcpy(names + at, name, len);
	s->names.data = names;
	s->names.len = at + len;
	return (uint32_t)at;
}

static struct lc_smaps_area *last_area(struct lc_smaps *s)
{
	return (struct lc_smaps_area *)s->areas.data + s->areas.len - 1;
}

/* "7f00-7f10 rw-p 00000000 fe:00 315149     /usr/lib/libc.so.6". Returns whether it is one. */
static bool take_area(struct lc_smaps *s, const char *line)
{
	struct lc_smaps_area a = { 0 };
	char mode[MODE_LEN];
	int name = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %n", &a.low, &a.high, mode,
	           &name) != 3 ||
	    !name || a.low >= a.high)
		return false;
	s->open = true;
	s->kept = false;
	if (s->areas.len == LC_SMAPS_AREAS_MAX ||
	    (s->areas.len && a.low < last_area(s)->high)) /* the text is not by address */
		return true;
	a.reserved = !strncmp(mode, "---", 3);
	a.is_file = line[name] == '/';
	a.name = keep_name(s, line + name);
	s->kept = !lc_vector_push(&s->areas, &a);
	s->broken |= !s->kept;
	return true;
}

/* "Rss:                  76 kB" */
static void take_number(struct lc_smaps *s, const char *line)
{
	static const char *const resident[] = { "Rss:", "Private_Hugetlb:", "Shared_Hugetlb:" };
	uint64_t kib;

	for (size_t i = 0; s->open && i < sizeof(resident) / sizeof(resident[0]); i++) {
		const size_t len = strlen(resident[i]);

		if (strncmp(line, resident[i], len) != 0 ||
		    sscanf(line + len, "%" SCNu64, &kib) != 1 || kib > UINT64_MAX / KIB / KIB)
			continue;
		if (s->kept)
			last_area(s)->resident_bytes += kib * KIB;
		else
			s->beyond_bytes += kib * KIB;
	}
}

static void take_line(struct lc_smaps *s)
{
	s->line[s->line_len] = '\0';
	/* Lines of numbers begin with a capital, hexadecimal digits are small. */
	if (*s->line < 'A' || *s->line > 'Z')
		(void)take_area(s, s->line);
	else
		take_number(s, s->line);
}

void lc_smaps_feed(struct lc_smaps *s, const char *text, size_t len)
{
	while (len) {
		const char *end = memchr(text, '\n', len);
		const size_t n = end ? (size_t)(end - text) : len;

		if (n >= sizeof(s->line) - s->line_len)
			s->skipped = true;
		if (!s->skipped) {
			memcpy(s->line + s->line_len, text, n);
			s->line_len += n;
		}
		if (end) {
			if (!s->skipped)
				take_line(s);
			else
				s->kept = false; /* the line of an area whose name is too long */
			s->line_len = 0;
			s->skipped = false;
		}
		text += n + (end != NULL);
		len -= n + (end != NULL);
	}
}
