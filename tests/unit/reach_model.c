/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/reach_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/jvmti.h"
#include "src/core/path.h"
#include "src/heap/loaded_code.h"
#include "src/jvm/layout/field.h"
#include "src/jvm/layout/klass.h"
#include "src/jvm/layout/layout.h"

enum { METHODS_MAX = 300, NODES_MAX = 32, FIELDS_MAX = 8 };

static struct {
	struct class_file file;
	struct {
		struct lc_reach_code code;
		struct lc_method method;
		struct reach_method spec;
		uint8_t *bytes;
	} methods[METHODS_MAX + 1];
	unsigned len;
	struct lc_path_node nodes[NODES_MAX];
	uint32_t nodes_len;
	struct {
		const char *name;
		uint64_t offset;
	} fields[FIELDS_MAX];
	unsigned fields_len;
} model;

struct class_file *reach_model_begin(void)
{
	memset(&model, 0, sizeof(model));
	model.nodes_len = 1;
	class_begin(&model.file, "A");
	return &model.file;
}

void reach_model_end(void)
{
	for (unsigned i = 1; i <= model.len; i++) {
		lc_reached_close(model.methods[i].code.reached);
		lc_class_close(&model.methods[i].code.file.cls);
		free(model.methods[i].bytes);
	}
	class_free(&model.file);
}

unsigned reach_model_add(const struct reach_method *m)
{
	const unsigned number = ++model.len;
	struct code_spec spec = { .code = m->code, .len = (uint32_t)m->len };
	struct class_file c = model.file;
	struct lc_reach_code *code = &model.methods[number].code;
	size_t len;

	assert_true(number <= METHODS_MAX);
	c.name = m->class_name ? m->class_name : "A";
	c.method_flags = m->flags;
	c.methods = (struct lc_bytes){ 0 };
	c.pool = (struct lc_bytes){ 0 };
	lc_bytes_add(&c.pool, model.file.pool.data, model.file.pool.len);
	class_method(&c, m->name ? m->name : "m", m->descriptor, &spec);
	model.methods[number].bytes = class_end(&c, &len);
	free(c.pool.data);
	free(c.methods.data);
	assert_int_equal(lc_class_open(model.methods[number].bytes, len, &code->file.cls),
	                 LC_REWRITE_DONE);
	code->method = (jmethodID)(uintptr_t)number; /* NOLINT */
	code->file.method = lc_class_member(&code->file.cls, code->file.cls.methods + 2);
	code->reached = lc_reached_open(&code->file.cls, &code->file.method);
	model.methods[number].spec = *m;
	model.methods[number].method.code_bytes = (uint32_t)m->len;
	return number;
}

struct lc_reach_code *reach_model_code(unsigned number)
{
	return model.methods[number].code.reached ? &model.methods[number].code : NULL;
}

uint32_t reach_model_path(uint32_t parent, unsigned number, uint16_t bci)
{
	assert_true(model.nodes_len < NODES_MAX);
	model.nodes[model.nodes_len] = (struct lc_path_node){
		.parent = parent,
		.method = number,
		.bci = bci,
		.depth = (uint16_t)(model.nodes[parent].depth + 1),
	};
	return model.nodes_len++;
}

void reach_model_field(const char *name, uint64_t offset)
{
	model.fields[model.fields_len].name = name;
	model.fields[model.fields_len++].offset = offset;
}

unsigned reach_model_users(void)
{
	unsigned users = 0;

	for (unsigned i = 1; i <= model.len; i++)
		users += model.methods[i].code.users;
	return users;
}

const char *reach_model_names(const struct lc_reach_names *names)
{
	static char text[4096];

	text[0] = '\0';
	if (!names->known)
		return "not known";
	for (unsigned i = 0; i < names->len; i++) {
		strcat(text, i ? " or " : "");
		strcat(text, names->of[i].name);
	}
	return text;
}

