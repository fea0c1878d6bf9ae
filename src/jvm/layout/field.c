/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/field.c - learns and keeps the fields of the classes that were asked for.
 *
 * A class's fields are asked of the JVM: their names by JVMTI, their offsets by
 * jdk.internal.misc.Unsafe.objectFieldOffset(Class, String), which neither initialises the class
 * nor loads another. The class of a Klass * is found among those of its name: each mirror holds its
 * Klass *. One that has no method, or a name of its own, is found among all loaded ones: such a
 * search takes milliseconds, and learns every class that was asked for since the last one. Searches
 * take at most 2% of a CPU.
 *
 * Learnt fields are valid while a weak reference to the class is alive. So a Klass * that is used
 * again after unloading is learnt anew.
 */
#include "src/jvm/layout/field.h"

#include <Judy.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/descriptor.h"
#include "src/base/time.h"
#include "src/core/epoch.h"
#include "src/core/jvmti.h"
#include "src/core/own_cost.h"
#include "src/core/record.h"
#include "src/core/refs.h"
#include "src/jvm/layout/field_impl.h"
#include "src/jvm/layout/field_layout.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/os/handle.h"
#include "src/jvm/os/peek.h"

#define MS INT64_C(1000000)

enum {
	CLASSES_MAX = 4096,     /* learnt at a time; then all are forgotten and learnt as needed */
	FIELDS_MAX = 1 << 18,   /* of all of them */
	NAMES_MAX = 1 << 16,    /* interned for ever */
	NAME_BYTES_MAX = 256,   /* a longer name is not told */
	BATCH = 256,            /* mirrors read in one call */
	RETRY_MS = 1000,        /* for a class that was not found */
	SEARCH_CREDIT_MS = 100, /* searches at the beginning come in a burst */
	SEARCH_PART = 50,       /* one part of the time in so many */
};

struct class_fields {
	uint64_t klass; /* as klass.h numbers them */
	jweak class;    /* NULL: asked for, and not found yet */
	uint64_t retry_ns;
	uint32_t told; /* in which telling lc_field_learnt() has returned it */
	struct lc_field_table table;
};

/* Writer's own, but for what lc_field_init() sets and lc_field_offset() reads. */
static struct {
	bool ready; /* lc_field_init() succeeded */
	struct lc_field_classes of;
	Pvoid_t classes; /* address of a Klass -> struct class_fields * */
	size_t classes_len, fields_len;
	Pvoid_t names; /* text -> the interned one */
	size_t names_len;
	uint32_t telling; /* lc_field_tell_again() has begun it, from 1 */
	int64_t credit_ns;
	uint64_t credited_ns;
} field;

int lc_field_init(JNIEnv *jni, const struct lc_field_classes *classes)
{
	int err;

	if (field.ready)
		return -EALREADY;
	if (lc_layout()->class_klass < 0 || lc_layout()->klass_layout_helper < 0)
		return -ENOTSUP;
	field.of = *classes;
	field.telling = 1;
	field.credit_ns = SEARCH_CREDIT_MS * MS;
	field.credited_ns = lc_time_now_ns();
	err = lc_field_ask_init(jni);
	field.ready = !err;
	return err;
}

/*
 * A class is known by its address, with a count of those that were there before in the upper bits.
 */
static uint64_t address_of(uint64_t klass)
{
	return klass & LC_ADDR_MASK;
}

/* Names */

static const char *intern(const char *name)
{
	Word_t *slot = NULL;
	char *copy;

	if (strlen(name) >= NAME_BYTES_MAX)
		return NULL;
	JSLG(slot, field.names, (const uint8_t *)name);
	if (slot)
		return (const char *)*slot;
	copy = field.names_len < NAMES_MAX ? strdup(name) : NULL;
	if (!copy)
		return NULL;
	JSLI(slot, field.names, (const uint8_t *)name);
	if (!slot || slot == PJERR) {
		free(copy);
		return NULL;
	}
	*slot = (Word_t)copy;
	field.names_len++;
	return copy;
}

