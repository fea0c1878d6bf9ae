/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/perf_engine.c - turns the records of perf events into samples: the engines pebs, ibs,
 * fault.
 *
 * Each thread has an event and a small buffer per engine. With each record the kernel sends the
 * thread a signal, and it arrives before the thread goes on: for a page fault before the
 * instruction is run again, for hardware a few instructions behind the one that was sampled. So the
 * handler finds the stack as it was, and nothing waits in the buffer but while our signals are
 * blocked. Signals of several events fold into one: the handler reads the buffers of all of them.
 *
 * Kernels do not throttle a software event with a period of 1, so all page faults arrive: also
 * those of our own handlers, whose walks load from where nothing may be. Were such a fault a
 * sample, its signal would be there when the handler returns, and its walk would fault in the same
 * place: for ever, before the thread runs one more instruction. So what an event of the program's
 * every occurrence records while a handler of ours runs is dropped as the handler ends (`own`), and
 * a signal that finds nothing left looks at nothing.
 *
 * Invariant: a slot's `perf` is opened and closed while no handler can enter its sampler (not yet
 *            ACTIVE, or shut and waited for); the handler only reads it.
 */
#include <asm/perf_regs.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "src/base/options.h"
#include "src/base/time.h"
#include "src/core/fds.h"
#include "src/format/kinds.h"
#include "src/jvm/code/code_cache.h"
#include "src/sample/insn.h"
#include "src/sample/sampler.h"
#include "src/sample/signals.h"
#include "src/sample/trap.h"
#include "src/sample/watch.h"

enum {
	BURST_LOG_BYTES = 2 << 20,
	SPREAD_OF_PERIOD = 4, /* a period is longer or shorter by up to 1 / this */
	IBS_STEP = 16
};

/* Rows are written by start(), before there are threads. */
static struct {
	const struct lc_event *event;
	bool every;  /* each occurrence is a sample, and is counted by the kernel as well */
	bool jitter; /* the period is random around what was asked for */
} rows[LC_EVENTS_MAX];

/* -- records ----------------------------------------------------------------------------- */

/* The interrupted thread, as far as several records can share it. */
struct interrupted {
	const void *context; /* NULL: the records are not read by the thread's own handler */
	bool no_stack;       /* there is no room for more than to count them */
	struct lc_registers regs;
	struct lc_code_cache_piece code; /* that the context is in; end 0 where none is known */
	bool walked;                     /* `frames` of the sampler hold the path of the context */
	int16_t frames_len;
};

static void look_at_context(struct interrupted *at, const void *context)
{
	memset(at, 0, sizeof(*at));
	at->context = context;
	if (!context)
		return;
	at->no_stack = !lc_sampler_has_stack(context);
	lc_sampler_registers(context, &at->regs);
	lc_code_cache_find(at->regs.pc, &at->code);
}

static bool record_registers(const struct lc_ring_record *r, struct lc_registers *out)
{
	static const unsigned char number[LC_REGISTERS] = {
		PERF_REG_X86_AX,  PERF_REG_X86_CX,  PERF_REG_X86_DX,  PERF_REG_X86_BX,
		PERF_REG_X86_SP,  PERF_REG_X86_BP,  PERF_REG_X86_SI,  PERF_REG_X86_DI,
		PERF_REG_X86_R8,  PERF_REG_X86_R9,  PERF_REG_X86_R10, PERF_REG_X86_R11,
		PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15
	};

	if (r->regs_intr_abi != PERF_SAMPLE_REGS_ABI_64)
		return false;
	out->pc = r->ip;
	for (unsigned i = 0; i < LC_REGISTERS; i++)
		out->r[i] = r->regs_intr[number[i]];
	return true;
}

/* The accesses of the instruction according to data_src. */
static uint8_t access_of(uint64_t data_src)
{
	const uint64_t op = data_src >> PERF_MEM_OP_SHIFT;
	uint8_t access = 0;

	if (op & PERF_MEM_OP_LOAD)
		access |= LC_TOUCH_LOAD;
	if (op & PERF_MEM_OP_STORE)
		access |= LC_TOUCH_STORE;
	return access ? access | LC_ACCESS_WIDTH_UNKNOWN << LC_ACCESS_WIDTH_SHIFT : 0;
}

/* Are the record and the context in one compiled method, with the same stack pointer? */
static bool in_one_frame(const struct interrupted *at, uint64_t pc, const struct lc_registers *regs)
{
	enum { SP = 4 };

	return at->context && regs && regs->r[SP] == at->regs.r[SP] &&
	       at->code.kind == LC_CODE_METHOD && pc >= at->code.start && pc < at->code.end;
}

/*
 * Find the path of a record. Its own instruction stands for the context's where both are in one
 * frame; else the path is the context's.
 */
