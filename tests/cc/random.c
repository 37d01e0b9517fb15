// SPDX-License-Identifier: MIT
/*
 * random.c - random kernels give the same bits however their work-items are run
 *
 * Each kernel is made from a number: arithmetic, branches, loops, switches, private
 * arrays, vectors, atomic operations, and in every other one local memory with
 * barriers, also inside of loops and branches that all work-items take alike. It is
 * compiled three times: without optimisation (plain loops; user-level threads if it
 * has barriers), optimised for user-level threads, and optimised for vector lanes.
 *
 * SALVO_RANDOM_KERNELS sets how many, SALVO_RANDOM_SEED the number of the first;
 * SALVO_RANDOM_SHOW prints the source of those that differ. Where the compiler fails
 * or dies its source is kept, and its name printed.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "cc_program.h"

/* Kernels of one program: starting the compiler costs as much as a few of them. */
#define EACH	10u
#define WIDTH	83u
#define HEIGHT	7u
#define TOTAL	(WIDTH * HEIGHT)
#define WORDS	(TOTAL * 4 + 16)

struct text {
	char *at, *end;
	uint32_t state;
	unsigned int depth, loops;
	bool barriers;
};

static void say(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->at, t->end - t->at, format, args);
	va_end(args);
	if (n < t->end - t->at)
		t->at += n;
}

static uint32_t number(struct text *t, uint32_t below)
{
	t->state = t->state * 1664525 + 1013904223;
	return (uint64_t)(t->state >> 8) * below >> 24;
}

static const char *const variables[] = { "a", "b", "c", "d" };

static void expression(struct text *t, unsigned int depth)
{
	static const char *const operators[] = { "+", "-", "*", "&", "|", "^" };

	if (!depth || !number(t, 5)) {
		switch (number(t, 8)) {
		case 0: say(t, "%uu", number(t, 64)); break;
		case 1: say(t, "%uu", number(t, 1 << 24)); break;
		case 2: say(t, "x"); break;
		case 3: say(t, "n"); break;
		case 4: say(t, "l"); break;
		default: say(t, "%s", variables[number(t, 4)]); break;
		}
		return;
	}
	switch (number(t, 16)) {
	case 0:
		say(t, "(");
		expression(t, depth - 1);
		say(t, " / (1u + (");
		expression(t, depth - 1);
		say(t, " & 1023u)))");
		break;
	case 1:
		say(t, "(");
		expression(t, depth - 1);
		say(t, number(t, 2) ? " << (" : " >> (");
		expression(t, depth - 1);
		say(t, " & 15u))");
		break;
	case 2:
		say(t, "(");
		expression(t, depth - 1);
		say(t, number(t, 2) ? " < " : " == ");
		expression(t, depth - 1);
		say(t, " ? ");
		expression(t, depth - 1);
		say(t, " : ");
		expression(t, depth - 1);
		say(t, ")");
		break;
	case 3:
		say(t, "in[(");
		expression(t, depth - 1);
		say(t, ") %% %uu]", TOTAL);
		break;
	case 4:
		say(t, "in[row + clamp((int)x + %d, 0, (int)w - 1)]", (int)number(t, 9) - 4);
		break;
	case 5:
		say(t, "p[(");
		expression(t, depth - 1);
		say(t, ") & 3u]");
		break;
	case 6:
		say(t, "%s(", number(t, 2) ? "min" : "max");
		expression(t, depth - 1);
		say(t, ", ");
		expression(t, depth - 1);
		say(t, ")");
		break;
	case 7:
		say(t, "q.%c", "xyzw"[number(t, 4)]);
		break;
	case 8:
		say(t, "(uint)convert_uchar_sat((int)(");
		expression(t, depth - 1);
		say(t, "))");
		break;
	case 9:
		say(t, "as_uint((float)((");
		expression(t, depth - 1);
		say(t, ") & 0xffffu) * 0.375f + 1.5f)");
		break;
	default:
		say(t, "(");
		expression(t, depth - 1);
		say(t, " %s ", operators[number(t, 6)]);
		expression(t, depth - 1);
		say(t, ")");
	}
}

static void condition(struct text *t)
{
	switch (number(t, 6)) {
	case 0:
		say(t, "x < %uu", number(t, 90));
		break;
	case 1:
		say(t, "(int)x - %d >= (int)(n & 31u)", (int)number(t, 20));
		break;
	case 2:
		say(t, "n > %uu", number(t, 100));
		break;
	default:
		expression(t, 2);
		say(t, number(t, 2) ? " < " : " != ");
		expression(t, 2);
	}
}

static void statements(struct text *t, unsigned int count);

static void block(struct text *t, unsigned int count)
{
	t->depth++;
	say(t, "{\n");
	statements(t, count);
	say(t, "}\n");
	t->depth--;
}

