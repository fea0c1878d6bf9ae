/* uses: src/classfile/ src/base/track.c src/delay/delay_class.c src/delay/delay_depth.c src/delay/delay_options.c src/delay/delay_result.c src/delay/delay_rewrite.c tests/unit/class_file.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_delay_rewrite.c - checks the loops before returns, their frames and lines, and what is left
 * alone. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/delay/delay_class.h"
#include "src/delay/delay_options.h"
#include "src/delay/delay_result.h"
#include "src/delay/delay_rewrite.h"
#include "tests/unit/span_file.h"

/* Bytes of the counters, and of all without the return and the load of the value. */
enum { COUNTED = 26, LOOP = COUNTED + 47, HEAD_AT = COUNTED + 10, EXIT_AT = COUNTED + 33 };
enum { NONE_AT = 15, DONE_AT = LOOP };
enum {
	ICONST_0 = 3,
	IRETURN = 172,
	ARETURN = 176,
	LRETURN = 173,
	FRAME_FULL = 255,
	FRAME_CHOP_2 = 249,
	FRAME_APPEND_2 = 253
};

struct delayed {
	enum lc_rewrite_status status;
	struct lc_delay_result result;
	struct rewritten r; /* its class alone */
};

/* Delay method "m" of class A; ends and frees the class. */
static void delay(struct class_file *c, struct delayed *out)
{
	const struct lc_delay d = { .class_name = "A", .method = "m" };
	size_t len;
	uint8_t *bytes = class_end(c, &len);

	memset(out, 0, sizeof(*out));
	out->status = lc_delay_rewrite(bytes, len, &d, 1, &out->result, &out->r.result.bytes,
	                               &out->r.result.len);
	free(bytes);
	class_free(c);
	out->r.status = out->status;
	if (out->status == LC_REWRITE_DONE)
		assert_int_equal(lc_class_open(out->r.result.bytes, out->r.result.len, &out->r.cls),
		                 LC_REWRITE_DONE);
	else
		assert_null(out->r.result.bytes);
}

/* The same of a class whose one method has that descriptor and code. */
static void delay_code(const char *descriptor, struct code_spec *spec, struct delayed *out)
{
	struct class_file c;

	class_begin(&c, "A");
	class_method(&c, "m", descriptor, spec);
	delay(&c, out);
}

static void return_becomes_a_jump_to_a_loop_behind_the_code(void **state)
{
	struct code_spec spec = CODE(NOP, RETURN);
	struct delayed d;
	struct lc_method_code code;
	struct lc_class_ref ref;
	const uint8_t *loop;

	delay_code("()V", &spec, &d);
	assert_int_equal(d.status, LC_REWRITE_DONE);
	assert_int_equal(d.result.state, LC_DELAY_IN_PLACE);
	assert_int_equal(d.result.methods[LC_DELAY_IN_PLACE], 1);
	assert_int_equal(d.result.returns, 1);
	code = rewritten_code(&d.r, 0);
	assert_int_equal(code.len, 1 + 3 + LOOP + 1);
	assert_int_equal(code.max_locals, 10 + 3);
	assert_int_equal(code.max_stack, 10 + 4);
	assert_int_equal(code.insns[1], LC_OP_GOTO);
	assert_int_equal(lc_be_get2(code.insns + 2), 3);
	loop = code.insns + 4;
	assert_int_equal(loop[LOOP], RETURN);
	assert_int_equal(loop[HEAD_AT - 5], LC_OP_GETSTATIC);
	assert_true(lc_class_field_ref(&d.r.cls, lc_be_get2(loop + HEAD_AT - 4), &ref));
	assert_true(lc_class_text_is(ref.name, "n0"));
	/* ifle leads to the exit, goto to the head, ifne to the return. */
	assert_int_equal(HEAD_AT + 2 + lc_be_get2s(loop + HEAD_AT + 3), EXIT_AT);
	assert_int_equal(EXIT_AT - 3 + lc_be_get2s(loop + EXIT_AT - 2), HEAD_AT);
	assert_int_equal(EXIT_AT + 6 + lc_be_get2s(loop + EXIT_AT + 7), DONE_AT);
	/* Executions without a loop go to the return, too. */
	assert_int_equal(NONE_AT + lc_be_get2s(loop + NONE_AT + 1), DONE_AT);
	rewritten_free(&d.r);
}

