// SPDX-License-Identifier: MIT
/*
 * cc_constructs.cl - loops, branches, tables, structures, 64-bit arithmetic
 *
 * tests/cc/constructs.c compiles this very file as C and compares the results.
 * All kernels take the same arguments.
 */

struct node {
	int key;
	short left, right;
	uchar tag[3];
};

constant int primes[8] = { 2, 3, 5, 7, 11, 13, 17, 19 };
constant struct node tree[7] = {
	{ 50, 1, 2, { 1, 2, 3 } }, { 25, 3, 4, { 4, 5, 6 } }, { 75, 5, 6, { 7, 8, 9 } },
	{ 10, -1, -1, { 0, 0, 1 } }, { 30, -1, -1, { 0, 1, 0 } }, { 60, -1, -1, { 1, 0, 0 } },
	{ 90, -1, -1, { 9, 9, 9 } },
};

static int gcd_of(int a, int b)
{
	while (b) {
		int t = a % b;

		a = b;
		b = t;
	}
	return a;
}

static void add_to(int *sum, int x)
{
	*sum += x;
}

static struct node make_node(int key)
{
	struct node n = { key, (short)(key + 1), (short)(key * 2), { 1, 2, 3 } };

	n.tag[key & 1] = (uchar)key;
	return n;
}

/* Early return, and a loop whose end depends on the data. */
kernel void collatz(global const int *in, global int *out, int n)
{
	int i = get_global_id(0), steps = 0;
	uint x;

	if (i >= n)
		return;
	x = (uint)in[i] & 0xffff;
	while (x > 1) {
		x = x & 1 ? 3 * x + 1 : x / 2;
		if (++steps == 500)
			break;
	}
	out[i] = steps;
}

kernel void divide(global const int *in, global int *out, int n)
{
	int i = get_global_id(0);
	int a = in[i], b = in[(i + 1) % n] | 1;

	if (a == (-2147483647 - 1))
		a++;
	out[i] = a / b + a % b * 3 + gcd_of(a & 0xfff, b & 0xfff) + (int)((uint)a / (uint)b) +
		 (a >> (b & 31)) + (int)((uint)a << (i & 31)) + (a < b) - (a >= b);
}

kernel void wide_arithmetic(global const int *in, global int *out, int n)
{
	int i = get_global_id(0);
	long a = (long)in[i] * in[(i + 3) % n], b = (long)in[(i + 1) % n] + 3;
	ulong c = (ulong)a * 0x9e3779b97f4a7c15ul;

	a += b << (i & 15);
	c ^= c >> 29;
	out[i] = (int)(a >> 7) ^ (int)(c >> 32) ^ (int)(a / (b | 1)) ^ (int)(c % 1000003u);
}

kernel void walk_tree(global const int *in, global int *out, int n)
{
	int i = get_global_id(0), at = 0, sum = 0;
	int key = in[i] & 127;

	while (at >= 0) {
		sum = sum * 31 + tree[at].tag[key % 3];
		if (tree[at].key == key)
			break;
		at = key < tree[at].key ? tree[at].left : tree[at].right;
	}
	out[i] = sum * 8 + primes[key & 7];
}

/* A private array that is indexed by data, and pointers to private memory. */
kernel void histogram(global const int *in, global int *out, int n)
{
	int i = get_global_id(0), bins[16], k, sum = 0;
	int *best = bins;

	for (k = 0; k < 16; k++)
		bins[k] = 0;
	for (k = 0; k < 40; k++)
		bins[in[(i + k) % n] & 15]++;
	for (k = 1; k < 16; k++) {
		if (bins[k] > *best)
			best = &bins[k];
		add_to(&sum, bins[k] * k);
	}
	out[i] = sum * 16 + (int)(best - bins);
}

kernel void structures(global const int *in, global int *out, int n)
{
	int i = get_global_id(0);
	struct node a = make_node(in[i]), b = make_node(i), c[2];

	c[0] = a;
	c[1] = b;
	c[in[i] & 1].key ^= c[i & 1].right;
	out[i] = c[0].key + c[1].key * 3 + c[0].tag[1] + c[1].tag[0] + c[i & 1].left;
}

kernel void switches(global const int *in, global int *out, int n)
{
	int i = get_global_id(0), x = in[i], r = 0;

	switch (x & 15) {
	case 0:
		r = 5;
		break;
	case 1:
	case 2:
		r = x * 3;
		/* fall through */
	case 3:
		r += 7;
		break;
	case 9:
		out[i] = -9;
		return;
	default:
		r = x & 4 ? -x : x;
	}
	do {
		r = r * 5 + 1;
		if (r & 64)
			continue;
		r ^= x;
	} while ((r & 7) > 2 && r != 0 && (r & 1024));
	out[i] = r;
}

