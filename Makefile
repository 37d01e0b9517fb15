# SPDX-License-Identifier: MIT
#
# The only entry point. Sources are found by folder: those of the rooms below libuser/ (rooms.mk)
# are libsalvo, those below device/ libsalvogpu, every tests/FOLDER/*.c is one test program and every
# tests/FOLDER/*.sh one test script. All output is in build/.

VERSION := 1.0
BUILD   := build
KVER    ?= $(lastword $(sort $(patsubst /boot/vmlinuz-%,%,$(wildcard /boot/vmlinuz-*-amd64))))
KDIR    ?= /lib/modules/$(KVER)/build
JOBS    := $(shell nproc)

CC       = gcc
CXX      = g++
CSTD     = -std=gnu11
WARN     = -Wall -Wextra -Werror -Wmissing-prototypes -Wstrict-prototypes -Wvla
CPPFLAGS = -D_GNU_SOURCE $(addprefix -I,$(SEES)) $(DRM_CFLAGS)
CFLAGS   = -O2 -g -fPIC -pthread
DEPFLAGS = -MMD -MP

# Asked for when first used, so that tools/deps can install pkg-config before.
DRM_CFLAGS = $(eval DRM_CFLAGS := $$(shell pkg-config --cflags libdrm))$(DRM_CFLAGS)
LIBS       = -ldrm -lhwloc -lmd -lm -pthread -Wl,--as-needed -lseccomp

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

##@ Main targets
.PHONY: help demo demo-vm results simulation
help: ## this list
	@awk -F ':.*## ' '/^##@/ { part = substr($$0, 5) } \
		/^[a-z_-]+:.*## / { if (!(part in list)) order[++parts] = part; \
			list[part] = list[part] sprintf("  %-15s %s\n", $$1, $$2) } \
		END { for (i = 1; i <= parts; i++) printf "%s:\n%s", order[i], list[order[i]] }' $(filter-out %.d,$(MAKEFILE_LIST))

demo: ## find faces in a photo on the embedded GPU, with a packet each and with one batch
	@tools/deps
	@$(MAKE) -j$(JOBS) all-user
	@tools/demo

demo-vm: ## the same in a virtual machine, through the kernel driver
	@tools/deps
	@$(MAKE) -j$(JOBS) all
	@tools/demo-vm

results: ## measure single against batch through the driver, write Documentation/results.md
	@tools/deps
	@$(MAKE) -j$(JOBS) all tests
	@tests/bench/results

simulation: $(BUILD)/tests/bench/queues ## the queues on 16 to 4,096 units, into Documentation/queues.md
	@$< --svg Documentation/queues.svg >$(BUILD)/queues.table
	@sed -i -e '/^<!-- tables -->$$/,/^<!-- end of tables -->$$/ { //!d }' \
		-e '/^<!-- tables -->$$/ r $(BUILD)/queues.table' Documentation/queues.md

##@ Tests
.PHONY: check check-debug check-kernels lint
check: ## every test; the last line is "N passed, M failed, K skipped"
	@tools/deps
	@$(MAKE) -j$(JOBS) all tests
	@$(MAKE) run-tests

check-debug: ## the driver's tests on a kernel with KASAN, lockdep, ...; built once in ~/.cache
	@tools/deps
	@$(MAKE) -j$(JOBS) all tests
	@tree=$$(tests/vm/debug-kernel $(KERNEL_SOURCE)) && \
		$(MAKE) MODULE_DIR=$(BUILD)/module-debug KDIR=$$tree modules kunit && \
		tests/run -t 1800 $(foreach arg,--kernel $$tree -m $(BUILD)/module-debug/salvo.ko \
			-t 1800 --boot-time 180 --program-time 400 --with kunit \
			-f $(BUILD)/module-debug/tests/kunit/salvo-kunit.ko:/root/salvo-kunit.ko \
			--append kasan_multi_shot --append kmemleak=on,-a $(arg)) \
			$(patsubst %,tests/vm/%.sh,uapi lost inject shares lib faces)

check-kernels: ## the driver's tests on Linux 6.1, 6.12 and the newest; fetched into ~/.cache
	@tools/deps
	@$(MAKE) -j$(JOBS) all tests
	@tests/vm/check-kernels

