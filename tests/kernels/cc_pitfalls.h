/* SPDX-License-Identifier: MIT */
/*
 * cc_pitfalls.h - arguments and positions of the kernels of cc_pitfalls*.cl
 */
#pragma OPENCL FP_CONTRACT OFF

#define IN	global const uint *in
#define OUT	global uint *out
/* Without local memory a row of work-groups may run as one. */
#define PLAIN	OUT, IN, uint n
#define ARGS	PLAIN, local uint *s
#define ITEM	((uint)(get_global_id(1) * get_global_size(0) + get_global_id(0)))
#define LID	((uint)(get_local_id(1) * get_local_size(0) + get_local_id(0)))
#define SIZE	((uint)(get_local_size(0) * get_local_size(1)))
