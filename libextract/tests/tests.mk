# SPDX-License-Identifier: MIT
# Unit tests, fuzz targets and benchmarks (one program per source file), and the make targets that
# run tests. .ci/run-tests documents what a test prints and how it is counted.

UNIT_SOURCES  := $(sort $(wildcard libextract/tests/unit/test_*.c libextract/tests/unit/*/test_*.c))
UNIT_PROGRAMS := $(UNIT_SOURCES:libextract/tests/unit/%.c=$(BUILD)/unit/%)
UNIT_SUPPORT  := $(filter-out $(UNIT_SOURCES),\
                   $(sort $(wildcard libextract/tests/unit/*.c libextract/tests/unit/*/*.c)))
FUZZ_SOURCES  := $(sort $(wildcard libextract/tests/fuzz/fuzz_*.c libextract/tests/fuzz/*/fuzz_*.c))
FUZZ_PROGRAMS := $(addprefix $(BUILD)/fuzz/,$(notdir $(FUZZ_SOURCES:.c=)))
BENCH_SOURCES := $(sort $(wildcard libextract/tests/bench/*.c))
BENCH_PROGRAMS := $(BENCH_SOURCES:libextract/tests/bench/%.c=$(BUILD)/bench/%)
SUPPORT_OBJECTS := $(UNIT_SUPPORT:%.c=$(BUILD)/obj/%.o)

.PHONY: test asan soak fuzz bench viewer check-style check-rooms check-release qemu-tests \
        test-programs unit-programs fuzz-programs bench-programs
.SECONDARY:

JOBS     := $(shell nproc 2>/dev/null || echo 2)
# With `make -jN`, the caller's jobs are used.
SUBMAKE   = $(MAKE) --no-print-directory $(if $(filter 1,$(V)),,-s) \
              $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS))
STRICT   := CFLAGS='-O1 -g -Werror'
ASAN     := BUILD=build/asan SANITIZE=address,undefined $(STRICT)
UBSAN    := BUILD=build/ubsan SANITIZE=undefined $(STRICT)
FUZZING  := BUILD=build/clang-fuzz CC=clang SANITIZE=fuzzer-no-link,address,undefined $(STRICT)

# If a test defines __wrap_NAME, that function replaces the library's calls of NAME.
wraps = $$(nm $(filter %.o,$^) | sed -n 's/.* T __wrap_/-Wl,--wrap=/p')

$(BUILD)/unit/%: $(BUILD)/obj/libextract/tests/unit/%.o $(SUPPORT_OBJECTS) $(BUILD)/libextract.a
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -pie $(filter %.o,$^) $(wraps) $(BUILD)/libextract.a -o $@ -lcmocka $(LIBS)

# These tests use objects of the program, which the library does not contain.
$(BUILD)/unit/cli/test_top $(BUILD)/unit/cli/test_top_stream: $(filter-out %/main.o,$(CLI_OBJECTS))

define fuzz_program
$(BUILD)/fuzz/$(notdir $(1:.c=)): $(1:%.c=$(BUILD)/obj/%.o) $(BUILD)/libextract.a
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(LINK) -fsanitize=fuzzer $$^ -o $$@ $$(LIBS)
endef
$(foreach source,$(FUZZ_SOURCES),$(eval $(call fuzz_program,$(source))))

$(BUILD)/bench/%: $(BUILD)/obj/libextract/tests/bench/%.o $(BUILD)/libextract.a
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -pie $^ -o $@ $(LIBS)

# The benchmark bench_posix, linked to the shared library.
$(BUILD)/bench/bench_posix_shared: $(BUILD)/obj/libextract/tests/bench/bench_posix.o \
                                   $(BUILD)/libextract.so
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -pie $^ -o $@ -Wl,-rpath,'$$ORIGIN/..'
BENCH_PROGRAMS += $(BUILD)/bench/bench_posix_shared

# Programs that check the events of the storm images.
CHECKERS := build/proofcheck build/recordcheck build/hookcheck build/posixcheck
$(CHECKERS): build/%: build/obj/qemu-tests/checkers/%.o
	$(call say,LINK,$@)
	$(Q)$(LINK) -pie $^ -o $@

# The assertions of POSIX trace: on a process of this host, and on targets.
ATTACHED := $(BUILD)/posix_attach
ATTACH_SOURCES := $(wildcard qemu-tests/checkers/attach/*.c)
$(ATTACHED): $(ATTACH_SOURCES:%.c=$(BUILD)/obj/%.o) $(BUILD)/libextract.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -pie $^ $(wraps) -o $@ $(LIBS)
CHECKERS += $(ATTACHED)

# The modules that bundle and test the viewer, as package-lock.json has them. npm trusts the
# certificates that the system trusts.
VIEWER  := libextract/showing/export/html
MODULES := build/node/.installed
$(MODULES): $(VIEWER)/package.json $(VIEWER)/package-lock.json
	$(call say,NPM,$@)
	$(Q)mkdir -p $(@D) && cp $^ $(@D) && \
	  NODE_EXTRA_CA_CERTS=$${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt} \
	  npm ci --prefix $(@D) --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
	$(Q)touch $@

# Makes the bundle of the viewer, which is a part of the tree, of its sources.
viewer:
	@.ci/setup.sh test
	@$(SUBMAKE) $(MODULES)
	@node $(VIEWER)/bundle.mjs build/node

# The program and what runs it on damaged files, in one.
MUTATE := $(BUILD)/mutate
MUTATE_SOURCES := $(wildcard libextract/tests/mutation/*.c)
$(BUILD)/obj/libextract/tests/mutation/main.o: libextract/program/cli/main.c $(BUILD)/flags \
    | $(GENERATED)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -Dmain=ringside_main -MMD -MP -c $< -o $@
$(MUTATE): $(MUTATE_SOURCES:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/libextract/tests/mutation/main.o \
           $(filter-out %/main.o,$(CLI_OBJECTS)) $(BUILD)/libextract.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -pie $^ -o $@ $(LIBS)

unit-programs: $(PROGRAM) $(UNIT_PROGRAMS) $(ATTACHED) $(MUTATE) # some of them start $(PROGRAM)
test-programs: all unit-programs $(PROBE)
fuzz-programs: $(FUZZ_PROGRAMS)
bench-programs: $(BENCH_PROGRAMS)

test:
	@.ci/setup.sh test
	@$(SUBMAKE) test-programs $(CHECKERS) firmware $(MODULES)
	@$(SUBMAKE) $(ASAN) unit-programs
	@$(SUBMAKE) $(FUZZING) fuzz-programs
	@MAKE='$(MAKE)' SAMPLE_STEP=4 .ci/run-tests cases builds reader fuzz mutation asan-unit unit cli \
	  viewer install rooms style

asan:
	@.ci/setup.sh test
	@$(SUBMAKE) $(ASAN) test-programs
	@$(SUBMAKE) $(UBSAN) all
	@$(SUBMAKE) $(CHECKERS) firmware
	@MAKE='$(MAKE)' .ci/run-tests asan-unit asan-cli asan-reader asan-cases

soak:
	@.ci/setup.sh test
	@$(SUBMAKE) test-programs $(CHECKERS) firmware
	@$(SUBMAKE) $(ASAN) build/asan/mutate
	@$(SUBMAKE) $(FUZZING) fuzz-programs
	@FUZZ_SECONDS=$(or $(SECONDS),600) FUZZ_SEED=0 MUTATION_RUNS=50000 \
	  MUTATION_FROM=$$(date +%s00000) .ci/run-tests soak mutation fuzz

fuzz:
	@.ci/setup.sh test
	@$(SUBMAKE) $(FUZZING) fuzz-programs
	@FUZZ_SECONDS=$(or $(SECONDS),60) FUZZ_SEED=0 .ci/run-tests fuzz

bench:
	@.ci/setup.sh test
	@$(SUBMAKE) all bench-programs firmware $(MODULES)
	@bad=0; for b in $(BENCH_PROGRAMS) $(sort $(wildcard libextract/tests/bench/*.sh)); do \
	  echo "== $$b"; BUILD=$(BUILD) ./$$b || bad=1; done; exit $$bad

check-style:
	@.ci/setup.sh test
	@.ci/run-tests style

check-rooms:
	@$(SUBMAKE) all
	@.ci/run-tests rooms

# Needs root, for debootstrap and mounts.
check-release:
	$(if $(SUITE),,$(error usage: make check-release SUITE=trixie))
	@.ci/check-release.sh '$(SUITE)'

qemu-tests:
	$(if $(and $(IMAGE),$(MACHINE)),,$(error usage: make qemu-tests IMAGE=fw.elf MACHINE=mps2-an385))
	@.ci/setup.sh test
	@$(SUBMAKE) all
	@IMAGE='$(IMAGE)' MACHINE='$(MACHINE)' .ci/run-tests generic
