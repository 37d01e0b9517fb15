// SPDX-License-Identifier: MIT
/*
 * process.cc - runs another program and takes what it writes to stdout
 *
 * The child inherits stderr, so its messages reach the user unchanged. Input files are
 * memfds (/proc/self/fd/N), so no temporary file is left behind if a process is killed.
 */
#include "salvo_cc.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

bool run_process(const std::vector<std::string> &command, bytes &output)
{
	int pipe_fds[2];

	if (pipe2(pipe_fds, O_CLOEXEC)) {
		print_error(Twine("cannot make a pipe: ") + strerror(errno));
		return false;
	}

	std::vector<char *> argv;
	for (const std::string &word : command)
		argv.push_back(const_cast<char *>(word.c_str()));
	argv.push_back(nullptr);

	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], STDOUT_FILENO);
	pid_t pid;
	int err = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
	posix_spawn_file_actions_destroy(&actions);
	close(pipe_fds[1]);
	if (err) {
		print_error(Twine("cannot run ") + argv[0] + ": " + strerror(err));
		close(pipe_fds[0]);
		return false;
	}

	char buffer[65536];
	ssize_t n;
	while ((n = read(pipe_fds[0], buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			output.append(buffer, buffer + n);
	close(pipe_fds[0]);

	int status;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		print_error(Twine(argv[0]) + " died: " + strsignal(WTERMSIG(status)));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
