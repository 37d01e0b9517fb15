# SPDX-License-Identifier: MIT
TOOLS += $(BUILD)/bin/salvo-submit

$(BUILD)/bin/salvo-submit: $(call obj,$(wildcard tools/submit/*.c)) $(TOOL_COMMON) \
		$(PARSE_LIB) $(BUILD)/lib/libsalvo.a
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -o $@ $^ $(LIBS)
