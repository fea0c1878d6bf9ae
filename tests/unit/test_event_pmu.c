/* uses: src/perf/event.c src/perf/event_sysfs.c src/perf/event_ibs.c src/perf/event_watch.c src/perf/event_names.c src/perf/event_pmu.c src/base/options.c src/base/nearest.c tests/unit/event_root.c -lpfm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_event_pmu.c - checks Intel's precise memory events against the numbers that Intel documents.
 *
 * Numbers: the event tables of Intel's perfmon for Haswell, Broadwell, Skylake-X, Ice Lake-X,
 * Sapphire Rapids and Granite Rapids, by event code and unit mask. libpfm4 encodes for absent CPUs
 * where LIBPFM_ENCODE_INACTIVE is set, which main() does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/perf/event.h"
#include "tests/unit/event_root.h"

#define CPU "sys/bus/event_source/devices/cpu/"
#define CORE "sys/bus/event_source/devices/cpu_core/"

static struct lc_event_machine machine;
static struct lc_events events;
static char error[256];

static int parse(const char *text)
{
	memset(&events, 0x5a, sizeof(events));
	error[0] = '\0';
	return lc_event_parse(text, &machine, &events, error, sizeof(error));
}

/* Parse what must be right: the one event. */
static const struct lc_event *one(const char *text)
{
	if (parse(text) != 0)
		fail_msg("%s on %s: %s", text, machine.pmu ? machine.pmu : "-", error);
	assert_int_equal(events.len, 1);
	return &events.event[0];
}

static void wrong(const char *text, const char *part)
{
	if (parse(text) != -EINVAL || !strstr(error, part) || strchr(error, '\n'))
		fail_msg("%s on %s: '%s' has no '%s'", text, machine.pmu ? machine.pmu : "-", error,
		         part);
}

static int setup(void **state)
{
	machine = (struct lc_event_machine){ .root = NULL };
	return 0;
}

static int setup_root(void **state)
{
	machine = (struct lc_event_machine){ .root = root_make() };
	return 0;
}

static int teardown_root(void **state)
{
	root_remove();
	return 0;
}

/* A Skylake-X as the kernel shows it. */
static void lay_out_skx(void)
{
	root_put_cpu("GenuineIntel", 6, 85, 4);
	root_put(CPU "type", "4");
	root_put(CPU "format/event", "config:0-7");
	root_put(CPU "format/umask", "config:8-15");
	root_put(CPU "format/ldlat", "config1:0-15");
	root_put(CPU "events/mem-loads", "event=0xcd,umask=0x1,ldlat=3");
}

