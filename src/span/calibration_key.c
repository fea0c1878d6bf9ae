/* SPDX-License-Identifier: Apache-2.0 */
/* span/calibration_key.c - tells what a calibration is valid for: see calibration_impl.h. */
#include <cpuid.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "src/core/jvmti.h"
#include "src/span/calibration_impl.h"
#include "src/span/clock/cycle_clock.h"

static void cpu_name(char *out, size_t out_len)
{
	unsigned words[12] = { 0 };
	char brand[sizeof(words) + 1] = "";

	for (unsigned i = 0; i < 3; i++)
		if (!__get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1],
		                 &words[4 * i + 2], &words[4 * i + 3]))
			break;
	memcpy(brand, words, sizeof(words));
	snprintf(out, out_len, "%s", brand[0] ? brand : "unknown");
}

static void property(const char *name, char *out, size_t out_len)
{
	jvmtiEnv *jvmti = lc_jvmti();
	char *text = NULL;

	snprintf(out, out_len, "?");
	if ((*jvmti)->GetSystemProperty(jvmti, name, &text) || !text)
		return;
	snprintf(out, out_len, "%s", text);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)text);
}

/* A library that was built anew may cost something else, though its version is the same. */
static void agent_name(char *out, size_t out_len)
{
	struct stat s = { 0 };
	Dl_info info;

	if (dladdr((const void *)lc_calibration_key, &info) && info.dli_fname)
		stat(info.dli_fname, &s);
	snprintf(out, out_len, "%s %lld %lld.%09ld", LC_VERSION, (long long)s.st_size,
	         (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

static void one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ')
			*text = ' ';
}

void lc_calibration_key(const char *variant, struct lc_calibration_key *key)
{
	char version[100], name[64], mode[64], *sharing;

	cpu_name(key->cpu, sizeof(key->cpu));
	property("java.vm.version", version, sizeof(version));
	property("java.vm.name", name, sizeof(name));
	property("java.vm.info", mode, sizeof(mode));
	sharing = strstr(mode, ", sharing"); /* "mixed mode, emulated-client, sharing" */
	if (sharing)
		*sharing = '\0'; /* some of the classes come from a file: no matter */
	snprintf(key->jdk, sizeof(key->jdk), "%s %s %s", name, version, mode);
	agent_name(key->agent, sizeof(key->agent));
	snprintf(key->variant, sizeof(key->variant), "%s %.200s", lc_cycles_name(lc_cycles_kind()),
	         variant);
	key->hz = lc_cycles_hz();
	one_line(key->cpu);
	one_line(key->jdk);
	one_line(key->variant);
}
