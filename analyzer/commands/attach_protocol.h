/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/attach_protocol.h - asks a JVM to load an agent, as the JDK's own tools do: HotSpot's
 * attach protocol.
 */
#ifndef LC_COMMANDS_ATTACH_PROTOCOL_H
#define LC_COMMANDS_ATTACH_PROTOCOL_H

struct lc_attach_target;

enum { LC_ATTACH_ARGUMENT_MAX = 1023 }; /* bytes that the JVM takes */

/*
 * Have the JVM load the library and call its Agent_OnAttach() with `text`. Waits for some seconds
 * at most, and `seconds` more for the answer: the text may have the program stopped so long.
 * Returns 0, or 1 after one line on stderr.
 */
int lc_attach_load(const struct lc_attach_target *t, const char *library, const char *text,
                   unsigned seconds);

#endif
