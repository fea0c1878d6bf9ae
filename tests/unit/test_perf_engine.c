/* uses: src/sample/perf_engine.c src/core/jitter.c src/sample/signals.c src/sample/chain.c src/perf/perf.c src/base/file.c src/perf/ring.c src/core/fds.c src/base/limit.c src/base/say.c src/jvm/os/guard.c src/jvm/os/peek.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_perf_engine.c - checks that a handler whose walk faults does not bring itself back, and that
 * periods are random.
 *
 * The sampler and the walk are models: each walk loads from where nothing is, as real ones do in a
 * stack that they have misread. Were the fault of such a load a sample, the test would never end.
 */
#include <asm/perf_regs.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
/* cmocka.h wants the above first. */
#include <cmocka.h>

#include "src/base/options.h"
#include "src/jvm/code/code_cache.h"
#include "src/jvm/os/peek.h"
#include "src/sample/insn.h"
#include "src/sample/sampler.h"
#include "src/sample/signals.h"
#include "src/sample/watch.h"

/* Faults beside those of the test's own touches: the shadow memory of a sanitizer has its own. */
#if defined(__SANITIZE_ADDRESS__)
enum { EXTRA = 20000 };
#elif defined(__has_feature)
enum { EXTRA = __has_feature(address_sanitizer) ? 20000 : 20 };
#else
enum { EXTRA = 20 };
#endif

enum { PERIODS_MAX = 400, PERIOD_NS = 1000000 };

enum { NOWHERE = 0x180028, PAGE = 4096, PAGES = 16, SIGNALS_MAX = 100000 };

static struct lc_sampler sampler;
static volatile sig_atomic_t signals, walks, faulted, appended;
static uint64_t counts[LC_ENGINE_COUNTS];
static bool walk_faults;
static uint64_t periods[PERIODS_MAX]; /* in force at each sample */
static bool in_java;                  /* all code is a Java method's, and accesses memory */
static struct lc_sample last;
static struct lc_registers last_regs; /* by which a step was sought */

/* -- the sampler, as far as the engine needs it --------------------------------------------- */

struct lc_sampler *lc_sampler_self(void)
{
	return &sampler;
}

bool lc_sampler_enter(struct lc_sampler *s, const void *context)
{
	/* Let the program end where it would hang: the records that follow find no walk. */
	if (++signals > SIGNALS_MAX)
		walk_faults = false;
	lc_perf_engine_enter(s);
	s->peek_before = lc_peek_begin(&((const ucontext_t *)context)->uc_sigmask);
	return true;
}

void lc_sampler_leave(struct lc_sampler *s)
{
	lc_peek_end(s->peek_before);
	lc_perf_engine_leave(s);
}

void lc_sampler_walk(struct lc_sampler *s, const void *context, uint64_t pc, struct lc_sample *head,
                     uint64_t *frames)
{
	uint64_t word;

	walks++;
	if (walk_faults)
		faulted += !lc_peek(NOWHERE, &word, sizeof(word));
}

void lc_sampler_append(struct lc_sampler *s, const struct lc_sample *head, const uint64_t *frames)
{
	last = *head;
	if (appended < PERIODS_MAX)
		periods[appended] = s->slot[0].period;
	appended++;
}

void lc_engine_add(size_t engine, enum lc_engine_count what, uint64_t n)
{
	counts[what] += n;
}

bool lc_sampler_has_stack(const void *context)
{
	return true;
}

void lc_sampler_no_stack(struct lc_sampler *s, size_t engine, uint64_t n)
{
}