static void loop_runs_at_each_nth_execution(void **state)
{
	static const uint32_t every[] = { 0, 1, 1 << 20 }, masks[] = { 0, 0, (1 << 20) - 1 };

	for (size_t i = 0; i < sizeof(every) / sizeof(every[0]); i++) {
		const struct lc_delay m = { "A", "m", NULL, 1, every[i] };
		struct code_spec spec = CODE(RETURN);
		struct class_file c;
		struct rewritten r = { .status = LC_REWRITE_DONE };
		struct lc_delay_result result;
		const uint8_t *mask;
		uint8_t *bytes;
		size_t len;

		class_begin(&c, "A");
		class_method(&c, "m", "()V", &spec);
		bytes = class_end(&c, &len);
		class_free(&c);
		assert_int_equal(
		    lc_delay_rewrite(bytes, len, &m, 1, &result, &r.result.bytes, &r.result.len),
		    LC_REWRITE_DONE);
		free(bytes);
		assert_int_equal(lc_class_open(r.result.bytes, r.result.len, &r.cls),
		                 LC_REWRITE_DONE);
		/* goto, getstatic, lconst_1, ladd, dup2, putstatic, ldc2_w */
		bytes = (uint8_t *)(uintptr_t)rewritten_code(&r, 0).insns;
		mask = r.cls.bytes + r.cls.pool[lc_be_get2(bytes + 3 + 10)];
		assert_int_equal(lc_be_get4(mask + 1), 0);
		assert_int_equal(lc_be_get4(mask + 5), masks[i]);
		rewritten_free(&r);
	}
}

/* Step over the frame at *p; checks its type and its distance. */
static void take_frame(const uint8_t **p, uint8_t type, uint32_t distance, const char *types)
{
	size_t len = strlen(types) / 2;

	if (type < 64) {
		assert_int_equal(**p, distance);
		*p += 1;
	} else {
		assert_int_equal(**p, type);
		assert_int_equal(lc_be_get2(*p + 1), distance);
		*p += 3;
	}
	for (size_t i = 0; i < len; i++) {
		char hex[3];

		snprintf(hex, sizeof(hex), "%02x", (*p)[i]);
		if (memcmp(types + 2 * i, "..", 2) != 0)
			assert_memory_equal(hex, types + 2 * i, 2);
	}
	*p += len;
}

static void frames_of_a_loop_hold_the_value_and_its_own_variables(void **state)
{
	static const struct {
		const char *descriptor, *types;
		uint8_t push, op;
	} kinds[] = { { "()I", "000b00000000000000000000010000", ICONST_0, IRETURN },
		      { "()J", "000b00000000000000000000040000", 9, LRETURN },
		      { "()F", "000b00000000000000000000020000", 11, 174 },
		      { "()D", "000b00000000000000000000030000", 14, 175 },
		      { "()[Lx/Y;", "000b0000000000000000000007....0000", 1, ARETURN } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct code_spec spec = CODE(kinds[i].push, kinds[i].op);
		const uint32_t jump = 1 + 2 + 3;
		const uint8_t *map, *p;
		struct delayed d;
		uint32_t len;

		delay_code(kinds[i].descriptor, &spec, &d);
		assert_int_equal(d.status, LC_REWRITE_DONE);
		map = rewritten_attribute(&d.r, 0, "StackMapTable", &len);
		assert_non_null(map);
		assert_int_equal(lc_be_get2(map), 4);
		p = map + 2;
		take_frame(&p, FRAME_FULL, jump, kinds[i].types);
		if (kinds[i].op == ARETURN)
			assert_true(
			    lc_class_text_is(lc_class_name(&d.r.cls, lc_be_get2(p - 4)), "[Lx/Y;"));
		take_frame(&p, FRAME_APPEND_2, HEAD_AT - 1, "0401");
		take_frame(&p, 0, EXIT_AT - HEAD_AT - 1, "");
		take_frame(&p, FRAME_CHOP_2, DONE_AT - EXIT_AT - 1, "");
		assert_int_equal(p - map, len);
		rewritten_free(&d.r);
	}
}

