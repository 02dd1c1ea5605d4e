/**
 * Mapping of PADLL's operations to RPCs, MDS services and job_stats counters. A TBF rule sees the RPC, not the call:
 * operations that share an opcode share a bucket.
 *
 * Source: measured in B5 and part 2, 9: open and create are `ldlm_enqueue`; close runs on `mdt_readpage`; mkdir,
 * unlink, rename and setattr are `mds_reint`, create is not. The counters and rows that changed in the same runs show
 * that stat is `ldlm_enqueue`, rmdir is `mds_reint`, readdir and getxattr run on `mdt_readpage`, and statfs and sync are
 * separate RPCs on `mdt`. Not measured, but inferred from the names of the RPCs (spec/lustre 1.2, 4.2): link, mknod,
 * setxattr and migrate are `mds_reint`, and listxattr is `mds_getxattr`.
 */
import type { Scope } from '../vocabulary.ts'

export const MDS_SERVICES = ['mdt', 'mdt_readpage'] as const
export type MdsService = (typeof MDS_SERVICES)[number]

/** Operations of a job, by counter of job_stats. */
export type OpCounts = ReadonlyMap<string, number>

export interface MdsRpc {
  readonly opcode: string
  readonly service: MdsService
  /** Names of the operations that it carries. */
  readonly carries: readonly string[]
  /**
   * Counters that each count one such RPC; empty if none does. Those of kinds of renames are omitted, because `rename`
   * counts these, too.
   */
  readonly counters: readonly string[]
}

/** RPCs of metadata operations. */
export const MDS_RPCS: readonly MdsRpc[] = [
  { opcode: 'ldlm_enqueue', service: 'mdt', carries: ['open', 'create', 'stat'], counters: ['open', 'getattr'] },
  {
    opcode: 'mds_reint',
    service: 'mdt',
    carries: ['mkdir', 'mknod', 'link', 'unlink', 'rmdir', 'rename', 'setattr', 'setxattr', 'migrate'],
    counters: ['mkdir', 'mknod', 'link', 'unlink', 'rmdir', 'rename', 'setattr', 'setxattr', 'migrate'],
  },
  { opcode: 'mds_statfs', service: 'mdt', carries: ['statfs'], counters: ['statfs'] },
  { opcode: 'mds_sync', service: 'mdt', carries: ['sync'], counters: ['sync'] },
  // Attributes read without a lock: rare, and counted as getattr like those that come with one.
  { opcode: 'mds_getattr', service: 'mdt', carries: ['stat without a lock'], counters: [] },
  { opcode: 'mds_getattr_lock', service: 'mdt', carries: ['stat by name'], counters: [] },
  { opcode: 'mds_close', service: 'mdt_readpage', carries: ['close'], counters: ['close'] },
  { opcode: 'mds_readpage', service: 'mdt_readpage', carries: ['readdir'], counters: ['readpage'] },
  { opcode: 'mds_getxattr', service: 'mdt_readpage', carries: ['getxattr', 'listxattr'], counters: ['getxattr'] },
]

const BY_OPCODE: ReadonlyMap<string, MdsRpc> = new Map(MDS_RPCS.map((r) => [r.opcode, r]))
export const rpcOf = (opcode: string): MdsRpc | undefined => BY_OPCODE.get(opcode)

/**
 * Returns a counter of a job. A create is counted as open and as mknod: subtracts the opens from mknod, so that each
 * RPC is counted once.
 */
function once(ops: OpCounts, counter: string): number {
  const n = ops.get(counter) ?? 0
  return counter === 'mknod' ? Math.max(0, n - (ops.get('open') ?? 0)) : n
}

/** RPCs of one opcode by the counters. */
export const countOfRpc = (ops: OpCounts, rpc: MdsRpc): number => rpc.counters.reduce((n, c) => n + once(ops, c), 0)

/** Representation of a scope on an MDS. */
export interface MdsScope {
  /** Opcodes to limit for the scope; empty if it cannot be limited. */
  readonly opcodes: readonly string[]
  /** Counters that measure it; `all` for every metadata operation. */
  readonly counters: readonly string[] | 'all'
  /** True if the scope covers every metadata operation: a rule then needs no opcodes. */
  readonly coversAll: boolean
  /** Operations of the scope that no rule limits, for display. */
  readonly not: string
}