/* "Base.value" for the field `value` of `class`, where a subclass has one of that name. */
static const char *qualified(jclass class, const char *name)
{
	char *signature = NULL, text[2 * NAME_BYTES_MAX];
	const char *simple, *slash, *dollar;

	if ((*lc_jvmti())->GetClassSignature(lc_jvmti(), class, &signature, NULL))
		return NULL;
	simple = signature + (signature[0] == 'L');
	slash = strrchr(simple, '/');
	if (slash)
		simple = slash + 1;
	dollar = strrchr(simple, '$');
	if (dollar && dollar[1] && dollar[1] != ';')
		simple = dollar + 1;
	snprintf(text, sizeof(text), "%.*s.%s", (int)strcspn(simple, ";"), simple, name);
	(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)signature);
	return intern(text);
}

static bool table_has(const struct lc_field_table *t, const char *name)
{
	for (size_t i = 0; i < t->len; i++)
		if (t->entries[i].name == name)
			return true;
	return false;
}

/* Learning a class */

/* Bytes of a field of this type; 0: it is no type. */
static uint8_t width_of(const char *signature)
{
	return (uint8_t)lc_descriptor_bytes(signature, lc_layout()->reference_bytes);
}

static void learn_declared(JNIEnv *jni, jclass class, const struct lc_field_declared *d,
                           struct lc_field_table *t)
{
	for (jint i = 0; i < d->len; i++) {
		const char *name = d->at[i].name ? intern(d->at[i].name) : NULL;
		uint8_t bytes = name ? width_of(d->at[i].signature) : 0;
		int64_t offset =
		    bytes && !lc_field_is_double(d, i) ? lc_field_ask_offset(jni, class, name) : -1;

		if (name && table_has(t, name))
			name = qualified(class, name);
		if (!name || offset < 0 || offset > UINT32_MAX) {
			t->incomplete = true;
			continue;
		}
		t->entries[t->len++] = (struct lc_field_entry){
			.offset = (uint32_t)offset,
			.bytes = bytes,
			.name = name,
		};
	}
}

/* The JVM adds fields of its own to some classes of these packages. */
static bool may_have_internal(const char *signature)
{
	return (!strncmp(signature, "Ljava/lang/", 11) &&
	        strcmp(signature, "Ljava/lang/Object;") != 0) ||
	       !strncmp(signature, "Ljdk/internal/", 14);
}

/* Add the fields that `class` itself declares to *t. Returns 0 or -errno. */
static int learn_one(JNIEnv *jni, jclass class, struct lc_field_table *t)
{
	struct lc_field_entry *bigger;
	struct lc_field_declared d;
	char *signature = NULL;
	int err;

	if ((*lc_jvmti())->GetClassSignature(lc_jvmti(), class, &signature, NULL))
		return -EAGAIN;
	t->internal |= may_have_internal(signature);
	t->mirror |= !strcmp(signature, "Ljava/lang/Class;");
	(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)signature);
	err = lc_field_declared(class, &d);
	if (err)
		return err;
	bigger = realloc(t->entries, (t->len + (size_t)d.len + 1) * sizeof(*bigger));
	if (bigger) {
		t->entries = bigger;
		learn_declared(jni, class, &d, t);
	}
	lc_field_declared_free(&d);
	return bigger ? 0 : -ENOMEM;
}

/*
 * HotSpot's summary of a class's layout: positive for instances, negative for arrays; 0: unknown.
 */
static int32_t layout_helper(uint64_t klass)
{
	int32_t helper = 0;

	return lc_peek(address_of(klass) + (uint64_t)lc_layout()->klass_layout_helper, &helper,
	               sizeof(helper))
	           ? helper
	           : 0;
}

