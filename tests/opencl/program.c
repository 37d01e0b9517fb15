// SPDX-License-Identifier: MIT
/*
 * program.c - programs and kernels: build, compile, link, binaries, arguments, what can be asked
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>

#include "ocl.h"
#include "compiler_turns.h"
#include "kselftest_harness.h"
#include "many_parts.h"
#include "script_compiler.h"

FIXTURE(program) {
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_mem buffer;
};

FIXTURE_SETUP(program)
{
	cl_int err;

	self->device = ocl_device();
	ASSERT_NE(NULL, self->device);
	self->context = clCreateContext(NULL, 1, &self->device, NULL, NULL, &err);
	ASSERT_EQ(0, err);
	self->queue = clCreateCommandQueueWithProperties(self->context, self->device, NULL, &err);
	ASSERT_EQ(0, err);
	self->buffer = clCreateBuffer(self->context, 0, 64, NULL, &err);
	ASSERT_EQ(0, err);
}

FIXTURE_TEARDOWN(program)
{
	clReleaseMemObject(self->buffer);
	clReleaseCommandQueue(self->queue);
	EXPECT_EQ(0, clReleaseContext(self->context));
}

static cl_program from_source(cl_context context, const char *source)
{
	return clCreateProgramWithSource(context, 1, &source, NULL, NULL);
}

/* The first word of @buffer after @kernel ran with (buffer, value). */
static int run_kernel(cl_command_queue queue, cl_kernel kernel, cl_mem buffer, int value)
{
	const size_t items = 16;
	int result = -1;

	if (clSetKernelArg(kernel, 0, sizeof(buffer), &buffer) ||
	    clSetKernelArg(kernel, 1, sizeof(value), &value) ||
	    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL) ||
	    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 4, sizeof(result), &result, 0, NULL, NULL))
		return -1;
	return result;
}

static const char store[] =
	"kernel void store(global int *out, int n) { out[get_global_id(0)] = n + K; }\n";