static void walk_record(struct lc_sampler *s, struct interrupted *at,
                        const struct lc_registers *regs, struct lc_sample *head)
{
	const uint64_t pc = head->pc;

	if (!at->context)
		return;
	if (pc != at->regs.pc && in_one_frame(at, pc, regs)) {
		lc_sampler_walk(s, at->context, pc, head, s->frames);
		at->walked = false;
		return;
	}
	if (!at->walked)
		lc_sampler_walk(s, at->context, 0, head, s->frames);
	else
		head->frames_len = at->frames_len;
	at->walked = true;
	at->frames_len = head->frames_len;
}

/*
 * Are the record's registers those of its instruction? A page fault has them from before, PEBS from
 * the end of the instruction, which it names from precise_ip 2 on. IBS has the instruction's pc and
 * the registers of the interrupt, which may come behind the loop.
 */
static bool has_own_registers(const struct lc_event *event)
{
	return event->kind == LC_KIND_FAULT ||
	       (event->kind == LC_KIND_PEBS && event->attr.precise_ip >= 2);
}

/*
 * Find the access by its instruction, which is the one at the record's program counter. `regs` and
 * `same_stack` as of lc_decode_known(). A fault comes before its instruction has run; hardware
 * reports one that has run.
 */
static void decode_record(const struct lc_ring_record *r, const struct lc_code_cache_piece *code,
                          bool ran, const struct lc_registers *regs, bool same_stack,
                          struct lc_access *out)
{
	const bool java = code->kind == LC_CODE_METHOD || code->kind == LC_CODE_STUB;
	struct lc_insn insn;

	memset(out, 0, sizeof(*out));
	out->recipe.pc = r->ip;
	out->recipe.base = out->recipe.index = LC_NO_REGISTER;
	out->recipe.how = LC_HOW_NO_OPERAND;
	out->recipe.same_frame = true;
	out->life = code->life;
	out->addr = r->addr;
	out->how = LC_HOW_KERNEL;
	out->kind = (uint8_t)code->kind;
	if (!java || r->ip < code->start || r->ip >= code->end ||
	    !lc_insn_decode((const uint8_t *)(uintptr_t)r->ip, code->end - r->ip, false,
	                    &insn) || /* NOLINT */
	    !insn.memory)
		return;
	out->how = out->recipe.how = LC_HOW_DIRECT; /* for lc_find_object(): the operand is known */
	out->recipe.base = insn.base;
	out->recipe.index = insn.index;
	out->recipe.scale = insn.scale;
	out->recipe.disp = insn.disp;
	out->recipe.vector = insn.vector;
	out->recipe.ahead = !ran;
	out->recipe.base_lost = ran && insn.base < LC_REGISTERS && (insn.written >> insn.base & 1);
	out->recipe.index_lost =
	    ran && insn.index < LC_REGISTERS && (insn.written >> insn.index & 1);
	out->recipe.access = out->access = insn.access;
	lc_decode_known(code, regs, same_stack, out);
}

static void take_record(struct lc_sampler *s, size_t engine, const struct lc_ring_record *r,
                        struct interrupted *at)
{
	const enum lc_event_kind kind = rows[engine].event->kind;
	struct lc_code_cache_piece code = { .kind = 0 };
	struct lc_registers regs;
	const struct lc_registers *known = record_registers(r, &regs) ? &regs : NULL;
	struct lc_access access;
	struct lc_sample head;
	uint64_t pc = 0;

	if (!known && at->context && at->regs.pc == r->ip)
		known = &at->regs; /* no instruction has run since the record was made */

	lc_code_cache_find(r->ip, &code);
	lc_sampler_begin(&head, engine, r->ip, (uint8_t)code.kind);
	head.addr = r->addr;
	head.how = LC_HOW_KERNEL;
	head.cpu = (uint16_t)r->cpu; /* the thread may have moved since */
	head.data_src = r->data_src;
	head.latency = r->weight < UINT32_MAX ? (uint32_t)r->weight : UINT32_MAX;
	lc_engine_add(engine, LC_ENGINE_SAMPLES, 1);
	if (kind == LC_KIND_WATCH) {
		/* A breakpoint on data hits behind its instruction, which the path is to name. */
		pc = lc_watch_access(engine, known, &head);
	} else {
		const bool own = known == &at->regs || has_own_registers(rows[engine].event);

		decode_record(r, &code, kind != LC_KIND_FAULT, own ? known : NULL,
		              in_one_frame(at, r->ip, known), &access);
		head.access = access.access ? access.access : access_of(r->data_src);
		head.step = access.step;
		head.read_on = access.recipe.read_on;
		/* A record of Java code that is read late may find a collection running. */
		if (known && (at->code.kind == LC_CODE_METHOD || at->code.kind == LC_CODE_STUB))
			lc_sampler_find(&head, known, &access);
		lc_sampler_loaded(&head, &access);
	}
	if (pc)
		head.pc = pc;
	walk_record(s, at, known, &head);
	lc_sampler_append(s, &head, s->frames);
}

