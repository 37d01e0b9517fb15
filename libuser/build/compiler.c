// SPDX-License-Identifier: MIT
/*
 * compiler.c - runs salvo-cc
 *
 * A child process keeps LLVM, its memory and its crashes out of the application. Source, output
 * and messages are memfds, so neither side blocks on the other, and nothing is left behind if
 * one dies. No locks: nothing is shared.
 */
#include "compiler.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "array.h"
#include "build.h"
#include "io.h"

#define MAX_OUTPUT	(256u << 20)
#define MAX_NOTES	(64u << 20)
/* Where a child announces */
#define ANNOUNCE_FD	3
#define ANNOUNCE_TEXT	"3"

extern char **environ;

static int try_path(struct salvo_compiler *compiler, const char *folder, size_t length,
		    const char *rest)
{
	struct stat st;

	if ((size_t)snprintf(compiler->path, sizeof(compiler->path), "%.*s%s", (int)length, folder,
			     rest) >= sizeof(compiler->path) ||
	    stat(compiler->path, &st) || !S_ISREG(st.st_mode) || access(compiler->path, X_OK))
		return -ENOENT;
	compiler->size = st.st_size;
	compiler->changed_ns = st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec;
	return 0;
}

int salvo_compiler_find(struct salvo_compiler *compiler)
{
	static const char *const beside[] = {
		"/salvo-cc", "/../bin/salvo-cc", "/../../bin/salvo-cc",
	};
	const char *named = secure_getenv("SALVO_CC"), *path = getenv("PATH"), *slash;
	Dl_info info;
	size_t i;

	if (named)
		return try_path(compiler, named, strlen(named), "");
	/* The file that this function is in: the library, or a program linked with it. */
	if (dladdr((void *)salvo_compiler_find, &info) && info.dli_fname) {
		char file[PATH_MAX];

		if (realpath(info.dli_fname, file) && (slash = strrchr(file, '/')))
			for (i = 0; i < sizeof(beside) / sizeof(beside[0]); i++)
				if (!try_path(compiler, file, slash - file, beside[i]))
					return 0;
	}
	while (path && *path) {
		size_t length = strcspn(path, ":");

		if (length && !try_path(compiler, path, length, "/salvo-cc"))
			return 0;
		path += length + (path[length] == ':');
	}
	return -ENOENT;
}

/* The command line. */
struct words {
	char **at;
	unsigned int count;
	unsigned int capacity;
};

static int add_word(struct words *words, const char *text, size_t length)
{
	if (salvo_array_reserve(&words->at, &words->capacity, words->count + 2,
				sizeof(*words->at)))
		return -ENOMEM;
	words->at[words->count] = strndup(text, length);
	if (!words->at[words->count])
		return -ENOMEM;
	words->at[++words->count] = NULL;
	return 0;
}

static int add_words(struct words *words, const char *const *list)
{
	int err = 0;

	for (; *list && !err; list++)
		err = add_word(words, *list, strlen(*list));
	return err;
}

/*
 * Words that white space separates; quotes of either kind keep it inside a word. A backslash before
 * a quote makes it a character like others.
 */
static int split_words(struct words *words, const char *text)
{
	char *word = malloc(strlen(text) + 1);
	int err = word ? 0 : -ENOMEM;

	while (!err && *(text += strspn(text, " \t\r\n"))) {
		size_t length = 0;
		char quote = 0;

		for (; *text && (quote || !strchr(" \t\r\n", *text)); text++) {
			if (*text == '\\' && (text[1] == '"' || text[1] == '\''))
				word[length++] = *++text;
			else if (quote ? *text == quote : *text == '"' || *text == '\'')
				quote = quote ? 0 : *text;
			else
				word[length++] = *text;
		}
		err = quote ? -EINVAL : add_word(words, word, length);
	}
	free(word);
	return err;
}

static void free_words(struct words *words)
{
	size_t i;

	for (i = 0; i < words->count; i++)
		free(words->at[i]);
	free(words->at);
}

