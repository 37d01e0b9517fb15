// SPDX-License-Identifier: MIT
/*
 * mpi.c - libsalvo-agile-mpi: ranks of MPI
 *
 * The memory of a field's segments is a window of one-sided communication where it lies: the
 * buffer that the GPU uses, as the application maps it. Boxes are derived datatypes on both sides,
 * so that MPI moves rows without an intermediate copy of ours.
 *
 * MPI is initialised when the first group is opened, unless the program has done that, and
 * finalised at exit. Finalising waits for all ranks. If the process ends while a group is open, or
 * after ranks have lost each other, nobody would come: then it ends the program on all ranks.
 *
 * Nothing here is locked: MPI is used by the thread that uses the struct salvo_agile.
 */
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "transport.h"

/** struct group - The ranks of one struct salvo_agile. */
struct group {
	MPI_Comm comm;
	int count;
	char error[MPI_MAX_ERROR_STRING];
};

struct window {
	/** @win: MPI_WIN_NULL in a group of one rank, for which Open MPI 4.1 has no windows. */
	MPI_Win win;
	void *memory;
};

/** @open_groups: Groups that were not closed by all ranks. */
static unsigned int open_groups;

static void end_mpi(void)
{
	int finalized = 0;

	if (MPI_Finalized(&finalized) || finalized)
		return;
	if (!open_groups) {
		MPI_Finalize();
		return;
	}
	fputs("libsalvo-agile-mpi: this rank ends before the others: all ranks end\n", stderr);
	MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static int check(struct group *group, int result)
{
	int length;

	if (result == MPI_SUCCESS)
		return 0;
	if (MPI_Error_string(result, group->error, &length))
		snprintf(group->error, sizeof(group->error), "MPI error %d", result);
	return -EIO;
}

static int start_mpi(void)
{
	int initialized = 0, level;

	if (MPI_Initialized(&initialized))
		return -EIO;
	if (initialized)
		return 0;
	/*
	 * Debian's configuration of Open MPI forbids osc/pt2pt, without which there are no windows
	 * between machines that are connected by TCP. It is used where nothing better is there.
	 */
	setenv("OMPI_MCA_osc", "^ucx", 0);
	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level))
		return -EIO;
	return atexit(end_mpi) ? -ENOMEM : 0;
}

static int open_group(void **out, unsigned int *rank, unsigned int *ranks)
{
	struct group *group = calloc(1, sizeof(*group));
	int number, err;

	if (!group)
		return -ENOMEM;
	err = start_mpi();
	if (!err && MPI_Comm_dup(MPI_COMM_WORLD, &group->comm))
		err = -EIO;
	if (err) {
		free(group);
		return err;
	}
	MPI_Comm_set_errhandler(group->comm, MPI_ERRORS_RETURN);
	MPI_Comm_rank(group->comm, &number);
	MPI_Comm_size(group->comm, &group->count);
	*rank = number;
	*ranks = group->count;
	*out = group;
	open_groups++;
	return 0;
}

static void close_group(void *data, bool broken)
{
	struct group *group = data;

	/* A broken group stays open: see end_mpi(). */
	if (!broken && !MPI_Comm_free(&group->comm))
		open_groups--;
	free(group);
}

static int gather(void *data, const void *mine, size_t bytes, void *all)
{
	struct group *group = data;

	if (bytes > INT_MAX)
		return -E2BIG;
	return check(group, MPI_Allgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE,
					  group->comm));
}

static int expose(void *data, void *memory, uint64_t bytes, void **out)
{
	struct window *window = calloc(1, sizeof(*window));
	struct group *group = data;
	int err;

	if (!window)
		return -ENOMEM;
	window->win = MPI_WIN_NULL;
	window->memory = memory;
	*out = window;
	if (group->count == 1)
		return 0;
	err = check(group, MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, group->comm,
					  &window->win));
	if (err) {
		fprintf(stderr,
			"libsalvo-agile-mpi: MPI_Win_create: %s. Does mpirun --mca osc ^ucx help?\n",
			group->error);
		*out = NULL;
		free(window);
		return err;
	}
	MPI_Win_set_errhandler(window->win, MPI_ERRORS_RETURN);
	return 0;
}

static void hide(void *data, void *opaque, bool broken)
{
	struct window *window = opaque;

	(void)data;
	if (!broken && window->win != MPI_WIN_NULL)
		MPI_Win_free(&window->win);
	free(window);
}

/* --- boxes ------------------------------------------------------------------------- */

/* The rows of a box in one of its memories, by its strides. */
static int make_type(struct group *group, const struct agile_box *box, const uint64_t *strides,
		     MPI_Datatype *out)
{
	unsigned int d;
	int err;

	if (box->width > INT_MAX)
		return -E2BIG;
	err = check(group, MPI_Type_contiguous(box->width, MPI_BYTE, out));
	for (d = 0; d < box->dims && !err; d++) {
		MPI_Datatype inner = *out;

		err = box->count[d] > INT_MAX || strides[d] > PTRDIFF_MAX ? -E2BIG :
		      check(group, MPI_Type_create_hvector(box->count[d], 1, strides[d], inner,
							   out));
		if (err)
			*out = inner;
		else
			MPI_Type_free(&inner);
	}
	if (!err)
		err = check(group, MPI_Type_commit(out));
	if (err && *out != MPI_DATATYPE_NULL)
		MPI_Type_free(out);
	return err;
}

