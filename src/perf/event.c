/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf/event.c - parses the list of events that -e gives, their periods, and the timer and faults.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "src/base/nearest.h"
#include "src/base/options.h"
#include "src/perf/event_impl.h"

/*
 * AX BX CX DX SI DI BP SP IP, R8 .. R15 of asm/perf_regs.h: the registers that an address is made
 * of.
 */
#define GENERAL_REGISTERS UINT64_C(0xff01ff)

static const char *const kind_names[LC_KIND_COUNT] = { "timer", "pebs", "ibs", "fault", "watch" };

const char *lc_event_kind_name(enum lc_event_kind kind)
{
	return kind_names[kind];
}

int lc_event_fail(const struct lc_event_error *error, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, error->len, format, args);
	va_end(args);
	return err;
}

bool lc_event_number(const char *text, uint64_t *out)
{
	unsigned base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
	const char *p = base == 16 ? text + 2 : text;
	uint64_t n = 0;

	if (!*p)
		return false;
	for (; *p; p++) {
		unsigned digit = *p >= '0' && *p <= '9'   ? (unsigned)(*p - '0')
		                 : *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a') + 10
		                 : *p >= 'A' && *p <= 'F' ? (unsigned)(*p - 'A') + 10
		                                          : 16;

		if (digit >= base || __builtin_mul_overflow(n, base, &n) ||
		    __builtin_add_overflow(n, digit, &n))
			return false;
	}
	*out = n;
	return true;
}

const char *lc_event_near(const char *word, const char *const *words, size_t count, char *out,
                          size_t out_len)
{
	const char *near = lc_nearest(word, words, count);

	out[0] = '\0';
	if (near)
		snprintf(out, out_len, "; did you mean '%s'?", near);
	return out;
}

void lc_event_attr_init(struct perf_event_attr *attr, uint32_t type, uint64_t period)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = type;
	attr->sample_period = period;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
	                    PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_INTR;
	attr->sample_regs_intr = GENERAL_REGISTERS;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr->disabled = 1;
	attr->exclude_kernel = 1; /* objects are touched in user mode; and it needs no privilege */
	attr->exclude_hv = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

void lc_event_make_fault(uint64_t period, struct lc_event *e)
{
	e->kind = LC_KIND_FAULT;
	snprintf(e->text, sizeof(e->text), "fault");
	snprintf(e->event, sizeof(e->event), "page-faults");
	e->unit = "page faults";
	e->period = period ? period : 1;
	lc_event_attr_init(&e->attr, PERF_TYPE_SOFTWARE, e->period);
	e->attr.config = PERF_COUNT_SW_PAGE_FAULTS;
}

static int make_timer(const char *arguments, uint64_t period, struct lc_event *e,
                      const struct lc_event_error *error)
{
	if (arguments[0])
		return lc_event_fail(error, -EINVAL, "timer: takes no ':%.64s'", arguments);
	if (period)
		return lc_event_fail(
		    error, -EINVAL,
		    "timer: takes no @PERIOD; --interval sets the time between samples");
	e->kind = LC_KIND_TIMER;
	snprintf(e->text, sizeof(e->text), "timer");
	snprintf(e->event, sizeof(e->event), "thread-cpu-time");
	e->unit = "ns of thread CPU time";
	return 0;
}

/* Cut "@PERIOD" off `text`; *period is 0 where there is none. */
static int take_period(char *text, uint64_t *period, const struct lc_event_error *error)
{
	char *at = strrchr(text, '@');

	*period = 0;
	if (!at)
		return 0;
	if (strspn(at + 1, "0123456789") != strlen(at + 1) || !lc_event_number(at + 1, period) ||
	    *period > INT64_MAX)
		return lc_event_fail(error, -EINVAL,
		                     "'%.64s' in '%.128s' is not a number of events, such as "
		                     "@100003",
		                     at, text);
	if (*period == 0)
		return lc_event_fail(error, -EINVAL,
		                     "the period in '%.128s' is 0; give the events between two "
		                     "samples, such as @100003",
		                     text);
	*at = '\0';
	if (strchr(text, '@'))
		return lc_event_fail(error, -EINVAL, "'%.128s@%llu' has two periods", text,
		                     (unsigned long long)*period);
	return 0;
}

