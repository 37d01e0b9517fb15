// SPDX-License-Identifier: MIT
/*
 * cascade.c - valid and damaged cascade files
 */
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "oracle/entries.h"
#include "cascade.h"

#define LBP_HEAD	"<opencv_storage><cascade><stageType>BOOST</stageType>" \
			"<featureType>LBP</featureType><height>24</height><width>24</width>" \
			"<featureParams><maxCatCount>256</maxCatCount></featureParams>"
#define LBP_STAGE(nodes, leaves) "<stages><_><stageThreshold>-1.5</stageThreshold>" \
			"<weakClassifiers><_><internalNodes>" nodes "</internalNodes>" \
			"<leafValues>" leaves "</leafValues></_></weakClassifiers></_></stages>"
#define LBP_FEATURE(rect) "<features><_><rect>" rect "</rect></_></features>"
#define TAIL		"</cascade></opencv_storage>"
#define LBP(nodes, leaves, rect) LBP_HEAD LBP_STAGE(nodes, leaves) LBP_FEATURE(rect) TAIL
#define NODE		"0 -1 0 1 2 3 4 5 6 7 8"

static int parse(const char *text, struct cascade **out)
{
	struct faces_error error = { "" };
	int r = cascade_parse(text, strlen(text), out, &error);

	/* A failure sets a message, success does not. */
	if (!r != !error.text[0])
		return 1;
	return r;
}

static int refused(const char *text)
{
	struct cascade *c;
	int r = parse(text, &c);

	if (r == 0)
		cascade_free(c);
	return r < 0;
}

TEST(smallest_lbp_cascade)
{
	struct cascade *c;

	ASSERT_EQ(0, parse(LBP(NODE, "-0.5 0.25", "0 0 8 8"), &c));
	EXPECT_EQ(CASCADE_LBP, c->type);
	EXPECT_EQ(24, c->width);
	EXPECT_EQ(1, c->stage_count);
	EXPECT_EQ(-1.5f - 1e-5f, c->stages[0].threshold);
	EXPECT_EQ(1, c->tree_count);
	EXPECT_TRUE(c->stumps);
	EXPECT_EQ(8, c->nodes[0].subset[7]);
	EXPECT_EQ(0, c->nodes[0].child[0]);
	EXPECT_EQ(-1, c->nodes[0].child[1]);
	EXPECT_EQ(0.25f, c->leaves[1]);
	EXPECT_EQ(8, c->features[0].rect[0].width);
	cascade_free(c);
}

TEST(old_haar_format)
{
	static const char text[] =
		"<opencv_storage><old type_id=\"opencv-haar-classifier\"><size>20 16</size><stages><_>"
		"<trees><_><_><feature><rects><_>1 2 3 4 -1.</_><_>1 2 3 2 2.</_></rects>"
		"<tilted>0</tilted></feature><threshold>0.5</threshold><left_val>1.5</left_val>"
		"<right_node>1</right_node></_><_><feature><rects><_>9 2 3 4 -1.</_></rects>"
		"<tilted>1</tilted></feature><threshold>-0.5</threshold><left_val>2.5</left_val>"
		"<right_val>3.5</right_val></_></_></trees><stage_threshold>7.</stage_threshold>"
		"</_></stages></old></opencv_storage>";
	struct cascade *c;

	ASSERT_EQ(0, parse(text, &c));
	EXPECT_EQ(CASCADE_HAAR, c->type);
	EXPECT_EQ(20, c->width);
	EXPECT_EQ(16, c->height);
	EXPECT_EQ(2, c->node_count);
	EXPECT_EQ(3, c->leaf_count);
	EXPECT_EQ(0, c->nodes[0].child[0]);
	EXPECT_EQ(1, c->nodes[0].child[1]);
	EXPECT_EQ(-1, c->nodes[1].child[0]);
	EXPECT_EQ(-2, c->nodes[1].child[1]);
	EXPECT_EQ(2.5f, c->leaves[1]);
	EXPECT_TRUE(c->tilted);
	EXPECT_FALSE(c->features[0].tilted);
	cascade_free(c);
}

TEST(wrong_indices)
{
	EXPECT_TRUE(refused(LBP("0 -1 1 1 2 3 4 5 6 7 8", "1 2", "0 0 8 8")));
	EXPECT_TRUE(refused(LBP("0 -1 -1 1 2 3 4 5 6 7 8", "1 2", "0 0 8 8")));
	EXPECT_TRUE(refused(LBP("1 -1 0 1 2 3 4 5 6 7 8", "1 2", "0 0 8 8")));
	EXPECT_TRUE(refused(LBP("0 -2 0 1 2 3 4 5 6 7 8", "1 2", "0 0 8 8")));
	EXPECT_TRUE(refused(LBP("0 -2147483648 0 1 2 3 4 5 6 7 8", "1 2", "0 0 8 8")));
}

TEST(tree_with_a_loop)
{
	struct cascade *c;

	ASSERT_EQ(0, parse(LBP("1 -2 0 1 2 3 4 5 6 7 8 0 -1 0 1 2 3 4 5 6 7 8", "1 2 3", "0 0 8 8"),
			   &c));
	EXPECT_FALSE(c->stumps);
	cascade_free(c);
	EXPECT_TRUE(refused(LBP("1 -2 0 1 2 3 4 5 6 7 8 1 -1 0 1 2 3 4 5 6 7 8", "1 2 3",
				"0 0 8 8")));
}

