/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/reach_source.c - names references, and follows parameters to the callers' arguments and
 * results into the called methods.
 */
#include <stdio.h>
#include <string.h>

#include "src/attribute/reach_impl.h"
#include "src/classfile/insn_role.h"
#include "src/classfile/method_code.h"
#include "src/core/jvmti.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/format/kinds.h"
#include "src/heap/loaded_code.h"

enum {
	ACC_PRIVATE = 2,
	ACC_STATIC = 8,
	ACC_FINAL = 0x10,
	NAME_BYTES = 512,
};

static void follow(struct lc_reach_search *s, const struct lc_reach_place *p,
                   const struct lc_reached_sources *from, unsigned elements);

/* ---- names ---- */

void lc_reach_add_name(struct lc_reach_names *to, const char *name, uint8_t kind)
{
	for (unsigned i = 0; i < to->len; i++)
		if (!strcmp(to->of[i].name, name))
			return;
	if (to->len == LC_REACHED_SOURCES || strlen(name) >= sizeof(to->of[0].name)) {
		to->known = false;
		return;
	}
	strcpy(to->of[to->len].name, name);
	to->of[to->len++].kind = kind;
}

static size_t add_text(char *to, size_t len, const char *text, size_t text_len)
{
	for (size_t i = 0; i < text_len && len + 1 < NAME_BYTES; i++)
		to[len++] = text[i] == '/' ? '.' : text[i];
	to[len] = '\0';
	return len;
}

static size_t add_string(char *to, size_t len, const char *text)
{
	return add_text(to, len, text, strlen(text));
}

static void add(struct lc_reach_search *s, char name[NAME_BYTES], size_t len, unsigned elements,
                enum lc_reference kind)
{
	while (elements--)
		len = add_string(name, len, "[]");
	if (len + 1 >= NAME_BYTES)
		s->out->known = false;
	else
		lc_reach_add_name(s->out, name, (uint8_t)kind);
}

static void add_field(struct lc_reach_search *s, const struct lc_reach_place *p,
                      const struct lc_reached_source *src, unsigned elements)
{
	struct lc_class_ref ref;
	char name[NAME_BYTES];
	size_t len = 0;

	if (!lc_class_field_ref(&p->code->file.cls, src->index, &ref)) {
		s->out->known = false;
		return;
	}
	if (src->kind == LC_REACHED_CLASS) {
		len = add_string(name, 0, "class ");
		len = add_text(name, len, ref.holder.data, ref.holder.len);
		add(s, name, len, elements, LC_REFERENCE_CLASS);
		return;
	}
	len = add_text(name, 0, ref.holder.data, ref.holder.len);
	len = add_string(name, len, ".");
	len = add_text(name, len, ref.name.data, ref.name.len);
	add(s, name, len, elements,
	    src->kind == LC_REACHED_FIELD ? LC_REFERENCE_FIELD : LC_REFERENCE_STATIC);
}

static const char *primitive(char type)
{
	static const char *const names[] = { "Zboolean", "Cchar",  "Ffloat", "Ddouble",
		                             "Bbyte",    "Sshort", "Iint",   "Jlong" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i][0] == type)
			return names[i] + 1;
	return "";
}

static void add_new(struct lc_reach_search *s, const struct lc_reach_place *p,
                    const struct lc_reached_source *src, unsigned elements)
{
	char name[NAME_BYTES], element;
	/* An element of it is not new. */
	size_t len = add_string(name, 0, elements ? "(new " : "new "), arrays = 0;
	bool array;
	struct lc_class_text class =
	    lc_reached_made(p->code->reached, src->index, &array, &element);

	while (arrays < class.len && class.data[arrays] == '[')
		arrays++;
	if (element)
		len = add_string(name, len, primitive(element));
	else if (arrays && arrays < class.len && class.data[arrays] != 'L')
		len = add_string(name, len, primitive(class.data[arrays]));
	else if (arrays && arrays + 2 < class.len)
		len = add_text(name, len, class.data + arrays + 1, class.len - arrays - 2);
	else
		len = add_text(name, len, class.data, class.len);
	for (arrays += array; arrays; arrays--)
		len = add_string(name, len, "[]");
	if (elements)
		len = add_string(name, len, ")");
	add(s, name, len, elements, LC_REFERENCE_NEW);
}

