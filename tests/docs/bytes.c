// SPDX-License-Identifier: MIT
/*
 * bytes.c - the ring entry and the packet that Documentation/hardware.rst shows byte by byte
 *
 * The packer's output for the same batch must be equal to the manual. After a change of the format
 * the first line that differs is the one to update there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "salvo_hw.h"
#include "salvo_pack.h"

#define MANUAL		"Documentation/hardware.rst"
#define ROW		16
#define ROW_TEXT	(3 * ROW)
#define PACKET_BYTES	384

static const struct salvo_ring_entry entry = {
	.packet = 0x1d400000, .packet_bytes = PACKET_BYTES, .flags = SALVO_RING_IRQ, .seqno = 7,
	.asid = 2, .ctx = 5, .eu_mask = 3, .priority = SALVO_PRIORITY_HIGH,
};

static const struct drm_salvo_command commands[] = {
	{ .type = DRM_SALVO_FILL, .dst = 0x300000002000, .size = 4096, .pattern = 0x3f800000 },
	{ .type = DRM_SALVO_PIPE_CONTROL, .consumer = 2, .producer = 0 },
	{ .type = DRM_SALVO_DISPATCH, .entry = 0x300000001040, .items = { 1000, 1, 1 },
	  .group = { 64, 1, 1 }, .args_size = 16, .dims = 1 },
};

/* float *values, float factor */
static const uint8_t args[16] = { 0, 0x20, 0, 0, 0, 0x30, 0, 0, 0, 0, 0x20, 0x41 };

static const struct salvo_batch_desc batch = {
	.commands = commands, .count = 3, .args = args, .args_size = sizeof(args),
};

static const struct salvo_packet_target target = {
	.asid = 2, .ctx = 5, .eu_mask = 3, .result = 0x1d400180,
};

static void row_text(char *text, const uint8_t *bytes)
{
	unsigned int i;

	for (i = 0; i < ROW; i++)
		sprintf(text + 3 * i, "%02x ", bytes[i]);
	text[ROW_TEXT - 1] = '\0';
}

/* The rows "   OFFSET  xx xx ...  what it is" that follow the line @heading. */
static void expect_bytes(struct __test_metadata *_metadata, const char *heading,
			 const uint8_t *bytes, unsigned int size)
{
	char line[256], want[ROW_TEXT + 1], shown[ROW_TEXT];
	FILE *file = fopen(MANUAL, "r");
	unsigned int at = 0, offset;
	bool found = false;

	ASSERT_NE(file, NULL);
	while (at < size && fgets(line, sizeof(line), file)) {
		found = found || !strncmp(line, heading, strlen(heading));
		if (!found || sscanf(line, "    %x  %47c", &offset, shown) != 2)
			continue;
		shown[ROW_TEXT - 1] = '\0';
		row_text(want, bytes + at);
		EXPECT_EQ(offset, at);
		EXPECT_STREQ(shown, want);
		at += ROW;
	}
	fclose(file);
	EXPECT_EQ(at, size);
}

TEST(ring_entry_is_what_the_manual_shows)
{
	expect_bytes(_metadata, "The ring entry::", (const uint8_t *)&entry, sizeof(entry));
}

TEST(packet_is_what_the_manual_shows)
{
	_Alignas(64) uint8_t packet[PACKET_BYTES];

	ASSERT_EQ(salvo_pack_bytes(&batch), PACKET_BYTES);
	salvo_pack_batch(&batch, &target, packet);
	salvo_pack_set_fence(packet, entry.seqno);
	expect_bytes(_metadata, "The packet::", packet, PACKET_BYTES);
}

TEST_HARNESS_MAIN
