// SPDX-License-Identifier: MIT
/*
 * link_pci.c - salvo-gpu as QEMU and a guest's driver see it
 *
 * Each test starts build/bin/salvo-gpu with a RAM file of its own and plays QEMU (socket, eventfds)
 * and the driver (registers, ring, packets). Waits poll with a generous limit, which only tells a
 * result from a hang.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "sanitizer.h"
#include "salvo_hw.h"
#include "salvo_pack.h"

#define RAM_BYTES	(16ul << 20)
#define BAR_BYTES	(16ul << 20)
#define LIMIT_MS	10000

/* Where the tests place the driver's structures in the guest's RAM */
#define RING_ADDRESS	0x1000
#define RING_ENTRIES	16
#define PACKET_ADDRESS	0x10000
#define RESULT_ADDRESS	0x20000

struct gpu_process {
	char dir[64];
	char socket[96];
	char ram_path[96];
	pid_t pid;
};

struct guest {
	int sock;
	int bar_fd;
	int doorbell[SALVO_VECTORS];
	int vector[SALVO_VECTORS];
	volatile struct salvo_regs *regs;
	char *bar;
	char *ram;
	uint64_t seqno;
};

static void salvo_gpu_path(char *path)
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

	path[n < 0 ? 0 : n] = 0;
	/* BUILD/tests/device/link_pci */
	for (int i = 0; i < 3; i++)
		dirname(path);
	strcat(path, "/bin/salvo-gpu");
}

/* Runs salvo-gpu with the arguments; @quiet hides its messages. */
static pid_t gpu_exec(char *const argv[], bool quiet)
{
	char path[PATH_MAX + 32];
	pid_t pid;

	salvo_gpu_path(path);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (quiet) {
			int null = open("/dev/null", O_WRONLY);

			dup2(null, STDOUT_FILENO);
			dup2(null, STDERR_FILENO);
		}
		execv(path, argv);
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		_exit(127);
	}
	return pid;
}

static void sleep_ms(int ms)
{
	usleep(ms * 1000);
}

/* The value is that of the last look: what was met may have passed a moment later. */
#define WAIT_FOR(condition) \
	({ \
		bool met_; \
		int waited_ = 0; \
		while (!(met_ = (condition)) && waited_ < LIMIT_MS) { \
			sleep_ms(2); \
			waited_ += 2; \
		} \
		met_; \
	})

static int gpu_files(struct gpu_process *gpu, size_t ram_bytes)
{
	int fd;

	strcpy(gpu->dir, "/tmp/salvo-link.XXXXXX");
	if (!mkdtemp(gpu->dir))
		return -errno;
	snprintf(gpu->socket, sizeof(gpu->socket), "%s/socket", gpu->dir);
	snprintf(gpu->ram_path, sizeof(gpu->ram_path), "%s/ram", gpu->dir);
	fd = open(gpu->ram_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, ram_bytes) < 0)
		return -errno;
	close(fd);
	return 0;
}

static int gpu_start(struct gpu_process *gpu)
{
	char *argv[] = { "salvo-gpu", "--socket", gpu->socket, "--ram", gpu->ram_path,
			 "--vram", "16M", "--units", "2", NULL };
	int err = gpu_files(gpu, RAM_BYTES);

	if (err)
		return err;
	gpu->pid = gpu_exec(argv, true);
	return WAIT_FOR(access(gpu->socket, F_OK) == 0 || kill(gpu->pid, 0)) ? 0 : -ETIMEDOUT;
}

