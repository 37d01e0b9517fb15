// SPDX-License-Identifier: MIT
/* text.c - the human-readable form: round trip, errors with their position, B7 */
#include "kselftest_harness.h"

#include "salvo_pack.h"
#include "batch.h"
#include "lib_test.h"
#include "salvo_hw.h"
#include "text_build.h"

#define HEAD "program k \"lib.salvo\"\nbuffer a 4K\nbuffer b 64K ramp u32 0 1\n"

static char *write_text(const struct salvo_text *text)
{
	char *out = NULL;
	size_t bytes;
	FILE *file = open_memstream(&out, &bytes);

	salvo_text_write(text, file);
	fclose(file);
	return out;
}

static int parse(const char *source, struct salvo_text **text, struct salvo_text_error *error)
{
	return salvo_text_parse(source, strlen(source), text, error);
}

TEST(B7_round_trip)
{
	static const char source[] =
		"# every statement, every option\n"
		"program k \"lib.salvo\"	# a comment\n"
		"buffer a 0x1000\n"
		"buffer b 1K readonly random 0xffffffffffffffff\n"
		"buffer c 2M fill i16 -5\n"
		"buffer d 100 ramp f32 0.1 -1e30\n"
		"buffer e 1G file \"some file.bin\"\n"
		"buffer f 64 data i8 -128 127 -3..3 0*5\n"
		"image g 640 r unorm8\n"
		"image h 64,0x30 rgba f16 pitch 1K readonly file \"h.rgba\"\n"
		"image i 5,6,7 luminance snorm16 pitch 0,60K fill u16 9\n"
		"image j 8,8 bgra u32 layers 3 pitch 128,2K random 1\n"
		"one: dispatch k.store items 4294967295 args a[8] u32:1 u8:255,0,7 local:2K null f64:0.1\n"
		"two: dispatch k.add items 1,2,3 offset 7,0,9 \\\n"
		"     group 1,2,3 args \\\n"
		"     b i64:-9223372036854775808\n"
		"three: copy a[1] b[0x10] 5\n"
		"fill a 4K 0xdeadbeef\n"
		"\t timestamp a[8]\r\n"
		"pipe_control two one\n"
		"barrier\n"
		"four: copy_rect a[8] b 0x10 rows 3 slices 2 to_pitch 1K 8K from_pitch 20\n"
		"copy_rect a b 4\n"
		"copy_rect a b 4 from_pitch 64 128\n"
		"fill_pattern a[3] 1K i16 -1 2..5 7*2\n"
		"hazards\n"
		"dispatch k.store items 1 args a[8:16] u32:1 u32:2\n"
		"dispatch k.store items 1 args g g[0] h[8] sampler:normalized,mirrored_repeat,linear\\\n"
		" sampler:clamp,nearest sampler:linear sampler:36 sampler:0 sampler:0xa\n"
		"expect j = u8 1\n"
		"expect a[1] = file \"wanted.bin\"\n"
		"expect a = u64 18446744073709551615 0..3\n"
		"expect a[4] = f32 1.5 -inf 1e-3*100 within 0.25\n"
		"print b[4] i32 7\n";
	struct salvo_text_error error;
	struct salvo_text *text, *again;
	char *first, *second;

	ASSERT_EQ(0, parse(source, &text, &error)) TH_LOG("%u:%u %s", error.line, error.column,
							  error.message);
	EXPECT_EQ(10, text->buffer_count);
	EXPECT_EQ(13, text->command_count);
	EXPECT_EQ(5, text->check_count);
	EXPECT_TRUE(text->hazards);
	first = write_text(text);
	ASSERT_EQ(0, parse(first, &again, &error)) TH_LOG("%u:%u %s", error.line, error.column,
							  error.message);
	second = write_text(again);
	EXPECT_STREQ(first, second);
	EXPECT_NE(NULL, strstr(first, "dispatch k.add items 1,2,3 offset 7,0,9 group 1,2,3 args b i64:-9223372036854775808"));
	EXPECT_NE(NULL, strstr(first, "pipe_control two one"));
	EXPECT_NE(NULL, strstr(first, "hazards\n"));
	EXPECT_NE(NULL, strstr(first, "args a[8:16] u32:1"));
	EXPECT_NE(NULL, strstr(first, "expect a[1] = file \"wanted.bin\"\n"));
	EXPECT_NE(NULL, strstr(first, "u32:1 u8:255,0,7 local:2048 null f64:0.1"));
	EXPECT_NE(NULL, strstr(first, "image g 640 r unorm8\n"));
	EXPECT_NE(NULL, strstr(first, "image h 64,48 rgba f16 pitch 1024 readonly file \"h.rgba\"\n"));
	EXPECT_NE(NULL, strstr(first, "image i 5,6,7 luminance snorm16 pitch 0,61440 fill u16 9\n"));
	EXPECT_NE(NULL, strstr(first, "image j 8,8 bgra u32 layers 3 pitch 128,2048 random 1\n"));
	EXPECT_NE(NULL, strstr(first, "args g g[0] h[8] sampler:normalized,mirrored_repeat,linear "
				      "sampler:clamp,nearest sampler:linear "
				      "sampler:clamp,linear sampler:0x0 sampler:0xa\n"));
	EXPECT_EQ(640, text->buffers[6].bytes);
	EXPECT_EQ(7 * 61440, text->buffers[8].bytes);
	EXPECT_EQ(3 * 2048, text->buffers[9].bytes);
	free(first);
	free(second);
	salvo_text_destroy(text);
	salvo_text_destroy(again);
}

