/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_bind.h - the buffers bound in an address space
 */
#ifndef SALVO_BIND_H
#define SALVO_BIND_H

#include <linux/types.h>

struct salvo_dev;
struct salvo_gem_object;
struct salvo_vm;

int salvo_bind(struct salvo_vm *vm, struct salvo_gem_object *bo);
void salvo_unbind(struct salvo_vm *vm, struct salvo_gem_object *bo);
int salvo_bind_wait_for_room(struct salvo_dev *sdev);
bool salvo_bind_pin(struct salvo_vm *vm, struct salvo_gem_object *bo);
bool salvo_bind_unpin(struct salvo_vm *vm, struct salvo_gem_object *bo);
int salvo_bind_covers(void *vm, u64 address, u64 size, u32 access);

unsigned int salvo_bind_get_shared(struct salvo_vm *vm, struct salvo_gem_object **bos,
				   unsigned int limit);
bool salvo_bind_has(struct salvo_vm *vm, struct salvo_gem_object *bo);
void salvo_bind_share(struct salvo_vm *vm, struct salvo_gem_object *bo);

bool salvo_bind_reclaim(struct salvo_vm *vm, u64 oldest_use, u64 retired);
void salvo_bind_drop_retiring(struct salvo_vm *vm);
int salvo_bind_restore(struct salvo_vm *vm);
void salvo_bind_free_packets(struct salvo_vm *vm);

#endif /* SALVO_BIND_H */
