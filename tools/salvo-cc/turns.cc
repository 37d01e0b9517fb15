// SPDX-License-Identifier: MIT
/*
 * turns.cc - compilers whose callers do not wait for them take turns
 *
 * An application may begin to build dozens of programs when it starts, of which it wants some soon
 * and others never. When they are checked their callers go on, and code is made by as many
 * compilers of a user at a time as there are cores, so that checking further programs, and what
 * is wanted, does not compete with all of them. A compiler that is wanted does not wait, and those
 * that nobody wants yield to others. As only root may take that back, they begin to yield when the
 * caller has had time to ask: most want a program as soon as it is checked.
 *
 * A turn is an abstract address of a socket, which the kernel takes back from a process that ends
 * in any way. Nobody is told when one becomes free: those that wait try again every few
 * milliseconds.
 */
#include "turns.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

static const int interval_ms = 30, grace_ms = 100;

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

/* What threads share that make code, or wait for news of the caller; it is never freed. */
struct yielding {
	std::mutex lock;		/* protects the next two */
	std::vector<pid_t> threads;
	bool lowered = false;
	std::atomic<bool> keeps{ false };
	pollfd caller;
	bool has_parts;
};

static yielding &shared()
{
	static yielding &all = *new yielding;

	return all;
}

/* Linux has a priority for each thread. */
static void lower(pid_t thread)
{
	setpriority(PRIO_PROCESS, thread, getpriority(PRIO_PROCESS, thread) + 5);
}

void join_yielding()
{
	std::lock_guard guard(shared().lock);

	/* Unless it has been started with a lower one */
	if (shared().lowered && getpriority(PRIO_PROCESS, 0) < getpriority(PRIO_PROCESS, getpid()))
		lower(gettid());
	shared().threads.push_back(gettid());
}

void lower_priority()
{
	std::lock_guard guard(shared().lock);

	if (shared().keeps || shared().lowered)
		return;
	shared().lowered = true;
	for (pid_t thread : shared().threads)
		lower(thread);
}

void keep_priority()
{
	shared().keeps = true;
}

static void *lower_when_due(void *)
{
	using namespace std::chrono;
	const auto end = steady_clock::now() + milliseconds(grace_ms);
	yielding &all = shared();

	while (!all.keeps) {
		const auto left = duration_cast<milliseconds>(end - steady_clock::now()).count();
		char byte;

		if (left <= 0)
			break;
		if (poll(&all.caller, 1, left) <= 0)
			continue;
		const ssize_t n = recv(all.caller.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
		if (n == 1 && (!byte || !all.has_parts))
			return nullptr;
		/* A part is wanted, or the caller has gone; else another thread has read it. */
		if (n >= 0)
			break;
	}
	lower_priority();
	return nullptr;
}

void lower_priority_later(int fd, bool has_parts)
{
	pthread_t thread;

	shared().caller = { .fd = fd, .events = POLLIN, .revents = 0 };
	shared().has_parts = has_parts;
	if (pthread_create(&thread, nullptr, lower_when_due, nullptr))
		lower_priority();
	else
		pthread_detach(thread);
}
