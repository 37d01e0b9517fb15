# SPDX-License-Identifier: MIT
TOOLS += $(BUILD)/bin/salvo-top

$(BUILD)/bin/salvo-top: $(call obj,$(wildcard tools/top/*.c)) $(TOOL_COMMON) \
		$(BUILD)/lib/libsalvo.a
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -o $@ $^ $(LIBS)