TEST_F(program, build_and_run)
{
	cl_program program = from_source(self->context, store);
	cl_kernel kernel;
	cl_build_status status;
	cl_int err;

	clCreateKernel(program, "store", &err);
	EXPECT_EQ(CL_INVALID_PROGRAM_EXECUTABLE, err);
	ASSERT_EQ(0, clBuildProgram(program, 0, NULL, "-D K=30 -cl-std=CL3.0", NULL, NULL));
	EXPECT_EQ(0, clGetProgramBuildInfo(program, self->device, CL_PROGRAM_BUILD_STATUS,
					   sizeof(status), &status, NULL));
	EXPECT_EQ(CL_BUILD_SUCCESS, status);
	clCreateKernel(program, "other", &err);
	EXPECT_EQ(CL_INVALID_KERNEL_NAME, err);
	kernel = clCreateKernel(program, "store", &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(35, run_kernel(self->queue, kernel, self->buffer, 5));
	/* It has a kernel, so it stays as it is. */
	EXPECT_EQ(CL_INVALID_OPERATION, clBuildProgram(program, 0, NULL, "-DK=0", NULL, NULL));
	EXPECT_EQ(0, clReleaseKernel(kernel));
	EXPECT_EQ(0, clBuildProgram(program, 0, NULL, "-DK=0", NULL, NULL));
	EXPECT_EQ(0, clReleaseProgram(program));
}

TEST_F(program, the_version_is_a_macro)
{
	cl_program program = from_source(self->context,
					 "#if __OPENCL_VERSION__ != V\n"
					 "#error\n"
					 "#endif\n"
					 "kernel void f(void) {}\n");

	EXPECT_EQ(0, clBuildProgram(program, 0, NULL, "-cl-std=CL3.0 -D V=300", NULL, NULL));
	EXPECT_EQ(0, clBuildProgram(program, 0, NULL, "-D V=120", NULL, NULL));
	EXPECT_EQ(0, clReleaseProgram(program));
}

/* Programs ask for it whose hosts know no later one; most of OpenCL C 2.0 is there. */
TEST_F(program, opencl_c_2_0)
{
	cl_program program = from_source(self->context,
					 "#if __OPENCL_C_VERSION__ != 200\n"
					 "#error\n"
					 "#endif\n"
					 "kernel void store(global int *out, int value)\n"
					 "{ int *p = out + get_global_id(0); *p = work_group_all(value) + value; }\n");
	cl_kernel kernel;
	cl_int err;

	ASSERT_EQ(0, clBuildProgram(program, 0, NULL, "-cl-std=CL2.0", NULL, NULL));
	kernel = clCreateKernel(program, "store", &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(6, run_kernel(self->queue, kernel, self->buffer, 5));
	EXPECT_EQ(0, clReleaseKernel(kernel));
	EXPECT_EQ(0, clReleaseProgram(program));
}

TEST_F(program, without_a_kernel)
{
	cl_program program = from_source(self->context, "int f(int x) { return x + 1; }\n");
	cl_program_binary_type type;
	char names[8] = "?";
	size_t count = 1;
	cl_uint kernels = 1;
	cl_int err;

	ASSERT_EQ(0, clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
	EXPECT_EQ(0, clGetProgramBuildInfo(program, self->device, CL_PROGRAM_BINARY_TYPE,
					   sizeof(type), &type, NULL));
	EXPECT_EQ(CL_PROGRAM_BINARY_TYPE_EXECUTABLE, type);
	EXPECT_EQ(0, clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof(count), &count,
				      NULL));
	EXPECT_EQ(0, count);
	EXPECT_EQ(0, clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof(names), names,
				      NULL));
	EXPECT_STREQ("", names);
	EXPECT_EQ(0, clCreateKernelsInProgram(program, 0, NULL, &kernels));
	EXPECT_EQ(0, kernels);
	clCreateKernel(program, "f", &err);
	EXPECT_EQ(CL_INVALID_KERNEL_NAME, err);
	EXPECT_EQ(0, clReleaseProgram(program));
}

TEST_F(program, errors_are_in_the_log)
{
	cl_program program = from_source(self->context, store);
	char log[512];

	EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(program, 0, NULL, "", NULL, NULL));
	ASSERT_EQ(0, clGetProgramBuildInfo(program, self->device, CL_PROGRAM_BUILD_LOG, sizeof(log),
					   log, NULL));
	EXPECT_EQ(0, strncmp(log, "program.cl:1:", 13));
	EXPECT_NE(NULL, strstr(log, ": error: use of undeclared identifier 'K'"));
	clReleaseProgram(program);
	/* What clang does not find */
	program = from_source(self->context, "int f(int n) { return n ? f(n - 1) : 0; }\n");
	EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(program, 0, NULL, "", NULL, NULL));
	ASSERT_EQ(0, clGetProgramBuildInfo(program, self->device, CL_PROGRAM_BUILD_LOG, sizeof(log),
					   log, NULL));
	EXPECT_STREQ("program.cl:1:27: error: function 'f' calls itself; recursion is not allowed "
		     "in OpenCL C\n    1 | int f(int n) { return n ? f(n - 1) : 0; }\n"
		     "      |                           ^\n", log);
	clReleaseProgram(program);
}

TEST_F(program, options_of_the_compiler_itself_are_refused)
{
	static const char *const bad[] = {
		"--inspect", "-o /tmp/x", "-c", "--link", "-cl-std=CL9", "-D", "-I", "-D \"A",
		"-create-library", "file.cl", "-", "-cl-frobnicate",
		"-D\"\" -D --inspect", "-I'' -D --inspect", NULL,
	};
	cl_program program = from_source(self->context, store);
	const char *const *option;

	for (option = bad; *option; option++)
		EXPECT_EQ(CL_INVALID_BUILD_OPTIONS,
			  clBuildProgram(program, 0, NULL, *option, NULL, NULL));
	EXPECT_EQ(CL_INVALID_COMPILER_OPTIONS,
		  clCompileProgram(program, 0, NULL, "-bad", 0, NULL, NULL, NULL, NULL));
	EXPECT_EQ(CL_INVALID_VALUE, clBuildProgram(program, 1, NULL, "", NULL, NULL));
	EXPECT_EQ(CL_INVALID_VALUE, clBuildProgram(program, 0, &self->device, "", NULL, NULL));
	EXPECT_EQ(CL_INVALID_VALUE, clBuildProgram(program, 0, NULL, "", NULL, &option));
	EXPECT_EQ(0, clBuildProgram(program, 0, NULL,
				    "  -DK=1 -w -cl-mad-enable -cl-fast-relaxed-math -Werror "
				    "-cl-kernel-arg-info -cl-opt-disable -I \"/tmp\"", NULL, NULL));
	clReleaseProgram(program);
}

