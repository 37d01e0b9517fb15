// SPDX-License-Identifier: MIT
/*
 * build.c - programs built at run time: options, messages, the cache, many builders at once
 *
 * Each test has its own cache folder. To show that a build came from the cache the compiler is
 * replaced by a file that is not a compiler but has the same path, size and time.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "lib_test.h"

static const char source[] =
	"#ifndef N\n#define N 1\n#endif\n"
	"kernel void store(global int *out) { out[get_global_id(0)] = N + get_global_id(0); }\n";

FIXTURE(build) {
	struct bench b;
	char folder[64], compiler[128];
};

/* A script that runs the real compiler and counts its runs */
static int write_script(const char *path, const char *folder)
{
	const char *real = kernel_path("../bin/salvo-cc");
	FILE *file;

	file = fopen(path, "w");
	if (!file)
		return -1;
	fprintf(file, "#!/bin/sh\necho run >>%s/runs\nexec %s \"$@\"\n", folder, real);
	fclose(file);
	return chmod(path, 0755);
}

static bool has_compiler(void)
{
	return !access(kernel_path("../bin/salvo-cc"), X_OK);
}

#define NEED_COMPILER() do { \
	if (!has_compiler()) \
		SKIP(return, "no salvo-cc here"); \
} while (0)

/* In the virtual machine it takes a hundred times as long, so only one test compiles. */
#define NEED_FAST_COMPILER() do { \
	NEED_COMPILER(); \
	if (getenv("SALVO_SLOW")) \
		SKIP(return, "compiling is slow here"); \
} while (0)

FIXTURE_SETUP(build)
{
	if (!has_compiler())
		return;
	strcpy(self->folder, "/tmp/salvo-build-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->folder));
	ASSERT_EQ(0, bench_open(&self->b));
	snprintf(self->compiler, sizeof(self->compiler), "%s/cc", self->folder);
	ASSERT_EQ(0, write_script(self->compiler, self->folder));
	setenv("SALVO_CC", self->compiler, 1);
	setenv("XDG_CACHE_HOME", self->folder, 1);
}

FIXTURE_TEARDOWN(build)
{
	char command[128];

	if (!self->folder[0])
		return;
	snprintf(command, sizeof(command), "rm -rf %s", self->folder);
	if (system(command))
		perror(command);
	bench_close(&self->b);
}

/* Number of compiler runs */
static int runs(const char *folder)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/runs", folder);
	return stat(path, &st) ? 0 : st.st_size / 4;
}

/* Returns what the kernel store() of @program writes to index 3, or -1. */
static int stored(struct bench *b, struct salvo_program *program)
{
	const uint32_t items = 16;
	struct salvo_kernel *kernel;
	int result = -1;

	if (salvo_kernel_create(program, "store", &kernel))
		return -1;
	b->map[3] = 0;
	salvo_batch_reset(b->batch);
	if (!salvo_kernel_set_bo(kernel, 0, b->bo, 0) &&
	    !salvo_kernel_set_grid(kernel, 1, &items, NULL) &&
	    salvo_batch_dispatch(b->batch, kernel) == 0 && !bench_run(b))
		result = b->map[3];
	salvo_kernel_destroy(kernel);
	return result;
}

TEST_F_TIMEOUT(build, runs_and_is_kept, 200)
{
	struct salvo_program *program;
	char *log;

	NEED_COMPILER();
	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, NULL, &log, &program));
	EXPECT_STREQ("", log);
	EXPECT_EQ(4, stored(&self->b, program));
	EXPECT_EQ(1, runs(self->folder));
	salvo_program_destroy(program);
	free(log);

	ASSERT_EQ(0, salvo_program_build(self->b.device, source, strlen(source), NULL, NULL,
					 &program));
	EXPECT_EQ(4, stored(&self->b, program));
	EXPECT_EQ(1, runs(self->folder));
	salvo_program_destroy(program);
}

TEST_F(build, other_options_are_another_program)
{
	struct salvo_program *program;

	NEED_FAST_COMPILER();
	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, NULL, NULL, &program));
	salvo_program_destroy(program);
	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, " -D 'N=40 + 2'\t-w ", NULL,
					 &program));
	EXPECT_EQ(45, stored(&self->b, program));
	EXPECT_EQ(2, runs(self->folder));
	salvo_program_destroy(program);
}