/* Words of other profilers for what Locus does otherwise, or not. */
static const struct {
	const char *word, *says;
} elsewhere[] = {
	{ "wall", "Locus samples threads that use a CPU, not threads that wait; use 'timer', and "
	          "--spans=tasks for the waiting times of tasks" },
	{ "lock",
	  "Locus does not record waits for locks; use 'timer', whose report shows costly objects "
	  "and cache lines that threads take from each other" },
	{ "itimer", "Locus measures the CPU time of each thread by itself; use 'timer'" },
	{ "ctimer", "Locus measures the CPU time of each thread by itself; use 'timer'" },
	{ "nativemem", "Locus tracks Java objects, not malloc(); 'timer' counts samples in other "
	               "memory as native" },
	{ "live", "needs no event: a report shows which allocations outlive collections; use "
	          "'alloc' for allocations without samples" },
};

/* perf's word for the misses of the last cache, by the event that gives addresses here. */
static int parse_cache_misses(const struct lc_event_host *host, uint64_t period, struct lc_event *e,
                              const struct lc_event_error *error)
{
	if (host->vendor == LC_VENDOR_INTEL)
		return lc_event_parse_pebs(host, "l3-miss", period, e, error);
	if (host->vendor == LC_VENDOR_AMD)
		return lc_event_parse_ibs(
		    host, lc_event_format_has(host->ibs, "l3missonly") ? "l3missonly" : "", period,
		    e, error);
	return lc_event_fail(error, -ENODEV,
	                     "cache-misses: a CPU that is %s has neither pebs nor ibs",
	                     lc_event_vendor_name(host->vendor));
}

/*
 * Parse an event: the name of an engine before the ':', and its arguments; or an event of libpfm4.
 */
static int parse_words(const struct lc_event_host *host, const char *text, uint64_t period,
                       struct lc_event *e, const struct lc_event_error *error)
{
	size_t len = strcspn(text, ":");
	const char *arguments = text + len + (text[len] == ':');

#define IS(word) (len == strlen(word) && strncmp(text, word, len) == 0)
	if (text[len] && !arguments[0])
		return lc_event_fail(error, -EINVAL, "nothing follows the ':' of '%.128s'", text);
	if (IS("auto"))
		return lc_event_fail(error, -EINVAL,
		                     "auto cannot be combined; name the engines instead, such as "
		                     "'timer;fault'");
	if (IS("alloc"))
		return lc_event_fail(
		    error, -EINVAL,
		    "alloc cannot be combined, since it takes no samples; allocations "
		    "are counted beside every event");
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (IS(elsewhere[i].word))
			return lc_event_fail(error, -EINVAL, "'%s': %s", elsewhere[i].word,
			                     elsewhere[i].says);
	if (IS("cache-misses") && !arguments[0])
		return parse_cache_misses(host, period, e, error);
	if (IS("timer") || IS("cpu"))
		return make_timer(arguments, period, e, error);
	if (IS("pebs"))
		return lc_event_parse_pebs(host, arguments, period, e, error);
	if (IS("ibs"))
		return lc_event_parse_ibs(host, arguments, period, e, error);
	if (IS("watch"))
		return lc_event_parse_watch(arguments, period, e, error);
	if (IS("fault")) {
		if (arguments[0])
			return lc_event_fail(error, -EINVAL,
			                     "fault: takes only @PERIOD, not ':%.64s'", arguments);
		lc_event_make_fault(period, e);
		return 0;
	}
#undef IS
	return lc_event_parse_string(host, text, period, e, error);
}

static int parse_one(const struct lc_event_host *host, const char *piece, size_t len,
                     struct lc_event *e, const struct lc_event_error *error)
{
	char text[LC_EVENT_TEXT_MAX];
	struct lc_event standard;
	uint64_t period;
	int err;

	if (len == 0)
		return lc_event_fail(error, -EINVAL, "an event is empty");
	/* The canonical spelling may be longer by so much. */
	if (len >= sizeof(text) - 32)
		return lc_event_fail(error, -EINVAL, "the event '%.32s...' is longer than %d bytes",
		                     piece, LC_EVENT_TEXT_MAX - 33);
	memcpy(text, piece, len);
	text[len] = '\0';
	memset(e, 0, sizeof(*e));
	err = take_period(text, &period, error);
	if (!err && !text[0])
		err = lc_event_fail(error, -EINVAL, "an event is empty");
	if (!err)
		err = parse_words(host, text, period, e, error);
	if (err || !period)
		return err;
	/* The period is part of the canonical spelling where it is not the default. */
	memset(&standard, 0, sizeof(standard));
	if (parse_words(host, text, 0, &standard, error) != 0 || standard.period != period)
		snprintf(e->text + strlen(e->text), sizeof(e->text) - strlen(e->text), "@%llu",
		         (unsigned long long)period);
	return 0;
}

