/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf/event_ibs.c - encodes events of AMD's instruction-based sampling as its PMU in sysfs
 * describes them.
 *
 * libpfm4 knows nothing of IBS. The fields differ by CPU and kernel: cnt_ctl exists since the
 * beginning except on the first CPUs, l3missonly since Zen 4, ldlat since Zen 5, swfilt since
 * Linux 6.14. Source: the kernel's documentation of the PMU and its format directory.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/perf/event_impl.h"

enum {
	IBS_PERIOD_STEP = 16, /* the counter has no lower bits */
	IBS_PERIOD_MIN = 0x90,
	IBS_LDLAT_MIN = 128, /* what the CPU can tell apart */
	IBS_LDLAT_MAX = 2048,
	/*
	 * 16 times a prime, so that no loop is in step with it: about a thousand samples in a
	 * second of a busy thread. A filtered sample is rarer.
	 */
	IBS_PERIOD = 16 * 131071,
	IBS_PERIOD_FILTERED = 16 * 16381
};

struct ibs {
	bool cycles, ops, l3missonly, swfilt;
	uint64_t ldlat; /* 0: no threshold */
};

static int parse_word(const char *word, struct ibs *ibs, const struct lc_event_error *error)
{
	static const char *const words[] = { "cycles", "ops", "l3missonly", "ldlat=CYCLES",
		                             "swfilt" };
	bool *const flags[] = { &ibs->cycles, &ibs->ops, &ibs->l3missonly, NULL, &ibs->swfilt };
	char near[128];

	for (size_t i = 0; i < 5; i++)
		if (flags[i] && strcmp(word, words[i]) == 0) {
			if (*flags[i])
				return lc_event_fail(error, -EINVAL, "ibs: '%s' is given twice",
				                     word);
			*flags[i] = true;
			return 0;
		}
	if (strncmp(word, "ldlat=", 6) == 0) {
		if (ibs->ldlat)
			return lc_event_fail(error, -EINVAL, "ibs: 'ldlat' is given twice");
		if (!lc_event_number(word + 6, &ibs->ldlat) || ibs->ldlat < IBS_LDLAT_MIN ||
		    ibs->ldlat > IBS_LDLAT_MAX)
			return lc_event_fail(error, -EINVAL,
			                     "ibs: '%.64s' is out of range: ldlat=%d to ldlat=%d",
			                     word, IBS_LDLAT_MIN, IBS_LDLAT_MAX);
		return 0;
	}
	return lc_event_fail(error, -EINVAL,
	                     "ibs: '%.64s' is not cycles, ops, l3missonly, ldlat=CYCLES or "
	                     "swfilt%s",
	                     word, lc_event_near(word, words, 5, near, sizeof(near)));
}

static int parse_words(const char *text, struct ibs *ibs, const struct lc_event_error *error)
{
	char word[LC_EVENT_TEXT_MAX];

	while (*text) {
		size_t len = strcspn(text, ":");
		int err;

		snprintf(word, sizeof(word), "%.*s", (int)len, text);
		err = parse_word(word, ibs, error);
		if (err)
			return err;
		text += len + (text[len] == ':');
	}
	if (ibs->cycles && ibs->ops)
		return lc_event_fail(error, -EINVAL, "ibs: give either cycles or ops, not both");
	return 0;
}

static int check_period(uint64_t period, const struct lc_event_error *error)
{
	uint64_t near =
	    period < IBS_PERIOD_MIN ? IBS_PERIOD_MIN : period / IBS_PERIOD_STEP * IBS_PERIOD_STEP;

	if (near == period)
		return 0;
	return lc_event_fail(
	    error, -EINVAL,
	    "ibs: the period must be a multiple of %d and at least %d, unlike @%llu; did you mean "
	    "@%llu?",
	    IBS_PERIOD_STEP, IBS_PERIOD_MIN, (unsigned long long)period, (unsigned long long)near);
}

/* Put a field that was asked for; if the PMU does not have it, the error says so. */
static int put_field(const struct lc_event_host *host, const char *name, const char *since,
                     uint64_t value, uint64_t words[3], const struct lc_event_error *error)
{
	int err = lc_event_format_put(host->ibs, name, value, words);

	if (err == -ENOENT)
		return lc_event_fail(error, -EINVAL,
		                     "ibs: this machine's ibs_op has no '%s' (%s); leave it out",
		                     name, since);
	if (err)
		return lc_event_fail(error, -EINVAL, "ibs: %s/format/%s does not take %llu",
		                     host->ibs, name, (unsigned long long)value);
	return 0;
}