/* Exit code of salvo-gpu, or 256 + signal, or -1 if it does not end. */
static int gpu_wait(struct gpu_process *gpu)
{
	int status;

	if (!WAIT_FOR(waitpid(gpu->pid, &status, WNOHANG) != 0))
		return -1;
	gpu->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static void gpu_cleanup(struct gpu_process *gpu)
{
	if (gpu->pid > 0) {
		kill(gpu->pid, SIGKILL);
		waitpid(gpu->pid, NULL, 0);
	}
	unlink(gpu->socket);
	unlink(gpu->ram_path);
	rmdir(gpu->dir);
}

/* The only child of a process. 0 if there is none. */
static pid_t child_of(pid_t parent)
{
	char path[64];
	int pid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%d", &pid) != 1)
		pid = 0;
	fclose(file);
	return pid;
}

static pid_t gpu_worker(const struct gpu_process *gpu)
{
	return child_of(gpu->pid);
}

/* Also true for a zombie that nobody has reaped yet. */
static bool is_gone(pid_t pid)
{
	char path[64], state = 'Z';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return true;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 'Z';
	fclose(file);
	return state == 'Z';
}

/* --- QEMU's side ----------------------------------------------------------- */

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(sock, (struct sockaddr *)&address, sizeof(address)) < 0) {
		int err = -errno;

		close(sock);
		return err;
	}
	return sock;
}

/* One message of the protocol; *@fd is -1 if it carries none. */
static int receive(int sock, int64_t *number, int *fd)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec data = { .iov_base = number, .iov_len = sizeof(*number) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct pollfd readable = { .fd = sock, .events = POLLIN };
	struct cmsghdr *header;

	if (poll(&readable, 1, LIMIT_MS) != 1)
		return -ETIMEDOUT;
	if (recvmsg(sock, &message, MSG_CMSG_CLOEXEC) != sizeof(*number))
		return -EPROTO;
	*fd = -1;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return 0;
}

static int guest_attach(struct guest *guest, const struct gpu_process *gpu)
{
	int64_t number;
	int fd, ram_fd;

	guest->sock = connect_to(gpu->socket);
	if (guest->sock < 0)
		return guest->sock;
	for (int i = 0; i < 3 + 2 * SALVO_VECTORS; i++) {
		int err = receive(guest->sock, &number, &fd);

		if (err)
			return err;
		if (number == -1)
			guest->bar_fd = fd;
		else if (i >= 3 + SALVO_VECTORS)
			guest->vector[i - 3 - SALVO_VECTORS] = fd;
		else if (i >= 3)
			guest->doorbell[i - 3] = fd;
	}
	guest->bar = mmap(NULL, BAR_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, guest->bar_fd, 0);
	guest->regs = (void *)guest->bar;
	ram_fd = open(gpu->ram_path, O_RDWR | O_CLOEXEC);
	guest->ram = mmap(NULL, RAM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ram_fd, 0);
	close(ram_fd);
	return guest->bar == MAP_FAILED || guest->ram == MAP_FAILED ? -ENOMEM : 0;
}

/* --- the driver's side ----------------------------------------------------- */

static bool wait_vector(const struct guest *guest, int vector)
{
	struct pollfd raised = { .fd = guest->vector[vector], .events = POLLIN };
	eventfd_t count;

	return poll(&raised, 1, LIMIT_MS) == 1 && eventfd_read(raised.fd, &count) == 0;
}

static bool reset(struct guest *guest, uint32_t request)
{
	guest->regs->bus_master = 1;
	guest->regs->reset_request = request;
	__sync_synchronize();
	eventfd_write(guest->doorbell[SALVO_DOORBELL_RESET], 1);
	return WAIT_FOR(guest->regs->reset_ack == request);
}

static void ring_enable(struct guest *guest)
{
	volatile struct salvo_ring_regs *ring = &guest->regs->ring[0];

	ring->base = RING_ADDRESS;
	ring->entries = RING_ENTRIES;
	ring->tail = ring->head;
	__sync_synchronize();
	ring->enable = 1;
	guest->seqno = ring->fence;
}

