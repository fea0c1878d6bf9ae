/* SPDX-License-Identifier: Apache-2.0 */
/* agent/requests.h - gives threads the request contexts that the program names (core/request.h). */
#ifndef LC_AGENT_REQUESTS_H
#define LC_AGENT_REQUESTS_H

/*
 * Classes that are transformed from now on get hooks, so contexts can follow virtual threads.
 * Context: [attach].
 */
void lc_requests_open(void);

#endif
