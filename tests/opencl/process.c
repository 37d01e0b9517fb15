// SPDX-License-Identifier: MIT
/*
 * process.c - processes that end, fork, or unload the driver while commands are pending
 */
#include "ocl.h"
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include "kselftest_harness.h"
#include "sanitizer.h"

#define ITEMS		16384u
#define CLIENTS		6

static const char source[] =
	"kernel void add(global uint *out, uint value) { out[get_global_id(0)] += value; }\n";

struct client {
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel;
	cl_mem buffer;
};

static cl_int client_open(struct client *client)
{
	const cl_uint one = 1, zero = 0;
	cl_int err;

	err = ocl_open(NULL, &client->context, &client->queue);
	if (err)
		return err;
	client->program = ocl_build(client->context, source, NULL);
	client->kernel = clCreateKernel(client->program, "add", &err);
	if (!err)
		client->buffer = clCreateBuffer(client->context, 0, ITEMS * sizeof(cl_uint), NULL,
						&err);
	if (!err)
		err = clEnqueueFillBuffer(client->queue, client->buffer, &zero, sizeof(zero), 0,
					  ITEMS * sizeof(cl_uint), 0, NULL, NULL);
	if (!err)
		err = clSetKernelArg(client->kernel, 0, sizeof(cl_mem), &client->buffer);
	return err ? err : clSetKernelArg(client->kernel, 1, sizeof(one), &one);
}

static void client_release(struct client *client)
{
	clReleaseMemObject(client->buffer);
	clReleaseKernel(client->kernel);
	clReleaseProgram(client->program);
	clReleaseCommandQueue(client->queue);
	clReleaseContext(client->context);
}

static cl_int client_add(struct client *client, cl_uint wait_count, const cl_event *waits,
			 cl_event *event)
{
	const size_t items = ITEMS;

	return clEnqueueNDRangeKernel(client->queue, client->kernel, 1, NULL, &items, NULL,
				      wait_count, waits, event);
}

/* The last word of the buffer, which each kernel adds 1 to; or ~0. */
static cl_uint client_sum(struct client *client)
{
	cl_uint value;
	cl_int err = clEnqueueReadBuffer(client->queue, client->buffer, CL_TRUE,
					 (ITEMS - 1) * sizeof(value), sizeof(value), &value, 0,
					 NULL, NULL);

	return err ? ~0u : value;
}

/* Run a function in a process of its own. Return: its exit code, 128 and more for a signal. */
static int exit_code(int (*function)(void))
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		alarm(20);
		exit(function());
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int leave_all(void)
{
	/* Static, as LeakSanitizer finds what they refer to. */
	static struct client client;
	static cl_event user;
	static cl_uint word;

	if (client_open(&client))
		return 1;
	user = clCreateUserEvent(client.context, NULL);
	if (client_add(&client, 0, NULL, NULL) || client_add(&client, 1, &user, NULL) ||
	    clEnqueueReadBuffer(client.queue, client.buffer, CL_FALSE, 0, sizeof(word), &word, 0,
				NULL, NULL) || clFlush(client.queue))
		return 2;
	return 42;
}

TEST(a_program_may_end_with_everything_alive_and_pending)
{
	EXPECT_EQ(42, exit_code(leave_all));
}

static void CL_CALLBACK end_process(cl_event event, cl_int status, void *data)
{
	exit(43);
}

static int end_in_callback(void)
{
	static struct client client;
	static cl_event event;

	if (client_open(&client) || client_add(&client, 0, NULL, &event) ||
	    clSetEventCallback(event, CL_COMPLETE, end_process, NULL) || clFlush(client.queue))
		return 1;
	pause();
	return 2;
}

TEST(a_callback_may_end_the_program)
{
	EXPECT_EQ(43, exit_code(end_in_callback));
}

static int client_pipe[2];

static int submit_for_ever(void)
{
	struct client client;

	if (client_open(&client))
		return 1;
	while (!client_add(&client, 0, NULL, NULL) && !clFlush(client.queue))
		if (write(client_pipe[1], "", 1) < 0)
			break;
	return 2;
}

static int count_to_100(void)
{
	struct client client;
	unsigned int i;

	if (client_open(&client))
		return 1;
	for (i = 0; i < 100; i++)
		if (client_add(&client, 0, NULL, NULL) || (i % 10 == 9 && clFlush(client.queue)))
			return 2;
	if (client_sum(&client) != 100)
		return 3;
	client_release(&client);
	return 0;
}