/* One ring entry for the packet in RAM at @packet; returns its seqno. */
static uint64_t ring_submit(struct guest *guest, uint64_t packet, uint32_t bytes, uint32_t ctx)
{
	volatile struct salvo_ring_regs *ring = &guest->regs->ring[0];
	struct salvo_ring_entry *entries = (void *)(guest->ram + RING_ADDRESS);

	guest->seqno++;
	if (packet < RAM_BYTES)
		salvo_pack_set_fence(guest->ram + packet, guest->seqno);
	entries[ring->tail % RING_ENTRIES] = (struct salvo_ring_entry){
		.packet = packet,
		.packet_bytes = bytes,
		.flags = SALVO_RING_IRQ,
		.seqno = guest->seqno,
		.asid = 1,
		.ctx = ctx,
	};
	__sync_synchronize();
	ring->tail = ring->tail + 1;
	__sync_synchronize();
	eventfd_write(guest->doorbell[SALVO_DOORBELL_RING(0)], 1);
	return guest->seqno;
}

static bool wait_fence(const struct guest *guest, uint64_t seqno)
{
	return WAIT_FOR(guest->regs->ring[0].fence >= seqno);
}

static bool bind_page(struct guest *guest, uint64_t address)
{
	struct salvo_packet_result *result = (void *)(guest->ram + RESULT_ADDRESS);
	uint64_t seqno;

	*result = (struct salvo_packet_result){ 0 };
	salvo_pack_space(SALVO_OP_BIND, address, 4096, SALVO_ACCESS_READ | SALVO_ACCESS_WRITE,
			 RESULT_ADDRESS, guest->ram + PACKET_ADDRESS);
	seqno = ring_submit(guest, PACKET_ADDRESS, SALVO_PACK_SPACE_BYTES, 0);
	return wait_fence(guest, seqno) && result->status == SALVO_STATUS_DONE;
}

/* Submits a batch of one FILL; returns the seqno. */
static uint64_t submit_fill(struct guest *guest, uint64_t address, uint32_t pattern)
{
	const struct drm_salvo_command fill = {
		.type = DRM_SALVO_FILL, .dst = address, .size = 4096, .pattern = pattern,
	};
	const struct salvo_batch_desc batch = { .commands = &fill, .count = 1 };
	const struct salvo_packet_target target = {
		.asid = 1, .ctx = 1, .result = RESULT_ADDRESS,
	};

	memset(guest->ram + RESULT_ADDRESS, 0, sizeof(struct salvo_packet_result));
	salvo_pack_batch(&batch, &target, guest->ram + PACKET_ADDRESS);
	return ring_submit(guest, PACKET_ADDRESS, salvo_pack_bytes(&batch), 1);
}

/* --- with a running GPU ---------------------------------------------------- */

FIXTURE(link)
{
	struct gpu_process gpu;
	struct guest guest;
};

FIXTURE_SETUP(link)
{
	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, gpu_start(&self->gpu));
	ASSERT_EQ(0, guest_attach(&self->guest, &self->gpu));
}

FIXTURE_TEARDOWN(link)
{
	gpu_cleanup(&self->gpu);
}

TEST_F(link, registers_tell_the_gpu)
{
	volatile struct salvo_regs *regs = self->guest.regs;
	struct stat status;

	EXPECT_EQ(SALVO_MAGIC, regs->magic);
	EXPECT_EQ(SALVO_VERSION, regs->version);
	EXPECT_EQ(1, regs->generation);
	EXPECT_EQ(2, regs->units);
	EXPECT_EQ(1ul << 20, regs->vram_offset);
	EXPECT_EQ(BAR_BYTES - (1ul << 20), regs->vram_bytes);
	ASSERT_EQ(0, fstat(self->guest.bar_fd, &status));
	EXPECT_EQ((off_t)BAR_BYTES, status.st_size);
}

TEST_F(link, memory_cannot_be_resized_by_the_other_end)
{
	EXPECT_EQ(-1, ftruncate(self->guest.bar_fd, 4096));
	EXPECT_EQ(EPERM, errno);
}

