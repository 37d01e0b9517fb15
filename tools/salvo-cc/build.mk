# SPDX-License-Identifier: MIT
#
# salvo-cc: the passes, and inside it the library of built-in functions

TOOLS += $(BUILD)/bin/salvo-cc

LLVM_CONFIG := llvm-config-19
LLVM_BIN     = $(eval LLVM_BIN := $$(shell $(LLVM_CONFIG) --bindir))$(LLVM_BIN)
CC_OBJ      := $(BUILD)/obj/tools/salvo-cc
CC_OBJS     := $(patsubst tools/salvo-cc/%.cc,$(CC_OBJ)/%.o,$(wildcard tools/salvo-cc/*.cc)) \
	       $(CC_OBJ)/embed.o
CC_BUILTINS := tools/salvo-cc/builtins
# What the library is written in: OpenCL C 3.0 without its generic address space
CC_FEATURES := -all,+cl_khr_fp16,+cl_khr_fp64,+__opencl_c_fp64,+__opencl_c_images,+__opencl_c_read_write_images,+__opencl_c_3d_image_writes,+cl_khr_3d_image_writes,+cl_khr_int64_base_atomics

# All is linked statically: at fixed addresses it needs no relocation at the start, which takes
# longer than compiling a small kernel; also libstdc++, to which the table of each class with virtual
# functions refers. What runs before main() is kept together.
CC_LIBS := $(patsubst %,-lclang%,CodeGen Frontend Driver Serialization Parse Sema APINotes Analysis \
	   Edit ASTMatchers AST Support Lex Basic) -llldELF -llldCommon
CC_LLVM := x86codegen aarch64codegen passes lto linker option windowsdriver coverage instrumentation \
	   frontendopenmp frontendhlsl frontendoffloading frontenddriver

$(BUILD)/bin/salvo-cc: $(CC_OBJS)
	@mkdir -p $(@D)
	$(call run,LD)$(CXX) -B$(LLVM_BIN) -fuse-ld=lld -static -no-pie \
		-Wl,--gc-sections,-z,keep-text-section-prefix -o $@ $^ \
		-L$$($(LLVM_CONFIG) --libdir) -Wl,--start-group $(CC_LIBS) -Wl,--end-group \
		$$($(LLVM_CONFIG) --link-static --libs $(CC_LLVM) | sed "s,-lPolly[A-Z]*,,g") \
		-lz -lzstd

# clang takes less than half the time that g++ takes. libstdc++'s stable_sort() is deprecated to it.
CC_COMPILE = $(LLVM_BIN)/clang++ -Wall -Wextra -Werror -Wno-unused-parameter -Wno-deprecated-enum-enum-conversion \
	-Wno-deprecated-declarations \
	-isystem $$($(LLVM_CONFIG) --includedir) $$($(LLVM_CONFIG) --cxxflags) -std=c++20 \
	-O1 -Idevice/include -Iuapi $(DRM_CFLAGS) -DSALVO_CC_LLVM_BIN='"$(LLVM_BIN)"' $(DEPFLAGS)

$(CC_OBJ)/%.o: tools/salvo-cc/%.cc $(CC_OBJ)/precompiled.h.pch
	$(call run,CXX)$(CC_COMPILE) -include-pch $(word 2,$^) -c -o $@ $<

$(CC_OBJ)/precompiled.h.pch: tools/salvo-cc/precompiled.h
	@mkdir -p $(@D)
	$(call run,CXX)$(CC_COMPILE) -fpch-instantiate-templates -x c++-header -o $@ $<

$(CC_OBJ)/embed.o: tools/salvo-cc/embed.S $(CC_OBJ)/library.bc $(CC_OBJ)/runtime.o \
		$(CC_OBJ)/runtime-aarch64.o
	$(call run,AS)$(CC) -DSALVO_CC_LIBRARY='"$(CC_OBJ)/library.bc"' \
		-DSALVO_CC_RUNTIME='"$(CC_OBJ)/runtime.o"' \
		-DSALVO_CC_RUNTIME_AARCH64='"$(CC_OBJ)/runtime-aarch64.o"' -c -o $@ $<

$(CC_OBJ)/library.bc: $(CC_BUILTINS)/library.cl $(wildcard $(CC_BUILTINS)/*) \
		device/include/salvo_stray.h
	@mkdir -p $(@D)
	$(call run,CL)$(LLVM_BIN)/clang -x cl -cl-std=CL3.0 --target=spir64 -O2 -cl-no-stdinc \
		-Xclang -cl-ext=$(CC_FEATURES) \
		-include $$($(LLVM_BIN)/clang -print-resource-dir)/include/opencl-c-base.h \
		-Idevice/include -Xclang -disable-llvm-passes -fomit-frame-pointer -Wall -Werror -Wno-unused-function -Wno-bitwise-conditional-parentheses \
		-emit-llvm -c -o $@ $<

$(CC_OBJ)/runtime.o: RUNTIME_TARGET := x86_64-pc-linux-gnu -march=x86-64-v2
$(CC_OBJ)/runtime-aarch64.o: RUNTIME_TARGET := aarch64-linux-gnu
$(CC_OBJ)/runtime.o $(CC_OBJ)/runtime-aarch64.o: $(CC_BUILTINS)/runtime.c
	@mkdir -p $(@D)
	$(call run,CC)$(LLVM_BIN)/clang --target=$(RUNTIME_TARGET) -O2 -fPIC -ffreestanding \
		-fno-builtin -ffunction-sections -fvisibility=hidden -fomit-frame-pointer \
		-fno-asynchronous-unwind-tables -Wall -Werror -c -o $@ $<