TEST(a_program_that_is_killed_while_it_submits_harms_no_other)
{
	unsigned int round;

	for (round = 0; round < 5; round++) {
		char bytes[20];
		int status;
		pid_t child;

		ASSERT_EQ(0, pipe(client_pipe));
		child = fork();
		ASSERT_LE(0, child);
		if (!child)
			_exit(submit_for_ever());
		close(client_pipe[1]);
		/* It is in the middle of its submissions. */
		ASSERT_LT(0, read(client_pipe[0], bytes, 1 + round * 4));
		ASSERT_EQ(0, kill(child, SIGKILL));
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status));
		close(client_pipe[0]);
	}
	EXPECT_EQ(0, exit_code(count_to_100));
}

TEST(programs_run_at_the_same_time)
{
	pid_t children[CLIENTS];
	unsigned int i;
	int status;

	for (i = 0; i < CLIENTS; i++) {
		children[i] = fork();
		ASSERT_LE(0, children[i]);
		if (!children[i])
			_exit(count_to_100());
	}
	for (i = 0; i < CLIENTS; i++) {
		ASSERT_EQ(children[i], waitpid(children[i], &status, 0));
		EXPECT_EQ(0, status);
	}
}

/* Threads of the GPU are not in the child: its objects can be released, and what it opens works. */
TEST(a_child_of_fork_can_release_everything_and_the_parent_goes_on)
{
	struct client client;
	int status;
	pid_t child;

	if (getenv("SALVO_DEVICE"))
		SKIP(return, "for the embedded GPU");
	if (SIGNALS_ARE_LATE)
		SKIP(return, "ThreadSanitizer allows no threads in a child of threads");
	ASSERT_EQ(0, client_open(&client));
	ASSERT_EQ(0, client_add(&client, 0, NULL, NULL));
	ASSERT_EQ(0, clFlush(client.queue));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		alarm(20);
		client_add(&client, 0, NULL, NULL);
		if (client_sum(&client) == 2)
			_exit(1);
		client_release(&client);
		exit(count_to_100());
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, client_add(&client, 0, NULL, NULL));
	EXPECT_EQ(2, client_sum(&client));
	client_release(&client);
}

/* Events in all states, and what their callbacks have seen */
struct inherited {
	struct client client;
	cl_event user;
	cl_event held;
	cl_event running;
	atomic_int user_calls;
	atomic_int held_status;
	atomic_int running_status;
};

static void CL_CALLBACK count_call(cl_event event, cl_int status, void *data)
{
	atomic_fetch_add((atomic_int *)data, 1);
}

/* CL_QUEUED is no status that a callback is called with. */
static void CL_CALLBACK store_status(cl_event event, cl_int status, void *data)
{
	atomic_store((atomic_int *)data, status);
}

static void release_inherited(struct inherited *all)
{
	clReleaseEvent(all->user);
	clReleaseEvent(all->held);
	clReleaseEvent(all->running);
	client_release(&all->client);
}

/* Return: 0, or which step went wrong. */
static int use_inherited(struct inherited *all)
{
	cl_event event;

	if (clSetEventCallback(all->user, CL_COMPLETE, count_call, &all->user_calls) ||
	    clSetUserEventStatus(all->user, CL_COMPLETE))
		return 1;
	/* The one of the parent, and its own. */
	while (atomic_load(&all->user_calls) < 2)
		usleep(1000);
	clFinish(all->client.queue);
	while (atomic_load(&all->held_status) == CL_QUEUED)
		usleep(1000);
	if (atomic_load(&all->held_status) >= 0)
		return 2;
	/* The queue refuses it, or its event fails. */
	atomic_store(&all->held_status, CL_QUEUED);
	if (!client_add(&all->client, 0, NULL, &event)) {
		if (clSetEventCallback(event, CL_COMPLETE, store_status, &all->held_status))
			return 3;
		clFinish(all->client.queue);
		while (atomic_load(&all->held_status) == CL_QUEUED)
			usleep(1000);
		if (atomic_load(&all->held_status) >= 0)
			return 4;
		clReleaseEvent(event);
	}
	if (client_sum(&all->client) == 2)
		return 5;
	release_inherited(all);
	return 0;
}

