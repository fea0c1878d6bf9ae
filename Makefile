# SPDX-License-Identifier: Apache-2.0
# Locus. Every target is a line or two; the work is in scripts/.
#
#   make [CC=clang] [SAN=address,undefined | SAN=thread] [LTO=1] [V=1]
#
# A unit test, fuzzer or micro-benchmark says in its first line what it is linked with:
#   /* uses: src/a.c src/classfile/ -lfoo */
# where a folder stands for its .c files.

ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
VERSION := 0.1.0
JDK := $(shell scripts/find-jdk)

# One directory per kind of build, so that they do not disturb each other.
B := build$(if $(SAN),-$(if $(findstring thread,$(SAN)),tsan,asan))
F := build-fuzz
# The directory of programs and of files installed with them: scripts/dist links the same objects elsewhere.
O := $(B)
Q := $(if $(V),,@)

WARN := -Wall -Wextra -Wundef -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter -Werror
# gcc knows less of lengths behind the checks, so it warns of texts cut short that are not.
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer -Wno-format-truncation)
# locus-mpi is built where Open MPI's compiler is: MPICC= builds without it. Other MPIs do not know --showme.
MPICC ?= $(shell command -v mpicc.openmpi || command -v mpicc)
MPI_LIBS := $(if $(MPICC),$(shell $(MPICC) --showme:link 2>/dev/null))
MPI_INCLUDES := $(if $(MPI_LIBS),$(patsubst %,-isystem %,$(shell $(MPICC) --showme:incdirs)))
CPPFLAGS += -D_GNU_SOURCE -DJUDYERROR_NOTEST -DLC_VERSION='"$(VERSION)"' -I. -I$(B)/gen \
	$(if $(JDK),-isystem $(JDK)/include -isystem $(JDK)/include/linux)
# Sanitizers: less optimisation takes a third off the time to compile, and another third to know only the lines that
# reports name, without variables and types. All is checked alike.
CFLAGS ?= $(if $(SAN),-O1 -g1,-O2 -g)
LC_CFLAGS := -std=gnu11 $(WARN) -fPIC -fvisibility=hidden -ftls-model=initial-exec -pthread -ffile-prefix-map=$(CURDIR)=. \
	$(if $(LTO),-flto) $(CFLAGS) $(SANFLAGS)
LC_LDFLAGS := $(if $(LTO),-flto) $(LDFLAGS) $(SANFLAGS) -pthread -Wl,--as-needed

