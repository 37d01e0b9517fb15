// SPDX-License-Identifier: MIT
/* rendezvous.cl - kernels that wait, to see what runs at the same time as what */

/* Says "I am here" in *arrived and waits for *go to become value. */
kernel void spin(volatile global uint *arrived, volatile global uint *go, uint value)
{
	atomic_inc(arrived);
	while (*go != value)
		;
}

/* Adds one to *word: what a spin may wait for. */
kernel void signal(volatile global uint *word)
{
	atomic_inc(word);
}

/* Never ends. */
kernel void endless(volatile global uint *out)
{
	for (;;)
		out[0]++;
}
