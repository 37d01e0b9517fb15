/* SPDX-License-Identifier: MIT */
/*
 * compiler_turns.h - keeps compilers that nobody waits for from making code
 */
#ifndef TEST_COMPILER_TURNS_H
#define TEST_COMPILER_TURNS_H

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/** take_all_turns() - Those of a user, as salvo-cc --take-turns does. Return: their number. */
static inline int take_all_turns(int turns[CPU_SETSIZE])
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cpu_set_t cores;
	int i, length;

	sched_getaffinity(0, sizeof(cores), &cores);
	for (i = 0; i < CPU_COUNT(&cores); i++) {
		length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
				  "salvo-cc.%u.%d", geteuid(), i);
		turns[i] = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		/* Another program's compiler may have it for a moment. */
		while (bind(turns[i], (struct sockaddr *)&address,
			    offsetof(struct sockaddr_un, sun_path) + 1 + length))
			usleep(1000);
	}
	return i;
}

/** give_turns() - Let them go on. */
static inline void give_turns(const int *turns, int count)
{
	while (count--)
		close(turns[count]);
}

#endif /* TEST_COMPILER_TURNS_H */