struct bad {
	const char *source;
	unsigned int line;
	unsigned int column;
	const char *message;
};

TEST(errors_say_where_and_what)
{
	static const struct bad cases[] = {
		{ "bogus\n", 1, 1, "unknown statement" },
		{ "\n\n  %\n", 3, 3, "a statement is missing" },
		{ "program\n", 1, 8, "name is missing" },
		{ "program k\n", 1, 10, "quotes" },
		{ "program k \"x\n", 1, 11, "closing quote" },
		{ "program k \"\"\n", 1, 11, "empty" },
		{ "program k \"x\" y\n", 1, 15, "unexpected" },
		{ "program k \"x\"\nprogram k \"y\"\n", 2, 9, "already" },
		{ "buffer a\n", 1, 9, "size is missing" },
		{ "buffer a 0\n", 1, 11, "is 0" },
		{ "buffer a 99999999999999999999\n", 1, 10, "64 bits" },
		{ "buffer a 99999999999999G\n", 1, 10, "64 bits" },
		{ "buffer a 4K nonsense\n", 1, 13, "must be" },
		{ "buffer a 4K\nbuffer a 4K\n", 2, 8, "already" },
		{ "buffer null 4K\n", 1, 8, "already" },
		{ "buffer a 4K fill u8 256\n", 1, 21, "does not fit in u8" },
		{ "buffer a 4K fill u8 -1\n", 1, 21, "does not fit in u8" },
		{ "buffer a 4K fill i8 -129\n", 1, 21, "does not fit in i8" },
		{ "buffer a 4K fill f16 1\n", 1, 18, "type is missing" },
		{ "buffer a 4K ramp u8 1\n", 1, 22, "number is missing" },
		{ "buffer a 4K fill f32 abc\n", 1, 22, "number is missing" },
		{ "buffer a 4K data u8 5..3\n", 1, 21, "backwards" },
		{ "buffer a 4K data u8 5*0\n", 1, 21, "count of 0" },
		{ "buffer a 4K data u64 0..18446744073709551615\n", 1, 22, "too long" },
		{ HEAD "dispatch x.store items 1\n", 4, 10, "no program x" },
		{ HEAD "dispatch k store items 1\n", 4, 11, "'.' is missing" },
		{ HEAD "dispatch k.store\n", 4, 17, "'items' is missing" },
		{ HEAD "dispatch k.store items 0\n", 4, 25, "a number of work-items is 0" },
		{ HEAD "dispatch k.store items 1,1,1,1\n", 4, 30, "at most 3" },
		{ HEAD "dispatch k.store items 4294967296\n", 4, 24, "32 bits" },
		{ HEAD "dispatch k.store items 4 group 2,2\n", 4, 32, "dimensions" },
		{ HEAD "dispatch k.store items 4,4 offset 2\n", 4, 36, "',' is missing" },
		{ HEAD "dispatch k.store items 4 offset\n", 4, 32, "an offset is missing" },
		{ HEAD "dispatch k.store items 4 args q\n", 4, 31, "no buffer q" },
		{ HEAD "dispatch k.store items 4 args a[\n", 4, 33, "offset is missing" },
		{ HEAD "dispatch k.store items 4 args a[4\n", 4, 34, "']' is missing" },
		{ HEAD "dispatch k.store items 4 args u32:\n", 4, 35, "number is missing" },
		{ HEAD "copy a b\n", 4, 9, "bytes is missing" },
		{ HEAD "fill a 4 0x1ffffffff\n", 4, 10, "32 bits" },
		{ HEAD "copy_rect a b\n", 4, 14, "a row is missing" },
		{ HEAD "copy_rect a b 4 to_pitch\n", 4, 25, "row pitch is missing" },
		{ HEAD "fill_pattern a 4 5\n", 4, 18, "type" },
		{ HEAD "pipe_control x y\n", 4, 14, "no command x" },
		{ HEAD "x: copy a b 4\npipe_control x x\n", 5, 14, "before the consumer" },
		{ HEAD "x: copy a b 4\nx: copy a b 4\n", 5, 1, "already" },
		{ HEAD "x: barrier\n", 4, 4, "missing" },
		{ HEAD "x:\n", 4, 3, "missing" },
		{ HEAD "expect a u32 5\n", 4, 10, "'='" },
		{ HEAD "expect a = 5\n", 4, 12, "type is missing" },
		{ HEAD "expect a = u32\n", 4, 15, "number is missing" },
		{ HEAD "expect a = f32 1 within -1\n", 4, 27, "negative" },
		{ HEAD "print a u32\n", 4, 12, "count is missing" },
		{ "buffer abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl 4\n", 1, 8,
		  "longer than 63" },
		{ "image\n", 1, 6, "image's name is missing" },
		{ "buffer a 4\nimage a 4 r u8\n", 2, 7, "already" },
		{ "image a\n", 1, 8, "number of pixels is missing" },
		{ "image a 4,0 r u8\n", 1, 12, "number of pixels is 0" },
		{ "image a 1,2,3,4 r u8\n", 1, 15, "at most 3" },
		{ "image a 4 u8\n", 1, 11, "order of channels is missing" },
		{ "image a 4 rgb u8\n", 1, 11, "order of channels is missing" },
		{ "image a 4 rgba u64\n", 1, 16, "format of channels is missing" },
		{ "image a 65537,2 r u8\n", 1, 9, "over 65536" },
		{ "image a 4,4,4 r u8 layers 2\n", 1, 9, "layers with a depth" },
		{ "image a 4 r u8 layers\n", 1, 22, "layers is missing" },
		{ "image a 4,4 rgba u8 pitch 15\n", 1, 9, "pitch that does not fit" },
		{ "image a 4 r u8 pitch 4,\n", 1, 24, "pitch of slices is missing" },
		{ "image a 4 r u8 nonsense\n", 1, 16, "must be" },
		{ HEAD "dispatch k.store items 4 args sampler:\n", 4, 39, "sampler is missing" },
		{ HEAD "dispatch k.store items 4 args sampler:repeat\n", 4, 45, "',' is missing" },
		{ HEAD "dispatch k.store items 4 args sampler:normalized,9\n", 4, 50,
		  "'nearest' or 'linear'" },
		{ "\\\n\\\nbogus\n", 3, 1, "unknown" },
		/* The error is in the line before the continuation. */
		{ "buffer a 4K \\\n data u8 5*\\\n\\\n0\n", 2, 10, "count of 0" },
		{ "buffer a 4K data u8 5*\\\n0\n", 1, 21, "count of 0" },
	};
	struct salvo_text_error error;
	struct salvo_text *text;
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct bad *bad = &cases[i];

		EXPECT_EQ(-EINVAL, parse(bad->source, &text, &error)) TH_LOG("%s", bad->source);
		EXPECT_EQ(NULL, text);
		EXPECT_EQ(bad->line, error.line) TH_LOG("%s", bad->source);
		EXPECT_EQ(bad->column, error.column) TH_LOG("%s: %s", bad->source, error.message);
		EXPECT_NE(NULL, strstr(error.message, bad->message))
			TH_LOG("%s: %s", bad->source, error.message);
	}
}

