#!/bin/bash
# SPDX-License-Identifier: MIT
# Kernels whose work-groups may write to the same cache lines, and wait for no other work-group.
set -u
cd "$(dirname "$0")/../.." || exit 1

# shellcheck source=tests/common/tap.sh
. tests/common/tap.sh
# shellcheck source=tests/common/instructions.sh
. tests/common/instructions.sh

# named WORDS: each line of the input, with them
named() { while read -r line; do echo "$line: $*"; done; }

# kernel BODY: of a kernel of a few arguments
kernel() {
	compile "-cl-std=CL3.0 ${options:-}" <<END
int helper(global int *a, int i) { return atomic_add(&a[i], 1); }
kernel void k(global const int *x, global const int *at, global int *out, global int *n, int m,
	      local int *t)
{
	int i = get_global_id(0), l = get_local_id(0);
	$1
}
END
	# Without the data before the kernel
	sed -i '1,/<k>:/d' "$dir/code"
}

check "Kernels that count or scatter may contend" "$(
	while read -r body; do
		kernel "$body"
		has notes '^ *contends  ' | named "$body"
	done <<'END'
atomic_inc(&out[x[i]]);
out[at[i]] = x[i];
out[atomic_inc(n)] = x[i];
if (x[i] > 7) atomic_max(n, x[i]);
for (int j = 0; j < m; j++) atomic_inc(&out[x[i + j]]);
for (int j = x[i]; j < x[i + 1]; j++) out[at[j]] = i;
for (int s = 1; s < 64; s *= 2) { t[l] += t[l ^ s]; barrier(CLK_LOCAL_MEM_FENCE); } atomic_add(n, t[0]);
for (int j = 0; j < m; j++) n[atomic_inc(&t[x[i + j]])] = 1; out[x[i]] = 1;
out[i] = helper(n, x[i]);
for (int j = 0; j < m; j++) out[atomic_inc(&n[x[i + j]])] = j;
for (int j = x[i]; j < x[i + 1]; j++) if (!atomic_cmpxchg(&out[at[j]], 0, 1)) n[atomic_inc(n)] = j;
for (int j = 0; j < 16; j++) { barrier(CLK_GLOBAL_MEM_FENCE); atomic_add(&out[x[j]], n[j]); }
out[i * m + get_global_id(1)] = x[i];
out[(i << 4) + 2 * (get_group_id(1) * 8 + get_local_id(1)) + m] = x[i];
if (i < m) ((global uchar *)out)[i * get_global_size(1) + get_global_id(1)] = x[i];
END
)"

check "Kernels that do neither do not" "$(
	while read -r body; do
		kernel "$body"
		lacks notes contends | named "$body"
	done <<'END'
out[i] = x[at[i]];
out[i * m + 3] = x[i];
t[x[i]] = i; barrier(CLK_LOCAL_MEM_FENCE); out[i] = t[l];
atomic_inc(&t[x[i]]); barrier(CLK_LOCAL_MEM_FENCE); out[i] = t[l];
for (int j = i; j < m; j += 64) out[j] = x[j];
out[get_global_id(1) * m + i] = x[i];
out[2 * get_global_id(1) + 3 * i] = x[i];
out[i * m + 16 * get_global_id(1)] = x[i];
END
)"

check "Kernels that may wait for another work-group do not" "$(
	while read -r body; do
		kernel "$body"
		lacks notes contends | named "$body"
	done <<'END'
while (atomic_add(n, 0) < m) {} atomic_inc(&out[x[i]]);
while (atomic_cmpxchg(n, 0, 1)) {} out[x[i]]++; atomic_xchg(n, 0);
while (*(volatile global int *)n < m) {} atomic_inc(&out[x[i]]);
while (atomic_load((volatile global atomic_int *)n) < m) {} atomic_inc(&out[x[i]]);
while (n[0] < m) mem_fence(CLK_GLOBAL_MEM_FENCE); atomic_inc(&out[x[i]]);
while (n[0] < m) barrier(CLK_GLOBAL_MEM_FENCE); atomic_inc(&out[x[i]]);
do { t[0] = n[0]; barrier(CLK_LOCAL_MEM_FENCE); } while (t[0] < m); atomic_inc(&out[x[i]]);
while (helper(n, 0) < m) {} out[x[i]] = 1;
for (int j = 0; j != n[0]; j++) barrier(CLK_GLOBAL_MEM_FENCE); out[x[i]] = 1;
for (int j = 0; atomic_add(n, 0) < m; j++) t[j & 7] = j; out[x[i]] = t[0];
for (int j = 0; j < m; j++) while (atomic_add(n, 0) < j) {} out[x[i]] = 1;
END
	# Without optimisation a loop reads memory again each time.
	options=-O0 kernel 'while (n[0] < m) {} atomic_inc(&out[x[i]]);'
	lacks notes contends)"

check "Atomic operations of OpenCL C 1 have a plain form for a unit that all others are idle beside" "$(
	kernel 'atomic_inc(&out[x[i]]);'
	has code 'lock inc'
	has code '[^ ]incl +\(%r'
	kernel 'out[i] = atomic_add(n + x[i], i) + atomic_cmpxchg(n + at[i], i, 7);'
	has code 'lock xadd'
	has code 'lock cmpxchg'
	has code '\<mov +%e.*,\(%r.*,4\)')"

check "Those of OpenCL C 3.0, and of kernels that may wait, have none" "$(
	kernel 'atomic_fetch_add((volatile global atomic_int *)&out[x[i]], 1);'
	lacks code '[^ ]incl +\(%r'
	kernel 'while (atomic_add(n, 0) < m) {} atomic_inc(&out[x[i]]);'
	lacks code '[^ ]incl +\(%r')"

finish