static void presets_have_the_documented_codes_on_every_cpu(void **state)
{
	static const struct {
		const char *pmu;
		bool uops;
		bool aux;
	} cpus[] = {
		{ "hsw", true, false },     { "hsw_ep", true, false }, { "bdw", true, false },
		{ "bdw_ep", true, false },  { "skl", false, false },   { "skx", false, false },
		{ "clx", false, false },    { "icl", false, false },   { "icx", false, false },
		{ "spr", false, true },     { "emr", false, true },    { "gnr", false, false },
		{ "adl_glc", false, true },
	};
	static const struct {
		const char *text;
		const char *uops, *retired; /* names before Skylake, and since */
		unsigned code;              /* unit mask, event */
		unsigned config1;
	} rows[] = {
		{ "pebs", "MEM_LOAD_UOPS_RETIRED:L1_MISS", "MEM_LOAD_RETIRED:L1_MISS", 0x08d1, 0 },
		{ "pebs:l1-miss", "MEM_LOAD_UOPS_RETIRED:L1_MISS", "MEM_LOAD_RETIRED:L1_MISS",
		  0x08d1, 0 },
		{ "pebs:l2-miss", "MEM_LOAD_UOPS_RETIRED:L2_MISS", "MEM_LOAD_RETIRED:L2_MISS",
		  0x10d1, 0 },
		{ "pebs:l3-miss", "MEM_LOAD_UOPS_RETIRED:L3_MISS", "MEM_LOAD_RETIRED:L3_MISS",
		  0x20d1, 0 },
		{ "pebs:stlb-loads", "MEM_UOPS_RETIRED:STLB_MISS_LOADS",
		  "MEM_INST_RETIRED:STLB_MISS_LOADS", 0x11d0, 0 },
		{ "pebs:stlb-stores", "MEM_UOPS_RETIRED:STLB_MISS_STORES",
		  "MEM_INST_RETIRED:STLB_MISS_STORES", 0x12d0, 0 },
		{ "pebs:stores", "MEM_UOPS_RETIRED:ALL_STORES", "MEM_INST_RETIRED:ALL_STORES",
		  0x82d0, 0 },
		{ "pebs:latency", "MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=30",
		  "MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=30", 0x01cd, 30 },
		{ "pebs:latency=3", "MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=3",
		  "MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=3", 0x01cd, 3 },
		{ "pebs:latency=65535", "MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=65535",
		  "MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=65535", 0x01cd, 65535 },
	};

	for (size_t c = 0; c < sizeof(cpus) / sizeof(cpus[0]); c++) {
		machine.pmu = cpus[c].pmu;
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			const struct lc_event *e = one(rows[i].text);
			bool latency = rows[i].code == 0x01cd;

			assert_int_equal(e->kind, LC_KIND_PEBS);
			assert_string_equal(e->event,
			                    cpus[c].uops ? rows[i].uops : rows[i].retired);
			assert_int_equal(e->attr.type, PERF_TYPE_RAW);
			assert_int_equal(e->attr.config, rows[i].code);
			assert_int_equal(e->attr.config1, rows[i].config1);
			assert_int_equal(e->attr.config2, 0);
			assert_int_equal(e->attr.precise_ip, 2);
			assert_int_equal(e->attr.exclude_kernel, 1);
			assert_int_equal(e->attr.exclude_hv, 1);
			assert_int_equal(e->attr.exclude_user, 0);
			assert_int_equal(e->attr.disabled, 1);
			assert_int_equal(e->attr.sample_period, e->period);
			assert_int_equal(e->attr.freq, 0);
			assert_true(e->attr.sample_type & PERF_SAMPLE_ADDR);
			assert_true(e->attr.sample_type & PERF_SAMPLE_DATA_SRC);
			assert_int_equal(!!(e->attr.sample_type & PERF_SAMPLE_WEIGHT), latency);
			/* A leader only for load latency, and only there. */
			assert_int_equal(e->has_aux, latency && cpus[c].aux);
			if (e->has_aux) {
				assert_int_equal(e->aux.type, PERF_TYPE_RAW);
				assert_int_equal(e->aux.config, 0x8203);
				assert_int_equal(e->aux.sample_period, 0);
				assert_int_equal(e->aux.exclude_kernel, 1);
				assert_int_equal(e->aux.disabled, 1);
			}
		}
	}
}

static bool is_prime(uint64_t n)
{
	for (uint64_t d = 2; d * d <= n; d++)
		if (n % d == 0)
			return false;
	return n > 1;
}

static void default_periods_are_prime_and_not_in_the_text(void **state)
{
	static const char *const texts[] = { "pebs:l1-miss",     "pebs:l2-miss",
		                             "pebs:l3-miss",     "pebs:stlb-loads",
		                             "pebs:latency",     "pebs:stores",
		                             "pebs:stlb-stores", "MEM_LOAD_RETIRED:L1_HIT" };
	char text[64];

	machine.pmu = "skx";
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct lc_event *e = one(texts[i]);
		uint64_t period = e->period;

		assert_true(is_prime(period));
		assert_string_equal(e->text, texts[i]);
		snprintf(text, sizeof(text), "%s@%llu", texts[i], (unsigned long long)period);
		assert_string_equal(one(text)->text, texts[i]);
		snprintf(text, sizeof(text), "%s@%llu", texts[i], (unsigned long long)period + 1);
		assert_string_equal(one(text)->text, text);
		assert_int_equal(events.event[0].attr.sample_period, period + 1);
	}
	assert_string_equal(one("pebs")->text, "pebs:l1-miss");
	assert_string_equal(one("pebs:latency=30")->text, "pebs:latency");
	assert_string_equal(one("pebs:latency=0x40@0009")->text, "pebs:latency=64@9");
}

