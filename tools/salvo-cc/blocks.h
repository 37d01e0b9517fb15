/* SPDX-License-Identifier: MIT */
/*
 * blocks.h - what goes through sockets: the number of bytes that follow, 4 bytes, and those
 */
#ifndef SALVO_CC_BLOCKS_H
#define SALVO_CC_BLOCKS_H

#include <cerrno>
#include <cstdint>
#include <unistd.h>

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>

inline bool write_all(int fd, llvm::StringRef data)
{
	while (!data.empty()) {
		const ssize_t n = write(fd, data.data(), data.size());

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		data = data.drop_front(n);
	}
	return true;
}

/* Return: false if the other end was closed before. */
inline bool read_all(int fd, char *data, size_t bytes)
{
	while (bytes) {
		const ssize_t n = read(fd, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		bytes -= n;
	}
	return true;
}

inline bool write_block(int fd, llvm::StringRef data)
{
	const uint32_t bytes = data.size();

	return write_all(fd, llvm::StringRef(reinterpret_cast<const char *>(&bytes),
					     sizeof(bytes))) &&
	       write_all(fd, data);
}

inline bool read_block(int fd, llvm::SmallVectorImpl<char> &data)
{
	uint32_t bytes;

	if (!read_all(fd, reinterpret_cast<char *>(&bytes), sizeof(bytes)))
		return false;
	data.resize_for_overwrite(bytes);
	return read_all(fd, data.data(), bytes);
}

#endif /* SALVO_CC_BLOCKS_H */
