// SPDX-License-Identifier: MIT
/*
 * object.c - programs in steps: compile with headers in memory, libraries, link, keep, load
 */
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "compiler_turns.h"
#include "kselftest_harness.h"
#include "lib_test.h"
#include "script_compiler.h"

static const char user[] =
	"#include \"more/twice.h\"\n"
	"kernel void store(global int *restrict out, const volatile global int *in)\n"
	"{ size_t i = get_global_id(0); out[i] = twice(in[i]) + N; }\n";
static const char twice[] = "int twice(int x) { return 2 * x; }\n";
static const struct salvo_header header = {
	.name = "more/twice.h", .text = "int twice(int x);\n",
};

FIXTURE(object) {
	struct bench b;
	struct salvo_object *user, *twice;
	char *log;
};

#define NEED_COMPILER() do { \
	if (!compiles_fast()) \
		SKIP(return, "no salvo-cc here, or compiling is slow"); \
} while (0)

FIXTURE_SETUP(object)
{
	ASSERT_EQ(0, bench_open(&self->b));
	if (!compiles_fast())
		return;
	EXPECT_EQ(0, salvo_object_compile(user, 0, &header, 1, "-DN=3", &self->log, &self->user));
	EXPECT_STREQ("", self->log);
	EXPECT_EQ(0, salvo_object_compile(twice, 0, NULL, 0, NULL, NULL, &self->twice));
}

FIXTURE_TEARDOWN(object)
{
	salvo_object_destroy(self->user);
	salvo_object_destroy(self->twice);
	free(self->log);
	bench_close(&self->b);
}

/* Link, load, and look at the kernel. */
static int link_and_load(struct bench *b, struct salvo_object *const *objects, unsigned int count,
			 struct salvo_program **out)
{
	struct salvo_object *program;
	const void *image;
	size_t bytes;
	int err;

	err = salvo_object_link(b->device, SALVO_OBJECT_PROGRAM, objects, count, NULL, NULL,
				&program);
	if (err)
		return err;
	image = salvo_object_image(program, &bytes);
	err = salvo_program_load(b->device, image, bytes, out);
	salvo_object_destroy(program);
	return err;
}

TEST_F(object, two_objects_make_a_program)
{
	struct salvo_object *objects[2] = { self->user, self->twice };
	struct salvo_argument_info argument;
	struct salvo_program *program;
	struct salvo_kernel *kernel;

	NEED_COMPILER();
	EXPECT_EQ(SALVO_OBJECT_COMPILED, salvo_object_kind(self->user));
	ASSERT_EQ(0, link_and_load(&self->b, objects, 2, &program));
	ASSERT_EQ(0, salvo_kernel_create(program, "store", &kernel));
	ASSERT_EQ(0, salvo_kernel_get_argument(kernel, 0, &argument));
	EXPECT_EQ(SALVO_ARGUMENT_RESTRICT, argument.qualifiers);
	EXPECT_EQ(SALVO_ARGUMENT_WRITE, argument.access);
	ASSERT_EQ(0, salvo_kernel_get_argument(kernel, 1, &argument));
	EXPECT_EQ(SALVO_ARGUMENT_CONST | SALVO_ARGUMENT_VOLATILE, argument.qualifiers);
	salvo_kernel_destroy(kernel);
	salvo_program_destroy(program);
}

TEST_F(object, a_library_is_linked_and_kept)
{
	struct salvo_object *library, *again, *objects[2];
	struct salvo_program *program;
	const void *image;
	size_t bytes;

	NEED_COMPILER();
	ASSERT_EQ(0, salvo_object_link(NULL, SALVO_OBJECT_LIBRARY, &self->twice, 1, NULL, NULL,
				       &library));
	EXPECT_EQ(SALVO_OBJECT_LIBRARY, salvo_object_kind(library));
	image = salvo_object_image(library, &bytes);
	ASSERT_EQ(0, salvo_object_load(image, bytes, &again));
	salvo_object_destroy(library);
	objects[0] = again;
	objects[1] = self->user;
	ASSERT_EQ(0, link_and_load(&self->b, objects, 2, &program));
	EXPECT_STREQ("store", salvo_program_kernel_name(program, 0));
	salvo_program_destroy(program);
	salvo_object_destroy(again);
}