/* The number of the argument, from 1, that arrives in a local variable. */
static unsigned argument_number(struct lc_class_text d, bool is_static, uint32_t slot)
{
	const char *at = d.data + 1, *end = d.data + d.len;
	uint32_t there = !is_static;
	unsigned number = 1;

	while (d.len && at < end && *at != ')' && there < slot) {
		there += *at == 'J' || *at == 'D' ? 2 : 1;
		at = lc_insn_skip_type(at, end);
		number++;
	}
	return number;
}

static void add_parameter(struct lc_reach_search *s, const struct lc_reach_place *p, uint32_t slot,
                          unsigned elements)
{
	const struct lc_class *c = &p->code->file.cls;
	const struct lc_member *m = &p->code->file.method;
	const bool is_static = m->access_flags & ACC_STATIC;
	const struct lc_class_text class = lc_class_name(c, c->this_class);
	const struct lc_class_text method = lc_class_utf8(c, m->name);
	char name[NAME_BYTES], number[16] = "(this)";
	size_t len = add_text(name, 0, class.data, class.len);

	len = add_string(name, len, ".");
	len = add_text(name, len, method.data, method.len);
	if (is_static || slot)
		(void)snprintf(number, sizeof(number), "(%u)",
		               argument_number(lc_class_utf8(c, m->descriptor), is_static, slot));
	len = add_string(name, len, number);
	add(s, name, len, elements, LC_REFERENCE_PARAMETER);
}

static void add_result(struct lc_reach_search *s, const struct lc_class_ref *called,
                       unsigned elements)
{
	char name[NAME_BYTES];
	size_t len = 0;

	if (!called->name.len) { /* invokedynamic */
		len = add_string(name, 0, "(lambda)");
	} else {
		len = add_text(name, 0, called->holder.data, called->holder.len);
		len = add_string(name, len, ".");
		len = add_text(name, len, called->name.data, called->name.len);
		len = add_string(name, len, "()");
	}
	add(s, name, len, elements, LC_REFERENCE_RESULT);
}

/* ---- parameters ---- */

static void text_to(char *to, size_t size, struct lc_class_text t, bool dots)
{
	size_t len = t.len < size ? t.len : 0;

	for (size_t i = 0; i < len; i++)
		to[i] = dots && t.data[i] == '/' ? '.' : t.data[i];
	to[len] = '\0';
}

/* Does the instruction at `at` call the method of `callee`? */
static bool calls(const struct lc_reach_code *code, uint32_t at, const struct lc_reach_code *callee)
{
	const struct lc_class *c = &callee->file.cls;
	const struct lc_class_text name = lc_class_utf8(c, callee->file.method.name);
	const struct lc_class_text descriptor = lc_class_utf8(c, callee->file.method.descriptor);
	struct lc_class_ref ref;
	const uint8_t op = lc_reached_called(code->reached, at, &ref);

	return op && op != LC_OP_INVOKEDYNAMIC && ref.name.len == name.len &&
	       ref.descriptor.len == descriptor.len &&
	       !memcmp(ref.name.data, name.data, name.len) &&
	       !memcmp(ref.descriptor.data, descriptor.data, descriptor.len);
}

/* Go on with the caller's argument. Returns false where that is not known. */
static bool follow_argument(struct lc_reach_search *s, const struct lc_reach_place *p,
                            uint32_t slot, unsigned elements)
{
	const struct lc_path_node *node = p->node ? lc_path_get(p->node) : NULL;
	const struct lc_path_node *up = node && node->parent ? lc_path_get(node->parent) : NULL;
	const struct lc_method *method = up ? lc_method_get(up->method) : NULL;
	struct lc_reach_place caller = { .depth = p->depth + 1 };
	struct lc_reached_sources found;
	bool known = false;

	if (p->caller) {
		if (!lc_reached_argument(p->caller->code->reached, p->call, slot, &found))
			return false;
		follow(s, p->caller, &found, elements);
		return true;
	}
	if (!method || up->bci == LC_BCI_NONE || caller.depth > LC_REACH_FRAMES ||
	    ++s->steps > LC_REACH_STEPS)
		return false;
	caller.node = node->parent;
	caller.code = lc_reach_open(s->jni, lc_method_id(method), method->code_bytes);
	if (caller.code && calls(caller.code, up->bci, p->code) &&
	    lc_reached_argument(caller.code->reached, up->bci, slot, &found) && found.known) {
		follow(s, &caller, &found, elements);
		known = true;
	}
	lc_reach_release(caller.code);
	return known;
}