TEST_F(program, compile_with_headers_link_with_a_library)
{
	cl_program part = from_source(self->context, "#include \"a.h\"\n"
		"kernel void k(global int *out, int n) { out[get_global_id(0)] = twice(n); }\n");
	cl_program header = from_source(self->context, "int twice(int);\n");
	cl_program twice = from_source(self->context, "int twice(int x) { return 2 * x; }\n");
	cl_program library, program, both[2];
	const char *name = "a.h";
	cl_program_binary_type type;
	cl_kernel kernel;
	cl_int err;

	ASSERT_EQ(0, clCompileProgram(part, 0, NULL, NULL, 1, &header, &name, NULL, NULL));
	clLinkProgram(self->context, 0, NULL, "", 1, &twice, NULL, NULL, &err);
	EXPECT_EQ(CL_INVALID_OPERATION, err);
	ASSERT_EQ(0, clCompileProgram(twice, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
	clLinkProgram(self->context, 0, NULL, "-cl-mad-enable=x", 1, &twice, NULL, NULL, &err);
	EXPECT_EQ(CL_INVALID_LINKER_OPTIONS, err);
	library = clLinkProgram(self->context, 0, NULL, "-create-library -enable-link-options", 1,
				&twice, NULL, NULL, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(0, clGetProgramBuildInfo(library, self->device, CL_PROGRAM_BINARY_TYPE,
					   sizeof(type), &type, NULL));
	EXPECT_EQ(CL_PROGRAM_BINARY_TYPE_LIBRARY, type);
	both[0] = part;
	both[1] = library;
	program = clLinkProgram(self->context, 0, NULL, "", 2, both, NULL, NULL, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(CL_INVALID_OPERATION, clBuildProgram(program, 0, NULL, "", NULL, NULL));
	kernel = clCreateKernel(program, "k", &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(42, run_kernel(self->queue, kernel, self->buffer, 21));
	clReleaseKernel(kernel);
	clReleaseProgram(program);
	/* Without the library: a program is returned for its log. */
	program = clLinkProgram(self->context, 0, NULL, "", 1, &part, NULL, NULL, &err);
	EXPECT_EQ(CL_LINK_PROGRAM_FAILURE, err);
	EXPECT_EQ(0, clReleaseProgram(program));
	clReleaseProgram(library);
	clReleaseProgram(twice);
	clReleaseProgram(header);
	clReleaseProgram(part);
}

TEST_F(program, a_binary_runs_a_damaged_one_does_not)
{
	cl_program program = from_source(self->context, store);
	const unsigned char *image;
	unsigned char *binary;
	cl_kernel kernel;
	cl_int status, err;
	size_t bytes;

	ASSERT_EQ(0, clBuildProgram(program, 0, NULL, "-DK=1", NULL, NULL));
	ASSERT_EQ(0, clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes,
				      NULL));
	binary = malloc(bytes);
	ASSERT_EQ(0, clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL));
	clReleaseProgram(program);
	image = binary;
	program = clCreateProgramWithBinary(self->context, 1, &self->device, &bytes, &image,
					    &status, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, clBuildProgram(program, 0, NULL, "", NULL, NULL));
	kernel = clCreateKernel(program, "store", &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(8, run_kernel(self->queue, kernel, self->buffer, 7));
	clReleaseKernel(kernel);
	clReleaseProgram(program);
	memset(binary + 16, 0xff, 64);
	program = clCreateProgramWithBinary(self->context, 1, &self->device, &bytes, &image,
					    &status, &err);
	EXPECT_EQ(CL_INVALID_BINARY, err);
	EXPECT_EQ(CL_INVALID_BINARY, status);
	EXPECT_EQ(NULL, program);
	free(binary);
}

TEST_F(program, arguments_are_checked)
{
	cl_program program = from_source(self->context,
		"kernel __attribute__((reqd_work_group_size(4, 2, 1))) __attribute__((vec_type_hint("
		"float4)))\nvoid k(global const int *in, constant float *c, local int *l, int n) { }\n");
	const cl_mem none = NULL;
	cl_kernel kernel, clone;
	cl_ulong local_bytes;
	char text[128];
	size_t group[3];
	cl_int err, n = 1;

	ASSERT_EQ(0, clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
	kernel = clCreateKernel(program, "k", &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(CL_INVALID_ARG_INDEX, clSetKernelArg(kernel, 4, sizeof(n), &n));
	EXPECT_EQ(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 0, 4, &self->buffer));
	EXPECT_EQ(CL_INVALID_MEM_OBJECT, clSetKernelArg(kernel, 0, sizeof(cl_mem), &self->context));
	EXPECT_EQ(0, clSetKernelArg(kernel, 0, sizeof(cl_mem), &none));
	EXPECT_EQ(0, clSetKernelArg(kernel, 1, sizeof(cl_mem), NULL));
	EXPECT_EQ(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 2, 16, &n));
	EXPECT_EQ(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 2, 0, NULL));
	EXPECT_EQ(0, clSetKernelArg(kernel, 2, 160, NULL));
	EXPECT_EQ(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 3, 8, &n));
	EXPECT_EQ(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 3, 4, NULL));
	EXPECT_EQ(0, clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof(text), text, NULL));
	EXPECT_STREQ("vec_type_hint(float4) reqd_work_group_size(4,2,1)", text);
	EXPECT_EQ(0, clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof(text), text,
					NULL));
	EXPECT_STREQ("int*", text);
	EXPECT_EQ(CL_INVALID_VALUE, clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_TYPE_NAME, 4, text,
						       NULL));
	EXPECT_EQ(0, clGetKernelWorkGroupInfo(kernel, self->device,
					      CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(group),
					      group, NULL));
	EXPECT_EQ(4u, group[0]);
	EXPECT_EQ(0, clGetKernelWorkGroupInfo(kernel, NULL, CL_KERNEL_LOCAL_MEM_SIZE,
					      sizeof(local_bytes), &local_bytes, NULL));
	EXPECT_EQ(160u, local_bytes);
	clone = clCloneKernel(kernel, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(0, clSetKernelArg(clone, 3, sizeof(n), &n));
	EXPECT_EQ(0, clReleaseKernel(clone));
	EXPECT_EQ(CL_INVALID_KERNEL, clSetKernelArg((cl_kernel)self->context, 0, 0, NULL));
	clReleaseKernel(kernel);
	clReleaseProgram(program);
}

