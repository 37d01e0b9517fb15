// SPDX-License-Identifier: MIT
/*
 * announce.cc - tells a caller what the program's kernels are before their code is made, and hears
 * which of them it wants
 *
 * Most of the time goes into the vectoriser, LLVM's optimiser and its code generator, which report
 * no errors of a source. The caller reads the number of bytes that follow, 4 bytes, and then the
 * notes of all kernels (note.cc), in which what only the code tells is 0. So it knows that all is
 * well, and can create kernels and set their arguments; the end of the file without that, or the
 * compiler's end, tells that no such news will come.
 *
 * With --take-turns the file is a socket. When the caller wants a kernel it writes its name and a
 * 0, and reads the number of bytes that follow, 4 bytes, and a program that has it; none: it is to
 * wait for the compiler's end. Only programs of several parts answer (parts.cc). If it wants the
 * whole program it writes a 0, to which there is no answer.
 */
#include "announce.h"
#include "blocks.h"
#include "turns.h"

using namespace llvm;

static int announce_fd = -1;
static bool takes_turns;
static turn reason = turn::WANTED;

void announce_to(int fd)
{
	announce_fd = fd;
}

void take_turns()
{
	takes_turns = true;
}

bool is_asked()
{
	return takes_turns && announce_fd >= 0;
}

void close_announcement()
{
	close(announce_fd);
}

bool announce(StringRef notes)
{
	if (announce_fd < 0)
		return true;
	/* A caller that has gone does not matter. */
	write_block(announce_fd, notes);
	if (takes_turns) {
		reason = wait_for_turn(announce_fd);
		return reason != turn::GONE;
	}
	close(announce_fd);
	return true;
}

void give_way(bool has_parts)
{
	join_yielding();
	if (reason == turn::FREE)
		lower_priority_later(announce_fd, has_parts);
	else if (reason == turn::PART_WANTED && has_parts)
		lower_priority();
}

bool read_wanted(std::string &kernel)
{
	char c;

	for (kernel.clear(); read_all(announce_fd, &c, 1); kernel += c)
		if (!c)
			return true;
	return false;
}

void answer(StringRef program)
{
	write_block(announce_fd, program);
}
