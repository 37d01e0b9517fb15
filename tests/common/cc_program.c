// SPDX-License-Identifier: MIT
/*
 * cc_program.c - runs compiled kernels in the test itself, without a device
 *
 * Work-items of a kernel with barriers are ucontexts on one thread. Barrier and end both switch to
 * the scheduler, which runs them in turn until all have ended; a work-item that ends while others
 * wait at a barrier is an error of the kernel.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "cc_program.h"

#define STACK_BYTES	(64u << 10)

struct cc_program {
	void *object;
	uint8_t *image;
	size_t bytes;
};

const char *cc_build_path(const char *file)
{
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int up;

	path[n > 0 ? n : 0] = 0;
	for (up = 0; up < 3; up++) {
		char *slash = strrchr(path, '/');

		if (slash)
			*slash = 0;
	}
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/%s", file);
	return path;
}

struct cc_program *cc_program_open(const char *path)
{
	struct cc_program *program = calloc(1, sizeof(*program));
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (!program || fd < 0 || fstat(fd, &st))
		goto err;
	program->bytes = st.st_size;
	program->image = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (program->image == MAP_FAILED)
		goto err;
	program->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!program->object) {
		munmap(program->image, program->bytes);
		goto err;
	}
	close(fd);
	return program;

err:
	fprintf(stderr, "%s: %s\n", path, fd < 0 ? "cannot open" : dlerror());
	if (fd >= 0)
		close(fd);
	free(program);
	return NULL;
}

void cc_program_close(struct cc_program *program)
{
	if (!program)
		return;
	dlclose(program->object);
	munmap(program->image, program->bytes);
	free(program);
}

const struct salvo_note_arg *cc_note_args(const struct salvo_note_kernel *note)
{
	return (const struct salvo_note_arg *)(note + 1);
}

const char *cc_note_string(const struct salvo_note_kernel *note, uint32_t offset)
{
	return offset ? (const char *)note + offset : "";
}

const struct salvo_note_kernel *cc_note(const struct cc_program *program, const char *kernel)
{
	const Elf64_Ehdr *header = (const void *)program->image;
	const Elf64_Phdr *segment = (const void *)(program->image + header->e_phoff);
	int i;

	for (i = 0; i < header->e_phnum; i++, segment++) {
		const uint8_t *p = program->image + segment->p_offset;
		const uint8_t *end = p + segment->p_filesz;

		if (segment->p_type != PT_NOTE)
			continue;
		while (p + sizeof(Elf64_Nhdr) <= end) {
			const Elf64_Nhdr *note = (const void *)p;
			const char *owner = (const char *)(note + 1);
			const uint8_t *desc = p + sizeof(*note) + (note->n_namesz + 3) / 4 * 4;
			const struct salvo_note_kernel *k = (const void *)desc;

			if (!strcmp(owner, SALVO_NOTE_OWNER) && note->n_type == SALVO_NOTE_KERNEL &&
			    !strcmp(cc_note_string(k, k->name), kernel))
				return k;
			p = desc + (note->n_descsz + 3) / 4 * 4;
		}
	}
	return NULL;
}

struct work_item {
	struct salvo_item item;
	ucontext_t context;
	bool ended;
};

/* A work-group that is running; barrier() finds it by its member struct salvo_group. */
struct work_group {
	struct salvo_group group;
	salvo_kernel_fn function;
	const void *args;
	ucontext_t scheduler;
	struct work_item *items, *current;
	bool missed;
};

static struct work_group *running;

static void wait_at_barrier(struct salvo_group *group)
{
	struct work_group *g = (struct work_group *)group;

	swapcontext(&g->current->context, &g->scheduler);
}

/* A split kernel found that not all of its work-items come to the same barrier. */
static void miss_barrier(struct salvo_group *group)
{
	((struct work_group *)group)->missed = true;
}

static void run_item(void)
{
	struct work_item *item = running->current;

	running->function(running->args, &running->group, &item->item);
	item->ended = true;
	swapcontext(&item->context, &running->scheduler);
}

/*
 * Stacks of @count work-items. They are kept, as most kernels take less time than the page faults
 * of new ones. Return: NULL if there is no memory.
 */
