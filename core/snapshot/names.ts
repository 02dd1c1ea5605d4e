/**
 * Names of a site by kind: the names that must not leave it. The collector adds every name that can occur anywhere in a bundle;
 * terms of Lustre and of this product are not names.
 */
import type { NameKind } from './notebook.ts'

/** NameKind, and kinds that occur only in conditions and targets. */
export type PlainKind = NameKind | 'filesystem' | 'nodemap' | 'id' | 'address' | 'key' | 'plan'

/** Longest known name; longer ones are cut when they enter the history. */
export const NAME_MOST = 512
/** Maximum number of names of all kinds. Beyond it, no export with pseudonyms is possible: some names would pass. */
export const NAMES_MOST = 400_000

export interface Names {
  of(kind: PlainKind): ReadonlySet<string>
  readonly kinds: readonly PlainKind[]
  readonly size: number
  /** false: the list is incomplete, so nothing may be exported with it. */
  readonly isComplete?: boolean
}

/** Names that every cluster has, or that Sluice created: kept. */
const VERBATIM: ReadonlySet<string> = new Set([
  '',
  '*',
  'default',
  'root',
  'u0',
  'alert',
  'sluice',
  'unknown',
  'sluice.matches.nothing',
  'sluice_rematch',
  'sluice_rematch2',
  '0@lo',
  '⟨ended jobs⟩',
  '(others)',
])
const VERBATIM_FORM = /^\(\d[\d ,.\u202f\u00a0]* other jobs?\)$|^[?\-–—·.\s]+$/

/** True if a text in a name field identifies no one. root (and uid 0) is not a person. */
export const isVerbatim = (text: string): boolean => VERBATIM.has(text) || VERBATIM_FORM.test(text)

export class NameCollector implements Names {
  readonly #kinds = new Map<PlainKind, Set<string>>()
  #size = 0

  /** True if all added names are present: false beyond the limit, and then nothing may be exported with pseudonyms. */
  get isComplete(): boolean {
    return this.#size <= NAMES_MOST
  }

  get size(): number {
    return this.#size
  }

  get kinds(): readonly PlainKind[] {
    return [...this.#kinds.keys()]
  }

  of(kind: PlainKind): ReadonlySet<string> {
    return this.#kinds.get(kind) ?? new Set()
  }

  /** @param text  longer names are cut to the maximum length. */
  add(kind: PlainKind, text: string | null | undefined): void {
    if (typeof text !== 'string' || this.#size > NAMES_MOST) return
    const name = text.slice(0, NAME_MOST)
    if (isVerbatim(name)) return
    let set = this.#kinds.get(kind)
    if (!set) this.#kinds.set(kind, (set = new Set()))
    if (set.has(name)) return
    set.add(name)
    this.#size++
  }
}

/**
 * Words of Lustre's grammar, of command lines and of this product. A name that equals one is replaced wherever a field holds
 * it, and stays in free text: there it cannot be distinguished from the word, and a rule without its keywords is not a rule.
 */
export const GRAMMAR_WORDS: ReadonlySet<string> = new Set([
  'jobid',
  'nid',
  'uid',
  'gid',
  'projid',
  'opcode',
  'nodemap',
  'rate',
  'rank',
  'reg',
  'hp',
  'tbf',
  'fifo',
  'crrn',
  'start',
  'stop',
  'change',
  'default',
  'root',
  'sluice',
  'lctl',
  'set_param',
  'get_param',
  'nrs_tbf_rule',
  'nrs_policies',
  'ost',
  'OSS',
  'OST',
  'MDS',
  'MDT',
  'MGS',
  'ost_io',
  'ost_create',
  'ost_seq',
  'mdt',
  'mds',
  'mgs',
  'ldlm_cancel',
  'sudo',
  'job_stats',
  'brw_stats',
  'job_id',
  'job',
  'user',
  'app',
  'host',
  'acct',
  'oss',
  'cluster',
  'fs',
  'rpcs',
  'RPC',
  'RPCs',
  'jobs',
  'rule',
  'rules',
  'target',
  'targets',
  'systemd-run',
])

/** Identifiers of Lustre, of its parameters and of this product, in which a short part between underscores is not a name. */
export const PRODUCT_IDENTIFIERS: ReadonlySet<string> = new Set(
  `set_param get_param list_param nrs_tbf_rule nrs_policies nrs_tbf_quantum nrs_crrn_quantum nrs_orr_quantum nrs_delay_min nrs_delay_max
   nrs_delay_pct ost_io ost_create ost_seq ost_out mdt_readpage mdt_setattr mdt_fld mdt_out mdt_seqs mdt_seqm mds_mdc mdt_mds ldlm_cbd
   ldlm_canceld ldlm_cancel ldlm_enqueue ldlm_namespaces lock_count lock_unused_count lock_timeouts resource_count pool_limit lru_size
   lru_max_age max_rpcs_in_flight max_mod_rpcs_in_flight max_dirty_mb max_pages_per_rpc max_read_ahead_mb cur_dirty_bytes job_stats
   job_id job_cleanup_interval jobid_var jobid_name brw_stats rpc_stats md_stats extent_stats req_history req_waittime req_qdepth
   req_active req_timeout req_buffer_history_max threads_min threads_max threads_started read_bytes write_bytes read_ops write_ops
   snapshot_time start_time elapsed_time get_info set_info samedir_rename crossdir_rename parallel_rename_file parallel_rename_dir
   regular_requests high_priority_requests ost_read ost_write ost_punch ost_setattr ost_getattr ost_statfs ost_sync ost_destroy
   mds_getattr mds_getattr_name mds_close mds_reint mds_readpage mds_connect mds_statfs mds_sync mds_getxattr mds_setattr mds_hsm
   rpcs_per_s read_bytes_per_s write_bytes_per_s service_ms queued_rpcs tokens_on_loan metadata_rpcs_per_s rate_per_s share_at_limit
   record_tokens o2ib_lnd ko2iblnd_map x86_64 recovery_status num_exports kbytes_free kbytes_total files_free files_total`
    .split(/\s+/)
    .filter((word) => word !== ''),
)

/** Words that may be the name of a program or an account: such a name is replaced in free text only as a separate word. */
export const COMMON_WORDS: ReadonlySet<string> = new Set([
  'read',
  'write',
  'open',
  'close',
  'stat',
  'sync',
  'find',
  'bytes',
  'samples',
  'unit',
  'limit',
  'queue',
  'queued',
  'server',
  'servers',
  'client',
  'clients',
  'other',
  'others',
  'control',
  'controller',
  'admin',
  'service',
  'system',
  'tokens',
  'token',
  'metadata',
  'policy',
  'policies',
  'lock',
  'locks',
  'event',
  'events',
  'table',
  'chart',
  'model',
  'train',
  'store',
  'graph',
  'python',
  'solve',
  'mount',
  'login',
  'batch',
  'shell',
  'backup',
  'check',
  'print',
  'point',
  'create',
  'mkdir',
  'rmdir',
  'rename',
  'unlink',
  'setattr',
  'getattr',
  'setxattr',
  'getxattr',
  'statfs',
  'fsync',
  'snapshot',
  'window',
  'level',
  'watch',
  'scope',
  'state',
  'while',
  'there',
  'which',
  'after',
  'before',
  'since',
])