static void loop(struct text *t)
{
	const unsigned int i = t->loops++;

	say(t, "for (uint i%u = 0; i%u < (", i, i);
	expression(t, 1);
	say(t, " & 7u); i%u++) {\n", i);
	t->depth++;
	statements(t, 1 + number(t, 2));
	if (!number(t, 2)) {
		say(t, "if (");
		condition(t);
		say(t, ")\n%s;\n", number(t, 2) ? "break" : "continue");
		statements(t, 1);
	}
	t->depth--;
	say(t, "}\n");
}

static void statement(struct text *t)
{
	const char *variable = variables[number(t, 4)];
	unsigned int kind = number(t, 14), i;

	if (t->depth > 3 && kind < 4)
		kind = 13;
	switch (kind) {
	case 0:
	case 1:
		say(t, "if (");
		condition(t);
		say(t, ") ");
		block(t, 1 + number(t, 3));
		if (number(t, 2)) {
			say(t, "else ");
			block(t, 1 + number(t, 2));
		}
		break;
	case 2:
		loop(t);
		break;
	case 3:
		say(t, "switch ((");
		expression(t, 1);
		say(t, ") & 3u) {\n");
		for (i = 0; i < 3; i++) {
			say(t, "case %u:\n", i);
			t->depth++;
			statements(t, 1);
			t->depth--;
			if (number(t, 3))
				say(t, "break;\n");
		}
		say(t, "default: %s++;\n}\n", variable);
		break;
	case 4:
		say(t, "p[(");
		expression(t, 1);
		say(t, ") & 3u] = ");
		expression(t, 2);
		say(t, ";\n");
		break;
	case 5:
		say(t, "q = q.%s * %uu + (uint4)(", number(t, 2) ? "wxzy" : "yyxw", number(t, 99));
		expression(t, 1);
		say(t, ");\n");
		break;
	case 6:
		say(t, "q.%c ^= ", "xyzw"[number(t, 4)]);
		expression(t, 2);
		say(t, ";\n");
		break;
	case 7:
		say(t, "atomic_add(&out[%uu + (", TOTAL * 4);
		expression(t, 1);
		say(t, " & 15u)], ");
		expression(t, 1);
		say(t, ");\n");
		break;
	case 8:
		say(t, "out[4 * item + (");
		expression(t, 1);
		say(t, " & 3u)] ^= ");
		expression(t, 2);
		say(t, ";\n");
		break;
	default:
		say(t, "%s %s= ", variable, number(t, 2) ? "^" : "+");
		expression(t, 3);
		say(t, ";\n");
	}
}

static void statements(struct text *t, unsigned int count)
{
	while (count--)
		statement(t);
}

/* Work-items read what others of their group have written, between barriers. */
static void exchange(struct text *t)
{
	say(t, "s[l] = ");
	expression(t, 2);
	say(t, ";\nbarrier(CLK_LOCAL_MEM_FENCE);\n");
	say(t, "%s ^= s[(l + %uu) %% size];\n", variables[number(t, 4)], number(t, 30));
	if (number(t, 2)) {
		say(t, "barrier(CLK_LOCAL_MEM_FENCE);\natomic_add(&s[l & 3u & (size - 1)], ");
		expression(t, 2);
		say(t, ");\nbarrier(CLK_LOCAL_MEM_FENCE);\n%s += s[l];\n", variables[number(t, 4)]);
	}
	say(t, "barrier(CLK_LOCAL_MEM_FENCE);\n");
}

static void section(struct text *t)
{
	const unsigned int i = t->loops++;

	statements(t, 1 + number(t, 3));
	if (!t->barriers)
		return;
	switch (number(t, 4)) {
	case 0:
		say(t, "for (uint u%u = 0; u%u < (n & 3u) + 1; u%u++) {\n", i, i, i);
		statements(t, 1);
		exchange(t);
		say(t, "a += u%u;\n}\n", i);
		break;
	case 1:
		say(t, "if ((n + get_group_id(0)) & %uu) {\n", 1 + number(t, 7));
		exchange(t);
		say(t, "}\n");
		break;
	default:
		exchange(t);
	}
}

static void make_kernel(struct text *t, uint32_t seed)
{
	unsigned int i;

	t->state = seed * 2654435761u + 12345;
	number(t, 2);
	t->depth = t->loops = 0;
	t->barriers = seed & 1;
	say(t, "kernel void k%u(global const uint *in, global uint *out, uint n, uint w,\n"
	       "local uint *s)\n{\n", seed);
	say(t, "uint x = get_global_id(0), row = get_global_id(1) * w, item = row + x;\n"
	       "uint size = get_local_size(0) * get_local_size(1);\n"
	       "uint l = get_local_id(1) * get_local_size(0) + get_local_id(0);\n"
	       "uint a = in[item], b = x * 7 + n, c = in[(item * 5 + 3) %% %uu], d = item;\n"
	       "uint p[4] = { a, b, x, n };\nuint4 q = (uint4)(a, b, c, d);\n", TOTAL);
	if (!t->barriers && !number(t, 2)) {
		say(t, "if (");
		condition(t);
		say(t, ")\nreturn;\n");
	}
	for (i = 2 + number(t, 3); i; i--)
		section(t);
	say(t, "out[4 * item] ^= a + q.x;\nout[4 * item + 1] ^= b + q.y + p[0];\n"
	       "out[4 * item + 2] += c + q.z + p[1];\nout[4 * item + 3] ^= d + q.w + p[2] + p[3];\n"
	       "}\n\n");
}

