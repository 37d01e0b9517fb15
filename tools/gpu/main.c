// SPDX-License-Identifier: MIT
/*
 * main.c - the GPU as a process, behind a PCI function of QEMU
 *
 * Two processes. The supervisor, which is this program's main(), holds what must
 * survive: the socket to QEMU, the memory of BAR2, the eventfds. It forks the
 * worker, which is the GPU. When a worker dies, the supervisor waits until all processes of
 * its address spaces are gone too, and forks the next one with the next generation; QEMU
 * notices nothing and the guest's driver is told by SALVO_VECTOR_LOST. The supervisor has
 * one thread, so forking is safe, and never reads guest memory, so a guest cannot harm it. It
 * keeps its user, but only those capabilities that it needs when that is root.
 *
 * The worker in turn has a process for each GPU address space, in a sandbox (space.c of the
 * device); with --threads all kernels run in the worker. A worker gives up its user if
 * that is root, all capabilities, and most system calls once it is ready (confine.c).
 *
 * The FIFO of --control is the supervisor's too, and every worker reads it.
 *
 * The socket exists from the moment that the GPU is ready until QEMU has connected.
 * When QEMU closes its end, or on SIGTERM or SIGINT, both processes end. The worker
 * dies with the supervisor in any case (PR_SET_PDEATHSIG).
 *
 * Exit codes: 0 ended as asked, 1 something failed, 2 wrong usage.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "confine.h"
#include "inject.h"
#include "link_pci.h"
#include "salvo_gpu.h"
#include "salvo_hw.h"
#include "sandbox.h"
#include "topology.h"

/* Exit code of a worker that could not create its GPU: the next could not either. */
#define EXIT_NO_GPU	3

/* So many workers in a row that live less than a second are enough. */
#define MAX_SHORT_LIVES	5
#define SEND_TIMEOUT_SECONDS 5
#define STOP_TIMEOUT_MS	2000

struct options {
	const char *socket_path;
	const char *ram_path;
	uint64_t bar_bytes;
	unsigned int units;
	const char *topology;
	const char *inject;
	const char *control_path;
	bool threads;
	bool verbose;
};

struct supervisor {
	struct options options;
	struct salvo_link *link;
	/* SIGTERM, SIGINT, SIGHUP and SIGCHLD */
	int signal_fd;
	/* While no QEMU has connected; its path exists as long. */
	int listen_fd;
	int qemu_fd;
	/* FIFO of --control, or -1 */
	int control_fd;

