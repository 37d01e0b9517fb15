# SPDX-License-Identifier: MIT
#
# Rooms: the folders of the sources, and for each the folders whose headers it may include
# beside its own. A header of any other room is not on the include path, so that its include
# does not compile; tests/docs/rooms.sh checks that too. driver/ stands for the three headers of the
# code that driver and library share: salvo_validate.h, salvo_pack.h and salvo_hang.h.
#
# What is left of a colon depends on what is right of it, and the lists are in that order.

ROOMS := common device/queue device/exec device device/space \
	 libuser libuser/soft libuser/drm libuser/build libuser/text libuser/open \
	 libuser/parse libuser/steal libuser/agile libuser/opencl libuser/agile/mpi

sees.device/queue  := uapi device/include common
sees.device/exec   := $(sees.device/queue) device/queue
sees.device        := $(sees.device/exec) device/exec
sees.device/space  := $(sees.device) device

sees.libuser       := uapi common libuser/include device/include driver
sees.libuser/soft  := $(sees.libuser) libuser libuser/observe
sees.libuser/drm   := $(sees.libuser) libuser
sees.libuser/build := $(sees.libuser) libuser
sees.libuser/text  := $(sees.libuser) libuser
sees.libuser/open  := $(sees.libuser) libuser libuser/text
sees.libuser/parse := $(sees.libuser) libuser libuser/text
sees.libuser/steal := common libuser/include libuser/observe
sees.libuser/agile := libuser/include
sees.libuser/opencl := libuser/include
sees.libuser/agile/mpi := $(sees.libuser/agile) libuser/agile

sees.driver        := uapi device/include

# Programs see the public API and what they share. These see more; libuser/observe is what an
# embedded GPU shows of itself beyond the API, to salvo-top and salvo-submit:
sees.tools         := uapi common libuser/include tools/common
sees.tools/gpu     := $(sees.tools) device/include
sees.tools/info    := $(sees.tools) device/include
sees.tools/gst     := $(sees.tools) libuser/text libuser/parse tools/faces
sees.tools/submit  := $(sees.tools) device/include libuser/text libuser/parse libuser/observe
sees.tools/top     := $(sees.tools) device/include libuser/observe
sees.tests         := uapi libuser/include device/include driver tests/common
sees.tests/agile/peer := libuser/include libuser/agile
sees.tests/bench   := $(sees.tests) device/queue tests/faces/oracle tools/faces libuser tests/vm
sees.tests/device  := $(sees.tests) common device/queue device/exec device device/space
sees.tests/faces   := $(sees.tests) tools/faces
sees.tests/lib     := uapi libuser/include tests/common
sees.tests/libuser := $(sees.tests) common tests/lib libuser libuser/soft libuser/text libuser/parse \
		      libuser/build libuser/observe
sees.tests/opencl  := tests/common
sees.tests/steal   := $(sees.tests) libuser/steal libuser/observe tests/lib tests/faces/oracle tools/faces
sees.tests/fuzz    := $(sees.tests) libuser/text libuser/parse
PROGRAM_ROOMS := tools tests $(patsubst sees.%,%,$(filter sees.tools/% sees.tests/%,$(.VARIABLES)))
