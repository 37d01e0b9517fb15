#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/faces/rects.c with every entry of opencv-4.6-rects.json, through salvo.ko. One boot.
# Options go to run-vm.
# limit: 400
set -u
cd "$(dirname "$0")/../.." || exit 1

exec tests/vm/run-vm -t 380 --program-time 300 -e SALVO_DEVICE=/dev/dri/renderD128 -f tests/data:/root/tests/data \
	-f /usr/share/opencv4/lbpcascades/lbpcascade_frontalface.xml:/usr/share/opencv4/lbpcascades/lbpcascade_frontalface.xml \
	-f /usr/share/opencv4/haarcascades:/usr/share/opencv4/haarcascades "$@" "${BUILD:-build}"/tests/faces/rects