/* One file for three processors; the best one for this processor is selected. */
TEST_F(build, several_instruction_sets)
{
	struct salvo_program *program;

	NEED_FAST_COMPILER();
	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, "--march all", NULL, &program));
	EXPECT_EQ(4, stored(&self->b, program));
	salvo_program_destroy(program);
	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0,
					 "--march x86-64-v4,x86-64-v2 -g", NULL, &program));
	EXPECT_EQ(4, stored(&self->b, program));
	salvo_program_destroy(program);
	/* For another architecture */
	EXPECT_EQ(-ENOEXEC, salvo_program_build(self->b.device, source, 0, "--target aarch64",
						NULL, &program));
}

TEST_F(build, messages)
{
	static const char bad[] = "kernel void f(global int *out) {\n\tout[0] = nothing;\n}\n";
	static const char late[] = "\nkernel void f(global int *o) "
		"{ local int x[80000]; x[*o] = 1; barrier(1); *o = x[3]; }\n";
	static const char odd[] = "#warning look here\nkernel void f(global int *o) { *o = 1; }\n";
	struct salvo_program *program = (void *)1;
	char *log;
	int i;

	NEED_FAST_COMPILER();
	EXPECT_EQ(-ENOEXEC, salvo_program_build(self->b.device, bad, 0, NULL, &log, &program));
	EXPECT_EQ(NULL, program);
	EXPECT_NE(NULL, strstr(log, ":2:11: error:")) TH_LOG("%s", log);
	free(log);
	EXPECT_EQ(-ENOEXEC, salvo_program_build(self->b.device, bad, 0, NULL, NULL, &program));
	/* What the compiler finds after clang is done looks the same. */
	EXPECT_EQ(-ENOEXEC, salvo_program_build(self->b.device, late, 0, NULL, &log, &program));
	EXPECT_STREQ("program.cl:2:13: error: kernel 'f': 320000 bytes of local memory, more than "
		     "262144\n    2 | kernel void f(global int *o) { local int x[80000]; x[*o] = 1; "
		     "barrier(1); *o = x[3]; }\n      |             ^\n", log);
	free(log);
	/* Warnings are reported with the program, also from the cache. */
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, salvo_program_build(self->b.device, odd, 0, NULL, &log, &program));
		EXPECT_NE(NULL, strstr(log, "look here")) TH_LOG("%s", log);
		salvo_program_destroy(program);
		free(log);
	}
	EXPECT_EQ(4, runs(self->folder));
	EXPECT_EQ(-ENOEXEC, salvo_program_build(self->b.device, odd, 0, "--frobnicate", &log, &program));
	EXPECT_NE(NULL, strstr(log, "unknown option"));
	free(log);
	EXPECT_EQ(-EINVAL, salvo_program_build(self->b.device, odd, 0, "-D 'X", &log, &program));
	EXPECT_NE(NULL, strstr(log, "quote"));
	free(log);
	EXPECT_EQ(-EINVAL, salvo_program_build(self->b.device, NULL, 0, NULL, NULL, &program));
	setenv("SALVO_CC", "/nowhere/salvo-cc", 1);
	EXPECT_EQ(-ENOENT, salvo_program_build(self->b.device, odd, 0, NULL, &log, &program));
	EXPECT_NE(NULL, strstr(log, "SALVO_CC"));
	free(log);
}

TEST_F(build, a_changed_header_is_noticed)
{
#define STORE "kernel void store(global int *out) { out[get_global_id(0)] = NUMBER; }\n"
	static const char *const texts[] = {
		"#inc\\\nlude \"n.h\"\n" STORE, "#import \"n.h\"\n" STORE,
	};
#undef STORE
	struct salvo_program *program;
	char path[128], options[128];
	int number, before;
	unsigned int i;

	NEED_FAST_COMPILER();
	snprintf(path, sizeof(path), "%s/n.h", self->folder);
	snprintf(options, sizeof(options), "-w -I %s", self->folder);
	for (i = 0; i < 2; i++) {
		before = runs(self->folder);
		for (number = 5; number < 7; number++) {
			FILE *file = fopen(path, "w");

			ASSERT_NE(NULL, file);
			fprintf(file, "#define NUMBER %d\n", number);
			fclose(file);
			ASSERT_EQ(0, salvo_program_build(self->b.device, texts[i], 0, options, NULL,
							 &program));
			EXPECT_EQ(number, stored(&self->b, program));
			salvo_program_destroy(program);
		}
		/* Preprocessed and compiled twice; the third time only preprocessed. */
		EXPECT_EQ(before + 4, runs(self->folder));
		ASSERT_EQ(0, salvo_program_build(self->b.device, texts[i], 0, options, NULL,
						 &program));
		EXPECT_EQ(before + 5, runs(self->folder));
		salvo_program_destroy(program);
	}
}