/* ---- results ---- */

/* Is it this method that runs when it is called, rather than one that overrides it? */
static bool is_exact(JNIEnv *jni, jmethodID method, uint8_t op)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jint method_flags = 0, class_flags = 0;
	jclass class = NULL;

	if (op == LC_OP_INVOKESTATIC || op == LC_OP_INVOKESPECIAL)
		return true;
	if ((*jvmti)->GetMethodModifiers(jvmti, method, &method_flags) ||
	    (*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) || !class)
		return false;
	if ((*jvmti)->GetClassModifiers(jvmti, class, &class_flags))
		class_flags = 0;
	(*jni)->DeleteLocalRef(jni, class);
	return method_flags & (ACC_PRIVATE | ACC_FINAL) || class_flags & ACC_FINAL;
}

jmethodID lc_reach_called(struct lc_reach_search *s, const struct lc_reach_place *p,
                          const struct lc_class_ref *ref, uint8_t op)
{
	char class[NAME_BYTES], name[NAME_BYTES], descriptor[NAME_BYTES * 2];
	jmethodID method;

	text_to(class, sizeof(class), ref->holder, true);
	text_to(name, sizeof(name), ref->name, false);
	text_to(descriptor, sizeof(descriptor), ref->descriptor, false);
	if (!*class || !*name || !*descriptor)
		return NULL;
	method = lc_loaded_code_find(s->jni, p->code->method, class, name, descriptor);
	return method && is_exact(s->jni, method, op) ? method : NULL;
}

static bool follow_result(struct lc_reach_search *s, const struct lc_reach_place *p, uint32_t at,
                          const struct lc_class_ref *ref, uint8_t op, unsigned elements)
{
	struct lc_reach_place callee = { .caller = p, .call = at, .depth = p->depth + 1 };
	struct lc_reached_sources found;
	bool known = false;
	jmethodID method;

	if (op == LC_OP_INVOKEDYNAMIC || callee.depth > LC_REACH_FRAMES ||
	    ++s->steps > LC_REACH_STEPS)
		return false;
	method = lc_reach_called(s, p, ref, op);
	callee.code = method ? lc_reach_open(s->jni, method, LC_REACH_ANY_BYTES) : NULL;
	if (callee.code && lc_reached_returned(callee.code->reached, &found) && found.known) {
		follow(s, &callee, &found, elements);
		known = true;
	}
	lc_reach_release(callee.code);
	return known;
}

/* ---- sources ---- */

static void follow_one(struct lc_reach_search *s, const struct lc_reach_place *p,
                       const struct lc_reached_source *src, unsigned elements)
{
	struct lc_class_ref called = { 0 };
	char name[NAME_BYTES];
	uint8_t op;

	switch ((enum lc_reached_kind)src->kind) {
	case LC_REACHED_FIELD:
	case LC_REACHED_STATIC:
	case LC_REACHED_CLASS:
		add_field(s, p, src, elements);
		break;
	case LC_REACHED_PARAMETER:
		if (!follow_argument(s, p, src->index, elements))
			add_parameter(s, p, src->index, elements);
		break;
	case LC_REACHED_RESULT:
		op = lc_reached_called(p->code->reached, src->index, &called);
		if (!op)
			s->out->known = false;
		else if (!follow_result(s, p, src->index, &called, op, elements))
			add_result(s, &called, elements);
		break;
	case LC_REACHED_NEW:
		add_new(s, p, src, elements);
		break;
	case LC_REACHED_CONSTANT:
		add(s, name, add_string(name, 0, "(constant)"), elements, LC_REFERENCE_CONSTANT);
		break;
	case LC_REACHED_CAUGHT:
		add(s, name, add_string(name, 0, "(caught exception)"), elements,
		    LC_REFERENCE_CAUGHT);
		break;
	}
}

static void follow(struct lc_reach_search *s, const struct lc_reach_place *p,
                   const struct lc_reached_sources *from, unsigned elements)
{
	s->out->known &= from->known;
	for (unsigned i = 0; i < from->len && s->out->known; i++)
		follow_one(s, p, &from->of[i], elements + from->of[i].elements);
}

void lc_reach_follow(struct lc_reach_search *s, const struct lc_reach_place *p,
                     const struct lc_reached_sources *from)
{
	follow(s, p, from, 0);
}
