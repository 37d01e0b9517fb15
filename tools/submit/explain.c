// SPDX-License-Identifier: MIT
/*
 * explain.c - print which arguments need which pipe controls (B4 of CN105940388)
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "report.h"
#include "picture.h"
#include "drm/salvo_drm.h"

static const char *const kinds[] = {
	[SALVO_HAZARD_RAW] = "its %s reads what %s there writes",
	[SALVO_HAZARD_WAR] = "its %s writes over what %s there reads",
	[SALVO_HAZARD_WAW] = "its %s writes over what %s there writes",
};

static const char *const kind_names[] = {
	[SALVO_HAZARD_RAW] = "read-after-write",
	[SALVO_HAZARD_WAR] = "write-after-read",
	[SALVO_HAZARD_WAW] = "write-after-write",
};

/* "label (kernel)" or "command 3 (kernel)". */
static void name_command(const struct salvo_text *text, unsigned int index, char *out,
			 size_t bytes)
{
	const struct salvo_text_command *command = &text->commands[index];

	if (command->label)
		snprintf(out, bytes, "%s (%s)", command->label, picture_command_name(command));
	else
		snprintf(out, bytes, "command %u (%s)", index, picture_command_name(command));
}

/* "argument 2", or what else a kernel reads and writes. */
static void name_argument(uint32_t argument, char *out, size_t bytes)
{
	if (argument == SALVO_HAZARD_VARIABLES)
		snprintf(out, bytes, "program's variables");
	else
		snprintf(out, bytes, "argument %u", argument);
}

/* The name of the buffer at an address of the GPU, and the offset in it. */
static const char *find_buffer(const struct salvo_text_build *build, uint64_t address,
			       uint64_t *offset)
{
	unsigned int i;

	for (i = 0; i < build->text->buffer_count; i++) {
		*offset = address - salvo_bo_address(build->bos[i]);
		if (*offset < salvo_bo_size(build->bos[i]))
			return build->text->buffers[i].name;
	}
	*offset = address;
	return "?";
}

static void print_hazard(const struct salvo_text_build *build, const struct salvo_hazard *hazard,
			 bool first)
{
	char consumer[160], producer[160], its[32], other[32];
	const char *buffer;
	uint64_t offset;

	name_command(build->text, hazard->consumer, consumer, sizeof(consumer));
	name_command(build->text, hazard->producer, producer, sizeof(producer));
	name_argument(hazard->consumer_argument, its, sizeof(its));
	name_argument(hazard->producer_argument, other, sizeof(other));
	if (first)
		printf("%s waits for %s:\n", consumer, producer);
	buffer = find_buffer(build, hazard->address, &offset);
	fputs("    ", stdout);
	printf(kinds[hazard->kind], its, other);
	printf(": %s, bytes %" PRIu64 " to %" PRIu64 "\n", buffer, offset,
	       offset + hazard->size - 1);
}

static void write_hazard(struct json *json, const struct salvo_text_build *build,
			 const struct salvo_hazard *hazard)
{
	const char *buffer;
	uint64_t offset;

	buffer = find_buffer(build, hazard->address, &offset);
	json_object(json, NULL);
	json_count(json, "pipe_control", hazard->command);
	json_string(json, "kind", kind_names[hazard->kind]);
	json_count(json, "consumer", hazard->consumer);
	json_count(json, "consumer_argument", hazard->consumer_argument);
	json_count(json, "producer", hazard->producer);
	json_count(json, "producer_argument", hazard->producer_argument);
	json_string(json, "buffer", buffer);
	json_count(json, "offset", offset);
	json_count(json, "size", hazard->size);
	json_object_end(json);
}

int report_hazards(const struct options *options, const struct salvo_text_build *build)
{
	struct json writer = { .file = stdout }, *json = options->json ? &writer : NULL;
	unsigned int i, last = ~0u, controls = 0;
	struct salvo_hazard hazard;
	int err;

	if (json) {
		json_object(json, NULL);
		json_array(json, "hazards");
	}
	for (i = 0; !(err = salvo_batch_get_hazard(build->batch, i, &hazard)); i++) {
		if (json)
			write_hazard(json, build, &hazard);
		else
			print_hazard(build, &hazard, hazard.command != last);
		controls += hazard.command != last;
		last = hazard.command;
	}
	if (json) {
		json_array_end(json);
		json_count(json, "pipe_controls", controls);
		json_object_end(json);
		json_line_end(json);
	} else {
		printf("%u pipe control%s %s\n", controls, controls == 1 ? "" : "s",
		       build->text->hazards ? "added by the library" :
		       controls ? "lacking: 'hazards' in the file adds them" : "lacking");
	}
	return err == -ENOENT ? 0 : err;
}
