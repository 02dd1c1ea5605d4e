/**
 * The names of a site, by what they are names of: what must not leave it. Whoever collects them puts every one in that can stand
 * anywhere in a bundle; words that Lustre or this product made are no names.
 */
import type { NameKind } from './notebook.ts'

/** NameKind, and what only conditions, targets and resources have. */
export type PlainKind = NameKind | 'filesystem' | 'file' | 'nodemap' | 'id' | 'address' | 'key'

/** Longest name that is known; longer ones are cut on their way into the history. */
export const NAME_MOST = 512
/** Most names of all kinds. Beyond it nothing is exported with pseudonyms: half of the names would pass. */
export const NAMES_MOST = 400_000

export interface Names {
  of(kind: PlainKind): ReadonlySet<string>
  readonly kinds: readonly PlainKind[]
  readonly size: number
  /** false: not every name is in it, and nothing may be exported by it. */
  readonly isWhole?: boolean
}

/** What is on every cluster, or was made here: it stays. */
const KEPT: ReadonlySet<string> = new Set([
  ...['', '*', 'default', 'root', 'u0', 'alert', 'sluice', 'unknown'],
  ...['sluice.matches.nothing', 'sluice_rematch', 'sluice_rematch2', '0@lo'],
])
const KEPT_FORM = /^\(\d[\d ,.\u202f\u00a0]* other jobs?\)$|^[?\-–—·.\s]+$/

/** Whether a text in the place of a name names nobody. root (and uid 0) is no person. */
export const isKept = (text: string): boolean => KEPT.has(text) || KEPT_FORM.test(text)

export class NameBook implements Names {
  readonly #kinds = new Map<PlainKind, Set<string>>()
  #size = 0

  /** Whether all that was put in is there: false beyond the bound, and nothing may be exported with pseudonyms then. */
  get isWhole(): boolean {
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

  /** @param text  a name longer than any can be is taken as far as names go. */
  add(kind: PlainKind, text: string | null | undefined): void {
    if (typeof text !== 'string' || this.#size > NAMES_MOST) return
    const name = text.slice(0, NAME_MOST)
    if (isKept(name)) return
    let set = this.#kinds.get(kind)
    if (!set) this.#kinds.set(kind, (set = new Set()))
    if (set.has(name)) return
    set.add(name)
    this.#size++
  }
}

/**
 * Words of Lustre's grammar, of command lines and of this product. A name that is one of them is replaced wherever a field holds it,
 * and stays in free text: there it cannot be told from the word, and a rule without its words is no rule.
 */
export const GRAMMAR_WORDS: ReadonlySet<string> = new Set([
  ...['jobid', 'nid', 'uid', 'gid', 'projid', 'opcode', 'nodemap', 'rate', 'rank', 'reg', 'hp', 'tbf', 'fifo', 'crrn'],
  ...['start', 'stop', 'change', 'default', 'root', 'sluice', 'lctl', 'set_param', 'get_param', 'nrs_tbf_rule'],
  ...['nrs_policies', 'ost', 'OSS', 'OST', 'MDS', 'MDT', 'MGS', 'ost_io', 'ost_create', 'ost_seq', 'mdt', 'mds', 'mgs'],
  ...['ldlm_cancel', 'sudo', 'job_stats', 'brw_stats', 'job_id', 'job', 'user', 'app', 'host', 'acct', 'oss'],
  ...['cluster', 'fs', 'rpcs', 'RPC', 'RPCs', 'jobs', 'rule', 'rules', 'target', 'targets', 'systemd-run'],
])

/** Words that may well be the name of a program or an account: such a name is replaced in free text where it stands alone. */
export const COMMON_WORDS: ReadonlySet<string> = new Set([
  ...['read', 'write', 'open', 'close', 'stat', 'sync', 'find', 'bytes', 'samples', 'unit', 'limit', 'queue', 'queued'],
  ...[
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
  ],
  ...[
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
  ],
  ...[
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
  ],
  ...['create', 'mkdir', 'rmdir', 'rename', 'unlink', 'setattr', 'getattr', 'setxattr', 'getxattr', 'statfs', 'fsync'],
  ...['snapshot', 'window', 'level', 'watch', 'scope', 'state', 'while', 'there', 'which', 'after', 'before', 'since'],
])