static struct cc_program *compile(const char *options, const char *source)
{
	struct cc_program *program = NULL;
	char path[] = "/tmp/salvo-random-XXXXXX", command[256], output[4096];
	int fd = mkstemp(path);

	snprintf(command, sizeof(command), "-w %s -o %s %s", options, path, source);
	if (!cc_compile(command, output, sizeof(output)))
		program = cc_program_open(path);
	else
		fputs(output, stderr);
	close(fd);
	unlink(path);
	return program;
}

static const struct cc_range ranges[] = {
	{ { WIDTH, HEIGHT, 1 }, { 32, 2, 1 }, 2, 64 * 4 },
	{ { WIDTH, HEIGHT, 1 }, { 7, 3, 1 }, 2, 21 * 4 },
};

/* The number of kernels from @seed on that differ in a mode, or -1. */
static int differing(uint32_t seed)
{
	static const char *const modes[] = { "-O0", "--fibers", "-O3" };
	static uint32_t in[TOTAL], out[3][WORDS];
	static char text[EACH << 16];
	struct cc_program *programs[3] = { NULL };
	char path[] = "/tmp/salvo-random-XXXXXX.cl";
	struct text t = { .at = text, .end = text + sizeof(text) };
	struct {
		const uint32_t *in;
		uint32_t *out;
		uint32_t n, w;
		uint64_t scratch;
	} args = { in, NULL, 0, WIDTH, 0 };
	int fd = mkstemps(path, 3), wrong = 0;
	unsigned int i, m, r;
	bool ok = fd >= 0;

	for (i = 0; i < EACH; i++)
		make_kernel(&t, seed + i);
	ok = ok && write(fd, text, t.at - text) == t.at - text;
	for (m = 0; m < 3 && ok; m++)
		ok = (programs[m] = compile(modes[m], path));
	for (i = 0; i < TOTAL; i++)
		in[i] = (i * 2654435761u) >> (i % 3 * 8);

	for (i = 0; i < 2 * EACH && ok; i++) {
		char name[16];

		snprintf(name, sizeof(name), "k%u", seed + i / 2);
		r = i % 2;
		args.n = 5 + 29 * r + i;
		for (m = 0; m < 3; m++) {
			memset(out[m], 0, sizeof(out[m]));
			args.out = out[m];
			if (cc_run(programs[m], name, &args, &ranges[r]))
				wrong++;
			if (m && memcmp(out[0], out[m], sizeof(out[0]))) {
				fprintf(stderr, "# %s with %s differs in range %u\n", name, modes[m],
					r);
				wrong++;
			}
		}
	}
	if (wrong && getenv("SALVO_RANDOM_SHOW"))
		fputs(text, stderr);
	for (m = 0; m < 3; m++)
		cc_program_close(programs[m]);
	close(fd);
	if (ok || fd < 0)
		unlink(path);
	else
		fprintf(stderr, "# %s fails\n", path);
	return ok ? wrong : -1;
}

FIXTURE(random) {
	int unused;
};

FIXTURE_SETUP(random)
{
}

FIXTURE_TEARDOWN(random)
{
}

/* Deep trees of dominators once made the compiler use memory that it had freed. */
TEST_F_TIMEOUT(random, M4_kernels_that_crashed_the_compiler, 600)
{
	EXPECT_EQ(0, differing(3151));
}

/*
 * A row whose interior alone gains from lanes once ran the interior's code from the start
 * of the row, where its tests do not hold (k982).
 */
TEST_F_TIMEOUT(random, M4_borders_before_an_interior_run_work_item_by_work_item, 600)
{
	EXPECT_EQ(0, differing(981));
}

/* The time is for a long run, on a busy machine. */
TEST_F_TIMEOUT(random, M4_kernels_give_the_same_bits_in_every_mode, 20000)
{
	const char *count = getenv("SALVO_RANDOM_KERNELS"), *first = getenv("SALVO_RANDOM_SEED");
	const uint32_t begin = first ? atoi(first) : 1;
	const uint32_t end = begin + (count ? atoi(count) : 2 * EACH);
	uint32_t seed;

	/* EXPECT_EQ() and its log are two statements. */
	for (seed = begin; seed < end; seed += EACH) {
		EXPECT_EQ(0, differing(seed)) {
			TH_LOG("seeds %u to %u", seed, seed + EACH - 1);
		}
	}
}

TEST_HARNESS_MAIN
