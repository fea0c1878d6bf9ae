/* SPDX-License-Identifier: Apache-2.0 */
/* base/attach_answer.h - what the agent's answers to `locus attach` and its like begin or end with.
 */
#ifndef LC_BASE_ATTACH_ANSWER_H
#define LC_BASE_ATTACH_ANSWER_H

/* A line that says how far the agent is, and that is no part of the answer. */
#define LC_ATTACH_PROGRESS "progress: "

/* The answer to a request that comes while another is worked off. The command asks again. */
#define LC_ATTACH_BUSY "Locus is busy with another request\nfailed\n"

#endif
