/**
 * Redacts free text: known names, and names recognized by their form.
 *
 * - Names of five characters and more are replaced wherever they occur, shorter ones as separate words or between underscores,
 *   common words (COMMON_WORDS) only as separate words, all of them ignoring case; words of the grammar (GRAMMAR_WORDS) stay. A
 *   name is also found in other printed forms: escaped by Lustre, in JSON, quoted for a shell, percent-encoded, as UTF-8 bytes.
 * - Numbers are replaced only in the context of a job id: after `job`, `jobid`, `job_id`, `slurm-` any number; after `jobs`, `#`,
 *   `user` and before a dot and a letter known ones; after `uid`, `gid`, `projid` any. All other numbers stay, except in prose:
 *   there a known job number of four digits and more that stands alone and has no unit is a job, as in `4690 floods OST0003`.
 * - By form: conditions of rules, rule names that contain a hash of a job, IP addresses and NIDs, fingerprints and public keys.
 */
import { CONTROLLER_RULE, TEMPORARY_RULE } from '../controllers/registry.ts'
import type { Addresses } from './redact-address.ts'
import { isIpv4 } from './redact-address.ts'
import type { ConditionRedactor } from './redact-conditions.ts'
import { NameMatcher } from './name-matcher.ts'
import { printedForms } from './printed-forms.ts'
import type { PlainKind } from './names.ts'
import { targetPseudonym } from './redact-target.ts'
import { boundaryOf, isNumber, isProductWord, KINDS, type PseudonymTable } from './pseudonym-table.ts'

/** Callback for each name found, with its replacement. */
export type Found = (from: string, to: string) => void

const IPV6 = String.raw`(?=[0-9a-fA-F]{0,4}:)(?<![\w:.])(?:(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{1,4}){0,6}::(?:[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){0,6})?)(?![\w:])`
/** Forms of names. Every alternative begins with a rare token, and its parts are bounded. */
const USUAL = [
  String.raw`(?<conditions>\b(?:jobid|nid|uid|gid|projid|nodemap|opcode)[ \t]{0,8}=[ \t]{0,8}\{[^{}\n]{0,8192}\})`,
  String.raw`(?<rule>\b${CONTROLLER_RULE}\b|\b${TEMPORARY_RULE}\b)`,
  String.raw`(?<=(?:\b(?:reg|hp) {1,4}|nrs_tbf_rule=["'\\]{0,8})(?:start|stop|change) {1,4})(?<name>[A-Za-z0-9_]{1,64})`,
  String.raw`(?=\d)(?<=\b(?:[Jj]ob|jobid|job_id|job-id|JobId|JobID|JOBID|JOB)[ \t]{0,4}[:=#]?[ \t]{0,4}["'({]?|\bslurm-)(?<job>\d{1,20}(?:[_+]\d{1,9})?)(?![\w%]|\.\w| ?(?:s|ms|min|h|RPC)\b)`,
  String.raw`(?=\d)(?<=\b(?:jobs|jobids|[Jj]ob ids|JOBS|Jobs)[ \t:=]{1,4}(?:\d{1,20}(?:, and |, or | and | or |[,;] ?| )){0,32}|#)(?<known>\d{1,20}(?:[_+]\d{1,9})?)(?![\w%]|\.\w)`,
  String.raw`(?=\d)(?<=\b(?:user|users|User)[ \t]{0,4}[:=]?[ \t]{0,4})(?<uid>\d{1,10})(?![\w%]|\.\w)`,
  String.raw`(?=\d)(?<=\b(?:uid|UID|gid|GID|projid|PROJID)[ \t]{0,4}[:=]?[ \t]{0,4})(?<id>\d{1,10})(?![\w%]|\.\w)`,
  String.raw`(?=\d)(?<![\w.])(?<head>\d{1,20}(?:[_+]\d{1,9})?)(?=\.[A-Za-z_])`,
  String.raw`(?<address>(?<!\d|\d\.)\d{1,3}(?:\.\d{1,3}){3}(?![\d]|\.\d))`,
]
const RARE = [
  String.raw`(?<key>\bSHA256:[A-Za-z0-9+/]{20,64}=?|\bMD5:(?:[0-9a-f]{2}:){15}[0-9a-f]{2}|\bAAAA[A-Za-z0-9+/]{20,2000}={0,2}|\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b)`,
  String.raw`(?<six>${IPV6})`,
]
/** Units and nouns after a number in prose: such a number is not a job id. */
const UNITS = String.raw`[kMGT]?i?B(?:\/s)?|RPCs?|IOPS|[nmu\u00b5]?s|min|h|d|days?|hours?|minutes?|seconds?|ops?|bytes|tokens?|locks?|jobs?|requests?|files?|nodes?|clients?|targets?|servers?|rules?|seeds?|events?|samples?|records?|times`
const BARE = String.raw`(?=\d)(?<![\w.,:;=%@/+-])(?<bare>\d{4,20}(?:[_+]\d{1,9})?)(?![\w%=/]|[.,:]\d|-\d|[ \u00a0\u202f]?(?:%|(?:${UNITS})(?![\w-])))`
const FORMS = new RegExp(USUAL.join('|'), 'g')
const ALL_FORMS = new RegExp([...RARE, ...USUAL].join('|'), 'g')
const PROSE_FORMS = new RegExp([...RARE, ...USUAL, BARE].join('|'), 'g')
/** True if a text may contain a fingerprint, a key, or an address with colons; few do. */
const mayBeRare = (text: string): boolean =>
  ['::', 'SHA256:', 'MD5:', 'AAAA'].some((sign) => text.includes(sign)) || /(?:[0-9a-fA-F]{1,4}:){5}/.test(text)

