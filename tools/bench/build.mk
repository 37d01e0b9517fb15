# SPDX-License-Identifier: MIT
#
# salvo-bench, with its kernel inside the binary.
vpath %.cl tools/bench
TOOLS += $(BUILD)/bin/salvo-bench

$(BUILD)/bin/salvo-bench: $(call obj,$(wildcard tools/bench/*.c tools/bench/*.S)) \
		$(TOOL_COMMON) $(BUILD)/lib/libsalvo.a
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/obj/tools/bench/program.o: CPPFLAGS += -DBENCH_PROGRAM='"$(BUILD)/kernels/bench.salvo"'
$(BUILD)/obj/tools/bench/program.o: $(BUILD)/kernels/bench.salvo
