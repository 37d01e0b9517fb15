// SPDX-License-Identifier: MIT
/*
 * options.c - the command line of salvo-gpu
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"
#include "log.h"
#include "salvo_gpu.h"
#include "salvo_hw.h"
#include "salvo_link.h"

static const char usage[] =
	"usage: salvo-gpu --socket PATH --ram FILE [options]\n"
	"\n"
	"A Salvo GPU for a QEMU that is started with\n"
	"  -object memory-backend-file,id=ram,mem-path=FILE,share=on,size=...\n"
	"  -machine q35,memory-backend=ram -smp 2 -accel tcg,thread=multi\n"
	"  -chardev socket,id=gpu,path=PATH -device ivshmem-doorbell,chardev=gpu,vectors=4\n"
	"\n"
	"  -s, --socket PATH   UNIX socket to listen on for QEMU; must not exist\n"
	"  -r, --ram FILE      the guest's memory, at most 2G; must have its final size\n"
	"      --vram SIZE     size of the memory bar, a power of two from 2M to 4G, of\n"
	"                      which 1M holds the registers (default 256M)\n"
	"  -u, --units N       execution units, at most 64 (default one for each core)\n"
	"  -t, --topology T    units and nodes, instead of the machine's: 4, 2x4 (2 nodes of 4),\n"
	"                      4+2x2; 2x4,far=1:2000ns makes node 1 far, with that latency added\n"
	"      --threads       run all kernels in one process: address spaces are not isolated\n"
	"      --inject F      inject faults into batches, which are counted from 1:\n"
	"                      lost-irq@3,late-fence@5:200ms,wrong-seqno@6,wrong-seqno@7:+5,\n"
	"                      corrupt@8:fence (or magic, head),bad-result@9,stuck-units@10,crash@11\n"
	"      --control PATH  create a FIFO; a line like F written to it replaces the faults\n"
	"  -v, --verbose       log events\n"
	"  -h, --help          this text\n"
	"      --version       the version\n"
	"\n"
	"Ends when QEMU does. Exit code: 0 ended as asked, 1 failed, 2 wrong usage.\n";

static bool parse_number(const char *text, uint64_t limit, uint64_t *out, const char **rest)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	*rest = end;
	return errno == 0 && *out <= limit;
}

/* A number with K, M or G behind it, or nothing. */
static bool parse_size(const char *text, uint64_t *out)
{
	static const char units[] = "KMG";
	const char *rest, *unit;

	if (!parse_number(text, UINT64_MAX >> 30, out, &rest))
		return false;
	if (!*rest)
		return true;
	unit = strchr(units, *rest);
	if (!unit || rest[1])
		return false;
	*out <<= 10 * (unit - units + 1);
	return true;
}

enum { OPTION_VRAM = 256, OPTION_THREADS, OPTION_INJECT, OPTION_CONTROL };

static bool parse_vram(struct options *options, const char *text)
{
	uint64_t bytes;

	if (!parse_size(text, &bytes) || bytes < SALVO_LINK_MIN_BAR || bytes > SALVO_LINK_MAX_BAR ||
	    bytes & (bytes - 1)) {
		log_error("--vram %s: not a power of two from 2M to 4G", text);
		return false;
	}
	options->bar_bytes = bytes;
	return true;
}

static bool parse_units(struct options *options, const char *text)
{
	const char *rest;
	uint64_t units;

	if (!parse_number(text, SALVO_MAX_UNITS, &units, &rest) || *rest || !units) {
		log_error("--units %s: not a number from 1 to %d", text, SALVO_MAX_UNITS);
		return false;
	}
	options->units = units;
	return true;
}

static bool parse_topology(struct options *options, const char *text)
{
	char why[SALVO_GPU_WHY];

	if (salvo_gpu_check_topology(text, why)) {
		log_error("--topology %s: %s", text, why);
		return false;
	}
	options->topology = text;
	return true;
}

static bool parse_inject(struct options *options, const char *text)
{
	char why[SALVO_GPU_WHY];

	if (salvo_gpu_check_inject(text, why)) {
		log_error("--inject %s", why);
		return false;
	}
	options->inject = text;
	return true;
}

/* Returns an exit code. */
static int parse_option(struct options *options, int c)
{
	bool ok = true;

	switch (c) {
	case 's':
		options->socket_path = optarg;
		break;
	case 'r':
		options->ram_path = optarg;
		break;
	case OPTION_VRAM:
		ok = parse_vram(options, optarg);
		break;
	case 'u':
		ok = parse_units(options, optarg);
		break;
	case 't':
		ok = parse_topology(options, optarg);
		break;
	case OPTION_THREADS:
		options->threads = true;
		break;
	case OPTION_INJECT:
		ok = parse_inject(options, optarg);
		break;
	case OPTION_CONTROL:
		options->control_path = optarg;
		break;
	case 'v':
		log_verbose = true;
		break;
	case 'h':
	case 'V':
		exit(cli_other("salvo-gpu", usage, c));
	default:
		return cli_usage("salvo-gpu", usage);
	}
	return ok ? EXIT_SUCCESS : EXIT_USAGE;
}

int options_parse(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "ram", required_argument, NULL, 'r' },
		{ "vram", required_argument, NULL, OPTION_VRAM },
		{ "units", required_argument, NULL, 'u' },
		{ "topology", required_argument, NULL, 't' },
		{ "threads", no_argument, NULL, OPTION_THREADS },
		{ "inject", required_argument, NULL, OPTION_INJECT },
		{ "control", required_argument, NULL, OPTION_CONTROL },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int c, code;

	options->bar_bytes = 256ull << 20;
	while ((c = getopt_long(argc, argv, "s:r:u:t:vh", known, NULL)) != -1) {
		code = parse_option(options, c);
		if (code)
			return code;
	}
	if (optind < argc) {
		log_error("unexpected argument '%s'; see --help", argv[optind]);
		return EXIT_USAGE;
	}
	if (options->units && options->topology) {
		log_error("--units and --topology exclude each other");
		return EXIT_USAGE;
	}
	if (!options->socket_path || !options->ram_path) {
		log_error("--socket and --ram are needed; see --help");
		return EXIT_USAGE;
	}
	return EXIT_SUCCESS;
}
