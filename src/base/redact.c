/* SPDX-License-Identifier: Apache-2.0 */
/* base/redact.c - finds secrets by the names and the forms that they have in command lines. */
#include "src/base/redact.h"

#include <string.h>
#include <strings.h>

#include "src/base/bytes.h"
#include "src/base/glob.h"
#include "src/base/java_option.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- names ---- */

/* The whole word of a name is one of these: "key" is in "monkey", too. */
static const char *const words[] = { "auth",  "authorization", "bearer", "cookie", "cred",
	                             "creds", "dsn",           "jwt",    "key",    "oauth",
	                             "otp",   "pass",          "pin",    "pw",     "pwd",
	                             "sas",   "signature" };

/* A word ends with one of these. */
static const char *const endings[] = { "password",  "passwd",    "passphrase", "passcode",
	                               "secret",    "token",     "credential", "apikey",
	                               "accesskey", "authkey",   "privatekey", "secretkey",
	                               "signkey",   "storepass", "keypass" };

/* The last word of a name whose value only describes a secret, or names the place of one. */
static const char *const describing[] = {
	"algorithm", "alias",      "bits",     "cache",    "class",        "column",    "conf",
	"config",    "count",      "dir",      "disabled", "deserializer", "directory", "enabled",
	"expiry",    "field",      "file",     "format",   "index",        "interval",  "jar",
	"length",    "limit",      "location", "max",      "min",          "ms",        "name",
	"path",      "port",       "provider", "range",    "required",     "schemes",   "seconds",
	"separator", "serializer", "size",     "store",    "timeout",      "ttl",       "type",
	"version",
};

/* The first word of a name whose value is a number of things. */
static const char *const quantities[] = { "max", "min", "num", "count" };

struct part {
	const char *text;
	size_t len;
};

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return is_upper(c) || is_lower(c) || is_digit(c) || (c & 0x80);
}

/* Does a word of a name begin at `at`, behind a letter? "apiKey", "APIKey". */
static bool begins_word(const char *at, const char *end)
{
	return is_upper(at[0]) && (!is_upper(at[-1]) || (at + 1 < end && is_lower(at[1])));
}

/* The next word of a name: "tls.key-storePass" has four. Its `len` is 0 at the end. */
static struct part next_word(const char **at, const char *end)
{
	const char *begin, *p = *at;

	while (p < end && !is_letter(*p))
		p++;
	for (begin = p; p < end && is_letter(*p); p++)
		if (p > begin && begins_word(p, end))
			break;
	*at = p;
	return (struct part){ begin, (size_t)(p - begin) };
}

static bool is_in(const char *const *list, size_t count, struct part word)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) == word.len && !strncasecmp(list[i], word.text, word.len))
			return true;
	return false;
}

static bool is_singular(struct part word)
{
	for (size_t i = 0; i < COUNT(endings); i++) {
		const size_t len = strlen(endings[i]);

		if (word.len >= len && !strncasecmp(word.text + word.len - len, endings[i], len))
			return true;
	}
	return is_in(words, COUNT(words), word);
}

/* "key", "keys", "key2". */
static bool is_secret_word(struct part word)
{
	while (word.len > 1 && is_digit(word.text[word.len - 1]))
		word.len--;
	if (is_singular(word))
		return true;
	if (word.len < 2 || (word.text[word.len - 1] | ' ') != 's')
		return false;
	word.len--;
	return is_singular(word);
}

bool lc_redact_is_secret(const char *name, size_t len)
{
	const char *end = name + len;
	struct part word = next_word(&name, end), last = word;
	const bool quantity = is_in(quantities, COUNT(quantities), word);
	bool secret = false;

	for (; word.len; word = next_word(&name, end)) {
		secret |= is_secret_word(word);
		last = word;
	}
	return secret && !quantity && !is_in(describing, COUNT(describing), last);
}

static bool fits_pattern(const char *list, struct part name)
{
	for (; list && *list; list += *list == ';') {
		const size_t len = strcspn(list, ";");

		if (len && lc_glob(list, list + len, name.text, name.text + name.len, false))
			return true;
		list += len;
	}
	return false;
}

/* `name` may begin with the dashes of an option, and with the letter of "-Dname". */
static bool is_hidden(const struct lc_redact *r, struct part name)
{
	const bool option = name.len && *name.text == '-';
	struct part bare = name;

	while (bare.len && *bare.text == '-')
		bare = (struct part){ bare.text + 1, bare.len - 1 };
	if (lc_redact_is_secret(bare.text, bare.len) || fits_pattern(r->patterns, bare))
		return true;
	if (!option || bare.len < 2 || !is_upper(*bare.text))
		return false;
	bare = (struct part){ bare.text + 1, bare.len - 1 };
	return lc_redact_is_secret(bare.text, bare.len) || fits_pattern(r->patterns, bare);
}

/* ---- values ---- */

static bool is_of_name(char c)
{
	return is_letter(c) || c == '.' || c == '-' || c == '_';
}

/* The name before the sign at `at`; quotes may stand between them. */
static struct part name_before(const char *word, size_t at)
{
	size_t begin;

	while (at && strchr("\"'\\ ", word[at - 1]))
		at--;
	for (begin = at; begin && is_of_name(word[begin - 1]); begin--)
		;
	return (struct part){ word + begin, at - begin };
}

/* Is the name at `at` followed by ':' that of a header or of a member, rather than of a path? */
static bool begins_member(const char *word, const char *at)
{
	return at == word || strchr(" \t\n\"'{,;&?(", at[-1]);
}