static void libpfm4_texts_are_taken_with_a_period(void **state)
{
	const struct lc_event *e;

	machine.pmu = "skx";
	e = one("MEM_LOAD_RETIRED:L3_MISS:precise=2@100003");
	assert_int_equal(e->attr.config, 0x20d1);
	assert_int_equal(e->attr.precise_ip, 2);
	assert_int_equal(e->period, 100003);
	assert_string_equal(e->event, "MEM_LOAD_RETIRED:L3_MISS:precise=2");
	/* Precise unless it says otherwise; lower case and a '.' are libpfm4's liberties. */
	e = one("mem_load_retired.l3_miss");
	assert_int_equal(e->attr.precise_ip, 2);
	assert_int_equal(one("MEM_LOAD_RETIRED:L3_MISS:precise=1")->attr.precise_ip, 1);
	assert_int_equal(one("MEM_LOAD_RETIRED:L3_MISS:precise=3")->attr.precise_ip, 3);
	assert_int_equal(one("skx::MEM_LOAD_RETIRED:L1_HIT:u")->attr.config, 0x01d1);
	assert_int_equal(one("MEM_LOAD_L3_HIT_RETIRED:XSNP_HITM")->attr.config, 0x04d2);
	assert_int_equal(one("MEM_LOAD_L3_MISS_RETIRED:REMOTE_DRAM")->attr.config, 0x02d3);
	e = one("MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=0x80");
	assert_int_equal(e->attr.config1, 128);
	assert_true(e->attr.sample_type & PERF_SAMPLE_WEIGHT);
	e = one("MEM_LOAD_RETIRED:L1_MISS:c=1");
	assert_int_equal(e->attr.config, 0x10008d1);
	e = one("r20d1:precise=1@77");
	assert_int_equal(e->attr.config, 0x20d1);
	assert_int_equal(e->attr.precise_ip, 1);
	assert_int_equal(one("perf_raw::r20d1")->attr.precise_ip, 2);
	assert_int_equal(one("r1cd")->attr.config1, 30);
	machine.pmu = "spr";
	e = one("MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=40");
	assert_true(e->has_aux);
	assert_int_equal(one("MEM_TRANS_RETIRED:STORE_SAMPLE")->attr.config, 0x02cd);
	assert_true(one("r2cd")->attr.sample_type & PERF_SAMPLE_WEIGHT); /* store latency */
	assert_false(events.event[0].has_aux);
}

/* libpfm4 4.13 knows neither; newer ones may, and say the same. */
static void cpus_that_libpfm4_does_not_know_have_the_presets_by_name(void **state)
{
	const struct lc_event *e;

	machine.pmu = "gnr";
	e = one("MEM_LOAD_RETIRED:L3_MISS:precise=1@100003");
	assert_int_equal(e->attr.config, 0x20d1);
	assert_int_equal(e->attr.precise_ip, 1);
	assert_int_equal(one("mem_load_retired.l2_miss")->attr.config, 0x10d1);
	assert_int_equal(one("gnr::MEM_INST_RETIRED:ALL_STORES:u")->attr.config, 0x82d0);
	e = one("MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=64");
	assert_int_equal(e->attr.config, 0x01cd);
	assert_int_equal(e->attr.config1, 64);
	assert_false(e->has_aux);
	wrong("MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=2", "3 to 65535");
	wrong("MEM_LOAD_RETIRED:L3_MIS", "did you mean 'MEM_LOAD_RETIRED:L3_MISS'?");
	machine.pmu = "emr";
	assert_true(one("MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=64")->has_aux);
	assert_int_equal(one("r80d1")->attr.config, 0x80d1);
}