TEST(limits)
{
	struct salvo_text_error error;
	struct salvo_text *text;
	size_t bytes;
	char *source;
	FILE *file;
	unsigned int i;

	file = open_memstream(&source, &bytes);
	for (i = 0; i <= SALVO_TEXT_MAX_COMMANDS; i++)
		fputs("barrier\n", file);
	fclose(file);
	EXPECT_EQ(-EINVAL, salvo_text_parse(source, bytes, &text, &error));
	EXPECT_EQ(SALVO_TEXT_MAX_COMMANDS + 1, error.line);
	EXPECT_NE(NULL, strstr(error.message, "too many commands"));
	EXPECT_EQ(0, salvo_text_parse(source, bytes - 8, &text, &error));
	EXPECT_EQ(SALVO_TEXT_MAX_COMMANDS, text->command_count);
	salvo_text_destroy(text);
	free(source);
	source = calloc(1, SALVO_TEXT_MAX_BYTES + 1);
	EXPECT_EQ(-E2BIG, salvo_text_parse(source, SALVO_TEXT_MAX_BYTES + 1, &text, &error));
	free(source);
}

/* Truncated and changed at every byte, each as a separate block so that ASan detects overreads. */
TEST(damaged_text_breaks_nothing)
{
	static const char source[] =
		HEAD "image p 4,2 rgba unorm8 layers 2 pitch 16,32 zeros\n"
		"x: dispatch k.store items 1,2 group 1,1 args a[8] u32:1,2 local:4 null\n"
		"dispatch k.store items 1 args p sampler:normalized,repeat,linear\n"
		"copy a b[1K] 4\nfill a 16 7\ny: timestamp a[8]\n"
		"copy_rect a b 4 rows 2 slices 1 to_pitch 8 16 from_pitch 4\n"
		"fill_pattern a 4 i8 1 2..3\npipe_control y x\nbarrier\n"
		"expect b[4] = u32 1..5 7*3 9\nexpect a = f32 1.5 within 0.1\nprint b i8 4\n";
	static const char bytes[] = "\0\n\" :[],.*#\\0-zK\xff";
	struct salvo_text_error error;
	unsigned int parsed = 0, i;
	struct salvo_text *text;
	size_t n;
	char *part;

	for (n = 0; n < sizeof(source); n++) {
		part = malloc(n ? n : 1);
		memcpy(part, source, n);
		parsed += salvo_text_parse(part, n, &text, &error) == 0;
		salvo_text_destroy(text);
		free(part);
	}
	for (n = 0; n < sizeof(source) - 1; n++) {
		for (i = 0; i < sizeof(bytes) - 1; i++) {
			part = malloc(sizeof(source) - 1);
			memcpy(part, source, sizeof(source) - 1);
			part[n] = bytes[i];
			parsed += salvo_text_parse(part, sizeof(source) - 1, &text, &error) == 0;
			salvo_text_destroy(text);
			free(part);
		}
	}
	EXPECT_GT(parsed, 100);
}