static void frames_of_the_method_stay_and_old_classes_get_none(void **state)
{
	/* 0 iconst_0; 1 ifeq 5; 4 return; 5 return, where a frame is */
	static const uint8_t frames[] = { 0, 1, 5 }, lines[] = { 0, 2, 0, 0, 0, 7, 0, 5, 0, 9 };

	for (uint16_t major = 49; major <= 52; major += 3) {
		struct code_spec spec = CODE(ICONST_0, 153, 0, 4, RETURN, RETURN);
		struct class_file c;
		struct delayed d;
		const uint8_t *map, *p;
		uint32_t len;

		class_begin(&c, "A");
		c.major = major;
		class_attribute(&c, &spec, "StackMapTable", frames, sizeof(frames));
		class_attribute(&c, &spec, "LineNumberTable", lines, sizeof(lines));
		class_method(&c, "m", "()V", &spec);
		delay(&c, &d);
		assert_int_equal(d.status, LC_REWRITE_DONE);
		assert_int_equal(d.result.returns, 2);
		map = rewritten_attribute(&d.r, 0, "StackMapTable", &len);
		p = rewritten_attribute(&d.r, 0, "LineNumberTable", &len);
		/* The lines of the returns, and behind them those of their loops. */
		assert_int_equal(lc_be_get2(p), 4);
		assert_int_equal(lc_be_get4(p + 2), 7);
		assert_int_equal(lc_be_get4(p + 6), 7 << 16 | 9);
		assert_int_equal(lc_be_get4(p + 10), 10 << 16 | 7);
		assert_int_equal(lc_be_get4(p + 14), (10 + LOOP + 1) << 16 | 9);
		if (major < LC_CLASS_MAJOR_STACKMAP) {
			assert_null(map);
		} else {
			assert_int_equal(lc_be_get2(map), 1 + 2 * 4);
			p = map + 2;
			take_frame(&p, 0, 7, "");
			take_frame(&p, FRAME_FULL, 2, "000a000000000000000000000000");
		}
		rewritten_free(&d.r);
	}
}

static void return_over_a_stack_that_is_not_empty_is_skipped(void **state)
{
	/* iconst_0; iconst_0; ireturn: one word is below the value */
	struct code_spec deep = CODE(ICONST_0, ICONST_0, IRETURN);
	/* 0 iconst_0; 1 ifeq 7; 4 iconst_0; 5 iconst_0; 6 ireturn; 7 iconst_0; 8 ireturn */
	struct code_spec one =
	    CODE(ICONST_0, 153, 0, 6, ICONST_0, ICONST_0, IRETURN, ICONST_0, IRETURN);
	struct delayed d;

	delay_code("()I", &deep, &d);
	assert_int_equal(d.status, LC_REWRITE_NOTHING);
	assert_int_equal(d.result.state, LC_DELAY_NO_RETURN);
	delay_code("()I", &one, &d);
	assert_int_equal(d.status, LC_REWRITE_DONE);
	assert_int_equal(d.result.returns, 1);
	assert_int_equal(rewritten_code(&d.r, 0).insns[6], IRETURN);
	rewritten_free(&d.r);
}

static void depths_that_differ_matter_where_there_are_frames(void **state)
{
	for (uint16_t major = 48; major <= 52; major += 4) {
		/* 0 iconst_0; 1 ifeq 6; 4 iconst_0; 5 nop; 6 iconst_0; 7 ireturn */
		struct code_spec spec = CODE(ICONST_0, 153, 0, 5, ICONST_0, NOP, ICONST_0, IRETURN);
		const bool old = major < LC_CLASS_MAJOR_STACKMAP;
		struct class_file c;
		struct delayed d;

		class_begin(&c, "A");
		c.major = major;
		class_method(&c, "m", "()I", &spec);
		delay(&c, &d);
		assert_int_equal(d.status, old ? LC_REWRITE_DONE : LC_REWRITE_NOTHING);
		assert_int_equal(d.result.state, old ? LC_DELAY_IN_PLACE : LC_DELAY_MALFORMED);
		if (old)
			rewritten_free(&d.r);
	}
}

