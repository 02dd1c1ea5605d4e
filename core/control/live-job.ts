/** A current job with the fields that distinguish its RPCs. Fields not derivable from job_stats are absent. */
export interface LiveJob {
  readonly jobId: string
  /** NIDs that it sends from. */
  readonly nids?: readonly string[] | undefined
  /** Compute nodes of the job, if its NIDs are unknown. */
  readonly nodes?: number | undefined
  /** RPC names that it sends; see `opcodesOf`. */
  readonly opcodes?: readonly string[] | undefined
  readonly uid?: number | undefined
  readonly gid?: number | undefined
  readonly projid?: number | undefined
  /** Name of its clients' nodemap. */
  readonly nodemap?: string | undefined
  /** Servers that it sends to, and their targets. */
  readonly servers: readonly string[]
  readonly targets?: readonly string[] | undefined
  /** Mean RPC/s over the last minutes, all servers; 0 for an idle job. */
  readonly rpcs: number
  /** True if it is root's, or its id does not exclude that: controllers never limit it. */
  readonly isSystem?: boolean | undefined
  /** Hosts that it runs on, for jobs that share a client. */
  readonly hosts?: readonly string[] | undefined
}

/** RPC names of the operations that job_stats counts on an OST. */
const OST_OPCODES: Readonly<Record<string, string>> = {
  read: 'ost_read',
  write: 'ost_write',
  getattr: 'ost_getattr',
  setattr: 'ost_setattr',
  punch: 'ost_punch',
  sync: 'ost_sync',
  destroy: 'ost_destroy',
  create: 'ost_create',
  statfs: 'ost_statfs',
  get_info: 'ost_get_info',
  set_info: 'ost_set_info',
  quotactl: 'ost_quotactl',
  ladvise: 'ost_ladvise',
}

/**
 * RPC names of the operations that job_stats counts on an MDT. Opens and lookups with intent are sent as ldlm_enqueue, and so are creates
 * (measured B5); attributes are read by either.
 */
const MDT_OPCODES: Readonly<Record<string, string>> = {
  open: 'ldlm_enqueue',
  mkdir: 'mds_reint',
  mknod: 'mds_reint',
  link: 'mds_reint',
  unlink: 'mds_reint',
  rmdir: 'mds_reint',
  rename: 'mds_reint',
  samedir_rename: 'mds_reint',
  crossdir_rename: 'mds_reint',
  parallel_rename_file: 'mds_reint',
  parallel_rename_dir: 'mds_reint',
  setattr: 'mds_reint',
  setxattr: 'mds_reint',
  sync: 'mds_sync',
  statfs: 'mds_statfs',
}

/** RPCs that run on mdt_readpage, not limited by the rules of mdt. */
const READPAGE_OPCODES: Readonly<Record<string, string>> = {
  close: 'mds_close',
  readdir: 'mds_readpage',
  readpage: 'mds_readpage',
  getxattr: 'mds_getxattr',
}

/**
 * Returns the RPC names that a job sends to a service, from the operations in job_stats.
 *
 * @returns  undefined if an operation is ambiguous (getattr of an MDT): then nothing is certain.
 */
export function opcodesOf(service: 'ost_io' | 'mdt' | 'mdt_readpage', ops: Iterable<string>): string[] | undefined {
  const table = service === 'ost_io' ? OST_OPCODES : MDT_OPCODES
  const out = new Set<string>()
  for (const op of ops) {
    const readpage = service === 'ost_io' ? undefined : READPAGE_OPCODES[op]
    if ((readpage !== undefined) !== (service === 'mdt_readpage')) continue
    const name = readpage ?? table[op]
    if (name === undefined) return undefined
    out.add(name)
  }
  return [...out]
}