/* The commands of a packet, in its order */
static unsigned int read_packet(const void *packet, const struct salvo_op **ops, unsigned int most)
{
	const struct salvo_packet *head = packet;
	const uint8_t *at = (const uint8_t *)(head + 1), *end = at + head->command_bytes;
	unsigned int count = 0;

	while (at < end && count < most) {
		const struct salvo_op *op = (const struct salvo_op *)at;

		if (op->code >= SALVO_OP_DISPATCH && op->code <= SALVO_OP_FILL_PATTERN)
			ops[count++] = op;
		at += op->bytes;
	}
	return count;
}

TEST(B7_each_command_of_the_text_is_one_of_the_packet)
{
	static const char source[] =
		HEAD "x: dispatch k.store items 1 args a u32:3 u32:77\n"
		"y: copy a[64] b[128] 32\n"
		"barrier\n"
		"fill a[16] 8 0x55\n"
		"copy_rect a[64] b[1] 4 rows 2 slices 2 to_pitch 8 16\n"
		"fill_pattern b[96] 10 u16 1*2 7..9\n"
		"z: dispatch k.add items 7 args b u32:1\n"
		"pipe_control z x\n"
		"timestamp a[8]\n";
	static const unsigned int codes[] = {
		SALVO_OP_DISPATCH, SALVO_OP_COPY, SALVO_OP_PIPE_CONTROL, SALVO_OP_FILL,
		SALVO_OP_COPY_RECT, SALVO_OP_FILL_PATTERN, SALVO_OP_DISPATCH,
		SALVO_OP_PIPE_CONTROL, SALVO_OP_TIMESTAMP,
	};
	const struct salvo_packet_target target = { .asid = 1, .ctx = 1 };
	const struct salvo_op_pipe_control *pipe;
	const struct salvo_op_dispatch *dispatch;
	const struct salvo_op_copy *copy;
	const struct salvo_op_fill_pattern *pattern;
	const struct salvo_op_copy_rect *rect;
	const struct salvo_op *ops[10];
	struct salvo_text_build *build;
	struct salvo_text_error error;
	struct salvo_batch_desc desc;
	char dir[4400];
	const char *dirs[] = { dir, NULL };
	struct salvo_device *device;
	struct salvo_text *text;
	unsigned int i;
	void *packet;

	snprintf(dir, sizeof(dir), "%s", kernel_path(""));
	ASSERT_EQ(0, open_device(&device));
	ASSERT_EQ(0, parse(source, &text, &error)) TH_LOG("%u: %s", error.line, error.message);
	ASSERT_EQ(0, salvo_text_build(text, device, dirs, ".", &build, &error))
		TH_LOG("%u: %s", error.line, error.message);
	ASSERT_EQ(0, salvo_batch_finish(build->batch, NULL, &desc));
	packet = aligned_alloc(64, salvo_pack_bytes(&desc));
	salvo_pack_batch(&desc, &target, packet);

	ASSERT_EQ(9, read_packet(packet, ops, 10));
	for (i = 0; i < 9; i++) {
		EXPECT_EQ(codes[i], ops[i]->code);
		EXPECT_EQ(i, ops[i]->index);
	}
	dispatch = (const struct salvo_op_dispatch *)ops[6];
	EXPECT_EQ(7, dispatch->items[0]);
	copy = (const struct salvo_op_copy *)ops[1];
	EXPECT_EQ(salvo_bo_address(build->bos[0]) + 64, copy->dst);
	EXPECT_EQ(salvo_bo_address(build->bos[1]) + 128, copy->src);
	EXPECT_EQ(32, copy->size);
	rect = (const struct salvo_op_copy_rect *)ops[4];
	EXPECT_EQ(4, rect->width);
	EXPECT_EQ(2, rect->height);
	EXPECT_EQ(2, rect->depth);
	EXPECT_EQ(8, rect->dst_row_pitch);
	EXPECT_EQ(16, rect->dst_slice_pitch);
	EXPECT_EQ(4, rect->src_row_pitch);
	EXPECT_EQ(8, rect->src_slice_pitch);
	pattern = (const struct salvo_op_fill_pattern *)ops[5];
	EXPECT_EQ(10, pattern->size);
	EXPECT_EQ(10, pattern->args_size);
	pipe = (const struct salvo_op_pipe_control *)ops[7];
	EXPECT_EQ(6, pipe->consumer);
	EXPECT_EQ(0, pipe->producer);
	EXPECT_EQ(SALVO_PACKET_BATCH_SYNC, ((struct salvo_packet *)packet)->kind);

	free(packet);
	salvo_text_build_destroy(build);
	salvo_text_destroy(text);
	salvo_device_close(device);
}