static void what_cannot_be_delayed_is_said(void **state)
{
	static const struct {
		const char *name;
		uint16_t flags;
		enum lc_delay_state state;
	} methods[] = { { "m", 0x101, LC_DELAY_NATIVE },
		        { "m", 0x401, LC_DELAY_ABSTRACT },
		        { "n", 0x401, LC_DELAY_NO_METHOD } };
	const struct lc_delay init = { .class_name = "A", .method = "<init>" };
	const struct lc_delay other = { .class_name = "B", .method = "m" };
	struct code_spec spec = CODE(RETURN);
	struct lc_delay_result result;
	struct class_file c;
	struct delayed d;
	uint8_t *bytes, *out = NULL;
	size_t len;

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		class_begin(&c, "A");
		c.method_flags = methods[i].flags;
		class_method(&c, methods[i].name, "()V", NULL);
		delay(&c, &d);
		assert_int_equal(d.status, LC_REWRITE_NOTHING);
		assert_int_equal(d.result.state, methods[i].state);
	}
	class_begin(&c, "A");
	class_method(&c, "<init>", "()V", &spec);
	bytes = class_end(&c, &len);
	class_free(&c);
	assert_int_equal(lc_delay_rewrite(bytes, len, &init, 1, &result, &out, &len),
	                 LC_REWRITE_NOTHING);
	assert_int_equal(result.state, LC_DELAY_CONSTRUCTOR);
	assert_int_equal(lc_delay_rewrite(bytes, len, &other, 1, &result, &out, &len),
	                 LC_REWRITE_NOTHING);
	assert_int_equal(result.state, LC_DELAY_NO_CLASS);
	assert_int_equal(lc_delay_rewrite(bytes, 20, &init, 1, &result, &out, &len),
	                 LC_REWRITE_MALFORMED);
	assert_null(out);
	free(bytes);
}

static void descriptor_chooses_one_overload_and_each_delay_has_its_counter(void **state)
{
	static const struct lc_delay delays[] = { { "A", "m", "(J)V", 1, 1 },
		                                  { "A", "m", "(I)V", 2, 1 } };
	struct code_spec a = CODE(RETURN), b = CODE(RETURN), none = CODE(RETURN);
	struct lc_delay_result results[2];
	struct class_file c;
	struct rewritten r = { 0 };
	struct lc_class_ref ref;
	struct lc_method_code code;
	uint8_t *bytes;
	size_t len;

	class_begin(&c, "A");
	class_method(&c, "m", "(I)V", &a);
	class_method(&c, "m", "(J)V", &b);
	class_method(&c, "m", "()V", &none);
	bytes = class_end(&c, &len);
	class_free(&c);
	assert_int_equal(
	    lc_delay_rewrite(bytes, len, delays, 2, results, &r.result.bytes, &r.result.len),
	    LC_REWRITE_DONE);
	free(bytes);
	assert_int_equal(lc_class_open(r.result.bytes, r.result.len, &r.cls), LC_REWRITE_DONE);
	for (unsigned m = 0; m < 2; m++) {
		assert_int_equal(results[m].methods[LC_DELAY_IN_PLACE], 1);
		code = rewritten_code(&r, m);
		assert_int_equal(code.insns[3], LC_OP_GETSTATIC);
		assert_true(lc_class_field_ref(&r.cls, lc_be_get2(code.insns + 4), &ref));
		assert_true(lc_class_text_is(ref.holder, LC_DELAY_CLASS));
		assert_true(lc_class_text_is(ref.name, m ? "c0" : "c1"));
	}
	assert_int_equal(rewritten_code(&r, 2).len, 1);
	r.status = LC_REWRITE_DONE;
	rewritten_free(&r);
}