TEST_F(link, heart_beats)
{
	uint32_t first = self->guest.regs->heartbeat;

	EXPECT_TRUE(WAIT_FOR(self->guest.regs->heartbeat - first > 2));
}

TEST_F(link, reset_is_acknowledged)
{
	EXPECT_TRUE(reset(&self->guest, 7));
	EXPECT_TRUE(reset(&self->guest, 8));
}

TEST_F(link, B11_packet_comes_by_dma_and_ends_in_an_interrupt)
{
	struct guest *guest = &self->guest;
	struct salvo_packet_result *result = (void *)(guest->ram + RESULT_ADDRESS);
	uint32_t *page = (void *)(guest->bar + guest->regs->vram_offset);
	uint64_t va = guest->regs->va_base;
	uint64_t seqno;

	NEED_SANDBOX();
	ASSERT_TRUE(reset(guest, 1));
	ring_enable(guest);
	ASSERT_TRUE(bind_page(guest, va));
	ASSERT_TRUE(wait_vector(guest, SALVO_VECTOR_FENCE));
	seqno = submit_fill(guest, va, 0x5a17a0);
	ASSERT_TRUE(wait_vector(guest, SALVO_VECTOR_FENCE));
	EXPECT_EQ(seqno, guest->regs->ring[0].fence);
	EXPECT_EQ(SALVO_STATUS_DONE, result->status);
	for (int i = 0; i < 1024; i++)
		ASSERT_EQ(0x5a17a0, page[i]);
	EXPECT_EQ(0, page[1024]);
}

TEST_F(link, dma_outside_the_guests_memory_is_a_fault)
{
	struct guest *guest = &self->guest;
	uint64_t seqno;

	ASSERT_TRUE(reset(guest, 1));
	ring_enable(guest);
	seqno = ring_submit(guest, RAM_BYTES, 4096, 1);
	EXPECT_TRUE(wait_vector(guest, SALVO_VECTOR_FAULT));
	EXPECT_TRUE(wait_fence(guest, seqno));
	EXPECT_EQ(SALVO_FAULT_DMA, guest->regs->fault.kind);
	EXPECT_EQ(seqno, guest->regs->fault.seqno);
}

TEST_F(link, crashed_worker_is_followed_by_the_next_generation)
{
	struct guest *guest = &self->guest;
	pid_t first = gpu_worker(&self->gpu);
	uint64_t va = guest->regs->va_base;

	if (!first)
		SKIP(return, "this kernel does not tell a process's children");
	ASSERT_TRUE(reset(guest, 1));
	ring_enable(guest);
	guest->bar[guest->regs->vram_offset] = 'x';

	kill(first, SIGSEGV);
	ASSERT_TRUE(wait_vector(guest, SALVO_VECTOR_LOST));
	EXPECT_EQ(2, guest->regs->generation);
	EXPECT_EQ(SALVO_MAGIC, guest->regs->magic);
	EXPECT_EQ(va, guest->regs->va_base);
	EXPECT_EQ(0, guest->regs->ring[0].enable);
	EXPECT_EQ('x', guest->bar[guest->regs->vram_offset]);
	EXPECT_NE(first, gpu_worker(&self->gpu));

	/* The connection is the same, and the GPU works. */
	ASSERT_TRUE(reset(guest, 2));
	ring_enable(guest);
	ASSERT_TRUE(bind_page(guest, va));
	EXPECT_TRUE(wait_fence(guest, submit_fill(guest, va, 1)));
}

TEST_F(link, worker_that_stops_is_followed_too)
{
	pid_t first = gpu_worker(&self->gpu);

	if (!first)
		SKIP(return, "this kernel does not tell a process's children");
	kill(first, SIGTERM);
	EXPECT_TRUE(wait_vector(&self->guest, SALVO_VECTOR_LOST));
	EXPECT_EQ(2, self->guest.regs->generation);
}

