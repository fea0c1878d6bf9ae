/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf/event_pmu.c - encodes Intel's precise events: the presets, and any event of libpfm4.
 *
 * Only memory events deliver an address (the "Data LA" ones in Intel's tables: event codes 0xcd and
 * 0xd0 to 0xd4 since Haswell), so other events are refused instead of being sampled in vain. If
 * libpfm4 does not know the CPU (4.13: Emerald Rapids, Granite Rapids, Alder Lake), the presets are
 * encoded from a table here. The unit tests check that both agree on CPUs that both know.
 */
#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h> /* before libpfm4 includes a copy of its own */
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/nearest.h"
#include "src/base/options.h"
#include "src/perf/event_impl.h"

enum {
	LDLAT_MIN = 3, /* the smallest that the hardware documents; libpfm4 takes 2 */
	LDLAT_MAX = 0xffff,
	LDLAT_DEFAULT = 30, /* more than an L2 hit */
	PRECISE = 2,        /* no skid; 3 is for events with a counter of their own */
	CODE_LOAD_LATENCY = 0x01cd,
	CODE_AUX = 0x8203,
	CODE_STORE_SAMPLE = 0x02cd,
	CODE_STORE_SAMPLE_4_13 = 0x03cd, /* the code that libpfm4 4.13 gives to store samples */
	EVENT_DEFAULT_PERIOD = 100003
};

enum group { LOAD, INST, TRANS };

/*
 * Periods are prime, so that no loop is in step with them, and such that a program that waits for
 * memory gets some hundreds of samples in a second. Codes are unit mask and event, as Intel's
 * tables have them for all CPUs since Haswell.
 */
static const struct preset {
	const char *word;
	const char *unit;
	uint64_t period;
	enum group group;
	const char *mask;
	uint16_t code;
} presets[] = {
	{ "l1-miss", "L1 misses", 200003, LOAD, "L1_MISS", 0x08d1 },
	{ "l2-miss", "L2 misses", 100003, LOAD, "L2_MISS", 0x10d1 },
	{ "l3-miss", "L3 misses", 50021, LOAD, "L3_MISS", 0x20d1 },
	{ "stlb-loads", "STLB misses of loads", 100003, INST, "STLB_MISS_LOADS", 0x11d0 },
	{ "stlb-stores", "STLB misses of stores", 100003, INST, "STLB_MISS_STORES", 0x12d0 },
	{ "latency", "slow loads", 10007, TRANS, "LOAD_LATENCY", CODE_LOAD_LATENCY },
	{ "stores", "stores", 1000003, INST, "ALL_STORES", 0x82d0 },
};
enum { PRESETS = sizeof(presets) / sizeof(presets[0]) };

/* An event as the hardware numbers it, before the kernel's config words are made of it. */
struct encoding {
	uint64_t config, config1, config2;
	uint32_t type;
	unsigned precise;
};

static const char *group_name(enum group group, bool uops)
{
	switch (group) {
	case LOAD:
		return uops ? "MEM_LOAD_UOPS_RETIRED" : "MEM_LOAD_RETIRED";
	case INST:
		return uops ? "MEM_UOPS_RETIRED" : "MEM_INST_RETIRED";
	default:
		return "MEM_TRANS_RETIRED";
	}
}

static int no_pmu(const struct lc_event_error *error)
{
	return lc_event_fail(
	    error, -ENODEV,
	    "pebs: no cpu PMU below /sys/bus/event_source/devices (a guest without one)");
}

static int check_ldlat(const char *text, uint64_t *out, const struct lc_event_error *error)
{
	char value[64];

	snprintf(value, sizeof(value), "%.*s", (int)strcspn(text, ":"), text);
	if (!lc_event_number(value, out) || *out < LDLAT_MIN || *out > LDLAT_MAX)
		return lc_event_fail(error, -EINVAL,
		                     "a latency of '%s' cycles is out of range: %d to %d", value,
		                     LDLAT_MIN, LDLAT_MAX);
	return 0;
}

