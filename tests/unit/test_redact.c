/* uses: src/base/redact.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_redact.c - checks which names have secrets, and that their values are not in a command. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/base/redact.h"

#define R LC_REDACTED

static void names_of_secrets(void **state)
{
	static const char *const secret[] = {
		"password",
		"db.password",
		"PASSWORD",
		"DB_PASSWORD",
		"dbPassword",
		"userpasswords",
		"spring.datasource.password",
		"javax.net.ssl.keyStorePassword",
		"javax.net.ssl.trustStorePassword",
		"passwd",
		"passphrase",
		"ssh-key-passphrase",
		"storepass",
		"keypass",
		"pass",
		"PassWord",
		"pwd",
		"token",
		"authToken",
		"accesstoken",
		"tokens",
		"token2",
		"OAuth2Token",
		"github_token",
		"secret",
		"clientSecret",
		"client-secret-value",
		"key",
		"keys",
		"apiKey",
		"APIKey",
		"apikey",
		"API_KEY",
		"aws.secretAccessKey",
		"access-key-id",
		"credential",
		"credentials",
		"aws.credentials",
		"auth",
		"auth.basic",
		"Authorization",
		"jwt",
		"session.cookie",
		"dsn",
	};
	static const char *const plain[] = {
		"",
		"...",
		"monkey",
		"keyboard",
		"keyboard.layout",
		"hockey.team",
		"key-count",
		"keyCount",
		"key.serializer",
		"key_size",
		"max-tokens",
		"num.keys",
		"tokenizer",
		"token.timeout",
		"secretary",
		"passenger",
		"bypass",
		"compass",
		"passive",
		"author",
		"authority",
		"password.file",
		"password-length",
		"javax.net.ssl.keyStore",
		"javax.net.ssl.keyStoreType",
		"java.security.auth.login.config",
		"user",
		"host",
		"bench.size",
		"auth.jar",
	};

	for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++)
		if (!lc_redact_is_secret(secret[i], strlen(secret[i])))
			fail_msg("'%s' has no secret", secret[i]);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (lc_redact_is_secret(plain[i], strlen(plain[i])))
			fail_msg("'%s' has a secret", plain[i]);
}

/* The command without its secrets; its words are separated by '|' in both texts. */
static const char *redacted(const char *patterns, const char *command)
{
	static char text[1024];
	struct lc_redact r = { .patterns = patterns };
	struct lc_bytes out = { 0 };

	for (const char *at = command;; at++) {
		const size_t len = strcspn(at, "|");
		/* A sanitizer sees a read behind the word. */
		char *word = malloc(len ? len : 1);

		assert_non_null(word);
		memcpy(word, at, len);
		lc_redact_word(&r, word, len, &out);
		free(word);
		at += len;
		if (!*at)
			break;
		lc_bytes_add(&out, "|", 1);
	}
	assert_false(out.failed);
	snprintf(text, sizeof(text), "%.*s", (int)out.len, (char *)out.data);
	free(out.data);
	return text;
}

