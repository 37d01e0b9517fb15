# SPDX-License-Identifier: MIT
#
# salvo-faces, and the objects that its tests share with it.

FACES_OBJS := $(call obj,$(filter-out tools/faces/main.c, \
	$(wildcard tools/faces/*.c tools/faces/*.S)))
FACES_LIBS := -lexpat -lpng -ljpeg
FACES_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/faces/*.c)) $(BUILD)/tests/steal/faces

TOOLS += $(BUILD)/bin/salvo-faces

$(BUILD)/bin/salvo-faces: $(BUILD)/obj/tools/faces/main.o $(FACES_OBJS) $(TOOL_COMMON) \
		$(BUILD)/lib/libsalvo.a
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -o $@ $^ $(FACES_LIBS) $(LIBS)

$(BUILD)/obj/tools/faces/program.o: CPPFLAGS += -DFACES_PROGRAM='"$(BUILD)/kernels/faces.salvo"'
$(BUILD)/obj/tools/faces/program.o: $(BUILD)/kernels/faces.salvo
$(BUILD)/kernels/faces.salvo: tools/faces/tables.h

# The oracle is no program of its own.
$(FACES_TESTS): $(call obj,$(wildcard tests/faces/oracle/*.c)) $(FACES_OBJS) $(TOOL_COMMON)
FACES_BENCH := $(BUILD)/tests/bench/examples
$(FACES_BENCH): $(call obj,$(wildcard tests/faces/oracle/*.c)) $(FACES_OBJS) $(TOOL_COMMON)
$(FACES_TESTS): TEST_LIBS = $(TOOL_COMMON) $(BUILD)/lib/libsalvo.a $(FACES_LIBS) -lcjson