struct done {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int count;
};

static void CL_CALLBACK count_built(cl_program program, void *data)
{
	struct done *done = data;

	(void)program;
	pthread_mutex_lock(&done->lock);
	done->count++;
	pthread_cond_signal(&done->changed);
	pthread_mutex_unlock(&done->lock);
}

/*
 * A program whose build is done while the compiler, a script at @path, goes on: it has compiled,
 * waits for open_gate(), at most 60 s, and then does what @end says with what it has made, $out.
 */
static cl_program build_behind_gate(cl_context context, char *path, const char *end,
				    const char *source)
{
	char commands[PATH_MAX + 300];
	cl_program program;

	snprintf(commands, sizeof(commands),
		 "out=$0.$$\n'%s' \"$@\" > $out || exit 1\n"
		 "n=0; until [ -e $0.gate ]; do n=$((n + 1)); [ $n = 600 ] && exit 1; sleep 0.1; done\n"
		 "%s", ocl_compiler(), end);
	if (!use_script(path, commands))
		return NULL;
	program = from_source(context, source);
	return clBuildProgram(program, 0, NULL, "-DK=2", NULL, NULL) ? NULL : program;
}

/* Its kernel "store", with both arguments set */
static cl_kernel create_store(cl_program program, cl_mem buffer, int n)
{
	cl_kernel kernel = clCreateKernel(program, "store", NULL);

	if (!kernel || clSetKernelArg(kernel, 0, sizeof(buffer), &buffer) ||
	    clSetKernelArg(kernel, 1, sizeof(n), &n))
		return NULL;
	return kernel;
}