static void what_is_wrong_names_the_nearest(void **state)
{
	static const struct {
		const char *text, *part;
	} cases[] = {
		{ "MEM_LOAD_RETIRED:L1_MIS", "did you mean 'MEM_LOAD_RETIRED:L1_MISS'?" },
		{ "MEM_LOAD_RETIRD:L3_MISS", "did you mean 'MEM_LOAD_RETIRED:L3_MISS'?" },
		{ "mem_inst_retired.all_store", "did you mean 'MEM_INST_RETIRED:ALL_STORES'?" },
		{ "MEM_LOAD_RETIRED", "needs a unit mask, such as 'MEM_LOAD_RETIRED:" },
		{ "MEM_LOAD_RETIRED:L1_MISS:precise=9", "invalid event attribute value" },
		{ "MEM_LOAD_RETIRED:L1_MISS:L1_HIT:L1_HIT", "libpfm4: " },
		{ "UOPS_EXECUTED_PORT:PORT_0", "is an event of other CPUs (" },
		{ "UOPS_EXECUTED_PORT:PORT_0", "not of this one (skx)" },
		{ "hsw::MEM_LOAD_UOPS_RETIRED:L1_MISS", "'hsw' is not the PMU of this CPU" },
		{ "nosuch::MEM_LOAD_RETIRED:L1_MISS", "'nosuch' is not a PMU" },
		{ "RETIRED_UOPS", "is an event of AMD CPUs, but this CPU is Intel's; use 'pebs'" },
		{ "amd64_fam19h_zen3::RETIRED_UOPS", "is an event of AMD CPUs" },
		{ "pebs:l1-mis", "did you mean 'l1-miss'?" },
		{ "pebs:l1", "did you mean 'l1-miss'?" },
		{ "peb:l1-miss", "did you mean 'pebs:l1-miss'?" },
		{ "pebs:l1-miss=3", "is not l1-miss" },
		{ "pebs:latency=2", "'2' cycles is out of range: 3 to 65535" },
		{ "pebs:latency=0", "out of range" },
		{ "pebs:latency=65536", "out of range" },
		{ "pebs:latency=", "out of range" },
		{ "pebs:latency=30x", "out of range" },
		{ "MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=2", "out of range: 3 to 65535" },
		{ "MEM_TRANS_RETIRED:LOAD_LATENCY:LDLAT=2", "out of range: 3 to 65535" },
		{ "MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=70000", "out of range: 3 to 65535" },
		{ "MEM_LOAD_RETIRED:L1_MISS@0", "is 0" },
		{ "MEM_LOAD_RETIRED:L1_MISS@many", "is not a number of events" },
		{ "MEM_LOAD_RETIRED:L1_MISS@", "is not a number of events" },
		{ "MEM_LOAD_RETIRED:L1_MISS@9223372036854775808", "is not a number of events" },
		{ "MEM_LOAD_RETIRED:L1_MISS:period=7", "write the period as @PERIOD" },
		{ "MEM_LOAD_RETIRED:L1_MISS:freq=7", "write the period as @PERIOD" },
		{ "MEM_LOAD_RETIRED:L1_MISS:k", "cannot be chosen" },
		{ "MEM_LOAD_RETIRED:L1_MISS:pinned=1", "cannot be chosen" },
		{ "MEM_LOAD_RETIRED:L1_MISS,precise=2", "a comma after" },
		{ "LONGEST_LAT_CACHE:MISS", "has no data addresses" },
		{ "BR_INST_RETIRED:ALL_BRANCHES", "has no data addresses" },
		{ "MEM_LOAD_RETIRED:L1_MISS:precise=0", "has no data addresses" },
		{ "cycles", "has no data addresses" },
		{ "r3c", "has no data addresses" },
		{ "r20d1:u", "not a modifier of a raw event" },
		{ "xyzzyxyzzyxyzzy", "write auto, timer, pebs" },
	};

	machine.pmu = "skx";
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		wrong(cases[i].text, cases[i].part);
}