/* The bytes before the first value of a secret; `len`: the word has none. A path has no names. */
static size_t shown_bytes(const struct lc_redact *r, const char *word, size_t len, bool path)
{
	static const char *const schemes[] = { "bearer ", "basic " };

	for (size_t i = 0; i < len && !path; i++) {
		for (size_t s = 0; s < COUNT(schemes); s++)
			if (!strncasecmp(word + i, schemes[s], strlen(schemes[s])))
				return i + strlen(schemes[s]);
		if (word[i] == '=' || word[i] == ':') {
			const struct part name = name_before(word, i);

			if (name.len && (word[i] == '=' || begins_member(word, name.text)) &&
			    is_hidden(r, name))
				return i + 1;
		}
	}
	return len;
}

/* ---- users of URLs ---- */

static size_t find_last(const char *text, size_t begin, size_t end, char c)
{
	while (end > begin && text[end - 1] != c)
		end--;
	return end > begin ? end - 1 : SIZE_MAX;
}

static size_t end_at(const char *text, size_t begin, size_t len, const char *stops)
{
	while (begin < len && !strchr(stops, text[begin]))
		begin++;
	return begin;
}

/* The '@' behind the user of a URL whose host begins at `begin`, or SIZE_MAX. */
static size_t end_of_user(const char *word, size_t begin, size_t len)
{
	const size_t host_end = end_at(word, begin, len, "/?# \"'");
	const size_t at = find_last(word, begin, host_end, '@');
	size_t port;

	if (at != SIZE_MAX)
		return at;
	/* A password may hold a '/', a port only digits. */
	port = end_at(word, begin, host_end, ":");
	while (port < host_end && (word[port] == ':' || is_digit(word[port])))
		port++;
	return port < host_end ? find_last(word, begin, end_at(word, begin, len, " \"'"), '@')
	                       : SIZE_MAX;
}

/* A stretch of a word that no user without "//" leaves, and the last '@' in it, or SIZE_MAX. */
struct stretch {
	size_t end, at;
};

/*
 * "user:password@host" without "//": the '@' if a user begins at `begin`, or SIZE_MAX. *in is the
 * stretch of the last call, which was for an earlier place, or 0.
 */
static size_t end_of_bare_user(const char *word, size_t begin, size_t len, struct stretch *in)
{
	const char *user = word + begin, *colon;

	if (begin >= in->end) {
		in->end = end_at(word, begin, len, " \"',;");
		in->at = find_last(word, begin, in->end, '@');
	}
	if (in->at == SIZE_MAX || in->at < begin)
		return SIZE_MAX;
	colon = memchr(user, ':', in->at - begin);
	if (!colon || colon == user || word[in->at - 1] == ':' || *user == '-' ||
	    memchr(user, '/', (size_t)(colon - user)) ||
	    memmem(user, in->at - begin, "://", strlen("://")))
		return SIZE_MAX;
	return in->at;
}

/* Append the word without the users of its URLs. */
static bool hide_users(const char *word, size_t len, bool path, struct lc_bytes *out)
{
	struct stretch in = { 0 };
	bool hidden = false;
	size_t from = 0;

	for (size_t i = 0; i < len; i++) {
		const bool url = i >= 3 && !memcmp(word + i - 3, "://", 3);
		size_t at = SIZE_MAX;

		if (url)
			at = end_of_user(word, i, len);
		else if (!path && (!i || strchr("= \"',;(", word[i - 1])))
			at = end_of_bare_user(word, i, len, &in);
		if (at == SIZE_MAX || at == i)
			continue;
		lc_bytes_add(out, word + from, i - from);
		lc_bytes_add(out, LC_REDACTED, strlen(LC_REDACTED));
		from = i = at;
		hidden = true;
	}
	lc_bytes_add(out, word + from, len - from);
	return hidden;
}

/* ---- words ---- */

/* Is the next word the value of this one? "--password", "Authorization:", "Bearer". */
static bool secret_follows(const struct lc_redact *r, const char *word, size_t len)
{
	const struct part name = { word, len && word[len - 1] == ':' ? len - 1 : len };

	if (name.len < 2 || memchr(word, '=', len) || memchr(word, ':', name.len) ||
	    !memcmp(word, "-D", 2))
		return false;
	if (*word != '-' && name.len == len)
		return is_in((const char *const[]){ "bearer" }, 1, name);
	return is_hidden(r, name);
}

/* Note which part of the command the next word belongs to. */
static void follow(struct lc_redact *r, const char *word, size_t len, bool path)
{
	r->path_follows = !r->in_program && !path && lc_java_option_takes_word(word, len);
	if (r->words++ && !path && len && *word != '-' && *word != '@')
		r->in_program = true;
}

bool lc_redact_word(struct lc_redact *r, const char *word, size_t len, struct lc_bytes *out)
{
	const bool path = r->path_follows, whole = r->secret_follows;
	struct lc_bytes text = { 0 };
	bool hidden;
	size_t shown;

	r->secret_follows = !path && secret_follows(r, word, len);
	follow(r, word, len, path);
	if (whole) {
		lc_bytes_add(out, LC_REDACTED, strlen(LC_REDACTED));
		return true;
	}
	hidden = hide_users(word, len, path, &text);
	lc_bytes_add(&text, "", 1);
	shown = text.failed ? 0 : shown_bytes(r, (char *)text.data, text.len - 1, path);
	out->failed |= text.failed;
	lc_bytes_add(out, text.data, shown);
	if (!text.failed && shown < text.len - 1) {
		lc_bytes_add(out, LC_REDACTED, strlen(LC_REDACTED));
		hidden = true;
	}
	free(text.data);
	return hidden;
}