	pid_t worker;
	uint32_t generation;
	time_t worker_start;
	unsigned int short_lives;
};

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void complain(const char *format, ...)
{
	va_list args;

	fputs("salvo-gpu: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

#define tell(sv, ...) \
	do { \
		if ((sv)->options.verbose) \
			complain(__VA_ARGS__); \
	} while (0)

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* --- options --------------------------------------------------------------- */

static const char usage[] =
	"usage: salvo-gpu --socket PATH --ram FILE [options]\n"
	"\n"
	"A Salvo GPU for a QEMU that is started with\n"
	"  -object memory-backend-file,id=ram,mem-path=FILE,share=on,size=...\n"
	"  -machine q35,memory-backend=ram -smp 2 -accel tcg,thread=multi\n"
	"  -chardev socket,id=gpu,path=PATH -device ivshmem-doorbell,chardev=gpu,vectors=4\n"
	"\n"
	"  -s, --socket PATH   UNIX socket to listen on for QEMU; must not exist\n"
	"  -r, --ram FILE      the guest's memory, at most 2G; must have its final size\n"
	"      --vram SIZE     size of the memory bar, a power of two from 2M to 4G, of\n"
	"                      which 1M holds the registers (default 256M)\n"
	"  -u, --units N       execution units, at most 64 (default one for each core)\n"
	"  -t, --topology T    units and nodes other than the machine's: 4, 2x4 (2 nodes of 4), 4+2x2;\n"
	"                      2x4,far=1:2000ns makes node 1 far, with that latency added\n"
	"      --threads       no process for each address space: kernels are not kept apart\n"
	"      --inject F      have faults with batches counted from 1: lost-irq@3,late-fence@5:200ms,\n"
	"                      wrong-seqno@6,wrong-seqno@7:+5,corrupt@8:fence (or magic, head),\n"
	"                      bad-result@9,stuck-units@10,crash@11\n"
	"      --control PATH  make a FIFO; a line like F written to it is for batches from then on\n"
	"  -v, --verbose       tell what happens\n"
	"  -h, --help          this text\n"
	"      --version       the version\n"
	"\n"
	"Ends when QEMU does. Exit code: 0 ended as asked, 1 failed, 2 wrong usage.\n";

static bool parse_number(const char *text, uint64_t limit, uint64_t *out, const char **rest)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	*rest = end;
	return errno == 0 && *out <= limit;
}

/* A number with K, M or G behind it, or nothing. */
static bool parse_size(const char *text, uint64_t *out)
{
	static const char units[] = "KMG";
	const char *rest, *unit;

	if (!parse_number(text, UINT64_MAX >> 30, out, &rest))
		return false;
	if (!*rest)
		return true;
	unit = strchr(units, *rest);
	if (!unit || rest[1])
		return false;
	*out <<= 10 * (unit - units + 1);
	return true;
}

static int parse_options(int argc, char **argv, struct options *options)
{
	enum { OPTION_VRAM = 256, OPTION_THREADS, OPTION_INJECT, OPTION_CONTROL };
	static const struct option known[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "ram", required_argument, NULL, 'r' },
		{ "vram", required_argument, NULL, OPTION_VRAM },
		{ "units", required_argument, NULL, 'u' },
		{ "topology", required_argument, NULL, 't' },
		{ "threads", no_argument, NULL, OPTION_THREADS },
		{ "inject", required_argument, NULL, OPTION_INJECT },
		{ "control", required_argument, NULL, OPTION_CONTROL },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	struct salvo_topology topology;
	char why[SALVO_TOPOLOGY_WHY], inject_why[SALVO_INJECT_WHY];
	struct salvo_inject inject;
	const char *rest;
	uint64_t number;
	int c;

	options->bar_bytes = 256ull << 20;
	while ((c = getopt_long(argc, argv, "s:r:u:t:vh", known, NULL)) != -1) {
		switch (c) {
		case 's':
			options->socket_path = optarg;
			break;
		case 'r':
			options->ram_path = optarg;
			break;
		case OPTION_VRAM:
			if (!parse_size(optarg, &number) || number < SALVO_LINK_MIN_BAR ||
			    number > SALVO_LINK_MAX_BAR || (number & (number - 1))) {
				complain("--vram %s: not a power of two from 2M to 4G", optarg);
				return EXIT_USAGE;
			}
			options->bar_bytes = number;
			break;
		case 'u':
			if (!parse_number(optarg, SALVO_MAX_UNITS, &number, &rest) || *rest ||
			    number == 0) {
				complain("--units %s: not a number from 1 to %d", optarg,
					 SALVO_MAX_UNITS);
				return EXIT_USAGE;
			}
			options->units = number;
			break;
		case 't':
			if (salvo_topology_parse(&topology, optarg, why)) {
				complain("--topology %s: %s", optarg, why);
				return EXIT_USAGE;
			}
			options->topology = optarg;
			break;
		case OPTION_THREADS:
			options->threads = true;
			break;
		case OPTION_INJECT:
			if (salvo_inject_parse(&inject, optarg, inject_why)) {
				complain("--inject %s", inject_why);
				return EXIT_USAGE;
			}
			options->inject = optarg;
			break;
		case OPTION_CONTROL:
			options->control_path = optarg;
			break;
		case 'v':
			options->verbose = true;
			break;
		case 'h':
		case 'V':
			exit(cli_other("salvo-gpu", usage, c));
		default:
			return cli_usage("salvo-gpu", usage);
		}
	}
	if (optind < argc) {
		complain("what is '%s'? See --help", argv[optind]);
		return EXIT_USAGE;
	}
	if (options->units && options->topology) {
		complain("--units and --topology: one of them, please");
		return EXIT_USAGE;
	}
	if (!options->socket_path || !options->ram_path) {
		complain("--socket and --ram are needed; see --help");
		return EXIT_USAGE;
	}
	return EXIT_SUCCESS;
}

/* --- the worker ------------------------------------------------------------ */

struct ready {
	int fd;
	bool threads;
};

/* From now on there are packets of the guest to read, and nothing more to open. */
static void worker_is_ready(void *cookie)
{
	const struct ready *ready = cookie;
	const int err = salvo_confine(ready->threads);

	if (err)
		complain("cannot give up system calls: %s", strerror(-err));
	if (err || write(ready->fd, "", 1) != 1)
		_exit(EXIT_NO_GPU);
	close(ready->fd);
}

static void complain_of_line(const char *why)
{
	complain("--control: %s", why);
}

/* Returns the exit code of the worker's process. */
static int worker_run(struct supervisor *sv, pid_t parent, int ready_fd)
{
	struct ready ready = { .fd = ready_fd, .threads = sv->options.threads };
	struct salvo_link_worker worker = {
		.units = sv->options.units,
		.topology = sv->options.topology,
		.isolation = sv->options.threads ? NULL : &salvo_processes,
		.generation = sv->generation,
		/* The next ones are to be well. */
		.inject = sv->generation == 1 ? sv->options.inject : NULL,
		.control_fd = sv->control_fd,
		.complain = complain_of_line,
		.ready = worker_is_ready,
		.cookie = &ready,
	};
	sigset_t stop, child;
	int err;

	/* It needs only what is open and mapped already. */
	if (!salvo_sandbox_drop_user()) {
		complain("cannot give up privileges: %s", strerror(errno));
		return EXIT_NO_GPU;
	}
	/* Afterwards, for a change of the user forgets it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return EXIT_FAILURE;
	prctl(PR_SET_NAME, "salvo-gpu-eu");

	/* Signals from a terminal go to both processes: the supervisor decides. */
	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_UNBLOCK, &child, NULL);
	close(sv->signal_fd);
	if (sv->listen_fd >= 0)
		close(sv->listen_fd);
	if (sv->qemu_fd >= 0)
		close(sv->qemu_fd);

	worker.stop_fd = signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK);
	err = worker.stop_fd < 0 ? -errno : salvo_link_serve(sv->link, &worker);
	salvo_link_destroy(sv->link);
	if (err) {
		complain("cannot create the GPU: %s", strerror(-err));
		return EXIT_NO_GPU;
	}
	return EXIT_SUCCESS;
}