/* Truncates or corrupts every file of the cache. */
static int spoil_cache(const char *folder, bool cut)
{
	char path[512];
	struct dirent *entry;
	int count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/salvo", folder);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		int fd;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/salvo/%s", folder, entry->d_name);
		fd = open(path, O_RDWR);
		if (fd < 0 || (cut ? ftruncate(fd, 100) : pwrite(fd, "x", 1, 3000) != 1))
			return -1;
		close(fd);
		count++;
	}
	if (dir)
		closedir(dir);
	return count;
}

TEST_F(build, a_damaged_cache_is_no_matter)
{
	struct salvo_program *program;
	int i;

	NEED_FAST_COMPILER();
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, NULL, NULL, &program));
		EXPECT_EQ(4, stored(&self->b, program));
		EXPECT_EQ(i + 1, runs(self->folder));
		salvo_program_destroy(program);
		EXPECT_EQ(1, spoil_cache(self->folder, i == 0));
	}
	/* Without a folder for the cache everything works, but slower. */
	setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, NULL, NULL, &program));
	EXPECT_EQ(4, stored(&self->b, program));
	salvo_program_destroy(program);
}

/* The path of the only file of the cache */
static int find_entry(const char *folder, char path[512])
{
	struct dirent *entry;
	int count = 0;
	DIR *dir;

	snprintf(path, 512, "%s/salvo", folder);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && !count++)
			snprintf(path, 512, "%s/salvo/%s", folder, entry->d_name);
	if (dir)
		closedir(dir);
	return count == 1 ? 0 : -1;
}

/* As a file system that was repaired, or a backup, may leave it */
TEST_F(build, a_cached_program_with_the_name_of_another_is_no_matter)
{
	struct salvo_program *program;
	char path[512], kept[128];

	NEED_FAST_COMPILER();
	snprintf(kept, sizeof(kept), "%s/kept", self->folder);
	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, NULL, NULL, &program));
	EXPECT_EQ(4, stored(&self->b, program));
	salvo_program_destroy(program);
	ASSERT_EQ(0, find_entry(self->folder, path));
	ASSERT_EQ(0, rename(path, kept));

	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, "-D N=5", NULL, &program));
	EXPECT_EQ(8, stored(&self->b, program));
	salvo_program_destroy(program);
	ASSERT_EQ(0, find_entry(self->folder, path));
	ASSERT_EQ(0, rename(kept, path));

	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, "-D N=5", NULL, &program));
	EXPECT_EQ(8, stored(&self->b, program));
	EXPECT_EQ(3, runs(self->folder));
	salvo_program_destroy(program);
}

/* Cached code is executed, so the cache is not used if others can write to its folder. */
TEST_F(build, a_cache_that_others_can_write_is_not_used)
{
	char path[128], link[128];
	struct salvo_program *program;
	int i;

	NEED_FAST_COMPILER();
	snprintf(path, sizeof(path), "%s/salvo", self->folder);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, NULL, NULL, &program));
		salvo_program_destroy(program);
		EXPECT_EQ(1 + i, runs(self->folder));
		ASSERT_EQ(0, chmod(path, 0770));
	}
	/* The folder may be reached through a symbolic link. */
	ASSERT_EQ(0, chmod(path, 0700));
	snprintf(link, sizeof(link), "%s/elsewhere", self->folder);
	ASSERT_EQ(0, rename(path, link));
	ASSERT_EQ(0, symlink(link, path));
	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, NULL, NULL, &program));
	salvo_program_destroy(program);
	EXPECT_EQ(2, runs(self->folder));
	if (geteuid())
		SKIP(return, "only root can give a folder to somebody else");
	ASSERT_EQ(0, chown(link, 1, 1));
	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, NULL, NULL, &program));
	salvo_program_destroy(program);
	EXPECT_EQ(3, runs(self->folder));
}

