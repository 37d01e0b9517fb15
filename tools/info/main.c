// SPDX-License-Identifier: MIT
/*
 * main.c - salvo-info: show the Salvo GPUs of this machine and their limits
 *
 * Lists each render node that the salvo driver owns, and the GPU that is embedded in
 * libsalvo. query.c and cores.c collect what is known, report.c prints it.
 */
#include <dirent.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "info.h"

struct options {
	const char *device;
	bool json;
};

static const char usage[] =
	"usage: salvo-info [options]\n"
	"\n"
	"Show the Salvo GPUs of this machine, their limits, and what they run on.\n"
	"\n"
	"  --device NAME    only this one: soft or a render node (default: all)\n"
	"  --json           print one JSON object\n"
	"  --help           this text\n"
	"  --version        the version\n"
	"\n"
	"Exit code: 0 done, 1 a device cannot be opened, 2 wrong usage.\n";

/* Does the salvo driver own this render node? Without opening it. */
static bool is_ours(const char *node)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *name;
	ssize_t length;

	snprintf(path, sizeof(path), "/sys/class/drm/%s/device/driver", node);
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return false;
	target[length] = 0;
	name = strrchr(target, '/');
	return !strcmp(name ? name + 1 : target, "salvo");
}

static int show(const struct options *options, struct json *json, const char *name, bool first)
{
	struct info_device device;

	if (info_query(name, &device)) {
		if (options->json)
			info_write_error(json, name);
		return EXIT_FAILED;
	}
	if (options->json) {
		info_write(json, &device);
	} else {
		if (!first)
			putchar('\n');
		info_print(&device);
	}
	return EXIT_OK;
}

static int show_all(const struct options *options, struct json *json)
{
	int code = EXIT_OK, i, nodes = 0;
	struct dirent **entries;
	int count = scandir("/dev/dri", &entries, NULL, versionsort);

	for (i = 0; i < count; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "/dev/dri/%s", entries[i]->d_name);
		if (!strncmp(entries[i]->d_name, "renderD", 7) && is_ours(entries[i]->d_name))
			code |= show(options, json, path, !nodes++);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	code |= show(options, json, "soft", !nodes);
	if (!nodes && !options->json)
		puts("\nNo render node belongs to the salvo driver.");
	return code;
}

static int run(const struct options *options)
{
	struct json json = { .file = stdout };
	int code;

	if (options->json) {
		json_object(&json, NULL);
		json_string(&json, "version", TOOL_VERSION);
		json_array(&json, "devices");
	}
	if (options->device)
		code = show(options, &json, options->device, true);
	else
		code = show_all(options, &json);
	if (options->json) {
		json_array_end(&json);
		json_object_end(&json);
		json_line_end(&json);
	}
	return cli_finish(TOOL, code);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	struct options options = { 0 };
	int c;

	cli_start(argc, argv);
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'd':
			options.device = optarg;
			break;
		case 'j':
			options.json = true;
			break;
		default:
			return cli_other(TOOL, usage, c);
		}
	}
	if (optind != argc)
		return cli_usage(TOOL, usage);
	return run(&options);
}
