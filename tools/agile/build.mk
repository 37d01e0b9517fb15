# SPDX-License-Identifier: MIT
TOOLS += $(BUILD)/bin/salvo-agile

$(BUILD)/bin/salvo-agile: $(call obj,$(wildcard tools/agile/*.c)) $(TOOL_COMMON) \
		$(BUILD)/lib/libsalvo-agile.a $(BUILD)/lib/libsalvo.a
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -o $@ $^ -lcjson $(LIBS)