static void lose(struct lc_sampler_slot *slot, size_t engine, uint64_t n)
{
	slot->read += n;
	lc_engine_add(engine, LC_ENGINE_RING_LOST, n);
	atomic_fetch_add_explicit(&slot->lost, n, memory_order_relaxed); /* a count */
}

static bool nothing_to_read(const struct lc_sampler *s)
{
	struct lc_ring ring;

	for (size_t i = 0; i < LC_EVENTS_MAX; i++) {
		if (!s->slot[i].perf.map)
			continue;
		lc_perf_read_begin(&s->slot[i].perf, &ring);
		if (ring.tail != ring.head)
			return false;
	}
	return true;
}

/* After a sample: draw the distance to the next. IBS counts in steps of 16. */
static void draw_period(struct lc_sampler_slot *slot, size_t engine)
{
	const struct lc_event *event = rows[engine].event;
	uint64_t period =
	    lc_jitter_around(&slot->jitter, event->period, event->period / SPREAD_OF_PERIOD);

	if (event->kind == LC_KIND_IBS)
		period = (period + IBS_STEP / 2) / IBS_STEP * IBS_STEP;
	if (!lc_perf_set_period(&slot->perf, period))
		slot->period = period;
}

static void read_slot(struct lc_sampler *s, size_t engine, struct interrupted *at)
{
	struct lc_sampler_slot *slot = &s->slot[engine];
	const uint64_t read = slot->read;
	struct lc_ring_record record;
	struct lc_ring ring;

	lc_perf_read_begin(&slot->perf, &ring);
	if (rows[engine].every && at->context)
		ring.head = slot->entered_at;
	while (lc_ring_next(&ring, &record)) {
		switch (record.type) {
		case LC_RING_SAMPLE:
			slot->read++;
			if (at->no_stack)
				lc_sampler_no_stack(s, engine, 1);
			else
				take_record(s, engine, &record, at);
			break;
		case LC_RING_LOST:
		case LC_RING_LOST_SAMPLES:
			lose(slot, engine, record.lost);
			break;
		case LC_RING_DAMAGED: /* it is not known how many samples are lost */
			lose(slot, engine, 1);
			break;
		case LC_RING_THROTTLE:
			lc_engine_add(engine, LC_ENGINE_THROTTLED, 1);
			break;
		default:
			break;
		}
	}
	lc_perf_read_end(&slot->perf, &ring);
	if (rows[engine].jitter && at->context && slot->read != read)
		draw_period(slot, engine);
}

/* -- what handlers cause themselves -------------------------------------------------------- */

void lc_perf_engine_enter(struct lc_sampler *s)
{
	struct lc_ring ring;

	for (size_t i = 0; i < LC_EVENTS_MAX; i++) {
		if (!rows[i].every || !s->slot[i].perf.map)
			continue;
		lc_perf_read_begin(&s->slot[i].perf, &ring);
		s->slot[i].entered_at = ring.head;
	}
}

static void drop_own(struct lc_sampler_slot *slot, size_t engine)
{
	struct lc_ring_record record;
	struct lc_ring ring;
	uint64_t own = 0;

	lc_perf_read_begin(&slot->perf, &ring);
	/* The timer's handler may come before that of records which are the program's. */
	if (ring.tail != slot->entered_at)
		return;
	while (lc_ring_next(&ring, &record))
		if (record.type == LC_RING_SAMPLE)
			own += rows[engine].event->period;
		else if (record.type == LC_RING_LOST)
			lose(slot, engine, record.lost);
	lc_perf_read_end(&slot->perf, &ring);
	if (!own)
		return;
	lc_engine_add(engine, LC_ENGINE_OWN, own);
	atomic_fetch_add_explicit(&slot->own, own, memory_order_relaxed); /* a count */
}

void lc_perf_engine_leave(struct lc_sampler *s)
{
	for (size_t i = 0; i < LC_EVENTS_MAX; i++)
		if (rows[i].every && s->slot[i].perf.map)
			drop_own(&s->slot[i], i);
}

/* -- signals ----------------------------------------------------------------------------- */

/*
 * Did the kernel send the signal for a perf event? It sends si_code POLL_IN to POLL_HUP, or a bare
 * signal when it has no memory for more. Nobody else has a reason to ask for this signal that way.
 * A signal for an event that is closed by now must not go to the handler before ours, which may
 * kill.
 */
static bool is_ours(const siginfo_t *info)
{
	return (info->si_code >= POLL_IN && info->si_code <= POLL_HUP) ||
	       (info->si_code == SI_USER && info->si_pid == 0);
}