/* Starts the next worker and waits until its GPU is ready. */
static int worker_start(struct supervisor *sv)
{
	pid_t parent = getpid();
	int ready[2];
	char byte;

	if (pipe2(ready, O_CLOEXEC) < 0)
		return -errno;
	sv->generation++;
	sv->worker_start = seconds();
	fflush(NULL);
	sv->worker = fork();
	if (sv->worker < 0) {
		int err = -errno;

		sv->worker = 0;
		close(ready[0]);
		close(ready[1]);
		return err;
	}
	if (sv->worker == 0) {
		close(ready[0]);
		exit(worker_run(sv, parent, ready[1]));
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) == 1)
		tell(sv, "generation %u of the GPU is process %d", sv->generation, (int)sv->worker);
	/* Else it has died already, which SIGCHLD tells. */
	close(ready[0]);
	return 0;
}

static void worker_stop(struct supervisor *sv)
{
	struct pollfd child = { .fd = sv->signal_fd, .events = POLLIN };
	int waited = 0;

	if (!sv->worker)
		return;
	kill(sv->worker, SIGTERM);
	/* SIGCHLD or any other signal wakes us; a GPU that does not end is killed. */
	while (waitpid(sv->worker, NULL, WNOHANG) == 0) {
		struct signalfd_siginfo info;

		if (waited >= STOP_TIMEOUT_MS)
			kill(sv->worker, SIGKILL);
		if (poll(&child, 1, 100) > 0)
			(void)!read(sv->signal_fd, &info, sizeof(info));
		waited += 100;
	}
	sv->worker = 0;
}

