# SPDX-License-Identifier: MIT
#
# The kernels of the example batches, and example programs: build/examples/NAME. That of gbm is
# built where its header is.
TOOLS += $(patsubst tools/examples/%.cl,$(BUILD)/kernels/%.salvo,$(wildcard tools/examples/*.cl))

GBM      ?= $(shell pkg-config --exists gbm && echo yes)
EXAMPLES := $(BUILD)/examples/ioctl $(if $(filter yes,$(GBM)),$(BUILD)/examples/gbm)
TOOLS    += $(EXAMPLES)

$(BUILD)/examples/ioctl: $(BUILD)/obj/tools/examples/ioctl.o
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -o $@ $^

$(BUILD)/examples/gbm: $(BUILD)/obj/tools/examples/gbm.o $(BUILD)/lib/libsalvo.a
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -o $@ $^ -lgbm $(LIBS)
