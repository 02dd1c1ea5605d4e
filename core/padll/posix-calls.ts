/**
 * The POSIX calls that a stage stands in front of, as data: the 42 that PADLL exports, and those that a real process makes
 * besides and that would escape or break the descriptor map if nobody looked at them.
 *
 * Source: spec/padll 1.1; the further calls: spec/padll 1.2 and 11 [R]. Deviation: none in the 42, `rmdir` keeps its
 * dir_op; that class policies reach it all the same is the channels' doing (stage/differentiation.ts).
 */
import type { OperationContext, OperationType } from './vocabulary.ts'

/** Which table of the statistics counts a call. */
export const CALL_CLASSES = ['data', 'metadata', 'directory', 'ext_attr', 'special'] as const
export type CallClass = (typeof CALL_CLASSES)[number]

/** How the mount point of a call is found; `none`: it names no file. */
export type Locate = 'path' | 'new-path' | 'fd' | 'file' | 'none'

/** What a call that succeeded does to the descriptors of its process. */
export type FileEffect =
  'open' | 'fopen' | 'close' | 'fclose' | 'close-range' | 'dup' | 'fcntl' | 'chdir' | 'fchdir' | 'none'

interface Row {
  readonly klass: CallClass
  /** What the rate limiter is told; null: never limited. */
  readonly type: OperationType | null
  readonly context: OperationContext
  readonly locate: Locate
  /** Tokens per operation: one, or the bytes asked for. */
  readonly cost: 'one' | 'bytes'
  readonly effect: FileEffect
  /** On in the public defaults. */
  readonly onByDefault: boolean
  /** A second switch for the form with a mode argument. */
  readonly modeSwitch: boolean
  /** One of the 42, or one of ours. */
  readonly origin: 'padll' | 'sluice'
}

const row = (klass: CallClass, type: OperationType | null, locate: Locate, more: Partial<Row> = {}): Row => ({
  klass,
  type,
  context: klass === 'data' ? 'data_op' : type === null ? 'no_op' : 'meta_op',
  locate,
  cost: 'one',
  effect: 'none',
  onByDefault: false,
  modeSwitch: false,
  origin: 'padll',
  ...more,
})
const bytes = (type: OperationType): Row => row('data', type, 'fd', { cost: 'bytes' })
const meta = (type: OperationType, locate: Locate, effect: FileEffect = 'none'): Row =>
  row('metadata', type, locate, { effect })
const opens = (more: Partial<Row> = {}): Row => row('metadata', 'open', 'path', { effect: 'open', ...more })
const attr = (type: OperationType, locate: Locate): Row => row('ext_attr', type, locate)
const bookkeeping = (effect: FileEffect): Row => row('special', null, 'none', { effect })
const ours = (one: Row): Row => ({ ...one, origin: 'sluice' })
/** The paper's getattr: the replayer plays it as getxattr, and so are the calls that it stands for. */
const stat = (locate: Locate): Row => ours(meta('getxattr', locate))
/** Its setattr, likewise. */
const setattr = (locate: Locate): Row => ours(meta('setxattr', locate))