/*
 * The processes of the address spaces die with their worker, but not at once; until then they
 * write to VRAM and to the guest's memory, of which the next worker will say that nobody does.
 */
static void bury_orphans(void)
{
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

/* Looks after SIGCHLD. Returns 0, or -1 if there is no sense in going on. */
static int worker_reap(struct supervisor *sv)
{
	int status, err;

	if (!sv->worker || waitpid(sv->worker, &status, WNOHANG) != sv->worker)
		return 0;
	sv->worker = 0;
	bury_orphans();
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_GPU)
		return -1;
	if (WIFSIGNALED(status))
		complain("generation %u of the GPU died: %s", sv->generation,
			 strsignal(WTERMSIG(status)));
	else
		complain("generation %u of the GPU ended with code %d", sv->generation,
			 WEXITSTATUS(status));

	sv->short_lives = seconds() - sv->worker_start < 1 ? sv->short_lives + 1 : 0;
	if (sv->short_lives == MAX_SHORT_LIVES) {
		complain("%d GPUs in a row died at once; giving up", MAX_SHORT_LIVES);
		return -1;
	}
	err = worker_start(sv);
	if (err) {
		complain("cannot start the next GPU: %s", strerror(-err));
		return -1;
	}
	return 0;
}

/* --- QEMU ------------------------------------------------------------------ */

/*
 * The path must not exist before the socket listens, or a client that waits for it may
 * be refused: the socket is bound beside it and linked to its name when it is ready.
 */