const one = (opcode: string, counter: string, not = ''): MdsScope => ({
  opcodes: [opcode],
  counters: [counter],
  coversAll: false,
  not,
})
const none = (not: string): MdsScope => ({ opcodes: [], counters: [], coversAll: false, not })
const everything = (not: string): MdsScope => ({
  opcodes: MDS_RPCS.map((r) => r.opcode),
  counters: 'all',
  coversAll: true,
  not,
})

const DATA = none('data goes to OSTs and is not visible to rules of an MDS')
const MAPPED = none('it is not an RPC')
const INSIDE = none('this class exists only inside a stage; no RPC carries it')

/** MDS representation of every scope of PADLL's rules. */
export const MDS_SCOPES: Readonly<Record<Scope, MdsScope>> = {
  read: DATA,
  write: DATA,
  pread: DATA,
  pwrite: DATA,
  pread64: DATA,
  pwrite64: DATA,
  data: DATA,
  data_op: DATA,
  mmap: MAPPED,
  munmap: MAPPED,
  open: one('ldlm_enqueue', 'open'),
  fopen: one('ldlm_enqueue', 'open'),
  fopen64: one('ldlm_enqueue', 'open'),
  close: one('mds_close', 'close'),
  fclose: one('mds_close', 'close'),
  statfs: one('mds_statfs', 'statfs'),
  fstatfs: one('mds_statfs', 'statfs'),
  statfs64: one('mds_statfs', 'statfs'),
  fstatfs64: one('mds_statfs', 'statfs'),
  sync: one('mds_sync', 'sync'),
  unlink: one('mds_reint', 'unlink'),
  rename: one('mds_reint', 'rename'),
  mkdir: one('mds_reint', 'mkdir'),
  rmdir: one('mds_reint', 'rmdir'),
  mknod: one('mds_reint', 'mknod'),
  setxattr: one('mds_reint', 'setxattr'),
  getxattr: one('mds_getxattr', 'getxattr'),
  listxattr: one('mds_getxattr', 'getxattr'),
  meta_op: everything(''),
  metadata: everything(''),
  total: everything('its data part goes to OSTs and is not visible to rules of an MDS'),
  dir_op: { opcodes: ['mds_reint'], counters: ['mkdir', 'mknod', 'rmdir'], coversAll: false, not: '' },
  ext_attr_op: one('mds_getxattr', 'getxattr', 'setxattr has no separate opcode (mds_reint) and is not limited'),
  file_mod_op: none('the class contains no operation'),
  foreground: INSIDE,
  background: INSIDE,
  high_priority: INSIDE,
  med_priority: INSIDE,
  low_priority: INSIDE,
}

/** Sums the metadata operations of a scope in a job's counters. */
export function countOfScope(ops: OpCounts, scope: Scope): number {
  const { counters } = MDS_SCOPES[scope]
  if (counters !== 'all') return counters.reduce((n, c) => n + once(ops, c), 0)
  return MDS_RPCS.reduce((n, rpc) => n + countOfRpc(ops, rpc), 0)
}

/**
 * Operations outside the scope that its RPCs carry, too: `stat` with `open`. Empty if the scope has its opcodes to
 * itself.
 */
export function sharedOperations(scope: Scope): string[] {
  const { opcodes, coversAll } = MDS_SCOPES[scope]
  if (coversAll) return []
  const same = new Set(SAME[scope] ?? (scope === 'dir_op' ? ['mkdir', 'mknod', 'rmdir'] : [scope]))
  return opcodes.flatMap((o) => rpcOf(o)?.carries ?? []).filter((word) => !same.has(word))
}

/** Scopes whose operations have other names. */
const SAME: Readonly<Partial<Record<Scope, readonly string[]>>> = {
  open: ['open', 'create'],
  fopen: ['open', 'create'],
  fopen64: ['open', 'create'],
  fclose: ['close'],
  fstatfs: ['statfs'],
  statfs64: ['statfs'],
  fstatfs64: ['statfs'],
  ext_attr_op: ['getxattr', 'listxattr'],
}
