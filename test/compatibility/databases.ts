/**
 * Databases as honest programs of a sandbox: they start, serve several clients at once, stop, and still have their data
 * after a restart.
 */
import type { CompatibilityProgram } from './program.ts'

/** A command and its output; or a server that is started, or that must have ended by itself. */
export type DatabaseStep =
  | { readonly command: string; readonly prints: string }
  | { readonly server: string; readonly port: number }
  | { readonly ended: 'with exit code 0' }

export interface DatabaseProgram extends Pick<CompatibilityProgram, 'title' | 'needs' | 'differs'> {
  /** If a difference applies, only the first step is executed, and prints what the difference says. */
  readonly steps: readonly [{ readonly command: string; readonly prints: string }, ...DatabaseStep[]]
}

const redisServer = { server: 'redis-server --port 6379 --appendonly yes --dir /workspace', port: 6379 }

/** Debian does not put these programs on the PATH. */
const findPostgres = 'export PATH=$PATH:$(echo /usr/lib/postgresql/*/bin) PGHOST=/tmp PGDATA=/workspace/data'
const startPostgres = `${findPostgres}; pg_ctl -w -l log.txt -o '-k /tmp' start > start.txt || cat start.txt log.txt`
const stopPostgres = `${findPostgres}; pg_ctl -w -m fast stop | tail -n 1`

/** Four writers run at the same time. Each inserts fifty rows, and waits for the locks of the others. */
const shellWriter = `
for row in $(seq 50); do echo "insert into rows values ('$1', $row);"; done | sqlite3 -cmd '.timeout 30000' base.db`

const pythonWriter = `
import sqlite3, sys
base = sqlite3.connect("base.db", timeout=30)
for row in range(50):
    with base: base.execute("insert into rows values (?, ?)", (sys.argv[1], row))`

const scriptWriter = (open: string) => `${open}
base.exec('pragma busy_timeout = 30000')
for (let row = 0; row < 50; row++) base.prepare('insert into rows values (?, ?)').run(process.argv[2], row)`

const makeRows = 'sqlite3 base.db "pragma journal_mode = wal; create table rows (writer text, row integer)"'
const countRows =
  'sqlite3 base.db "select count(*), count(distinct writer) from rows; vacuum; pragma integrity_check; pragma journal_mode"'

const writeAll = (writer: string) =>
  `${makeRows} && for w in a b c d; do ${writer} $w & done; wait; ${countRows}`
const allWritten = 'wal\n200|4\nok\nwal\n'

export const databases: readonly DatabaseProgram[] = [
  {
    title:
      'Redis: several clients, a save in the background, a log of appends, a stop, a start with the data',
    needs: ['redis-server', 'redis-cli'],
    steps: [
      { command: 'redis-server --version | cut -d" " -f1-2', prints: 'Redis server\n' },
      redisServer,
      {
        command: `
redis-cli set kept 1; for client in 1 2 3 4; do for time in 1 2 3 4 5; do redis-cli incr count; done > /tmp/log & done; wait
redis-cli get count; redis-cli config set save ''
redis-cli bgsave > /tmp/log; while redis-cli info persistence | grep -q 'bgsave_in_progress:1'; do sleep 0.05; done
redis-cli info persistence | grep -oE 'last_bgsave_status:ok|aof_last_write_status:ok'; ls dump.rdb`,
        prints: 'OK\n20\nOK\nlast_bgsave_status:ok\naof_last_write_status:ok\ndump.rdb\n',
      },
      { command: 'redis-cli bgrewriteaof > /tmp/log; redis-cli shutdown; rm dump.rdb', prints: '' },
      { ended: 'with exit code 0' },
      redisServer,
      { command: 'redis-cli mget kept count; redis-cli shutdown', prints: '1\n20\n' },
      { ended: 'with exit code 0' },
    ],
  },
  {
    title: 'SQLite from its command line: a write-ahead log, four writers at once, VACUUM',
    needs: ['sqlite3'],
    steps: [
      { command: `cat > writer.sh <<'END'\n${shellWriter}\nEND`, prints: '' },
      { command: writeAll('sh writer.sh'), prints: allWritten },
    ],
  },
  {
    title: 'SQLite in four processes of Python at once, with a write-ahead log',
    needs: ['sqlite3', 'python3'],
    steps: [
      { command: `cat > writer.py <<'END'\n${pythonWriter}\nEND`, prints: '' },
      { command: writeAll('python3 writer.py'), prints: allWritten },
    ],
  },
  {
    title: 'SQLite in four processes of Node at once, with a write-ahead log',
    needs: ['sqlite3'],
    steps: [
      {
        command: `cat > writer.mjs <<'END'\n${scriptWriter("import { DatabaseSync } from 'node:sqlite'\nconst base = new DatabaseSync('base.db')")}\nEND`,
        prints: '',
      },
      { command: writeAll('node --no-warnings writer.mjs'), prints: allWritten },
    ],
  },
  {
    title: 'SQLite in four processes of Bun at once, with a write-ahead log',
    needs: ['sqlite3'],
    steps: [
      {
        command: `cat > writer.mjs <<'END'\n${scriptWriter("import { Database } from 'bun:sqlite'\nconst base = new Database('base.db')")}\nEND`,
        prints: '',
      },
      { command: writeAll('bun writer.mjs'), prints: allWritten },
    ],
  },
  {
    title:
      'PostgreSQL: initdb, transactions, several clients, an index built in parallel, a stop, a start with the data',
    needs: ['psql', 'initdb', 'pgbench'],
    steps: [
      {
        command: `${findPostgres}; initdb -A trust --no-locale -E UTF8 > log.txt 2>&1; grep -oE 'could not map anonymous shared memory|^Success' log.txt`,
        prints: 'Success\n',
      },
      { command: startPostgres, prints: '' },
      {
        command: `${findPostgres}; createdb shop && psql -q -At shop <<'END'
create table rows (id serial primary key, word text);
begin; insert into rows (word) values ('kept'); commit;
begin; insert into rows (word) values ('not kept'); rollback;
insert into rows (word) select md5(n::text) from generate_series(1, 100000) n;
set min_parallel_table_scan_size = 0; set max_parallel_maintenance_workers = 2;
create index by_word on rows (word); analyze rows;
select count(*) from rows; select id from rows where word = 'kept';
END`,
        prints: '100001\n1\n',
      },
      {
        command: `${findPostgres}; pgbench -q -i -s 1 shop > bench.txt 2>&1; pgbench -c 4 -j 2 -t 25 shop 2>&1 | grep -o 'processed: .*'`,
        prints: 'processed: 100/100\n',
      },
      { command: stopPostgres, prints: 'server stopped\n' },
      { command: startPostgres, prints: '' },
      {
        command: `${findPostgres}; psql -At shop -c 'select count(*) from rows'; psql -h localhost -At shop -c 'select 42'`,
        prints: '100001\n42\n',
      },
      { command: stopPostgres, prints: 'server stopped\n' },
    ],
    differs: [
      {
        at: ['standard'],
        layer: 'seccomp',
        prints: 'could not map anonymous shared memory\n',
        reason: 'Its processes share memory without a file, which nothing counts without a cgroup.',
        instead: "The level `strong`; SQLite or Redis; or a server outside and `network: 'host'`.",
      },
    ],
  },
]
