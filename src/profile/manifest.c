/* SPDX-License-Identifier: Apache-2.0 */
/* profile/manifest.c - writes the manifest of a profile as JSON. */
#include "src/profile/manifest.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/limit.h"
#include "src/format/block.h"
#include "src/format/utf8.h"
#include "src/profile/profile_writer.h"

/* Only for short texts: what exceeds the array is cut. */
__attribute__((format(printf, 2, 3))) static void json_format(struct lc_bytes *b, const char *fmt,
                                                              ...);

static void json_format(struct lc_bytes *b, const char *fmt, ...)
{
	char text[256];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (n > 0)
		lc_bytes_add(b, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

/* A string, whatever bytes it holds. */
static void json_bytes(struct lc_bytes *b, const char *text, size_t len)
{
	const uint8_t *at = (const uint8_t *)text, *end = at + len;

	json_format(b, "\"");
	while (at < end) {
		uint32_t c = lc_utf8_next(&at, end);

		if (lc_bytes_reserve(b, 6))
			b->len += lc_utf8_json_put(b->data + b->len, c);
	}
	json_format(b, "\"");
}

/* The same of text that ends with a NUL, or null. */
static void json_string(struct lc_bytes *b, const char *text)
{
	if (text)
		json_bytes(b, text, strlen(text));
	else
		json_format(b, "null");
}

static void json_member(struct lc_bytes *b, const char *name, const char *text)
{
	json_format(b, ",\"%s\":", name);
	json_string(b, text);
}

/* JSON readers hold integers in 64 bits with a sign. */
static void json_u64(struct lc_bytes *b, uint64_t v)
{
	json_format(b, "%llu", (unsigned long long)(v > INT64_MAX ? INT64_MAX : v));
}

static void manifest_node(struct lc_bytes *b, const struct lc_manifest_numa *n,
                          const struct lc_manifest_node *node)
{
	json_format(b, "{\"node\":%u,\"memory_bytes\":", node->number);
	json_u64(b, node->memory_bytes);
	json_member(b, "cpus", node->cpus);
	json_format(b, ",\"memory_allowed\":%s,\"distances\":[",
	            node->memory_allowed ? "true" : "false");
	for (size_t i = 0; i < n->nodes_len; i++)
		json_format(b, "%s%u", i ? "," : "", node->distances ? node->distances[i] : 0);
	json_format(b, "]}");
}

static void manifest_numa(struct lc_bytes *b, const struct lc_manifest_numa *n)
{
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{ "pages_migrated", n->pages_migrated }, { "pages_asked", n->pages_asked },
		{ "pages_unknown", n->pages_unknown },   { "owner_changes", n->owner_changes },
		{ "samples_dropped", n->dropped },
	};

	json_format(b, ",\n\"numa\":{\"active\":%s,\"balancing\":%s", n->active ? "true" : "false",
	            n->balancing < 0 ? "null"
	            : n->balancing   ? "true"
	                             : "false");
	json_member(b, "error", n->error);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		json_format(b, ",\"%s\":", numbers[i].name);
		json_u64(b, numbers[i].value);
	}
	json_format(b, ",\n\"nodes\":[");
	for (size_t i = 0; i < n->nodes_len; i++) {
		json_format(b, i ? ",\n" : "");
		manifest_node(b, n, &n->nodes[i]);
	}
	json_format(b, "]}");
}

/* Not by printf(), whose decimal point is the program's locale's. Not finite: null. */
static void json_fixed(struct lc_bytes *b, double v, unsigned digits)
{
	uint64_t unit = 1, parts;

	for (unsigned i = 0; i < digits; i++)
		unit *= 10;
	if (!(v > -1e12 && v < 1e12)) {
		json_format(b, "null");
		return;
	}
	parts = (uint64_t)((v < 0 ? -v : v) * (double)unit + 0.5);
	json_format(b, "%s%llu.%0*llu", v < 0 && parts ? "-" : "",
	            (unsigned long long)(parts / unit), (int)digits,
	            (unsigned long long)(parts % unit));
}

static void manifest_spans(struct lc_bytes *b, const struct lc_manifest_spans *s)
{
	json_format(b, ",\n\"spans\":{\"streams\":%s,\"tasks\":%s,\"nested\":true,\"clock_hz\":",
	            s->streams ? "true" : "false", s->tasks ? "true" : "false");
	json_u64(b, s->clock_hz);
	json_member(b, "streams_error", s->streams_error);
	json_member(b, "tasks_error", s->tasks_error);
	json_member(b, "clock", s->clock);
	json_member(b, "clock_reason", s->clock_reason);
	json_member(b, "calibration", s->calibration);
	json_member(b, "calibration_warning", s->calibration_warning);
	json_format(b, ",\n\"costs\":[");
	for (size_t i = 0; i < s->costs_len; i++) {
		json_format(b, i ? ",{\"mean_cycles\":" : "{\"mean_cycles\":");
		json_fixed(b, s->costs[i].mean_cycles, 3);
		json_format(b, ",\"variation\":");
		json_fixed(b, s->costs[i].variation, 6);
		json_member(b, "name", s->costs[i].name);
		json_format(b, "}");
	}
	json_format(b, "]}");
}

static void manifest_intervals(struct lc_bytes *b, const struct lc_manifest *m)
{
	json_format(b, ",\n\"intervals\":[");
	for (size_t i = 0; i < m->intervals_len; i++) {
		json_format(b, i ? ",{\"time_ns\":" : "{\"time_ns\":");
		json_u64(b, m->intervals[i].time_ns);
		json_format(b, ",\"stretch\":%u}", m->intervals[i].stretch);
	}
	json_format(b, "]");
}