static void far_locals_take_wide_instructions(void **state)
{
	struct code_spec spec = CODE(ICONST_0, IRETURN);
	struct class_file c;
	struct delayed d;
	uint8_t *bytes, *out = NULL;
	size_t len;
	const struct lc_delay delay_m = { .class_name = "A", .method = "m", .iterations = 1 };
	struct lc_method_code code;

	class_begin(&c, "A");
	class_method(&c, "m", "()I", &spec);
	bytes = class_end(&c, &len);
	class_free(&c);
	/* max_locals is behind max_stack, 10, which stands once with the length of the code */
	for (size_t i = 0; i + 8 < len; i++)
		if (!memcmp(bytes + i, (const uint8_t[]){ 0, 10, 0, 10, 0, 0, 0, 2 }, 8))
			lc_be_put2(bytes + i + 2, 300);
	memset(&d, 0, sizeof(d));
	d.status = lc_delay_rewrite(bytes, len, &delay_m, 1, &d.result, &out, &len);
	free(bytes);
	assert_int_equal(d.status, LC_REWRITE_DONE);
	d.r.result.bytes = out;
	d.r.result.len = len;
	assert_int_equal(lc_class_open(out, len, &d.r.cls), LC_REWRITE_DONE);
	code = rewritten_code(&d.r, 0);
	assert_int_equal(code.max_locals, 304);
	assert_int_equal(code.insns[1], LC_OP_WIDE);
	assert_int_equal(code.insns[2], LC_OP_ISTORE);
	assert_int_equal(lc_be_get2(code.insns + 3), 300);
	/* Each instruction is whole to the end. */
	for (uint32_t at = 0, bytes_of; at < code.len; at += bytes_of) {
		bytes_of = lc_method_insn_bytes(&code, at);
		assert_int_not_equal(bytes_of, 0);
	}
	rewritten_free(&d.r);
}

static void class_of_the_fields_is_whole(void **state)
{
	uint8_t *bytes;
	size_t len;
	struct lc_class c;

	assert_true(lc_delay_class_create(3, &bytes, &len));
	assert_int_equal(lc_class_open(bytes, len, &c), LC_REWRITE_DONE);
	assert_true(lc_class_text_is(lc_class_name(&c, c.this_class), LC_DELAY_CLASS));
	assert_int_equal(lc_be_get2(bytes + c.fields), 10);
	assert_true(
	    lc_class_text_is(lc_class_utf8(&c, lc_class_member(&c, c.fields + 2).name), "seed"));
	lc_class_close(&c);
	free(bytes);
}

static void options_are_taken_apart(void **state)
{
	struct lc_delay_options o;
	char error[200];

	assert_int_equal(
	    lc_delay_options_parse(&o, "at=a.B$C.m(I[[Lx/Y;)Lz;:5;d.e.F.g:0/64,out=/a\\,b\\\\c",
	                           error, sizeof(error)),
	    0);
	assert_int_equal(o.delays[0].every, 1);
	assert_int_equal(o.delays[1].every, 64);
	assert_string_equal(o.out, "/a,b\\c");
	assert_int_equal(o.len, 2);
	assert_string_equal(o.delays[0].class_name, "a/B$C");
	assert_string_equal(o.delays[0].method, "m");
	assert_string_equal(o.delays[0].descriptor, "(I[[Lx/Y;)Lz;");
	assert_string_equal(o.asked[0], "a.B$C.m(I[[Lx/Y;)Lz;");
	assert_int_equal(o.delays[0].iterations, 5);
	assert_string_equal(o.delays[1].class_name, "d/e/F");
	assert_null(o.delays[1].descriptor);
	lc_delay_options_free(&o);
}

