# Locus. Every target is a line or two; the work is in scripts/.
#
#   make [CC=clang] [SAN=address,undefined | SAN=thread] [LTO=1] [V=1]
#
# A unit test, fuzzer or micro-benchmark says in its first line what it is linked with:
#   /* uses: src/a.c src/b.c -lfoo */

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
Q := $(if $(V),,@)

WARN := -Wall -Wextra -Wundef -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Werror
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
CPPFLAGS += -D_GNU_SOURCE -DLC_VERSION='"$(VERSION)"' -I. -Isrc -I$(B)/gen \
	$(if $(JDK),-isystem $(JDK)/include -isystem $(JDK)/include/linux)
CFLAGS ?= -O2 -g
LC_CFLAGS := -std=gnu11 $(WARN) -fPIC -fvisibility=hidden -ftls-model=initial-exec -pthread \
	$(if $(LTO),-flto) $(CFLAGS) $(SANFLAGS)
LC_LDFLAGS := $(if $(LTO),-flto) $(LDFLAGS) $(SANFLAGS) -pthread -Wl,--as-needed

PRELOAD_SRC := $(wildcard src/gc/preload.c) src/launch.c
AGENT_SRC := $(filter-out $(PRELOAD_SRC),$(wildcard src/*.c src/*/*.c))
LOCUS_SRC := $(wildcard analyzer/*.c) src/options.c
VIEWER := $(sort $(wildcard analyzer/viewer/*))
AGENT_LIBS := -lJudy -lZydis -lzstd -lpthread -ldl -lrt
LOCUS_LIBS := -lzstd -ljansson -lzip
PRELOAD_MAP := $(wildcard src/gc/preload.map)

# Generated headers, each only where its source exists.
GEN := $(if $(wildcard src/heap/LocusHook.java),$(B)/gen/hook_class_bytes.h) \
	$(if $(VIEWER),$(B)/gen/viewer.h)

objects = $(patsubst %.c,$(B)/obj/%.o,$(1))
uses = $(shell sed -n '1s,^/\* *uses:\(.*\)\*/.*,\1,p' $(1))
uses_src = $(filter %.c,$(call uses,$(1)))
uses_libs = $(filter -l% -Wl%,$(call uses,$(1)))
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/test_*.c))
BENCH := $(patsubst tests/bench/%.c,$(B)/bench/%,$(wildcard tests/bench/bench_*.c))
FUZZ := $(patsubst tests/fuzz/%.c,$(F)/%,$(wildcard tests/fuzz/fuzz_*.c))

.PHONY: all agent preload locus unit bins
all: agent preload locus
agent: $(if $(wildcard src/agent.c),$(B)/liblocus.so)
preload: $(B)/liblocus-preload.so
locus: $(if $(wildcard analyzer/main.c),$(B)/locus)
unit: $(UNIT)
benchmarks: $(BENCH)
fuzzers: $(FUZZ)

# Rebuild when the compiler or its flags change.
$(B)/.flags: FORCE
	@mkdir -p $(@D); echo '$(CC) $(LC_CFLAGS) $(CPPFLAGS) $(LC_LDFLAGS)' | cmp -s - $@ || \
		echo '$(CC) $(LC_CFLAGS) $(CPPFLAGS) $(LC_LDFLAGS)' >$@

$(B)/obj/%.o: %.c $(B)/.flags | $(GEN)
	@mkdir -p $(@D); $(if $(Q),echo "  CC $<")
	$(Q)$(CC) $(CPPFLAGS) $(LC_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/liblocus.so: $(call objects,$(AGENT_SRC)) src/liblocus.map
	$(Q)$(CC) $(LC_CFLAGS) -shared -Wl,--version-script=src/liblocus.map -Wl,-z,defs,-z,now \
		$(LC_LDFLAGS) -o $@ $(filter %.o,$^) $(AGENT_LIBS)

$(B)/liblocus-preload.so: $(call objects,$(PRELOAD_SRC)) $(PRELOAD_MAP)
	$(Q)$(CC) $(LC_CFLAGS) -shared $(addprefix -Wl$(comma)--version-script=,$(PRELOAD_MAP)) \
		-Wl,-z,defs,-z,now $(LC_LDFLAGS) -o $@ $(filter %.o,$^) -ldl

$(B)/locus: $(call objects,$(LOCUS_SRC))
	$(Q)$(CC) $(LC_CFLAGS) $(LC_LDFLAGS) -o $@ $^ $(LOCUS_LIBS)

$(B)/gen/hook_class_bytes.h: src/heap/LocusHook.java scripts/compile-hook scripts/embed
	$(Q)scripts/compile-hook $< $(B)/gen/hook && \
		scripts/embed $@ lc_hook_class_bytes=$(B)/gen/hook/java/lang/LocusHook.class

$(B)/gen/viewer.h: $(VIEWER) scripts/embed
	$(Q)scripts/embed $@ $(foreach f,$(VIEWER),lc_viewer_$(subst -,_,$(subst .,_,$(notdir $f)))=$f)

.SECONDEXPANSION:
$(B)/tests/%: tests/unit/%.c $$(call objects,tests/unit/$$*.c $$(call uses_src,tests/unit/$$*.c))
	@mkdir -p $(@D)
	$(Q)$(CC) $(LC_CFLAGS) $(LC_LDFLAGS) -o $@ $(filter %.o,$^) -lcmocka $(call uses_libs,$<) -ldl -lrt

$(B)/bench/%: tests/bench/%.c $$(call objects,tests/bench/$$*.c $$(call uses_src,tests/bench/$$*.c))
	@mkdir -p $(@D)
	$(Q)$(CC) $(LC_CFLAGS) $(LC_LDFLAGS) -o $@ $(filter %.o,$^) $(call uses_libs,$<) -ldl -lrt

FUZZFLAGS := -std=gnu11 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
$(F)/%: tests/fuzz/%.c $$(call uses_src,tests/fuzz/$$*.c) $(wildcard src/*.h src/*/*.h analyzer/*.h) | $(GEN)
	@mkdir -p $(@D); $(if $(Q),echo "  FUZZ $<")
	$(Q)clang $(CPPFLAGS) $(FUZZFLAGS) -o $@ $(filter %.c,$^) $(call uses_libs,$<) -lpthread

.PHONY: FORCE benchmarks fuzzers test check-unit demo bench evaluate soak fuzz lint check-layers
.PHONY: install deb clean help
FORCE:
.SECONDARY:
comma := ,

test: ; scripts/test
check-unit: unit ; scripts/unit-tests $(B)/tests
clean: ; rm -rf build build-asan build-tsan build-fuzz

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