/* The end of a compiler that succeeds */
static const char give[] = "cat $out; rm $out";

static void open_gate(const char *path)
{
	char gate[64];
	int fd;

	snprintf(gate, sizeof(gate), "%s.gate", path);
	fd = open(gate, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
}

static void forget_gate(const char *path)
{
	char gate[64];

	snprintf(gate, sizeof(gate), "%s.gate", path);
	unlink(gate);
	forget_script(path);
}

/* What the source says of a kernel is known before the compiler is let go to its end. */
TEST_F(program, a_kernel_waits_for_its_code_when_it_is_enqueued)
{
	char path[] = "/tmp/salvo-slow-XXXXXX", names[64];
	cl_kernel kernels[2];
	cl_ulong bytes = 0;
	cl_program program;
	size_t group[3];
	cl_uint count;
	cl_int err;

	if (getenv("SALVO_DEVICE"))
		SKIP(return, "the embedded GPU is enough");
	program = build_behind_gate(self->context, path, give,
		"kernel void store(global int *out, int n)\n"
		"{ local int l[40]; l[get_local_id(0)] = n; out[get_global_id(0)] = l[0]; }\n"
		"__attribute__((reqd_work_group_size(4, 2, 1))) kernel void k(global int *out) { }\n");
	ASSERT_NE(NULL, program);
	EXPECT_EQ(0, clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof(names), names,
				      NULL));
	EXPECT_STREQ("store;k", names);
	ASSERT_EQ(0, clCreateKernelsInProgram(program, 2, kernels, &count));
	EXPECT_EQ(2, count);
	clCreateKernel(program, "absent", &err);
	EXPECT_EQ(CL_INVALID_KERNEL_NAME, err);
	EXPECT_EQ(0, clGetKernelArgInfo(kernels[0], 1, CL_KERNEL_ARG_NAME, sizeof(names), names,
					NULL));
	EXPECT_STREQ("n", names);
	EXPECT_EQ(CL_INVALID_ARG_SIZE, clSetKernelArg(kernels[0], 1, 8, &bytes));
	EXPECT_EQ(0, clSetKernelArg(kernels[0], 1, 4, &bytes));
	EXPECT_EQ(0, clGetKernelWorkGroupInfo(kernels[1], NULL, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
					      sizeof(group), group, NULL));
	EXPECT_EQ(2, group[1]);
	EXPECT_EQ(CL_INVALID_OPERATION, clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
	open_gate(path);
	EXPECT_EQ(6, run_kernel(self->queue, kernels[0], self->buffer, 6));
	EXPECT_EQ(0, clGetKernelWorkGroupInfo(kernels[1], NULL, CL_KERNEL_LOCAL_MEM_SIZE,
					      sizeof(bytes), &bytes, NULL));
	EXPECT_EQ(0, bytes);
	EXPECT_EQ(0, clGetKernelWorkGroupInfo(kernels[0], NULL, CL_KERNEL_LOCAL_MEM_SIZE,
					      sizeof(bytes), &bytes, NULL));
	EXPECT_EQ(160, bytes);
	forget_gate(path);
	clReleaseKernel(kernels[0]);
	clReleaseKernel(kernels[1]);
	EXPECT_EQ(0, clReleaseProgram(program));
}

struct launch {
	cl_command_queue queue;
	cl_kernel kernel;
	cl_int err;
};

/* Asks for the kernel's memory, and enqueues it. */
static void *launch(void *data)
{
	const size_t items = 16;
	struct launch *launch = data;
	cl_ulong bytes;

	launch->err = clGetKernelWorkGroupInfo(launch->kernel, NULL, CL_KERNEL_PRIVATE_MEM_SIZE,
					       sizeof(bytes), &bytes, NULL);
	if (!launch->err)
		launch->err = clEnqueueNDRangeKernel(launch->queue, launch->kernel, 1, NULL,
						     &items, NULL, 0, NULL, NULL);
	return NULL;
}

TEST_F(program, several_threads_wait_for_the_code_of_one_kernel)
{
	char path[] = "/tmp/salvo-slow-XXXXXX";
	struct launch launches[4];
	pthread_t threads[4];
	cl_program program;
	cl_kernel kernel;
	unsigned int i;
	int n = 4;

	if (getenv("SALVO_DEVICE"))
		SKIP(return, "the embedded GPU is enough");
	program = build_behind_gate(self->context, path, give, store);
	ASSERT_NE(NULL, program);
	kernel = create_store(program, self->buffer, n);
	ASSERT_NE(NULL, kernel);
	for (i = 0; i < 4; i++) {
		launches[i] = (struct launch){ .queue = self->queue, .kernel = kernel };
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, launch, &launches[i]));
	}
	open_gate(path);
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, launches[i].err);
	}
	EXPECT_EQ(0, clEnqueueReadBuffer(self->queue, self->buffer, CL_TRUE, 4, sizeof(n), &n, 0,
					 NULL, NULL));
	EXPECT_EQ(6, n);
	forget_gate(path);
	clReleaseKernel(kernel);
	EXPECT_EQ(0, clReleaseProgram(program));
}