TEST_F(object, errors_of_linking_name_the_function)
{
	struct salvo_object *objects[3] = { self->user, self->twice, self->twice };
	struct salvo_object *program;
	char *log;

	NEED_COMPILER();
	EXPECT_EQ(-ENOEXEC, salvo_object_link(self->b.device, SALVO_OBJECT_PROGRAM, objects, 1,
					      NULL, &log, &program));
	/* Of objects too, messages show the line. */
	EXPECT_NE(NULL, strstr(log, "program.cl:3:41: error: ")) TH_LOG("%s", log);
	EXPECT_NE(NULL, strstr(log, ": error: function 'twice' is not available\n    3 | {"));
	EXPECT_NE(NULL, strchr(log, '^'));
	EXPECT_EQ(NULL, program);
	free(log);
	EXPECT_EQ(-ENOEXEC, salvo_object_link(self->b.device, SALVO_OBJECT_PROGRAM, objects, 3,
					      NULL, &log, &program));
	EXPECT_NE(NULL, strstr(log, "program.cl:1:5: error: redefinition of 'twice'\n"));
	EXPECT_NE(NULL, strstr(log, "program.cl:1:5: note: previous definition is here\n"));
	free(log);
}

TEST_F(object, messages_have_the_names_of_headers_and_source)
{
	const struct salvo_header bad = { .name = "a/bad.h", .text = "int x = ;\n" };
	const struct salvo_header late = {
		.name = "a/late.h", .text = "\nint f(int n) { return n ? f(n - 1) : 0; }\n",
	};
	struct salvo_object *object, *program;
	char *log;

	NEED_COMPILER();
	EXPECT_EQ(-ENOEXEC, salvo_object_compile("#include <a/bad.h>\n", 0, &bad, 1, NULL, &log,
						 &object));
	EXPECT_NE(NULL, strstr(log, "a/bad.h:1:9: error:"));
	EXPECT_EQ(NULL, strstr(log, "salvo-"));
	free(log);
	EXPECT_EQ(-ENOEXEC, salvo_object_compile("int x = ;\n", 0, NULL, 0, NULL, &log, &object));
	EXPECT_NE(NULL, strstr(log, "program.cl:1:9: error:"));
	free(log);
	/* The same for what clang does not find: at the link step there is no header. */
	ASSERT_EQ(0, salvo_object_compile("#include <a/late.h>\nkernel void k(global int *o) "
					  "{ *o = f(*o); }\n", 0, &late, 1, NULL, NULL, &object));
	EXPECT_EQ(-ENOEXEC, salvo_object_link(self->b.device, SALVO_OBJECT_PROGRAM, &object, 1,
					      NULL, &log, &program));
	EXPECT_NE(NULL, strstr(log, "In file included from program.cl:1:\na/late.h:2:27: error: "
				    "function 'f' calls itself")) TH_LOG("%s", log);
	EXPECT_NE(NULL, strstr(log, "\n    2 | int f(int n) { return n ? f(n - 1) : 0; }\n"));
	EXPECT_EQ(NULL, strstr(log, "salvo-"));
	free(log);
	salvo_object_destroy(object);
}