/* Without a zygote no batch of any context could run. */
TEST_F(link, worker_goes_with_its_zygote)
{
	const pid_t worker = gpu_worker(&self->gpu), zygote = worker ? child_of(worker) : 0;
	struct guest *guest = &self->guest;

	if (!zygote)
		SKIP(return, "this kernel does not tell a process's children");
	ASSERT_TRUE(reset(guest, 1));
	ring_enable(guest);
	kill(zygote, SIGKILL);
	ASSERT_TRUE(wait_vector(guest, SALVO_VECTOR_LOST));
	EXPECT_EQ(2, guest->regs->generation);
	ASSERT_TRUE(reset(guest, 2));
	ring_enable(guest);
	ASSERT_TRUE(bind_page(guest, guest->regs->va_base));
	EXPECT_TRUE(wait_fence(guest, submit_fill(guest, guest->regs->va_base, 1)));
}

/*
 * A process that the last worker left could still write to VRAM and to the guest's memory. Here its
 * zygote is a zombie that is not reaped before the test allows it.
 */
TEST_F(link, next_worker_waits_until_all_of_the_last_is_gone)
{
	const pid_t worker = gpu_worker(&self->gpu), zygote = worker ? child_of(worker) : 0;
	siginfo_t info;

	if (!zygote)
		SKIP(return, "this kernel does not tell a process's children");
	if (ptrace(PTRACE_SEIZE, zygote, NULL, NULL))
		SKIP(return, "tracing is not allowed");
	kill(worker, SIGKILL);
	ASSERT_EQ(0, waitid(P_PID, zygote, &info, WEXITED | WNOWAIT));
	sleep_ms(500);
	EXPECT_EQ(1, self->guest.regs->generation);
	ASSERT_EQ(zygote, waitpid(zygote, NULL, 0));
	EXPECT_TRUE(WAIT_FOR(self->guest.regs->generation == 2));
}

/*
 * On a loaded machine a worker may live for a second before the test kills it, which resets the
 * count of restarts. Until the supervisor has reaped it, the last worker's zygote is its child too;
 * then it is the zygote that is killed once more.
 */
TEST_F(link, gives_up_when_no_worker_lives)
{
	const pid_t supervisor = self->gpu.pid;
	pid_t last = 0, next;

	if (SANITIZER_RUNS)
		SKIP(return, "a worker lives too long before it can be killed");
	if (!gpu_worker(&self->gpu))
		SKIP(return, "this kernel does not tell a process's children");
	for (int i = 0; i < 100 && !is_gone(supervisor); i++) {
		next = 0;
		ASSERT_TRUE(WAIT_FOR(is_gone(supervisor) ||
				     ((next = gpu_worker(&self->gpu)) != 0 && next != last)));
		if (next)
			kill(next, SIGKILL);
		last = next;
	}
	EXPECT_EQ(1, gpu_wait(&self->gpu));
}

TEST_F(link, ends_with_qemu_and_leaves_nothing)
{
	pid_t worker = gpu_worker(&self->gpu);

	/* The socket is unlinked as soon as QEMU has connected. */
	EXPECT_EQ(-1, access(self->gpu.socket, F_OK));
	close(self->guest.sock);
	EXPECT_EQ(0, gpu_wait(&self->gpu));
	if (worker) {
		EXPECT_TRUE(WAIT_FOR(is_gone(worker)));
	}
}

TEST_F(link, ends_on_sigterm)
{
	pid_t worker = gpu_worker(&self->gpu);

	kill(self->gpu.pid, SIGTERM);
	EXPECT_EQ(0, gpu_wait(&self->gpu));
	if (worker) {
		EXPECT_TRUE(WAIT_FOR(is_gone(worker)));
	}
}

TEST_F(link, worker_dies_with_the_supervisor)
{
	pid_t worker = gpu_worker(&self->gpu);

	if (!worker)
		SKIP(return, "this kernel does not tell a process's children");
	kill(self->gpu.pid, SIGKILL);
	EXPECT_EQ(256 + SIGKILL, gpu_wait(&self->gpu));
	EXPECT_TRUE(WAIT_FOR(is_gone(worker)));
}

