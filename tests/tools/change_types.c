/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_types.c - a JVMTI agent that changes the type database which libjvm exports, before any
 * other agent's VMInit: what an unknown JVM may say of itself.
 *
 *   -agentpath:change_types.so=field:TYPE.FIELD:gone
 *   -agentpath:change_types.so=field:TYPE.FIELD:+8      the offset, or a static field's address
 *   -agentpath:change_types.so=type:TYPE:+8             its size
 *   -agentpath:change_types.so=constant:NAME:+1         of ints and longs; NAME may hold colons
 *
 * Several changes are separated by semicolons. Says on stderr what it did not find, and fails then.
 */
#include <dlfcn.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *libjvm;

static uint64_t read_symbol(const char *name)
{
	const uint64_t *at = dlsym(libjvm, name);

	if (!at) {
		fprintf(stderr, "change_types: libjvm has no %s\n", name);
		exit(3);
	}
	return *at;
}

/* An array of entries, ended by one without a name, that libjvm's variable leads to. */
struct table {
	char *entries;
	uint64_t stride, name;
};

/* A copy that can be written, in place of the array. */
static struct table open_table(const char *variable, const char *stride, const char *name)
{
	struct table t = { .stride = read_symbol(stride), .name = read_symbol(name) };
	char **at = dlsym(libjvm, variable);
	size_t len = 0;

	while (*(const char **)(*at + len * t.stride + t.name))
		len++;
	t.entries = malloc((len + 1) * t.stride);
	memcpy(t.entries, *at, (len + 1) * t.stride);
	*at = t.entries;
	return t;
}

static const char *text_at(const char *entry, uint64_t offset)
{
	return *(const char *const *)(entry + offset);
}

static void move(char *value, size_t bytes, long by)
{
	int64_t now = 0;

	memcpy(&now, value, bytes);
	now += by;
	memcpy(value, &now, bytes);
}

static bool change_field(const char *name, const char *how)
{
	static struct table t;
	const uint64_t field = read_symbol("gHotSpotVMStructEntryFieldNameOffset");
	const uint64_t offset = read_symbol("gHotSpotVMStructEntryOffsetOffset");
	const uint64_t address = read_symbol("gHotSpotVMStructEntryAddressOffset");
	const uint64_t is_static = read_symbol("gHotSpotVMStructEntryIsStaticOffset");
	bool found = false;

	if (!t.entries)
		t = open_table("gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride",
		               "gHotSpotVMStructEntryTypeNameOffset");
	for (char *e = t.entries; text_at(e, t.name); e += t.stride) {
		const size_t type_len = strlen(text_at(e, t.name));
		static const char *const gone = "gone";

		if (strncmp(name, text_at(e, t.name), type_len) != 0 || name[type_len] != '.' ||
		    strcmp(name + type_len + 1, text_at(e, field)) != 0)
			continue;
		found = true;
		if (!strcmp(how, gone))
			memcpy(e + field, &gone, sizeof(gone));
		else
			move(e + (*(int32_t *)(e + is_static) ? address : offset), 8,
			     strtol(how, NULL, 0));
	}
	return found;
}

static bool change_named(struct table *t, size_t bytes, uint64_t value, const char *name,
                         const char *how)
{
	bool found = false;

	for (char *e = t->entries; text_at(e, t->name); e += t->stride) {
		if (strcmp(name, text_at(e, t->name)) != 0)
			continue;
		found = true;
		if (!strcmp(how, "gone"))
			*(const char **)(e + t->name) = "gone";
		else
			move(e + value, bytes, strtol(how, NULL, 0));
	}
	return found;
}

static bool change_type(const char *name, const char *how)
{
	struct table t = open_table("gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride",
	                            "gHotSpotVMTypeEntryTypeNameOffset");

	return change_named(&t, 8, read_symbol("gHotSpotVMTypeEntrySizeOffset"), name, how);
}

static bool change_constant(const char *name, const char *how)
{
	struct table ints =
	    open_table("gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryArrayStride",
	               "gHotSpotVMIntConstantEntryNameOffset");
	struct table longs =
	    open_table("gHotSpotVMLongConstants", "gHotSpotVMLongConstantEntryArrayStride",
	               "gHotSpotVMLongConstantEntryNameOffset");
	const bool found =
	    change_named(&ints, 4, read_symbol("gHotSpotVMIntConstantEntryValueOffset"), name, how);

	return change_named(&longs, 8, read_symbol("gHotSpotVMLongConstantEntryValueOffset"), name,
	                    how) ||
	       found;
}

static bool change(char *text)
{
	char *name = strchr(text, ':'), *how = strrchr(text, ':');

	if (!name || how == name)
		return false;
	*name++ = *how++ = '\0';
	return !strcmp(text, "field")      ? change_field(name, how)
	       : !strcmp(text, "type")     ? change_type(name, how)
	       : !strcmp(text, "constant") ? change_constant(name, how)
	                                   : false;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	char *saved = NULL, *copy = strdup(options ? options : "");

	libjvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
	for (char *c = strtok_r(copy, ";", &saved); c; c = strtok_r(NULL, ";", &saved)) {
		char *text = strdup(c);

		if (!change(text)) {
			fprintf(stderr, "change_types: %s: not in this JVM\n", c);
			return JNI_ERR;
		}
		free(text);
	}
	free(copy);
	return JNI_OK;
}