TEST_F(object, bad_input_is_refused)
{
	static const char *const names[] = { "", "/etc/passwd", "../x.h", "a/../../x.h", NULL };
	struct salvo_header outside = { .text = "" };
	struct salvo_object *object;
	const char *const *name;
	const char *image;
	char *copy;
	size_t bytes;

	NEED_COMPILER();
	for (name = names; *name; name++) {
		outside.name = *name;
		EXPECT_EQ(-EINVAL,
			  salvo_object_compile(twice, 0, &outside, 1, NULL, NULL, &object));
	}
	EXPECT_EQ(-EINVAL, salvo_object_compile(NULL, 0, NULL, 0, NULL, NULL, &object));
	EXPECT_EQ(-EINVAL, salvo_object_link(self->b.device, SALVO_OBJECT_PROGRAM, NULL, 0, NULL,
					     NULL, &object));
	EXPECT_EQ(-EINVAL, salvo_object_link(NULL, SALVO_OBJECT_PROGRAM, &self->user, 1, NULL, NULL,
					     &object));
	EXPECT_EQ(-EINVAL, salvo_object_link(NULL, SALVO_OBJECT_COMPILED, &self->user, 1, NULL,
					     NULL, &object));
	image = salvo_object_image(self->twice, &bytes);
	EXPECT_EQ(-ENOEXEC, salvo_object_load(image, bytes - 1, &object));
	EXPECT_EQ(-ENOEXEC, salvo_object_load(image, 8, &object));
	EXPECT_EQ(-ENOEXEC, salvo_object_load(NULL, 0, &object));
	copy = malloc(bytes);
	ASSERT_NE(NULL, copy);
	memcpy(copy, image, bytes);
	memset(copy + bytes / 2, 0x5a, bytes / 4);
	ASSERT_EQ(0, salvo_object_load(copy, bytes, &object));
	free(copy);
	salvo_object_destroy(self->twice);
	EXPECT_EQ(-ENOEXEC, salvo_object_link(NULL, SALVO_OBJECT_LIBRARY, &object, 1, NULL, NULL,
					      &self->twice));
	salvo_object_destroy(object);
}

/* The compiler is a process of its own; that it died is in the log. */
static const char ready[] =
	"kernel void store(global int *out, const global int *in)\n"
	"{ size_t i = get_global_id(0); out[i] = in[i] + N; }\n";

TEST_F(object, a_program_is_made_while_the_caller_goes_on)
{
	struct salvo_object *object, *same;
	const void *image;
	size_t bytes, more;
	char *log, defined[32];

	NEED_COMPILER();
	/* A program that is in no cache */
	snprintf(defined, sizeof(defined), "-DN=%u", (unsigned int)getpid());
	ASSERT_EQ(0, salvo_object_begin(self->b.device, ready, 0, defined, &log, &object));
	EXPECT_STREQ("", log);
	free(log);
	EXPECT_FALSE(salvo_object_is_done(object));
	EXPECT_EQ(SALVO_OBJECT_PROGRAM, salvo_object_kind(object));
	image = salvo_object_image(object, &bytes);
	ASSERT_NE(NULL, image);
	EXPECT_TRUE(salvo_object_is_done(object));
	EXPECT_EQ(0, salvo_object_finish(object, &log));
	EXPECT_STREQ("", log);
	free(log);
	/* It is in the cache now, so that nothing is left to be done. */
	ASSERT_EQ(0, salvo_object_begin(self->b.device, ready, 0, defined, NULL, &same));
	EXPECT_TRUE(salvo_object_is_done(same));
	EXPECT_EQ(0, memcmp(image, salvo_object_image(same, &more), bytes));
	EXPECT_EQ(bytes, more);
	salvo_object_destroy(same);
	salvo_object_destroy(object);
}

TEST_F(object, what_is_wrong_with_a_source_is_known_at_once)
{
	static const char *const wrong[] = {
		"kernel void f(global int *a) { a[0] = b; }\n",
		"void g(int); kernel void f(global int *a) { g(a[0]); }\n",
		"kernel void f(global int *a) { local int b[1 << 24]; b[a[0]] = 1; a[0] = b[a[1]]; }\n",
	};
	struct salvo_object *object = NULL;
	unsigned int i;
	char *log;

	NEED_COMPILER();
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(-ENOEXEC, salvo_object_begin(self->b.device, wrong[i], 0, NULL, &log,
						       &object));
		EXPECT_NE(NULL, strstr(log, "error")) {
			TH_LOG("%u: %s", i, log);
		}
		free(log);
	}
}

/* More of them than cores, some destroyed while the compiler works on them. */
TEST_F(object, many_programs_at_a_time_leave_no_process)
{
	enum { COUNT = 12 };
	struct salvo_object *objects[COUNT];
	char defined[48];
	unsigned int i;

	NEED_COMPILER();
	for (i = 0; i < COUNT; i++) {
		snprintf(defined, sizeof(defined), "-DN=%u+%u", (unsigned int)getpid(), i);
		ASSERT_EQ(0, salvo_object_begin(self->b.device, ready, 0, defined, NULL,
						&objects[i]));
	}
	for (i = 0; i < COUNT; i++) {
		if (i % 3)
			EXPECT_EQ(0, salvo_object_finish(objects[i], NULL));
		salvo_object_destroy(objects[i]);
	}
	EXPECT_EQ(-1, waitpid(-1, NULL, WNOHANG));
	EXPECT_EQ(ECHILD, errno);
}

