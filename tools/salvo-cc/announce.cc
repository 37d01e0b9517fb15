// SPDX-License-Identifier: MIT
/*
 * announce.cc - tells a caller what the program's kernels are, before their code is made
 *
 * Most of the time goes into the vectoriser, LLVM's optimiser and its code generator, which report
 * no errors of a source. The caller reads the number of bytes that follow, 4 bytes, and then the
 * notes of all kernels (note.cc), in which what only the code tells is 0. So it knows that all is
 * well, and can create kernels and set their arguments; the end of the file without that, or the
 * compiler's end, tells that no such news will come.
 */
#include "announce.h"
#include "turns.h"

#include <cerrno>
#include <cstdint>
#include <string>
#include <unistd.h>

using namespace llvm;

static int announce_fd = -1;
static bool takes_turns;

void announce_to(int fd)
{
	announce_fd = fd;
}

void take_turns()
{
	takes_turns = true;
}

bool announce(StringRef notes)
{
	const uint32_t bytes = notes.size();
	std::string text(reinterpret_cast<const char *>(&bytes), sizeof(bytes));
	size_t at = 0;

	if (announce_fd < 0)
		return true;
	text += notes;
	while (at < text.size()) {
		const ssize_t n = write(announce_fd, text.data() + at, text.size() - at);

		/* A caller that has gone does not matter. */
		if (n < 0 && errno != EINTR)
			break;
		at += n < 0 ? 0 : n;
	}
	if (takes_turns)
		return wait_for_turn(announce_fd);
	close(announce_fd);
	return true;
}