TEST(what_only_the_device_can_tell)
{
	static const struct bad cases[] = {
		{ "program k \"nothing.salvo\"\nbarrier\n", 1, 0, "No such file" },
		{ "buffer a 1000G\nbarrier\n", 1, 0, "No space" },
		{ "buffer a 4 file \"/nowhere\"\nbarrier\n", 1, 0, "No such file" },
		{ "buffer a 4 data u32 1 2\nbarrier\n", 1, 0, "does not fit" },
		{ "buffer a 4 data u8 1*18446744073709551615\nbarrier\n", 1, 0, "does not fit" },
		{ HEAD "dispatch k.nothing items 1\n", 4, 0, "no kernel nothing" },
		{ HEAD "dispatch k.store items 1 args a\n", 4, 0, "argument 1 is not set" },
		{ HEAD "dispatch k.store items 1 args u32:1\n", 4, 0, "argument 0" },
		{ HEAD "dispatch k.store items 1 args in=a u32:1 u32:1\n", 4, 0,
		  "argument 0 of kernel store is out, not in" },
		{ HEAD "dispatch k.store items 1 args a[4K] u32:1 u32:1\n", 4, 0, "argument 0" },
		{ HEAD "dispatch k.store items 1 args a u64:1 u32:1\n", 4, 0, "argument 1" },
		{ HEAD "dispatch k.store items 1 args a u32:1 u32:1 u32:1\n", 4, 0, "argument 3" },
		{ HEAD "dispatch k.store items 1 group 4096 args a u32:1 u32:1\n", 4, 0, "group" },
		{ HEAD "image p 4,4 rgba f32\ndispatch k.store items 1 args p\n", 5, 0, "argument 0" },
		{ HEAD "dispatch k.store items 1 args sampler:linear\n", 4, 0, "argument 0" },
		{ "image p 65536,65536 rgba f32\nbarrier\n", 1, 0, "No space" },
		{ "program k \"image.salvo\"\nimage p 4,4,4 r f32\n"
		  "dispatch k.copy_f items 1 args p p\n", 3, 0, "argument 0" },
		{ "program k \"image.salvo\"\nimage p 4,4 r f32\nbuffer q 64\n"
		  "dispatch k.copy_f items 1 args p q\n", 4, 0, "argument 1" },
		{ "program k \"image.salvo\"\nimage p 4,4 r f32\n"
		  "dispatch k.sample items 1 args p sampler:0x40\n", 3, 0, "argument 1" },
		{ HEAD "dispatch k.store items 1 offset 1 args a u32:1 u32:1\n", 4, 0, "this offset" },
		{ HEAD "copy a b 5K\n", 4, 0, "are outside" },
		{ HEAD "fill a[2] 4 0\n", 4, 0, "multiples of 4" },
		{ HEAD "copy_rect a b 2K rows 3\n", 4, 0, "outside a buffer" },
		{ HEAD "copy_rect a b 8 rows 2 to_pitch 7\n", 4, 0, "too small" },
		{ HEAD "fill_pattern a 4 u8 1*3\n", 4, 0, "no multiple" },
		{ HEAD "fill_pattern a 1K u64 1*17\n", 4, 0, "more than 128 bytes" },
		{ HEAD "timestamp a[4]\n", 4, 0, "multiple of 8" },
		{ HEAD "barrier\nexpect a = u32 0*1025\n", 5, 0, "outside buffer a" },
		{ HEAD "barrier\nexpect a[18446744073709551615] = u8 0\n", 5, 0, "outside buffer" },
		{ HEAD "barrier\nexpect a = u8 0*18446744073709551615 0*9\n", 5, 0, "outside buffer" },
		{ HEAD "barrier\nprint a[1] u32 1024\n", 5, 0, "outside buffer a" },
	};
	struct salvo_text_build *build;
	struct salvo_text_error error;
	struct salvo_device *device;
	struct salvo_text *text;
	char dir[4400];
	const char *dirs[] = { dir, NULL };
	unsigned int i;

	snprintf(dir, sizeof(dir), "%s", kernel_path(""));
	ASSERT_EQ(0, open_device(&device));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ASSERT_EQ(0, parse(cases[i].source, &text, &error)) TH_LOG("%s", cases[i].source);
		EXPECT_GT(0, salvo_text_build(text, device, dirs, ".", &build, &error))
			TH_LOG("%s", cases[i].source);
		EXPECT_EQ(NULL, build);
		EXPECT_EQ(cases[i].line, error.line) TH_LOG("%s", cases[i].source);
		EXPECT_EQ(0, error.column);
		EXPECT_NE(NULL, strstr(error.message, cases[i].message))
			TH_LOG("%s: %s", cases[i].source, error.message);
		salvo_text_destroy(text);
	}
	salvo_device_close(device);
}

