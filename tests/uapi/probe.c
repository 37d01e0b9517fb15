// SPDX-License-Identifier: MIT
/*
 * probe.c - devices that the driver refuses
 *
 * The registers are memory, so a test can write invalid values while the driver is unbound.
 * Each case changes one register; at the end the driver is bound again.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "binding.h"
#include "rendernode.h"
#include "salvo_hw.h"

FIXTURE(probe) {
	char pci[32];
	struct salvo_regs saved;
};

/*
 * Maps the registers of the unbound function; NULL on failure. Binding the driver zaps the
 * mapping, so each access maps them again.
 */
static struct salvo_regs *map_regs(const char *pci)
{
	char path[128];
	void *map;
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/resource2", pci);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	map = mmap(NULL, SALVO_REGS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

static bool poke(const char *pci, size_t offset, const void *value, size_t size)
{
	struct salvo_regs *regs = map_regs(pci);

	if (!regs)
		return false;
	memcpy((char *)regs + offset, value, size);
	munmap(regs, SALVO_REGS_BYTES);
	return true;
}

FIXTURE_SETUP(probe)
{
	struct salvo_regs *regs;
	glob_t found;

	ASSERT_EQ(glob(DRIVER "/*:*.*", 0, NULL, &found), 0);
	snprintf(self->pci, sizeof(self->pci), "%s", strrchr(found.gl_pathv[0], '/') + 1);
	globfree(&found);
	ASSERT_EQ(driver_unbind(self->pci), 0);
	regs = map_regs(self->pci);
	if (!regs) {
		driver_bind(self->pci);
		SKIP(return, "the kernel does not let us map the registers");
	}
	self->saved = *regs;
	munmap(regs, SALVO_REGS_BYTES);
}

FIXTURE_TEARDOWN(probe)
{
	int i;

	EXPECT_EQ(driver_bind(self->pci), 0);
	for (i = 0; i < 500 && !node_path(); i++)
		usleep(10000);
	EXPECT_NE(node_path(), NULL);
}

/* The driver refuses to bind while the register has the value. */
#define EXPECT_REFUSED(field, value) do {						\
	const size_t at = offsetof(struct salvo_regs, field);				\
	__typeof__(self->saved.field) wrong = value;					\
											\
	EXPECT_TRUE(poke(self->pci, at, &wrong, sizeof(wrong)));			\
	EXPECT_EQ(driver_bind(self->pci), -ENODEV);			\
	EXPECT_EQ(node_path(), NULL);							\
	EXPECT_TRUE(poke(self->pci, at, &self->saved.field, sizeof(wrong)));		\
} while (0)

TEST_F(probe, wrong_magic)
{
	EXPECT_REFUSED(magic, 0);
	EXPECT_REFUSED(magic, SALVO_MAGIC + 1);
}

TEST_F(probe, wrong_version)
{
	EXPECT_REFUSED(version, 0);
	EXPECT_REFUSED(version, SALVO_VERSION + (1 << 16));
}

TEST_F(probe, wrong_units)
{
	EXPECT_REFUSED(units, 0);
	EXPECT_REFUSED(units, SALVO_MAX_UNITS + 1);
}

TEST_F(probe, wrong_nodes)
{
	EXPECT_REFUSED(nodes, 0);
	EXPECT_REFUSED(nodes, self->saved.units + 1);
}

TEST_F(probe, wrong_rings)
{
	EXPECT_REFUSED(rings, 0);
}

TEST_F(probe, vram_does_not_fit_into_the_bar)
{
	EXPECT_REFUSED(vram_bytes, self->saved.vram_bytes + SALVO_REGS_BYTES);
	EXPECT_REFUSED(vram_bytes, 1ull << 63);
	EXPECT_REFUSED(vram_bytes, 0);
	EXPECT_REFUSED(vram_bytes, self->saved.vram_bytes - 1);
}

TEST_F(probe, wrong_vram_offset)
{
	EXPECT_REFUSED(vram_offset, 0);
	EXPECT_REFUSED(vram_offset, self->saved.vram_offset + 64);
	EXPECT_REFUSED(vram_offset, 1ull << 40);
}

TEST_F(probe, wrong_va_base)
{
	EXPECT_REFUSED(va_base, 0);
	EXPECT_REFUSED(va_base, self->saved.va_base + 1);
	EXPECT_REFUSED(va_base, -4096ull);
}

TEST_F(probe, wrong_window)
{
	EXPECT_REFUSED(va_bytes, self->saved.va_bytes + 1);
	EXPECT_REFUSED(va_bytes, -4096ull);
}

TEST_HARNESS_MAIN