static void read_all(struct lc_sampler *s, const void *context)
{
	struct interrupted at;

	look_at_context(&at, context);
	for (size_t i = 0; i < LC_EVENTS_MAX; i++)
		if (s->slot[i].perf.map)
			read_slot(s, i, &at);
}

static bool on_perf(const siginfo_t *info, void *context)
{
	struct lc_sampler *s;

	if (!is_ours(info))
		return false;
	s = lc_sampler_self();
	if (s && lc_sampler_enter(s, context)) {
		const uint64_t begin_ns = lc_time_now_ns();

		if (!nothing_to_read(s))
			read_all(s, context);
		lc_sampler_add(LC_SAMPLER_HANDLER_NS, lc_time_now_ns() - begin_ns);
		lc_sampler_leave(s);
	}
	return true;
}

/* -- life cycle -------------------------------------------------------------------------- */

static int start(size_t engine, const struct lc_event *event, const struct lc_options *options)
{
	rows[engine].event = event;
	rows[engine].every = event->kind == LC_KIND_FAULT || event->kind == LC_KIND_WATCH;
	rows[engine].jitter = !rows[engine].every && options->jitter == LC_JITTER_ON;
	if (rows[engine].every) /* pages of a large array fault 100,000 times a second */
		lc_sampler_log_at_least(BURST_LOG_BYTES);
	if (event->kind == LC_KIND_WATCH &&
	    lc_signals_use(LC_SIGNAL_CAUSELESS, lc_trap_on_causeless))
		return -ENOTSUP;
	return lc_signals_use(LC_SIGNAL_PERF, on_perf);
}

int lc_perf_engine_open(struct lc_perf *perf, const struct lc_event *event, int signal, int32_t tid)
{
	struct lc_perf_config config = {
		.attr = &event->attr,
		.aux = event->has_aux ? &event->aux : NULL,
		.data_pages = LC_PERF_RING_PAGES,
		.signal = signal,
	};
	int err = lc_perf_open(perf, &config, tid);

	while ((err == -EMLINK || err == -ENOMEM) && config.data_pages > 1) {
		config.data_pages /= 2;
		err = lc_perf_open(perf, &config, tid);
	}
	return err;
}

int lc_perf_engine_thread_open(struct lc_sampler *s, size_t engine, const struct lc_event *event)
{
	struct lc_sampler_slot *slot = &s->slot[engine];
	int err;

	if (!lc_fds_take(LC_FDS_EVENT))
		return -EMFILE;
	err = lc_perf_engine_open(&slot->perf, event, lc_signals_number(LC_SIGNAL_PERF), s->tid);
	if (err)
		lc_fds_give(LC_FDS_EVENT);
	slot->open = !err;
	slot->period = event->period;
	lc_jitter_begin(&slot->jitter, lc_jitter_seed(s->tid));
	return err;
}

static int thread_open(struct lc_sampler *s, size_t engine)
{
	return lc_perf_engine_thread_open(s, engine, rows[engine].event);
}

static int thread_begin(struct lc_sampler *s, size_t engine)
{
	return lc_perf_enable(&s->slot[engine].perf);
}

static void thread_pause(struct lc_sampler *s, size_t engine)
{
	if (s->slot[engine].open)
		lc_perf_disable(&s->slot[engine].perf);
}

static uint64_t thread_counted(const struct lc_sampler *s, size_t engine)
{
	const struct lc_sampler_slot *slot = &s->slot[engine];
	const uint64_t own = atomic_load_explicit(&slot->own, memory_order_relaxed); /* a count */
	uint64_t n = 0;

	if (rows[engine].every && slot->open)
		lc_perf_count(&slot->perf, &n);
	return n > own ? n - own : 0;
}

static void thread_finish(struct lc_sampler *s, size_t engine)
{
	struct lc_sampler_slot *slot = &s->slot[engine];
	struct interrupted nobody;
	uint64_t counted, due;

	if (!slot->open)
		return;
	look_at_context(&nobody, NULL);
	read_slot(s, engine, &nobody);
	/* The kernel reports lost records only with the next record that finds room. */
	counted = thread_counted(s, engine);
	due = counted / rows[engine].event->period;
	if (due > slot->read)
		lose(slot, engine, due - slot->read);
	lc_engine_add(engine, LC_ENGINE_COUNTED, counted);
	lc_perf_close(&slot->perf);
	lc_fds_give(LC_FDS_EVENT);
	slot->open = false;
}

const struct lc_backend *lc_backend_perf(void)
{
	static const struct lc_backend perf = {
		.start = start,
		.thread_open = thread_open,
		.thread_begin = thread_begin,
		.thread_pause = thread_pause,
		.thread_finish = thread_finish,
		.thread_counted = thread_counted,
	};

	return &perf;
}