/* Fill *t with the fields of `class` and its superclasses. Returns 0 or -errno, *t empty. */
static int learn(JNIEnv *jni, jclass class, uint64_t klass, struct lc_field_table *t)
{
	jclass at = (*jni)->NewLocalRef(jni, class);
	int32_t helper = layout_helper(klass);
	int err = 0;

	*t = (struct lc_field_table){ 0 };
	while (at && !err) {
		jclass super = (*jni)->GetSuperclass(jni, at);

		err = learn_one(jni, at, t);
		(*jni)->DeleteLocalRef(jni, at);
		at = super;
	}
	if (at)
		(*jni)->DeleteLocalRef(jni, at);
	if (helper > 0) /* bytes of an instance; the lowest bit is a flag */
		t->instance_bytes = (uint64_t)helper & ~UINT64_C(7);
	if (err) {
		free(t->entries);
		*t = (struct lc_field_table){ 0 };
	}
	lc_field_table_sort(t);
	return err;
}

/* The table of classes */

static struct class_fields *class_get(uint64_t address)
{
	Word_t *slot = NULL;

	JLG(slot, field.classes, address);
	return slot ? (struct class_fields *)*slot : NULL;
}

static void class_forget(JNIEnv *jni, struct class_fields *c)
{
	if (c->class)
		lc_ref_delete(jni, c->class);
	field.fields_len -= c->table.len;
	free(c->table.entries);
	*c = (struct class_fields){ .klass = c->klass };
}

static void forget_all(JNIEnv *jni)
{
	Word_t address = 0, *slot = NULL, freed;

	JLF(slot, field.classes, address);
	while (slot) {
		class_forget(jni, (struct class_fields *)*slot);
		free((void *)*slot);
		JLN(slot, field.classes, address);
	}
	JLFA(freed, field.classes);
	(void)freed;
	field.classes_len = 0;
}

static struct class_fields *class_add(JNIEnv *jni, uint64_t klass)
{
	struct class_fields *c;
	Word_t *slot = NULL;

	if (field.classes_len >= CLASSES_MAX || field.fields_len >= FIELDS_MAX)
		forget_all(jni);
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	JLI(slot, field.classes, address_of(klass));
	if (!slot || slot == PJERR) {
		free(c);
		return NULL;
	}
	*slot = (Word_t)c;
	c->klass = klass;
	field.classes_len++;
	return c;
}

/* Searching the loaded classes */

/*
 * The Klass * of each of `len` mirrors; 0 where it cannot be told. A collection may move the
 * mirrors meanwhile: then what was read is not used.
 */
static bool klasses_of(const jclass *classes, size_t len,
                       uint64_t *out) /* NOLINT(readability-non-const-parameter) */
{
	struct iovec local = { out, len * sizeof(out[0]) }, remote[BATCH];
	uint32_t before = lc_epoch_gc_sequence();
	bool whole;

	for (size_t i = 0; i < len; i++) {
		uint64_t mirror = lc_handle_address(classes[i]);

		remote[i] =
		    lc_peek_part(mirror + (uint64_t)lc_layout()->class_klass, sizeof(out[0]));
	}
	whole = lc_peek_parts(&local, 1, remote, len) == local.iov_len;
	return whole && !lc_epoch_gc_sequence_moving(before) && lc_epoch_gc_sequence() == before;
}

/* NULL: not known. */
static const char *name_of(const struct class_fields *c)
{
	return field.of.signature_of ? field.of.signature_of(c->klass) : NULL;
}

/* `class` is that of c->klass, unless the address is used again: its name must agree. */
static void learn_found(JNIEnv *jni, jclass class, struct class_fields *c)
{
	const char *wanted = name_of(c);
	char *signature = NULL;

	if ((*lc_jvmti())->GetClassSignature(lc_jvmti(), class, &signature, NULL))
		return;
	if ((!wanted || !strcmp(wanted, signature)) && !learn(jni, class, c->klass, &c->table)) {
		c->class = lc_ref_new_weak(jni, class);
		lc_field_clear(jni);
		field.fields_len += c->table.len;
		if (!c->class)
			class_forget(jni, c);
	}
	(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)signature);
}

