/* uses: src/perf/event.c src/perf/event_sysfs.c src/perf/event_ibs.c src/perf/event_watch.c src/perf/event_names.c src/perf/event_pmu.c src/base/options.c src/base/nearest.c -lpfm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_event.c - parses any text as --event: an accepted one has a canonical spelling of the same
 * meaning.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/perf/event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte chooses the CPU. */
static const char *const pmus[] = { "skx", "hsw", "spr", "gnr", "amd64_fam19h_zen4", NULL };

static void check_again(const struct lc_events *events, const struct lc_event_machine *machine)
{
	struct lc_events again;
	char error[256];

	for (size_t i = 0; i < events->len; i++) {
		const struct lc_event *e = &events->event[i];

		memset(&again, 0, sizeof(again));
		if (lc_event_parse(e->text, machine, &again, error, sizeof(error)) != 0 ||
		    again.len != 1 ||
		    memcmp(&again.event[0].attr, &e->attr, sizeof(e->attr)) != 0 ||
		    again.event[0].kind != e->kind || strcmp(again.event[0].text, e->text) != 0)
			abort();
		if (e->kind == LC_KIND_PEBS && e->attr.precise_ip == 0)
			abort();
		if (e->kind != LC_KIND_TIMER && e->attr.sample_period == 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lc_event_machine machine = { .root = NULL };
	struct lc_events events;
	char text[1024], error[256];
	int err;

	if (size < 1 || size > sizeof(text))
		return 0;
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 0);
	machine.pmu = pmus[data[0] % 6];
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	memset(&events, 0, sizeof(events));
	memset(error, 0, sizeof(error));
	err = lc_event_parse(text, &machine, &events, error, sizeof(error));
	if (err == 0)
		check_again(&events, &machine);
	else if ((err != -EINVAL && err != -ENODEV) || !error[0] || strchr(error, '\n'))
		abort();
	return 0;
}
