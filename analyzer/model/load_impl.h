/* model/load_impl.h - shares the processes of a load between load.c and load_process.c. */
#ifndef LC_MODEL_LOAD_IMPL_H
#define LC_MODEL_LOAD_IMPL_H

#include "analyzer/model/load.h"

/* Members of a JSON object; "", 0 and an empty object stand for what is not there. */
char *lc_load_text_of(const json_t *object, const char *name);
uint64_t lc_load_number_of(const json_t *object, const char *name);

/* Fill in a process by its row in a manifest. */
void lc_load_process_read(struct lc_load_process *p, const json_t *info);
void lc_load_process_free(struct lc_load_process *p);

/* `next` is of the period after those of `p` of the same process. */
bool lc_load_process_continues(const struct lc_load_process *p, const struct lc_load_process *next);

/* Add the period that follows, which is freed: what has happened in it, and how things are then. */
void lc_load_process_add(struct lc_load_process *p, struct lc_load_process *next);

/* Note the period of that name: `one` is of it alone. */
void lc_load_process_note_period(struct lc_load_process *p, const char *name,
                                 const struct lc_load_process *one);

#endif
