// SPDX-License-Identifier: MIT
/*
 * program.c - fuzz the program loader: any bytes as a program file
 *
 * All of salvo_program_load() on an embedded GPU: structure, notes, relocation, and the copy of the
 * image for a debugger.
 */
#include <stdint.h>
#include <stdlib.h>

#include "salvo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct salvo_device *device;
	struct salvo_program *program;

	if (!device && salvo_device_open("soft", &device))
		abort();
	if (!salvo_program_load(device, data, size, &program))
		salvo_program_destroy(program);
	return 0;
}
