/**
 * Pseudonyms for the names of a site: users, accounts, programs, jobs, hosts, clusters, file systems, rules, addresses. They
 * are derived from a keyed code (see `PseudonymTable`), so they are the same in every bundle of one console, cannot be reversed by
 * guessing names without the key, and are never shared by two names.
 */
import { invariant } from '../base/result.ts'
import { ended, type Steps } from '../base/steps.ts'
import { Addresses, isAddress } from './redact-address.ts'
import { ConditionRedactor } from './redact-conditions.ts'
import { replaceStrings } from './redact-json.ts'
import { filesystemOf, targetPseudonym } from './redact-target.ts'
import { TextRedactor, type Found } from './redact-text.ts'
import { isVerbatim, type Names, type PlainKind } from './names.ts'
import type { NameKind } from './notebook.ts'
import type { Redactor } from './redactor.ts'
import { KINDS, PseudonymTable, type NameCode } from './pseudonym-table.ts'

export interface NamePair {
  readonly from: string
  readonly to: string
}

export interface Pseudonyms extends Redactor {
  /** Names of one kind with their pseudonyms, in order; default: all. */
  pairs(kind: PlainKind, limit?: number): { readonly count: number; readonly pairs: readonly NamePair[] }
  readonly kinds: readonly PlainKind[]
  /** Names that would be replaced in free text, or in prose, each once. */
  findings(text: string, isProse?: boolean): readonly NamePair[]
  /** Number of rule patterns that have no exact equivalent under pseudonyms. */
  readonly inexact: number
}

const RESOURCE = /^(.*?)( \/ \d+)$/s
/** A service of a server: `mds01/mdt_readpage`. */
const SERVICE = /^([^/]+)(\/(?:ost|mdt|mds|mgs|ldlm)(?:_[a-z]+)*)$/
const PLACE = /^\d+ (?:nodes?|targets?|servers?|jobs?|clients?|stages?)$/

/** @param code  keyed code of a name, deterministic: digits and small letters, 24 or more (see `pseudonymCode`). */
export function makeRedactor(names: Names, code: NameCode): Pseudonyms {
  return ended(redactorInSteps(names, code))
}

/** Builds the redactor in steps of a few milliseconds, for use on a busy thread. */
export function* redactorInSteps(names: Names, code: NameCode): Steps<Pseudonyms> {
  invariant(names.isComplete !== false, 'every name is known before any is replaced')
  const table = new PseudonymTable(names, code)
  yield* table.settling()
  return redactorOf(table)
}

function redactorOf(table: PseudonymTable): Pseudonyms {
  const { names } = table
  const addresses = new Addresses(table)
  const conditions = new ConditionRedactor(table, addresses)
  const texts = new TextRedactor(table, addresses, conditions)
  const free = (text: string): string => texts.of(text, false)

  /** In place of a host there may also be a target, a job, a resource, or a number. */
  const host = (text: string): string => {
    if (isAddress(text)) return addresses.of(text)
    const [, server, service] = SERVICE.exec(text) ?? []
    if (server !== undefined && service !== undefined) return host(server) + service
    if (names.of('host').has(text)) return table.of('host', text)
    if (PLACE.test(text)) return text
    if (filesystemOf(text) !== undefined) return targetPseudonym(table, text, free)
    if (RESOURCE.test(text)) return file(text)
    for (const kind of ['job', 'cluster', 'target'] as const) if (names.of(kind).has(text)) return plain(kind, text)
    return /\s/.test(text) ? free(text) : table.of('host', text)
  }
  const file = (text: string): string => {
    const [, path, stripe] = RESOURCE.exec(text) ?? []
    return path === undefined ? table.of('file', text) : table.of('file', path) + (stripe ?? '')
  }
  const plain = (kind: PlainKind, text: string): string => {
    if (isVerbatim(text) || table.isGiven(text)) return text
    switch (kind) {
      case 'job':
        return table.job(text)
      case 'user':
        return user(text)
      case 'host':
        return host(text)
      case 'address':
        return addresses.of(text)
      case 'target':
        return targetPseudonym(table, text, free)
      case 'file':
        return file(text)
      case 'text':
        return free(text)
      default:
        return table.of(kind, text)
    }
  }
  /** `user@host` is both. */
  const user = (text: string): string => {
    const at = text.indexOf('@')
    if (at <= 0 || at === text.length - 1) return table.of('user', text)
    return `${plain('user', text.slice(0, at))}@${plain('host', text.slice(at + 1))}`
  }
  const known = new Map<string, string>()
  return {
    isOn: true,
    kinds: KINDS,
    get inexact() {
      return conditions.inexact + addresses.inexact
    },
    name: (kind: NameKind, text) => plain(kind, text),
    conditions: (text) => {
      let made = known.get(text)
      if (made === undefined) {
        made = conditions.of(text)
        if (known.size < 10_000) known.set(text, made)
      }
      return made
    },
    text: free,
    prose: (text) => texts.of(text, true),
    json: (value) =>
      replaceStrings(value, (kind, text) => {
        if (kind === 'kept') return text
        return kind === 'free' ? free(text) : plain(kind, text)
      }),
    pairs: (kind, limit = Infinity) => {
      // Plain job numbers are contained in the job ids.
      const all = kind === 'job' ? [...names.of('job')].sort() : table.namesOf(kind)
      const pairs = all.slice(0, limit).map((from) => ({ from, to: plain(kind, from) }))
      return { count: all.length, pairs }
    },
    findings: (text, isProse = false) => {
      const found = new Map<string, string>()
      const take: Found = (from, to) => void found.set(from, to)
      texts.of(text, isProse, take)
      return [...found].map(([from, to]) => ({ from, to }))
    },
  }
}

export { filesystemOf }