# The five programs. scripts/layers says which folders may include which.
PRELOAD_SRC := $(wildcard src/preload/*.c)
DELAY_SRC := $(wildcard src/delay/*.c) $(patsubst %,src/classfile/%.c,edit method_code pool class_file stack_effect stackmap tables)
AGENT_SRC := $(filter-out src/preload/% src/delay/%,$(wildcard src/*/*.c src/*/*/*.c))
LOCUS_SRC := $(filter-out analyzer/mpi/%,$(wildcard analyzer/*.c analyzer/*/*.c analyzer/*/*/*.c)) $(wildcard src/base/*.c src/format/*.c src/perf/*.c)
MPI_SRC := $(wildcard $(addsuffix /*.c,analyzer/mpi analyzer/merge analyzer/model analyzer/base src/base src/format)) \
	$(addprefix analyzer/cli/,args.c choose.c completion.c help.c operands.c) $(addprefix analyzer/out/,screen.c emit.c) $(wildcard analyzer/commands/merge_*.c)
VIEWER := $(sort $(filter-out %.h %.c,$(wildcard analyzer/viewer/*)))
AGENT_MAP := src/liblocus.map
AGENT_LIBS := -lnuma -lJudy -lZydis -lpfm -lzstd -lm -lpthread -ldl -lrt
# Names the C library to link with, if it is not the machine's: scripts/dist has that of glibc 2.17.
C_LIBRARY :=
LOCUS_LIBS := -lncursesw -ltinfo -lpfm -lzstd -ljansson -lsqlite3 -lzip -lz -lm -ldl -lrt

GEN := $(addprefix $(B)/gen/,hook_class_bytes.inc span_class_bytes.inc calibrate_class_bytes.inc viewer.h)

objects = $(patsubst %.c,$(B)/obj/%.o,$(1))
# tests/unit/test_a.c:src/a.c:-lfoo for each. One process reads all of them, since make starts nine times in `make test`.
USES := $(shell awk 'FNR == 1 && sub("^/\\* *uses: *", "") && sub(" *\\*/.*", "") { gsub(" +", ":"); print FILENAME ":" $$0 }' \
	$(wildcard tests/unit/*.c tests/fuzz/*.c tests/bench/*.c))
uses_words = $(subst :, ,$(patsubst $(1):%,%,$(filter $(1):%,$(USES))))
uses = $(foreach w,$(call uses_words,$(1)),$(if $(filter %/,$(w)),$(wildcard $(w)*.c),$(w)))
uses_src = $(filter %.c,$(call uses,$(1)))
uses_libs = $(filter -l% -Wl%,$(call uses,$(1)))
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/test_*.c))
BENCH := $(patsubst tests/bench/%.c,$(B)/bench/%,$(wildcard tests/bench/bench_*.c))
FUZZ := $(patsubst tests/fuzz/%.c,$(F)/%,$(wildcard tests/fuzz/fuzz_*.c))

.PHONY: all agent preload delay locus mpi jmh bench-jar unit bins
all: agent preload delay locus mpi $(B)/locus-api.jar $(B)/.locus-jmh $(B)/.locus-bench
agent: $(O)/liblocus.so
preload: $(O)/liblocus-preload.so
delay: $(O)/liblocus-delay.so
locus: $(O)/locus
MPI := $(if $(MPI_LIBS),$(O)/locus-mpi)
mpi: $(MPI)
unit: $(UNIT)
benchmarks: $(BENCH) $(B)/bench/merge_inputs $(B)/bench/merge_rates
fuzzers: $(FUZZ)

# Rebuild when the compiler or its flags change, but not in a copy of the tree: its path is in no object.
FLAGS = $(subst $(CURDIR)=,,$(CC) $(LC_CFLAGS) $(CPPFLAGS) $(LC_LDFLAGS))
$(B)/.flags: FORCE
	@mkdir -p $(@D); echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' >$@

