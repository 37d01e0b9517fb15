/* SPDX-License-Identifier: MIT */
/*
 * container_of.h - from a member to the struct that it is embedded in
 */
#ifndef SALVO_CONTAINER_OF_H
#define SALVO_CONTAINER_OF_H

#include <stddef.h>

/** container_of() - The struct of @type whose @member is at @pointer; checks the member's type. */
#define container_of(pointer, type, member) ({					\
	const __typeof__(((type *)(pointer))->member) *member_pointer = (pointer); \
	(type *)((char *)member_pointer - offsetof(type, member)); })

#endif /* SALVO_CONTAINER_OF_H */
