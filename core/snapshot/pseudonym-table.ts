/**
 * Assigns pseudonyms to names. A pseudonym is derived from a keyed code of the name and its kind, so it is the same in every
 * bundle made with one key, and cannot be guessed without the key. Two names never share one: if two short codes collide, the
 * later name in order takes a longer prefix of its own code. No pseudonym contains a name of the site.
 */
import { InvariantError } from '../base/result.ts'
import { HELPER_PREFIX, isControllerRule, isTemporaryRule, OPERATOR_PREFIX } from '../controllers/registry.ts'
import { splitJob, pseudonymSeparator, type JobParts } from './job-parts.ts'
import { NameMatcher, type Boundary } from './name-matcher.ts'
import { COMMON_WORDS, GRAMMAR_WORDS, isVerbatim, type Names, type PlainKind } from './names.ts'
import type { NameKind } from './notebook.ts'

/** Long keyed code of a name: digits and small letters, deterministic, at least 24 characters. */
export type NameCode = (kind: NameKind, text: string) => string

/** Longest job id that a server keeps, and longest name of a rule, bytes. */
const JOB_MOST = 31
const RULE_MOST = 15

const FORMS: Readonly<Record<PlainKind, readonly [prefix: string, digits: number]>> = {
  job: ['job-', 6],
  user: ['user-', 4],
  account: ['acct-', 4],
  exe: ['app-', 4],
  host: ['host-', 4],
  cluster: ['cluster-', 4],
  filesystem: ['fs-', 4],
  target: ['target-', 4],
  file: ['file-', 4],
  rule: ['r_', 6],
  nodemap: ['map_', 6],
  text: ['name-', 4],
  key: ['key-', 8],
  plan: ['plan-', 6],
  id: ['', 9],
  address: ['host-', 4],
}
const PREFIXES = [...Object.values(FORMS).map(([prefix]) => prefix), 'oss-', 'mds-']
/** Names of this length and longer are replaced anywhere; shorter ones as words. */
const ANYWHERE_LEAST = 5
const ATTEMPTS = 64
/** Names per step of the incremental build. */
const STEP = 500

const CODED: Readonly<Partial<Record<PlainKind, NameKind>>> = {
  filesystem: 'target',
  file: 'text',
  nodemap: 'text',
  id: 'user',
  address: 'host',
  key: 'text',
  plan: 'text',
}
export const isNumber = (text: string): boolean => /^\d+(?:[_+]\d+)*(?:\[[\d,-]+\])?$/.test(text)

const SMALL_GRAMMAR: ReadonlySet<string> = new Set([...GRAMMAR_WORDS].map((word) => word.toLowerCase()))

/** True if a name equals a term of the product, so that it is replaced in fields only. */
export function isProductWord(name: string): boolean {
  const small = name.toLowerCase()
  // A short name must match a whole word of the prefix.
  const isInPrefix = (p: string): boolean =>
    small.length < ANYWHERE_LEAST ? p.slice(0, -1) === small || p === small : p.includes(small)
  return SMALL_GRAMMAR.has(small) || PREFIXES.some(isInPrefix)
}

/** Boundary of a name in free text. */
export function boundaryOf(name: string): Boundary {
  if (isNumber(name) || COMMON_WORDS.has(name.toLowerCase())) return 'word'
  return name.length < ANYWHERE_LEAST ? 'joined' : 'anywhere'
}

const roleOf = (host: string): string =>
  (/^(oss|mds|mgs)/i.exec(host)?.[1] ?? 'host').toLowerCase().replace('mgs', 'mds')

const HEX = '0123456789abcdef'
const digitOf = (c: string): number => parseInt(c, 36)
const hexOf = (code: string, digits: number): string =>
  [...code.slice(0, digits)].map((c) => HEX[digitOf(c) % 16] as string).join('')

export class PseudonymTable {
  readonly names: Names
  readonly #code: NameCode
  readonly #known = new Map<string, Map<string, string>>()
  /** Assigned pseudonyms and their names. */
  readonly #given = new Map<string, string>()
  readonly #splits = new Map<string, JobParts>()
  #originals: NameMatcher<true> | undefined
  /** Parts of the job ids, by kind. */
  #parts: Map<PlainKind, Set<string>> | undefined

