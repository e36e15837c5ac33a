/* The known word that was probably meant by one that is unknown. */
#ifndef LITIFUT_COMMON_NEAREST_H
#define LITIFUT_COMMON_NEAREST_H

/* Of a name that is nothing like the word. */
#define LITIFUT_NAME_FARTHEST 1000

/* 0: the same; more the less alike; LITIFUT_NAME_FARTHEST at most. */
unsigned litifut_name_distance(const char *word, const char *name);

/* The one of `names`, a NULL-terminated list, that is most like the word, or NULL. */
const char *litifut_name_nearest(const char *word, const char *const *names);

#endif
