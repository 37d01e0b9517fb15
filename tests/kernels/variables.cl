// SPDX-License-Identifier: MIT
/* variables.cl - a program with variables in global memory, for tests/libuser/variables.c */
struct node {
	global struct node *next;
	int value;
};
extern global struct node last;
global struct node first = { &last, 20 };
global struct node last = { &first, 22 };
global int zeros[100];

kernel void walk(global int *out)
{
	out[0] = first.next->value * 100 + first.next->next->value;
	zeros[99] = out[1] = zeros[99] + 1;
}

kernel void change(void)
{
	first.value++;
}

kernel void other(global int *out)
{
	out[2] = 7;
}