static int make_types(struct group *group, const struct agile_box *box, MPI_Datatype *to,
		      MPI_Datatype *from)
{
	int err;

	*to = *from = MPI_DATATYPE_NULL;
	err = make_type(group, box, box->to, to);
	if (err)
		return err;
	err = make_type(group, box, box->from, from);
	if (err)
		MPI_Type_free(to);
	return err;
}

/*
 * MPI counts are ints: a box with longer rows is several boxes. An access is started for each;
 * @to_memory says which way.
 */
static int access_box(struct group *group, struct window *window, unsigned int rank,
		      const struct agile_box *box, uint64_t offset, uint8_t *memory,
		      bool to_memory)
{
	const uint64_t most = 1u << 30;
	struct agile_box part = *box;
	MPI_Datatype to, from;
	uint64_t at;
	int err = 0;

	for (at = 0; at < box->width && !err; at += part.width) {
		part.width = box->width - at < most ? box->width - at : most;
		err = make_types(group, &part, &to, &from);
		if (err)
			break;
		err = check(group, to_memory ?
			    MPI_Get(memory + at, 1, to, rank, offset + at, 1, from,
				    window->win) :
			    MPI_Put(memory + at, 1, from, rank, offset + at, 1, to,
				    window->win));
		MPI_Type_free(&to);
		MPI_Type_free(&from);
	}
	if (err == -E2BIG)
		snprintf(group->error, sizeof(group->error),
			 "a box of over %d rows in a dimension", INT_MAX);
	return err;
}

static int get(void *data, void *window, unsigned int rank, const struct agile_box *box,
	       uint64_t offset, void *to)
{
	return access_box(data, window, rank, box, offset, to, true);
}

static int put(void *data, void *window, unsigned int rank, const struct agile_box *box,
	       uint64_t offset, const void *from)
{
	return access_box(data, window, rank, box, offset, (void *)from, false);
}

static int get_now(void *data, void *opaque, unsigned int rank, const struct agile_box *box,
		   uint64_t offset, void *to)
{
	struct window *window = opaque;
	int err = check(data, MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window->win));

	if (err)
		return err;
	err = access_box(data, window, rank, box, offset, to, true);
	if (check(data, MPI_Win_unlock(rank, window->win)))
		return -EIO;
	return err;
}

static int lock(void *data, void *opaque)
{
	struct window *window = opaque;

	return window->win == MPI_WIN_NULL ? 0 : check(data, MPI_Win_lock_all(0, window->win));
}

static int unlock(void *data, void *opaque)
{
	struct window *window = opaque;

	return window->win == MPI_WIN_NULL ? 0 : check(data, MPI_Win_unlock_all(window->win));
}

static int flush(void *data, void *opaque)
{
	struct window *window = opaque;

	return window->win == MPI_WIN_NULL ? 0 : check(data, MPI_Win_flush_all(window->win));
}

static int swap(void *data, void *opaque, unsigned int rank, uint64_t offset, uint64_t expected,
		uint64_t desired, uint64_t *seen)
{
	struct window *window = opaque;
	uint64_t *own;

	if (window->win == MPI_WIN_NULL) {
		own = (uint64_t *)((uint8_t *)window->memory + offset);
		*seen = *own;
		*own = *seen == expected ? desired : *seen;
		return 0;
	}
	/* Open MPI 4.1 crashes in MPI_Compare_and_swap() on the rank's own memory. */
	if (check(data, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window->win)) ||
	    check(data, MPI_Get(seen, 1, MPI_UINT64_T, rank, offset, 1, MPI_UINT64_T,
				window->win)) ||
	    check(data, MPI_Win_flush(rank, window->win)))
		return -EIO;
	if (*seen == expected && desired != expected &&
	    check(data, MPI_Put(&desired, 1, MPI_UINT64_T, rank, offset, 1, MPI_UINT64_T,
				window->win)))
		return -EIO;
	return check(data, MPI_Win_unlock(rank, window->win));
}

static int progress(void *data)
{
	struct group *group = data;
	int there;

	return check(group, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, group->comm, &there,
				       MPI_STATUS_IGNORE));
}

static const char *error(const void *group)
{
	return ((const struct group *)group)->error;
}

const struct agile_transport salvo_agile_plugin = {
	.version = AGILE_TRANSPORT_VERSION,
	.open = open_group,
	.close = close_group,
	.gather = gather,
	.expose = expose,
	.hide = hide,
	.get = get,
	.put = put,
	.get_now = get_now,
	.lock = lock,
	.unlock = unlock,
	.flush = flush,
	.swap = swap,
	.progress = progress,
	.error = error,
};