/* Encode `text` by libpfm4; if that refuses, the error is libpfm4's own text. */
static int encode(const char *text, struct encoding *out, const struct lc_event_error *error)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg), .cpu = -1 };
	int err = pfm_get_os_event_encoding(text, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);

	if (err != PFM_SUCCESS)
		return lc_event_fail(error, -EINVAL, "'%.160s': libpfm4: %s", text,
		                     pfm_strerror(err));
	out->type = attr.type;
	out->config = attr.config;
	if ((attr.config & 0xffff) == CODE_STORE_SAMPLE_4_13)
		out->config ^= CODE_STORE_SAMPLE_4_13 ^ CODE_STORE_SAMPLE;
	out->config1 = attr.config1;
	out->config2 = attr.config2;
	out->precise = attr.precise_ip;
	return 0;
}

/* Does the CPU record an address with this event? Before Haswell only load latency has one. */
static bool has_address(const char *pmu, uint64_t config)
{
	unsigned event = config & 0xff;
	bool old = strncmp(pmu, "snb", 3) == 0 || strncmp(pmu, "ivb", 3) == 0 ||
	           strncmp(pmu, "nhm", 3) == 0 || strncmp(pmu, "wsm", 3) == 0;

	return event == 0xcd || (!old && event >= 0xd0 && event <= 0xd4);
}

/*
 * Parse "event=0x03,umask=0x82", as sysfs describes an event, to its code. False for other texts.
 */
static bool sysfs_code(const char *text, uint64_t *code)
{
	unsigned event, mask;
	int end = 0;

	if (sscanf(text, "event=%x,umask=%x%n", &event, &mask, &end) != 2 || text[end] ||
	    event > 0xff || mask > 0xff)
		return false;
	*code = mask << 8 | event;
	return true;
}

/* Does the event need a leader? sysfs shows that; without it, the model tells. */
static bool needs_aux(const struct lc_event_host *host, uint64_t *code)
{
	const struct lc_event_model *model = lc_event_model(host->pmu);
	char text[128] = "";

	*code = CODE_AUX;
	if (host->foreign)
		return model && model->aux;
	return lc_event_read_file(host->core, "events/mem-loads-aux", text, sizeof(text)) == 0 &&
	       sysfs_code(text, code);
}

/* Put event and unit mask where the kernel's format files say; do nothing without such files. */
static void put_code(const struct lc_event_host *host, struct perf_event_attr *attr)
{
	uint64_t words[3] = { attr->config & ~UINT64_C(0xffff), attr->config1, attr->config2 };
	bool latency = (attr->config & 0xffff) == CODE_LOAD_LATENCY;

	if (host->foreign)
		return;
	if (lc_event_format_put(host->core, "event", attr->config & 0xff, words) != 0 ||
	    lc_event_format_put(host->core, "umask", attr->config >> 8 & 0xff, words) != 0)
		words[0] = attr->config;
	if (latency) {
		words[1] &= ~UINT64_C(0xffff);
		if (lc_event_format_put(host->core, "ldlat", attr->config1 & 0xffff, words) != 0)
			words[1] = attr->config1;
	}
	attr->config = words[0];
	attr->config1 = words[1];
	attr->config2 = words[2];
}

static void make_attr(const struct lc_event_host *host, const struct encoding *code,
                      struct lc_event *e)
{
	uint64_t type = code->type, aux_code;
	bool latency = (code->config & 0xffff) == CODE_LOAD_LATENCY;

	if (!host->foreign)
		(void)lc_event_read_number(host->core, "type", &type);
	lc_event_attr_init(&e->attr, (uint32_t)type, e->period);
	e->attr.config = code->config;
	e->attr.config1 = code->config1;
	e->attr.config2 = code->config2;
	e->attr.precise_ip = code->precise & 3;
	e->attr.sample_type |= PERF_SAMPLE_DATA_SRC;
	/* With other events the weight is the length of a transaction, or nothing. */
	if ((code->config & 0xff) == 0xcd)
		e->attr.sample_type |= PERF_SAMPLE_WEIGHT;
	put_code(host, &e->attr);
	e->has_aux = latency && needs_aux(host, &aux_code);
	if (!e->has_aux)
		return;
	lc_event_attr_init(&e->aux, (uint32_t)type, 0); /* counts only */
	e->aux.sample_type = 0;
	e->aux.sample_regs_intr = 0;
	e->aux.config = aux_code;
	put_code(host, &e->aux);
}

/*
 * Find an event of the table here by its spelling: the presets of CPUs that libpfm4 does not know.
 */