static void manifest_limits(struct lc_bytes *b, const struct lc_manifest *m)
{
	json_format(b, ",\n\"limits\":[");
	for (size_t i = 0; i < m->limits_len; i++) {
		json_format(b, i ? ",{\"kind\":" : "{\"kind\":");
		json_string(b, m->limits[i].kind);
		json_member(b, "text", m->limits[i].text);
		json_format(b, "}");
	}
	json_format(b, "]");
}

static void manifest_marks(struct lc_bytes *b, const char *member,
                           const struct lc_manifest_mark *marks, size_t len)
{
	json_format(b, ",\n\"%s\":[", member);
	for (size_t i = 0; i < len; i++) {
		json_format(b, i ? ",{\"name\":" : "{\"name\":");
		json_string(b, marks[i].name);
		json_format(b, ",\"time_ns\":");
		json_u64(b, marks[i].time_ns);
		json_format(b, "}");
	}
	json_format(b, "]");
}

static void manifest_words(struct lc_bytes *b, const struct lc_manifest *m)
{
	json_format(b, ",\n\"arguments\":[");
	for (size_t at = 0; at < m->words_len; at += strlen(m->words + at) + 1) {
		json_format(b, at ? "," : "");
		json_string(b, m->words + at);
	}
	json_format(b, "]");
}

/* Keys are unique, since lc_labels_good() has checked: readers would take the last of two. */
static void manifest_labels(struct lc_bytes *b, const char *labels)
{
	const char *comma = "";

	json_format(b, ",\"labels\":{");
	for (const char *at = labels; *at;) {
		const size_t len = strcspn(at, ";"), key = strcspn(at, "=");

		if (key < len) {
			json_format(b, "%s", comma);
			json_bytes(b, at, key);
			json_format(b, ":");
			json_bytes(b, at + key + 1, len - key - 1);
			comma = ",";
		}
		at += len + (at[len] == ';');
	}
	json_format(b, "}");
}

static void manifest_process(struct lc_bytes *b, const struct lc_manifest *m)
{
	json_format(b, "{\"pid\":%d,\"complete\":%s", m->pid, m->complete ? "true" : "false");
	if (m->limited)
		json_format(b, ",\"limited\":true");
	if (m->attached)
		json_format(b, ",\"attached\":true");
	json_member(b, "command", m->command);
	json_member(b, "jdk", m->jdk);
	json_member(b, "gc", m->gc);
	if (m->words)
		manifest_words(b, m);
	if (m->directory)
		json_member(b, "directory", m->directory);
	if (m->host)
		json_member(b, "host", m->host);
	if (m->cpus)
		json_format(b, ",\"cpus\":%u", m->cpus);
	if (m->labels && *m->labels)
		manifest_labels(b, m->labels);
	json_format(b, ",\n\"start_wall_ns\":");
	json_u64(b, m->start_wall_ns);
	json_format(b, ",\"start_monotonic_ns\":");
	json_u64(b, m->start_monotonic_ns);
	json_format(b, ",\"end_wall_ns\":");
	json_u64(b, m->end_wall_ns);
	json_format(b, ",\"end_monotonic_ns\":");
	json_u64(b, m->end_monotonic_ns);
	json_format(b, ",\n\"options\":{");
	for (size_t i = 0; i < m->options_len; i++) {
		json_format(b, i ? "," : "");
		json_string(b, m->options[i].name);
		json_format(b, ":");
		json_string(b, m->options[i].text);
	}
	json_format(b, "},\n\"counters\":{");
	for (size_t i = 0; i < m->counters_len; i++) {
		json_format(b, i ? "," : "");
		json_string(b, m->counters[i].name);
		json_format(b, ":");
		json_u64(b, m->counters[i].value);
	}
	json_format(b, "}");
	if (m->intervals_len)
		manifest_intervals(b, m);
	if (m->limits_len)
		manifest_limits(b, m);
	if (m->marks_len)
		manifest_marks(b, "marks", m->marks, m->marks_len);
	if (m->tracked_hot_len)
		manifest_marks(b, "tracked_hot", m->tracked_hot, m->tracked_hot_len);
	if (m->numa)
		manifest_numa(b, m->numa);
	if (m->spans)
		manifest_spans(b, m->spans);
	json_format(b, "}");
}

void lc_manifest_encode(struct lc_bytes *b, const struct lc_manifest *m, uint64_t blocks)
{
	lc_bytes_empty(b);
	json_format(b, "{\"format\":%d,\n\"blocks\":", LC_FORMAT_VERSION);
	json_u64(b, blocks);
	json_format(b, ",\n\"engines\":[");
	for (size_t i = 0; i < m->engines_len; i++) {
		json_format(b, i ? ",\n{\"interval_ns\":" : "{\"interval_ns\":");
		json_u64(b, m->engines[i].interval_ns);
		json_member(b, "name", m->engines[i].name);
		json_member(b, "event", m->engines[i].event);
		json_member(b, "unit", m->engines[i].unit);
		if (m->engines[i].tick_ns) {
			json_format(b, ",\"tick_ns\":");
			json_u64(b, m->engines[i].tick_ns);
		}
		if (m->engines[i].reason)
			json_member(b, "reason", m->engines[i].reason);
		json_format(b, "}");
	}
	json_format(b, "],\n\"processes\":[");
	manifest_process(b, m);
	json_format(b, "]}\n");
}
