// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_trace.c - the tracepoints themselves
 */
#include <drm/drm_file.h>

#ifndef __CHECKER__
#define CREATE_TRACE_POINTS
#include "salvo_trace.h"
#endif
