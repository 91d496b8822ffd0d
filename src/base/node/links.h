/* SPDX-License-Identifier: BSD-3-Clause */
/* links.h - how much the network links of this node can carry */
#ifndef WEIR_BASE_NODE_LINKS_H
#define WEIR_BASE_NODE_LINKS_H

/* Bytes a second of all links of hardware that are up, each once: ports of InfiniBand and the like,
 * and network interfaces that are no such port, no part of another one (SR-IOV), and not made of
 * others (bond, bridge, VLAN). sys: "/sys". Local. NaN: there is none, or one does not tell its
 * speed. */
double weir_links_rate(const char *sys);

#endif
