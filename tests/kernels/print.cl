// SPDX-License-Identifier: MIT
/* print.cl - printf() of every conversion for tests/lib/print.c */

#pragma clang diagnostic ignored "-Wformat"

kernel void numbers(int i, long l, float f, uchar4 c, float3 v, short2 s)
{
	printf("%d|%5d|%-5d|%05d|%+d|%x|%#X|%o|%u\n", i, i, i, i, i, i, i, i, i);
	printf("%ld|%lx|%zu|%hd|%hhd|%c|%%\n", l, l, (size_t)l, (short)i, (char)i, 'A' + i % 26);
	printf("%f|%.2f|%8.3f|%e|%g|%a\n", f, f, f, f, f, f);
	printf("%v4hhu|%v3hlf|%.1v3hlf|%v2hd|%#v4hhx\n", c, v, v, s, c);
	/* Without a length, as most write it, elements have 32 bits. */
	printf("%v3f|%.1v4f|%v2d|%v2f\n", v, (float4)(v, 1), convert_int2(s), v.xy);
	printf("%s|%8s|%-8s|%.2s|%s|end\n", i & 1 ? "odd" : "even", "right", "left", "cut",
	       (constant char *)0);
}

static void tell(int i)
{
	if (i % 3 == 0)
		printf("item %d\n", i);
}

kernel void items(global const int *in)
{
	tell(in[get_global_id(0)]);
}

kernel void barrier_items(global int *in, local int *l)
{
	l[get_local_id(0)] = in[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	tell(l[get_local_size(0) - 1 - get_local_id(0)]);
}

/* Stays a function, as the kernel would have 300 copies of its loop. */
static void tell_some(int item, int from)
{
	for (int i = from; i < 1000; i += 300)
		if (item == i)
			tell(i);
}

#define TELL_SOME(i, from) tell_some(i, from); tell_some(i, from + 1); tell_some(i, from + 2);
#define TELL_9(i, from) \
	TELL_SOME(i, from) TELL_SOME(i, from + 3) TELL_SOME(i, from + 6)
#define TELL_27(i, from) TELL_9(i, from) TELL_9(i, from + 9) TELL_9(i, from + 18)
#define TELL_100(i, from) \
	TELL_27(i, from) TELL_27(i, from + 27) TELL_27(i, from + 54) \
	TELL_9(i, from + 81) TELL_9(i, from + 90) tell_some(i, from + 99);

kernel void function_items(global const int *in)
{
	int i = in[get_global_id(0)];

	TELL_100(i, 0) TELL_100(i, 100) TELL_100(i, 200)
}

kernel void flood(void)
{
	printf("%d %s\n", (int)get_global_id(0), "a line that takes some room in the buffer");
}