static const struct {
	const char *command, *shown;
} commands[] = {
	{ "java|-Ddb.password=hunter2|Main", "java|-Ddb.password=" R "|Main" },
	{ "java|-Dkey=hunter2|-Pkey=x|Main", "java|-Dkey=" R "|-Pkey=" R "|Main" },
	{ "java|Main|--password=a=b;c d", "java|Main|--password=" R },
	{ "java|Main|--token|hunter2|x", "java|Main|--token|" R "|x" },
	{ "java|Main|-storepass|-x|--token|a|b", "java|Main|-storepass|" R "|--token|" R "|b" },
	/* The value of a secret may look like an option, and the other way round. */
	{ "java|Main|--auth|--password|a|b", "java|Main|--auth|" R "|" R "|b" },
	{ "java|Main|--token", "java|Main|--token" },
	{ "java|Main|--password=|x", "java|Main|--password=|x" },
	{ "java|Main|password=hunter2|/token=a", "java|Main|password=" R "|/token=" R },
	{ "java|-Dtoken|Main", "java|-Dtoken|Main" },
	/* Inside of values. */
	{ "java|-Durl=jdbc:x:1;user=a;password=b;c=d|M",
	  "java|-Durl=jdbc:x:1;user=a;password=" R "|M" },
	{ "java|M|jdbc:mysql://db/x?user=a&password=b&c",
	  "java|M|jdbc:mysql://db/x?user=a&password=" R },
	{ "java|-Dspring.application.json={\"a\":1,\"password\":\"b\"}|M",
	  "java|-Dspring.application.json={\"a\":1,\"password\":" R "|M" },
	{ "java|-Dsasl.jaas.config=Plain required username=\"a\" password=\"b\";|M",
	  "java|-Dsasl.jaas.config=Plain required username=\"a\" password=" R "|M" },
	{ "java|-javaagent:/opt/a.jar=host=h,apiKey=b|M",
	  "java|-javaagent:/opt/a.jar=host=h,apiKey=" R "|M" },
	{ "java|M|-H|Authorization: Bearer abc", "java|M|-H|Authorization:" R },
	{ "java|M|-H|X: Bearer abc", "java|M|-H|X: Bearer " R },
	{ "java|M|Authorization:|Bearer|abc|d", "java|M|Authorization:|" R "|" R "|d" },
	/* Users of URLs. */
	{ "java|M|https://user:hunter2@host:80/x", "java|M|https://" R "@host:80/x" },
	{ "java|M|https://ghp_abc@github.com/x", "java|M|https://" R "@github.com/x" },
	{ "java|M|-u=amqp://a:b/c@host,amqp://d:e@host2", "java|M|-u=amqp://" R "@host2" },
	{ "java|M|mongodb://a:b@h1:1,h2:2/db?x=y", "java|M|mongodb://" R "@h1:1,h2:2/db?x=y" },
	{ "java|M|http://host:8080/a@b|http://h/@c", "java|M|http://host:8080/a@b|http://h/@c" },
	{ "java|M|--login=user:pw@host", "java|M|--login=" R "@host" },
	{ "java|M|jdbc:oracle:thin:scott/tiger@host:1521", "java|M|" R "@host:1521" },
	{ "java|M|jdbc:oracle:thin:@//host:1521/x", "java|M|jdbc:oracle:thin:@//host:1521/x" },
	{ "java|M|https://u:p&token=a@host?b", "java|M|https://" R "@host?b" },
	/* Others stay. */
	{ "java|-cp|auth:lib@2/x.jar|-Xmx1g|-XX:+UseSerialGC|Main|--key-count|3",
	  "java|-cp|auth:lib@2/x.jar|-Xmx1g|-XX:+UseSerialGC|Main|--key-count|3" },
	{ "java|--add-opens|java.base/javax.security.auth=ALL-UNNAMED|M|-cp|password=b",
	  "java|--add-opens|java.base/javax.security.auth=ALL-UNNAMED|M|-cp|password=" R },
	{ "java|-javaagent:/opt/agent@1.2.jar|--class-path=/a/auth:/b/c@1/d.jar|M",
	  "java|-javaagent:/opt/agent@1.2.jar|--class-path=/a/auth:/b/c@1/d.jar|M" },
	{ "java|-Dkeyboard=us|-jar|monkey.jar|||@file|12:30",
	  "java|-Dkeyboard=us|-jar|monkey.jar|||@file|12:30" },
	{ "||=|:|--|-|@|://|a@b", "||=|:|--|-|@|://|a@b" },
};

static void values_of_secrets_are_hidden(void **state)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		assert_string_equal(redacted(NULL, commands[i].command), commands[i].shown);
}

static void hidden_once_is_hidden_twice(void **state)
{
	char once[1024];

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(once, sizeof(once), "%s", redacted(NULL, commands[i].command));
		assert_string_equal(redacted(NULL, once), once);
	}
}

static void patterns_name_further_secrets(void **state)
{
	assert_string_equal(redacted("", "java|-Dlicense=a|M"), "java|-Dlicense=a|M");
	assert_string_equal(redacted("license", "java|-Dlicense=a|-Dlicenses=b|M|--license|c|d"),
	                    "java|-Dlicense=" R "|-Dlicenses=b|M|--license|" R "|d");
	assert_string_equal(redacted("x;acme.*", "java|-Dacme.id=a|M|x=b|y=c|?x=d"),
	                    "java|-Dacme.id=" R "|M|x=" R "|y=c|?x=" R);
	assert_string_equal(redacted("*", "java|-Da=b|M|--c=d|e"), "java|-Da=" R "|M|--c=" R "|e");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_secrets),
		cmocka_unit_test(values_of_secrets_are_hidden),
		cmocka_unit_test(hidden_once_is_hidden_twice),
		cmocka_unit_test(patterns_name_further_secrets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