/* Binds two halves of other memory in turn, in place of a buffer. */
TEST(memory_from_elsewhere_takes_a_buffers_place)
{
	static const char source[] =
		"program k \"lib.salvo\"\nbuffer in 64 ramp u32 0 1\nbuffer out 128\nimage p 4 r f32\n"
		"x: dispatch k.add items 15 args in[4:60] u32:100\n"
		"y: copy out in 64\n"
		"z: fill in[0] 4 7\n"
		"t: timestamp out[120]\n"
		"pipe_control y x\npipe_control z y\n";
	struct salvo_text_build *build;
	struct salvo_text_error error;
	struct salvo_fence *fence;
	struct salvo_text *text;
	unsigned int half, i, wrong = 0;
	const char *dirs[] = { NULL, NULL };
	uint32_t *theirs;
	struct salvo_bo *bo;
	struct bench b;
	char dir[4400];
	void *map;

	snprintf(dir, sizeof(dir), "%s", kernel_path(""));
	dirs[0] = dir;
	ASSERT_EQ(0, bench_open(&b));
	ASSERT_EQ(0, parse(source, &text, &error)) TH_LOG("%u: %s", error.line, error.message);
	ASSERT_EQ(0, salvo_text_build(text, b.device, dirs, ".", &build, &error))
		TH_LOG("%u: %s", error.line, error.message);
	EXPECT_TRUE(salvo_text_writes(build, 0));
	EXPECT_TRUE(salvo_text_writes(build, 1));
	EXPECT_FALSE(salvo_text_writes(build, 2));
	ASSERT_EQ(0, salvo_bo_create(b.device, 8192, 0, &bo));
	ASSERT_EQ(0, salvo_bo_map(bo, &map));
	theirs = map;
	for (i = 0; i < 2048; i++)
		theirs[i] = 1000 + i;
	EXPECT_EQ(-EINVAL, salvo_text_bind(build, 0, bo, 8192 - 60));
	EXPECT_EQ(-EINVAL, salvo_text_bind(build, 0, bo, ~0ull));
	EXPECT_EQ(-ENOTSUP, salvo_text_bind(build, 2, bo, 0));
	for (half = 0; half < 3; half++) {
		/* In the last round the original buffer */
		ASSERT_EQ(0, salvo_text_bind(build, 0, half < 2 ? bo : NULL,
					     half < 2 ? half * 4096 : 0));
		ASSERT_EQ(0, salvo_queue_submit(b.queue, build->batch, NULL, 0, &fence));
		ASSERT_EQ(0, salvo_fence_wait(fence, 20 * SECOND_NS));
		salvo_fence_destroy(fence);
		for (i = 0; i < 16; i++) {
			const uint32_t was = half < 2 ? 1000 + half * 1024 + i : i;
			const uint32_t *in = half < 2 ? theirs + half * 1024 :
					     (uint32_t *)build->maps[0];

			wrong += ((uint32_t *)build->maps[1])[i] != was + (i ? 100 : 0);
			wrong += in[i] != (i ? was + 100 : 7);
		}
		wrong += theirs[half * 1024 % 2048 + 16] != 1000 + half * 1024 % 2048 + 16;
	}
	EXPECT_EQ(0, wrong);
	salvo_text_build_destroy(build);
	salvo_text_destroy(text);
	salvo_bo_destroy(bo);
	bench_close(&b);
}

TEST_HARNESS_MAIN
