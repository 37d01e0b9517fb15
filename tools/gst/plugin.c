// SPDX-License-Identifier: MIT
/*
 * plugin.c - a GStreamer plugin: salvofaces and salvobatch
 */
#include "plugin.h"

static gboolean plugin_init(GstPlugin *plugin)
{
	return GST_ELEMENT_REGISTER(salvofaces, plugin) &&
	       GST_ELEMENT_REGISTER(salvobatch, plugin);
}

#define PACKAGE "salvo"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, salvo,
		  "Batches of GPU workloads on video frames", plugin_init, TOOL_VERSION, "MIT",
		  "Salvo", "https://packages.debian.org/salvo")