const char *reach_model_sources(const struct lc_reached_sources *s)
{
	static const char *const kinds[] = { "",    "field",    "static", "parameter", "result",
		                             "new", "constant", "class",  "caught" };
	static char text[256];
	size_t len = 0;

	text[0] = '\0';
	if (!s->known)
		return "not known";
	for (unsigned i = 0; i < s->len; i++) {
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %u", i ? " or " : "",
		                        kinds[s->of[i].kind], s->of[i].index);
		for (unsigned e = 0; e < s->of[i].elements; e++)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "[]");
	}
	return text;
}

/* ---- the agent ---- */

struct lc_reach_code *lc_reach_open(JNIEnv *jni, jmethodID method, uint32_t code_bytes)
{
	const uintptr_t number = (uintptr_t)method;
	struct lc_reach_code *code;

	if (!number || number > model.len)
		return NULL;
	code = reach_model_code((unsigned)number);
	if (!code || (code_bytes != LC_REACH_ANY_BYTES &&
	              code_bytes != model.methods[number].method.code_bytes))
		return NULL;
	code->users++;
	return code;
}

void lc_reach_release(struct lc_reach_code *code)
{
	if (code)
		code->users--;
}

const struct lc_path_node *lc_path_get(uint32_t node)
{
	return node < model.nodes_len ? &model.nodes[node] : NULL;
}

const struct lc_method *lc_method_get(uint32_t method)
{
	return method && method <= model.len ? &model.methods[method].method : NULL;
}

static unsigned number_of(const struct lc_method *m)
{
	unsigned i = 1;

	while (&model.methods[i].method != m)
		i++;
	return i;
}

jmethodID lc_method_id(const struct lc_method *m)
{
	return (jmethodID)(uintptr_t)number_of(m); /* NOLINT */
}

jmethodID lc_loaded_code_find(JNIEnv *jni, jmethodID caller, const char *class_name,
                              const char *name, const char *descriptor)
{
	for (unsigned i = 1; i <= model.len; i++) {
		const struct reach_method *m = &model.methods[i].spec;

		if (!strcmp(m->class_name ? m->class_name : "A", class_name) &&
		    !strcmp(m->name ? m->name : "m", name) && !strcmp(m->descriptor, descriptor))
			return (jmethodID)(uintptr_t)i; /* NOLINT */
	}
	return NULL;
}

jclass lc_loaded_code_class(JNIEnv *jni, jmethodID caller, const char *class_name)
{
	return strcmp(class_name, "Gone") ? (jclass)(uintptr_t)1 : NULL; /* NOLINT */
}

int lc_field_offset(JNIEnv *jni, jclass class, const char *name, uint64_t *offset, uint8_t *bytes)
{
	for (unsigned i = 0; i < model.fields_len; i++) {
		if (strcmp(model.fields[i].name, name) != 0)
			continue;
		*offset = model.fields[i].offset;
		*bytes = 4;
		return 0;
	}
	return -1;
}

uint32_t lc_klass_array_base(unsigned which)
{
	return 16;
}

const struct lc_layout *lc_layout(void)
{
	static const struct lc_layout layout = { .reference_bytes = 4 };

	return &layout;
}

/* ---- the JVM; a class is the number of a method ---- */

static void JNICALL delete_local(JNIEnv *env, jobject object)
{
}

JNIEnv *reach_model_jni(void)
{
	static const struct JNINativeInterface_ functions = { .DeleteLocalRef = delete_local };
	static JNIEnv env = &functions;

	return &env;
}

static jvmtiError JNICALL method_modifiers(jvmtiEnv *env, jmethodID method, jint *out)
{
	*out = model.methods[(uintptr_t)method].spec.flags;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL declaring_class(jvmtiEnv *env, jmethodID method, jclass *out)
{
	*out = (jclass)method; /* NOLINT */
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL class_modifiers(jvmtiEnv *env, jclass class, jint *out)
{
	*out = model.methods[(uintptr_t) class].spec.class_flags;
	return JVMTI_ERROR_NONE;
}

jvmtiEnv *lc_jvmti(void)
{
	static const struct jvmtiInterface_1_ functions = {
		.GetMethodModifiers = method_modifiers,
		.GetMethodDeclaringClass = declaring_class,
		.GetClassModifiers = class_modifiers,
	};
	static jvmtiEnv env = &functions;

	return &env;
}