static int make_words(const struct lc_event_host *host, struct ibs *ibs, uint64_t words[3],
                      const struct lc_event_error *error)
{
	int err = 0;

	if (!ibs->cycles && !ibs->ops) /* counting ops does not favour ops that stall for long */
		*(lc_event_format_has(host->ibs, "cnt_ctl") ? &ibs->ops : &ibs->cycles) = true;
	if (ibs->ops)
		err = put_field(host, "cnt_ctl", "the CPU can count only cycles", 1, words, error);
	if (!err && ibs->l3missonly)
		err = put_field(host, "l3missonly", "it needs Zen 4 or newer", 1, words, error);
	if (!err && ibs->ldlat)
		err = put_field(host, "ldlat", "it needs Zen 5 or newer, with Linux 6.15",
		                ibs->ldlat, words, error);
	/* Without swfilt the kernel accepts neither exclude_kernel nor an unprivileged user. */
	if (!err && (ibs->swfilt || lc_event_format_has(host->ibs, "swfilt"))) {
		err = put_field(host, "swfilt", "it needs Linux 6.14 or newer", 1, words, error);
		ibs->swfilt = true;
	}
	return err;
}

/* `swfilt` is in the event's text where it was asked for, in its name where it is used. */
static void make_names(const struct ibs *asked, const struct ibs *ibs, struct lc_event *e)
{
	char ldlat[32] = "";

	if (ibs->ldlat)
		snprintf(ldlat, sizeof(ldlat), ":ldlat=%llu", (unsigned long long)ibs->ldlat);
	snprintf(e->text, sizeof(e->text), "ibs:%s%s%s%s", ibs->ops ? "ops" : "cycles",
	         ibs->l3missonly ? ":l3missonly" : "", ldlat, asked->swfilt ? ":swfilt" : "");
	snprintf(e->event, sizeof(e->event), "ibs_op:%s%s%s%s", ibs->ops ? "ops" : "cycles",
	         ibs->l3missonly ? ":l3missonly" : "", ldlat, ibs->swfilt ? ":swfilt" : "");
	if (ibs->l3missonly || ibs->ldlat)
		e->unit = ibs->ops ? "ops (filtered)" : "cycles (filtered)";
	else
		e->unit = ibs->ops ? "ops" : "cycles";
}

int lc_event_parse_ibs(const struct lc_event_host *host, const char *arguments, uint64_t period,
                       struct lc_event *e, const struct lc_event_error *error)
{
	struct ibs asked = { .ldlat = 0 }, ibs;
	uint64_t words[3] = { 0 }, type;
	int err = parse_words(arguments, &asked, error);

	if (!err && period)
		err = check_period(period, error);
	if (err)
		return err;
	if (host->vendor != LC_VENDOR_AMD)
		return lc_event_fail(
		    error, -EINVAL, "'ibs' needs an AMD CPU, but this CPU is %s; use %s here",
		    lc_event_vendor_name(host->vendor), lc_event_host_engine(host));
	if (!host->has_ibs || lc_event_read_number(host->ibs, "type", &type) != 0)
		return lc_event_fail(error, -ENODEV,
		                     "ibs: no ibs_op PMU below /sys/bus/event_source/devices (a "
		                     "guest without one, or a kernel without CONFIG_CPU_SUP_AMD)");
	ibs = asked;
	err = make_words(host, &ibs, words, error);
	if (err)
		return err;
	e->kind = LC_KIND_IBS;
	e->period = period                        ? period
	            : ibs.l3missonly || ibs.ldlat ? IBS_PERIOD_FILTERED
	                                          : IBS_PERIOD;
	make_names(&asked, &ibs, e);
	lc_event_attr_init(&e->attr, (uint32_t)type, e->period);
	e->attr.config = words[0];
	e->attr.config1 = words[1];
	e->attr.config2 = words[2];
	e->attr.sample_type |= PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT;
	e->attr.exclude_kernel = ibs.swfilt;
	e->attr.exclude_hv = ibs.swfilt;
	return 0;
}
