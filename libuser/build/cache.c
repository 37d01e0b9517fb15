// SPDX-License-Identifier: MIT
/*
 * cache.c - cache of compiled programs on disk
 *
 * One file for each, in $XDG_CACHE_HOME/salvo or ~/.cache/salvo, named by the hash of all inputs.
 * Files are created by a rename, so builders in several processes do not disturb each other; of
 * two that create the same entry the last one wins, and both are valid. A file contains a hash of
 * its content and name: a truncated or damaged one is a miss, and so is one that has the name of
 * another. Files may be deleted at any time; cache_limit.c does.
 *
 * Programs in the folder are executed, so it is not used unless it belongs to the user and nobody
 * else can write there; files are opened relative to its descriptor, so that links cannot change.
 */
#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"

#define MAX_ENTRY	(256u << 20)

struct entry_head {
	char magic[8];
	uint8_t hash[SHA256_DIGEST_LENGTH];	/* of the key and all that follows */
	uint64_t program_bytes;
	uint64_t message_bytes;
};

static const char magic[8] = "SALVOC1";

/* Path of the folder; 0 or -ENOENT. */
static int folder_path(char *path, size_t size, bool make)
{
	const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	int n;

	/* The specification says to ignore a relative path. */
	if (cache && *cache == '/')
		n = snprintf(path, size, "%s", cache);
	else if (home && *home == '/')
		n = snprintf(path, size, "%s/.cache", home);
	else
		return -ENOENT;
	if (n < 0 || (size_t)n + sizeof("/salvo") > size)
		return -ENOENT;
	if (make)
		mkdir(path, 0700);
	strcat(path, "/salvo");
	if (make)
		mkdir(path, 0700);
	return 0;
}

/* Open the folder, created if @make. Return: a descriptor or -1. */
static int open_folder(bool make)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	if (folder_path(path, sizeof(path), make))
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return fd;
	close(fd);
	return -1;
}

/* Name of an entry: digits, and the 0 at the end */
#define NAME_BYTES (2 * SHA256_DIGEST_LENGTH + 1)

static void entry_name(const uint8_t *key, char name[NAME_BYTES])
{
	unsigned int i;

	for (i = 0; i < SHA256_DIGEST_LENGTH; i++)
		snprintf(name + 2 * i, 3, "%02x", key[i]);
}

static void hash_entry(const uint8_t *key, const struct entry_head *head, const char *program,
		       const char *messages, uint8_t *out)
{
	SHA2_CTX hash;

	SHA256Init(&hash);
	salvo_cache_hash(&hash, key, SHA256_DIGEST_LENGTH);
	salvo_cache_hash(&hash, &head->program_bytes, sizeof(head->program_bytes));
	salvo_cache_hash(&hash, &head->message_bytes, sizeof(head->message_bytes));
	salvo_cache_hash(&hash, program, head->program_bytes);
	salvo_cache_hash(&hash, messages, head->message_bytes);
	SHA256Final(out, &hash);
}

static int copy_block(struct salvo_text_block *block, const char *data, size_t bytes)
{
	block->data = malloc(bytes + 1);
	if (!block->data)
		return -ENOMEM;
	memcpy(block->data, data, bytes);
	block->data[bytes] = 0;
	block->bytes = bytes;
	return 0;
}

static int parse_entry(const uint8_t *key, const char *data, size_t bytes,
		       struct salvo_text_block *program, struct salvo_text_block *messages)
{
	uint8_t hash[SHA256_DIGEST_LENGTH];
	struct entry_head head;
	const char *rest = data + sizeof(head);

	if (bytes < sizeof(head))
		return -ENOENT;
	memcpy(&head, data, sizeof(head));
	bytes -= sizeof(head);
	if (memcmp(head.magic, magic, sizeof(magic)) || head.program_bytes > bytes ||
	    head.message_bytes != bytes - head.program_bytes)
		return -ENOENT;
	hash_entry(key, &head, rest, rest + head.program_bytes, hash);
	if (memcmp(hash, head.hash, sizeof(hash)))
		return -ENOENT;
	if (copy_block(program, rest, head.program_bytes))
		return -ENOMEM;
	if (copy_block(messages, rest + head.program_bytes, head.message_bytes)) {
		free(program->data);
		*program = (struct salvo_text_block) { 0 };
		return -ENOMEM;
	}
	return 0;
}

int salvo_cache_read(const uint8_t key[SHA256_DIGEST_LENGTH], struct salvo_text_block *program,
		     struct salvo_text_block *messages)
{
	const int folder = open_folder(false);
	char name[NAME_BYTES], *data;
	size_t bytes;
	int fd, err;

	if (folder < 0)
		return -ENOENT;
	entry_name(key, name);
	fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	close(folder);
	if (fd < 0)
		return -ENOENT;
	err = salvo_read_regular(fd, MAX_ENTRY, &data, &bytes);
	/* The least recently used entries are removed first. */
	futimens(fd, NULL);
	close(fd);
	if (err)
		return -ENOENT;
	err = parse_entry(key, data, bytes, program, messages);
	free(data);
	return err;
}

void salvo_cache_write(const uint8_t key[SHA256_DIGEST_LENGTH],
		       const struct salvo_text_block *program,
		       const struct salvo_text_block *messages)
{
	struct entry_head head = {
		.program_bytes = program->bytes, .message_bytes = messages->bytes,
	};
	char name[NAME_BYTES], temporary[NAME_BYTES + 7];
	unsigned int random;
	int folder, fd;
	bool ok;

	if (!salvo_cache_limit() || getrandom(&random, sizeof(random), 0) != sizeof(random))
		return;
	folder = open_folder(true);
	if (folder < 0)
		return;
	memcpy(head.magic, magic, sizeof(magic));
	hash_entry(key, &head, program->data, messages->data, head.hash);
	entry_name(key, name);
	snprintf(temporary, sizeof(temporary), "%s.%06x", name, random & 0xffffff);
	fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		close(folder);
		return;
	}
	ok = !salvo_write_all(fd, &head, sizeof(head)) &&
	     !salvo_write_all(fd, program->data, program->bytes) &&
	     !salvo_write_all(fd, messages->data, messages->bytes);
	if (close(fd) || !ok || renameat(folder, temporary, folder, name))
		unlinkat(folder, temporary, 0);
	else
		salvo_cache_account(folder, sizeof(head) + program->bytes + messages->bytes);
	close(folder);
}
