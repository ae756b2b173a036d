/** What each rule names in Python. `analyze.py` gets these tables with the code. */
import type { RuleName } from './rules.ts'

type Table = Readonly<Record<string, RuleName>>

function each(rule: RuleName, names: string): [string, RuleName][] {
  return names.split(' ').map((name) => [name, rule])
}

function all(...rows: readonly [string, RuleName][][]): Table {
  return Object.fromEntries(rows.flat())
}

function inModule(module: string, names: string): string {
  return names
    .split(' ')
    .map((name) => `${module}.${name}`)
    .join(' ')
}

export const pythonTables = {
  /** Modules whose import is reported, as is the import of a module below them. */
  modules: all(
    each('dynamic-import', 'importlib imp pkgutil runpy zipimport'),
    each('dynamic-code', 'code codeop'),
    each('native-code', 'ctypes _ctypes cffi mmap'),
    each('process', 'subprocess pty multiprocessing concurrent.futures.process _posixsubprocess'),
    each(
      'network',
      'socket _socket ssl http.client http.server socketserver urllib.request urllib3 requests',
    ),
    each('network', 'httpx aiohttp websockets ftplib smtplib poplib imaplib telnetlib xmlrpc paramiko'),
    each('unserialize', 'pickle _pickle marshal shelve dill cloudpickle joblib'),
    each('internals', 'gc inspect dis faulthandler'),
  ),
  /** Members of imported modules. */
  members: all(
    each(
      'process',
      inModule('os', 'system popen fork forkpty posix_spawn posix_spawnp startfile kill killpg'),
    ),
    each('process', inModule('os', 'execl execle execlp execlpe execv execve execvp execvpe')),
    each('process', inModule('os', 'spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe')),
    each('process', 'asyncio.create_subprocess_exec asyncio.create_subprocess_shell'),
    each('network', 'asyncio.open_connection asyncio.start_server'),
    each('dynamic-code', 'timeit.timeit timeit.repeat builtins.eval builtins.exec builtins.compile'),
    each('dynamic-import', 'builtins.__import__'),
    each(
      'internals',
      inModule('sys', '_getframe _current_frames modules meta_path path_hooks settrace setprofile'),
    ),
    each('unserialize', 'yaml.load yaml.unsafe_load pandas.read_pickle torch.load'),
    each('native-code', 'numpy.ctypeslib'),
  ),
  /** Global names. */
  names: all(
    each('dynamic-code', 'eval exec compile'),
    each('dynamic-import', '__import__ __loader__ __spec__'),
    each('dunder-escape', '__builtins__'),
    each('internals', 'globals breakpoint'),
  ),
  /** Attributes of any object, even if only a string names them. */
  attributes: all(
    each(
      'dunder-escape',
      '__class__ __base__ __bases__ __mro__ mro __subclasses__ __subclasshook__ __globals__',
    ),
    each('dunder-escape', '__builtins__ __code__ __closure__ __func__ __self__ __getattribute__ __reduce__'),
    each(
      'dunder-escape',
      '__reduce_ex__ __loader__ __import__ func_globals func_code gi_frame gi_code cr_frame',
    ),
    each('dunder-escape', 'cr_code ag_frame tb_frame tb_next f_back f_globals f_locals f_builtins f_code'),
  ),
  /** Functions whose first argument is a path. */
  openers: [
    'open',
    ...inModule('os', 'open listdir scandir walk stat remove unlink rename rmdir mkdir makedirs chmod').split(
      ' ',
    ),
    ...inModule('os', 'readlink symlink link truncate').split(' '),
    ...inModule('shutil', 'copy copyfile copytree move rmtree').split(' '),
    ...inModule('pathlib', 'Path PosixPath').split(' '),
    ...'io.open codecs.open glob.glob glob.iglob sqlite3.connect'.split(' '),
  ],
} as const
