// SPDX-License-Identifier: MIT
/*
 * cold_build.c - how long does an application wait for a kernel that was never built?
 *
 * salvo_program_build() of each kernel of bench_kernels.cl by itself, without a cache: compiler,
 * linker and loading. CPU time includes the child processes; on a busy machine it is the most
 * reliable figure. The target is 300 ms for one kernel.
 *
 * usage: cold_build [--json] [--rounds N]
 */
#include <string.h>
#include <sys/resource.h>
#include "bench.h"
#include "cc_program.h"
#include "salvo.h"

static char *read_text(const char *path)
{
	char *text = calloc(1, 1 << 16);
	FILE *file = fopen(path, "r");

	need(text && file && fread(text, 1, (1 << 16) - 1, file) > 0, path);
	fclose(file);
	return text;
}

/*
 * Extracts kernel @number of @source with the definitions before it; false if there are fewer.
 * Other lines outside of kernels are comments or empty.
 */
static bool take_kernel(const char *source, unsigned int number, char *out, char *name)
{
	const char *line, *end;
	unsigned int kernels = 0;

	for (line = source; *line; line = end) {
		end = line + strcspn(line, "\n");
		end += *end == '\n';
		kernels += sscanf(line, "kernel void %63[a-z0-9_]", name) == 1;
		if (kernels != number + 1 && *line != '#')
			continue;
		out = mempcpy(out, line, end - line);
		*out = 0;
		if (*line == '}')
			return true;
	}
	return false;
}

static double child_cpu_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec +
	       usage.ru_stime.tv_usec;
}

static void build(struct salvo_device *device, const char *text, double *cpu, double *wall)
{
	const double cpu_start = clock_us(CLOCK_PROCESS_CPUTIME_ID) + child_cpu_us();
	const double start = clock_us(CLOCK_MONOTONIC);
	struct salvo_program *program;

	need(!salvo_program_build(device, text, 0, NULL, NULL, &program), "salvo_program_build");
	*wall = clock_us(CLOCK_MONOTONIC) - start;
	*cpu = clock_us(CLOCK_PROCESS_CPUTIME_ID) + child_cpu_us() - cpu_start;
	salvo_program_destroy(program);
}

int main(int argc, char **argv)
{
	char *source = read_text(cc_build_path("../tests/bench/bench_kernels.cl"));
	char *text = malloc(strlen(source) + 1), name[64];
	struct salvo_device *device;
	unsigned int rounds = 5, number, i;
	double *cpu, *wall;
	bool json = false;
	int word;

	for (word = 1; word < argc; word++)
		bench_option(argv, &word, &json, &rounds);
	rounds = rounds < 1 ? 1 : rounds;
	cpu = calloc(2 * rounds, sizeof(*cpu));
	need(text && cpu, "malloc");
	wall = cpu + rounds;
	/* No cache folder: everything is built. */
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	setenv("SALVO_CC", cc_build_path("bin/salvo-cc"), 1);
	need(!salvo_device_open("soft", &device), "salvo_device_open");
	if (!json)
		printf("ms to build one kernel, medians of %-3u  CPU     wall\n", rounds);
	for (number = 0; take_kernel(source, number, text, name); number++) {
		for (i = 0; i < rounds; i++)
			build(device, text, &cpu[i], &wall[i]);
		printf(json ? "{\"kernel\":\"%s\",\"cpu_ms\":%.1f,\"wall_ms\":%.1f}\n"
			    : "%-33s %8.0f %8.0f\n",
		       name, median(cpu, rounds) / 1e3, median(wall, rounds) / 1e3);
		fflush(stdout);
	}
	salvo_device_close(device);
	free(cpu);
	free(text);
	free(source);
	return 0;
}