lint: ## sparse, checkpatch, kernel-doc, cppcheck and the rules for the tree
	@tools/deps
	@tests/run tests/lint/lint.sh tests/docs/tree.sh

##@ Parts
.PHONY: all all-user tests run-tests modules
all: all-user modules ## build everything but the tests
	@:
all-user: libs tools man ## build libraries, tools and manual pages
	@:

# A line for each step; V=1 shows the commands.
run = $(if $(V),,@printf '  %-5s %s\n' $(1) $(patsubst $(BUILD)/%,%,$@) && )

# --- rooms: who may include what ------------------------------------------------

include rooms.mk

$(foreach room,$(ROOMS) driver $(PROGRAM_ROOMS),$(foreach kind,obj fuzz,$(eval \
	$(BUILD)/$(kind)/$(room)/%.o: SEES = $(room) $(sees.$(room)))))

.PHONY: print-rooms
print-rooms: # for tests/docs/rooms.sh
	@printf '%s\n' $(foreach room,$(ROOMS) $(filter tools/%,$(PROGRAM_ROOMS)),'$(room): $(room) $(sees.$(room))')

# --- libraries ---------------------------------------------------------------

obj = $(patsubst %,$(BUILD)/obj/%.o,$(basename $(1)))
sources = $(foreach room,$(filter $(1) $(1)/%,$(ROOMS)),$(wildcard $(room)/*.c $(room)/*.S))

DEVICE_OBJS := $(call obj,$(call sources,device))
SHARED_OBJS := $(call obj,$(patsubst %,driver/salvo_%.c,validate pack hang))
PARSE_OBJS  := $(call obj,$(call sources,libuser/parse))
MPI_OBJS    := $(call obj,$(wildcard libuser/agile/mpi/*.c))
AGILE_OBJS  := $(filter-out $(MPI_OBJS),$(call obj,$(call sources,libuser/agile)))
OPENCL_OBJS := $(call obj,$(call sources,libuser/opencl))
USER_OBJS   := $(filter-out $(PARSE_OBJS) $(AGILE_OBJS) $(MPI_OBJS) $(OPENCL_OBJS),\
	       $(call obj,$(call sources,libuser) $(call sources,common))) \
	       $(SHARED_OBJS)

# A plugin of libsalvo-agile, built where there is an MPI; nothing else needs one.
MPI_PLUGIN  := $(if $(shell pkg-config --exists ompi-c && echo yes),$(BUILD)/lib/libsalvo-agile-mpi.so.1)
MPI_CFLAGS   = $(eval MPI_CFLAGS := $$(shell pkg-config --cflags ompi-c))$(MPI_CFLAGS)
MPI_LIBS     = $(eval MPI_LIBS := $$(shell pkg-config --libs ompi-c))$(MPI_LIBS)

.PHONY: libs
libs: $(BUILD)/lib/libsalvogpu.a $(BUILD)/lib/libsalvo.a $(BUILD)/lib/libsalvo.so \
	$(BUILD)/lib/libsalvo-agile.a $(BUILD)/lib/libsalvo-agile.so $(MPI_PLUGIN) \
	$(BUILD)/lib/libsalvo-opencl.so $(BUILD)/lib/salvo.icd
# The human-readable form, read: for salvo-submit, the GStreamer elements and tests, not installed.
PARSE_LIB   := $(BUILD)/lib/libsalvoparse.a

$(BUILD)/lib/libsalvogpu.a: $(DEVICE_OBJS) $(call obj,common/huge.c common/machine.c)
$(BUILD)/lib/libsalvo.a: $(USER_OBJS) $(DEVICE_OBJS)
$(PARSE_LIB): $(PARSE_OBJS)
$(BUILD)/lib/libsalvo-agile.a: $(AGILE_OBJS)
$(BUILD)/lib/%.a:
	@mkdir -p $(@D)
	@rm -f $@
	$(call run,AR)ar rcs $@ $^

# Address spaces as processes are for salvo-gpu: the library runs its GPU in the application.
SPACE_OBJS := $(call obj,$(wildcard device/space/*.c))
$(BUILD)/lib/libsalvo.so: $(USER_OBJS) $(filter-out $(SPACE_OBJS),$(DEVICE_OBJS)) libuser/libsalvo.map
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -shared -Wl,-soname,libsalvo.so.1 -Wl,--version-script,libuser/libsalvo.map \
		-Wl,-z,defs -o $@ $(filter %.o,$^) $(LIBS)

AGILE_MAP   := libuser/agile/libsalvo-agile.map
$(BUILD)/lib/libsalvo-agile.so: $(AGILE_OBJS) $(AGILE_MAP) $(BUILD)/lib/libsalvo.so
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -shared -Wl,-soname,libsalvo-agile.so.1 -Wl,--version-script,$(AGILE_MAP) \
		-Wl,-z,defs -o $@ $(AGILE_OBJS) $(BUILD)/lib/libsalvo.so

# The OpenCL driver, for ocl-icd: OCL_ICD_VENDORS=build/lib/salvo.icd
OPENCL_MAP  := libuser/opencl/libsalvo-opencl.map
$(BUILD)/lib/libsalvo-opencl.so: $(OPENCL_OBJS) $(OPENCL_MAP) $(BUILD)/lib/libsalvo.so
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -shared -Wl,-soname,libsalvo-opencl.so.1,-z,nodelete -Wl,--version-script,$(OPENCL_MAP) \
		-Wl,-z,defs -Wl,-rpath,'$$ORIGIN' -o $@ $(OPENCL_OBJS) $(BUILD)/lib/libsalvo.so -pthread
$(BUILD)/lib/libsalvo.so.1: $(BUILD)/lib/libsalvo.so
	@ln -sf $(<F) $@
$(BUILD)/lib/salvo.icd: $(BUILD)/lib/libsalvo-opencl.so $(BUILD)/lib/libsalvo.so.1
	@echo $(abspath $<) >$@

$(MPI_OBJS): CPPFLAGS += $(MPI_CFLAGS)
$(MPI_PLUGIN): $(MPI_OBJS) libuser/agile/mpi/mpi.map
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -shared -Wl,-soname,$(@F) -Wl,--version-script,libuser/agile/mpi/mpi.map \
		-Wl,-z,defs -o $@ $(MPI_OBJS) $(MPI_LIBS)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call run,CC)$(CC) $(CSTD) $(WARN) $(CPPFLAGS) $(CFLAGS) $(DEPFLAGS) -c -o $@ $<

$(BUILD)/obj/%.o: %.S
	@mkdir -p $(@D)
	$(call run,AS)$(CC) $(CPPFLAGS) $(CFLAGS) $(DEPFLAGS) -c -o $@ $<

# --- tools -------------------------------------------------------------------

# A tool is a folder with a build.mk, which adds to TOOLS.
TOOLS       :=
TOOL_COMMON := $(BUILD)/lib/tools.a
-include $(sort $(wildcard tools/*/build.mk))

