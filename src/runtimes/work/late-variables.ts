/**
 * Variables that a process may get when it has started already. Those of the C library, and of libraries beside it, are read
 * at the start of a process or at the first use of what they are for, which may be over by then.
 */
const ofLibraries =
  /^(?:LD_|LC_|LANG|GCONV_|GLIBC_|MALLOC_|OPENSSL_|SSL_|SSLKEYLOGFILE$|ICU_|UV_|TZ$|TZDIR$|\w+_NUM_THREADS$)/

/** `ofEngine` says which ones the interpreter reads for itself. */
export const readsLate =
  (ofEngine: RegExp) =>
  (name: string): boolean =>
    !ofLibraries.test(name) && !ofEngine.test(name)
