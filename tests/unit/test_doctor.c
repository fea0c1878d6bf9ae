/* uses: analyzer/commands/doctor_machine.c analyzer/commands/doctor_java.c analyzer/commands/child.c analyzer/base/memory.c src/perf/perf.c src/base/file.c src/perf/ring.c analyzer/commands/scratch.c analyzer/cli/libraries.c analyzer/cli/inside.c -lzip */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_doctor.c - checks that machines laid out as files, and JVMs given as what they print, are
 * judged rightly.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/commands/doctor.h"
#include "src/perf/perf.h"

enum { TEXT = 512 };

static char root[64];
static struct lc_doctor doctor;

static int make_root(void **state)
{
	strcpy(root, "/tmp/locus-test-doctor-XXXXXX");
	memset(&doctor, 0, sizeof(doctor));
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[TEXT];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

static void lay_out(const char *name, const char *text)
{
	char path[TEXT];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *p = path + strlen(root) + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void pmu_file(const char *pmu, const char *name, const char *text)
{
	char path[TEXT];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/%s", pmu, name);
	lay_out(path, text);
}

/* The last check made; it must be of that name and status, and its texts hold these. */
static void assert_last(const char *name, enum lc_doctor_status status, const char *value,
                        const char *advice)
{
	const struct lc_doctor_check *c;

	assert_true(doctor.len > 0);
	c = &doctor.check[doctor.len - 1];
	assert_string_equal(c->name, name);
	assert_int_equal(c->status, status);
	assert_true(c->value[0]);
	if (!strstr(c->value, value))
		fail_msg("'%s' is not in: %s", value, c->value);
	if (!*advice && c->advice[0])
		fail_msg("advice: %s", c->advice);
	if (!strstr(c->advice, advice))
		fail_msg("'%s' is not in: %s", advice, c->advice);
	assert_true((status == LC_DOCTOR_OK) == (c->advice[0] == '\0'));
	doctor.len--;
}

static void kernels(void **state)
{
	lc_doctor_kernel(&doctor, root);
	assert_last("kernel", LC_DOCTOR_OK, "unknown", "");
	lay_out("/proc/sys/kernel/osrelease", "6.18.44-fc-v669\n");
	lc_doctor_kernel(&doctor, root);
	assert_last("kernel", LC_DOCTOR_OK, "Linux 6.18.44-fc-v669", "");
	lay_out("/proc/sys/kernel/osrelease", "5.13.0\n");
	lc_doctor_kernel(&doctor, root);
	assert_last("kernel", LC_DOCTOR_OK, "5.13", "");
	lay_out("/proc/sys/kernel/osrelease", "5.12.19-generic\n");
	lc_doctor_kernel(&doctor, root);
	assert_last("kernel", LC_DOCTOR_LIMITED, "5.12", "5.13 or newer");
	lay_out("/proc/sys/kernel/osrelease", "4.19.0\n");
	lc_doctor_kernel(&doctor, root);
	assert_last("kernel", LC_DOCTOR_LIMITED, "4.19", "5.13 or newer");
}

static void paranoid_levels_and_capabilities(void **state)
{
	lc_doctor_paranoid(&doctor, root);
	assert_last("perf_event_paranoid", LC_DOCTOR_MISSING, "not there", "without perf events");
	lay_out("/proc/sys/kernel/perf_event_paranoid", "2\n");
	lc_doctor_paranoid(&doctor, root);
	assert_last("perf_event_paranoid", LC_DOCTOR_OK, "2", "");
	lay_out("/proc/sys/kernel/perf_event_paranoid", "-1\n");
	lc_doctor_paranoid(&doctor, root);
	assert_last("perf_event_paranoid", LC_DOCTOR_OK, "-1", "");
	lay_out("/proc/sys/kernel/perf_event_paranoid", "3\n");
	lc_doctor_paranoid(&doctor, root);
	assert_last("perf_event_paranoid", LC_DOCTOR_LIMITED, "3", "perf_event_paranoid=2");
	lay_out("/proc/self/status",
	        "Name:\tx\nCapPrm:\t0000004000000000\nCapEff:\t0000000000000000\n");
	lc_doctor_paranoid(&doctor, root);
	assert_last("perf_event_paranoid", LC_DOCTOR_LIMITED, "3", "CAP_PERFMON");
	lay_out("/proc/self/status", "Name:\tx\nCapEff:\t0000004000000000\n"); /* CAP_PERFMON */
	lc_doctor_paranoid(&doctor, root);
	assert_last("perf_event_paranoid", LC_DOCTOR_OK, "3, which does not restrict this user",
	            "");
	lay_out("/proc/self/status", "Name:\tx\nCapEff:\t0000000000200000\n"); /* CAP_SYS_ADMIN */
	lc_doctor_paranoid(&doctor, root);
	assert_last("perf_event_paranoid", LC_DOCTOR_OK, "3, which does not restrict this user",
	            "");
}

static void seccomp_filters(void **state)
{
	lc_doctor_seccomp(&doctor, root, EFAULT);
	assert_last("seccomp", LC_DOCTOR_OK, "no filter", "");
	lay_out("/proc/self/status", "Name:\tx\nSeccomp:\t0\nSeccomp_filters:\t0\n");
	lc_doctor_seccomp(&doctor, root, EACCES);
	assert_last("seccomp", LC_DOCTOR_OK, "no filter", "");
	lay_out("/proc/self/status", "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n");
	lc_doctor_seccomp(&doctor, root, EFAULT);
	assert_last("seccomp", LC_DOCTOR_OK, "a filter that permits", "");
	lc_doctor_seccomp(&doctor, root, EPERM);
	assert_last("seccomp", LC_DOCTOR_LIMITED, "forbids", "--cap-add PERFMON");
	lc_doctor_seccomp(&doctor, root, ENOSYS);
	assert_last("seccomp", LC_DOCTOR_LIMITED, "forbids", "--cap-add PERFMON");
}

static void memory_that_may_be_locked(void **state)
{
	const char *limits = "Limit                     Soft Limit           Hard Limit           "
	                     "Units     \n"
	                     "Max processes             31571                31571                "
	                     "processes \n"
	                     "Max locked memory         %s              8388608              "
	                     "bytes     \n";
	char text[TEXT], expected[TEXT];
	const unsigned ring_kb = (1 + LC_PERF_RING_PAGES) * 4;

	lc_doctor_mlock(&doctor, root);
	assert_last("mlock", LC_DOCTOR_MISSING, "no perf_event_mlock_kb", "without perf events");
	lay_out("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
	lay_out("/sys/devices/system/cpu/online", "0-3,8\n");
	snprintf(text, sizeof(text), limits, "8388608");
	lay_out("/proc/self/limits", text);
	lc_doctor_mlock(&doctor, root);
	snprintf(expected, sizeof(expected),
	         "516 for each of 5 CPUs, ulimit -l 8192: room for the buffers of %u threads",
	         (5 * 516 + 8192) / ring_kb);
	assert_last("mlock", LC_DOCTOR_OK, expected, "");
	snprintf(text, sizeof(text), limits, "65536  ");
	lay_out("/proc/self/limits", text);
	lay_out("/sys/devices/system/cpu/online", "0\n");
	lc_doctor_mlock(&doctor, root);
	snprintf(expected, sizeof(expected), "1 CPUs, ulimit -l 64: room for the buffers of %u",
	         (516 + 64) / ring_kb);
	assert_last("mlock", LC_DOCTOR_LIMITED, expected, "perf_event_mlock_kb");
	snprintf(text, sizeof(text), limits, "unlimited");
	lay_out("/proc/self/limits", text);
	lc_doctor_mlock(&doctor, root);
	assert_last("mlock", LC_DOCTOR_OK, "no limit", "");
	snprintf(text, sizeof(text), limits, "0      ");
	lay_out("/proc/self/limits", text);
	lay_out("/proc/self/status", "CapEff:\t0000000000004000\n"); /* CAP_IPC_LOCK */
	lc_doctor_mlock(&doctor, root);
	assert_last("mlock", LC_DOCTOR_OK, "no limit", "");
}

static void no_pmu(void **state)
{
	lay_out("/sys/bus/event_source/devices/software/type", "1\n");
	lay_out("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor\n");
	lc_doctor_pmu(&doctor, root);
	assert_last("pmu", LC_DOCTOR_MISSING, "none", "the hypervisor gives");
	lc_doctor_aux_event(&doctor, root);
	assert_last("aux_event", LC_DOCTOR_OK, "no PMU", "");
}

static void intel_pmu_with_and_without_precise_events(void **state)
{
	pmu_file("cpu", "type", "4\n");
	lc_doctor_pmu(&doctor, root); /* as in a guest that gets counters only */
	assert_last("pmu", LC_DOCTOR_LIMITED, "cpu (type 4)", "virtual machines");
	pmu_file("cpu", "caps/pmu_name", "skylake\n");
	pmu_file("cpu", "caps/max_precise", "0\n");
	pmu_file("cpu", "events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	pmu_file("cpu", "events/mem-stores", "event=0xd0,umask=0x82\n");
	lc_doctor_pmu(&doctor, root);
	assert_last("pmu", LC_DOCTOR_LIMITED, "precise 0", "virtual machines");
	pmu_file("cpu", "caps/max_precise", "3\n");
	lc_doctor_pmu(&doctor, root);
	assert_last("pmu", LC_DOCTOR_OK, "cpu (type 4, skylake, precise 3): mem-loads, mem-stores",
	            "");
	lc_doctor_aux_event(&doctor, root);
	assert_last("aux_event", LC_DOCTOR_OK, "does not need mem-loads-aux", "");
	pmu_file("cpu", "events/mem-loads-aux", "event=0x03,umask=0x82\n");
	lc_doctor_aux_event(&doctor, root);
	assert_last("aux_event", LC_DOCTOR_OK, "mem-loads-aux, which load latency needs", "");
}

static void hybrid_pmus_are_both_named(void **state)
{
	pmu_file("cpu_core", "type", "4\n");
	pmu_file("cpu_core", "caps/max_precise", "3\n");
	pmu_file("cpu_core", "events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	pmu_file("cpu_core", "events/mem-loads-aux", "event=0x03,umask=0x82\n");
	pmu_file("cpu_atom", "type", "10\n");
	lc_doctor_pmu(&doctor, root);
	assert_last("pmu", LC_DOCTOR_OK,
	            "cpu_core (type 4, precise 3): mem-loads, mem-loads-aux; cpu_atom (type 10)",
	            "");
	lc_doctor_aux_event(&doctor, root);
	assert_last("aux_event", LC_DOCTOR_OK, "mem-loads-aux, which load latency needs", "");
}

static void amd_pmu_with_and_without_ibs(void **state)
{
	pmu_file("cpu", "type", "4\n");
	pmu_file("cpu", "caps/max_precise", "2\n"); /* which AMD's has, by way of IBS */
	lc_doctor_pmu(&doctor, root);
	assert_last("pmu", LC_DOCTOR_LIMITED, "cpu (type 4, precise 2)", "no memory events");
	pmu_file("ibs_op", "type", "11\n");
	pmu_file("ibs_op", "format/cnt_ctl", "config:19\n");
	pmu_file("ibs_op", "format/l3missonly", "config:16\n");
	lc_doctor_pmu(&doctor, root);
	assert_last("pmu", LC_DOCTOR_OK,
	            "cpu (type 4, precise 2); ibs_op (type 11): cnt_ctl, l3missonly", "");
}

static void numa_nodes(void **state)
{
	lc_doctor_numa(&doctor, root);
	assert_last("numa", LC_DOCTOR_LIMITED, "unknown", "without NUMA");
	lay_out("/sys/devices/system/node/online", "0\n");
	lc_doctor_numa(&doctor, root);
	assert_last("numa", LC_DOCTOR_OK, "1 node (0)", "");
	lay_out("/sys/devices/system/node/online", "0-1,4\n");
	lc_doctor_numa(&doctor, root);
	assert_last("numa", LC_DOCTOR_OK, "3 nodes (0-1,4)", "");
}

/* -- JVMs --------------------------------------------------------------------------------- */

#define FLAGS(serial, g1, z)                                                                       \
	"[Global flags]\n"                                                                         \
	"     bool OldUseG1GC                               = true    {product} {default}\n"       \
	"     bool UseG1GC                                  = " g1 "  {product} {ergonomic}\n"     \
	"     bool UseG1GCExtra                             = true    {product} {default}\n"       \
	"     bool UseSerialGC                              = " serial "   {product} {default}\n"  \
	"     bool UseZGC                                   = " z "   {product} {default}\n"

static void judge(const char *version, const char *flags)
{
	doctor.len = 0;
	lc_doctor_judge_jdk(&doctor, "jdk", "collector", "/opt/jdk/bin/java", version, flags);
}

static void jdk_versions(void **state)
{
	const char *flags = FLAGS("false", "true", "false");

	judge("openjdk version \"17.0.15\" 2025-04-15\nOpenJDK 64-Bit Server VM\n", flags);
	assert_last("collector", LC_DOCTOR_OK, "G1", "");
	assert_last("jdk", LC_DOCTOR_OK, "HotSpot 17.0.15 (/opt/jdk/bin/java)", "");
	judge("java version \"25\" 2025-09-16\n", flags);
	assert_last("collector", LC_DOCTOR_OK, "G1", "");
	assert_last("jdk", LC_DOCTOR_OK, "HotSpot 25 (", "");
	judge("openjdk version \"11.0.2\"\n", flags);
	assert_int_equal(doctor.len, 2);
	judge("openjdk version \"10.0.2\"\n", flags);
	assert_last("jdk", LC_DOCTOR_MISSING, "10.0.2 is too old", "JDK 11 or newer");
	judge("java version \"1.8.0_402\"\n", flags);
	assert_last("jdk", LC_DOCTOR_MISSING, "1.8.0_402 is too old", "JDK 11 or newer");
	assert_int_equal(doctor.len, 0); /* no collector */
	judge("Hello\n", flags);
	assert_last("jdk", LC_DOCTOR_MISSING, "does not print its version", "-version");
	judge("openjdk version \"17.0.1\"\nEclipse OpenJ9 VM\n", NULL);
	assert_last("jdk", LC_DOCTOR_MISSING, "not HotSpot", "HotSpot");
	judge("openjdk version \"17.0.1\"\n", "no flags\n");
	assert_last("jdk", LC_DOCTOR_MISSING, "not HotSpot", "HotSpot");
}

static void collectors(void **state)
{
	const char *version = "openjdk version \"21.0.1\"\n";

	judge(version, FLAGS("true", "false", "false"));
	assert_last("collector", LC_DOCTOR_OK, "Serial", "");
	judge(version, FLAGS("false", "false", "true"));
	assert_last("collector", LC_DOCTOR_OK, "ZGC", "");
	judge(version, FLAGS("false", "false", "false"));
	assert_last("collector", LC_DOCTOR_LIMITED, "unknown", "-XX:+UseG1GC");
}

static void what_is_needed_and_what_is_not(void **state)
{
	static const char *const needed[] = { "launcher", "agent", "timer", "disk", "jdk" };

	for (size_t missing = 0; missing <= 5; missing++) {
		doctor.len = 0;
		lc_doctor_add(&doctor, "pmu", LC_DOCTOR_MISSING, "none");
		for (size_t i = 0; i < 5; i++)
			lc_doctor_add(&doctor, needed[i],
			              i == missing ? LC_DOCTOR_MISSING : LC_DOCTOR_LIMITED, "x");
		assert_int_equal(lc_doctor_works(&doctor), missing == 5);
		lc_doctor_add(&doctor, "jdk_home", LC_DOCTOR_OK, "x"); /* does for another JDK */
		assert_int_equal(lc_doctor_works(&doctor), missing >= 4);
	}
	doctor.len = 0; /* not looked at is not there */
	assert_false(lc_doctor_works(&doctor));
}

/* -- commands ----------------------------------------------------------------------------- */

static void output_and_status_of_a_command(void **state)
{
	char *const both[] = { "/bin/sh", "-c", "echo out; echo err >&2; cat; exit 3", NULL };
	char *const preload[] = { "/bin/sh", "-c", "echo $LD_PRELOAD", NULL };
	char *const silent[] = { "/bin/sh", "-c", "exec sleep 300 >/dev/null 2>&1", NULL };
	char *const absent[] = { "/no/such/program", NULL };
	char *const much[] = { "/bin/sh", "-c", "head -c 200000 /dev/zero | tr '\\0' x", NULL };
	char *text;
	int status;

	status = lc_doctor_capture(both, NULL, 20, &text);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_string_equal(text, "out\nerr\n");
	free(text);
	assert_int_equal(lc_doctor_capture(preload, "libm.so.6", 20, &text), 0);
	assert_string_equal(text, "libm.so.6\n");
	free(text);
	assert_int_equal(WEXITSTATUS(lc_doctor_capture(absent, NULL, 20, &text)), 127);
	free(text);
	text = NULL;
	assert_int_equal(lc_doctor_capture(silent, NULL, 1, &text), -ETIMEDOUT);
	assert_null(text);
	assert_int_equal(lc_doctor_capture(much, NULL, 20, &text), 0);
	assert_int_equal(strlen(text), 200000);
	free(text);
}

static void command_that_hangs_is_ended_with_its_children(void **state)
{
	char line[2 * TEXT], path[TEXT], *text = NULL;
	char *const command[] = { "/bin/sh", "-c", line, NULL };
	int child = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/pid", root);
	snprintf(line, sizeof(line), "sleep 300 & echo $! >%s; wait", path);
	assert_int_equal(lc_doctor_capture(command, NULL, 1, &text), -ETIMEDOUT);
	assert_null(text);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &child), 1);
	fclose(f);
	for (unsigned i = 0; i < 100 && kill(child, 0) == 0; i++)
		usleep(50000); /* until somebody has reaped it */
	snprintf(path, sizeof(path), "/proc/%d/stat", child);
	f = fopen(path, "re");
	if (f) { /* a zombie of somebody who does not */
		assert_int_equal(fscanf(f, "%*d %*s %c", line), 1);
		assert_int_equal(line[0], 'Z');
		fclose(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kernels, make_root, remove_root),
		cmocka_unit_test_setup_teardown(paranoid_levels_and_capabilities, make_root,
		                                remove_root),
		cmocka_unit_test_setup_teardown(seccomp_filters, make_root, remove_root),
		cmocka_unit_test_setup_teardown(memory_that_may_be_locked, make_root, remove_root),
		cmocka_unit_test_setup_teardown(no_pmu, make_root, remove_root),
		cmocka_unit_test_setup_teardown(intel_pmu_with_and_without_precise_events,
		                                make_root, remove_root),
		cmocka_unit_test_setup_teardown(hybrid_pmus_are_both_named, make_root, remove_root),
		cmocka_unit_test_setup_teardown(amd_pmu_with_and_without_ibs, make_root,
		                                remove_root),
		cmocka_unit_test_setup_teardown(numa_nodes, make_root, remove_root),
		cmocka_unit_test(jdk_versions),
		cmocka_unit_test(collectors),
		cmocka_unit_test(what_is_needed_and_what_is_not),
		cmocka_unit_test(output_and_status_of_a_command),
		cmocka_unit_test_setup_teardown(command_that_hangs_is_ended_with_its_children,
		                                make_root, remove_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
