# SPDX-License-Identifier: MIT
#
# The GStreamer plugin, where GStreamer's headers are; GST=no leaves it out.
GST ?= $(shell pkg-config --exists gstreamer-video-1.0 gstreamer-allocators-1.0 && echo yes)
GST_PLUGIN := $(BUILD)/gst/libgstsalvo.so

ifeq ($(GST),yes)
GST_MODULES := gstreamer-video-1.0 gstreamer-allocators-1.0
GST_CFLAGS   = $(eval GST_CFLAGS := $$(shell pkg-config --cflags $(GST_MODULES)))$(GST_CFLAGS)
TOOLS += $(GST_PLUGIN)

$(BUILD)/obj/tools/gst/%.o: CPPFLAGS += $(GST_CFLAGS)
$(BUILD)/obj/tests/gst/%.o: CPPFLAGS += $(GST_CFLAGS)
# GStreamer's headers have function types with fewer arguments, and unused ones.
$(BUILD)/obj/tools/gst/%.o: WARN += -Wno-unused-parameter

$(GST_PLUGIN): $(call obj,$(wildcard tools/gst/*.c)) $(FACES_OBJS) $(TOOL_COMMON) \
		$(PARSE_LIB) $(BUILD)/lib/libsalvo.a
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -shared -Wl,-z,defs -Wl,--exclude-libs,ALL -o $@ $^ \
		$$(pkg-config --libs $(GST_MODULES)) $(FACES_LIBS) $(LIBS)

# For tests/vm/media.sh
tests: $(BUILD)/tests/gst/feed
$(BUILD)/tests/gst/feed: $(call obj,tests/gst/feed.c tests/common/dmabuf.c)
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -o $@ $^ $$(pkg-config --libs $(GST_MODULES)) $(LIBS)
endif