static const struct preset *find_own(const char *text, const char **modifiers)
{
	for (size_t i = 0; i < PRESETS; i++) {
		const char *group = group_name(presets[i].group, false);
		size_t group_len = strlen(group), mask_len = strlen(presets[i].mask);

		if (strncasecmp(text, group, group_len) != 0 ||
		    (text[group_len] != ':' && text[group_len] != '.') ||
		    strncasecmp(text + group_len + 1, presets[i].mask, mask_len) != 0)
			continue;
		*modifiers = text + group_len + 1 + mask_len;
		if (!**modifiers || **modifiers == ':')
			return &presets[i];
	}
	return NULL;
}

static int parse_own(const struct preset *preset, const char *modifiers, struct encoding *out,
                     const struct lc_event_error *error)
{
	uint64_t ldlat = LDLAT_MIN, precise = PRECISE;
	int err = 0;

	for (; *modifiers && !err; modifiers += strcspn(modifiers, ":")) {
		modifiers++;
		if (strncmp(modifiers, "precise=", 8) == 0 && modifiers[8] >= '1' &&
		    modifiers[8] <= '3' && strchr(":", modifiers[9]))
			precise = (uint64_t)(modifiers[8] - '0');
		else if (strncmp(modifiers, "ldlat=", 6) == 0 && preset->group == TRANS)
			err = check_ldlat(modifiers + 6, &ldlat, error);
		else if (modifiers[0] != 'u' || !strchr(":", modifiers[1]))
			err =
			    lc_event_fail(error, -EINVAL,
			                  "'%.64s' is not a modifier of %s:%s on this CPU; use "
			                  "precise=1 to precise=3%s",
			                  modifiers, group_name(preset->group, false), preset->mask,
			                  preset->group == TRANS ? " or ldlat=CYCLES" : "");
	}
	*out = (struct encoding){ .config = preset->code,
		                  .config1 = preset->group == TRANS ? ldlat : 0,
		                  .type = PERF_TYPE_RAW,
		                  .precise = (unsigned)precise };
	return err;
}

/* Find the preset that `arguments` name. */
static const struct preset *find_preset(const char *arguments, const struct lc_event_error *error)
{
	const char *words[PRESETS];
	size_t len = strcspn(arguments, "=");
	char word[LC_EVENT_TEXT_MAX], near[128];

	if (!arguments[0])
		return &presets[0];
	for (size_t i = 0; i < PRESETS; i++) {
		words[i] = presets[i].word;
		if (strlen(words[i]) == len && strncmp(words[i], arguments, len) == 0 &&
		    (!arguments[len] || presets[i].group == TRANS))
			return &presets[i];
	}
	snprintf(word, sizeof(word), "%.*s", (int)len, arguments);
	lc_event_fail(error, -EINVAL,
	              "pebs: '%.64s' is not l1-miss, l2-miss, l3-miss, stlb-loads, stlb-stores, "
	              "latency=CYCLES or stores%s",
	              arguments, lc_event_near(word, words, PRESETS, near, sizeof(near)));
	return NULL;
}

static int preset_latency(const struct preset *preset, const char *arguments, uint64_t *out,
                          const struct lc_event_error *error)
{
	const char *value = strchr(arguments, '=');

	*out = preset->group == TRANS ? LDLAT_DEFAULT : 0;
	return value ? check_ldlat(value + 1, out, error) : 0;
}

int lc_event_parse_pebs(const struct lc_event_host *host, const char *arguments, uint64_t period,
                        struct lc_event *e, const struct lc_event_error *error)
{
	const struct lc_event_model *model = lc_event_model(host->pmu);
	const struct preset *preset = find_preset(arguments, error);
	char text[LC_EVENT_TEXT_MAX], latency[32] = "";
	struct encoding code = { 0 };
	uint64_t ldlat;
	int err;