/** Maximum number of passes until no names are left; a second pass is needed if a pseudonym and its neighbors form a name. */
const PASSES = 4
/** Largest number of names of which every printed form is searched. */
const FORMS_MOST = 5_000
/** Size of the line cache, and maximum length of a cached line. */
const LINES_MOST = 20_000
const LINE_MOST = 2_000

export class TextRedactor {
  readonly #pseudonyms: PseudonymTable
  readonly #addresses: Addresses
  readonly #conditions: ConditionRedactor
  #matcher: NameMatcher<string> | undefined
  /** Redacted text by line; of prose, after a line break. */
  readonly #lines = new Map<string, string>()
  #isAcrossLines = false

  constructor(pseudonyms: PseudonymTable, addresses: Addresses, conditions: ConditionRedactor) {
    this.#pseudonyms = pseudonyms
    this.#addresses = addresses
    this.#conditions = conditions
  }

  /** @param isProse  a sentence of a person or of Sluice, in which a job may be a bare number. */
  of(text: string, isProse: boolean, found?: Found): string {
    if (text === '') return text
    this.#matching()
    // Commands repeat: most lines of an audit occur many times. Names with line breaks require the whole text.
    if (found || this.#isAcrossLines) return this.#wholeText(text, isProse, found)
    if (!text.includes('\n')) return this.#line(text, isProse)
    return text
      .split('\n')
      .map((line) => this.#line(line, isProse))
      .join('\n')
  }

  #line(line: string, isProse: boolean): string {
    const key = isProse ? `\n${line}` : line
    const known = this.#lines.get(key)
    if (known !== undefined) return known
    const made = this.#wholeText(line, isProse, undefined)
    if (line.length <= LINE_MOST) {
      if (this.#lines.size >= LINES_MOST) this.#lines.clear()
      this.#lines.set(key, made)
    }
    return made
  }

  #wholeText(text: string, isProse: boolean, found: Found | undefined): string {
    let now = text
    for (let i = 0; i < PASSES; i++) {
      // A name may start within a recognized form and end after it, so the whole text is searched again.
      const formed = this.#pass(now, isProse, i === 0 ? found : undefined)
      const next = this.#known(formed, 0, formed.length, i === 0 ? found : undefined)
      if (next === now) return now
      now = next
    }
    return now
  }

  #pass(text: string, isProse: boolean, found: Found | undefined): string {
    let out = ''
    let from = 0
    for (const m of text.matchAll(isProse ? PROSE_FORMS : mayBeRare(text) ? ALL_FORMS : FORMS)) {
      const to = this.#form(m.groups ?? {}, m[0])
      if (to === undefined) continue
      out += this.#known(text, from, m.index, found) + to
      if (to !== m[0]) found?.(m[0], to)
      from = m.index + m[0].length
    }
    return out + this.#known(text, from, text.length, found)
  }

