# SPDX-License-Identifier: MIT
TOOLS += $(BUILD)/bin/salvo-gpu

$(BUILD)/bin/salvo-gpu: $(call obj,$(wildcard tools/gpu/*.c)) $(TOOL_COMMON) \
		$(BUILD)/lib/libsalvo.a
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -o $@ $^ $(LIBS)
