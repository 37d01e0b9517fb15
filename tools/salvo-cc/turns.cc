// SPDX-License-Identifier: MIT
/*
 * turns.cc - compilers whose callers do not wait for them take turns
 *
 * An application may begin to build dozens of programs when it starts, of which it wants some soon
 * and others never. When they are checked their callers go on, and code is made by as many
 * compilers of a user at a time as there are cores, so that checking further programs, and what
 * is wanted, does not compete with all of them. A compiler that is wanted does not wait, and those
 * that nobody wants yield to others.
 *
 * A turn is an abstract address of a socket, which the kernel takes back from a process that ends
 * in any way. Nobody is told when one becomes free: those that wait try again every few
 * milliseconds.
 */
#include "turns.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

static const int interval_ms = 30;

/* Return: whether it is taken now. It is held until this process ends. */
static bool take(unsigned turn)
{
	sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "" };
	const int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
				    "salvo-cc.%u.%u", geteuid(), turn);
	const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (!bind(fd, reinterpret_cast<sockaddr *>(&address),
		  offsetof(sockaddr_un, sun_path) + 1 + length))
		return true;

	/* Where there are no such sockets, nobody waits. */
	const bool taken = errno == EADDRINUSE;

	close(fd);
	return !taken;
}

static bool take_any()
{
	const unsigned cores = std::max(std::thread::hardware_concurrency(), 1u);

	for (unsigned turn = 0; turn < cores; turn++)
		if (take(turn))
			return true;
	return false;
}

turn wait_for_turn(int fd)
{
	pollfd caller = { .fd = fd, .events = POLLIN, .revents = 0 };
	char byte;

	while (!take_any())
		if (poll(&caller, 1, interval_ms) > 0)
			return recv(fd, &byte, 1, MSG_PEEK) != 1 ? turn::GONE :
			       byte ? turn::PART_WANTED : turn::WANTED;
	return turn::FREE;
}

void lower_priority()
{
	/* Linux has a priority for each thread. */
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 5);
}
