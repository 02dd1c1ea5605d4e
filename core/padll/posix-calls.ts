/**
 * Table of the POSIX calls that a stage intercepts: the 42 that PADLL exports, and others that real processes make and
 * that would otherwise escape or break the descriptor map.
 *
 * Source: spec/padll 1.1; the further calls: spec/padll 1.2 and 11 [R]. Deviations: none in the 42. `rmdir` keeps its
 * dir_op; channels apply class policies to it all the same (stage/differentiation.ts).
 */
import type { OperationContext, OperationType } from './vocabulary.ts'

/** Statistics table that counts a call. */
export const CALL_CLASSES = ['data', 'metadata', 'directory', 'ext_attr', 'special'] as const
export type CallClass = (typeof CALL_CLASSES)[number]

/** Source of a call's mount point; `none`: it names no file. */
export type Locate = 'path' | 'new-path' | 'fd' | 'file' | 'none'

/** Effect of a successful call on the descriptors of its process. */
export type FileEffect =
  'open' | 'fopen' | 'close' | 'fclose' | 'close-range' | 'dup' | 'fcntl' | 'chdir' | 'fchdir' | 'none'

interface Row {
  readonly klass: CallClass
  /** Operation type for the rate limiter; null: never limited. */
  readonly type: OperationType | null
  readonly context: OperationContext
  readonly locate: Locate
  /** Tokens per operation: one, or the requested bytes. */
  readonly cost: 'one' | 'bytes'
  readonly effect: FileEffect
  /** True if on in the public defaults. */
  readonly onByDefault: boolean
  /** A second switch for the form with a mode argument. */
  readonly modeSwitch: boolean
  /** One of PADLL's 42, or added by Sluice. */
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
const ofSluice = (one: Row): Row => ({ ...one, origin: 'sluice' })
/** Paper's getattr: the replayer plays it as getxattr, and so are the calls that it represents. */
const stat = (locate: Locate): Row => ofSluice(meta('getxattr', locate))
/** Paper's setattr, likewise. */
const setattr = (locate: Locate): Row => ofSluice(meta('setxattr', locate))

const ROWS = {
  read: bytes('read'),
  write: bytes('write'),
  pread: bytes('pread'),
  pwrite: bytes('pwrite'),
  pread64: bytes('pread64'),
  pwrite64: bytes('pwrite64'),
  mmap: row('data', 'mmap', 'fd'),
  // Its address does not identify a file: always forwarded, as upstream.
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
  openat64: ofSluice(opens()),
  openat2: ofSluice(opens()),
  __open_2: ofSluice(opens()),
  __open64_2: ofSluice(opens()),
  __openat_2: ofSluice(opens()),
  __openat64_2: ofSluice(opens()),
  __read_chk: ofSluice(bytes('read')),
  __pread_chk: ofSluice(bytes('pread')),
  __pread64_chk: ofSluice(bytes('pread64')),
  // Several buffers, or a block of a stream: the sum of their bytes.
  readv: ofSluice(bytes('read')),
  writev: ofSluice(bytes('write')),
  preadv: ofSluice(bytes('pread')),
  pwritev: ofSluice(bytes('pwrite')),
  preadv2: ofSluice(bytes('pread')),
  pwritev2: ofSluice(bytes('pwrite')),
  fread: ofSluice(row('data', 'read', 'file', { cost: 'bytes' })),
  fwrite: ofSluice(row('data', 'write', 'file', { cost: 'bytes' })),
  mmap64: ofSluice(row('data', 'mmap', 'fd')),
  renameat2: ofSluice(meta('rename', 'new-path')),
  fcntl64: ofSluice(bookkeeping('fcntl')),

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
  dup: ofSluice(bookkeeping('dup')),
  dup2: ofSluice(bookkeeping('dup')),
  dup3: ofSluice(bookkeeping('dup')),
  close_range: ofSluice(bookkeeping('close-range')),
  chdir: ofSluice(bookkeeping('chdir')),
  fchdir: ofSluice(bookkeeping('fchdir')),
  // The child gets a copy of the descriptors (ProcessFiles.fork).
  fork: ofSluice(bookkeeping('none')),
  vfork: ofSluice(bookkeeping('none')),
} as const satisfies Record<string, Row>

export type PosixCall = keyof typeof ROWS

export interface PosixCallRow extends Row {
  readonly name: PosixCall
  /** Position in `POSIX_CALLS`. */
  readonly index: number
}

export const POSIX_CALLS: readonly PosixCallRow[] = Object.entries<Row>(ROWS).map(([name, one], index) => ({
  name: name as PosixCall,
  index,
  ...one,
}))

const byName = new Map<string, PosixCallRow>(POSIX_CALLS.map((one) => [one.name, one]))

/** Returns the row of a call; undefined for an unknown name. */
export const posixCall = (name: string): PosixCallRow | undefined => byName.get(name)

/** Returns the name of the switch for the form with a mode argument (O_CREAT). */
export const modeSwitchOf = (one: PosixCallRow): string => (one.modeSwitch ? `${one.name}_mode` : one.name)

const switchesOf = (one: PosixCallRow): string[] => (one.modeSwitch ? [one.name, modeSwitchOf(one)] : [one.name])

/** PADLL's 45 switches: one per call, and a second one for `open`, `openat` and `open64`. */
export const PADLL_SWITCHES: readonly string[] = POSIX_CALLS.filter((c) => c.origin === 'padll').flatMap(switchesOf)

/** All switches, including Sluice's. */
export const ALL_SWITCHES: readonly string[] = POSIX_CALLS.flatMap(switchesOf)

/** Switches that are on by default: only `open` (spec/padll 1.1). */
export const UPSTREAM_SWITCHES: readonly string[] = POSIX_CALLS.filter((c) => c.onByDefault).map((c) => c.name)
