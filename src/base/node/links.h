/* SPDX-License-Identifier: BSD-3-Clause */
/* links.h - how much the network links of this node can carry */
#ifndef WEIR_BASE_NODE_LINKS_H
#define WEIR_BASE_NODE_LINKS_H

/* Return the bytes a second of all hardware links that are up, each once. Links are ports of
 * InfiniBand and the like, and network interfaces. Left out are interfaces that are such a
 * port, part of another one (SR-IOV), or made of others (bond, bridge, VLAN). sys: "/sys".
 * Local. NaN: there is none, or one does not report its speed. */
double weir_links_rate(const char *sys);

#endif
