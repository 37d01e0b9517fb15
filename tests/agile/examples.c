// SPDX-License-Identifier: MIT
/* examples.c - the programs of examples.h on the nodes of one process */
#include "kselftest_harness.h"

#include "examples.h"

FIXTURE(example) {
	struct cluster c;
};

FIXTURE_SETUP(example)
{
	ASSERT_EQ(0, cluster_open(&self->c, NODES));
}

FIXTURE_TEARDOWN(example)
{
	cluster_close(&self->c);
}

static void run(struct __test_metadata *_metadata, struct cluster *c,
		int (*example)(struct example *e))
{
	struct example e = { c, c->agile, NODES, "" };

	ASSERT_EQ(0, example(&e)) TH_LOG("%s", e.why);
}

TEST_F_TIMEOUT(example, A5_c_is_a_plus_transposed_b, 120)
{
	run(_metadata, &self->c, example_c_is_a_plus_transposed_b);
}

TEST_F_TIMEOUT(example, A8_transpose_add_at_6144, 120)
{
	run(_metadata, &self->c, example_transpose_add_6144);
}

TEST_F_TIMEOUT(example, A5_stencil_with_halo, 120)
{
	run(_metadata, &self->c, example_stencil_with_halo);
}

TEST_F_TIMEOUT(example, A6_k_means_of_a_photo, 120)
{
	run(_metadata, &self->c, example_k_means_of_a_photo);
}

TEST_F_TIMEOUT(example, A7_summa_matrix_multiply, 120)
{
	run(_metadata, &self->c, example_summa_matrix_multiply);
}

TEST_F_TIMEOUT(example, A5_fourier_transform_of_two_dimensions, 120)
{
	run(_metadata, &self->c, example_fourier_transform_of_two_dimensions);
}

TEST_HARNESS_MAIN
