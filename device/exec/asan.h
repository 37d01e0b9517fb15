/* SPDX-License-Identifier: MIT */
/*
 * asan.h - annotations for AddressSanitizer: stacks that are left without returning
 *
 * It poisons stack frames and unpoisons them on return. A kernel that is stopped
 * never returns, and its stack is reused.
 */
#ifndef SALVO_ASAN_H
#define SALVO_ASAN_H

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define salvo_asan_stack_is_new(stack, bytes) __asan_unpoison_memory_region(stack, bytes)
#define salvo_asan_frames_were_left() __asan_handle_no_return()
#else
#define salvo_asan_stack_is_new(stack, bytes) ((void)0)
#define salvo_asan_frames_were_left() ((void)0)
#endif

#endif /* SALVO_ASAN_H */
