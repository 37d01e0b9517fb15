// SPDX-License-Identifier: MIT
/*
 * image.c - images
 */
#include <stdlib.h>

#include "memory.h"

void salvo_cl_image_fini(cl_mem mem)
{
	unsigned int i;

	if (!mem->image)
		return;
	for (i = 0; mem->image->views && i < mem->context->gpu_count; i++)
		salvo_image_destroy(mem->image->views[i]);
	free(mem->image->views);
	free(mem->image);
}