static int listen_start(struct supervisor *sv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = sv->options.socket_path;
	int fd;

	if (strlen(path) + 1 >= sizeof(address.sun_path)) {
		complain("%s: longer than %zu bytes", path, sizeof(address.sun_path) - 2);
		return -1;
	}
	strcat(strcpy(address.sun_path, path), "~");
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		complain("%s: %s", address.sun_path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (listen(fd, 1) < 0 || link(address.sun_path, path) < 0) {
		complain("%s: %s", path, strerror(errno));
		unlink(address.sun_path);
		close(fd);
		return -1;
	}
	unlink(address.sun_path);
	sv->listen_fd = fd;
	return 0;
}

static void listen_stop(struct supervisor *sv)
{
	if (sv->listen_fd < 0)
		return;
	unlink(sv->options.socket_path);
	close(sv->listen_fd);
	sv->listen_fd = -1;
}

/* There is one guest: the socket goes when it has come. */
static int qemu_accept(struct supervisor *sv)
{
	const struct timeval timeout = { .tv_sec = SEND_TIMEOUT_SECONDS };
	int err;

	sv->qemu_fd = accept4(sv->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (sv->qemu_fd < 0) {
		if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR)
			return 0;
		complain("accept: %s", strerror(errno));
		return -1;
	}
	listen_stop(sv);
	setsockopt(sv->qemu_fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	err = salvo_link_greet(sv->link, sv->qemu_fd);
	if (err) {
		complain("QEMU does not listen: %s", strerror(-err));
		return -1;
	}
	tell(sv, "QEMU has connected");
	return 0;
}

/* QEMU sends nothing. Returns 1 when it has closed, -1 when it talks. */
static int qemu_look(struct supervisor *sv)
{
	char byte;
	ssize_t got = recv(sv->qemu_fd, &byte, 1, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got > 0) {
		complain("the other end of the socket talks: it is no ivshmem-doorbell");
		return -1;
	}
	tell(sv, "QEMU has closed");
	return 1;
}

/* --- the supervisor -------------------------------------------------------- */

/* Read and written, so that it has a writer always, and lines wait for the next worker. */
static int control_start(struct supervisor *sv)
{
	const char *path = sv->options.control_path;

	if (!path)
		return 0;
	if (mkfifo(path, 0600) < 0) {
		complain("--control %s: %s", path, strerror(errno));
		sv->options.control_path = NULL;
		return -1;
	}
	sv->control_fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (sv->control_fd < 0) {
		complain("--control %s: %s", path, strerror(errno));
		return -1;
	}
	return 0;
}

static void control_stop(struct supervisor *sv)
{
	if (sv->options.control_path)
		unlink(sv->options.control_path);
	if (sv->control_fd >= 0)
		close(sv->control_fd);
}

static int supervisor_init(struct supervisor *sv)
{
	const char *path = sv->options.ram_path;
	struct stat status;
	sigset_t signals;
	int fd, err;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	sv->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sv->signal_fd < 0) {
		complain("signalfd: %s", strerror(errno));
		return -1;
	}

	if (control_start(sv))
		return -1;

	/* What a worker leaves is ours to bury. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);

	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) < 0) {
		complain("%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (!S_ISREG(status.st_mode) || status.st_size == 0 || status.st_size % 4096 ||
	    (uint64_t)status.st_size > SALVO_LINK_MAX_RAM) {
		complain("%s: not a file of whole pages, at most 2G, that can be a guest's memory",
			 path);
		close(fd);
		return -1;
	}
	err = salvo_link_create(fd, status.st_size, sv->options.bar_bytes, &sv->link);
	close(fd);
	if (err) {
		complain("cannot make the memory and eventfds: %s", strerror(-err));
		return -1;
	}
	return 0;
}

static void supervisor_fini(struct supervisor *sv)
{
	listen_stop(sv);
	if (sv->qemu_fd >= 0)
		close(sv->qemu_fd);
	worker_stop(sv);
	salvo_link_destroy(sv->link);
	control_stop(sv);
	if (sv->signal_fd >= 0)
		close(sv->signal_fd);
}

/* Returns 0 to go on, 1 to end as asked, -1 to end because of an error. */
static int supervisor_signal(struct supervisor *sv)
{
	struct signalfd_siginfo info;

	if (read(sv->signal_fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	if (info.ssi_signo != SIGCHLD)
		return 1;
	return worker_reap(sv);
}

/*
 * All is open by now but the socket. Where this is root it still makes and removes that,
 * wherever it is; starts workers, which give up that user; and ends them.
 */
static int supervisor_drop(void)
{
	const uint32_t needed = 1u << CAP_DAC_OVERRIDE | 1u << CAP_KILL | 1u << CAP_SETUID |
				1u << CAP_SETGID;
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, data))
		return -1;
	data[0].effective &= needed;
	data[0].permitted &= needed;
	data[1].effective = 0;
	data[1].permitted = 0;
	data[0].inheritable = 0;
	data[1].inheritable = 0;
	return syscall(SYS_capset, &head, data) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -1 : 0;
}

static int supervisor_run(struct supervisor *sv)
{
	int end = 0, err;

	if (supervisor_drop()) {
		complain("cannot give up capabilities: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	err = worker_start(sv);
	if (err) {
		complain("cannot start the GPU: %s", strerror(-err));
		return EXIT_FAILURE;
	}
	if (listen_start(sv) < 0)
		return EXIT_FAILURE;

	while (!end) {
		struct pollfd polled[] = {
			{ .fd = sv->signal_fd, .events = POLLIN },
			{ .fd = sv->listen_fd, .events = POLLIN },
			{ .fd = sv->qemu_fd, .events = POLLIN },
		};

		if (poll(polled, 3, -1) < 0)
			continue;
		if (polled[0].revents)
			end = supervisor_signal(sv);
		if (!end && polled[1].revents)
			end = qemu_accept(sv);
		if (!end && polled[2].revents)
			end = qemu_look(sv);
	}
	return end > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct supervisor sv = {
		.signal_fd = -1, .listen_fd = -1, .qemu_fd = -1, .control_fd = -1,
	};
	int code;

	code = parse_options(argc, argv, &sv.options);
	if (code)
		return code;
	code = EXIT_FAILURE;
	if (supervisor_init(&sv) == 0)
		code = supervisor_run(&sv);
	supervisor_fini(&sv);
	return code;
}
