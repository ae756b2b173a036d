/*
 * The capabilities that Docker leaves to root in a container.
 */
#define _GNU_SOURCE
#include "without.h"

#include <linux/capability.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t docker_capabilities(void) {
  static const int kept[] = {
      CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_FSETID,  CAP_FOWNER,           CAP_MKNOD,      CAP_NET_RAW, CAP_SETGID,
      CAP_SETUID, CAP_SETFCAP,      CAP_SETPCAP, CAP_NET_BIND_SERVICE, CAP_SYS_CHROOT, CAP_KILL,    CAP_AUDIT_WRITE,
  };
  uint64_t set = 0;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) set |= 1ULL << kept[i];
  return set;
}

void drop_capabilities(void) {
  uint64_t kept = docker_capabilities();
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  check(syscall(SYS_capget, &header, data), "read the capabilities");
  bool may_bound = data[0].effective & (1u << CAP_SETPCAP);
  for (int number = 0; may_bound && prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0; number++) {
    if (!(kept >> number & 1)) check(prctl(PR_CAPBSET_DROP, number, 0, 0, 0), "reduce the bounding set");
  }
  check(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "clear the ambient set");
  for (int i = 0; i < 2; i++) {
    uint32_t part = (uint32_t)(kept >> (32 * i));
    data[i].permitted &= part;
    data[i].effective &= part;
    data[i].inheritable = 0;
  }
  check(syscall(SYS_capset, &header, data), "reduce the capabilities");
}