/* Narrow types wrap around. */
kernel void narrow(global const int *in, global int *out, int n)
{
	int i = get_global_id(0);
	uchar a = (uchar)in[i], b = (uchar)(a * 3 + i);
	short s = (short)(in[i] >> 3), t = (short)(s * b);
	ushort u = (ushort)(t - a);
	char c = (char)(u >> 1);

	a += b;
	s -= u;
	c ^= a;
	out[i] = a + b * 2 + s * 3 + t * 5 + u * 7 + c * 11;
}

kernel void floats(global const int *in, global int *out, int n)
{
	int i = get_global_id(0), k;
	float x = (float)(in[i] & 1023) / 7.0f, y = (float)i, sum = 0.0f;
	double d = (double)in[i] / 3.0;

	for (k = 0; k < 10; k++) {
		if (x > y) {
			sum = sum + x;
			x = x - y * 0.5f;
		} else {
			sum = sum - y;
			y = y * 0.75f;
		}
	}
	out[i] = (int)sum + (int)(d * 1.5) + (x != y);
}

/* So large that it is called instead of inlined. */
#define STEP(x)		x = (x * 1664525u + 1013904223u) ^ (x >> 7);
#define STEPS_8(x)	STEP(x) STEP(x) STEP(x) STEP(x) STEP(x) STEP(x) STEP(x) STEP(x)
#define STEPS_64(x)	STEPS_8(x) STEPS_8(x) STEPS_8(x) STEPS_8(x) STEPS_8(x) STEPS_8(x) \
			STEPS_8(x) STEPS_8(x)
#define STEPS_512(x)	STEPS_64(x) STEPS_64(x) STEPS_64(x) STEPS_64(x) STEPS_64(x) STEPS_64(x) \
			STEPS_64(x) STEPS_64(x)

static uint shuffled(global const int *in, int i)
{
	uint x = (uint)in[i];

	STEPS_512(x)
	return x;
}

kernel void large_function(global const int *in, global int *out, int n)
{
	int i = get_global_id(0);

	out[i] = (int)(shuffled(in, i) + 3u * shuffled(in, (i + 1) % n));
}

/* Neighbours, with the borders clamped. */
kernel void neighbours(global const int *in, global int *out, int n)
{
	int i = get_global_id(0), k, sum = 0;

	for (k = -3; k <= 3; k++) {
		int at = i + k;

		at = at < 0 ? 0 : at >= n ? n - 1 : at;
		sum += in[at] >> (k + 3);
	}
	out[i] = sum;
}

/* Neighbours in memory: members of structures, bytes of a word, and what must stay in order. */
struct sample {
	int key;
	float weight;
	short low, high;
	uchar part[3];
};

kernel void members(global const int *in, global int *out, int n)
{
	int i = get_global_id(0);
	global const struct sample *s = (global const struct sample *)in + (in[i] & 127);
	struct sample mine = *s, other;

	other = ((global const struct sample *)in)[i % 100];
	out[i] = mine.key + mine.low * 3 + mine.high * 5 + mine.part[0] + mine.part[1] * 7 +
		 mine.part[2] * 11 + (mine.weight < other.weight) + other.key + other.high;
}

kernel void bytes(global const int *in, global int *out, int n)
{
	int i = get_global_id(0);
	global uchar *part = (global uchar *)(out + i);
	global ushort *half_word = (global ushort *)(out + i);
	global const uchar *from = (global const uchar *)(in + n - 1 - i);

	part[2] = from[0];
	part[0] = from[3] + 1;
	part[1] = part[2] + from[1];
	half_word[0] += 300;
	part[3] = part[0];
	part[0] = from[2];
	if (from[1] & 1) {
		part[0] ^= from[0];
		part[1] ^= from[1];
		part[2] ^= from[2];
		part[3] ^= from[3];
	}
}

/* Rows of five and of three: groups with others beside them, apart by what is not known */
kernel void records(global const int *in, global int *out, int n)
{
	int i = get_global_id(0), k, t, wide = n / 200;
	int at = i < n / wide ? i * wide : 0, to = i < n / wide ? at : -1;

	if (to < 0)
		return;
	for (k = 0; k < wide; k += 5) {
		out[to + k] = in[at + k + 1];
		out[to + k + 1] = in[at + k];
		t = in[at + k + 4];
		out[to + k + 2] = out[to + k + 1] - in[at + k + 2];
		out[to + k + 4] = in[at + k + 3] ^ t;
		out[to + k + 3] = t;
	}
	if (in[i] & 2) {
		out[to + 2] ^= 1;
		out[to + 3] ^= i;
		out[to + 4] += out[to + 2];
	}
}

/* Tables of bytes and shorts that begin anywhere in a word, with indices before and after it */
kernel void tables(global const int *in, global int *out, int n)
{
	int i = get_global_id(0), at = (in[i] & 511) - 256, k = i / 64 % 4;
	global const uchar *b = (global const uchar *)(in + 100) + k;
	global const ushort *h = (global const ushort *)(in + 200) + k;
	global const char *s = (global const char *)in + 1;

	out[i] = b[at] + h[at] * 3;
	if (at >= 0)
		out[i] ^= s[at] + in[at];
}
