/**
 * Operations of jobs and their RPCs: the service that takes each, its opcode, and the counters that it moves.
 *
 * Source: measured part 2, 9 (open and create travel as `ldlm_enqueue`, close and readdir go to `mdt_readpage`); rows of
 * `mds.MDS.*.stats` and counters of `md_stats` as running servers moved them under the same operations.
 */
export const DATA_OPERATIONS = ['read', 'write'] as const
export const METADATA_OPERATIONS = [
  'open',
  'create',
  'close',
  'stat',
  'setattr',
  'getxattr',
  'mkdir',
  'rmdir',
  'unlink',
  'rename',
  'readdir',
  'statfs',
  'sync',
] as const
export const OPERATIONS = [...DATA_OPERATIONS, ...METADATA_OPERATIONS] as const

export type DataOperation = (typeof DATA_OPERATIONS)[number]
export type MetadataOperation = (typeof METADATA_OPERATIONS)[number]
export type Operation = DataOperation | MetadataOperation

export const isData = (op: Operation): op is DataOperation => op === 'read' || op === 'write'

/** RPC kind in client counters: data, metadata that changes the file system, or neither. */
export type RpcKind = DataOperation | 'modify' | 'other'

const MODIFYING: readonly Operation[] = ['open', 'create', 'close', 'setattr', 'mkdir', 'rmdir', 'unlink', 'rename']

export const rpcKind = (op: Operation): RpcKind => (isData(op) ? op : MODIFYING.includes(op) ? 'modify' : 'other')

export interface MetadataRpc {
  /** MDS service that takes it. */
  readonly service: 'mdt' | 'readpage'
  /** Opcode matched by `opcode={...}`. */
  readonly opcode: string
  /** Rows of the service's stats that count such RPCs, each as one; if absent, the opcode's row counts their time. */
  readonly rows?: readonly string[]
  /** Counters of md_stats and job_stats, including those that its release lacks. */
  readonly counters: readonly string[]
}

const intent = (counters: readonly string[], ...more: readonly string[]): MetadataRpc => ({
  service: 'mdt',
  opcode: 'ldlm_enqueue',
  rows: ['ldlm_ibits_enqueue', ...more],
  counters,
})
const reint = (what: string, ...counters: readonly string[]): MetadataRpc => ({
  service: 'mdt',
  opcode: 'mds_reint',
  rows: [`mds_reint_${what}`],
  counters,
})
const plain = (service: MetadataRpc['service'], opcode: string, counter: string): MetadataRpc => ({
  service,
  opcode,
  counters: [counter],
})

export const METADATA_RPCS: Readonly<Record<MetadataOperation, MetadataRpc>> = {
  open: intent(['open'], 'mds_reint_open'),
  create: intent(['open', 'mknod'], 'mds_reint_open'),
  close: plain('readpage', 'mds_close', 'close'),
  stat: intent(['getattr']),
  setattr: reint('setattr', 'setattr'),
  getxattr: plain('readpage', 'mds_getxattr', 'getxattr'),
  mkdir: reint('create', 'mkdir'),
  rmdir: reint('unlink', 'rmdir'),
  unlink: reint('unlink', 'unlink'),
  rename: reint('rename', 'rename', 'samedir_rename', 'parallel_rename_file'),
  readdir: plain('readpage', 'mds_readpage', 'readpage'),
  statfs: plain('mdt', 'mds_statfs', 'statfs'),
  sync: plain('mdt', 'mds_sync', 'sync'),
}

/** RPC name of an operation. */
export const opcodeOf = (op: Operation): string =>
  op === 'read' ? 'ost_read' : op === 'write' ? 'ost_write' : METADATA_RPCS[op].opcode