# On the path of a hook. A vector that is loaded from words stored just before waits for all stores, and behind a
# large allocation there are many.
HOT := src/heap/hook.c src/heap/context.c src/heap/alloc_log.c src/stack/shadow.c src/stack/call_tree.c src/jvm/code/code_frames.c
$(patsubst %.c,$(B)/obj/%.o,$(HOT)): private LC_CFLAGS += -mgeneral-regs-only
$(call objects,$(wildcard analyzer/mpi/*.c)): private CPPFLAGS += $(MPI_INCLUDES)
# An optimiser took half of the time to compile unit tests, which gain nothing from it. -Og still warns of variables without a value.
# test_cycle_clock measures what reading a clock takes.
$(patsubst %.c,$(B)/obj/%.o,$(filter-out %/test_cycle_clock.c,$(wildcard tests/unit/*.c))): private LC_CFLAGS += $(if $(SAN),-O0,-Og)
$(B)/obj/%.o: %.c $(B)/.flags | $(GEN)
	@mkdir -p $(@D); $(if $(Q),echo "  CC $<")
	$(Q)$(CC) $(CPPFLAGS) $(LC_CFLAGS) -MMD -MP -c -o $@ $<

# Calls of the agent's that src/core/own_memory.c stands before.
COUNTED := malloc calloc realloc aligned_alloc strdup free mmap munmap
, := ,
$(O)/liblocus.so: $(call objects,$(AGENT_SRC)) $(AGENT_MAP)
	$(Q)$(CC) $(LC_CFLAGS) -shared -Wl,--version-script=$(AGENT_MAP) -Wl,-z,defs,-z,now \
		$(addprefix -Wl$(,)--wrap=,$(COUNTED)) $(LC_LDFLAGS) $(C_LIBRARY) -o $@ $(filter %.o,$^) $(AGENT_LIBS)

$(O)/liblocus-preload.so: $(call objects,$(PRELOAD_SRC)) src/preload/preload.map
	$(Q)$(CC) $(LC_CFLAGS) -shared -Wl,--version-script=src/preload/preload.map \
		-Wl,-z,defs,-z,now $(LC_LDFLAGS) $(C_LIBRARY) -o $@ $(filter %.o,$^) -ldl

$(O)/liblocus-delay.so: $(call objects,$(DELAY_SRC)) src/delay/delay.map
	$(Q)$(CC) $(LC_CFLAGS) -shared -Wl,--version-script=src/delay/delay.map \
		-Wl,-z,defs,-z,now $(LC_LDFLAGS) $(C_LIBRARY) -o $@ $(filter %.o,$^)

$(O)/locus: $(call objects,$(LOCUS_SRC))
	$(Q)$(CC) $(LC_CFLAGS) $(LC_LDFLAGS) $(C_LIBRARY) -o $@ $^ $(LOCUS_LIBS)

$(O)/locus-mpi: $(call objects,$(MPI_SRC))
	$(Q)$(CC) $(LC_CFLAGS) $(LC_LDFLAGS) -o $@ $^ $(MPI_LIBS) -lzstd -ljansson -lm -lrt

HOOK_CLASS := $(B)/gen/hook/java/lang/LocusHook.class
$(HOOK_CLASS): src/heap/LocusHook.java scripts/compile-hook
	$(Q)scripts/compile-hook $< $(B)/gen/hook
$(B)/gen/hook_class_bytes.inc: $(HOOK_CLASS) scripts/embed
	$(Q)scripts/embed $< >$@.tmp && mv $@.tmp $@
SPAN_CLASS := $(B)/gen/span/java/lang/LocusSpan.class
$(SPAN_CLASS): src/span/LocusSpan.java scripts/compile-hook
	$(Q)scripts/compile-hook $< $(B)/gen/span
$(B)/gen/span_class_bytes.inc: $(SPAN_CLASS) scripts/embed
	$(Q)scripts/embed $< >$@.tmp && mv $@.tmp $@
CALIBRATE_CLASS := $(B)/gen/calibrate/java/lang/LocusCalibrate.class
$(CALIBRATE_CLASS): src/span/LocusCalibrate.java $(SPAN_CLASS) scripts/compile-hook
	$(Q)scripts/compile-hook $< $(B)/gen/calibrate $(B)/gen/span
$(B)/gen/calibrate_class_bytes.inc: $(CALIBRATE_CLASS) scripts/embed
	$(Q)scripts/embed $< >$@.tmp && mv $@.tmp $@

# A program calls this jar to record itself.
$(B)/locus-api.jar: $(shell find src/java/api -type f) scripts/api-jar
	@mkdir -p $(@D)
	$(Q)scripts/api-jar $@

# JMH's profiler, where Maven has or fetches JMH; the stamp, since there may be no jar.
JMH_SRC := $(shell find src/java/jmh -type f)
$(B)/.locus-jmh: $(JMH_SRC) scripts/jmh-jar
	@mkdir -p $(@D)
	$(Q)scripts/jmh-jar $(B)/locus-jmh.jar $@ build/jars
jmh: ; @rm -f $(B)/.locus-jmh; $(MAKE) -s $(B)/.locus-jmh

# `locus bench` starts this jar, with its libraries in $(B)/bench/.
BENCH_SRC := $(shell find src/java/bench -type f)
$(B)/.locus-bench: $(BENCH_SRC) scripts/bench-jar
	@mkdir -p $(@D)
	$(Q)scripts/bench-jar $(B)/locus-bench.jar $@ build/jars
bench-jar: ; @rm -f $(B)/.locus-bench; $(MAKE) -s $(B)/.locus-bench

# analyzer/viewer/a-b.js is lc_viewer_a_b_js.
$(B)/gen/viewer.h: $(VIEWER) scripts/embed-header scripts/embed
	$(Q)scripts/embed-header $@ \
		$(foreach f,$(VIEWER),lc_viewer_$(subst -,_,$(subst .,_,$(notdir $f)))=$f)

# Unit tests are linked some 400 times, and gold takes half of the time.
GOLD := $(if $(shell command -v ld.gold),-fuse-ld=gold)

.SECONDEXPANSION:
$(B)/tests/%: tests/unit/%.c $$(call objects,tests/unit/$$*.c $$(call uses_src,tests/unit/$$*.c))
	@mkdir -p $(@D)
	$(Q)$(CC) $(LC_CFLAGS) $(LC_LDFLAGS) $(GOLD) -o $@ $(filter %.o,$^) -lcmocka $(call uses_libs,$<) -ldl -lrt

$(B)/bench/%: tests/bench/%.c $$(call objects,tests/bench/$$*.c $$(call uses_src,tests/bench/$$*.c))
	@mkdir -p $(@D)
	$(Q)$(CC) $(LC_CFLAGS) $(LC_LDFLAGS) -o $@ $(filter %.o,$^) $(call uses_libs,$<) -ldl -lrt

# Fuzzers share their objects: half of the sources are in more than one.
FUZZFLAGS := -std=gnu11 -O1 -g1 -fno-sanitize-recover=all
fuzz_objects = $(patsubst %.c,$(F)/obj/%.o,$(1))
$(F)/.flags: FORCE
	@mkdir -p $(@D); echo '$(CPPFLAGS) $(FUZZFLAGS)' | cmp -s - $@ || echo '$(CPPFLAGS) $(FUZZFLAGS)' >$@
$(F)/obj/%.o: %.c $(F)/.flags | $(GEN)
	@mkdir -p $(@D); $(if $(Q),echo "  FUZZ $<")
	$(Q)clang $(CPPFLAGS) $(FUZZFLAGS) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c -o $@ $<
$(F)/%: tests/fuzz/%.c $$(call fuzz_objects,tests/fuzz/$$*.c $$(call uses_src,tests/fuzz/$$*.c))
	$(Q)clang $(FUZZFLAGS) -fsanitize=fuzzer,address,undefined -o $@ $(filter %.o,$^) $(call uses_libs,$<) -lpthread

.PHONY: FORCE generated benchmarks fuzzers tsan-unit man
.PHONY: evaluate
.PHONY: pictures test check check-unit check-unit-tsan fuzz soak lint check-layers demo bench scale install uninstall deb rpm dist musl try-packages try-jdks clean help
FORCE:
.SECONDARY:

generated: $(GEN)
# The flags for clang-tidy and editors.
compile_flags.txt: FORCE
	@printf '%s\n' $(CPPFLAGS) $(MPI_INCLUDES) $(filter-out -Werror,$(WARN)) -std=gnu11 | tr -d "'" >$@

test: ; scripts/test
check: ; scripts/test check
check-unit: unit ; scripts/unit-tests $(notdir $(B)) $(UNIT)
# ThreadSanitizer is for tests that start threads or catch signals, or whose sources do; of the analyzer only a merge
# has threads. Tests that only read through src/jvm/os/peek.c are not among these: ThreadSanitizer has handlers of its own
# for the signals that peek.c catches.
TSAN_UNIT := $(foreach t,$(UNIT),$(if $(findstring analyzer/,$(call uses,tests/unit/$(notdir $t).c)),$(if \
	$(findstring analyzer/merge/,$(call uses,tests/unit/$(notdir $t).c)),$t),$t))
THREADED_UNIT = $(foreach t,$(TSAN_UNIT),$(if $(shell grep -lE 'pthread_create|sigaction' tests/unit/$(notdir $t).c \
	$(filter-out src/jvm/os/peek.c,$(call uses_src,tests/unit/$(notdir $t).c))),$t))
tsan-unit: $$(THREADED_UNIT)
check-unit-tsan: tsan-unit ; scripts/unit-tests $(notdir $(B)) $(THREADED_UNIT)
fuzz: fuzzers ; scripts/fuzz $(FUZZ_SECONDS) $(FUZZ)
soak: all fuzzers ; scripts/test soak $(FUZZ_SECONDS) $(FUZZ)
lint: ; scripts/lint
check-layers: all ; scripts/check-layers
demo: ; scripts/install-deps build && $(MAKE) -s all && scripts/demo/run
evaluate: ; scripts/install-deps build test && $(MAKE) -s all benchmarks && scripts/evaluate $(EVALUATE_OPTIONS)
bench: ; scripts/install-deps build test && $(MAKE) -s all benchmarks && scripts/bench.py $(BENCH_OPTIONS) $(BENCH) && scripts/bench_spans.py && scripts/bench_pauses.py && scripts/bench_storms.py && scripts/bench_attach.py && scripts/bench_merge.py

pictures: ; scripts/install-deps build test && $(MAKE) -s all && scripts/pictures
scale: ; scripts/install-deps build mpi && $(MAKE) -s all $(B)/bench/merge_inputs && scripts/scale_model.py $(SCALE_OPTIONS)

MAN := $(patsubst docs/man/%.in,$(O)/man/%,$(filter-out $(if $(MPI),,%/locus-mpi.1.in),$(wildcard docs/man/*.in)))
man: $(MAN)
$(O)/man/locus-mpi.1: docs/man/locus-mpi.1.in scripts/man $(O)/locus-mpi
	@mkdir -p $(@D); scripts/man $(O)/locus-mpi $(VERSION) $< >$@
$(O)/man/%: docs/man/%.in scripts/man $(O)/locus
	@mkdir -p $(@D); scripts/man $(O)/locus $(VERSION) $< >$@

$(O)/completion: $(O)/locus ; $(Q)$(O)/locus help --bash >$@

# Files that install writes and uninstall removes.
BASE = $(DESTDIR)$(PREFIX)
LIBRARIES := $(O)/liblocus.so $(O)/liblocus-preload.so $(O)/liblocus-delay.so
JARS := $(B)/locus-api.jar $(B)/locus-jmh.jar $(B)/locus-bench.jar
LEGAL := LICENSE NOTICE
install: all man $(O)/completion
	install -d $(BASE)/bin $(BASE)/lib/locus $(BASE)/share/man/man1 $(BASE)/share/doc/locus \
		$(BASE)/share/bash-completion/completions
	install -m 755 $(O)/locus $(MPI) $(BASE)/bin/
	install -m 644 $(LIBRARIES) $(BASE)/lib/locus/
	for jar in $(JARS); do [ ! -s $$jar ] || install -m 644 $$jar $(BASE)/lib/locus/; done
	if [ -s $(B)/locus-bench.jar ]; then install -d $(BASE)/lib/locus/bench && \
		install -m 644 $(B)/bench/*.jar $(BASE)/lib/locus/bench/; fi
	install -m 644 $(MAN) $(BASE)/share/man/man1/
	install -m 644 $(LEGAL) $(BASE)/share/doc/locus/
	install -m 644 $(O)/completion $(BASE)/share/bash-completion/completions/locus
uninstall:
	rm -f $(BASE)/bin/locus $(BASE)/bin/locus-mpi $(addprefix $(BASE)/lib/locus/,$(notdir $(LIBRARIES) $(JARS))) \
		$(patsubst $(O)/man/%,$(BASE)/share/man/man1/%,$(MAN)) $(addprefix $(BASE)/share/doc/locus/,$(LEGAL)) \
		$(BASE)/share/bash-completion/completions/locus $(BASE)/lib/locus/bench/*.jar
	rmdir $(BASE)/lib/locus/bench $(BASE)/lib/locus $(BASE)/share/doc/locus 2>/dev/null || true
dist: ; scripts/install-deps build packages && scripts/dist $(VERSION)
musl: dist ; $(if $(MUSL_GCC),,scripts/install-deps musl &&) scripts/musl $(VERSION)
deb: dist ; scripts/deb $(VERSION)
rpm: dist ; scripts/rpm $(VERSION)
try-packages: deb ; scripts/try-packages $(VERSION) $(TRY_SUITES)
try-jdks: dist ; scripts/fetch-runtimes; scripts/try-jdks $(VERSION) $(TRY_JDKS)
clean: ; rm -rf build build-asan build-tsan build-fuzz compile_flags.txt
help: ; @sed -n 's/^#> //p' Makefile

#> make                build the agents, the preloaded library and the command in build/
#> make jmh            build only JMH's profiler, build/locus-jmh.jar; needs Maven
#> make bench-jar      build only what 'locus bench' starts, build/locus-bench.jar; needs Maven
#> make demo           install what is missing, build, profile an example, show the fix pays
#> make check          install what is missing, build, unit tests, a smoke of each command: 3 minutes
#> make test           install what is missing, build, run all tests but the slow ones: 25 minutes
#> make soak           the slow tests, and the fuzzers for FUZZ_SECONDS each; SHARD=K/N: the Kth of N parts
#> make fuzz           only the fuzzers
#> make evaluate       docs/EVALUATION.md: costs beside other profilers, repeatability, accuracy, benchmarks of loops;
#>                     75 minutes a call, a day in all; it goes on where it stopped, also on another machine.
#>                     EVALUATE_OPTIONS=--status: what is missing; --quick: a minute; scripts/evaluate --help lists more
#> make bench          what Locus and other profilers cost: whole programs in turn; hours.
#>                     BENCH_OPTIONS=--quick: 25 minutes for each JDK; scripts/bench.py --help lists more
#> make scale          what merges by many ranks cost, and how far the model of docs/design/merge.md foretells it; 10 minutes.
#>                     SCALE_OPTIONS=--ranks=4; scripts/scale_model.py --help lists more
#> make pictures       docs/img: the page of kept profiles in Chromium; lint says when it is needed
#> make lint           format, static checks, scripts, layers
#> make install        PREFIX=/usr/local DESTDIR=
#> make uninstall      removes what install wrote; the same PREFIX and DESTDIR
#> make dist           a tarball in build/ whose programs need nothing but the C library, glibc 2.17 or newer; the same
#>                     as one file, locus-VERSION-linux-x86_64, and as a jar, locus-loader.jar
#> make deb            a Debian package of the same programs in build/, clean under lintian
#> make rpm            an RPM package of them; needs rpmbuild
#> make try-packages   tries tarball, package and file in Debian 11, 12 and 13 with a JRE and little else; root, network, 10 minutes;
#>                     TRY_SUITES="bullseye sid"
#> make musl           the same as one file for musl (Alpine), build/locus-VERSION-musl-x86_64; needs musl-tools
#> make try-jdks       tries the tarball on this machine's JDKs and those of Debian's unstable suite (26, 27); root, network,
#>                     15 minutes. TRY_JDKS="26 /opt/jdk": these versions and directories; one for musl tries the file
#>                     of make musl. TRY_GLIBC=DIR: directories with the glibc in DIR

-include $(shell find $(B)/obj $(F)/obj -name '*.d' 2>/dev/null)