static void the_cpu_of_cpuinfo_is_found(void **state)
{
	static const struct {
		unsigned model, stepping;
		const char *prefix, *name;
	} cases[] = {
		{ 60, 3, "hsw", "MEM_LOAD_UOPS_RETIRED:L1_MISS" },
		{ 79, 1, "bdw_ep", "MEM_LOAD_UOPS_RETIRED:L1_MISS" },
		{ 85, 4, "skx", "MEM_LOAD_RETIRED:L1_MISS" },
		{ 85, 7, "clx", "MEM_LOAD_RETIRED:L1_MISS" },
		{ 106, 6, "icx", "MEM_LOAD_RETIRED:L1_MISS" },
		{ 143, 8, "spr", "MEM_LOAD_RETIRED:L1_MISS" },
		{ 207, 2, "emr", "MEM_LOAD_RETIRED:L1_MISS" },
		{ 173, 1, "gnr", "MEM_LOAD_RETIRED:L1_MISS" },
	};
	char text[128];

	lay_out_skx();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		root_put_cpu("GenuineIntel", 6, cases[i].model, cases[i].stepping);
		assert_string_equal(one("pebs")->event, cases[i].name);
		snprintf(text, sizeof(text), "%s::%s", cases[i].prefix, cases[i].name);
		assert_int_equal(one(text)->attr.config, 0x08d1);
	}
	/* One that neither libpfm4 nor we know: only codes can be named. */
	root_put_cpu("GenuineIntel", 6, 250, 0);
	assert_int_equal(parse("pebs"), -ENODEV);
	assert_non_null(strstr(error, "(family 6, model 250)"));
	assert_int_equal(parse("MEM_LOAD_RETIRED:L1_MISS"), -ENODEV);
	assert_int_equal(one("r8d1")->attr.config, 0x08d1);
	wrong("MEM_LOAD_RETIRED:L1_MIS", "did you mean 'MEM_LOAD_RETIRED:L1_MISS'?");
}

static void sysfs_decides_on_fields_types_and_the_leader(void **state)
{
	const struct lc_event *e;

	lay_out_skx();
	assert_false(one("pebs:latency")->has_aux);
	root_put(CPU "format/ldlat", "config2:16-31");
	root_put(CPU "format/umask", "config:8-11,40-43");
	root_put(CPU "type", "77");
	e = one("pebs:latency=5");
	assert_int_equal(e->attr.type, 77);
	assert_int_equal(e->attr.config, 0x01cd);
	assert_int_equal(e->attr.config1, 0);
	assert_int_equal(e->attr.config2, 5 << 16);
	assert_int_equal(one("pebs:stores")->attr.config, UINT64_C(0x800000002d0));
	/* A kernel that shows the leader wants it, and says which it is. */
	root_put(CPU "format/umask", "config:8-15");
	root_put(CPU "events/mem-loads-aux", "event=0x03,umask=0x82");
	e = one("pebs:latency");
	assert_true(e->has_aux);
	assert_int_equal(e->aux.config, 0x8203);
	assert_int_equal(e->aux.type, 77);
	assert_false(one("pebs:l1-miss")->has_aux);
	/* Granite Rapids by its model needs none, by its kernel it may. */
	root_put_cpu("GenuineIntel", 6, 173, 1);
	assert_true(one("pebs:latency")->has_aux);
}

static void a_hybrid_is_asked_for_its_big_cores(void **state)
{
	const struct lc_event *e;

	root_put_cpu("GenuineIntel", 6, 151, 2);
	root_put(CORE "type", "4");
	root_put(CORE "format/event", "config:0-7");
	root_put(CORE "format/umask", "config:8-15");
	root_put(CORE "format/ldlat", "config1:0-15");
	root_put(CORE "events/mem-loads-aux", "event=0x03,umask=0x82");
	root_put("sys/bus/event_source/devices/cpu_atom/type", "10");
	e = one("pebs:latency");
	assert_int_equal(e->attr.type, 4);
	assert_int_equal(e->attr.config, 0x01cd);
	assert_int_equal(e->attr.config1, 30);
	assert_true(e->has_aux);
	assert_int_equal(e->aux.config, 0x8203);
}

