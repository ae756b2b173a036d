/**
 * The tests of CPython that run inside and outside, and those that fail at a wall. A module's name may include one of
 * its classes if the whole module would take minutes.
 */
import type { ProtectionLevel } from '../../../src/index.ts'

/** The fast ones, for the daily suite. */
export const dailyModules: readonly string[] = [
  ...['test_bisect', 'test_contextlib', 'test_coroutines', 'test_fractions', 'test_functools'],
  ...['test_generators', 'test_linecache', 'test_string', 'test_textwrap', 'test_typing'],
]

/** Files. */
const fileModules = [
  ...['test_os', 'test_dbm', 'test_fileio', 'test_glob', 'test_mmap'],
  ...['test_posix', 'test_posixpath', 'test_shutil', 'test_stat', 'test_tempfile'],
]

/** Processes, threads, signals and terminals. */
const processModules = [
  // Each with `poll`. The variants without it, which meet the same walls, are in the wide suite.
  ...['test_subprocess.ProcessTestCase', 'test_subprocess.POSIXProcessTestCase', 'test_threading'],
  'test_asyncio.test_subprocess.SubprocessPidfdWatcherTests',
  ...['test_asyncio.test_unix_events', 'test_builtin'],
  ...['test_ctypes', 'test_fcntl'],
  ...['test_grp', 'test_multiprocessing_fork.WithProcessesTestPool'],
  'test_multiprocessing_fork.WithProcessesTestProcess',
  'test_multiprocessing_fork.WithProcessesTestSharedMemory',
  ...['test_multiprocessing_spawn.WithProcessesTestQueue', 'test_pty', 'test_pwd'],
  ...['test_resource', 'test_runpy', 'test_signal.PosixTests'],
  ...['test_signal.WakeupFDTests', 'test_sys', 'test_time'],
]

/** Sockets of the loopback interface and of the file system. */
const networkModules = [
  ...['test_asyncio.test_server', 'test_epoll'],
  ...['test_select', 'test_socket.BasicTCPTest', 'test_socket.BasicUDPLITETest'],
  ...['test_socket.BasicUDPTest', 'test_socket.GeneralModuleTests'],
  ...['test_socket.TestUnixDomain', 'test_ssl.BasicSocketTests', 'test_uuid'],
]

/** The language, and the most used parts of its library. */
const languageModules = [
  ...['test_datetime', 'test_decimal', 'test_hashlib', 'test_json', 'test_pickle'],
  ...['test_random', 'test_re', 'test_secrets', 'test_struct', 'test_zlib'],
]

/** For `npm run test:all`: what a wall could affect. The slowest come first. */
export const deepModules: readonly string[] = [...processModules, ...fileModules, ...networkModules]

/** For `npm run test:all -- --wide`. The slowest come first. */
export const wideModules: readonly string[] = [
  ...['test_subprocess', 'test_zipfile', 'test_tarfile', 'test_io', 'test_cmd_line'],
  ...['test_signal.ItimerTest', 'test_argparse', 'test_asyncio.test_base_events'],
  ...['test_asyncio.test_locks', 'test_asyncio.test_queues'],
  ...['test_asyncio.test_taskgroups', 'test_bytes', 'test_bz2.BZ2FileTest'],
  ...['test_codecs', 'test_collections', 'test_configparser', 'test_copy', 'test_csv'],
  ...['test_dataclasses', 'test_enum', 'test_exception_group', 'test_gc', 'test_getpass'],
  ...['test_gzip', 'test_heapq', 'test_hmac', 'test_httplib', 'test_httpservers'],
  ...['test_inspect', 'test_itertools', 'test_locale', 'test_lzma.FileTestCase'],
  ...['test_mailbox', 'test_math', 'test_minidom'],
  ...['test_multiprocessing_fork.WithManagerTestPool', 'test_pkgutil', 'test_platform'],
  ...['test_plistlib', 'test_pyexpat', 'test_sax'],
  ...['test_selectors.EpollSelectorTestCase', 'test_shelve', 'test_site', 'test_smtplib'],
  ...['test_socket.SendfileUsingSendfileTest', 'test_ssl.ContextTests'],
  ...['test_statistics', 'test_sysconfig', 'test_traceback', 'test_unicode'],
  ...['test_unicodedata', 'test_urllib2_localnet', 'test_urlparse', 'test_warnings'],
  'test_zoneinfo',
  // They meet the same walls as test_os and test_posixpath, test_threading and test_asyncio.test_server.
  ...['test_pathlib', 'test_concurrent_futures.ThreadPoolExecutorTest'],
  'test_asyncio.test_streams',
  ...languageModules,
]