TEST_F(link, peer_that_talks_is_refused)
{
	ASSERT_EQ(8, write(self->guest.sock, "\0\0\0\0\0\0\0", 8));
	EXPECT_EQ(1, gpu_wait(&self->gpu));
}

/* --- start and end --------------------------------------------------------- */

FIXTURE(process)
{
	struct gpu_process gpu;
};

FIXTURE_SETUP(process)
{
	memset(self, 0, sizeof(*self));
}

FIXTURE_TEARDOWN(process)
{
	gpu_cleanup(&self->gpu);
}

TEST_F(process, greeting_is_that_of_ivshmem_server)
{
	struct pollfd more;
	int64_t number;
	int sock, fd;

	ASSERT_EQ(0, gpu_start(&self->gpu));
	sock = connect_to(self->gpu.socket);
	ASSERT_LE(0, sock);

	ASSERT_EQ(0, receive(sock, &number, &fd));
	EXPECT_EQ(0, number);
	EXPECT_EQ(-1, fd);
	ASSERT_EQ(0, receive(sock, &number, &fd));
	EXPECT_EQ(1, number);
	EXPECT_EQ(-1, fd);
	ASSERT_EQ(0, receive(sock, &number, &fd));
	EXPECT_EQ(-1, number);
	EXPECT_LE(0, fd);
	for (int i = 0; i < 2 * SALVO_VECTORS; i++) {
		ASSERT_EQ(0, receive(sock, &number, &fd));
		EXPECT_EQ(i / SALVO_VECTORS, number);
		EXPECT_LE(0, fd);
	}
	more = (struct pollfd){ .fd = sock, .events = POLLIN };
	EXPECT_EQ(0, poll(&more, 1, 50));
	EXPECT_GT(0, connect_to(self->gpu.socket));
}

TEST_F(process, ends_on_sigterm_before_qemu_came)
{
	ASSERT_EQ(0, gpu_start(&self->gpu));
	kill(self->gpu.pid, SIGTERM);
	EXPECT_EQ(0, gpu_wait(&self->gpu));
	EXPECT_EQ(-1, access(self->gpu.socket, F_OK));
}

TEST_F(process, qemu_that_leaves_at_once_is_no_harm)
{
	ASSERT_EQ(0, gpu_start(&self->gpu));
	close(connect_to(self->gpu.socket));
	EXPECT_LE(0, gpu_wait(&self->gpu));
	EXPECT_EQ(-1, access(self->gpu.socket, F_OK));
}

TEST_F(process, existing_socket_is_left_alone)
{
	char *argv[] = { "salvo-gpu", "--socket", self->gpu.ram_path, "--ram", self->gpu.ram_path,
			 NULL };

	ASSERT_EQ(0, gpu_files(&self->gpu, RAM_BYTES));
	self->gpu.pid = gpu_exec(argv, true);
	EXPECT_EQ(1, gpu_wait(&self->gpu));
	EXPECT_EQ(0, access(self->gpu.ram_path, F_OK));
}

TEST_F(process, ram_file_must_be_whole_pages)
{
	char *argv[] = { "salvo-gpu", "--socket", self->gpu.socket, "--ram", self->gpu.ram_path,
			 NULL };
	static const size_t bad[] = { 0, 4095, 4097 };

	ASSERT_EQ(0, gpu_files(&self->gpu, 4096));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ASSERT_EQ(0, truncate(self->gpu.ram_path, bad[i]));
		self->gpu.pid = gpu_exec(argv, true);
		EXPECT_EQ(1, gpu_wait(&self->gpu));
		EXPECT_EQ(-1, access(self->gpu.socket, F_OK));
	}
}