/* @fds become the child's standard input, output and error, and @announce, if any, its 3. */
static int spawn(char **words, const int fds[3], int announce, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int err, i;

	if (posix_spawn_file_actions_init(&actions))
		return -ENOMEM;
	if (posix_spawnattr_init(&attributes)) {
		posix_spawn_file_actions_destroy(&actions);
		return -ENOMEM;
	}
	/* The application may ignore or block signals that the compiler needs. */
	sigfillset(&defaults);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	sigemptyset(&defaults);
	posix_spawnattr_setsigmask(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	err = 0;
	for (i = 0; i < 3 && !err; i++)
		err = posix_spawn_file_actions_adddup2(&actions, fds[i], i);
	if (!err && announce >= 0)
		err = posix_spawn_file_actions_adddup2(&actions, announce, ANNOUNCE_FD);
	if (!err)
		err = posix_spawn(pid, words[0], &actions, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

/* Above 3, or one dup2() of the child would overwrite another's source. */
static int move_up(int fd)
{
	int moved;

	if (fd < 0)
		return -errno;
	if (fd > ANNOUNCE_FD)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, ANNOUNCE_FD + 1);
	moved = moved < 0 ? -errno : moved;
	close(fd);
	return moved;
}

static void close_all(struct salvo_compiler_run *run)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		if (run->fds[i] >= 0)
			close(run->fds[i]);
	if (run->announced >= 0)
		close(run->announced);
	*run = (struct salvo_compiler_run){ .fds = { -1, -1, -1 }, .announced = -1 };
}

/* The files of a run, and the end of its socket for the child, or -1. */
static int open_files(struct salvo_compiler_run *run, const char *source, size_t bytes,
		      bool announces, int *announce)
{
	int ends[2], err = 0, i;

	*announce = -1;
	*run = (struct salvo_compiler_run){ .fds = { -1, -1, -1 }, .announced = -1 };
	for (i = 0; i < 3 && !err; i++) {
		run->fds[i] = move_up(memfd_create("salvo-build", MFD_CLOEXEC));
		err = run->fds[i] < 0 ? run->fds[i] : 0;
	}
	if (!err && announces) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
			return -errno;
		run->announced = ends[0];
		*announce = move_up(ends[1]);
		err = *announce < 0 ? *announce : 0;
	}
	if (!err)
		err = salvo_write_all(run->fds[0], source, bytes);
	return !err && lseek(run->fds[0], 0, SEEK_SET) < 0 ? -errno : err;
}

int salvo_compiler_start(const struct salvo_compiler *compiler, const char *source, size_t bytes,
			 const char *const *before, const char *options, const char *const *after,
			 bool announces, struct salvo_compiler_run *run)
{
	static const char *const announcing[] = {
		"--announce", ANNOUNCE_TEXT, "--take-turns", NULL,
	};
	struct words words = { 0 };
	int err, announce;

	err = open_files(run, source, bytes, announces, &announce);
	if (!err)
		err = add_word(&words, compiler->path, strlen(compiler->path));
	if (!err && announces)
		err = add_words(&words, announcing);
	if (!err)
		err = add_words(&words, before);
	if (!err && options)
		err = split_words(&words, options);
	if (!err)
		err = add_words(&words, after);
	run->owner = getpid();
	if (!err)
		err = spawn(words.at, run->fds, announce, &run->pid);
	if (announce >= 0)
		close(announce);
	if (err)
		close_all(run);
	free_words(&words);
	return err;
}

/*
 * Waits until the socket can be read or the compiler has ended. Its end alone does not tell: a
 * process that the application forks at the time keeps it open. Return: can it be read?
 */
static bool wait_for_announcement(int announced, int pidfd)
{
	struct pollfd polled[2] = {
		{ .fd = announced, .events = POLLIN }, { .fd = pidfd, .events = POLLIN },
	};

	while (poll(polled, 2, -1) < 0)
		if (errno != EINTR)
			return true;
	return polled[0].revents;
}

/* Return: whether all of @data was read. */
static bool read_announced(int announced, int pidfd, void *data, size_t bytes)
{
	size_t have = 0;
	ssize_t n;

	while (have < bytes && wait_for_announcement(announced, pidfd)) {
		n = read(announced, (char *)data + have, bytes - have);
		have += n > 0 ? n : 0;
		if (!n || (n < 0 && errno != EINTR))
			break;
	}
	return have == bytes;
}

/*
 * The number of bytes that follow, at most @limit, and those. Return: whether all is there; else
 * nothing is in @block.
 */