/* Each has its code when it is enqueued: alone, later from the same part, or from the whole. */
TEST_F(program, kernels_of_a_large_program_do_not_wait_for_all_of_it)
{
	cl_program program = from_source(self->context, MANY_PARTS_SOURCE);
	int turns[CPU_SETSIZE], count, order[MANY_PARTS_KERNELS], i;
	cl_kernel kernels[MANY_PARTS_KERNELS];
	char options[32], name[8];
	struct timespec now;
	size_t bytes = 0;

	if (getenv("SALVO_DEVICE"))
		SKIP(return, "the embedded GPU is enough");
	/* A program that is in no cache, and of which nothing is made before it is wanted. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(options, sizeof(options), "-DN=%lld+%ld", (long long)now.tv_sec, now.tv_nsec);
	count = take_all_turns(turns);
	ASSERT_EQ(0, clBuildProgram(program, 0, NULL, options, NULL, NULL));
	for (i = 0; i < MANY_PARTS_KERNELS; i++) {
		snprintf(name, sizeof(name), "k%d", i);
		kernels[i] = clCreateKernel(program, name, NULL);
		ASSERT_NE(NULL, kernels[i]);
		order[i] = i * 7 % MANY_PARTS_KERNELS;
	}
	for (i = 0; i < MANY_PARTS_KERNELS / 2; i++)
		EXPECT_EQ(order[i] + 31,
			  run_kernel(self->queue, kernels[order[i]], self->buffer, 30));
	give_turns(turns, count);
	EXPECT_EQ(0, clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes,
				      NULL));
	EXPECT_LT(0, bytes);
	for (i = 0; i < MANY_PARTS_KERNELS; i++)
		EXPECT_EQ(order[i] + 31,
			  run_kernel(self->queue, kernels[order[i]], self->buffer, 30));
	for (i = 0; i < MANY_PARTS_KERNELS; i++)
		clReleaseKernel(kernels[i]);
	EXPECT_EQ(0, clReleaseProgram(program));
}

/* Parts of a GPU have one instruction set: none waits for the code of another. */
TEST(what_is_compiled_for_a_device_is_shared_until_it_is_built_again)
{
	const cl_device_partition_property halves[] = { CL_DEVICE_PARTITION_EQUALLY, 2, 0 };
	char path[] = "/tmp/salvo-slow-XXXXXX", log[1000];
	cl_command_queue queue;
	cl_device_id parts[2];
	cl_context context;
	cl_program program;
	cl_kernel kernel;
	cl_mem buffer;
	cl_int err;
	int i;

	if (getenv("SALVO_DEVICE"))
		SKIP(return, "the embedded GPU is enough");
	setenv("SALVO_TOPOLOGY", "1x4", 1);
	ASSERT_EQ(0, clCreateSubDevices(ocl_device(), halves, 2, parts, NULL));
	context = clCreateContext(NULL, 2, parts, NULL, NULL, &err);
	ASSERT_EQ(0, err);
	buffer = clCreateBuffer(context, 0, 64, NULL, &err);
	ASSERT_EQ(0, err);
	program = build_behind_gate(context, path, give,
		"#if K == 2\n#warning two\n#endif\n"
		"kernel void store(global int *out, int n) { out[get_global_id(0)] = n + K; }\n");
	ASSERT_NE(NULL, program);
	ASSERT_EQ(0, clBuildProgram(program, 1, parts, "-DK=3", NULL, NULL));
	kernel = clCreateKernel(program, "store", &err);
	ASSERT_EQ(0, err);
	open_gate(path);
	for (i = 0; i < 2; i++) {
		queue = clCreateCommandQueueWithProperties(context, parts[i], NULL, &err);
		ASSERT_EQ(0, err);
		EXPECT_EQ(i ? 8 : 9, run_kernel(queue, kernel, buffer, 6));
		EXPECT_EQ(0, clGetProgramBuildInfo(program, parts[i], CL_PROGRAM_BUILD_LOG,
						   sizeof(log), log, NULL));
		EXPECT_EQ(!i, !strstr(log, "two"));
		EXPECT_EQ(0, clReleaseCommandQueue(queue));
		EXPECT_EQ(0, clReleaseDevice(parts[i]));
	}
	forget_gate(path);
	EXPECT_EQ(0, clReleaseKernel(kernel));
	EXPECT_EQ(0, clReleaseProgram(program));
	EXPECT_EQ(0, clReleaseMemObject(buffer));
	EXPECT_EQ(0, clReleaseContext(context));
}

/* The compiler dies when there are kernels: they cannot be enqueued, and the build has failed. */
TEST_F(program, a_kernel_whose_code_is_never_made_is_not_enqueued)
{
	char path[] = "/tmp/salvo-crash-XXXXXX";
	const size_t items = 16;
	cl_build_status status;
	cl_program program;
	cl_kernel kernel;
	cl_ulong bytes;
	int n = 0;
	cl_int err;

	if (getenv("SALVO_DEVICE"))
		SKIP(return, "the embedded GPU is enough");
	program = build_behind_gate(self->context, path, "rm $out; kill -SEGV $$", store);
	ASSERT_NE(NULL, program);
	kernel = create_store(program, self->buffer, n);
	ASSERT_NE(NULL, kernel);
	open_gate(path);
	EXPECT_EQ(CL_INVALID_PROGRAM_EXECUTABLE,
		  clEnqueueNDRangeKernel(self->queue, kernel, 1, NULL, &items, NULL, 0, NULL,
					 NULL));
	EXPECT_EQ(CL_INVALID_PROGRAM_EXECUTABLE,
		  clGetKernelWorkGroupInfo(kernel, NULL, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof(bytes),
					   &bytes, NULL));
	clCloneKernel(kernel, &err);
	EXPECT_EQ(CL_INVALID_PROGRAM_EXECUTABLE, err);
	EXPECT_EQ(0, clGetProgramBuildInfo(program, self->device, CL_PROGRAM_BUILD_STATUS,
					   sizeof(status), &status, NULL));
	EXPECT_EQ(CL_BUILD_ERROR, status);
	/* Arguments are of no use any more, but can be set. */
	EXPECT_EQ(0, clSetKernelArg(kernel, 1, sizeof(n), &n));
	forget_gate(path);
	EXPECT_EQ(0, clReleaseKernel(kernel));
	EXPECT_EQ(0, clReleaseProgram(program));
}

/* It dies when it has found no error: creating the kernel fails, and then the build has. */
TEST_F(program, a_compiler_that_dies_behind_its_check_fails_the_build)
{
	char path[] = "/tmp/salvo-crash-XXXXXX", log[400] = "";
	cl_build_status status;
	cl_program program;
	size_t size = 1;
	cl_int err;

	ASSERT_TRUE(use_script(path, ANNOUNCE_NOTHING "exec 3>&-\nkill -SEGV $$"));
	program = from_source(self->context, store);
	ASSERT_EQ(0, clBuildProgram(program, 0, NULL, "-DK=0", NULL, NULL));
	clCreateKernel(program, "store", &err);
	EXPECT_EQ(CL_INVALID_PROGRAM_EXECUTABLE, err);
	EXPECT_EQ(0, clGetProgramBuildInfo(program, self->device, CL_PROGRAM_BUILD_STATUS,
					   sizeof(status), &status, NULL));
	EXPECT_EQ(CL_BUILD_ERROR, status);
	EXPECT_EQ(0, clGetProgramBuildInfo(program, self->device, CL_PROGRAM_BUILD_LOG,
					   sizeof(log), log, NULL));
	EXPECT_NE(NULL, strstr(log, "died"));
	EXPECT_EQ(0, clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL));
	EXPECT_EQ(0, size);
	forget_script(path);
	/* With another compiler it can be built again. */
	ASSERT_EQ(0, clBuildProgram(program, 0, NULL, "-DK=0", NULL, NULL));
	EXPECT_EQ(0, clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL));
	EXPECT_LT(0, size);
	EXPECT_EQ(0, clReleaseProgram(program));
}