/* A tree that is a chain of nodes, any number of which a window may pass. */
static int load_chain(unsigned int nodes)
{
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);
	unsigned int i;
	int r;

	fputs(LBP_HEAD "<stages><_><stageThreshold>-1.5</stageThreshold><weakClassifiers><_>"
	      "<internalNodes>", f);
	for (i = 0; i + 1 < nodes; i++)
		fprintf(f, "%u -%u 0 1 2 3 4 5 6 7 8 ", i + 1, i);
	fprintf(f, "-%u -%u 0 1 2 3 4 5 6 7 8</internalNodes><leafValues>", i, i + 1);
	for (i = 0; i <= nodes; i++)
		fputs("1 ", f);
	fputs("</leafValues></_></weakClassifiers></_></stages>" LBP_FEATURE("0 0 8 8") TAIL, f);
	fclose(f);
	r = refused(text);
	free(text);
	return r;
}

/* OpenCV's own cascades have at most 3 nodes in a tree. */
TEST(tree_with_many_nodes)
{
	EXPECT_FALSE(load_chain(64));
	EXPECT_TRUE(load_chain(65));
}

TEST(features_out_of_the_window)
{
	EXPECT_TRUE(refused(LBP(NODE, "1 2", "1 0 8 8")));
	EXPECT_TRUE(refused(LBP(NODE, "1 2", "0 1 8 8")));
	EXPECT_TRUE(refused(LBP(NODE, "1 2", "-1 0 8 8")));
	EXPECT_TRUE(refused(LBP(NODE, "1 2", "0 0 0 8")));
	EXPECT_TRUE(refused(LBP(NODE, "1 2", "0 0 2147483647 8")));
	EXPECT_TRUE(refused(LBP(NODE, "1 2", "0 0 8")));
}

TEST(wrong_numbers)
{
	EXPECT_TRUE(refused(LBP("0 -1 0 1 2 3 4 5 6 7", "1 2", "0 0 8 8")));
	EXPECT_TRUE(refused(LBP("0 -1 0 1 2 3 4 5 6 7 8 9", "1 2", "0 0 8 8")));
	EXPECT_TRUE(refused(LBP("0 -1 0 1 2 3 4 5 6 7 99999999999", "1 2", "0 0 8 8")));
	EXPECT_TRUE(refused(LBP("", "1", "0 0 8 8")));
	EXPECT_TRUE(refused(LBP(NODE, "1", "0 0 8 8")));
	EXPECT_TRUE(refused(LBP(NODE, "1 2 3", "0 0 8 8")));
	EXPECT_TRUE(refused(LBP(NODE, "1 nan", "0 0 8 8")));
	EXPECT_TRUE(refused(LBP(NODE, "1 1e99", "0 0 8 8")));
	EXPECT_TRUE(refused(LBP(NODE, "1 two", "0 0 8 8")));
}

TEST(wrong_structure)
{
	EXPECT_TRUE(refused(""));
	EXPECT_TRUE(refused("<html></html>"));
	EXPECT_TRUE(refused("<opencv_storage></opencv_storage>"));
	EXPECT_TRUE(refused(LBP_HEAD TAIL));
	EXPECT_TRUE(refused(LBP_HEAD LBP_STAGE(NODE, "1 2") TAIL));
	EXPECT_TRUE(refused(LBP_HEAD "<stages><_><stageThreshold>1</stageThreshold></_></stages>"
			    LBP_FEATURE("0 0 8 8") TAIL));
	EXPECT_TRUE(refused(LBP(NODE, "1 2", "0 0 8 8") "<more/>"));
	EXPECT_TRUE(refused("<opencv_storage><cascade><stageType>BOOST</stageType>"
			    "<featureType>HOG</featureType></cascade></opencv_storage>"));
}

TEST(entities_are_refused)
{
	EXPECT_TRUE(refused("<!DOCTYPE a [<!ENTITY b \"cccccccc\">]>" LBP(NODE, "1 2", "0 0 8 8")));
	EXPECT_TRUE(refused("<!DOCTYPE a SYSTEM \"/etc/passwd\">" LBP(NODE, "1 2", "0 0 8 8")));
}

TEST(deep_nesting_is_refused)
{
	char *text = calloc(1, 4 * 100000 + 1);
	int i;

	for (i = 0; i < 100000; i++)
		memcpy(text + 3 * i, "<a>", 3);
	EXPECT_TRUE(refused(text));
	free(text);
}

/*
 * A real file truncated at many places, and with single bytes changed: no crash, no partial result.
 */
TEST(damaged_files)
{
	static const char path[] = "/usr/share/opencv4/lbpcascades/lbpcascade_frontalface.xml";
	struct faces_error error;
	struct cascade *c;
	FILE *f = fopen(path, "r");
	char *text = NULL, *copy;
	size_t room = 0, i;
	ssize_t size;

	ASSERT_NE(NULL, f);
	size = getdelim(&text, &room, 0, f);
	fclose(f);
	ASSERT_LT(50000, size);
	for (i = 0; i < (size_t)size - 20; i += 997)
		EXPECT_GT(0, cascade_parse(text, i, &c, &error));

	copy = malloc(size);
	srand(2);
	for (i = 0; i < 300; i++) {
		memcpy(copy, text, size);
		copy[rand() % size] = rand();
		copy[rand() % size] = "<>-9 \n"[rand() % 6];
		if (!cascade_parse(copy, size, &c, &error))
			cascade_free(c);
	}
	free(copy);
	free(text);
}

TEST(files_that_are_none)
{
	struct faces_error error;
	struct cascade *c;

	EXPECT_EQ(-ENOENT, cascade_load("/nonexistent.xml", &c, &error));
	EXPECT_NE(NULL, strstr(error.text, "/nonexistent.xml"));
	EXPECT_EQ(-EINVAL, cascade_load("/dev/zero", &c, &error));
	EXPECT_EQ(-EINVAL, cascade_load("/", &c, &error));
	cascade_free(NULL);
}

TEST_HARNESS_MAIN