static bool read_told(const struct salvo_compiler_run *run, uint32_t limit,
		      struct salvo_text_block *block)
{
	/* Without it, where the host's kernel has none: up to the end of the socket. */
	const int pidfd = syscall(SYS_pidfd_open, run->pid, 0);
	uint32_t bytes;
	bool told;

	memset(block, 0, sizeof(*block));
	told = read_announced(run->announced, pidfd, &bytes, sizeof(bytes)) && bytes <= limit;
	if (told)
		block->data = malloc((size_t)bytes + 1);
	told = block->data && read_announced(run->announced, pidfd, block->data, bytes);
	if (told) {
		block->data[bytes] = 0;
		block->bytes = bytes;
	} else {
		free(block->data);
		block->data = NULL;
	}
	if (pidfd >= 0)
		close(pidfd);
	return told;
}

bool salvo_compiler_is_checked(struct salvo_compiler_run *run, struct salvo_text_block *notes,
			       struct salvo_text_block *messages)
{
	memset(messages, 0, sizeof(*messages));
	if (!read_told(run, MAX_NOTES, notes))
		return false;
	if (!salvo_read_regular(run->fds[2], MAX_OUTPUT, &messages->data, &messages->bytes))
		return true;
	free(notes->data);
	memset(notes, 0, sizeof(*notes));
	return false;
}

bool salvo_compiler_part(struct salvo_compiler_run *run, const char *kernel,
			 struct salvo_text_block *out)
{
	const ssize_t bytes = strlen(kernel) + 1;

	if (run->owner != getpid() || run->announced < 0 ||
	    send(run->announced, kernel, bytes, MSG_NOSIGNAL) != bytes ||
	    !read_told(run, MAX_OUTPUT, out))
		return false;
	if (out->bytes)
		return true;
	free(out->data);
	return false;
}

/* Return: whether the status is known. It is not if the application ignores or reaps children. */
static bool wait_for(pid_t pid, int *status)
{
	*status = 0;
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return false;
	return true;
}

static void add_message(struct salvo_text_block *messages, const char *what, const char *why)
{
	char *text;

	if (asprintf(&text, "%ssalvo-cc %s: %s\n", messages->data ? messages->data : "", what,
		     why) < 0)
		return;
	free(messages->data);
	messages->data = text;
	messages->bytes = strlen(text);
}

int salvo_compiler_finish(struct salvo_compiler_run *run, struct salvo_text_block *out,
			  struct salvo_text_block *messages)
{
	int status, err, other;
	bool known;

	memset(out, 0, sizeof(*out));
	memset(messages, 0, sizeof(*messages));
	if (run->owner != getpid()) {
		close_all(run);
		return -ECHILD;
	}
	/* Wanted. One that has ended, or has its turn, does not read this. */
	if (run->announced >= 0)
		send(run->announced, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	known = wait_for(run->pid, &status);
	err = status ? -ENOEXEC : 0;
	other = salvo_read_regular(run->fds[1], MAX_OUTPUT, &out->data, &out->bytes);
	err = err ? err : other;
	other = salvo_read_regular(run->fds[2], MAX_OUTPUT, &messages->data, &messages->bytes);
	err = err ? err : other;
	/* A compiler that crashed says nothing itself. */
	if (WIFSIGNALED(status))
		add_message(messages, "died", strsignal(WTERMSIG(status)));
	/* Without a status, only the output can show that the compiler came to its end. */
	if (!known && !err && !salvo_object_is_whole(out->data, out->bytes)) {
		err = -ENOEXEC;
		if (out->bytes || !messages->bytes)
			add_message(messages, "failed",
				    "its status is unknown, as the application reaps children");
	}
	close_all(run);
	return err;
}

bool salvo_compiler_has_ended(const struct salvo_compiler_run *run)
{
	siginfo_t info = { 0 };

	/* Without an exit status to wait for, where SIGCHLD is ignored, it is an error. */
	return run->owner != getpid() ||
	       waitid(P_PID, run->pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

void salvo_compiler_cancel(struct salvo_compiler_run *run)
{
	int status;

	/* Others may have the number of one that has ended, if the application ignores SIGCHLD. */
	if (run->owner == getpid() && !waitpid(run->pid, NULL, WNOHANG)) {
		kill(run->pid, SIGKILL);
		wait_for(run->pid, &status);
	}
	close_all(run);
}
