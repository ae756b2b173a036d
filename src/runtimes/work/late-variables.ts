/**
 * Environment variables that may be set after a process has started. This excludes variables of the C library and other
 * libraries, which read them at the start of the process or at their first use.
 */
const ofLibraries =
  /^(?:LD_|LC_|LANG|GCONV_|GLIBC_|MALLOC_|OPENSSL_|SSL_|SSLKEYLOGFILE$|ICU_|UV_|TZ$|TZDIR$|\w+_NUM_THREADS$)/

/** `ofEngine` matches the variables that the interpreter itself reads at its start. */
export const readsLate =
  (ofEngine: RegExp) =>
  (name: string): boolean =>
    !ofLibraries.test(name) && !ofEngine.test(name)