	if (!preset)
		return -EINVAL;
	err = preset_latency(preset, arguments, &ldlat, error);
	if (err)
		return err;
	if (host->vendor != LC_VENDOR_INTEL)
		return lc_event_fail(
		    error, -EINVAL, "'pebs' needs an Intel CPU, but this CPU is %s; use %s here",
		    lc_event_vendor_name(host->vendor), lc_event_host_engine(host));
	if (!host->has_core_pmu)
		return no_pmu(error);
	if (!model)
		return lc_event_fail(
		    error, -ENODEV,
		    "pebs: no presets for this CPU (family %u, model %u); name its event, "
		    "such as r8d1 for event 0xd1 with unit mask 0x08",
		    host->family, host->model);
	if (ldlat)
		snprintf(latency, sizeof(latency), ":ldlat=%llu", (unsigned long long)ldlat);
	snprintf(e->event, sizeof(e->event), "%s:%s%s", group_name(preset->group, model->uops),
	         preset->mask, latency);
	if (lc_event_pmu_known(host->pmu)) {
		snprintf(text, sizeof(text), "%s::%.128s:precise=%d", host->pmu, e->event, PRECISE);
		err = encode(text, &code, error);
	} else {
		err = parse_own(preset, latency, &code, error);
	}
	if (err)
		return err;
	snprintf(e->text, sizeof(e->text), "pebs:%s", preset->word);
	if (ldlat && ldlat != LDLAT_DEFAULT)
		snprintf(e->text, sizeof(e->text), "pebs:%s=%llu", preset->word,
		         (unsigned long long)ldlat);
	e->kind = LC_KIND_PEBS;
	e->unit = preset->unit;
	e->period = period ? period : preset->period;
	make_attr(host, &code, e);
	return 0;
}

/* Refuse the modifiers that Locus sets itself, and the period. */
static int check_modifiers(const char *text, const struct lc_event_error *error)
{
	static const char *const refused[] = { "cpu", "pinned",  "excl", "mg",
		                               "mh",  "hw_smpl", "k",    "h" };
	uint64_t ldlat;

	for (const char *p = strchr(text, ':'); p; p = strchr(p, ':')) {
		size_t len = strcspn(++p, ":=");

		if (strncasecmp(p, "ldlat=", 6) == 0 && check_ldlat(p + 6, &ldlat, error) != 0)
			return -EINVAL;
		if (len && ((len == 6 && strncasecmp(p, "period", 6) == 0) ||
		            (len == 4 && strncasecmp(p, "freq", 4) == 0)))
			return lc_event_fail(error, -EINVAL,
			                     "'%.64s' in '%.128s': write the period as @PERIOD", p,
			                     text);
		for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
			if (len == strlen(refused[i]) && strncasecmp(p, refused[i], len) == 0)
				return lc_event_fail(
				    error, -EINVAL,
				    "'%.64s' in '%.128s' cannot be chosen: Locus records the "
				    "program's threads in user mode",
				    p, text);
	}
	return 0;
}

/* The spelling here of an event that libpfm4 knows for other CPUs only. */
static bool nearest_own(const char *text, char *out, size_t out_len)
{
	char spelling[PRESETS][64], word[64];
	const char *words[PRESETS], *near;

	snprintf(word, sizeof(word), "%.63s", text);
	for (char *p = word; *p; p++)
		*p = *p == '.' ? ':' : (char)toupper((unsigned char)*p);
	for (size_t i = 0; i < PRESETS; i++) {
		snprintf(spelling[i], sizeof(spelling[i]), "%s:%s",
		         group_name(presets[i].group, false), presets[i].mask);
		words[i] = spelling[i];
	}
	near = lc_nearest(word, words, PRESETS);
	if (near)
		snprintf(out, out_len, "%s", near);
	return near != NULL;
}

static int other_vendor(const struct lc_event_host *host, const char *text,
                        enum lc_event_vendor vendor, const struct lc_event_error *error)
{
	return lc_event_fail(error, -EINVAL,
	                     "'%.128s' is an event of %s CPUs, but this CPU is %s; use %s here",
	                     text, vendor == LC_VENDOR_INTEL ? "Intel" : "AMD",
	                     lc_event_vendor_name(host->vendor), lc_event_host_engine(host));
}

static int without_address(const struct lc_event_host *host, const char *text,
                           const struct lc_event_error *error)
{
	return lc_event_fail(error, -EINVAL,
	                     "'%.128s': AMD's core events have no data addresses; use %s here",
	                     text, lc_event_host_engine(host));
}

