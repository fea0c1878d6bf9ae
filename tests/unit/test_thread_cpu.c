/* uses: src/jvm/os/thread_cpu.c src/jvm/os/thread_kind.c src/core/own_cost.c src/base/limit.c src/base/say.c -lpthread */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_thread_cpu.c - checks that threads of the JVM are known by their names, and that what they
 * use is counted, also after they have ended.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/core/own_cost.h"
#include "src/core/thread.h"
#include "src/jvm/os/thread_cpu.h"
#include "src/jvm/os/thread_kind.h"
#include "tests/unit/counter.h"

#define MS UINT64_C(1000000)

/* The list of threads with a record, which core/thread.c would keep. */
static struct lc_thread *records;

struct lc_thread *lc_threads_walk(void)
{
	return records;
}

struct lc_thread *lc_thread_self(void)
{
	return NULL;
}

bool lc_thread_tid_is_ours(int32_t tid)
{
	return tid == (int32_t)getpid(); /* the test's own work is in no sum */
}

/* Look for a while; lists of threads are apart in time. */
static void look(void)
{
	const struct timespec rest = { .tv_nsec = 20 * 1000 * 1000 };

	for (unsigned i = 0; i < 20; i++) {
		lc_thread_cpu_look(false);
		nanosleep(&rest, NULL);
	}
}

/* Look until that has been added to `before`, or for some seconds: a list may have been slow. */
static void look_until(const char *name, uint64_t before, uint64_t ns)
{
	for (unsigned i = 0; i < 20; i++) {
		look();
		if (counter(name) - before >= ns)
			return;
	}
}

static void burn(uint64_t ns)
{
	const uint64_t begin = lc_own_cost_clock();

	while (lc_own_cost_clock() - begin < ns)
		;
}

struct worker {
	pthread_t thread;
	const char *name;
	uint64_t burn_ns, pause_ns, own_ns;
	int32_t tid;
	sem_t burnt, end;
};

static void *work(void *context)
{
	struct worker *w = context;

	w->tid = (int32_t)syscall(SYS_gettid);
	prctl(PR_SET_NAME, w->name);
	burn(w->burn_ns);
	if (w->pause_ns) {
		lc_thread_cpu_pause_begin();
		burn(w->pause_ns);
		lc_thread_cpu_pause_end();
	}
	if (w->own_ns) {
		burn(w->own_ns);
		lc_thread_cpu_own(w->own_ns);
	}
	sem_post(&w->burnt);
	while (sem_wait(&w->end))
		;
	return NULL;
}

static void start(struct worker *w)
{
	assert_int_equal(sem_init(&w->burnt, 0, 0) | sem_init(&w->end, 0, 0), 0);
	assert_int_equal(pthread_create(&w->thread, NULL, work, w), 0);
	while (sem_wait(&w->burnt))
		;
}

static void end(struct worker *w)
{
	sem_post(&w->end);
	pthread_join(w->thread, NULL);
}

static void assert_near(uint64_t is, uint64_t should)
{
	assert_in_range(is, should, should + 3 * MS);
}

