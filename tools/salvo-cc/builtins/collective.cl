// SPDX-License-Identifier: MIT
/*
 * collective.cl - work-group functions, 6.15.16, and sub-group functions, 6.15.19
 *
 * Each work-item writes its value to local memory, and after a barrier the first one computes the
 * result for all, in the order of get_local_linear_id(). The result of a reduction is one variable,
 * so that it is uniform to the compiler, and branches on it are.
 *
 * Functions that follow each other share this memory. No barrier is needed at the end of a function
 * if what a work-item writes before the first barrier of the next one is its own element.
 *
 * Those on half are made of those on float (half.cc).
 *
 * A work-group is one sub-group: its lanes are those of the work-items' loops, which have no
 * fixed number, and a barrier costs no more than the start of such a loop. The work-groups of
 * kernels that call sub-group functions have at most SALVO_MAX_SUB_GROUP_ITEMS work-items.
 */

/* In local memory: a T for each work-item of the largest work-group, and two more (scratch.cc). */
#define VALUES(T) ((local T *)salvo_scratch(sizeof(T)))
#define RESULT	1024	/* SALVO_MAX_GROUP_ITEMS */
#define SLOT	1025
local void *salvo_scratch(uint element);

/* Says that the kernel has sub-groups. */
void salvo_sub_group(void);

OVERLOAD size_t get_local_size(uint dimension);
OVERLOAD size_t get_enqueued_local_size(uint dimension);
OVERLOAD size_t get_local_linear_id(void);
OVERLOAD void barrier(cl_mem_fence_flags flags);

static size_t group_items(void)
{
	return get_local_size(0) * get_local_size(1) * get_local_size(2);
}

static void meet(void)
{
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

#define ADD(a, b) ((a) + (b))
#define MIN(a, b) ((b) < (a) ? (b) : (a))
#define MAX(a, b) ((a) < (b) ? (b) : (a))

#define REDUCTION(T, NAME, OPERATION, IDENTITY) \
static T reduce_##NAME(T x) \
{ \
	local T *values = VALUES(T); \
\
	values[get_local_linear_id()] = x; \
	meet(); \
	if (!get_local_linear_id()) { \
		const size_t items = group_items(); \
		T all = IDENTITY; \
\
		for (size_t i = 0; i < items; i++) \
			all = OPERATION(all, values[i]); \
		values[RESULT] = all; \
	} \
	meet(); \
	return values[RESULT]; \
}

/* @INCLUSIVE: does a work-item's own value count? */
#define SCAN(T, NAME, OPERATION, IDENTITY, INCLUSIVE) \
static T scan_##NAME(T x) \
{ \
	local T *values = VALUES(T); \
\
	values[get_local_linear_id()] = x; \
	meet(); \
	if (!get_local_linear_id()) { \
		const size_t items = group_items(); \
		T all = IDENTITY; \
\
		for (size_t i = 0; i < items; i++) { \
			const T before = all; \
\
			all = OPERATION(all, values[i]); \
			values[i] = INCLUSIVE ? all : before; \
		} \
	} \
	meet(); \
	return values[get_local_linear_id()]; \
}

#define BROADCAST(T) \
static T broadcast_##T(T x, size_t from) \
{ \
	local T *slot = VALUES(T) + SLOT; \
\
	if (get_local_linear_id() == from) \
		*slot = x; \
	meet(); \
	const T result = *slot; \
	meet(); \
	return result; \
} \
OVERLOAD T work_group_broadcast(T x, size_t i) \
{ \
	return broadcast_##T(x, i); \
} \
OVERLOAD T work_group_broadcast(T x, size_t i, size_t j) \
{ \
	return broadcast_##T(x, j * get_local_size(0) + i); \
} \
OVERLOAD T work_group_broadcast(T x, size_t i, size_t j, size_t k) \
{ \
	return broadcast_##T(x, (k * get_local_size(1) + j) * get_local_size(0) + i); \
} \
OVERLOAD T sub_group_broadcast(T x, uint from) \
{ \
	salvo_sub_group(); \
	return broadcast_##T(x, from); \
}

#define NAMES(T, FULL, NAME) \
OVERLOAD T work_group_##FULL(T x) \
{ \
	return NAME(x); \
} \
OVERLOAD T sub_group_##FULL(T x) \
{ \
	salvo_sub_group(); \
	return NAME(x); \
}

#define OPERATIONS(T, NAME, OPERATION, IDENTITY) \
	REDUCTION(T, NAME##_##T, OPERATION, IDENTITY) \
	SCAN(T, inclusive_##NAME##_##T, OPERATION, IDENTITY, 1) \
	SCAN(T, exclusive_##NAME##_##T, OPERATION, IDENTITY, 0) \
	NAMES(T, reduce_##NAME, reduce_##NAME##_##T) \
	NAMES(T, scan_inclusive_##NAME, scan_inclusive_##NAME##_##T) \
	NAMES(T, scan_exclusive_##NAME, scan_exclusive_##NAME##_##T)

#define COLLECTIVES(T, LEAST, MOST) \
	BROADCAST(T) \
	OPERATIONS(T, add, ADD, 0) \
	OPERATIONS(T, min, MIN, MOST) \
	OPERATIONS(T, max, MAX, LEAST)

COLLECTIVES(int, INT_MIN, INT_MAX)
COLLECTIVES(uint, 0, UINT_MAX)
COLLECTIVES(long, LONG_MIN, LONG_MAX)
COLLECTIVES(ulong, 0, ULONG_MAX)
COLLECTIVES(float, -INFINITY, INFINITY)
COLLECTIVES(double, -INFINITY, INFINITY)

#define OR(a, b) ((a) | (b))
REDUCTION(int, or, OR, 0)

static int any_item(int predicate)
{
	return reduce_or(predicate != 0);
}

static int every_item(int predicate)
{
	return !reduce_or(predicate == 0);
}
NAMES(int, any, any_item)
NAMES(int, all, every_item)

static uint in_sub_group(uint value)
{
	salvo_sub_group();
	return value;
}

OVERLOAD uint get_sub_group_size(void)
{
	return in_sub_group(group_items());
}

OVERLOAD uint get_max_sub_group_size(void)
{
	return in_sub_group(get_enqueued_local_size(0) * get_enqueued_local_size(1) *
			    get_enqueued_local_size(2));
}

OVERLOAD uint get_num_sub_groups(void)
{
	return in_sub_group(1);
}

OVERLOAD uint get_enqueued_num_sub_groups(void)
{
	return in_sub_group(1);
}

OVERLOAD uint get_sub_group_id(void)
{
	return in_sub_group(0);
}

OVERLOAD uint get_sub_group_local_id(void)
{
	return in_sub_group(get_local_linear_id());
}

OVERLOAD void sub_group_barrier(cl_mem_fence_flags flags)
{
	salvo_sub_group();
	barrier(flags);
}

OVERLOAD void sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
	sub_group_barrier(flags);
}