void lc_sampler_registers(const void *context, struct lc_registers *out)
{
	memset(out, 0, sizeof(*out));
	out->pc = (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

void lc_sampler_begin(struct lc_sample *head, size_t engine, uint64_t pc, uint8_t kind)
{
	memset(head, 0, sizeof(*head));
	head->engine = (uint8_t)engine;
	head->pc = pc;
}

void lc_sampler_find(struct lc_sample *head, const struct lc_registers *regs,
                     const struct lc_access *access)
{
}

void lc_sampler_loaded(struct lc_sample *head, const struct lc_access *access)
{
	head->loaded = access->loaded;
	head->loaded_disp = access->loaded_disp;
}

/* The reference was loaded 5 bytes before the access; with registers there is a step. */
void lc_decode_known(const struct lc_code_cache_piece *code, const struct lc_registers *regs,
                     bool same_stack, struct lc_access *out)
{
	out->step = regs ? 64 : 0;
	if (regs)
		last_regs = *regs;
	assert_int_equal(code->kind, LC_CODE_METHOD);
	out->recipe.read_on = 4;
	out->loaded = out->recipe.pc - 5;
	out->loaded_disp = 16;
}

void lc_sampler_log_at_least(size_t bytes)
{
}

void lc_sampler_add(enum lc_sampler_count what, uint64_t n)
{
}

bool lc_code_cache_find(uint64_t pc, struct lc_code_cache_piece *out)
{
	memset(out, 0, sizeof(*out));
	if (in_java)
		*out = (struct lc_code_cache_piece){ pc - 64, pc + 64, 1, LC_CODE_METHOD };
	return in_java;
}

bool lc_insn_decode(const uint8_t *bytes, size_t len, bool native, struct lc_insn *out)
{
	memset(out, 0, sizeof(*out));
	out->memory = true;
	return in_java;
}

uint64_t lc_watch_access(size_t engine, const struct lc_registers *regs, struct lc_sample *head)
{
	return 0;
}

bool lc_trap_on_causeless(const siginfo_t *info, void *context)
{
	return false;
}

/* -- the program ---------------------------------------------------------------------------- */

static const struct lc_event event = {
	.kind = LC_KIND_FAULT,
	.period = 1,
	.attr = { .type = PERF_TYPE_SOFTWARE,
	          .config = PERF_COUNT_SW_PAGE_FAULTS,
	          .sample_period = 1,
	          .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR,
	          .exclude_kernel = 1,
	          .exclude_hv = 1 },
};

/* Without a PMU, this event's period can be changed like a PMU's. */
static const struct lc_event clock_event = {
	.kind = LC_KIND_PEBS,
	.period = PERIOD_NS,
	.attr = { .type = PERF_TYPE_SOFTWARE,
	          .config = PERF_COUNT_SW_TASK_CLOCK,
	          .sample_period = PERIOD_NS,
	          .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR,
	          .exclude_kernel = 1,
	          .exclude_hv = 1 },
};

static volatile char *fresh_pages(void)
{
	void *p = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	madvise(p, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
	return p;
}

static void touch(volatile char *pages)
{
	for (size_t i = 0; i < PAGES; i++)
		pages[i * PAGE] = 1;
}

/* The handler that the copies' faults pass by: nothing else may fault. */
static void jvm_handler(int sig, siginfo_t *info, void *context)
{
	signal(sig, SIG_DFL);
}

static bool on_timer(const siginfo_t *info, void *context)
{
	uint64_t word;

	lc_sampler_enter(&sampler, context);
	faulted += !lc_peek(NOWHERE, &word, sizeof(word));
	lc_sampler_leave(&sampler);
	return true;
}

/* In the test itself: before it, the framework puts handlers of its own in place. */
static void begin_with(const struct lc_event *sampled, int jitter)
{
	static struct lc_options options;
	struct sigaction old = { .sa_sigaction = jvm_handler, .sa_flags = SA_SIGINFO };
	const struct lc_backend *backend = lc_backend_perf();

#ifdef __SANITIZE_THREAD__
	skip(); /* it blocks all signals in a handler, and a fault there ends the program */
#endif
	assert_int_equal(sigaction(SIGSEGV, &old, NULL), 0);
	assert_int_equal(sigaction(SIGBUS, &old, NULL), 0);
	assert_int_equal(lc_peek_catch_faults(), 0);
	options.jitter = jitter;
	assert_int_equal(backend->start(0, sampled, &options), 0);
	assert_int_equal(lc_signals_use(LC_SIGNAL_TIMER, on_timer), 0);
	memset(&sampler, 0, sizeof(sampler));
	memset(counts, 0, sizeof(counts));
	for (size_t i = 0; i < LC_EVENTS_MAX; i++)
		sampler.slot[i].perf = LC_PERF_NONE;
	walk_faults = true;
	if (backend->thread_open(&sampler, 0)) {
		print_message("software events cannot be sampled here\n");
		skip();
	}
	assert_int_equal(backend->thread_begin(&sampler, 0), 0);
	signals = walks = faulted = appended = 0; /* what it took to begin */
	counts[LC_ENGINE_OWN] = 0;
}

static void begin(void)
{
	begin_with(&event, LC_JITTER_ON);
}

static int end(void **state)
{
	lc_backend_perf()->thread_pause(&sampler, 0);
	lc_backend_perf()->thread_finish(&sampler, 0);
	lc_signals_release();
	lc_peek_release_faults();
	return 0;
}

static void faults_of_the_walk_are_no_samples(void **state)
{
	volatile char *pages = fresh_pages();

	begin();
	touch(pages);
	lc_backend_perf()->thread_pause(&sampler, 0);
	assert_in_range(appended, PAGES, PAGES + EXTRA);
	assert_in_range(walks, 1, appended); /* signals that come late share a walk */
	assert_int_equal(faulted, walks);
	assert_in_range(counts[LC_ENGINE_OWN], (uint64_t)faulted, (uint64_t)faulted + EXTRA);
	assert_in_range(signals, walks, 2 * appended + EXTRA);
	lc_backend_perf()->thread_finish(&sampler, 0);
	assert_int_equal(counts[LC_ENGINE_COUNTED],
	                 counts[LC_ENGINE_SAMPLES] + counts[LC_ENGINE_RING_LOST]);
	munmap((void *)pages, (size_t)PAGES * PAGE); /* NOLINT: no longer used */
}

static void a_fault_in_another_handler_is_no_sample(void **state)
{
	begin();
	raise(lc_signals_number(LC_SIGNAL_TIMER));
	appended = walks = 0; /* first touches of the way to here */
	faulted = 0;
	counts[LC_ENGINE_OWN] = 0;
	raise(lc_signals_number(LC_SIGNAL_TIMER));
	assert_int_equal(faulted, 1);
	assert_int_equal(counts[LC_ENGINE_OWN], 1);
	assert_int_equal(appended, 0);
	assert_int_equal(walks, 0);
}

static void a_handler_in_between_does_not_drop_the_program_s(void **state)
{
	volatile char *pages = fresh_pages();
	sigset_t perf;

	begin();
	raise(lc_signals_number(LC_SIGNAL_TIMER));
	sigemptyset(&perf);
	sigaddset(&perf, lc_signals_number(LC_SIGNAL_PERF));
	sigprocmask(SIG_BLOCK, &perf, NULL);
	appended = 0;
	touch(pages);
	raise(lc_signals_number(LC_SIGNAL_TIMER));
	assert_int_equal(appended, 0);
	sigprocmask(SIG_UNBLOCK, &perf, NULL);
	assert_in_range(appended, PAGES, PAGES + EXTRA);
	munmap((void *)pages, (size_t)PAGES * PAGE); /* NOLINT: no longer used */
}

/* Run until so many samples are there; the CPU time that each took, on average. */
static uint64_t run_for_samples(int samples)
{
	uint64_t ns = 0;

	while (appended < samples) /* samples come as signals */
		;
	assert_int_equal(lc_perf_count(&sampler.slot[0].perf, &ns), 0);
	lc_backend_perf()->thread_pause(&sampler, 0);
	return ns / (uint64_t)appended;
}

/* A record tells the load of its reference, as the timer's samples do. */
static void an_access_of_java_code_has_the_load_of_its_reference(void **state)
{
	volatile char *pages = fresh_pages();

	begin();
	in_java = true;
	touch(pages);
	lc_backend_perf()->thread_pause(&sampler, 0);
	in_java = false;
	assert_true(appended >= PAGES);
	assert_true(last.pc && last.loaded == last.pc - 5);
	assert_int_equal(last.loaded_disp, 16);
	assert_int_equal(last.read_on, 4);
	assert_int_equal(last.step, 64); /* a fault's registers are of its instruction */
	munmap((void *)pages, (size_t)PAGES * PAGE); /* NOLINT: no longer used */
}

/* A record as the kernel writes it. */
struct record {
	struct perf_event_header header;
	uint64_t ip, addr, regs_abi, regs[LC_REGISTERS];
};

/* The step that the engine finds for a record of that event. */
static uint32_t step_of_record(const struct lc_event *sampled, const struct record *r)
{
	static const struct lc_options options = { .jitter = LC_JITTER_OFF };
	struct perf_event_mmap_page *page = mmap(NULL, (size_t)2 * PAGE, PROT_READ | PROT_WRITE,
	                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct lc_sampler_slot *slot = &sampler.slot[0];

	assert_true(page != MAP_FAILED);
	page->data_offset = page->data_size = PAGE;
	page->data_head = sizeof(*r);
	memcpy((char *)page + PAGE, r, sizeof(*r));
	assert_int_equal(lc_backend_perf()->start(0, sampled, &options), 0);
	memset(&sampler, 0, sizeof(sampler));
	for (size_t i = 0; i < LC_EVENTS_MAX; i++)
		sampler.slot[i].perf = LC_PERF_NONE;
	slot->perf.map = page;
	slot->perf.map_bytes = (size_t)2 * PAGE;
	slot->perf.layout.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_REGS_INTR;
	slot->perf.layout.regs_intr = 0xff00ff; /* AX to SP, R8 to R15 */
	slot->open = true;
	appended = 0;
	last.step = UINT32_MAX;
	lc_backend_perf()->thread_finish(&sampler, 0);
	assert_int_equal(appended, 1);
	return last.step;
}

/* PEBS has the registers of the end of the instruction that it names, IBS of the interrupt. */
static void records_with_the_registers_of_their_instruction_tell_a_step(void **state)
{
	struct lc_event e = { .kind = LC_KIND_PEBS, .period = 1, .attr.precise_ip = 2 };
	struct record r = { .header = { PERF_RECORD_SAMPLE, 0, sizeof(r) },
		            .ip = (uintptr_t)fresh_pages,
		            .addr = 0x1000,
		            .regs_abi = PERF_SAMPLE_REGS_ABI_64,
		            .regs = { [PERF_REG_X86_DX] = 0x1234 } };

	in_java = true;
	assert_int_equal(step_of_record(&e, &r), 64);
	assert_true(last_regs.r[2] == 0x1234);
	e.attr.precise_ip = 1; /* it names the instruction behind */
	assert_int_equal(step_of_record(&e, &r), 0);
	e = (struct lc_event){ .kind = LC_KIND_IBS, .period = 1, .attr.precise_ip = 2 };
	assert_int_equal(step_of_record(&e, &r), 0);
	in_java = false;
}

static void periods_are_random_around_what_was_asked_for(void **state)
{
	uint64_t sum = 0, low = UINT64_MAX, high = 0;

	begin_with(&clock_event, LC_JITTER_ON);
	walk_faults = false;
	/* A busy machine delivers late, which makes distances longer, and none shorter. */
	assert_in_range(run_for_samples(PERIODS_MAX), PERIOD_NS * 9 / 10, PERIOD_NS * 3);
	for (int i = 1; i < PERIODS_MAX; i++) {
		assert_in_range(periods[i], PERIOD_NS * 3 / 4, PERIOD_NS * 5 / 4);
		sum += periods[i];
		low = periods[i] < low ? periods[i] : low;
		high = periods[i] > high ? periods[i] : high;
	}
	assert_in_range(sum / (PERIODS_MAX - 1), PERIOD_NS * 95 / 100, PERIOD_NS * 105 / 100);
	assert_true(low < PERIOD_NS * 78 / 100 && high > PERIOD_NS * 122 / 100);
}

static void without_jitter_the_period_stays(void **state)
{
	begin_with(&clock_event, LC_JITTER_OFF);
	walk_faults = false;
	assert_in_range(run_for_samples(50), PERIOD_NS * 9 / 10, PERIOD_NS * 3);
	for (int i = 0; i < 50; i++)
		assert_int_equal(periods[i], PERIOD_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(faults_of_the_walk_are_no_samples, NULL, end),
		cmocka_unit_test_setup_teardown(a_fault_in_another_handler_is_no_sample, NULL, end),
		cmocka_unit_test_setup_teardown(a_handler_in_between_does_not_drop_the_program_s,
		                                NULL, end),
		cmocka_unit_test_setup_teardown(periods_are_random_around_what_was_asked_for, NULL,
		                                end),
		cmocka_unit_test_setup_teardown(
		    an_access_of_java_code_has_the_load_of_its_reference, NULL, end),
		cmocka_unit_test(records_with_the_registers_of_their_instruction_tell_a_step),
		cmocka_unit_test_setup_teardown(without_jitter_the_period_stays, NULL, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
