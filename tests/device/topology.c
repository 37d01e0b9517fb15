// SPDX-License-Identifier: MIT
/*
 * topology.c - units and nodes: those of the machine and those of a specification
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "kselftest_harness.h"
#include "rig.h"
#include "topology.h"

TEST(a_text_tells_units_nodes_and_latencies)
{
	static const struct {
		const char *text;
		unsigned int units, nodes;
		uint64_t node[3];
		unsigned int far;	/* bits of nodes */
		uint32_t latency[3];
	} good[] = {
		{ "1", 1, 1, { 1 }, 0, { 0 } },
		{ "64", 64, 1, { ~0ull }, 0, { 0 } },
		{ "2x4", 8, 2, { 0xf, 0xf0 }, 0, { 0 } },
		{ "2x4,far=1:2000ns", 8, 2, { 0xf, 0xf0 }, 2, { 0, 2000 } },
		{ "2+1+3,far=2:5us,far=0", 6, 3, { 3, 4, 0x38 }, 5, { 0, 0, 5000 } },
		{ "1+2x2,far=1:1000us", 5, 3, { 1, 6, 0x18 }, 2, { 0, 1000000 } },
		{ "2x32", 64, 2, { 0xffffffff, ~0ull << 32 }, 0, { 0 } },
	};
	char why[SALVO_GPU_WHY];
	struct salvo_topology t;
	unsigned int i, n;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ASSERT_EQ(0, salvo_topology_parse(&t, good[i].text, why)) TH_LOG("%s", why);
		EXPECT_EQ(good[i].units, t.units);
		ASSERT_EQ(good[i].nodes, t.nodes);
		for (n = 0; n < t.nodes; n++) {
			EXPECT_EQ(good[i].node[n], t.node[n].units);
			EXPECT_EQ(good[i].far >> n & 1, t.node[n].far);
			EXPECT_EQ(good[i].latency[n], t.node[n].latency_ns);
		}
	}
}

TEST(a_wrong_text_is_refused_with_the_field_and_its_limit)
{
	static const char *const bad[][2] = {
		{ "", "units: a number is missing at ''" },
		{ "x4", "units: a number is missing at 'x4'" },
		{ "0", "units: not from 1 to 64" },
		{ "65", "units: not from 1 to 64" },
		{ "99999999999999999999999", "units: not from 1 to 64" },
		{ "2x33", "units: more than 64 in all" },
		{ "60+5", "units: more than 64 in all" },
		{ "2x", "units: a number is missing at ''" },
		{ "2x4+", "units: a number is missing at ''" },
		{ "2x4x2", "units: unexpected 'x2'" },
		{ "2x4 ", "units: unexpected ' '" },
		{ "-1", "units: a number is missing at '-1'" },
		{ "2x4,", "far=NODE is missing at ''" },
		{ "2x4,near=1", "far=NODE is missing at 'near=1'" },
		{ "2x4,far=2", "far: not from 0 to 1" },
		{ "2x4,far=", "far: a number is missing at ''" },
		{ "2x4,far=1,far=1", "far: node 1 is named twice" },
		{ "2x4,far=1:", "latency: a number is missing at ''" },
		{ "2x4,far=1:1000001ns", "latency: not from 0 to 1000000" },
		{ "2x4,far=1:1001us", "latency: more than 1000 us" },
		{ "2x4,far=1:10", "latency: ns or us is missing at ''" },
		{ "2x4,far=1:10ms", "latency: ns or us is missing at 'ms'" },
	};
	char why[SALVO_GPU_WHY];
	struct salvo_topology t;
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(-EINVAL, salvo_topology_parse(&t, bad[i][0], why)) TH_LOG("%s", bad[i][0]);
		EXPECT_STREQ(bad[i][1], why);
	}
}

TEST(a_unit_for_each_core_that_we_may_run_on)
{
	struct salvo_topology t;
	uint64_t all = 0;
	unsigned int i;
	cpu_set_t set;

	ASSERT_EQ(0, sched_getaffinity(0, sizeof(set), &set));
	ASSERT_EQ(0, salvo_topology_detect(&t, 0));
	EXPECT_EQ(CPU_COUNT(&set) < 64 ? CPU_COUNT(&set) : 64, t.units);
	for (i = 0; i < t.units; i++)
		EXPECT_TRUE(CPU_ISSET(t.core[i], &set));
	for (i = 0; i < t.nodes; i++) {
		EXPECT_NE(0, t.node[i].units);
		EXPECT_EQ(0, t.node[i].units & all);
		all |= t.node[i].units;
	}
	EXPECT_EQ(t.units == 64 ? ~0ull : (1ull << t.units) - 1, all);
}

/* hwloc can describe synthetic machines. */
TEST(nodes_follow_from_caches_and_memory)
{
	struct salvo_topology t;
	unsigned int i;

	setenv("HWLOC_SYNTHETIC", "numa:2 l3:2 core:2 pu:1", 1);
	ASSERT_EQ(0, salvo_topology_detect(&t, 0));
	EXPECT_EQ(8, t.units);
	ASSERT_EQ(4, t.nodes);
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(3ull << 2 * i, t.node[i].units);
		/* The queue is assumed in the first half of the memory. */
		EXPECT_EQ(i >= 2, t.node[i].far);
		EXPECT_EQ(0, t.node[i].latency_ns);
	}

	/* With more units than cores, cores are used several times. */
	ASSERT_EQ(0, salvo_topology_detect(&t, 10));
	EXPECT_EQ(10, t.units);
	ASSERT_EQ(4, t.nodes);
	EXPECT_EQ(0x303, t.node[0].units);
	EXPECT_EQ(t.core[1], t.core[9]);

	/* With fewer units the first cores are used. */
	ASSERT_EQ(0, salvo_topology_detect(&t, 3));
	EXPECT_EQ(3, t.units);
	EXPECT_EQ(2, t.nodes);

	setenv("HWLOC_SYNTHETIC", "core:100 pu:1", 1);
	ASSERT_EQ(0, salvo_topology_detect(&t, 0));
	EXPECT_EQ(64, t.units);
	EXPECT_EQ(1, t.nodes);
	EXPECT_FALSE(t.node[0].far);
}

TEST(a_gpu_has_the_units_and_nodes_of_the_text)
{
	struct rig *rig = rig_create_nodes("3x5+1,far=2:100ns");
	struct salvo_gpu_config config = rig->config;
	struct salvo_gpu *gpu;

	EXPECT_EQ(16, rig->regs->units);
	EXPECT_EQ(4, rig->regs->nodes);
	rig_stop(rig);
	config.units = 2;
	EXPECT_EQ(-EINVAL, salvo_gpu_create(&config, &gpu));
	config.units = 0;
	config.topology = "3x5+";
	EXPECT_EQ(-EINVAL, salvo_gpu_create(&config, &gpu));
	rig_destroy(rig);
}

TEST_HARNESS_MAIN