struct builder {
	struct salvo_device *device;
	int failures;
};

static void *build_some(void *data)
{
	struct builder *builder = data;
	int i;

	for (i = 0; i < 3; i++) {
		struct salvo_program *program;
		char options[16];

		snprintf(options, sizeof(options), "-DN=%d", i % 2);
		if (salvo_program_build(builder->device, source, 0, options, NULL, &program))
			builder->failures++;
		else
			salvo_program_destroy(program);
	}
	return NULL;
}

TEST_F(build, builders_at_once)
{
	struct builder builders[4];
	pthread_t threads[4];
	int i;

	NEED_FAST_COMPILER();
	for (i = 0; i < 4; i++) {
		builders[i] = (struct builder){ .device = self->b.device };
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, build_some, &builders[i]));
	}
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, builders[i].failures);
	}
	/* Two programs, and no partial files. */
	EXPECT_EQ(2, spoil_cache(self->folder, true));
}

/* How many children a process has; @first: one of them. */
static unsigned int count_children(pid_t pid, pid_t *first)
{
	char path[64], name[400];
	unsigned int count = 0;
	struct dirent *entry;
	FILE *file;
	DIR *tasks;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		snprintf(name, sizeof(name), "%s/%s/children", path, entry->d_name);
		file = *entry->d_name != '.' ? fopen(name, "r") : NULL;
		while (file && fscanf(file, "%d", &child) == 1) {
			*first = child;
			count++;
		}
		if (file)
			fclose(file);
	}
	if (tasks)
		closedir(tasks);
	return count;
}

/* The threads of process @pid. */
static unsigned int count_threads(pid_t pid)
{
	unsigned int count = 0;
	struct dirent *entry;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)))
		count += *entry->d_name != '.';
	if (tasks)
		closedir(tasks);
	return count;
}

/* The most compilers of this process, and the most threads of one of them, at one time. */
struct watch {
	atomic_bool stop;
	unsigned int compilers, threads;
};

static void *watch_children(void *data)
{
	struct watch *watch = data;
	pid_t compiler;
	unsigned int n;

	while (!atomic_load(&watch->stop)) {
		n = count_children(getpid(), &compiler);
		watch->compilers = n > watch->compilers ? n : watch->compilers;
		n = n ? count_threads(compiler) : 0;
		watch->threads = n > watch->threads ? n : watch->threads;
		usleep(500);
	}
	return NULL;
}

/* Kernels of which each takes a compiler some time; free it. */
static char *many_kernels(void)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);
	int i;

	for (i = 0; i < 16; i++)
		fprintf(file, "kernel void k%d(global float *o) { int i = get_global_id(0);\n"
			"o[i] = pow(sin(o[i]), N + %d.5f) + tgamma(o[i] * %d.25f); }\n", i, i, i);
	fclose(file);
	return text;
}

TEST_F(build, many_kernels_are_compiled_by_a_thread_for_each_core)
{
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);
	struct watch watch = { 0 };
	struct salvo_program *program;
	char *text = many_kernels();
	pthread_t thread;

	NEED_FAST_COMPILER();
	if (cores < 2 || access("/proc/thread-self/children", F_OK))
		SKIP(return, "one core, or /proc does not list children");
	ASSERT_EQ(0, pthread_create(&thread, NULL, watch_children, &watch));
	EXPECT_EQ(0, salvo_program_build(self->b.device, text, 0, "-DN=1", NULL, &program));
	atomic_store(&watch.stop, true);
	pthread_join(thread, NULL);
	EXPECT_EQ(16, salvo_program_kernel_count(program));
	salvo_program_destroy(program);
	free(text);
	EXPECT_EQ(1, watch.compilers);
	EXPECT_GE(watch.threads, 2);
	EXPECT_LE(watch.threads, cores);
	TH_LOG("%u threads on %ld cores", watch.threads, cores);
}

struct many_builder {
	struct salvo_device *device;
	const char *text;
	int number, err;
};

static void *build_many(void *data)
{
	struct many_builder *builder = data;
	struct salvo_program *program;
	char options[16];

	snprintf(options, sizeof(options), "-DN=%d", builder->number);
	builder->err = salvo_program_build(builder->device, builder->text, 0, options, NULL,
					   &program);
	if (!builder->err)
		salvo_program_destroy(program);
	return NULL;
}