/* Explain an event that this machine does not have: it is of another vendor or CPU, or of none. */
static int not_here(const struct lc_event_host *host, const char *text,
                    const struct lc_event_error *error)
{
	const char *pmu = lc_event_find_anywhere(text, host->vendor);
	enum lc_event_vendor vendor = pmu ? lc_event_pmu_vendor(pmu) : LC_VENDOR_OTHER;
	bool listed = host->vendor == LC_VENDOR_INTEL && lc_event_pmu_known(host->pmu);
	char near[128], hint[192] = "";
	bool found;

	if (vendor == LC_VENDOR_AMD && host->vendor == vendor)
		return without_address(host, text, error);
	if (vendor != LC_VENDOR_OTHER && vendor != host->vendor)
		return other_vendor(host, text, vendor, error);
	if (pmu && !host->pmu[0])
		return lc_event_fail(
		    error, -ENODEV,
		    "'%.128s': libpfm4 does not know this CPU (family %u, model %u); "
		    "write the code, such as r8d1",
		    text, host->family, host->model);
	found = (!listed && lc_event_model(host->pmu) && nearest_own(text, near, sizeof(near))) ||
	        lc_event_nearest(listed ? host->pmu : "", text, near, sizeof(near));
	if (found)
		snprintf(hint, sizeof(hint), "; did you mean '%s'?", near);
	if (pmu)
		return lc_event_fail(
		    error, -EINVAL,
		    "'%.128s' is an event of other CPUs (%s), not of this one (%s)%s", text, pmu,
		    host->pmu, hint);
	return lc_event_fail(error, -EINVAL, "unknown event '%.128s'%s", text,
	                     found ? hint
	                           : "; write auto, timer, pebs, ibs, fault, watch:CLASS#N, or "
	                             "an event of libpfm4");
}

/* Parse "r" and a code in hexadecimal. */
static bool raw_code(const char *text, uint64_t *code)
{
	char digits[32];
	size_t len = strcspn(text, ":");

	if (text[0] != 'r' || len < 3 || len > 17)
		return false;
	snprintf(digits, sizeof(digits), "0x%.*s", (int)len - 1, text + 1);
	return lc_event_number(digits, code);
}

static int parse_raw(uint64_t config, const char *modifiers, struct encoding *out,
                     const struct lc_event_error *error)
{
	unsigned precise = PRECISE;

	if (strncmp(modifiers, ":precise=", 9) == 0 && modifiers[9] >= '1' && modifiers[9] <= '3' &&
	    !modifiers[10])
		precise = (unsigned)(modifiers[9] - '0');
	else if (modifiers[0])
		return lc_event_fail(
		    error, -EINVAL,
		    "'%.64s' is not a modifier of a raw event; use :precise=1 to :precise=3",
		    modifiers);
	*out = (struct encoding){ .config = config, .type = PERF_TYPE_RAW, .precise = precise };
	/* A raw code cannot hold the threshold. */
	if ((config & 0xffff) == CODE_LOAD_LATENCY)
		out->config1 = LDLAT_DEFAULT;
	return 0;
}

/* Parse EVENT or PMU::EVENT of libpfm4; it is precise unless its text says otherwise. */
static int parse_known(const struct lc_event_host *host, const char *event, struct encoding *out,
                       const struct lc_event_error *error)
{
	char text[2 * LC_EVENT_TEXT_MAX];
	bool precise = strcasestr(event, ":precise=") != NULL;

	snprintf(text, sizeof(text), "%s::%s%s", host->pmu, event, precise ? "" : ":precise=2");
	if (precise || encode(text, out, error) != 0) {
		snprintf(text, sizeof(text), "%s::%s", host->pmu, event);
		return encode(text, out, error);
	}
	return 0;
}

/* Parse events of the kernel's own list: page faults are the engine `fault` by another name. */
static int parse_generic(const char *text, uint64_t period, struct lc_event *e,
                         const struct lc_event_error *error)
{
	struct encoding code = { 0 };
	int err = encode(text, &code, error);

	if (err)
		return err;
	if (code.type != PERF_TYPE_SOFTWARE || (code.config != PERF_COUNT_SW_PAGE_FAULTS &&
	                                        code.config != PERF_COUNT_SW_PAGE_FAULTS_MIN &&
	                                        code.config != PERF_COUNT_SW_PAGE_FAULTS_MAJ))
		return lc_event_fail(
		    error, -EINVAL,
		    "'%.128s' has no data addresses; did you mean 'timer', 'pebs' or "
		    "'ibs'?",
		    text);
	lc_event_make_fault(period, e);
	if (code.config == PERF_COUNT_SW_PAGE_FAULTS)
		return 0;
	e->attr.config = code.config;
	snprintf(e->text, sizeof(e->text), "%s", text);
	snprintf(e->event, sizeof(e->event), "%s",
	         code.config == PERF_COUNT_SW_PAGE_FAULTS_MIN ? "minor-faults" : "major-faults");
	return 0;
}