/* May `e` be used beside the events that are there? */
static int check_beside(const struct lc_events *events, const struct lc_event *e,
                        const struct lc_event_error *error)
{
	size_t same = 0;

	for (size_t i = 0; i < events->len; i++) {
		if (strcmp(events->event[i].text, e->text) == 0)
			return lc_event_fail(error, -EINVAL, "'%.200s' is given twice", e->text);
		same += events->event[i].kind == e->kind;
	}
	if (same &&
	    (e->kind == LC_KIND_TIMER || e->kind == LC_KIND_FAULT || e->kind == LC_KIND_IBS))
		return lc_event_fail(error, -EINVAL, "'%s' is given twice; only one is allowed",
		                     lc_event_kind_name(e->kind));
	if (e->kind == LC_KIND_WATCH && same >= LC_WATCHES_MAX)
		return lc_event_fail(error, -EINVAL,
		                     "more than %d watches: a CPU has only that many debug "
		                     "registers",
		                     LC_WATCHES_MAX);
	if (events->len >= LC_EVENTS_MAX)
		return lc_event_fail(error, -EINVAL, "more than %d events", LC_EVENTS_MAX);
	return 0;
}

/* Refuse characters that would break the agent's options, a line of text, or a profile. */
static int check_characters(const char *text, const struct lc_event_error *error)
{
	for (const char *p = text; *p; p++) {
		if (*p == ',')
			return lc_event_fail(
			    error, -EINVAL,
			    "a comma after '%.*s' cannot be part of an event; separate events "
			    "with ';'",
			    (int)(p - text < 64 ? p - text : 64), text);
		if ((unsigned char)*p <= ' ' || *p == 0x7f)
			return lc_event_fail(
			    error, -EINVAL,
			    "a blank or control character after '%.*s' cannot be part of an event",
			    (int)(p - text < 64 ? p - text : 64), text);
	}
	return 0;
}

int lc_event_parse(const char *text, const struct lc_event_machine *machine, struct lc_events *out,
                   char *error, size_t error_len)
{
	const struct lc_event_error message = { error, error_len };
	struct lc_event_error unused;
	struct lc_events events = { .len = 0 };
	struct lc_event_host host;
	struct lc_event e = { .period = 0 };
	char discarded[8];
	int err, absent = 0;

	if (error_len)
		error[0] = '\0';
	err = check_characters(text, &message);
	if (err)
		return err;
	if (strcmp(text, "auto") == 0 || strcmp(text, LC_EVENT_NONE) == 0) {
		out->len = 0;
		return 0;
	}
	lc_event_host_read(machine, &host);
	unused = (struct lc_event_error){ discarded, sizeof(discarded) };
	for (const char *piece = text;; piece++) {
		size_t len = strcspn(piece, ";");

		/* The message is about the first absent event, unless some event is wrong. */
		err = parse_one(&host, piece, len, &e, absent ? &unused : &message);
		if (err == -EINVAL && absent)
			err = parse_one(&host, piece, len, &e, &message);
		if (err == -ENODEV)
			absent = err;
		else if (err == 0)
			err = check_beside(&events, &e, &message);
		if (err && err != -ENODEV)
			return err;
		if (!err)
			events.event[events.len++] = e;
		piece += len;
		if (!*piece)
			break;
	}
	*out = events;
	return absent;
}

size_t lc_event_candidates(const struct lc_event_machine *machine, struct lc_events *out,
                           char reasons[][160], size_t reasons_max, size_t *reasons_len)
{
	static const char *const tried[] = { "pebs", "ibs", "timer" };
	struct lc_event_host host;

	lc_event_host_read(machine, &host);
	out->len = 0;
	*reasons_len = 0;
	for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
		char line[160] = "";
		const struct lc_event_error error = { line, sizeof(line) };

		if (parse_one(&host, tried[i], strlen(tried[i]), &out->event[out->len], &error) ==
		    0)
			out->len++;
		else if (*reasons_len < reasons_max)
			memcpy(reasons[(*reasons_len)++], line, sizeof(line));
	}
	return out->len;
}