static char *stacks_for(unsigned int count)
{
	static char *stacks;
	static unsigned int most;

	if (count <= most)
		return stacks;
	if (stacks)
		munmap(stacks, (size_t)most * STACK_BYTES);
	stacks = mmap(NULL, (size_t)count * STACK_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (stacks == MAP_FAILED)
		stacks = NULL;
	most = stacks ? count : 0;
	return stacks;
}

static int run_items(struct work_group *g, unsigned int count)
{
	char *stacks = stacks_for(count);
	unsigned int i, ended = 0;

	if (!stacks)
		return -1;
	g->items = calloc(count, sizeof(*g->items));
	running = g;
	for (i = 0; i < count; i++) {
		struct work_item *item = &g->items[i];

		item->item.local_id[0] = i % g->group.extent[0];
		item->item.local_id[1] = i / g->group.extent[0] % g->group.extent[1];
		item->item.local_id[2] = i / g->group.extent[0] / g->group.extent[1];
		getcontext(&item->context);
		item->context.uc_stack.ss_sp = stacks + (size_t)i * STACK_BYTES;
		item->context.uc_stack.ss_size = STACK_BYTES;
		makecontext(&item->context, run_item, 0);
	}
	while (ended == 0) {
		for (i = 0; i < count; i++) {
			g->current = &g->items[i];
			swapcontext(&g->scheduler, &g->current->context);
			ended += g->current->ended;
		}
	}
	free(g->items);
	return ended == count ? 0 : -1;
}

static int run_group(struct work_group *g, bool barriers)
{
	const uint64_t *e = g->group.extent;

	if (barriers) {
		g->group.ran = 1;
		return run_items(g, e[0] * e[1] * e[2]);
	}
	g->function(g->args, &g->group, NULL);
	g->group.ran &= ~SALVO_GROUP_EXCLUDES;
	if (g->missed)
		return -1;
	/* A strip may end before, as where the groups of a batch do. */
	if (g->group.ran > g->group.run && g->group.ran > g->group.rows)
		return -1;
	return g->group.ran ? 0 : -1;
}

static unsigned int calls;

unsigned int cc_calls(void)
{
	return calls;
}

static uint32_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Asks for @groups, or what is left of them in the row, or in the column if that is as wide. */
static void ask_for_strip(struct salvo_group *group, uint32_t groups)
{
	const uint64_t most = SALVO_MAX_GROUP_ITEMS / group->local_size[1];

	group->run = lesser(groups, group->num_groups[0] - group->group_id[0]);
	group->rows = 1;
	if (group->num_groups[0] == 1)
		group->rows = lesser(lesser(groups, most),
				     group->num_groups[1] - group->group_id[1]);
}

int cc_run(const struct cc_program *program, const char *kernel, const void *args,
	   const struct cc_range *range)
{
	const struct salvo_note_kernel *note = cc_note(program, kernel);
	struct work_group g = { .args = args };
	struct salvo_group *group = &g.group;
	uint64_t i, count = 1;
	int d, err = 0;

	*(void **)&g.function = dlsym(program->object, kernel);
	if (!note || !g.function)
		return -1;
	for (d = 0; d < 3; d++) {
		group->global_size[d] = range->global[d] ? range->global[d] : 1;
		group->local_size[d] = range->local[d] ? range->local[d] : 1;
		group->num_groups[d] = (group->global_size[d] + group->local_size[d] - 1) /
				       group->local_size[d];
		count *= group->num_groups[d];
	}
	group->dims = range->dims;
	group->barrier = note->flags & SALVO_KERNEL_BARRIERS ? wait_at_barrier : miss_barrier;
	group->local = aligned_alloc(64, (note->local_bytes + range->local_bytes + 127) / 64 * 64);
	calls = 0;
	for (i = 0; i < count && !err; i += group->ran) {
		uint64_t rest = i;

		for (d = 0; d < 3; d++) {
			uint64_t id = rest % group->num_groups[d];
			uint64_t left = group->global_size[d] - id * group->local_size[d];

			rest /= group->num_groups[d];
			group->group_id[d] = id;
			group->extent[d] = left < group->local_size[d] ? left :
					   group->local_size[d];
		}
		ask_for_strip(group, 1 + i % 5);
		/* No other thread runs the kernel: with both kinds of atomic operations. */
		group->ran = 1 | (i % 2 ? SALVO_GROUP_EXCLUDES : 0);
		calls++;
		err = run_group(&g, note->flags & SALVO_KERNEL_BARRIERS);
	}
	free(group->local);
	return err;
}

int cc_compile(const char *arguments, char *output, size_t size)
{
	char command[8192];
	size_t used = 0;
	FILE *pipe;
	int status;

	snprintf(command, sizeof(command), "%s %s 2>&1", cc_build_path("bin/salvo-cc"), arguments);
	pipe = popen(command, "r");
	if (!pipe)
		return -1;
	while (used + 1 < size) {
		size_t n = fread(output + used, 1, size - used - 1, pipe);

		if (!n)
			break;
		used += n;
	}
	output[used] = 0;
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * What cc_build() has built: several tests, which are processes, want the same. A file in memory of
 * heads, each before its program; it is no mapping, which a GPU's processes would have too.
 */
static int built;

struct built_head {
	char what[160];
	size_t bytes;
};

__attribute__((constructor)) static void open_built(void)
{
	built = memfd_create("built", MFD_CLOEXEC);
	if (built < 0)
		abort();
}

/* Writes a program that was built before to @fd. */
static bool write_built(const char *what, int fd)
{
	struct built_head head;
	off_t at = 0;

	while (pread(built, &head, sizeof(head), at) == sizeof(head)) {
		at += sizeof(head);
		if (!strcmp(head.what, what))
			return sendfile(fd, built, &at, head.bytes) == (ssize_t)head.bytes;
		at += head.bytes;
	}
	return false;
}

static void keep_built(const char *what, const struct cc_program *program)
{
	struct built_head head = { .bytes = program->bytes };
	const off_t at = lseek(built, 0, SEEK_END);

	if (strlen(what) >= sizeof(head.what))
		return;
	strcpy(head.what, what);
	if (pwrite(built, &head, sizeof(head), at) != sizeof(head) ||
	    pwrite(built, program->image, program->bytes, at + sizeof(head)) !=
		    (ssize_t)program->bytes)
		abort();
}

struct cc_program *cc_build(const char *options, const char *source)
{
	char path[] = "/tmp/salvo-cc-test-XXXXXX", what[512], command[1024], output[4096];
	struct cc_program *program = NULL;
	int fd = mkstemp(path);

	snprintf(what, sizeof(what), "%s %s", options, source);
	snprintf(command, sizeof(command), "%s -o %s", what, path);
	if (write_built(what, fd)) {
		program = cc_program_open(path);
	} else if (!cc_compile(command, output, sizeof(output))) {
		program = cc_program_open(path);
		if (program)
			keep_built(what, program);
	} else {
		fputs(output, stderr);
	}
	close(fd);
	unlink(path);
	return program;
}