TEST_F(build, programs_of_several_threads_are_compiled_at_once)
{
	struct many_builder builders[4];
	pthread_t threads[4], thread;
	struct watch watch = { 0 };
	char *text = many_kernels();
	int i;

	NEED_FAST_COMPILER();
	if (access("/proc/thread-self/children", F_OK))
		SKIP(return, "/proc does not list children");
	ASSERT_EQ(0, pthread_create(&thread, NULL, watch_children, &watch));
	for (i = 0; i < 4; i++) {
		builders[i] = (struct many_builder){ self->b.device, text, i, 0 };
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, build_many, &builders[i]));
	}
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, builders[i].err);
	}
	atomic_store(&watch.stop, true);
	pthread_join(thread, NULL);
	free(text);
	EXPECT_GE(watch.compilers, 2);
}

/*
 * Creates a file of @bytes in the cache, last used @ago seconds ago; 64 digits and @tail name it.
 */
static int put_file(const char *folder, char digit, const char *tail, off_t bytes, int ago)
{
	struct timespec times[2] = { { .tv_sec = time(NULL) - ago } };
	char path[256], name[65];
	int fd, err;

	times[1] = times[0];
	memset(name, digit, 64);
	name[64] = 0;
	snprintf(path, sizeof(path), "%s/salvo", folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/salvo/%s%s", folder, name, tail);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	err = fd < 0 || ftruncate(fd, bytes) || futimens(fd, times);
	close(fd);
	return err;
}

static bool has_file(const char *folder, char digit, const char *tail)
{
	char path[256], name[65];

	memset(name, digit, 64);
	name[64] = 0;
	snprintf(path, sizeof(path), "%s/salvo/%s%s", folder, name, tail);
	return !access(path, F_OK);
}

TEST_F(build, what_was_not_used_for_longest_leaves_a_full_cache)
{
	struct salvo_program *program;
	char path[256];
	int i;

	NEED_FAST_COMPILER();
	setenv("SALVO_CACHE_MIB", "1", 1);
	ASSERT_EQ(0, put_file(self->folder, 'a', "", 400 << 10, 300));
	ASSERT_EQ(0, put_file(self->folder, 'b', "", 400 << 10, 500));
	ASSERT_EQ(0, put_file(self->folder, 'c', "", 400 << 10, 400));
	/*
	 * Temporary files of a writer that died and of one that runs, and a file that is not the
	 * cache's
	 */
	ASSERT_EQ(0, put_file(self->folder, 'd', ".aaaaaa", 10, 9999));
	ASSERT_EQ(0, put_file(self->folder, 'd', ".bbbbbb", 10, 9));
	ASSERT_EQ(0, put_file(self->folder, 'e', ".txt", 2 << 20, 99999));
	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, NULL, NULL, &program));
	salvo_program_destroy(program);
	EXPECT_TRUE(has_file(self->folder, 'a', ""));
	EXPECT_FALSE(has_file(self->folder, 'b', ""));
	EXPECT_FALSE(has_file(self->folder, 'c', ""));
	EXPECT_FALSE(has_file(self->folder, 'd', ".aaaaaa"));
	EXPECT_TRUE(has_file(self->folder, 'd', ".bbbbbb"));
	EXPECT_TRUE(has_file(self->folder, 'e', ".txt"));

	/* An entry that was just used is evicted last. Without .usage the entries are measured. */
	ASSERT_EQ(0, put_file(self->folder, 'f', "", 800 << 10, 0));
	snprintf(path, sizeof(path), "%s/salvo/.usage", self->folder);
	ASSERT_EQ(0, unlink(path));
	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, NULL, NULL, &program));
	salvo_program_destroy(program);
	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, "-DN=2", NULL, &program));
	salvo_program_destroy(program);
	EXPECT_FALSE(has_file(self->folder, 'a', ""));
	EXPECT_EQ(2, runs(self->folder));
	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, NULL, NULL, &program));
	salvo_program_destroy(program);
	EXPECT_EQ(2, runs(self->folder));

	/* A limit of 0 keeps no files. */
	setenv("SALVO_CACHE_MIB", "0", 1);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, "-DN=3", NULL, &program));
		salvo_program_destroy(program);
	}
	EXPECT_EQ(4, runs(self->folder));
	unsetenv("SALVO_CACHE_MIB");
}

