# SPDX-License-Identifier: MIT
TOOLS += $(BUILD)/bin/salvo-info

$(BUILD)/bin/salvo-info: $(call obj,$(wildcard tools/info/*.c)) $(TOOL_COMMON) \
		$(BUILD)/lib/libsalvo.a
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -o $@ $^ $(LIBS)