/* Are all children of this process at their ends, but for their parent to wait for them? */
static bool have_children_ended(void)
{
	char path[64], state;
	FILE *list, *file;
	bool ended = true;
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	list = fopen(path, "r");
	while (list && fscanf(list, "%d", &pid) == 1) {
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		file = fopen(path, "r");
		if (file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1)
			ended &= state == 'Z';
		if (file)
			fclose(file);
	}
	if (list)
		fclose(list);
	return ended;
}

/* Programs that nobody wants let later ones go on, and are in the cache. */
TEST_F(object, programs_that_nobody_wants_are_finished)
{
	const unsigned int count = sysconf(_SC_NPROCESSORS_ONLN) + 1;
	struct salvo_object **objects = calloc(count + 1, sizeof(struct salvo_object *));
	char defined[48];
	unsigned int i;

	NEED_COMPILER();
	for (i = 0; i < count; i++) {
		/* The last one needs a slot of another one. */
		while (i == count - 1 && !have_children_ended())
			usleep(10000);
		snprintf(defined, sizeof(defined), "-DN=%u+%u", (unsigned int)getpid(), 1000 + i);
		ASSERT_EQ(0, salvo_object_begin(self->b.device, ready, 0, defined, NULL,
						&objects[i]));
		EXPECT_FALSE(salvo_object_is_done(objects[i])) {
			TH_LOG("%u of %u", i, count);
		}
	}
	snprintf(defined, sizeof(defined), "-DN=%u+1000", (unsigned int)getpid());
	ASSERT_EQ(0, salvo_object_begin(self->b.device, ready, 0, defined, NULL, &objects[count]));
	EXPECT_TRUE(salvo_object_is_done(objects[count]));
	EXPECT_EQ(0, salvo_object_finish(objects[0], NULL));
	EXPECT_NE(NULL, salvo_object_image(objects[0], NULL));
	for (i = 0; i <= count; i++)
		salvo_object_destroy(objects[i]);
	free(objects);
	EXPECT_EQ(-1, waitpid(-1, NULL, WNOHANG));
}

TEST_F(object, what_is_wanted_does_not_wait_for_a_turn)
{
	struct salvo_object *objects[3];
	int turns[CPU_SETSIZE], count, i;
	char defined[48];

	NEED_COMPILER();
	count = take_all_turns(turns);
	for (i = 0; i < 3; i++) {
		snprintf(defined, sizeof(defined), "-DN=%u+%u", (unsigned int)getpid(), 4000 + i);
		ASSERT_EQ(0, salvo_object_begin(self->b.device, ready, 0, defined, NULL,
						&objects[i]));
	}
	EXPECT_EQ(0, salvo_object_finish(objects[1], NULL));
	EXPECT_NE(NULL, salvo_object_image(objects[1], NULL));
	salvo_object_destroy(objects[0]);
	/* The last one is still there, and makes its code when a turn is free. */
	EXPECT_FALSE(have_children_ended());
	give_turns(turns, count);
	while (!have_children_ended())
		usleep(1000);
	EXPECT_EQ(0, salvo_object_finish(objects[2], NULL));
	salvo_object_destroy(objects[1]);
	salvo_object_destroy(objects[2]);
	EXPECT_EQ(-1, waitpid(-1, NULL, WNOHANG));
}

/* Its compiler, which would wait for its turn, becomes a child of this process. */
TEST_F(object, a_compiler_ends_with_an_application_that_wants_nothing)
{
	struct salvo_object *object;
	int turns[CPU_SETSIZE], count, status = 0;
	char defined[48];
	pid_t pid;

	NEED_COMPILER();
	ASSERT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1));
	count = take_all_turns(turns);
	snprintf(defined, sizeof(defined), "-DN=%u+5000", (unsigned int)getpid());
	pid = fork();
	if (!pid)
		_exit(-salvo_object_begin(self->b.device, ready, 0, defined, NULL, &object));
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_LT(0, wait(&status));
	EXPECT_EQ(1, WEXITSTATUS(status));
	give_turns(turns, count);
}