/*
 * A cache of many small programs takes long to measure, so that not every build does it. Measuring
 * removes the old temporary file.
 */
TEST_F(build, the_size_of_the_cache_is_kept)
{
	/* Bytes and writes; the last one is too short. */
	static const struct {
		uint64_t usage[2];
		size_t bytes;
		bool measures;
	} cases[] = {
		{ { 0, 0 }, 16, false }, { { 300 << 20, 0 }, 16, true },
		{ { UINT64_MAX, 0 }, 16, true }, { { 0, 254 }, 16, false },
		{ { 0, 255 }, 16, true }, { { 0, UINT64_MAX }, 15, true },
	};
	struct salvo_program *program;
	char path[256], options[16];
	unsigned int i;

	NEED_FAST_COMPILER();
	ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, NULL, NULL, &program));
	salvo_program_destroy(program);
	snprintf(path, sizeof(path), "%s/salvo/.usage", self->folder);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		FILE *file = fopen(path, "w");

		ASSERT_NE(NULL, file);
		ASSERT_EQ(cases[i].bytes, fwrite(cases[i].usage, 1, cases[i].bytes, file));
		fclose(file);
		ASSERT_EQ(0, put_file(self->folder, 'd', ".aaaaaa", 10, 9999));
		snprintf(options, sizeof(options), "-DN=%d", i);
		ASSERT_EQ(0, salvo_program_build(self->b.device, source, 0, options, NULL,
						 &program));
		salvo_program_destroy(program);
		EXPECT_EQ(cases[i].measures, !has_file(self->folder, 'd', ".aaaaaa"));
	}
}

TEST_F(build, a_global_offset)
{
	const uint32_t offset[3] = { 1000, 7, 3 }, items[3] = { 20, 4, 2 }, group[3] = { 8, 3, 2 };
	const uint32_t far[3] = { 0, UINT32_MAX, 0 };
	static const char text[] =
		"kernel void store(global int *out) { out[get_global_id(0)] = 4; }\n"
		"kernel void where(global uint *out) {\n"
		"	uint at = ((get_global_id(2) - 3) * 4 + get_global_id(1) - 7) * 20 +\n"
		"		  get_global_id(0) - 1000;\n"
		"	out[at] = get_global_id(0) + get_global_offset(1) * 10000 +\n"
		"		  get_group_id(1) * 100000 + get_global_size(0) * 1000000 +\n"
		"		  (get_global_offset(3) != 0);\n"
		"	if (get_global_id(1) < 8)\n"
		"		printf(\"%u\\n\", (uint)get_global_offset(0));\n"
		"}\n";
	struct salvo_program *program;
	struct salvo_kernel *kernel;
	uint32_t x, y, z, wrong = 0;

	NEED_FAST_COMPILER();
	ASSERT_EQ(0, salvo_program_build(self->b.device, text, 0, NULL, NULL, &program));
	ASSERT_EQ(0, salvo_kernel_create(program, "where", &kernel));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_offset(kernel, offset));
	salvo_kernel_destroy(kernel);
	salvo_program_destroy(program);

	ASSERT_EQ(0, salvo_program_build(self->b.device, text, 0, "--global-offset", NULL, &program));
	EXPECT_EQ(4, stored(&self->b, program));
	ASSERT_EQ(0, salvo_kernel_create(program, "where", &kernel));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_offset(kernel, NULL));
	EXPECT_EQ(-E2BIG, salvo_kernel_set_offset(kernel, far));
	ASSERT_EQ(0, salvo_kernel_set_offset(kernel, offset));
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 0, self->b.bo, 0));
	ASSERT_EQ(0, salvo_kernel_set_grid(kernel, 3, items, group));
	salvo_batch_reset(self->b.batch);
	ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, kernel));
	ASSERT_EQ(0, bench_run(&self->b));
	for (z = 0; z < 2; z++)
		for (y = 0; y < 4; y++)
			for (x = 0; x < 20; x++)
				wrong += self->b.map[(z * 4 + y) * 20 + x] !=
					 1000 + x + 70000 + y / 3 * 100000 + 20000000;
	EXPECT_EQ(0, wrong);
	salvo_kernel_destroy(kernel);
	salvo_program_destroy(program);
}

TEST_HARNESS_MAIN
