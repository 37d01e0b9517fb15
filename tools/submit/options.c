// SPDX-License-Identifier: MIT
/*
 * options.c - the command line of salvo-submit
 */
#include "options.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const char usage[] =
	"usage: salvo-submit [options] FILE\n"
	"       salvo-submit --dump DIR COMMAND [ARGUMENT...]\n"
	"       salvo-submit --leaves [options] COMMAND [ARGUMENT...]\n"
	"\n"
	"Submit the batch in FILE (\"-\" is standard input), check its expectations and print\n"
	"results and statistics. Or run a command, and write each batch that it submits as such\n"
	"a file into DIR, or show the kernels that its work-stealing pools run as leaves.\n"
	"\n"
	"  --device NAME    soft or a render node (default: a Salvo render node, else soft)\n"
	"  --kernels DIR    where program files are, besides FILE's folder and the installed ones\n"
	"  --json           print one JSON object\n"
	"  --stats          print when each command ran\n"
	"  --trace OUT      write when each command ran, as JSON for Perfetto or chrome://tracing\n"
	"  --timeline OUT   write units and chains of commands against time, as SVG\n"
	"  --explain        print which arguments need which pipe controls; submit nothing\n"
	"  --check          only check FILE, its programs and arguments; submit nothing\n"
	"  --list           only print the parsed FILE, one command a line\n"
	"  --dump DIR       run COMMAND and write its batches to DIR, which is created if needed\n"
	"  --leaves         run COMMAND and print its leaves; with --stats, --trace, --timeline\n"
	"  --timeout SEC    give up waiting after SEC seconds (default 60)\n"
	"  --help           this text\n"
	"  --version        the version\n"
	"\n"
	"Exit code: 0 done; 1 an expectation was not met or the batch failed;\n"
	"2 the command line or FILE is wrong.\n";

static int parse_option(struct options *options, int option)
{
	switch (option) {
	case 'd':
		options->device = optarg;
		return -1;
	case 'k':
		options->kernels = optarg;
		return -1;
	case 'j':
		options->json = true;
		return -1;
	case 's':
		options->stats = true;
		return -1;
	case 'T':
		options->trace = optarg;
		return -1;
	case 'L':
		options->timeline = optarg;
		return -1;
	case 'e':
		options->explain = true;
		return -1;
	case 'c':
		options->check = true;
		return -1;
	case 'l':
		options->list = true;
		return -1;
	case 'D':
		options->dump = optarg;
		return -1;
	case 'P':
		options->leaves = true;
		return -1;
	case 't':
		return cli_real(TOOL, "--timeout", optarg, 0, 1e9, &options->timeout) ?
		       -1 : cli_finish(TOOL, EXIT_USAGE);
	default:
		return cli_other(TOOL, usage, option);
	}
}

/* An option that has no effect beside another one is an error. */
static int check_options(const struct options *o)
{
	const struct {
		const char *name;
		bool given;
		bool explains;	/* goes with --explain */
		bool leaves;	/* goes with --leaves */
	} others[] = {
		{ "--timeline", o->timeline, false, true },
		{ "--trace", o->trace, false, true },
		{ "--stats", o->stats, false, true },
		{ "--check", o->check, false, false },
		{ "--list", o->list, false, false },
		{ "--json", o->json, true, true },
		{ "--explain", o->explain, true, false },
		{ "--leaves", o->leaves, false, false },
		{ "--device", o->device && o->command, true, false },
		{ "--kernels", o->kernels && o->command, true, false },
	};
	const char *mode = o->dump ? "--dump" : o->leaves ? "--leaves" : o->explain ? "--explain" :
			   o->check ? "--check" : o->list ? "--list" : NULL;
	unsigned int i;

	for (i = 0; mode && i < sizeof(others) / sizeof(others[0]); i++) {
		if (!others[i].given || !strcmp(others[i].name, mode) ||
		    (others[i].leaves && o->leaves && !o->dump) ||
		    (others[i].explains && o->explain && !o->command))
			continue;
		cli_fail(TOOL, "%s and %s do not go together", mode, others[i].name);
		return cli_finish(TOOL, EXIT_USAGE);
	}
	return -1;
}

int options_parse(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "kernels", required_argument, NULL, 'k' },
		{ "json", no_argument, NULL, 'j' },
		{ "stats", no_argument, NULL, 's' },
		{ "trace", required_argument, NULL, 'T' },
		{ "timeline", required_argument, NULL, 'L' },
		{ "explain", no_argument, NULL, 'e' },
		{ "check", no_argument, NULL, 'c' },
		{ "list", no_argument, NULL, 'l' },
		{ "dump", required_argument, NULL, 'D' },
		{ "leaves", no_argument, NULL, 'P' },
		{ "timeout", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int option, code;

	cli_start(argc, argv);
	memset(options, 0, sizeof(*options));
	options->timeout = 60;
	/* "+": stop at the first word that is no option; the rest belongs to COMMAND. */
	while ((option = getopt_long(argc, argv, "+", longs, NULL)) != -1) {
		code = parse_option(options, option);
		if (code >= 0)
			return code;
	}
	if (options->dump || options->leaves) {
		options->command = &argv[optind];
		return optind < argc ? check_options(options) : cli_usage(TOOL, usage);
	}
	/* Without a command, options may come after FILE too. */
	if (optind < argc)
		options->file = argv[optind++];
	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		code = parse_option(options, option);
		if (code >= 0)
			return code;
	}
	return options->file && optind == argc ? check_options(options) : cli_usage(TOOL, usage);
}
