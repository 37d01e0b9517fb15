// SPDX-License-Identifier: MIT
/*
 * main.c - salvo-agile: show a map of an agile array, and what a statement over it moves
 *
 * read.c reads the description, plan.c plans with libsalvo-agile, without devices; report.c
 * and draw.c show the plan.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "plan.h"

struct options {
	const char *path;
	const char *output;
	bool json, svg;
};

static const char usage[] =
	"usage: salvo-agile [options] FILE\n"
	"\n"
	"Show a map of an agile array, its segments and nodes, and what a statement over it moves.\n"
	"FILE describes them in JSON (see the manual page); - is standard input.\n"
	"\n"
	"  --svg            draw a picture, as SVG, instead of text\n"
	"  --json           print one JSON object instead of text\n"
	"  --output FILE    write there instead of to standard output\n"
	"  --help           this text\n"
	"  --version        the version\n"
	"\n"
	"Exit code: 0 done, 1 it cannot be drawn or written, 2 wrong usage or FILE is wrong.\n";

static int show(const struct options *options, const struct plan *plan)
{
	struct json json = { .file = stdout };

	if (options->svg)
		return plan_draw(plan, stdout);
	if (options->json)
		plan_write(plan, &json);
	else
		plan_print(plan);
	return EXIT_OK;
}

static int run(const struct options *options)
{
	struct plan plan = { 0 };
	int code = plan_read(&plan, options->path);

	if (!code)
		code = plan_make(&plan);
	if (!code && options->output && !freopen(options->output, "we", stdout))
		code = cli_fail(TOOL, "%s: %s", options->output, strerror(errno));
	if (!code)
		code = show(options, &plan);
	plan_fini(&plan);
	return cli_finish(TOOL, code);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "svg", no_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	struct options options = { 0 };
	int c;

	cli_start(argc, argv);
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 's':
			options.svg = true;
			break;
		case 'j':
			options.json = true;
			break;
		case 'o':
			options.output = optarg;
			break;
		default:
			return cli_other(TOOL, usage, c);
		}
	}
	if (optind + 1 != argc || (options.svg && options.json))
		return cli_usage(TOOL, usage);
	options.path = argv[optind];
	return run(&options);
}