static void wrong_options_are_refused_with_a_reason(void **state)
{
	static const struct {
		const char *text, *error;
	} wrong[] = {
		{ NULL, "no out=FILE at ''" },
		{ "out=x", "no at=CLASS.METHOD:ITERATIONS at 'out=x'" },
		{ "out=x,out=y", "a second out= at 'y'" },
		{ "out=,at=a.b:1", "no file at ',at=a.b:1'" },
		{ "out=x,at=ab:1", "no CLASS.METHOD at 'ab:1'" },
		{ "out=x,at=.b:1", "no CLASS.METHOD at '.b:1'" },
		{ "out=x,at=a.:1", "no CLASS.METHOD at 'a.:1'" },
		{ "out=x,at=a.b", "no :ITERATIONS of 0 to 2147483647 at 'a.b'" },
		{ "out=x,at=a.b:2147483648",
		  "no :ITERATIONS of 0 to 2147483647 at 'a.b:2147483648'" },
		{ "out=x,at=a.b:1;", "no CLASS.METHOD at ''" },
		{ "out=x,at=a.b(Lx)V:1", "no descriptor of a method at '(Lx)V:1'" },
		{ "out=x,at=a.b(", "no descriptor of a method at '('" },
		{ "out=x,at=a.b:1;a.b(I)V:2", "the same method twice at 'a.b(I)V:2'" },
		{ "out=x,at=a.b:1/6", "no power of two behind / at 'a.b:1/6'" },
		{ "out=x,at=a.b:1/", "no power of two behind / at 'a.b:1/'" },
		{ "out=x,at=a.b:1/0", "no power of two behind / at 'a.b:1/0'" },
		{ "out=x,at=a.b:1/2/2", "no :ITERATIONS of 0 to 2147483647 at 'a.b:1/2/2'" },
		{ "out=x,at=a.b:1,count", "no such option at 'count'" },
		{ "in=x", "no such option at 'in=x'" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct lc_delay_options o;
		char error[200] = "";

		assert_int_equal(lc_delay_options_parse(&o, wrong[i].text, error, sizeof(error)),
		                 -EINVAL);
		assert_string_equal(error, wrong[i].error);
		lc_delay_options_free(&o);
	}
}

static void result_is_whole_json_or_no_file(void **state)
{
	const struct lc_delay_times times = { 1, 2, 1.23456 };
	const struct lc_delay_result results[1] = {
		{ .state = LC_DELAY_IN_PLACE, .methods[LC_DELAY_IN_PLACE] = 2, .returns = 3 }
	};
	const struct lc_delay_counts counts[1] = { { 7, 3 } };
	struct lc_delay_options o;
	char dir[] = "/tmp/test_delay_XXXXXX", text[200], error[200], got[1000] = "";
	FILE *f;

	assert_non_null(mkdtemp(dir));
	snprintf(text, sizeof(text), "out=%s/x,at=a.\"b:4/2", dir);
	assert_int_equal(lc_delay_options_parse(&o, text, error, sizeof(error)), 0);
	assert_int_equal(lc_delay_result_write(&o, results, counts, &times), 0);
	f = fopen(o.out, "r");
	assert_non_null(f);
	assert_true(fread(got, 1, sizeof(got) - 1, f) > 0);
	fclose(f);
	assert_string_equal(
	    got, "{\"format\": 1, \"java_cpu_ns\": 1, \"process_cpu_ns\": 2, "
	         "\"ns_per_iteration\": 1.235,\n"
	         " \"delays\": [\n  {\"method\": \"a.\\\"b\", \"iterations\": 4, "
	         "\"every\": 2, \"state\": \"in place\", "
	         "\"methods\": 2, \"returns\": 3, \"executions\": 7, \"loops\": 3}\n ]}\n");
	unlink(o.out);
	assert_int_equal(rmdir(dir), 0); /* nothing is beside it */
	assert_int_equal(lc_delay_result_write(&o, results, NULL, &times), -ENOENT);
	lc_delay_options_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(return_becomes_a_jump_to_a_loop_behind_the_code),
		cmocka_unit_test(loop_runs_at_each_nth_execution),
		cmocka_unit_test(frames_of_a_loop_hold_the_value_and_its_own_variables),
		cmocka_unit_test(frames_of_the_method_stay_and_old_classes_get_none),
		cmocka_unit_test(return_over_a_stack_that_is_not_empty_is_skipped),
		cmocka_unit_test(depths_that_differ_matter_where_there_are_frames),
		cmocka_unit_test(what_cannot_be_delayed_is_said),
		cmocka_unit_test(descriptor_chooses_one_overload_and_each_delay_has_its_counter),
		cmocka_unit_test(far_locals_take_wide_instructions),
		cmocka_unit_test(class_of_the_fields_is_whole),
		cmocka_unit_test(options_are_taken_apart),
		cmocka_unit_test(wrong_options_are_refused_with_a_reason),
		cmocka_unit_test(result_is_whole_json_or_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
