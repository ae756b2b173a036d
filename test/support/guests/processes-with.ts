/**
 * Shell code for guests that lists `/proc/<pid>/cmdline` of each process with an argument that matches exactly. A small
 * system has grep, but not pgrep. The pattern must not match itself: `65[.]5`.
 */
export const processesWith = (argument: string): string => `grep -lsazxE '${argument}' /proc/[0-9]*/cmdline`
