#!/bin/bash
# SPDX-License-Identifier: MIT
# M4: lists whose places and lengths work-items load: one work-item after the other, as a rule.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

check "M4 a list whose place and length each lane loads: one work-item after the other" "$(
	for row in x 'x % 1023' 'perm[x]'; do
		compile "--march x86-64-v4" <<END
kernel void k(global const int *first, global const int *perm, global const float *values,
	      global float *sums)
{
	int x = get_global_id(0), row = $row;
	float sum = 0;

	for (int i = first[row]; i < first[row + 1]; i++)
		sum += values[i];
	sums[x] = sum;
}
END
		lacks code 'gather'
	done)"

check "M4 AVX2, a list that is the same for all lanes, each with an element of it: lanes" "$(
	compile "--march x86-64-v3 --global-offset" <<'END'
kernel void k(uint rows, global const uint *start, global const uint *column,
	      global const float *value, local float *sums, global const float *x, global float *y)
{
	const int id = get_global_id(0), row = id / 64, lane = id & 63, l = get_local_id(0);

	if (row < rows) {
		y[row] = 0;
		int from = start[row], to = start[row + 1];

		sums[l] = 0;
		for (int i = from + lane; i < to; i += 64)
			sums[l] += value[i] * x[column[i]];
		if (lane == 0)
			y[row] += sums[l];
	}
}
END
	has code 'vmulps.*ymm')"

check "M4 lists of lengths that lanes load, as a graph's edges: one lane after the other" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const int *first, global const int *to, global const float *rank,
	      global const int *degree, global float *out, int n)
{
	int i = get_global_id(0);
	float sum = 0;

	if (i >= n)
		return;
	for (int k = first[i]; k < first[i + 1]; k++)
		sum += rank[to[k]] / degree[to[k]];
	out[i] = .15f / n + .85f * sum;
}
END
	lacks code 'vgather|vpgather')"

check "M4 loops in loops that few lanes run: one lane after the other" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const int *first, global const int *to, global int *count, int n)
{
	int i = get_global_id(0), c = 0;

	if (i >= n)
		return;
	for (int k = first[i]; k < first[i + 1]; k++) {
		int j = to[k];

		if (j <= i)
			continue;
		int a = first[i], b = first[j];
		while (a < first[i + 1] && b < first[j + 1]) {
			int p = to[a], q = to[b];

			c += p == q;
			a += p <= q;
			b += p >= q;
		}
	}
	count[i] = c;
}
END
	lacks code 'vgather|vpgather')"

check "M4 a merge of two lists of one length for all: lanes" "$(
	compile "--march x86-64-v4" <<'END'
kernel void k(global const int *in, global int *out, int n, int width)
{
	int l = get_global_id(0) * 2 * width, m = min(l + width, n), r = m;
	int end = min(l + 2 * width, n);

	for (int k = l; k < end; k++)
		if (l < m && (r >= end || in[l] <= in[r]))
			out[k] = in[l++];
		else
			out[k] = in[r++];
}
END
	has code 'vpgather')"

finish