static void an_intel_guest_without_a_pmu_falls_back(void **state)
{
	char reasons[4][160];
	size_t len;

	root_put_cpu("GenuineIntel", 6, 85, 4);
	assert_int_equal(parse("pebs"), -ENODEV);
	assert_string_equal(error, "pebs: no cpu PMU below /sys/bus/event_source/devices (a guest "
	                           "without one)");
	assert_int_equal(events.len, 0);
	assert_int_equal(parse("MEM_LOAD_RETIRED:L1_MISS@7"), -ENODEV);
	assert_int_equal(parse("r8d1"), -ENODEV);
	/* Available counters are handed out, and a mistake counts for more. */
	assert_int_equal(parse("pebs;fault;pebs:l2-miss"), -ENODEV);
	assert_int_equal(events.len, 1);
	assert_int_equal(events.event[0].kind, LC_KIND_FAULT);
	wrong("pebs;fault;pebs:l9-miss", "'l9-miss' is not");
	wrong("pebs:latency=2", "out of range");
	assert_int_equal(lc_event_candidates(&machine, &events, reasons, 4, &len), 1);
	assert_int_equal(events.event[0].kind, LC_KIND_TIMER);
	assert_int_equal(len, 2);
	assert_non_null(strstr(reasons[0], "no cpu PMU"));
	assert_non_null(strstr(reasons[1], "this CPU is Intel's"));
}

static void auto_tries_pebs_and_then_the_timer(void **state)
{
	char reasons[4][160];
	size_t len;

	lay_out_skx();
	assert_int_equal(lc_event_candidates(&machine, &events, reasons, 4, &len), 2);
	assert_string_equal(events.event[0].text, "pebs:l1-miss");
	assert_string_equal(events.event[1].text, "timer");
	assert_int_equal(len, 1);
}

static void amd_and_others_are_told_what_to_use(void **state)
{
	root_put_cpu("AuthenticAMD", 0x19, 1, 1);
	wrong("pebs", "'pebs' needs an Intel CPU, but this CPU is AMD's; use 'timer' here");
	wrong("MEM_LOAD_RETIRED:L1_MISS", "is an event of Intel CPUs, but this CPU is AMD's");
	root_put("sys/bus/event_source/devices/cpu/type", "4");
	root_put("sys/bus/event_source/devices/ibs_op/type", "11");
	wrong("MEM_LOAD_RETIRED:L1_MISS:precise=2@100003", "use 'ibs' here");
	wrong("skx::MEM_LOAD_RETIRED:L1_MISS", "is an event of Intel CPUs");
	wrong("RETIRED_UOPS", "AMD's core events have no data addresses; use 'ibs'");
	wrong("r76", "AMD's core events have no data addresses; use 'ibs'");
	wrong("MEM_LOAD_RETIRED:L1_MIS", "did you mean 'MEM_LOAD_RETIRED:L1_MISS'?");
	root_put("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 50.00\n");
	wrong("pebs", "this CPU is another vendor's; use 'timer' here");
	wrong("ibs", "this CPU is another vendor's; use 'timer' here");
	wrong("r8d1", "use 'timer' here");
}

static void cache_misses_are_those_of_the_last_cache(void **state)
{
	machine.pmu = "skx";
	assert_string_equal(one("cache-misses")->text, "pebs:l3-miss");
	assert_string_equal(one("cache-misses@12345")->text, "pebs:l3-miss@12345");
}

int main(void)
{
#define ROOT(name) cmocka_unit_test_setup_teardown(name, setup_root, teardown_root)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(presets_have_the_documented_codes_on_every_cpu, setup),
		cmocka_unit_test_setup(default_periods_are_prime_and_not_in_the_text, setup),
		cmocka_unit_test_setup(libpfm4_texts_are_taken_with_a_period, setup),
		cmocka_unit_test_setup(cache_misses_are_those_of_the_last_cache, setup),
		cmocka_unit_test_setup(cpus_that_libpfm4_does_not_know_have_the_presets_by_name,
		                       setup),
		cmocka_unit_test_setup(what_is_wrong_names_the_nearest, setup),
		ROOT(the_cpu_of_cpuinfo_is_found),
		ROOT(sysfs_decides_on_fields_types_and_the_leader),
		ROOT(a_hybrid_is_asked_for_its_big_cores),
		ROOT(an_intel_guest_without_a_pmu_falls_back),
		ROOT(auto_tries_pebs_and_then_the_timer),
		ROOT(amd_and_others_are_told_what_to_use),
	};

	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	return cmocka_run_group_tests_name("event_pmu", tests, NULL, NULL);
}