/* A compiler that has found no error, and dies. */
TEST_F(object, a_crash_behind_the_check_is_an_error_of_the_image)
{
	char path[] = "/tmp/salvo-crash-XXXXXX";
	struct salvo_object *object;
	size_t bytes = 1;
	char *log;

	NEED_COMPILER();
	ASSERT_TRUE(use_script(path, ANNOUNCE_NOTHING "exec 3>&-\nkill -SEGV $$"));
	ASSERT_EQ(0, salvo_object_begin(self->b.device, ready, 0, "-DN=0", NULL, &object));
	EXPECT_EQ(NULL, salvo_object_image(object, &bytes));
	EXPECT_EQ(0, bytes);
	EXPECT_EQ(-ENOEXEC, salvo_object_finish(object, &log));
	EXPECT_NE(NULL, strstr(log, "salvo-cc died: Segmentation fault"));
	free(log);
	salvo_object_destroy(object);
	forget_script(path);
}

/* The compiler belongs to the process that began: its child has no part in it. */
TEST_F(object, a_forked_child_leaves_the_compiler_alone)
{
	static const char script[] =
		ANNOUNCE_NOTHING "exec 3>&-\nsleep 0.5\nprintf '\\177ELF'";
	char path[] = "/tmp/salvo-fork-XXXXXX";
	struct salvo_object *object;
	unsigned int i;
	size_t bytes;
	int status;
	pid_t pid;

	NEED_COMPILER();
	ASSERT_TRUE(use_script(path, script));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, salvo_object_begin(self->b.device, ready, 0, i > 1 ? "-DN=1" : "-DN=0",
						NULL, &object));
		/* What the first one made is in the cache for the second one. */
		EXPECT_EQ(i == 1, salvo_object_is_done(object));
		pid = fork();
		if (!pid) {
			if (!i && salvo_object_finish(object, NULL) != -ECHILD)
				_exit(1);
			salvo_object_destroy(object);
			_exit(0);
		}
		EXPECT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
		EXPECT_EQ(0, salvo_object_finish(object, NULL));
		EXPECT_NE(NULL, salvo_object_image(object, &bytes));
		EXPECT_EQ(4, bytes);
		salvo_object_destroy(object);
	}
	forget_script(path);
}

struct beginner {
	struct salvo_device *device;
	struct salvo_object *object;
	int err;
};

static void *begin_one(void *data)
{
	struct beginner *b = data;

	b->err = salvo_object_begin(b->device, ready, 0, "-DN=3000", NULL, &b->object);
	return NULL;
}