/** Modules whose walls are built differently without cgroups and separate ids. */
export const plainUserModules: readonly string[] = [
  ...['test_asyncio.test_unix_events', 'test_ctypes', 'test_fcntl', 'test_mmap'],
  ...[
    'test_multiprocessing_fork.WithProcessesTestPool',
    'test_multiprocessing_fork.WithProcessesTestSharedMemory',
  ],
  ...[
    'test_os',
    'test_posix',
    'test_pty',
    'test_pwd',
    'test_resource',
    'test_shutil',
    'test_signal.PosixTests',
  ],
  ...['test_socket.TestUnixDomain', 'test_subprocess.POSIXProcessTestCase', 'test_tempfile'],
  ...['test_threading', 'test_time'],
]

export interface RegressionDifference {
  readonly module: string
  /** The last parts of the tests' ids. */
  readonly tests: readonly string[]
  readonly reason: string
  /** The levels at which it differs; all levels if absent. */
  readonly at?: readonly ProtectionLevel[]
}

const keptPages =
  'Without a cgroup, pages of files that wait in sockets are not counted, so sendfile is refused.'

export const regressionDifferences: readonly RegressionDifference[] = [
  {
    module: 'test_asyncio.test_unix_events',
    tests: ['test_sock_sendfile_cancel1', 'test_sock_sendfile_cancel2'],
    at: ['standard'],
    reason: keptPages,
  },
  {
    module: 'test_builtin',
    tests: ['good_path_builtin', 'good_path_noop_0', 'good_path_other', 'envar_unimportable'],
    reason: 'The interpreter starts isolated and asks for no `PYTHONBREAKPOINT`.',
  },
  {
    module: 'test_cmd_line',
    tests: ['test_empty_PYTHONPATH_issue16309'],
    reason: 'It is skipped in an interpreter that ignores its environment.',
  },
  {
    module: 'test_fcntl',
    tests: ['test_fcntl_64_bit'],
    reason:
      'It asks for signals when a folder changes (`F_NOTIFY`), which slows down all programs on the machine.',
  },
  {
    module: 'test_io',
    tests: ['test_large_file_ops'],
    reason: 'It writes 2 GiB into a file; the disk limit is smaller.',
  },
  {
    module: 'test_mmap',
    tests: ['test_around_2GB', 'test_around_4GB', 'test_large_filesize', 'test_large_offset'],
    reason: 'They make files of 2 to 6 GiB; the disk limit is smaller.',
  },
  {
    module: 'test_mmap',
    tests: [
      'MmapTests.test_anonymous',
      'MmapTests.test_concat_repeat_exception',
      'MmapTests.test_context_manager',
      'MmapTests.test_context_manager_exception',
      'MmapTests.test_extended_getslice',
      'MmapTests.test_extended_set_del_slice',
      'MmapTests.test_flush_return_value',
      'MmapTests.test_madvise',
      'MmapTests.test_move',
      'MmapTests.test_non_ascii_byte',
      'MmapTests.test_read_all',
      'MmapTests.test_read_invalid_arg',
      'MmapTests.test_resize_past_pos',
      'MmapTests.test_subclass',
      'MmapTests.test_weakref',
      'MmapTests.test_write_returning_the_number_of_bytes_written',
    ],
    at: ['standard'],
    reason: 'Without a cgroup, shared memory without a file is not counted, so it is refused.',
  },
  {
    module: 'test_os',
    tests: ['ChownFileTests.test_chown_without_permission'],
    at: ['standard'],
    reason: 'No other user exists in the namespace, so giving a file to one is EINVAL instead of EPERM.',
  },
  {
    module: 'test_os',
    tests: [
      'ExtendedAttributeTests.test_fds',
      'ExtendedAttributeTests.test_lpath',
      'ExtendedAttributeTests.test_simple',
    ],
    reason: 'Attributes of files cannot be set: access lists take kernel memory that is charged to nobody.',
  },
  {
    module: 'test_os',
    tests: ['FileTests.test_splice', 'FileTests.test_splice_offset_in', 'FileTests.test_splice_offset_out'],
    reason:
      'One byte spliced from a socket keeps 32 KiB alive that are charged to nobody, so splice answers EINVAL.',
  },
  {
    module: 'test_os',
    tests: ['MemfdCreateTests.test_memfd_create'],
    at: ['standard'],
    reason: 'Without a cgroup the memory of such a file is not counted, so the call is refused.',
  },
  {
    module: 'test_os',
    tests: ['test_keywords', 'test_send_at_certain_offset', 'test_send_whole_file'].map(
      (name) => `TestSendfile.${name}`,
    ),
    at: ['standard'],
    reason: keptPages,
  },
  {
    module: 'test_pathlib',
    tests: ['PathTest.test_owner', 'PathTest.test_group', 'PathTest.test_home', 'test_expanduser'],
    reason: 'A guest has an entry in `/etc/passwd`, which a bare user id outside does not have.',
  },
  {
    module: 'test_pickle',
    tests: ['test_unpickle_module_race'],
    reason: 'It removes a file beside the library, which is read-only.',
  },
  {
    module: 'test_posix',
    tests: ['test_getgrouplist', 'test_initgroups'],
    reason: 'A guest has an entry in `/etc/passwd`, which a bare user id outside does not have.',
  },
  {
    module: 'test_posixpath',
    tests: ['test_expanduser_pwd'],
    reason: 'The same.',
  },
  {
    module: 'test_resource',
    tests: ['test_fsize_ismax'],
    reason: 'A file has a largest size: the disk limit.',
  },
  {
    module: 'test_resource',
    tests: ['test_prlimit'],
    reason: 'It asks for the limits of another process, which the filter refuses.',
  },
  {
    module: 'test_runpy',
    tests: [
      'test_run_module',
      'test_run_module_alter_sys',
      'test_run_module_in_namespace_package',
      'test_run_name',
      'test_run_namespace_package',
      'test_run_namespace_package_in_namespace_package',
      'test_run_package',
      'test_run_package_alter_sys',
      'test_run_package_in_namespace_package',
    ],
    reason: 'Removing a missing file beside the library gives EROFS instead of ENOENT.',
  },
  {
    module: 'test_shutil',
    tests: [
      ...['big_chunk', 'blocksize_arg', 'cant_get_size', 'empty_file', 'exception_on_first_call'],
      ...['exception_on_second_call', 'file2file_not_supported', 'filesystem_full', 'non_existent_src'],
      ...['non_regular_file_dst', 'non_regular_file_src', 'regular_copy', 'same_file', 'small_chunks'],
      'unhandled_exception',
    ].map((name) => `TestZeroCopySendfile.test_${name}`),
    at: ['standard'],
    reason: keptPages,
  },
  {
    module: 'test_socket.BasicUDPLITETest',
    tests: ['testRecvFrom', 'testRecvFromNegative', 'testSendtoAndRecv'],
    reason: 'The filter allows TCP, UDP and ICMP.',
  },
  {
    module: 'test_subprocess',
    tests: ['test_user', 'test_group'],
    reason: 'No other user exists in the namespace, so becoming one is EINVAL instead of EPERM.',
  },
  {
    module: 'test_subprocess',
    tests: ['test_no_leaking'],
    reason: 'Outside, the test is skipped because there are too many descriptors.',
  },
  {
    module: 'test_uuid',
    tests: ['test_ifconfig_getnode', 'test_ip_getnode'],
    reason: 'A cell has no network card with an address.',
  },
]

/** Omits the tests that are known to fail at a wall at this level. */
export function findUnexplained(
  differences: ReadonlyMap<string, string>,
  { module, level }: { readonly module: string; readonly level: ProtectionLevel },
): ReadonlyMap<string, string> {
  const known = regressionDifferences
    .filter((each) => isPartOf(module, each.module) && (each.at === undefined || each.at.includes(level)))
    .flatMap(({ tests }) => tests)
  return new Map([...differences].filter(([id]) => !known.some((end) => id.endsWith(end))))
}

/** A difference of a whole module also applies to each of its classes. */
function isPartOf(module: string, whole: string): boolean {
  return module === whole || module.startsWith(`${whole}.`)
}
