# SPDX-License-Identifier: MIT
#
# Fuzz targets: every tests/fuzz/NAME.c becomes build/tests/fuzz/NAME, linked with libsalvo and
# libsalvogpu, all of it compiled by clang with libFuzzer, AddressSanitizer and UBSan.

FUZZ_CC     ?= clang-19
FUZZ_FLAGS  := -gline-tables-only -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all -pthread
FUZZ_BUILD  := $(BUILD)/fuzz
FUZZ_OBJS   := $(patsubst $(BUILD)/obj/%,$(FUZZ_BUILD)/%,$(USER_OBJS) $(PARSE_OBJS) $(DEVICE_OBJS))
FUZZ_OPENCL := $(patsubst $(BUILD)/obj/%,$(FUZZ_BUILD)/%,$(OPENCL_OBJS))
FUZZ        := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/fuzz/*.c))

$(FUZZ_BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call run,CC)$(FUZZ_CC) $(CSTD) -w $(CPPFLAGS) $(FUZZ_FLAGS) \
		-fsanitize=fuzzer-no-link $(DEPFLAGS) -c -o $@ $<

$(FUZZ_BUILD)/%.o: %.S
	@mkdir -p $(@D)
	$(call run,AS)$(FUZZ_CC) $(CPPFLAGS) -c -o $@ $<

$(BUILD)/tests/fuzz/opencl: $(FUZZ_OPENCL)

$(FUZZ): $(BUILD)/tests/fuzz/%: $(FUZZ_BUILD)/tests/fuzz/%.o $(FUZZ_OBJS)
	@mkdir -p $(@D)
	$(call run,LD)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

.PHONY: fuzz fuzz-programs
fuzz-programs: $(FUZZ)
##@ Tests
fuzz: fuzz-programs ## run each fuzz target for SECONDS (60); finds go to build/fuzz/finds
	@tests/fuzz/run $(or $(SECONDS),60)

-include $(shell find $(FUZZ_BUILD) -name '*.d' 2>/dev/null)
