/* uses: analyzer/model/program_name.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_program_name.c - checks which word of a command names the program, and which the JDK. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/model/program_name.h"

static void expect(const char *command, const char *expected)
{
	const struct lc_text name = lc_program_name(command);

	assert_int_equal(name.len, strlen(expected));
	assert_memory_equal(name.bytes, expected, name.len);
}

static void a_class_or_a_jar_names_the_program(void **state)
{
	expect("java Main", "Main");
	expect("/usr/bin/java -Xmx1g -XX:+UseSerialGC org.example.Main run Other",
	       "org.example.Main");
	expect("java -jar /opt/lib/server.jar --port 80", "server.jar");
	expect("java @arguments -m app/org.example.Main", "org.example.Main");
}

static void the_value_of_an_option_is_no_program(void **state)
{
	expect("java -cp a.jar:b.jar Main", "Main");
	expect("java --module-path lib --add-modules a,b Main", "Main");
	expect("java --enable-native-access org.example -cp a.jar Main", "Main");
	expect("java --source 17 Hello.java", "Hello.java");
}

static void a_longer_option_has_its_value_within(void **state)
{
	expect("java --source=17 Hello.java", "Hello.java");
	expect("java -cps Main other", "Main");
	expect("java -c Main other", "Main");
}

static void other_commands_are_named_by_their_first_word(void **state)
{
	expect("javac -cp a.jar Main.java", "javac");
	expect("/opt/tools/server --source 17", "server");
	expect("java -cp", "java");
	expect("java", "java");
}

static void the_version_of_the_jdk(void **state)
{
	const struct lc_text short_one =
	    lc_program_jdk("OpenJDK 64-Bit Server VM 17.0.15+6-Debian");
	const struct lc_text whole = lc_program_jdk("some VM");

	assert_int_equal(short_one.len, strlen("17.0.15"));
	assert_memory_equal(short_one.bytes, "17.0.15", short_one.len);
	assert_int_equal(whole.len, strlen("some VM"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_class_or_a_jar_names_the_program),
		cmocka_unit_test(the_value_of_an_option_is_no_program),
		cmocka_unit_test(a_longer_option_has_its_value_within),
		cmocka_unit_test(other_commands_are_named_by_their_first_word),
		cmocka_unit_test(the_version_of_the_jdk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
