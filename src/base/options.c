/* SPDX-License-Identifier: Apache-2.0 */
/* base/options.c - turns texts into values of options, checks them, and turns values into texts. */
#include "src/base/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/base/glob.h"
#include "src/base/label.h"
#include "src/base/nearest.h"
#include "src/base/option_number.h"
#include "src/base/track.h"

#define LC_OPTION(field, type, name, letter, argument, default_text, unit, help)                   \
	{ name, letter, #type, argument, default_text, unit, help },
static const struct lc_option_info infos[] = {
#include "src/base/options.def"
};
#undef LC_OPTION

/* The parser's own data about each option; the rows are in the order of infos[]. */
#define LC_OPTION(field, type, name, letter, argument, default_text, unit, help)                   \
	{ OPTION_##type, offsetof(struct lc_options, field),                                       \
	  sizeof(((struct lc_options *)0)->field) },
static const struct {
	enum option_type type;
	size_t offset, size;
} slots[] = {
#include "src/base/options.def"
};
#undef LC_OPTION

enum { OPTION_COUNT_ALL = sizeof(infos) / sizeof(infos[0]) };

/*
 * The ranges of numbers. An interval under 100 us would spend more time in the
 * signal handler than in the program, and one allocation sampled in less than 1 KiB more than
 * tracking them all; objects of over 32 GiB do not fit in a record.
 */
static const struct {
	const char *name;
	uint64_t low, high;
	bool or_zero;
	const char *text;
	/* A word that stands for a number; NULL: none. */
	const char *word;
	uint64_t word_number;
} ranges[] = {
	{ "interval", 100 * UINT64_C(1000), UINT64_C(3600) * 1000000000, false, "100us to 3600s",
	  NULL, 0 },
	{ "duration", 1000000, UINT64_C(1000000) * 1000000000, false, "none, or 1ms to 1000000s",
	  "none", 0 },
	{ "max-pause", 1000000, UINT64_C(3600) * 1000000000, false, "1ms to 3600s", NULL, 0 },
	{ "min-size", 0, UINT64_C(32) << 30, false, "0 to 32g", NULL, 0 },
	{ "sample-interval", 1 << 10, 1 << 30, true, "auto, 0, or 1k to 1g", "auto",
	  LC_SAMPLE_INTERVAL_AUTO },
	{ "max-memory", 32 << 20, UINT64_C(64) << 30, false, "auto, or 32m to 64g", "auto",
	  LC_MAX_MEMORY_AUTO },
	{ "max-profile-size", 64 << 10, UINT64_C(1024) << 30, true, "auto, 0, or 64k to 1024g",
	  "auto", LC_MAX_PROFILE_AUTO },
	{ "loop", 0, UINT64_MAX, false, "", "none", 0 },
	{ "keep", 0, 100000, false, "0 to 100000", NULL, 0 },
	{ "budget", 1000, 1000000, false, "none, or 0.1% to 100%", "none", 0 },
	{ "depth", 1, LC_FRAMES_MAX, false, "1 to 2048", NULL, 0 },
};
enum { RANGES = sizeof(ranges) / sizeof(ranges[0]) };
_Static_assert(LC_FRAMES_MAX == 2048, "the range of depth names its limit");

/* The options that do nothing unless the other one is set too, and what then to add. */
static const struct {
	const char *name, *other, *add;
} needs[] = {
	{ "keep", "loop", "loop=1h" },
	{ "max-pause", "holders", "holders" },
	{ "span-paths", "spans", "spans=streams or spans=tasks" },
	{ "trace", "spans", "spans=streams or spans=tasks" },
	{ "clock", "spans", "spans=streams or spans=tasks" },
	{ "calibrate", "spans", "spans=streams or spans=tasks" },
};

/* Options that do nothing without hooks. */
static const char *const hooked[] = { "min-size", "track", "exact", "holders", "audit", "spans" };

const struct lc_option_info *lc_option_table(size_t *count)
{
	*count = OPTION_COUNT_ALL;
	return infos;
}

static void *field(const struct lc_options *o, size_t row)
{
	return (char *)(uintptr_t)o + slots[row].offset;
}

static long find_row(const char *name, char *error, size_t error_len)
{
	const char *names[OPTION_COUNT_ALL];
	const char *near;

	for (size_t i = 0; i < OPTION_COUNT_ALL; i++) {
		if (strcmp(infos[i].name, name) == 0)
			return (long)i;
		names[i] = infos[i].name;
	}
	near = lc_nearest(name, names, OPTION_COUNT_ALL);
	snprintf(error, error_len, "unknown option '%.64s'%s%s%s", name,
	         near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return -ENOENT;
}

/* The range of an option, and its word; an index of ranges[], or RANGES. */
static size_t range_of(size_t row)
{
	size_t i = 0;

	while (i < RANGES && strcmp(ranges[i].name, infos[row].name) != 0)
		i++;
	return i;
}

static int set_number(struct lc_options *o, size_t row, const char *value, char *error,
                      size_t error_len)
{
	const size_t own = range_of(row);
	const char *word = own < RANGES ? ranges[own].word : NULL;
	uint64_t n = 0;
	const bool is_word = word && strcmp(value, word) == 0;
	const char *wrong = is_word ? NULL : parse_number(value, slots[row].type, &n);
	const char *range = "";

	if (is_word)
		n = ranges[own].word_number;
	else if (!wrong && own < RANGES && (n < ranges[own].low || n > ranges[own].high) &&
	         !(ranges[own].or_zero && n == 0)) {
		wrong = "is out of range: ";
		range = ranges[own].text;
	}
	if (wrong) {
		snprintf(error, error_len, "%s: '%.64s' %s%s", infos[row].name, value, wrong,
		         range);
		return -EINVAL;
	}
	memcpy(field(o, row), &n, sizeof(n));
	return 0;
}

/* The index of the `len` bytes at `value` among the choices "a|b|c", or -1. */
static int choice_index(const char *choices, const char *value, size_t len)
{
	int index = 0;

	for (const char *w = choices;; index++) {
		size_t w_len = strcspn(w, "|");

		if (w_len == len && memcmp(w, value, len) == 0)
			return index;
		if (!w[w_len])
			return -1;
		w += w_len + 1;
	}
}

static int set_choice(struct lc_options *o, size_t row, const char *value, char *error,
                      size_t error_len)
{
	int index = choice_index(infos[row].argument, value, strlen(value));

	if (index < 0) {
		snprintf(error, error_len, "%s: '%.64s' is not one of %s", infos[row].name, value,
		         infos[row].argument);
		return -EINVAL;
	}
	memcpy(field(o, row), &index, sizeof(index));
	return 0;
}

/* The value is choices, separated by ',' or ';'; each is a bit, in the order of the argument. */
static int set_set(struct lc_options *o, size_t row, const char *value, char *error,
                   size_t error_len)
{
	unsigned bits = 0;

	while (*value) {
		size_t len = strcspn(value, ",;");
		int index = choice_index(infos[row].argument, value, len);

		if (len && index < 0) {
			snprintf(error, error_len, "%s: '%.*s' is not one of %s", infos[row].name,
			         len < 64 ? (int)len : 64, value, infos[row].argument);
			return -EINVAL;
		}
		if (len)
			bits |= 1u << index;
		value += len + (value[len] != '\0');
	}
	memcpy(field(o, row), &bits, sizeof(bits));
	return 0;
}

static int set_flag(struct lc_options *o, size_t row, const char *value, char *error,
                    size_t error_len)
{
	bool on = !value || strcmp(value, "on") == 0;

	if (!on && strcmp(value, "off") != 0) {
		snprintf(error, error_len, "%s: '%.64s' is neither on nor off", infos[row].name,
		         value);
		return -EINVAL;
	}
	memcpy(field(o, row), &on, sizeof(on));
	return 0;
}

/* Write `len` bytes of `value` at `at` of the option's text, and zeros behind them. */
static int put_text(struct lc_options *o, size_t row, size_t at, const char *value, char *error,
                    size_t error_len)
{
	const size_t len = strlen(value), size = slots[row].size;
	char *text = field(o, row);

	/* A pattern may be empty, a directory's name may not. */
	if (at + len >= size || (at + len == 0 && infos[row].default_text[0])) {
		if (at + len)
			snprintf(error, error_len, "%s: the %s is longer than %zu bytes",
			         infos[row].name, infos[row].argument, size - 1);
		else
			snprintf(error, error_len, "%s: the %s is empty", infos[row].name,
			         infos[row].argument);
		return -EINVAL;
	}
	memcpy(text + at, value, len);
	memset(text + at + len, 0, size - at - len);
	return 0;
}

_Static_assert(OPTION_COUNT_ALL <= 64, "lists_set has a bit per row");

/* Are all labels good, once `value` is appended to the `before` bytes that are there? */
static bool labels_good(const char *text, size_t before, const char *value, char *error,
                        size_t error_len)
{
	char joined[2 * LC_OPTION_TEXT_MAX];

	snprintf(joined, sizeof(joined), "%.*s%s%.*s", (int)before, text, before ? ";" : "",
	         LC_OPTION_TEXT_MAX, value);
	return strlen(joined) >= LC_OPTION_TEXT_MAX || /* it is too long */
	       lc_labels_good(joined, error, error_len);
}

/* The first value of a list replaces the default; each further value is appended. */
static int set_list(struct lc_options *o, size_t row, const char *value, char *error,
                    size_t error_len)
{
	const bool further = value[0] && o->lists_set >> row & 1;
	char *text = field(o, row);
	const size_t before = further ? strlen(text) : 0;
	int err;

	if (!strcmp(infos[row].name, "label") &&
	    !labels_good(text, before, value, error, error_len))
		return -EINVAL;
	err = put_text(o, row, before ? before + 1 : 0, value, error, error_len);
	if (err)
		return err;
	if (before)
		text[before] = ';';
	o->lists_set |= UINT64_C(1) << row;
	return 0;
}

void lc_options_init(struct lc_options *o)
{
	char error[128];

	memset(o, 0, sizeof(*o));
	for (size_t i = 0; i < OPTION_COUNT_ALL; i++)
		(void)lc_options_set(o, infos[i].name, infos[i].default_text, error, sizeof(error));
	o->lists_set = 0;
}

int lc_options_set(struct lc_options *o, const char *name, const char *value, char *error,
                   size_t error_len)
{
	long row = find_row(name, error, error_len);

	if (row < 0)
		return (int)row;
	if (slots[row].type == OPTION_FLAG)
		return set_flag(o, (size_t)row, value, error, error_len);
	if (!value) {
		snprintf(error, error_len, "%s needs a value: %s", name, infos[row].argument);
		return -EINVAL;
	}
	switch (slots[row].type) {
	case OPTION_CHOICE:
		return set_choice(o, (size_t)row, value, error, error_len);
	case OPTION_SET:
		return set_set(o, (size_t)row, value, error, error_len);
	case OPTION_STRING:
		return put_text(o, (size_t)row, 0, value, error, error_len);
	case OPTION_LIST:
		return set_list(o, (size_t)row, value, error, error_len);
	default:
		return set_number(o, (size_t)row, value, error, error_len);
	}
}

/*
 * Take "name=value" off the front of *text, unescaped, into `out`. Returns false when it does
 * not fit. *value is NULL where there is no '='.
 */
static bool take_item(const char **text, char *out, size_t out_len, char **value)
{
	const char *p = *text;
	size_t len = 0;

	*value = NULL;
	for (; *p && *p != ','; p++) {
		if (*p == '\\' && (p[1] == ',' || p[1] == '\\'))
			p++;
		if (len + 1 >= out_len)
			return false;
		out[len++] = *p;
		if (*p == '=' && !*value) {
			out[len - 1] = '\0';
			*value = out + len;
		}
	}
	out[len] = '\0';
	*text = *p ? p + 1 : p;
	return true;
}

int lc_options_parse(struct lc_options *o, const char *text, char *error, size_t error_len)
{
	struct lc_options parsed = *o;
	char item[LC_TRACK_TEXT_MAX + 64]; /* the longest */
	char *value;
	int err;

	if (!text)
		text = "";
	while (*text) {
		if (!take_item(&text, item, sizeof(item), &value)) {
			snprintf(error, error_len, "'%.32s...' is longer than %d bytes", text,
			         LC_TRACK_TEXT_MAX);
			return -EINVAL;
		}
		if (!item[0] && !value)
			continue; /* two commas in a row, or one at the end */
		err = lc_options_set(&parsed, item, value, error, error_len);
		if (err)
			return err;
	}
	err = lc_options_check(&parsed, error, error_len);
	if (err)
		return err;
	*o = parsed;
	return 0;
}

static int format_choice(const char *choices, int index, char *out, size_t out_len)
{
	while (index-- > 0)
		choices += strcspn(choices, "|") + 1;
	return snprintf(out, out_len, "%.*s", (int)strcspn(choices, "|"), choices);
}

static int format_set(const char *choices, unsigned bits, char *out, size_t out_len)
{
	int len = 0;

	if (out_len)
		out[0] = '\0';
	for (int i = 0; bits >> i && (size_t)len < out_len; i++) {
		if (!(bits >> i & 1))
			continue;
		if (len)
			len += snprintf(out + len, out_len - (size_t)len, ";");
		if ((size_t)len < out_len)
			len += format_choice(choices, i, out + len, out_len - (size_t)len);
	}
	return len;
}

int lc_options_value(const struct lc_options *o, size_t i, char *out, size_t out_len)
{
	const void *p = field(o, i);
	unsigned bits;
	uint64_t n;
	int index, len;
	bool on;

	switch (slots[i].type) {
	case OPTION_STRING:
	case OPTION_LIST:
		len = snprintf(out, out_len, "%s", (const char *)p);
		break;
	case OPTION_CHOICE:
		memcpy(&index, p, sizeof(index));
		len = format_choice(infos[i].argument, index, out, out_len);
		break;
	case OPTION_SET:
		memcpy(&bits, p, sizeof(bits));
		len = format_set(infos[i].argument, bits, out, out_len);
		break;
	case OPTION_FLAG:
		memcpy(&on, p, sizeof(on));
		len = snprintf(out, out_len, "%s", on ? "on" : "off");
		break;
	default:
		memcpy(&n, p, sizeof(n));
		index = (int)range_of(i);
		if (index < RANGES && ranges[index].word && n == ranges[index].word_number) {
			len = snprintf(out, out_len, "%s", ranges[index].word);
			break;
		}
		len = format_number(n, slots[i].type, out, out_len);
	}
	return len >= 0 && (size_t)len < out_len ? len : -ENOSPC;
}

/* Has the option the value that it has when nobody sets it? */
static bool has_default(const struct lc_options *o, const struct lc_options *defaults, size_t row)
{
	return !memcmp(field(o, row), field(defaults, row), slots[row].size);
}

static bool is_default(const struct lc_options *o, const struct lc_options *defaults,
                       const char *name)
{
	char error[128];
	long row = find_row(name, error, sizeof(error));

	return row < 0 || has_default(o, defaults, (size_t)row);
}

int lc_options_check(const struct lc_options *o, char *error, size_t error_len)
{
	const bool alloc = !strcmp(o->event, "alloc");
	struct lc_options defaults;

	lc_options_init(&defaults);
	if (o->no_hooks && (strstr(o->event, "watch:") || (alloc && !o->alloc_interval_bytes))) {
		snprintf(error, error_len, "event: '%.64s' needs hooks in classes; omit no-hooks",
		         o->event);
		return -EINVAL;
	}
	for (size_t i = 0; o->no_hooks && i < sizeof(hooked) / sizeof(hooked[0]); i++) {
		if (is_default(o, &defaults, hooked[i]))
			continue;
		snprintf(error, error_len, "%s needs hooks in classes; omit no-hooks", hooked[i]);
		return -EINVAL;
	}
	if (alloc && lc_track_has_hot(o->track)) {
		snprintf(error, error_len,
		         "track: 'hot' chooses classes by samples; omit event=alloc");
		return -EINVAL;
	}
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		if (is_default(o, &defaults, needs[i].name) ||
		    !is_default(o, &defaults, needs[i].other))
			continue;
		snprintf(error, error_len, "%s does nothing without %s; add %s", needs[i].name,
		         needs[i].other, needs[i].add);
		return -EINVAL;
	}
	return 0;
}

/* Append `text`, escaped where it is a value. Returns false when it does not fit. */
static bool append(char *out, size_t out_len, size_t *len, const char *text, bool escape)
{
	for (; *text; text++) {
		bool backslash = escape && (*text == ',' || *text == '\\');

		if (*len + backslash + 1 >= out_len)
			return false;
		if (backslash)
			out[(*len)++] = '\\';
		out[(*len)++] = *text;
	}
	out[*len] = '\0';
	return true;
}

int lc_options_format(const struct lc_options *o, char *out, size_t out_len)
{
	char number[LC_OPTION_TEXT_MAX];
	struct lc_options defaults;
	size_t len = 0;

	lc_options_init(&defaults);
	if (out_len == 0)
		return -ENOSPC;
	out[0] = '\0';
	for (size_t i = 0; i < OPTION_COUNT_ALL; i++) {
		const bool text = slots[i].type == OPTION_STRING || slots[i].type == OPTION_LIST;
		const char *value = text ? field(o, i) : number;

		if (has_default(o, &defaults, i))
			continue;
		if (!text && lc_options_value(o, i, number, sizeof(number)) < 0)
			return -ENOSPC;
		if ((len && !append(out, out_len, &len, ",", false)) ||
		    !append(out, out_len, &len, infos[i].name, false) ||
		    !append(out, out_len, &len, "=", false) ||
		    !append(out, out_len, &len, value, true))
			return -ENOSPC;
	}
	return (int)len;
}

bool lc_options_match(const char *list, const char *name)
{
	const char *name_end = name + strlen(name);

	while (*list) {
		size_t len = strcspn(list, ";");

		if (len && lc_glob(list, list + len, name, name_end, false))
			return true;
		list += len + (list[len] == ';');
	}
	return false;
}