/* Callbacks, waits and releases return, although the threads that serve them are the parent's. */
TEST(events_in_a_child_of_fork_end_and_their_callbacks_are_called)
{
	struct inherited all = { .held_status = CL_QUEUED, .running_status = CL_QUEUED };
	int status;
	pid_t child;

	if (getenv("SALVO_DEVICE"))
		SKIP(return, "for the embedded GPU");
	NEED_MALLOC_AFTER_FORK();
	ASSERT_EQ(0, client_open(&all.client));
	all.user = clCreateUserEvent(all.client.context, NULL);
	ASSERT_EQ(0, client_add(&all.client, 0, NULL, &all.running));
	ASSERT_EQ(0, client_add(&all.client, 1, &all.user, &all.held));
	ASSERT_EQ(0, clSetEventCallback(all.user, CL_COMPLETE, count_call, &all.user_calls));
	ASSERT_EQ(0, clSetEventCallback(all.held, CL_COMPLETE, store_status, &all.held_status));
	ASSERT_EQ(0, clSetEventCallback(all.running, CL_COMPLETE, store_status,
					&all.running_status));
	ASSERT_EQ(0, clFlush(all.client.queue));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		alarm(20);
		exit(use_inherited(&all));
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, atomic_load(&all.user_calls));
	EXPECT_EQ(CL_QUEUED, atomic_load(&all.held_status));
	ASSERT_EQ(0, clSetUserEventStatus(all.user, CL_COMPLETE));
	EXPECT_EQ(2, client_sum(&all.client));
	while (atomic_load(&all.held_status) == CL_QUEUED || !atomic_load(&all.user_calls) ||
	       atomic_load(&all.running_status) == CL_QUEUED)
		usleep(1000);
	EXPECT_EQ(CL_COMPLETE, atomic_load(&all.held_status));
	EXPECT_EQ(1, atomic_load(&all.user_calls));
	release_inherited(&all);
}

static sem_t callback_runs, callback_may_end;

static void CL_CALLBACK stay(cl_event event, cl_int status, void *data)
{
	sem_post(&callback_runs);
	sem_wait(&callback_may_end);
}

/* The worker has transfers that the parent does: they end in the child, too. */
TEST(transfers_of_the_parent_end_in_a_child_of_fork)
{
	struct client client;
	cl_command_queue other;
	cl_event first, read;
	cl_uint word = 0;
	cl_int err;
	int status;
	pid_t child;

	if (getenv("SALVO_DEVICE"))
		SKIP(return, "for the embedded GPU");
	NEED_MALLOC_AFTER_FORK();
	ASSERT_EQ(0, sem_init(&callback_runs, 0, 0));
	ASSERT_EQ(0, sem_init(&callback_may_end, 0, 0));
	ASSERT_EQ(0, client_open(&client));
	other = clCreateCommandQueueWithProperties(client.context, ocl_device(), NULL, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, clFinish(client.queue));
	first = clCreateUserEvent(client.context, NULL);
	ASSERT_EQ(0, clSetEventCallback(first, CL_COMPLETE, stay, NULL));
	ASSERT_EQ(0, clEnqueueReadBuffer(client.queue, client.buffer, CL_FALSE, 0, sizeof(word),
					 &word, 1, &first, &read));
	ASSERT_EQ(0, clFlush(client.queue));
	ASSERT_EQ(0, clSetUserEventStatus(first, CL_COMPLETE));
	ASSERT_EQ(0, clEnqueueMarkerWithWaitList(other, 1, &read, NULL));
	ASSERT_EQ(0, clFlush(other));
	ASSERT_EQ(0, sem_wait(&callback_runs));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		alarm(20);
		clFinish(other);
		clFinish(client.queue);
		if (clWaitForEvents(1, &read) == CL_SUCCESS)
			exit(1);
		clReleaseEvent(first);
		clReleaseEvent(read);
		clReleaseCommandQueue(other);
		client_release(&client);
		exit(0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	sem_post(&callback_may_end);
	EXPECT_EQ(0, clWaitForEvents(1, &read));
	EXPECT_EQ(0, clFinish(other));
	clReleaseEvent(first);
	clReleaseEvent(read);
	clReleaseCommandQueue(other);
	client_release(&client);
}

/* No lock of the driver is left locked in a child, whatever its threads did at the time. */
TEST(a_program_may_fork_at_any_time)
{
	atomic_int calls = 0;
	struct client client;
	unsigned int round;
	cl_event event;
	int status;
	pid_t child;

	if (getenv("SALVO_DEVICE"))
		SKIP(return, "for the embedded GPU");
	if (SIGNALS_ARE_LATE)
		SKIP(return, "ThreadSanitizer allows no threads in a child of threads");
	ASSERT_EQ(0, client_open(&client));
	for (round = 0; round < 100; round++) {
		ASSERT_EQ(0, client_add(&client, 0, NULL, &event));
		ASSERT_EQ(0, clSetEventCallback(event, CL_COMPLETE, count_call, &calls));
		ASSERT_EQ(0, clFlush(client.queue));
		child = fork();
		ASSERT_LE(0, child);
		if (!child) {
			alarm(20);
			clWaitForEvents(1, &event);
			clReleaseEvent(event);
			clFinish(client.queue);
			client_release(&client);
			_exit(0);
		}
		ASSERT_EQ(0, clReleaseEvent(event));
		ASSERT_EQ(child, waitpid(child, &status, 0));
		ASSERT_EQ(0, status);
	}
	EXPECT_EQ(100, client_sum(&client));
	while (atomic_load(&calls) < 100)
		usleep(1000);
	client_release(&client);
}

static void *add_and_end(void *data)
{
	return (void *)(long)client_add(data, 0, NULL, NULL);
}

TEST(threads_may_end_with_their_commands_pending)
{
	struct client client;
	pthread_t threads[8];
	unsigned int i;
	void *err;

	ASSERT_EQ(0, client_open(&client));
	/* Threads may enqueue one kernel if none of them sets its arguments. */
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, add_and_end, &client));
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, pthread_join(threads[i], &err));
		EXPECT_EQ(NULL, err);
	}
	EXPECT_EQ(8, client_sum(&client));
	client_release(&client);
}