.PHONY: tools
tools: $(TOOLS)

# --- manual pages of the library's functions, from the comments of its header ----

.PHONY: man
man: $(BUILD)/man/man3/.made
$(BUILD)/man/man3/.made: $(wildcard libuser/include/*.h) tools/doc-man
	@rm -rf $(@D)
	@mkdir -p $(@D)
	$(call run,MAN)for header in $(filter %.h,$^); do \
		tools/doc-man -v out=$(@D) -v date=$$(sed -n 's/^.TH .* 7 \([0-9-]*\) .*/\1/p' \
			libuser/man/libsalvo.7) $$header $$header || exit; done >$@

# --- kernel programs: any folder/NAME.cl becomes build/kernels/NAME.salvo ------

vpath %.cl tools/faces tools/examples tests/kernels tests/bench
$(BUILD)/kernels/%.salvo: %.cl $(BUILD)/bin/salvo-cc
	@mkdir -p $(@D)
	$(call run,CL)$(BUILD)/bin/salvo-cc $(KERNEL_OPTIONS) -o $@ $<
$(BUILD)/kernels/image_kinds.salvo $(BUILD)/kernels/cc_standard.salvo: KERNEL_OPTIONS := -cl-std=CL3.0
$(BUILD)/kernels/variables.salvo: KERNEL_OPTIONS := -cl-std=CL3.0 --march all
$(BUILD)/kernels/image.salvo: KERNEL_OPTIONS := --march all
$(BUILD)/kernels/fibers.salvo: KERNEL_OPTIONS := --fibers

# --- kernel module: built in a copy, so that the tree stays clean -------------

MODULE_DIR ?= $(BUILD)/module
MODULE_SOURCES := Kbuild $(wildcard driver/*.[ch] uapi/drm/*.h) $(patsubst %,device/include/salvo_%.h,hw leaf rect)

.PHONY: print-module-sources
print-module-sources: # for tests/vm/check-kernels
	@echo $(MODULE_SOURCES)

modules: $(MODULE_DIR)/salvo.ko ## build salvo.ko for Debian's kernel
$(MODULE_DIR)/salvo.ko: $(MODULE_SOURCES)
	@mkdir -p $(@D)
	@cp -u --parents $(MODULE_SOURCES) $(@D)
	$(call run,KO)$(MAKE) -s -C $(KDIR) M=$(abspath $(@D)) modules
	@touch $@

# KUnit tests, for a kernel that has KUnit: the debug kernel.
.PHONY: kunit
kunit: $(MODULE_DIR)/tests/kunit/salvo-kunit.ko
$(MODULE_DIR)/tests/kunit/salvo-kunit.ko: $(MODULE_DIR)/salvo.ko tests/kunit/Kbuild $(wildcard tests/kunit/*.c)
	@mkdir -p $(@D)
	@cp -u tests/kunit/* $(@D)
	$(call run,KO)$(MAKE) -s -C $(KDIR) M=$(abspath $(@D)) modules
	@touch $@

# --- tests -------------------------------------------------------------------

# Asked for when first used, after tools/deps.
KERNEL_SOURCE = $(lastword $(sort $(wildcard /usr/src/linux-source-*.tar.xz)))

HARNESS   := linux/tools/testing/selftests/kselftest_harness.h
KSELFTEST := $(BUILD)/$(HARNESS)
# Folders whose programs run here, and those whose programs tests/vm/*.sh run in the virtual machine.
HOST_TESTS := unit device spin cc lib libuser steal agile opencl tools faces docs lint install
VM_TESTS   := uapi lost inject shares

TEST_COMMON   := $(call obj,$(wildcard tests/common/*.c))
TEST_PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(wildcard $(patsubst %,tests/%/*.c,$(HOST_TESTS) $(VM_TESTS))))
TEST_SCRIPTS  := $(wildcard $(patsubst %,tests/%/*.sh,$(HOST_TESTS) fuzz vm))
# But for those that tests compile themselves, in several ways
TEST_KERNELS  := $(patsubst %.cl,$(BUILD)/kernels/%.salvo,$(filter-out cc_pitfalls% many_barriers.cl many_calls.cl \
		 cc_constructs.cl cc_collective.cl cc_relaxed.cl,$(notdir $(wildcard tests/kernels/*.cl tests/bench/*.cl))))
BENCH         := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/bench/*.c))
ifeq ($(and $(MPI_PLUGIN),$(wildcard /usr/include/ga.h)),)
BENCH         := $(filter-out %/agile_ranks,$(BENCH))
endif
# Layers of the OpenCL loader, for tests/bench/opencl.py and tests/bench/programs.py.
BENCH_LAYERS  := $(BUILD)/tests/bench/libbuild_layer.so $(BUILD)/tests/bench/libkernel_layer.so

include tests/sanitize.mk tests/fuzz/build.mk tests/fuzz/ioctl/build.mk

tests: $(TEST_PROGRAMS) $(TEST_KERNELS) $(BENCH) $(BENCH_LAYERS) fuzz-programs $(FUZZ_IOCTL) $(BUILD)/lib/insn_count.so ## build the tests

# Of the kernel's source package: the test harness, and what tests/lint/lint.sh runs
KERNEL_FILES := tools/testing/selftests/kselftest.h tools/testing/selftests/kselftest_harness.h \
		$(addprefix scripts/,checkpatch.pl spelling.txt const_structs.checkpatch kernel-doc)
$(KSELFTEST):
	@mkdir -p $(BUILD)/linux
	$(call run,TAR)tar -xf $(KERNEL_SOURCE) -C $(BUILD)/linux --strip-components=1 --wildcards \
		$(patsubst %,'*/%',$(KERNEL_FILES))
	@touch $@

.PHONY: kernel-files
kernel-files: $(KSELFTEST) # for tests/lint/lint.sh
	@:

$(BUILD)/obj/tests/%.o: CPPFLAGS += -I$(dir $(KSELFTEST))
# Of the harness: Linux 6.12's has a variable beside its vfork().
$(BUILD)/obj/tests/%.o: WARN += -Wno-missing-prototypes -Wno-unused-parameter -Wno-sign-compare -Wno-clobbered
# The tests' own code, which takes 40 % less time to compile so; what tests/bench times is optimised.
$(TEST_PROGRAMS:$(BUILD)/%=$(BUILD)/obj/%.o) $(TEST_COMMON): CFLAGS += -Og
$(BUILD)/obj/tests/%.o: tests/%.c $(KSELFTEST)
	@mkdir -p $(@D)
	$(call run,CC)$(CC) $(CSTD) $(WARN) $(CPPFLAGS) $(CFLAGS) $(DEPFLAGS) -c -o $@ $<

$(BUILD)/tests/cc/ulp: TEST_LIBS := -lmpfr -lgmp
AGILE_TESTS := $(filter $(BUILD)/tests/agile/%,$(TEST_PROGRAMS))
$(AGILE_TESTS): $(BUILD)/lib/libsalvo-agile.a
$(AGILE_TESTS): TEST_LIBS := $(BUILD)/lib/libsalvo-agile.a $(BUILD)/lib/libsalvo.a
# A plugin of libsalvo-agile with a rank that lies.
PEER_OBJ    := $(call obj,tests/agile/peer/peer.c)
PEER_PLUGIN := $(BUILD)/tests/agile/libsalvo-agile-peer.so.1
$(PEER_PLUGIN): $(PEER_OBJ)
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -shared -Wl,-soname,$(@F) -o $@ $^
# As an RPATH, since that is for dlopen() of a sanitizer's library, too.
$(BUILD)/tests/agile/peers: LIBS += -Wl,--disable-new-dtags,-rpath,'$$ORIGIN'
$(BUILD)/tests/agile/peers: | $(PEER_PLUGIN)
OPENCL_TESTS := $(filter $(BUILD)/tests/opencl/%,$(TEST_PROGRAMS))
$(OPENCL_TESTS): TEST_LIBS := -lOpenCL
$(OPENCL_TESTS): | $(BUILD)/lib/salvo.icd
$(TEST_PROGRAMS): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(TEST_COMMON) $(PARSE_LIB) $(BUILD)/lib/libsalvo.a
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -o $@ $^ $(TEST_LIBS) $(LIBS)

$(BENCH): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(TEST_COMMON) $(BUILD)/lib/libsalvo.a
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -o $@ $^ -lOpenCL $(BENCH_LIBS) $(LIBS)

$(BENCH_LAYERS): $(BUILD)/tests/bench/lib%.so: $(BUILD)/obj/tests/bench/layers/%.o $(call obj,tests/bench/layers/layer.c)
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS) -shared -o $@ $^

# oneTBB is C++ alone.
$(BUILD)/tests/bench/steal: $(BUILD)/obj/tests/bench/steal_tbb.o
$(BUILD)/tests/bench/steal: BENCH_LIBS := -fopenmp -ltbb -lstdc++
$(BUILD)/tests/bench/examples: $(BUILD)/obj/tests/bench/examples_tbb.o $(BUILD)/obj/tests/bench/steal_tbb.o
$(BUILD)/tests/bench/examples: BENCH_LIBS = $(BUILD)/lib/libsalvo.a $(FACES_LIBS) -lcjson -ltbb -lstdc++ -lm
$(BUILD)/tests/bench/agile: $(BUILD)/lib/libsalvo-agile.a
$(BUILD)/tests/bench/agile: BENCH_LIBS := $(BUILD)/lib/libsalvo-agile.a $(BUILD)/lib/libsalvo.a
# Against MPI and Global Arrays, where these are.
$(BUILD)/tests/bench/agile_ranks: $(BUILD)/lib/libsalvo-agile.a $(MPI_PLUGIN)
$(BUILD)/tests/bench/agile_ranks: BENCH_LIBS := $(BUILD)/lib/libsalvo-agile.a $(BUILD)/lib/libsalvo.a \
	-lga-openmpi -larmci-openmpi -lscalapack-openmpi -llapack -lblas -l:libgfortran.so.5
$(BUILD)/tests/bench/agile_ranks: BENCH_LIBS += $(MPI_LIBS)
$(BUILD)/obj/tests/bench/agile_ranks.o: CPPFLAGS += $(MPI_CFLAGS)
$(BUILD)/obj/tests/bench/steal.o: CFLAGS += -fopenmp
$(BUILD)/obj/tests/bench/%.o: tests/bench/%.cc
	@mkdir -p $(@D)
	$(call run,CXX)$(CXX) -std=c++17 -Wall -Wextra -Werror $(CPPFLAGS) $(CFLAGS) $(DEPFLAGS) -c -o $@ $<

# A plugin of QEMU that counts a guest's instructions.
$(BUILD)/lib/insn_count.so: tests/vm/insn_count.c tests/vm/insn_marker.h
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CSTD) $(WARN) -Wno-unused-parameter $(CPPFLAGS) $(CFLAGS) -shared -o $@ $<