const ROWS = {
  read: bytes('read'),
  write: bytes('write'),
  pread: bytes('pread'),
  pwrite: bytes('pwrite'),
  pread64: bytes('pread64'),
  pwrite64: bytes('pwrite64'),
  mmap: row('data', 'mmap', 'fd'),
  // Its address says nothing about a file: always forwarded, as upstream.
  munmap: row('data', 'munmap', 'none'),

  open: opens({ modeSwitch: true, onByDefault: true }),
  creat: opens(),
  creat64: opens(),
  openat: opens({ modeSwitch: true }),
  open64: opens({ modeSwitch: true }),
  close: meta('close', 'fd', 'close'),
  statfs: meta('statfs', 'path'),
  fstatfs: meta('fstatfs', 'fd'),
  statfs64: meta('statfs64', 'path'),
  fstatfs64: meta('fstatfs64', 'fd'),
  unlink: meta('unlink', 'path'),
  unlinkat: meta('unlink', 'path'),
  rename: meta('rename', 'new-path'),
  renameat: meta('rename', 'new-path'),
  fopen: meta('fopen', 'path', 'fopen'),
  fopen64: meta('fopen64', 'path', 'fopen'),
  fclose: meta('fclose', 'file', 'fclose'),
  sync: row('metadata', null, 'none'),

  mkdir: row('directory', 'mkdir', 'path'),
  mkdirat: row('directory', 'mkdir', 'path'),
  mknod: row('directory', 'mknod', 'path'),
  mknodat: row('directory', 'mknod', 'path'),
  rmdir: row('directory', 'rmdir', 'path', { context: 'dir_op' }),

  getxattr: attr('getxattr', 'path'),
  lgetxattr: attr('getxattr', 'path'),
  fgetxattr: attr('getxattr', 'fd'),
  setxattr: attr('setxattr', 'path'),
  lsetxattr: attr('setxattr', 'path'),
  fsetxattr: attr('setxattr', 'fd'),
  listxattr: attr('listxattr', 'path'),
  llistxattr: attr('listxattr', 'path'),
  flistxattr: attr('listxattr', 'fd'),

  socket: bookkeeping('none'),
  fcntl: bookkeeping('fcntl'),

  // Other names of the calls above, as compilers and other C libraries emit them.
  openat64: ours(opens()),
  openat2: ours(opens()),
  __open_2: ours(opens()),
  __open64_2: ours(opens()),
  __openat_2: ours(opens()),
  __openat64_2: ours(opens()),
  __read_chk: ours(bytes('read')),
  __pread_chk: ours(bytes('pread')),
  __pread64_chk: ours(bytes('pread64')),
  mmap64: ours(row('data', 'mmap', 'fd')),
  renameat2: ours(meta('rename', 'new-path')),
  fcntl64: ours(bookkeeping('fcntl')),

  stat: stat('path'),
  lstat: stat('path'),
  fstat: stat('fd'),
  fstatat: stat('path'),
  stat64: stat('path'),
  lstat64: stat('path'),
  fstat64: stat('fd'),
  fstatat64: stat('path'),
  statx: stat('path'),
  __xstat: stat('path'),
  __lxstat: stat('path'),
  __fxstat: stat('fd'),
  __fxstatat: stat('path'),
  access: stat('path'),
  faccessat: stat('path'),

  chmod: setattr('path'),
  fchmod: setattr('fd'),
  fchmodat: setattr('path'),
  chown: setattr('path'),
  lchown: setattr('path'),
  fchown: setattr('fd'),
  fchownat: setattr('path'),
  utimensat: setattr('path'),
  futimens: setattr('fd'),
  truncate: setattr('path'),
  ftruncate: setattr('fd'),

  // Never limited; without them descriptors would go stale or escape.
  dup: ours(bookkeeping('dup')),
  dup2: ours(bookkeeping('dup')),
  dup3: ours(bookkeeping('dup')),
  close_range: ours(bookkeeping('close-range')),
  chdir: ours(bookkeeping('chdir')),
  fchdir: ours(bookkeeping('fchdir')),
  // The child gets a copy of the descriptors: ProcessFiles.fork.
  fork: ours(bookkeeping('none')),
  vfork: ours(bookkeeping('none')),
} as const satisfies Record<string, Row>

export type PosixCall = keyof typeof ROWS

export interface PosixCallRow extends Row {
  readonly name: PosixCall
  /** Place in `POSIX_CALLS`. */
  readonly index: number
}

export const POSIX_CALLS: readonly PosixCallRow[] = Object.entries<Row>(ROWS).map(([name, one], index) => ({
  name: name as PosixCall,
  index,
  ...one,
}))

const byName = new Map<string, PosixCallRow>(POSIX_CALLS.map((one) => [one.name, one]))

/** The row of a call; undefined for a name that no table knows. */
export const posixCall = (name: string): PosixCallRow | undefined => byName.get(name)

/** Name of the switch for the form with a mode argument (O_CREAT). */
export const modeSwitchOf = (one: PosixCallRow): string => (one.modeSwitch ? `${one.name}_mode` : one.name)

const switchesOf = (one: PosixCallRow): string[] => (one.modeSwitch ? [one.name, modeSwitchOf(one)] : [one.name])

/** PADLL's 45 switches: one per call, and a second one for `open`, `openat` and `open64`. */
export const PADLL_SWITCHES: readonly string[] = POSIX_CALLS.filter((c) => c.origin === 'padll').flatMap(switchesOf)

/** All switches, ours included. */
export const ALL_SWITCHES: readonly string[] = POSIX_CALLS.flatMap(switchesOf)

/** Switches that are on where nobody has changed them: `open` alone (spec/padll 1.1). */
export const UPSTREAM_SWITCHES: readonly string[] = POSIX_CALLS.filter((c) => c.onByDefault).map((c) => c.name)
