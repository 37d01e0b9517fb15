# SPDX-License-Identifier: MIT
#
# What several tools share. An archive, so that each takes only what it uses.
$(TOOL_COMMON): $(call obj,$(wildcard tools/common/*.c))
$(BUILD)/obj/tools/%.o: CPPFLAGS += -DTOOL_VERSION='"$(VERSION)"'