/* The first worker gets the fault by option, the second by the FIFO; the third has none. */
TEST_F(process, faults_come_when_they_are_wished_for)
{
	char control[128];
	char *argv[] = { "salvo-gpu", "--socket", self->gpu.socket, "--ram", self->gpu.ram_path,
			 "--vram", "16M", "--inject", "crash@2", "--control", control, NULL };
	struct guest guest = { .sock = -1 };
	uint64_t va;
	int fifo;

	ASSERT_EQ(0, gpu_files(&self->gpu, RAM_BYTES));
	snprintf(control, sizeof(control), "%s/control", self->gpu.dir);
	self->gpu.pid = gpu_exec(argv, true);
	ASSERT_TRUE(WAIT_FOR(access(self->gpu.socket, F_OK) == 0));
	ASSERT_EQ(0, guest_attach(&guest, &self->gpu));
	va = guest.regs->va_base;
	/* The option raises the FAULT vector, too. */
	ASSERT_TRUE(wait_vector(&guest, SALVO_VECTOR_FAULT));
	for (uint32_t generation = 1; generation <= 3; generation++) {
		ASSERT_EQ(generation, guest.regs->generation);
		ASSERT_TRUE(reset(&guest, generation));
		ring_enable(&guest);
		ASSERT_TRUE(bind_page(&guest, va));
		if (generation == 2) {
			fifo = open(control, O_WRONLY | O_CLOEXEC);
			ASSERT_LE(0, fifo);
			EXPECT_EQ(8, write(fifo, "crash@1\n", 8));
			EXPECT_TRUE(wait_vector(&guest, SALVO_VECTOR_FAULT));
			/* An invalid line changes nothing, a valid one replaces the list. */
			EXPECT_EQ(16, write(fifo, "crash@0\ncrash@2\n", 16));
			EXPECT_TRUE(wait_vector(&guest, SALVO_VECTOR_FAULT));
			close(fifo);
		}
		EXPECT_TRUE(wait_fence(&guest, submit_fill(&guest, va, 1)));
		if (generation == 3)
			break;
		submit_fill(&guest, va, 2);
		ASSERT_TRUE(wait_vector(&guest, SALVO_VECTOR_LOST));
	}
	EXPECT_TRUE(wait_fence(&guest, submit_fill(&guest, va, 3)));
	close(guest.sock);
	EXPECT_EQ(0, gpu_wait(&self->gpu));
	EXPECT_EQ(-1, access(control, F_OK));
}

TEST_F(process, wrong_usage_is_told_by_the_exit_code)
{
	char *wrong[][8] = {
		{ "salvo-gpu", NULL },
		{ "salvo-gpu", "--socket", "x", NULL },
		{ "salvo-gpu", "--ram", "x", NULL },
		{ "salvo-gpu", "--what", NULL },
		{ "salvo-gpu", "--socket", "x", "--ram", "x", "more", NULL },
		{ "salvo-gpu", "--vram", "3M", NULL },
		{ "salvo-gpu", "--vram", "1M", NULL },
		{ "salvo-gpu", "--vram", "8G", NULL },
		{ "salvo-gpu", "--vram", "-1", NULL },
		{ "salvo-gpu", "--vram", "16MB", NULL },
		{ "salvo-gpu", "--units", "0", NULL },
		{ "salvo-gpu", "--units", "65", NULL },
		{ "salvo-gpu", "--units", "2x", NULL },
		{ "salvo-gpu", "--inject", "crash@0", NULL },
		{ "salvo-gpu", "--inject", "crash@1,", NULL },
	};
	char *help[] = { "salvo-gpu", "--help", NULL };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		self->gpu.pid = gpu_exec(wrong[i], true);
		EXPECT_EQ(2, gpu_wait(&self->gpu)) {
			TH_LOG("usage %zu: %s", i, wrong[i][1] ?: "");
		}
	}
	self->gpu.pid = gpu_exec(help, true);
	EXPECT_EQ(0, gpu_wait(&self->gpu));
}

TEST_HARNESS_MAIN