static void threads_are_known_by_their_names(void **state)
{
	static const struct {
		const char *name;
		enum lc_thread_kind kind;
	} all[] = {
		{ "C2 CompilerThre", LC_THREAD_JIT },
		{ "C1 CompilerThread0", LC_THREAD_JIT },
		{ "JVMCI CompilerT", LC_THREAD_JIT },
		{ "C1 Comp..hread0", LC_THREAD_JIT },
		{ "C2 Comp..read12", LC_THREAD_JIT },
		{ "VM Peri..Thread", LC_THREAD_JVM },
		{ "Shenand..hread0", LC_THREAD_GC },
		{ "GC Thread#0", LC_THREAD_GC },
		{ "G1 Main Marker", LC_THREAD_GC },
		{ "G1 Conc#12", LC_THREAD_GC },
		{ "G1 Refine#1", LC_THREAD_GC },
		{ "G1 Service", LC_THREAD_GC },
		{ "ZWorkerYoung#0", LC_THREAD_GC },
		{ "ZDriverMinor", LC_THREAD_GC },
		{ "RuntimeWorker#1", LC_THREAD_GC },
		{ "Shenandoah GC T", LC_THREAD_GC },
		{ "VM Thread", LC_THREAD_JVM },
		{ "VM Periodic Tas", LC_THREAD_JVM },
		{ "Service Thread", LC_THREAD_JVM },
		{ "Sweeper thread", LC_THREAD_JVM },
		{ "Monitor Deflati", LC_THREAD_JVM },
		{ "java", LC_THREAD_PROGRAM },
		{ "main", LC_THREAD_PROGRAM },
		{ "Common-Cleaner", LC_THREAD_PROGRAM },
		{ "", LC_THREAD_PROGRAM },
		{ "G1", LC_THREAD_PROGRAM },
		{ "C2", LC_THREAD_PROGRAM },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (lc_thread_kind(all[i].name) != all[i].kind)
			fail_msg("%s is %d", all[i].name, (int)lc_thread_kind(all[i].name));
}

static void what_a_thread_used_stays_when_it_ends(void **state)
{
	struct worker jit = { .name = "C2 CompilerThre", .burn_ns = 40 * MS };
	struct worker later = { .name = "C1 CompilerThre", .burn_ns = 20 * MS };
	const uint64_t before = counter("cpu_jit_ns");

	start(&jit);
	look_until("cpu_jit_ns", before, 40 * MS);
	assert_near(counter("cpu_jit_ns") - before, 40 * MS);
	end(&jit);
	look();
	assert_near(counter("cpu_jit_ns") - before, 40 * MS);
	start(&later);
	look_until("cpu_jit_ns", before, 60 * MS);
	end(&later);
	look();
	assert_near(counter("cpu_jit_ns") - before, 60 * MS);
	assert_true(counter("cpu_process_ns") >= counter("cpu_jit_ns"));
}

/* A program of a second may be over before the next list. */
static void a_thread_that_started_since_the_last_list_counts_at_the_end(void **state)
{
	struct worker gc = { .name = "GC Thread#1", .burn_ns = 20 * MS };
	uint64_t before;

	lc_thread_cpu_look(true);
	before = counter("cpu_gc_ns");
	start(&gc);
	lc_thread_cpu_look(true);
	end(&gc);
	assert_near(counter("cpu_gc_ns") - before, 20 * MS);
}

static void pauses_of_the_vm_thread_are_garbage_collection_and_nothing_counts_twice(void **state)
{
	struct worker vm = {
		.name = "VM Thread", .burn_ns = 30 * MS, .pause_ns = 50 * MS, .own_ns = 20 * MS
	};
	struct worker gc = { .name = "GC Thread#0", .burn_ns = 10 * MS, .pause_ns = 25 * MS };
	const uint64_t gc_before = counter("cpu_gc_ns"), jvm_before = counter("cpu_jvm_ns");
	const uint64_t pauses_before = counter("gc_pauses");

	start(&vm);
	look_until("cpu_jvm_ns", jvm_before, 30 * MS);
	assert_near(counter("cpu_gc_ns") - gc_before, 50 * MS);
	assert_near(counter("cpu_jvm_ns") - jvm_before, 30 * MS); /* not the agent's own 20 */
	start(&gc); /* a collector's thread counts whole, in pauses or not */
	look_until("cpu_gc_ns", gc_before, 85 * MS);
	assert_near(counter("cpu_gc_ns") - gc_before, 85 * MS);
	assert_near(counter("cpu_jvm_ns") - jvm_before, 30 * MS);
	assert_int_equal(counter("gc_pauses") - pauses_before, 2);
	assert_true(counter("gc_pauses_ns") >= 75 * MS);
	end(&vm);
	end(&gc);
	look();
	assert_near(counter("cpu_gc_ns") - gc_before, 85 * MS);
}

static void threads_with_a_record_are_the_programs_whatever_their_name(void **state)
{
	struct worker java = { .name = "GC Thread#0", .burn_ns = 20 * MS };
	struct worker compiler = { .name = "JVMCI CompilerT", .burn_ns = 20 * MS };
	struct lc_thread of_java = { .name = "GC Thread#0" };
	struct lc_thread of_compiler = { .name = "JVMCI CompilerThread0", .next = &of_java };
	const uint64_t gc_before = counter("cpu_gc_ns"), jit_before = counter("cpu_jit_ns");

	start(&java);
	start(&compiler);
	of_java.tid = java.tid;
	of_compiler.tid = compiler.tid;
	records = &of_compiler;
	look_until("cpu_jit_ns", jit_before, 20 * MS);
	assert_int_equal(counter("cpu_gc_ns"), gc_before);
	assert_near(counter("cpu_jit_ns") - jit_before, 20 * MS);
	records = NULL;
	end(&java);
	end(&compiler);
}

static void what_was_used_before_an_attach_is_not_counted(void **state)
{
	struct worker jit = { .name = "C2 CompilerThre", .burn_ns = 20 * MS };

	start(&jit);
	look_until("cpu_jit_ns", 0, 20 * MS);
	assert_true(counter("cpu_jit_ns") >= 20 * MS);
	lc_thread_cpu_start(false);
	assert_int_equal(counter("cpu_jit_ns"), 0);
	assert_true(counter("cpu_process_ns") < 5 * MS);
	assert_int_equal(counter("major_faults"), 0);
	end(&jit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_are_known_by_their_names),
		cmocka_unit_test(what_a_thread_used_stays_when_it_ends),
		cmocka_unit_test(a_thread_that_started_since_the_last_list_counts_at_the_end),
		cmocka_unit_test(
		    pauses_of_the_vm_thread_are_garbage_collection_and_nothing_counts_twice),
		cmocka_unit_test(threads_with_a_record_are_the_programs_whatever_their_name),
		cmocka_unit_test(what_was_used_before_an_attach_is_not_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
