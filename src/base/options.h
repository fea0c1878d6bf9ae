/* SPDX-License-Identifier: Apache-2.0 */
/* base/options.h - parses the options that options.def lists, and writes them as text again. */
#ifndef LC_BASE_OPTIONS_H
#define LC_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --sample-interval=auto: where that begins, and the least that it comes to */
#define LC_SAMPLE_INTERVAL_AUTO UINT64_MAX
#define LC_SAMPLE_INTERVAL_BEGIN (UINT64_C(128) << 10)
#define LC_SAMPLE_INTERVAL_LEAST (UINT64_C(16) << 10)
#define LC_MAX_MEMORY_AUTO UINT64_MAX
#define LC_MAX_PROFILE_AUTO UINT64_MAX
#define LC_LOOP_BYTES (UINT64_C(1) << 63)

enum { LC_JITTER_ON, LC_JITTER_OFF };
enum { LC_RECURSION_FOLD, LC_RECURSION_KEEP };
enum { LC_PATHS_ADAPTIVE, LC_PATHS_EXACT };
enum { LC_OFFHEAP_JAVA, LC_OFFHEAP_NATIVE, LC_OFFHEAP_NONE };
enum { LC_CLOCK_WANTED_AUTO, LC_CLOCK_WANTED_RDPMC, LC_CLOCK_WANTED_TSC, LC_CLOCK_WANTED_COARSE };

enum { LC_SPANS_STREAMS = 1, LC_SPANS_TASKS = 2 }; /* bits, in the order of the choices */

#define LC_FRAMES_MAX 2048 /* hard limit of --depth, in frames */

enum {
	LC_OPTION_TEXT_MAX = 1024,
	LC_TRACK_TEXT_MAX = 8192,        /* of --track: room for 64 long names of classes */
	LC_OPTIONS_TEXT_MAX = 32 * 1024, /* of an agent string, in which commas are escaped */
};

/*
 * The environment variable that `locus run` sets to the option that loads the agent,
 * "-agentpath:FILE=OPTIONS". preload/launch.c in the preloaded library hands the option to the JVMs
 * that the command starts.
 */
#define LC_LAUNCH_VARIABLE "LOCUS_AGENT"

struct lc_options {
	char event[LC_OPTION_TEXT_MAX]; /* for lc_event_parse() of perf/event.h */
	uint64_t interval_ns;
	int jitter;                    /* LC_JITTER_ */
	uint64_t duration_ns;          /* 0: to the end of the program */
	uint64_t min_size_bytes;       /* 0: every object */
	char track[LC_TRACK_TEXT_MAX]; /* for lc_track_parse() of base/track.h */
	/* 0: no allocation below min_size_bytes is sampled; or LC_SAMPLE_INTERVAL_AUTO */
	uint64_t alloc_interval_bytes;
	uint64_t budget_ppm;        /* parts per million of the process's CPU time; 0: no limit */
	uint64_t max_memory_bytes;  /* LC_MAX_MEMORY_AUTO: lc_memory_default_limit() */
	uint64_t max_profile_bytes; /* LC_MAX_PROFILE_AUTO: by what is free; 0: no limit */
	uint64_t loop;              /* 0: none; or ns, or bytes with LC_LOOP_BYTES */
	uint64_t keep;              /* directories; 0: all */
	char output[LC_OPTION_TEXT_MAX];
	char label[LC_OPTION_TEXT_MAX];  /* "key=value;key=value" */
	char redact[LC_OPTION_TEXT_MAX]; /* for lc_redact_word() of base/redact.h */
	bool no_arguments;
	uint64_t depth;
	int recursion; /* LC_RECURSION_ */
	int paths;
	char include[LC_OPTION_TEXT_MAX];
	char exclude[LC_OPTION_TEXT_MAX];
	bool holders;          /* walk the heap at the end */
	uint64_t max_pause_ns; /* of such a walk */
	bool audit;
	bool exact;     /* every large array has a hook */
	bool no_hooks;  /* no class is rewritten */
	int offheap;    /* LC_OFFHEAP_ */
	unsigned spans; /* LC_SPANS_, 0: none */
	bool span_paths;
	bool trace;
	int clock; /* LC_CLOCK_WANTED_ */
	bool calibrate;
	uint64_t lists_set; /* a bit per row: a LIST that was set; a further value is appended */
};

/* One row of options.def, for help texts, manuals and manifests. */
struct lc_option_info {
	const char *name;
	char letter; /* 0: the option has no short form */
	const char *type;
	const char *argument;
	const char *default_text;
	const char *unit;
	const char *help;
};

/* All rows, `*count` of them. Static storage. Context: any. */
const struct lc_option_info *lc_option_table(size_t *count);

/* Fill in every default. Context: [attach]. */
void lc_options_init(struct lc_options *o);

/*
 * Set one option by its long name; a LIST that was set before gets one more value, after a ';'.
 * Returns 0; -ENOENT when there is no such option (`error` then names the nearest one, if one is
 * near); -EINVAL when the value is not of the option's type or out of range. On failure `error`
 * receives one line without a newline, and *o is untouched.
 */
int lc_options_set(struct lc_options *o, const char *name, const char *value, char *error,
                   size_t error_len);

/*
 * Parse an agent string, "name=value,name=value"; in a value, a comma is written "\\,"
 * and a backslash "\\\\".
 * A FLAG may stand alone. Returns as lc_options_set(). NULL or "" is an empty string.
 */
int lc_options_parse(struct lc_options *o, const char *text, char *error, size_t error_len);

/*
 * Is no option set that does nothing without another one? Returns 0; -EINVAL, and `error` says in
 * one line which other one to set. lc_options_parse() asks it of the whole string. Context: any.
 */
int lc_options_check(const struct lc_options *o, char *error, size_t error_len);

/*
 * Write the agent string that lc_options_parse() reads back to the same *o, without options that
 * have their default. Returns its length, or -ENOSPC.
 */
int lc_options_format(const struct lc_options *o, char *out, size_t out_len);

/* Write the value of row `i` as text, as the manifest holds it. Returns its length, or -ENOSPC. */
int lc_options_value(const struct lc_options *o, size_t i, char *out, size_t out_len);

/*
 * Does `name` match one of the patterns of `list` (separated by ';', each with * and ?, case
 * matters)? An empty list matches nothing.
 */
bool lc_options_match(const char *list, const char *name);

#endif
