// SPDX-License-Identifier: MIT
/*
 * sync.cl - fences, 6.12.9
 *
 * A work-group never leaves its core, and x86-64 keeps loads and stores in order
 * but for a store and a later load: a fence only has to hold back the compiler.
 * barrier() itself is for the compiler's passes (fibers.cc).
 */
OVERLOAD void mem_fence(cl_mem_fence_flags flags)
{
	__atomic_thread_fence(__ATOMIC_ACQ_REL);
}

OVERLOAD void read_mem_fence(cl_mem_fence_flags flags)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

OVERLOAD void write_mem_fence(cl_mem_fence_flags flags)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}