TEST(a_context_may_be_released_while_a_user_event_holds_its_commands)
{
	static const cl_int results[] = { CL_COMPLETE, -5 };
	unsigned int i;

	for (i = 0; i < 20; i++) {
		struct client client;
		cl_event user, event;

		ASSERT_EQ(0, client_open(&client));
		user = clCreateUserEvent(client.context, NULL);
		ASSERT_EQ(0, client_add(&client, 1, &user, &event));
		client_release(&client);
		ASSERT_EQ(0, clSetUserEventStatus(user, results[i % 2]));
		EXPECT_EQ(i % 2 ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : 0,
			  clWaitForEvents(1, &event));
		EXPECT_EQ(0, clReleaseEvent(event));
		EXPECT_EQ(0, clReleaseEvent(user));
	}
}

/* Load the driver without a loader, leave a kernel running, and unload it. */
static int unload(void)
{
	const size_t items = ITEMS;
	char path[4096] = "";
	FILE *icd = fopen(getenv("OCL_ICD_VENDORS"), "r");
	unsigned int round;

	if (!icd || fscanf(icd, "%4095s", path) != 1)
		return 1;
	fclose(icd);
	for (round = 0; round < 10; round++) {
		void *driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		void *(*address)(const char *) =
			driver ? dlsym(driver, "clGetExtensionFunctionAddress") : NULL;
		cl_int (*platforms)(cl_uint, cl_platform_id *, cl_uint *) =
			address ? address("clIcdGetPlatformIDsKHR") : NULL;
		const struct _cl_icd_dispatch *cl;
		const char *text = source;
		const cl_uint one = 1;
		cl_platform_id platform;
		cl_command_queue queue;
		cl_context context;
		cl_program program;
		cl_device_id device;
		cl_kernel kernel;
		cl_mem buffer;

		if (!platforms || platforms(1, &platform, NULL))
			return 2;
		cl = *(const struct _cl_icd_dispatch **)platform;
		if (cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
			return 3;
		context = cl->clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
		queue = cl->clCreateCommandQueue(context, device, 0, NULL);
		program = cl->clCreateProgramWithSource(context, 1, &text, NULL, NULL);
		if (cl->clBuildProgram(program, 0, NULL, NULL, NULL, NULL))
			return 4;
		kernel = cl->clCreateKernel(program, "add", NULL);
		buffer = cl->clCreateBuffer(context, 0, ITEMS * sizeof(cl_uint), NULL, NULL);
		if (cl->clSetKernelArg(kernel, 0, sizeof(buffer), &buffer) ||
		    cl->clSetKernelArg(kernel, 1, sizeof(one), &one) ||
		    cl->clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL,
					       NULL) || cl->clFlush(queue))
			return 5;
		if (round % 2) {
			cl->clReleaseMemObject(buffer);
			cl->clReleaseKernel(kernel);
			cl->clReleaseProgram(program);
			cl->clReleaseCommandQueue(queue);
			cl->clReleaseContext(context);
		}
		if (dlclose(driver))
			return 6;
		usleep(1000);
	}
	return 44;
}

TEST(the_driver_may_be_unloaded_while_a_kernel_runs)
{
	if (SANITIZER_RUNS)
		SKIP(return, "LeakSanitizer reports what is left on purpose");
	EXPECT_EQ(44, exit_code(unload));
}

TEST_HARNESS_MAIN