TEST_F(program, several_builds_at_once_call_back)
{
	struct done done = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
	cl_program programs[4];
	cl_build_status status;
	char options[32];
	int i;

	for (i = 0; i < 4; i++) {
		snprintf(options, sizeof(options), "-DK=%d", i);
		programs[i] = from_source(self->context, store);
		EXPECT_EQ(0, clBuildProgram(programs[i], 0, NULL, options, count_built, &done));
	}
	pthread_mutex_lock(&done.lock);
	while (done.count < 4)
		pthread_cond_wait(&done.changed, &done.lock);
	pthread_mutex_unlock(&done.lock);
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, clGetProgramBuildInfo(programs[i], self->device,
						   CL_PROGRAM_BUILD_STATUS, sizeof(status), &status,
						   NULL));
		EXPECT_EQ(CL_BUILD_SUCCESS, status);
		clReleaseProgram(programs[i]);
	}
}

TEST_F(program, a_sampler_of_another_context_is_refused)
{
	cl_program program = from_source(self->context,
		"kernel void k(sampler_t s, read_only image2d_t i, global float4 *o)\n"
		"{ *o = read_imagef(i, s, (int2)(0)); }\n");
	cl_sampler foreign, own;
	cl_context context;
	cl_kernel kernel;
	cl_int err;

	ASSERT_EQ(0, clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
	kernel = clCreateKernel(program, "k", &err);
	ASSERT_EQ(0, err);
	context = clCreateContext(NULL, 1, &self->device, NULL, NULL, &err);
	ASSERT_EQ(0, err);
	foreign = clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &err);
	ASSERT_EQ(0, err);
	own = clCreateSampler(self->context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(CL_INVALID_SAMPLER, clSetKernelArg(kernel, 0, sizeof(foreign), &foreign));
	EXPECT_EQ(0, clSetKernelArg(kernel, 0, sizeof(own), &own));
	EXPECT_EQ(0, clReleaseSampler(own));
	EXPECT_EQ(0, clReleaseSampler(foreign));
	EXPECT_EQ(0, clReleaseContext(context));
	EXPECT_EQ(0, clReleaseKernel(kernel));
	EXPECT_EQ(0, clReleaseProgram(program));
}

TEST_HARNESS_MAIN