/* One thread wants a program while another one, which needs its slot, finishes it. */
TEST_F(object, a_program_that_another_thread_finishes_is_waited_for)
{
	static const char script[] =
		ANNOUNCE_NOTHING "exec 3>&-\nprintf '\\177ELF'\n"
		"head -c 16777212 /dev/zero";
	const unsigned int count = sysconf(_SC_NPROCESSORS_ONLN);
	struct salvo_object **objects = calloc(count, sizeof(struct salvo_object *));
	struct beginner b = { .device = self->b.device };
	char path[] = "/tmp/salvo-slow-XXXXXX", defined[48];
	siginfo_t info = { 0 };
	pthread_t thread;
	unsigned int i;
	size_t bytes;
	pid_t first = 0;

	NEED_COMPILER();
	ASSERT_TRUE(use_script(path, script));
	for (i = 0; i < count; i++) {
		snprintf(defined, sizeof(defined), "-DN=%u", 2000 + i);
		ASSERT_EQ(0, salvo_object_begin(self->b.device, ready, 0, defined, NULL,
						&objects[i]));
		if (!i) {
			ASSERT_EQ(0, waitid(P_ALL, 0, &info, WEXITED | WNOWAIT));
			first = info.si_pid;
		}
	}
	while (!have_children_ended())
		usleep(1000);
	ASSERT_EQ(0, pthread_create(&thread, NULL, begin_one, &b));
	/* Until the thread has waited for the compiler of the first slot. */
	while (!waitid(P_PID, first, &info, WEXITED | WNOWAIT | WNOHANG))
		sched_yield();
	for (i = 0; i < count; i++) {
		EXPECT_EQ(0, salvo_object_finish(objects[i], NULL));
		EXPECT_NE(NULL, salvo_object_image(objects[i], &bytes));
		EXPECT_EQ(16777216, bytes);
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(0, b.err);
	salvo_object_destroy(b.object);
	for (i = 0; i < count; i++)
		salvo_object_destroy(objects[i]);
	free(objects);
	forget_script(path);
}

/* A process that was forked at the wrong time has the pipe as long as it lives. */
TEST_F(object, a_process_with_the_pipe_of_the_compiler_delays_nothing)
{
	static const char *const scripts[] = {
		"sleep 1000 & echo $! >&2\n" ANNOUNCE_NOTHING "printf '\\177ELF'",
		"sleep 1000 & echo $! >&2\nexit 1",
	};
	struct salvo_object *object = NULL;
	unsigned int i;
	char *log;

	NEED_COMPILER();
	for (i = 0; i < 2; i++) {
		char path[] = "/tmp/salvo-pipe-XXXXXX";

		ASSERT_TRUE(use_script(path, scripts[i]));
		EXPECT_EQ(i ? -ENOEXEC : 0, salvo_object_begin(self->b.device, ready, 0, NULL, &log,
							       &object));
		ASSERT_LT(1, atoi(log));
		kill(atoi(log), SIGKILL);
		free(log);
		if (!i)
			salvo_object_destroy(object);
		forget_script(path);
	}
}

/* Without a status nobody knows that it failed. */
TEST_F(object, a_compiler_that_is_killed_is_in_no_cache_where_children_are_ignored)
{
	/* What it writes before it is killed: nothing, or a part of a program */
	static const char *const parts[] = { "0", "60", "500", "-1" };
	static const char complete[] = "kernel void set(global int *out) { *out = 1; }\n";
	char path[] = "/tmp/salvo-ignore-XXXXXX", marker[64], image[64], script[512], *log;
	struct salvo_object *object = NULL;
	const void *data;
	unsigned int i;
	size_t bytes;
	FILE *file;

	NEED_COMPILER();
	ASSERT_EQ(0, salvo_object_build(self->b.device, complete, 0, NULL, NULL, &object));
	data = salvo_object_image(object, &bytes);
	ASSERT_NE(NULL, data);
	snprintf(image, sizeof(image), "/tmp/salvo-image-%d", getpid());
	file = fopen(image, "w");
	ASSERT_NE(NULL, file);
	ASSERT_EQ(bytes, fwrite(data, 1, bytes, file));
	ASSERT_EQ(0, fclose(file));
	salvo_object_destroy(object);
	for (i = 0; i < 4; i++) {
		strcpy(path, "/tmp/salvo-ignore-XXXXXX");
		snprintf(script, sizeof(script), "[ -e $0.again ] && exec cat %s\n"
			 "touch $0.again\nhead -c %s %s\nkill -KILL $$", image, parts[i], image);
		ASSERT_TRUE(use_script(path, script));
		signal(SIGCHLD, SIG_IGN);
		EXPECT_EQ(-ENOEXEC, salvo_object_build(self->b.device, ready, 0, NULL, &log,
						       &object));
		EXPECT_NE(NULL, strstr(log, "its status is unknown"));
		free(log);
		EXPECT_EQ(0, salvo_object_build(self->b.device, ready, 0, NULL, NULL, &object));
		signal(SIGCHLD, SIG_DFL);
		salvo_object_destroy(object);
		snprintf(marker, sizeof(marker), "%s.again", path);
		unlink(marker);
		forget_script(path);
	}
	unlink(image);
}

TEST_F(object, a_crash_of_the_compiler_is_an_error)
{
	char path[] = "/tmp/salvo-crash-XXXXXX";
	struct salvo_object *object;
	char *log;

	NEED_COMPILER();
	ASSERT_TRUE(use_script(path, "kill -SEGV $$"));
	EXPECT_EQ(-ENOEXEC, salvo_object_compile(twice, 0, NULL, 0, NULL, &log, &object));
	EXPECT_NE(NULL, strstr(log, "salvo-cc died: Segmentation fault"));
	free(log);
	forget_script(path);
}

TEST_HARNESS_MAIN