/* Find the code of `event` for this host: from the table here, or from libpfm4. */
static int find_code(const struct lc_event_host *host, const char *event, struct encoding *out,
                     const struct lc_event_error *error)
{
	const struct preset *own;
	const char *modifiers;
	uint64_t config;
	char near[128];

	if (raw_code(event, &config)) {
		if (host->vendor == LC_VENDOR_INTEL)
			return parse_raw(config, event + strcspn(event, ":"), out, error);
		return host->vendor == LC_VENDOR_AMD
		           ? without_address(host, event, error)
		           : other_vendor(host, event, LC_VENDOR_INTEL, error);
	}
	if (host->vendor != LC_VENDOR_INTEL || !host->pmu[0])
		return not_here(host, event, error);
	if (!lc_event_pmu_known(host->pmu)) {
		own = find_own(event, &modifiers);
		return own ? parse_own(own, modifiers, out, error) : not_here(host, event, error);
	}
	switch (lc_event_find(host->pmu, event)) {
	case LC_FOUND:
		return host->has_core_pmu ? parse_known(host, event, out, error) : no_pmu(error);
	case LC_FOUND_NO_MASK:
		lc_event_nearest(host->pmu, event, near, sizeof(near));
		return lc_event_fail(error, -EINVAL, "'%.128s' needs a unit mask, such as '%s'",
		                     event, near);
	default:
		return not_here(host, event, error);
	}
}

/* Check the PMU in PMU::EVENT. */
static int check_prefix(const struct lc_event_host *host, const char *pmu, const char *event,
                        const struct lc_event_error *error)
{
	if (strcmp(pmu, "perf_raw") == 0 || strcmp(pmu, host->pmu) == 0)
		return 0;
	if (!lc_event_pmu_known(pmu) && !lc_event_model(pmu))
		return lc_event_fail(error, -EINVAL,
		                     "'%.64s' is not a PMU that libpfm4 knows; write '%.128s'", pmu,
		                     event);
	if (lc_event_pmu_vendor(pmu) != host->vendor)
		return other_vendor(host, event, lc_event_pmu_vendor(pmu), error);
	return lc_event_fail(
	    error, -EINVAL, "'%.64s' is not the PMU of this CPU%s%s%s; write '%.128s'", pmu,
	    host->pmu[0] ? ", which is '" : "", host->pmu, host->pmu[0] ? "'" : "", event);
}

int lc_event_parse_string(const struct lc_event_host *host, const char *text, uint64_t period,
                          struct lc_event *e, const struct lc_event_error *error)
{
	const char *prefix_end = strstr(text, "::");
	const char *event = prefix_end ? prefix_end + 2 : text;
	struct encoding code = { 0 };
	char pmu[64];
	int err = check_modifiers(event, error);

	if (err)
		return err;
	if (lc_event_find("perf", event) == LC_FOUND &&
	    (!prefix_end || strncmp(text, "perf::", 6) == 0))
		return parse_generic(text, period, e, error);
	if (prefix_end) {
		snprintf(pmu, sizeof(pmu), "%.*s", (int)(prefix_end - text), text);
		err = check_prefix(host, pmu, event, error);
		if (err)
			return err;
	}
	err = find_code(host, event, &code, error);
	if (err)
		return err;
	if (!host->has_core_pmu)
		return no_pmu(error);
	if (!has_address(host->pmu, code.config) || !code.precise)
		return lc_event_fail(error, -EINVAL,
		                     "'%.128s' has no data addresses: use a precise memory event "
		                     "such as pebs:l1-miss",
		                     text);
	e->kind = LC_KIND_PEBS;
	snprintf(e->text, sizeof(e->text), "%s", text);
	snprintf(e->event, sizeof(e->event), "%s", event);
	e->unit = "events";
	e->period = period ? period : EVENT_DEFAULT_PERIOD;
	make_attr(host, &code, e);
	return 0;
}
