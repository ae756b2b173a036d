/*
 * The shared declarations of `without`; main.c describes the program.
 */
#pragma once

#include <stdbool.h>

_Noreturn void give_up(const char *what);
void check(long result, const char *what);

/* filter.c: refused system calls. Each function adds rules; apply_filter() applies all of them at once. */
void start_filter(void);
void refuse_namespaces(void);
void refuse_mounts(void);
void refuse_clone3(void);
void refuse_landlock(void);
void refuse_landlock_scopes(void);
void refuse_what_file_says(const char *path);
void apply_filter(void);

/* view.c: files that look different only to the command. */
void enter_own_view(void);
void refuse_beyond(const char *count);
void forget_ids_from(const char *first);
void mask_proc(void);
void hide_cgroups(void);
void make_cgroups_read_only(void);
void look_like_podman(void);
void show_sysctl(const char *assignment);
void forbid_execution(const char *folder);
void mount_inside(const char *folder);
void lay_over(const char *folder);

/* capabilities.c */
void drop_capabilities(void);