# C programs first, then scripts, the virtual machine last: of its scripts those first that take minutes,
# so that no processor waits for them at the end.
LONG_SCRIPTS := $(patsubst %,tests/vm/%.sh,uapi lost opencl lib)
run-tests:
	@tests/run -j $(JOBS) $(sort $(filter-out $(VM_TESTS:%=$(BUILD)/tests/%/%),$(TEST_PROGRAMS))) \
		$(filter-out tests/vm/%,$(TEST_SCRIPTS)) $(LONG_SCRIPTS) \
		$(filter-out $(LONG_SCRIPTS),$(filter tests/vm/%,$(TEST_SCRIPTS)))

# --- installation ------------------------------------------------------------

PREFIX     ?= /usr/local
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
SHARE      := $(PREFIX)/share
# Where OpenCL loaders look for drivers, whatever PREFIX is.
ICDDIR     ?= /etc/OpenCL/vendors

##@ Housekeeping
.PHONY: install
install: all-user ## install programs, library, manual pages below PREFIX (/usr/local); DESTDIR counts
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR) \
		$(addprefix $(DESTDIR)$(SHARE)/man/man,1 3 7) $(DESTDIR)$(PREFIX)/lib/salvo/kernels
	install -m 755 $(filter $(BUILD)/bin/%,$(TOOLS)) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(BUILD)/lib/libsalvo.a $(BUILD)/lib/libsalvo-agile.a $(DESTDIR)$(LIBDIR)
	for lib in libsalvo libsalvo-agile; do \
		install -m 755 $(BUILD)/lib/$$lib.so $(DESTDIR)$(LIBDIR)/$$lib.so.1 && \
		ln -sf $$lib.so.1 $(DESTDIR)$(LIBDIR)/$$lib.so || exit; done
	$(if $(MPI_PLUGIN),install -m 755 $(MPI_PLUGIN) $(DESTDIR)$(LIBDIR))
	for pc in salvo salvo-agile; do \
		sed 's,@prefix@,$(PREFIX),; s,@libdir@,$(LIBDIR),; s,@includedir@,$(INCLUDEDIR),; s,@version@,$(VERSION),' \
			libuser/$$pc.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/$$pc.pc || exit; done
	install -m 755 $(BUILD)/lib/libsalvo-opencl.so $(DESTDIR)$(LIBDIR)/libsalvo-opencl.so.1
	install -d $(DESTDIR)$(ICDDIR)
	echo $(LIBDIR)/libsalvo-opencl.so.1 >$(DESTDIR)$(ICDDIR)/salvo.icd
	install -m 644 $(wildcard libuser/include/*.h libuser/include/*.hpp) $(DESTDIR)$(INCLUDEDIR)
	install -m 644 $(wildcard libuser/man/*.1 tools/*/*.1) $(DESTDIR)$(SHARE)/man/man1
	install -d $(DESTDIR)$(SHARE)/bash-completion/completions
	for tool in $(notdir $(filter $(BUILD)/bin/%,$(TOOLS))); do \
		install -m 644 tools/completion/salvo.bash \
			$(DESTDIR)$(SHARE)/bash-completion/completions/$$tool || exit; done
	install -m 644 $(BUILD)/man/man3/*.3 $(DESTDIR)$(SHARE)/man/man3
	install -m 644 $(wildcard libuser/man/*.7) $(if $(filter $(GST_PLUGIN),$(TOOLS)),tools/gst/salvo-gst.7) \
		$(DESTDIR)$(SHARE)/man/man7
	install -d $(DESTDIR)$(SHARE)/salvo/examples
	install -m 644 tools/examples/*.batch tools/examples/*.cl tools/examples/*.json $(DESTDIR)$(SHARE)/salvo/examples
	install -m 644 $(filter $(BUILD)/kernels/%,$(TOOLS)) $(DESTDIR)$(PREFIX)/lib/salvo/kernels
	$(if $(filter $(GST_PLUGIN),$(TOOLS)),install -D -m 644 $(GST_PLUGIN) \
		$(DESTDIR)$(LIBDIR)/gstreamer-1.0/$(notdir $(GST_PLUGIN)))

# What "make install" would install, and folders of ours that are empty then.
.PHONY: uninstall
uninstall: all-user ## remove what "make install" installs; with the same PREFIX, DESTDIR, ...
	@list=$$(mktemp -d) && trap 'rm -rf "$$list"' EXIT && \
		$(MAKE) -s -o all-user install DESTDIR=$$list && cd $(or $(DESTDIR),/) && \
		(cd $$list && find . ! -type d -print0) | xargs -0 rm -f
	@rmdir --ignore-fail-on-non-empty $(wildcard $(addprefix $(DESTDIR),$(SHARE)/salvo/examples \
		$(SHARE)/salvo $(PREFIX)/lib/salvo/kernels $(PREFIX)/lib/salvo)) 2>/dev/null || :

# DKMS wants the version in the folder's name, and dkms.conf at its head.
DKMS_SOURCE = $(DESTDIR)/usr/src/salvo-$(VERSION)

.PHONY: modules_install install-dkms
modules_install: modules ## install salvo.ko for KVER, and a udev rule; INSTALL_MOD_PATH counts
	$(MAKE) -s -C $(KDIR) M=$(abspath $(MODULE_DIR)) CONFIG_MODULE_SIG_ALL= modules_install
	install -D -m 644 packaging/60-salvo.rules $(INSTALL_MOD_PATH)/lib/udev/rules.d/60-salvo.rules

install-dkms: ## install the driver's source for DKMS, and a udev rule; DESTDIR counts
	install -d $(DKMS_SOURCE)
	cp --parents $(MODULE_SOURCES) $(DKMS_SOURCE)
	sed 's,@version@,$(VERSION),' packaging/dkms.conf.in >$(DKMS_SOURCE)/dkms.conf
	install -D -m 644 packaging/60-salvo.rules $(DESTDIR)/lib/udev/rules.d/60-salvo.rules

# In a copy of what git knows, which is kept: only what changed is built again. debian/ is
# a fresh one each time, as debhelper keeps its state there.
DEB_TREE := $(BUILD)/deb/salvo
.PHONY: deb
deb: ## build the Debian packages, into build/deb
	@command -v dh_dkms >/dev/null || { echo 'make deb needs the packages debhelper and dh-dkms' >&2; exit 1; }
	rm -rf $(DEB_TREE)/debian $(BUILD)/deb/*.deb
	mkdir -p $(DEB_TREE)
	git ls-files -z | xargs -0 cp -u --preserve=timestamps --parents -t $(DEB_TREE)
	cd $(DEB_TREE) && find . -path ./build -prune -o -type f -printf '%P\n' | sort >build.files
	git ls-files | sort | comm -13 - $(DEB_TREE)/build.files | (cd $(DEB_TREE) && xargs -r rm -f)
	cd $(DEB_TREE) && MAKEFLAGS= dpkg-buildpackage -us -uc -b -nc -j$(JOBS)

.PHONY: clean
clean: ## delete build/
	rm -rf $(BUILD)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
