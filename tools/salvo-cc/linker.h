/* SPDX-License-Identifier: MIT */
/*
 * linker.h - a process that links programs while this one compiles
 */
#ifndef SALVO_CC_LINKER_H
#define SALVO_CC_LINKER_H

#include <sys/types.h>

#include "salvo_cc.h"

struct linker {
	int fd = -1;	/* its socket, or -1: there is none */
	pid_t pid = 0;
};

/* Forks it, before this process has threads. It ends with this one, at the latest. */
linker fork_linker(const options &opts);
/* link_objects() in that process, for one thread at a time. */
bool link_elsewhere(const linker &l, const std::vector<bytes> &objects, bytes &program);
void end_linker(const linker &l);

#endif /* SALVO_CC_LINKER_H */
