# SPDX-License-Identifier: MIT
#
# The ioctl fuzzer: an ordinary test program for the virtual machine, of two files.

FUZZ_IOCTL := $(BUILD)/tests/fuzz/ioctl/ioctl

$(FUZZ_IOCTL): $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/fuzz/ioctl/*.c)) $(TEST_COMMON) \
		$(BUILD)/lib/libsalvo.a
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -o $@ $^ $(LIBS)

.PHONY: fuzz-ioctl
##@ Tests
fuzz-ioctl: ## fuzz the driver's ioctls on the debug kernel for SECONDS (60)
	@tools/deps
	@$(MAKE) -j$(JOBS) all $(FUZZ_IOCTL)
	@tree=$$(tests/vm/debug-kernel) && seconds=$(or $(SECONDS),60) && \
		$(MAKE) MODULE_DIR=$(BUILD)/module-debug KDIR=$$tree modules && \
		tests/vm/run-vm --kernel $$tree -m $(BUILD)/module-debug/salvo.ko -t $$((seconds + 600)) \
			--boot-time 180 --program-time $$((seconds + 300)) \
			-e SALVO_FUZZ_SECONDS=$$seconds -e SALVO_FUZZ_SEED=$(or $(SEED),$$(date +%s)) \
			-f tests/fuzz/ioctl/seeds:/root/seeds \
			--append 'kasan_multi_shot kmemleak=on' $(FUZZ_IOCTL)