  /** Pseudonym of a match of a form; undefined if it is not a name after all. */
  #form(groups: Readonly<Record<string, string | undefined>>, all: string): string | undefined {
    const { conditions, rule, name, key, address, six, job, known, uid, id, head, bare } = groups
    if (conditions !== undefined) return this.#conditions.of(conditions)
    if (rule !== undefined || name !== undefined) return this.#pseudonyms.rule((rule ?? name) as string)
    if (key !== undefined) return this.#pseudonyms.of('key', all)
    if (six !== undefined) return this.#addresses.of(all)
    if (address !== undefined) return isIpv4(all) ? this.#addresses.of(all) : undefined
    if (job !== undefined) return this.#pseudonyms.part(job, true, true)
    // As in the conditions of a rule: 0 is root; the last two are the reserved ids.
    if (id !== undefined) return /^0+$|^429496729[45]$/.test(id) ? undefined : this.#pseudonyms.of('id', id)
    const isJob = (text: string): boolean => this.#jobNumbers().has(text)
    for (const number of [known, head, bare])
      if (number !== undefined && isJob(number)) return this.#pseudonyms.part(number, true, true)
    return uid !== undefined && this.#userNumbers().has(uid) ? this.#pseudonyms.of('user', uid) : undefined
  }

  /** Replaces known names in [from, to); the surrounding characters determine word boundaries. */
  #known(text: string, from: number, to: number, found: Found | undefined): string {
    if (from >= to) return ''
    const matcher = this.#matching()
    const piece = from === 0 && to === text.length ? text : text.slice(from, to)
    let out = ''
    let done = 0
    for (let m = matcher.next(piece, 0); m; m = matcher.next(piece, m.end)) {
      out += piece.slice(done, m.at) + m.value
      done = m.end
      if (found) {
        const name = piece.slice(m.at, m.end)
        if (name !== m.value) found(name, m.value)
      }
    }
    return out === '' && done === 0 ? piece : out + piece.slice(done)
  }

  #pseudonymOf(kind: PlainKind, name: string): string {
    const pseudonyms = this.#pseudonyms
    if (kind === 'address') return this.#addresses.of(name)
    if (kind === 'target') return targetPseudonym(pseudonyms, name, (rest) => rest)
    // A number at the start of an id is a job; a whole id is built from its parts.
    return kind === 'job' ? pseudonyms.job(name) : pseudonyms.of(kind, name)
  }

  #numbers: { readonly job: ReadonlySet<string>; readonly user: ReadonlySet<string> } | undefined
  #numbersOf(): { readonly job: ReadonlySet<string>; readonly user: ReadonlySet<string> } {
    const of = (kind: 'job' | 'user'): Set<string> => new Set(this.#pseudonyms.namesOf(kind).filter(isNumber))
    return (this.#numbers ??= { job: of('job'), user: of('user') })
  }
  #jobNumbers = (): ReadonlySet<string> => this.#numbersOf().job
  #userNumbers = (): ReadonlySet<string> => this.#numbersOf().user

  #matching(): NameMatcher<string> {
    if (this.#matcher) return this.#matcher
    const matcher = (this.#matcher = new NameMatcher<string>())
    const pseudonyms = this.#pseudonyms
    pseudonyms.settle()
    // Pseudonyms already in the text stay, even if a name is part of one.
    for (const given of pseudonyms.given()) matcher.add(given, given.length < 5 ? 'word' : 'anywhere', given)
    for (const fs of pseudonyms.namesOf('filesystem')) {
      const to = pseudonyms.of('filesystem', fs)
      for (const kind of ['OST', 'MDT']) matcher.add(`${fs}-${kind}`, 'anywhere', `${to}-${kind}`)
    }
    const isFew = pseudonyms.names.size > FORMS_MOST
    for (const kind of KINDS) {
      for (const name of pseudonyms.namesOf(kind)) {
        if (isProductWord(name) || isNumber(name)) continue
        const to = this.#pseudonymOf(kind, name)
        if (name.includes('\n')) this.#isAcrossLines = true
        matcher.add(name, boundaryOf(name), to)
        for (const form of printedForms(name, isFew)) {
          matcher.add(form, boundaryOf(form), to)
        }
      }
    }
    return matcher
  }
}
