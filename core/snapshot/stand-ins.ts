/**
 * Which stand-in a name has. It follows from a keyed code of the name and what it is a name of, so it is the same in every bundle that
 * one key made, and without the key no candidate can be tried. Two names never share one: where the short codes of two meet, the later in
 * order takes a longer piece of its own code. No stand-in holds a name of the site.
 */
import { InvariantError } from '../base/result.ts'
import { HELPER_PREFIX, isControllerRule, isStandInRule, OPERATOR_PREFIX } from '../controllers/registry.ts'
import { splitJob, standInOfSeparator, type JobParts } from './job-parts.ts'
import { NameMatcher, type Boundary } from './name-matcher.ts'
import { COMMON_WORDS, GRAMMAR_WORDS, isKept, type Names, type PlainKind } from './names.ts'
import type { NameKind } from './notebook.ts'

/** A long keyed code of a name: digits and small letters, the same for the same, at least 24 of them. */
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
/** Names of five characters and more are replaced wherever they are; shorter ones as words. */
const ANYWHERE_LEAST = 5
const ATTEMPTS = 64
/** Names of a step, where it is gone in steps. */
const STEP = 500

const CODED: Readonly<Partial<Record<PlainKind, NameKind>>> = {
  ...{ filesystem: 'target', file: 'text', nodemap: 'text', id: 'user', address: 'host', key: 'text', plan: 'text' },
}
export const isNumber = (text: string): boolean => /^\d+(?:[_+]\d+)*(?:\[[\d,-]+\])?$/.test(text)

const SMALL_GRAMMAR: ReadonlySet<string> = new Set([...GRAMMAR_WORDS].map((word) => word.toLowerCase()))

/** Whether a name cannot be told from a word of the product's own: it is replaced in fields only. */
export function isProductWord(name: string): boolean {
  const small = name.toLowerCase()
  // A short name is in a prefix only where it is a word of it.
  const isInPrefix = (p: string): boolean =>
    small.length < ANYWHERE_LEAST ? p.slice(0, -1) === small || p === small : p.includes(small)
  return SMALL_GRAMMAR.has(small) || PREFIXES.some(isInPrefix)
}

/** Where a name counts in free text. */
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

export class StandIns {
  readonly names: Names
  readonly #code: NameCode
  readonly #known = new Map<string, Map<string, string>>()
  /** Stand-ins that were given, and whose. */
  readonly #given = new Map<string, string>()
  readonly #splits = new Map<string, JobParts>()
  #originals: NameMatcher<true> | undefined
  /** Parts of the job ids, by kind. */
  #parts: Map<PlainKind, Set<string>> | undefined

  constructor(names: Names, code: NameCode) {
    this.names = names
    this.#code = code
  }

  /** Whether a text was given as a stand-in: it stays what it is. No name of the site is one. */
  isGiven = (text: string): boolean => this.#given.has(text)

  given(): IterableIterator<string> {
    return this.#given.keys()
  }

  code(kind: NameKind, text: string): string {
    return this.#code(kind, text)
  }

  /** All names of a kind, those in job ids among them, in order. */
  namesOf(kind: PlainKind): string[] {
    const parts = this.#partsOf().get(kind)
    return [...new Set([...this.names.of(kind), ...(parts ?? [])])].sort()
  }

  /** Gives every known name its stand-in, in order: which of two that meet has the short one follows from the names alone. */
  settle(): void {
    for (const _ of this.settling()) void _
  }

  /** The same in steps of some hundred names; nothing may be asked for before the last. */
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
    if (isKept(text)) return text
    const table = this.#tableOf(kind)
    const known = table.get(text)
    if (known !== undefined) return known
    if (this.#given.has(text)) return text
    const made = this.#make(kind, text)
    table.set(text, made)
    return made
  }

  /**
   * Of a job id: its parts by their kinds, in their places; at most 31 bytes. Where that does not fit, the codes of the parts alone; where
   * that does not fit or is not its own either, one code for the whole.
   */
  job(id: string): string {
    if (isKept(id)) return id
    let table = this.#known.get('whole job')
    if (!table) this.#known.set('whole job', (table = new Map<string, string>()))
    const known = table.get(id)
    if (known !== undefined) return known
    if (this.#given.has(id)) return id
    const { parts, separators } = this.#split(id)
    const all = parts.map((p, i) => this.part(p, i === 0, parts.length === 1))
    const joined = (texts: readonly string[]): string =>
      texts.map((t, i) => t + (i < separators.length ? standInOfSeparator(separators[i] as string) : '')).join('')
    const codes = all.map((s) => s.slice(s.indexOf('-') + 1))
    const made =
      [joined(all), joined(codes)].find((s) => s.length <= JOB_MOST && this.#isFree(s, id)) ?? this.#make('job', id, 12)
    this.#given.set(made, id)
    table.set(id, made)
    return made
  }

  /** Of one part of a job id. Numbers are jobs at the beginning and users behind it. */
  part(text: string, isFirst: boolean, isOnly: boolean): string {
    if (isKept(text) || (text === '0' && !isFirst)) return text
    if (this.#given.has(text)) return text
    return this.of(this.#kindOfPart(text, isFirst, isOnly), text)
  }

  /** Whether a text with separators in it is one part of a job id. */
  isPart = (text: string): boolean =>
    this.names.of('exe').has(text) || this.names.of('host').has(text) || this.names.of('user').has(text)

  /** Rule names are at most 15 of [A-Za-z0-9_]; that of a controller's rule is a hash of its job, so it goes, too. */
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
        if (isKept(p) || (p === '0' && i > 0)) return
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
    // Whole job ids are made of their parts.
    const own = kind === 'job' ? [...(this.#partsOf().get('job') ?? [])].sort() : this.namesOf(kind)
    for (const [i, text] of own.entries()) {
      table.set(text, this.#make(kind, text))
      if (i % STEP === STEP - 1) yield
    }
  }

  #make(kind: PlainKind, text: string, digits = FORMS[kind][1]): string {
    const coded = CODED[kind] ?? (kind as NameKind)
    for (let n = 0; n < ATTEMPTS; n++) {
      const code = this.#code(coded, n === 0 ? text : `${text}\u0000${n}`)
      // A longer piece first, then another code.
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
      if (isStandInRule(text)) return HELPER_PREFIX + hexOf(code.slice(digits - 6), 7)
      return `${text.startsWith(OPERATOR_PREFIX) ? OPERATOR_PREFIX : 'r_'}${code.slice(0, digits)}`.slice(0, RULE_MOST)
    }
    // Names can be made to be in the way of a prefix; of a shorter one too few of them can be.
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
      // Between underscores stand codes and prefixes of ours.
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

/** In the order in which a text that is the name of several is taken. */
export const KINDS: readonly PlainKind[] = [
  ...(['job', 'user', 'host', 'account', 'exe', 'target', 'filesystem', 'cluster', 'file', 'rule'] as const),
  ...(['nodemap', 'text', 'plan', 'address'] as const),
]
