# SPDX-License-Identifier: MIT
#
# The host's tests under a sanitizer of gcc. Each has a build of its own in build/NAME, with links to
# what is not C (salvo-cc, kernels), and runs in build/NAME/tree: a tree of links, in which build/ is
# that build, so that test scripts need not know. Warnings are off: instrumented code has false ones.

SANITIZERS := asan ubsan tsan

SANITIZE.asan  := -fsanitize=address -fno-omit-frame-pointer
SANITIZE.ubsan := -fsanitize=undefined -fno-sanitize-recover=all
# Fences are not known to it, but what they order is atomic here. A fault leaves its signal handler
# by siglongjmp(), so that all that follows seems to be inside of a signal.
SANITIZE.tsan  := -fsanitize=thread

# Kernels as C, against which salvo-cc's are compared: their integers wrap as those of a GPU.
$(BUILD)/obj/tests/cc/%.o: override CFLAGS += -fno-sanitize=undefined

# A test may take longer there than the 30 seconds of the harness.
$(SANITIZERS:%=$(BUILD)/%/$(HARNESS)): $(KSELFTEST)
	@rm -rf $(@D)
	@mkdir -p $(@D)
	@cp $(<D)/kselftest.h $(@D)
	@sed 's/\(define TEST_TIMEOUT_DEFAULT\) .*/\1 600/' $< >$@

SANITIZE_PROGRAMS := $(filter-out $(VM_TESTS:%=$(BUILD)/tests/%/%),$(TEST_PROGRAMS))
SANITIZE_SCRIPTS  := $(wildcard tests/tools/*.sh tests/faces/*.sh)

.PHONY: asan ubsan tsan
##@ Tests
asan: ## the host's tests under AddressSanitizer
ubsan: ## the host's tests under UndefinedBehaviorSanitizer
tsan: ## the host's tests under ThreadSanitizer
$(SANITIZERS):
	@$(MAKE) -j$(JOBS) all-user $(BUILD)/$@/$(HARNESS) $(TEST_KERNELS)
	@mkdir -p $(BUILD)/$@/bin $(BUILD)/$@/tree
	@ln -sfn ../kernels $(BUILD)/$@
	@ln -sfn ../../bin/salvo-cc $(BUILD)/$@/bin/salvo-cc
	@ln -sfn $(addprefix $(CURDIR)/,$(filter-out build,$(wildcard *))) $(BUILD)/$@/tree
	@ln -sfn .. $(BUILD)/$@/tree/build
	@$(MAKE) -j$(JOBS) BUILD=$(BUILD)/$@ -o $(BUILD)/$@/bin/salvo-cc \
		WARN=-w CFLAGS='-O1 -g -fPIC -pthread $(SANITIZE.$@)' sanitize-programs
	@cd $(BUILD)/$@/tree && \
		ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:detect_stack_use_after_return=0:use_sigaltstack=0 \
		UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=exitcode=66:report_signal_unsafe=0:suppressions=tests/tsan.supp \
		tests/run -t 900 $(patsubst $(BUILD)/%,build/%,$(sort $(SANITIZE_PROGRAMS))) $(SANITIZE_SCRIPTS)

.PHONY: sanitize-programs
sanitize-programs: $(SANITIZE_PROGRAMS) $(filter-out %/salvo-cc %.salvo,$(filter $(BUILD)/bin/%,$(TOOLS)))
