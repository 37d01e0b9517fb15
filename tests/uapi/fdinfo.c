// SPDX-License-Identifier: MIT
/*
 * fdinfo.c - usage statistics, in the format of the kernel's drm-usage-stats
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "dmabuf.h"
#include "slot_client.h"

FIXTURE(fdinfo) {
	int fd;
	uint32_t ctx;
	struct bo bo;
};

FIXTURE_SETUP(fdinfo)
{
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(bo_create(self->fd, 8 << 20, 0, &self->bo), 0);
}

FIXTURE_TEARDOWN(fdinfo)
{
	close(self->fd);
}

/* The value of a key as text, without unit if @unit is that; false if there is none. */
static bool value(int fd, const char *key, char *text, size_t room, const char *unit)
{
	char path[64], line[256];
	size_t length = strlen(key);
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		char *at = line + length, *end;

		if (strncmp(line, key, length) || *at++ != ':')
			continue;
		at += strspn(at, " \t");
		end = at + strcspn(at, "\n");
		*end = 0;
		if (unit && (end - at < (long)strlen(unit) ||
			     strcmp(end - strlen(unit), unit)))
			break;
		if (unit)
			end[-(long)strlen(unit)] = 0;
		snprintf(text, room, "%s", at);
		found = true;
	}
	if (file)
		fclose(file);
	return found;
}

static int64_t number(int fd, const char *key, const char *unit)
{
	char text[256], *end;
	int64_t got;

	if (!value(fd, key, text, sizeof(text), unit))
		return -1;
	got = strtoll(text, &end, 10);
	return end != text && !*end ? got : -1;
}

TEST_F(fdinfo, names_driver_and_device)
{
	drmDevicePtr device;
	char text[256], pci[32];

	ASSERT_TRUE(value(self->fd, "drm-driver", text, sizeof(text), NULL));
	EXPECT_STREQ(text, "salvo");
	ASSERT_EQ(drmGetDevice2(self->fd, 0, &device), 0);
	ASSERT_EQ(device->bustype, DRM_BUS_PCI);
	snprintf(pci, sizeof(pci), "%04x:%02x:%02x.%d", device->businfo.pci->domain,
		 device->businfo.pci->bus, device->businfo.pci->dev, device->businfo.pci->func);
	drmFreeDevice(&device);
	ASSERT_TRUE(value(self->fd, "drm-pdev", text, sizeof(text), NULL));
	EXPECT_STREQ(text, pci);
}

/* Tools sum over descriptors, so those of one file have the same client id. */
TEST_F(fdinfo, client_is_the_open_file)
{
	int copy = dup(self->fd), other = node_open();

	EXPECT_GE(number(self->fd, "drm-client-id", NULL), 0);
	EXPECT_EQ(number(copy, "drm-client-id", NULL), number(self->fd, "drm-client-id", NULL));
	EXPECT_NE(number(other, "drm-client-id", NULL), number(self->fd, "drm-client-id", NULL));
	close(copy);
	close(other);
}

TEST_F(fdinfo, engine_time_is_what_units_spent)
{
	struct drm_salvo_command command = fill(self->bo.address, self->bo.size, 1);
	int64_t units = number(self->fd, "drm-engine-capacity-eu", NULL), before, after;
	int other = node_open(), i;
	int64_t start;

	ASSERT_GT(units, 0);
	before = number(self->fd, "drm-engine-eu", " ns");
	EXPECT_EQ(before, 0);
	start = now_ns();
	for (i = 0; i < 8; i++)
		ASSERT_EQ(run(self->fd, self->ctx, &command, 1), 0);
	after = number(self->fd, "drm-engine-eu", " ns");
	EXPECT_GT(after, 0);
	EXPECT_LE(after, (now_ns() - start) * units);
	EXPECT_EQ(number(other, "drm-engine-eu", " ns"), 0);
	close(other);
}

TEST_F_TIMEOUT(fdinfo, engine_time_includes_tasks_in_slots, 60)
{
	struct drm_salvo_device_info info;
	struct client client;
	unsigned int i;

	ASSERT_EQ(client_open(&client), 0);
	ASSERT_EQ(device_info(client.fd, &info), 0);
	if (!info.max_slots)
		SKIP(return, "the GPU has no slots");
	ASSERT_EQ(attach(&client), 0);
	EXPECT_EQ(number(client.fd, "drm-engine-eu", " ns"), 0);
	ASSERT_EQ(run_task(&client, count, 0, 10000000), SALVO_SLOT_DONE);
	/* It is counted some times a second while the slot is attached, and at its end. */
	for (i = 0; i < 100 && !number(client.fd, "drm-engine-eu", " ns"); i++)
		usleep(100000);
	EXPECT_GT(number(client.fd, "drm-engine-eu", " ns"), 0);
	EXPECT_EQ(number(self->fd, "drm-engine-eu", " ns"), 0);
	client_close(&client);
}

TEST_F(fdinfo, memory_is_that_of_the_file)
{
	const uint64_t size = self->bo.size >> 10;
	int other = node_open(), prime;
	struct bo more;

	EXPECT_EQ(number(self->fd, "drm-total-vram", " KiB"), size);
	EXPECT_EQ(number(self->fd, "drm-memory-vram", " KiB"), size);
	EXPECT_EQ(number(self->fd, "drm-resident-vram", " KiB"), size);
	EXPECT_EQ(number(self->fd, "drm-shared-vram", " KiB"), 0);
	EXPECT_EQ(number(other, "drm-total-vram", " KiB"), 0);
	ASSERT_EQ(bo_create(self->fd, 1 << 20, 0, &more), 0);
	EXPECT_EQ(number(self->fd, "drm-total-vram", " KiB"), size + 1024);
	if (!drmPrimeHandleToFD(self->fd, more.handle, DRM_CLOEXEC, &prime)) {
		EXPECT_EQ(number(self->fd, "drm-shared-vram", " KiB"), 1024);
		close(prime);
	}
	EXPECT_EQ(bo_close(self->fd, &more), 0);
	EXPECT_EQ(number(self->fd, "drm-total-vram", " KiB"), size);
	close(other);
}

/* Imported memory counts as system memory, not as VRAM. */
TEST_F(fdinfo, imported_memory_is_the_systems)
{
	const uint64_t size = self->bo.size >> 10;
	int vgem = vgem_open();
	struct vgem_bo frame;
	uint32_t handle;

	if (vgem < 0)
		SKIP(return, "there is no vgem");
	ASSERT_EQ(vgem_create(vgem, 1 << 20, DRM_CLOEXEC | DRM_RDWR, &frame), 0);
	EXPECT_EQ(number(self->fd, "drm-total-system", " KiB"), 0);
	ASSERT_EQ(drmPrimeFDToHandle(self->fd, frame.fd, &handle), 0);
	EXPECT_EQ(number(self->fd, "drm-total-system", " KiB"), 1024);
	EXPECT_EQ(number(self->fd, "drm-shared-system", " KiB"), 1024);
	EXPECT_EQ(number(self->fd, "drm-total-vram", " KiB"), size);
	vgem_destroy(vgem, &frame);
	close(vgem);
}

TEST_HARNESS_MAIN
