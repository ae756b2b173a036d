/**
 * CPython's own tests inside a cell and outside: each has to end in the same way, but for the walls. The quicker modules
 * are in `test/conformance/python/regression.test.ts`.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  findPythonWithTests,
  listDifferences,
  runInside,
  runOutside,
} from '../test/conformance/python/regression.ts'
import { useLazaret } from '../test/support/use-lazaret.ts'

/** Tests that meet a wall, by module and the end of their id, and which wall it is. */
const walls: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  test_io: { test_large_file_ops: 'writes 2 GiB into a file; the disk limit is smaller' },
  test_mmap: {
    'LargeMmapTests.test_around_2GB': 'makes a file of 2 GiB; the disk limit is smaller',
    'LargeMmapTests.test_around_4GB': 'the same with 4 GiB',
    'LargeMmapTests.test_large_filesize': 'the same with 6 GiB',
    'LargeMmapTests.test_large_offset': 'the same with 5 GiB',
  },
  test_pathlib: {
    'PathTest.test_owner': 'a guest has an entry in /etc/passwd, which a bare user id outside has not',
    'PathTest.test_group': 'the same of /etc/group',
    'PathTest.test_home': 'the same',
    test_expanduser: 'the same',
  },
  test_pickle: { test_unpickle_module_race: 'removes a file beside the library, which is read-only' },
  test_subprocess: {
    test_user: 'no other user exists in the namespace, so becoming one is EINVAL instead of EPERM',
    test_group: 'the same of groups',
    test_no_leaking: 'outside there are too many descriptors to try it',
  },
}

const modules = [
  ...['test_collections', 'test_csv', 'test_dataclasses', 'test_datetime', 'test_decimal', 'test_enum'],
  ...['test_exception_group', 'test_hashlib', 'test_heapq', 'test_inspect', 'test_io', 'test_itertools'],
  ...['test_json', 'test_math', 'test_mmap', 'test_os', 'test_pathlib', 'test_pickle', 'test_random'],
  ...['test_re', 'test_statistics', 'test_struct', 'test_subprocess', 'test_tempfile', 'test_threading'],
  ...['test_traceback', 'test_unicodedata', 'test_warnings', 'test_zipfile', 'test_zlib', 'test_zoneinfo'],
  ...['test_asyncio.test_locks', 'test_asyncio.test_queues', 'test_asyncio.test_taskgroups'],
]

const python = findPythonWithTests()
const { lazaret } = await useLazaret(python === null ? {} : { toolchains: { python: python.path } })
const skip = python === null && 'no interpreter here has the tests of CPython (libpython3-testsuite)'

suite("CPython's own tests", { skip }, () => {
  for (const module of modules) {
    test(`${module} ends in a cell as it does outside, but for the walls`, async () => {
      // One after the other: some of them measure time.
      const outside = await runOutside(python?.path ?? '', module)
      const inside = await runInside(lazaret, module)
      const known = Object.keys(walls[module] ?? {})
      const unexplained = [...listDifferences(inside, outside)].filter(
        ([id]) => !known.some((end) => id.endsWith(end)),
      )
      assert.deepEqual(unexplained, [])
      assert.ok([...inside.values()].filter((outcome) => outcome === 'passed').length >= 20)
    })
  }
})