static void search_batch(JNIEnv *jni, const jclass *classes, size_t len)
{
	uint64_t klasses[BATCH];
	bool read = false;

	for (unsigned attempt = 0; attempt < 4 && !read; attempt++) {
		jobject wait;

		read = klasses_of(classes, len, klasses);
		if (read)
			break;
		wait = (*jni)->NewLocalRef(jni, classes[0]); /* returns when no collection runs */
		(*jni)->DeleteLocalRef(jni, wait);
	}
	for (size_t i = 0; read && i < len; i++) {
		struct class_fields *c = klasses[i] ? class_get(klasses[i]) : NULL;

		if (c && !c->class)
			learn_found(jni, classes[i], c);
	}
}

static bool is_found(JNIEnv *jni, jclass class, void *user)
{
	const struct class_fields *c = user;

	search_batch(jni, &class, 1);
	return c->class;
}

/* Learn a class; if it is not among those of its name, all that were asked for and are not known.
 */
static void search(JNIEnv *jni, struct class_fields *c)
{
	const char *signature = name_of(c);
	jclass *loaded;
	jint len;

	if (signature && field.of.each_of)
		field.of.each_of(jni, signature, is_found, c);
	loaded = c->class ? NULL : lc_jvmti_loaded(jni, &len);
	if (!loaded)
		return;
	for (jint i = 0; i < len; i += BATCH)
		search_batch(jni, loaded + i, (size_t)(len - i < BATCH ? len - i : BATCH));
	lc_jvmti_loaded_end(jni, loaded);
}

/*
 * Search if there has been little enough of it. Returns whether it did. The search is paid by the
 * thread's CPU time: it may also wait for a collection, or for threads on their way to one.
 */
static bool search_sparingly(JNIEnv *jni, struct class_fields *c)
{
	const uint64_t now = lc_time_now_ns();
	uint64_t begin;

	field.credit_ns += (int64_t)(now - field.credited_ns) / SEARCH_PART;
	if (field.credit_ns > SEARCH_CREDIT_MS * MS)
		field.credit_ns = SEARCH_CREDIT_MS * MS;
	field.credited_ns = now;
	if (field.credit_ns <= 0)
		return false;
	begin = lc_own_cost_clock();
	search(jni, c);
	field.credit_ns -= (int64_t)(lc_own_cost_clock() - begin);
	return true;
}

/* The fields of a class that is no array, or NULL where they are not known (yet). */
static const struct lc_field_table *fields_of(JNIEnv *jni, uint64_t klass)
{
	struct class_fields *c = class_get(address_of(klass));

	if (!c)
		c = class_add(jni, klass);
	if (!c)
		return NULL;
	/* Unloaded, and the address is used again? */
	if (c->klass != klass || (c->class && (*jni)->IsSameObject(jni, c->class, NULL))) {
		class_forget(jni, c);
		c->klass = klass;
	}
	if (!c->class && lc_time_now_ns() >= c->retry_ns && search_sparingly(jni, c))
		c->retry_ns = lc_time_now_ns() + RETRY_MS * (uint64_t)MS;
	return c->class ? &c->table : NULL;
}

int lc_field_find(JNIEnv *jni, uint64_t klass, uint64_t size_bytes, uint64_t offset,
                  struct lc_field *out)
{
	const struct lc_field_table *t;
	struct lc_field_array array;
	int32_t helper;

	if (!field.ready || !klass)
		return -ENOENT;
	helper = layout_helper(klass);
	if (helper < 0)
		return lc_field_array_of_helper(lc_layout(), helper, &array)
		           ? -ENOENT
		           : lc_field_in_array(lc_layout(), &array, size_bytes, offset, out);
	t = helper > 0 ? fields_of(jni, klass) : NULL;
	return t ? lc_field_in_instance(lc_layout(), t, offset, out) : -ENOENT;
}

const struct lc_field_table *lc_field_learnt(uint64_t klass)
{
	struct class_fields *c = field.ready && klass ? class_get(address_of(klass)) : NULL;

	if (!c || c->klass != klass || !c->class || c->told == field.telling)
		return NULL;
	c->told = field.telling;
	return &c->table;
}

void lc_field_tell_again(void)
{
	field.telling++;
}