  constructor(names: Names, code: NameCode) {
    this.names = names
    this.#code = code
  }

  /** True if a text is an assigned pseudonym, which stays unchanged. No name of the site is one. */
  isGiven = (text: string): boolean => this.#given.has(text)

  given(): IterableIterator<string> {
    return this.#given.keys()
  }

  code(kind: NameKind, text: string): string {
    return this.#code(kind, text)
  }

  /** All names of a kind, including those in job ids, in order. */
  namesOf(kind: PlainKind): string[] {
    const parts = this.#partsOf().get(kind)
    return [...new Set([...this.names.of(kind), ...(parts ?? [])])].sort()
  }

  /** Assigns a pseudonym to every known name, in order: the result of a collision depends on the names alone. */
  settle(): void {
    for (const _ of this.settling()) void _
  }

  /** Assigns in steps of some hundred names; no lookups are allowed before the last step. */
  *settling(): Generator<undefined, void, void> {
    yield* this.#splitting()
    yield* this.#listing()
    for (const kind of KINDS) if (kind !== 'address') yield* this.#filling(kind)
    let n = 0
    for (const id of [...this.names.of('job')].sort()) {
      this.job(id)
      if (++n % STEP === 0) yield
    }
  }

  of(kind: PlainKind, text: string): string {
    if (isVerbatim(text)) return text
    const table = this.#tableOf(kind)
    const known = table.get(text)
    if (known !== undefined) return known
    if (this.#given.has(text)) return text
    const made = this.#make(kind, text)
    table.set(text, made)
    return made
  }

  /**
   * Pseudonym of a job id: its parts replaced by kind, in place; at most 31 bytes. If that is too long, the codes of the parts
   * alone; if that is too long or not unique, one code for the whole.
   */
  job(id: string): string {
    if (isVerbatim(id)) return id
    let table = this.#known.get('whole job')
    if (!table) this.#known.set('whole job', (table = new Map<string, string>()))
    const known = table.get(id)
    if (known !== undefined) return known
    if (this.#given.has(id)) return id
    const { parts, separators } = this.#split(id)
    const all = parts.map((p, i) => this.part(p, i === 0, parts.length === 1))
    const joined = (texts: readonly string[]): string =>
      texts.map((t, i) => t + (i < separators.length ? pseudonymSeparator(separators[i] as string) : '')).join('')
    const codes = all.map((s) => s.slice(s.indexOf('-') + 1))
    const made =
      [joined(all), joined(codes)].find((s) => s.length <= JOB_MOST && this.#isFree(s, id)) ?? this.#make('job', id, 12)
    this.#given.set(made, id)
    table.set(id, made)
    return made
  }

  /** Pseudonym of one part of a job id. Numbers are jobs at the beginning and users after it. */
  part(text: string, isFirst: boolean, isOnly: boolean): string {
    if (isVerbatim(text) || (text === '0' && !isFirst)) return text
    if (this.#given.has(text)) return text
    return this.of(this.#kindOfPart(text, isFirst, isOnly), text)
  }

  /** True if a text with separators is a single part of a job id. */
  isPart = (text: string): boolean =>
    this.names.of('exe').has(text) || this.names.of('host').has(text) || this.names.of('user').has(text)

  /** Rule names are at most 15 of [A-Za-z0-9_]; a controller's rule name is a hash of its job, so it is replaced too. */
  rule(name: string): string {
    return this.of('rule', name)
  }

  #split(id: string): JobParts {
    let split = this.#splits.get(id)
    if (!split) this.#splits.set(id, (split = splitJob(id, this.isPart)))
    return split
  }

  #kindOfPart(text: string, isFirst: boolean, isOnly: boolean): PlainKind {
    if (isNumber(text)) return isFirst ? 'job' : 'user'
    if (/^u\d+$/.test(text)) return 'user'
    for (const kind of ['exe', 'user', 'host', 'account'] as const) if (this.names.of(kind).has(text)) return kind
    return isOnly ? 'job' : 'exe'
  }

  #partsOf(): Map<PlainKind, Set<string>> {
    if (!this.#parts) for (const _ of this.#splitting()) void _
    return this.#parts as Map<PlainKind, Set<string>>
  }

  *#splitting(): Generator<undefined, void, void> {
    if (this.#parts) return
    const found = new Map<PlainKind, Set<string>>()
    let n = 0
    for (const id of this.names.of('job')) {
      if (++n % STEP === 0) yield
      const { parts } = this.#split(id)
      parts.forEach((p, i) => {
        if (isVerbatim(p) || (p === '0' && i > 0)) return
        const kind = this.#kindOfPart(p, i === 0, parts.length === 1)
        let set = found.get(kind)
        if (!set) found.set(kind, (set = new Set()))
        set.add(p)
      })
    }
    this.#parts = found
  }

  #tableOf(kind: PlainKind): Map<string, string> {
    if (!this.#known.has(kind)) for (const _ of this.#filling(kind)) void _
    return this.#known.get(kind) as Map<string, string>
  }

  *#filling(kind: PlainKind): Generator<undefined, void, void> {
    if (this.#known.has(kind)) return
    const table = new Map<string, string>()
    this.#known.set(kind, table)
    // Whole job ids are built from their parts.
    const texts = kind === 'job' ? [...(this.#partsOf().get('job') ?? [])].sort() : this.namesOf(kind)
    for (const [i, text] of texts.entries()) {
      table.set(text, this.#make(kind, text))
      if (i % STEP === STEP - 1) yield
    }
  }

  #make(kind: PlainKind, text: string, digits = FORMS[kind][1]): string {
    const coded = CODED[kind] ?? (kind as NameKind)
    for (let n = 0; n < ATTEMPTS; n++) {
      const code = this.#code(coded, n === 0 ? text : `${text}\u0000${n}`)
      // Tries longer prefixes of the code first, then another code.
      for (const length of [digits, digits + 1, digits + 2]) {
        const made = this.#form(kind, text, code, length, n)
        if (!this.#isFree(made, text)) continue
        this.#given.set(made, text)
        return made
      }
    }
    throw new InvariantError('a name has a stand-in that no other name has')
  }

  #form(kind: PlainKind, text: string, code: string, digits: number, attempt: number): string {
    if (kind === 'id') {
      const value = [...code.slice(0, 12)].reduce((n, c) => (n * 36 + digitOf(c)) % 900_000_000, digits)
      return String(100_000_000 + value)
    }
    if (kind === 'rule') {
      if (isControllerRule(text)) {
        const prefix = text.slice(0, text.indexOf('_') + 1)
        return prefix + hexOf(code.slice(digits - 6), 10)
      }
      if (isTemporaryRule(text)) return HELPER_PREFIX + hexOf(code.slice(digits - 6), 7)
      return `${text.startsWith(OPERATOR_PREFIX) ? OPERATOR_PREFIX : 'r_'}${code.slice(0, digits)}`.slice(0, RULE_MOST)
    }
    // Names could block a prefix on purpose; too few names can block a shorter one.
    const prefix = kind === 'host' ? `${roleOf(text)}-` : FORMS[kind][0]
    return (attempt < ATTEMPTS / 2 ? prefix : 'x-') + code.slice(0, digits)
  }

  #isFree(made: string, text: string): boolean {
    const owner = this.#given.get(made)
    if (owner !== undefined) return owner === text
    return this.#namesMatcher().next(made, 0) === undefined
  }

  #namesMatcher(): NameMatcher<true> {
    if (!this.#originals) for (const _ of this.#listing()) void _
    return this.#originals as NameMatcher<true>
  }

  *#listing(): Generator<undefined, void, void> {
    if (this.#originals) return
    const all = new NameMatcher<true>()
    let n = 0
    const add = (name: string): void => {
      // Text between underscores in a pseudonym is made of Sluice's codes and prefixes.
      const boundary = boundaryOf(name)
      if (!isProductWord(name)) all.add(name, boundary === 'joined' ? 'word' : boundary, true)
    }
    for (const of of [...this.names.kinds.map((kind) => this.names.of(kind)), ...this.#partsOf().values()]) {
      for (const name of of) {
        add(name)
        if (++n % STEP === 0) yield
      }
    }
    this.#originals = all
  }
}

/** Precedence of the kinds, if a text is a name of several. */
export const KINDS: readonly PlainKind[] = [
  ...(['job', 'user', 'host', 'account', 'exe', 'target', 'filesystem', 'cluster', 'file', 'rule'] as const),
  ...(['nodemap', 'text', 'plan', 'address'] as const),
]
