/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf/event_impl.h - declares what the files behind lc_event_parse() share. Context: as
 * perf/event.h.
 */
#ifndef LC_PERF_EVENT_IMPL_H
#define LC_PERF_EVENT_IMPL_H

#include "src/perf/event.h"

/* The buffer that gets the line of an error. */
struct lc_event_error {
	char *text;
	size_t len;
};

/* Format the line. Returns `err`. */
__attribute__((format(printf, 3, 4))) int lc_event_fail(const struct lc_event_error *error, int err,
                                                        const char *format, ...);

enum lc_event_vendor {
	LC_VENDOR_OTHER,
	LC_VENDOR_INTEL,
	LC_VENDOR_AMD /* and Hygon */
};

enum { LC_EVENT_PATH_MAX = 512 };

/* The machine, according to its files or to struct lc_event_machine. */
struct lc_event_host {
	enum lc_event_vendor vendor;
	char pmu[64];      /* libpfm4's name of the core PMU; "" where the model is not known */
	unsigned family;   /* 0: not read */
	unsigned model;    /* as /proc/cpuinfo has it */
	bool foreign;      /* only `pmu` is known: there are no files to ask */
	bool has_core_pmu; /* below event_source/devices: cpu, or cpu_core of a hybrid */
	bool has_ibs;
	char core[LC_EVENT_PATH_MAX]; /* directory of the core PMU */
	char ibs[LC_EVENT_PATH_MAX];
};

void lc_event_host_read(const struct lc_event_machine *machine, struct lc_event_host *out);

/* The engine to suggest for this machine: "'pebs'", "'ibs'", "'timer'". */
const char *lc_event_host_engine(const struct lc_event_host *host);
/* "Intel's", "AMD's", "another vendor's" */
const char *lc_event_vendor_name(enum lc_event_vendor vendor);

/*
 * The config words of an event by its PMU's format files: put `value` where DIRECTORY/format/NAME
 * ("config1:0-11", "config:0-7,32-35") says. Returns 0; -ENOENT where the PMU has no such field;
 * -ERANGE where it is too narrow; -EINVAL where the file makes no sense. words[i] is config<i>.
 */
int lc_event_format_put(const char *directory, const char *name, uint64_t value, uint64_t words[3]);
bool lc_event_format_has(const char *directory, const char *name);

/* Read the first line of DIRECTORY/NAME, without its newline. Returns 0 or -errno. */
int lc_event_read_file(const char *directory, const char *name, char *out, size_t out_len);
/* Read the number in DIRECTORY/NAME. Returns 0 or -errno. */
int lc_event_read_number(const char *directory, const char *name, uint64_t *out);

/* Set the fields that are the same in every sampled event; the others become 0. */
void lc_event_attr_init(struct perf_event_attr *attr, uint32_t type, uint64_t period);

/* Parse all of `text`, a decimal number or 0x... False if it is no number of 64 bits. */
bool lc_event_number(const char *text, uint64_t *out);
/* "; did you mean 'X'?" or "", for the end of a message. */
const char *lc_event_near(const char *word, const char *const *words, size_t count, char *out,
                          size_t out_len);

/*
 * Each parses the events of one engine. `arguments` follows the engine's name and ':' ("" for
 * nothing), without @PERIOD; `period` 0 is the default. They fill in *e, whose text gets no period,
 * and return as lc_event_parse() does.
 */
int lc_event_parse_pebs(const struct lc_event_host *host, const char *arguments, uint64_t period,
                        struct lc_event *e, const struct lc_event_error *error);
int lc_event_parse_ibs(const struct lc_event_host *host, const char *arguments, uint64_t period,
                       struct lc_event *e, const struct lc_event_error *error);
int lc_event_parse_watch(const char *arguments, uint64_t period, struct lc_event *e,
                         const struct lc_event_error *error);
void lc_event_make_fault(uint64_t period, struct lc_event *e);
/* Parse an event of libpfm4; `text` is the whole event. */
int lc_event_parse_string(const struct lc_event_host *host, const char *text, uint64_t period,
                          struct lc_event *e, const struct lc_event_error *error);

/* A model of CPU that has presets. */
struct lc_event_model {
	const char *pmu; /* libpfm4's name, or what it would be */
	bool uops;       /* MEM_LOAD_UOPS_RETIRED and MEM_UOPS_RETIRED, as before Skylake */
	bool aux;        /* load latency needs mem-loads-aux as its leader */
};
/* The model of that PMU, or NULL. */
const struct lc_event_model *lc_event_model(const char *pmu);

/* How a text was found among libpfm4's events. */
enum lc_event_found {
	LC_FOUND,
	LC_FOUND_NO_EVENT,
	LC_FOUND_NO_ATTRIBUTE, /* the event, but not a unit mask or modifier */
	LC_FOUND_NO_MASK       /* the event needs a unit mask and has none */
};

/* Look for EVENT[:UMASK|:MODIFIER=VALUE]... among the events of one PMU, encoding nothing. */
enum lc_event_found lc_event_find(const char *pmu, const char *text);
/*
 * Look for the event among all core PMUs of libpfm4, those of the vendor `first` before the others.
 * Returns the name of the PMU, or NULL.
 */
const char *lc_event_find_anywhere(const char *text, enum lc_event_vendor first);
bool lc_event_pmu_known(const char *pmu);
enum lc_event_vendor lc_event_pmu_vendor(const char *pmu);

/*
 * Set `out` to the spelling nearest to `text` among the presets and the events of `pmu` ("": of all
 * core PMUs). Returns false if none is near.
 */
bool lc_event_nearest(const char *pmu, const char *text, char *out, size_t out_len);

#endif
