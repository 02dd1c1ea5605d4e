/**
 * Free text: every known name in it, and what is a name by its form whoever wrote it.
 *
 * - Names of five characters and more are replaced wherever they are, shorter ones as words of their own or between underscores, common
 *   words (COMMON_WORDS) as words alone, all of them whatever their case; words of the grammar (GRAMMAR_WORDS) stay. A name is also found as it is printed: escaped by Lustre, in JSON, quoted for a shell,
 *   percent-encoded, as bytes of UTF-8.
 * - Numbers are replaced only where they are job ids by what is beside them: behind `job`, `jobid`, `job_id`, `slurm-` any number; behind
 *   `jobs`, `#`, `user` and before a dot and a letter those that are known; behind `uid`, `gid`, `projid` any. Every other figure stays.
 * - By form: conditions of rules, rule names that hold a hash of a job, IP addresses and NIDs, fingerprints and public keys.
 */
import { CONTROLLER_RULE, STAND_IN_RULE } from '../controllers/registry.ts'
import type { Addresses } from './redact-address.ts'
import { isIpv4 } from './redact-address.ts'
import type { ConditionRedactor } from './redact-conditions.ts'
import { NameMatcher } from './name-matcher.ts'
import { printedForms } from './printed-forms.ts'
import type { PlainKind } from './names.ts'
import { targetStandIn } from './redact-target.ts'
import { boundaryOf, isNumber, isProductWord, KINDS, type StandIns } from './stand-ins.ts'

/** One name as it was found, and what stands there now. */
export type Found = (from: string, to: string) => void

const IPV6 = String.raw`(?=[0-9a-fA-F]{0,4}:)(?<![\w:.])(?:(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{1,4}){0,6}::(?:[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){0,6})?)(?![\w:])`
/** What is a name by its form. Every alternative begins with something rare, and its parts are bounded. */
const USUAL = [
  String.raw`(?<conditions>\b(?:jobid|nid|uid|gid|projid|nodemap|opcode)[ \t]{0,8}=[ \t]{0,8}\{[^{}\n]{0,8192}\})`,
  String.raw`(?<rule>\b${CONTROLLER_RULE}\b|\b${STAND_IN_RULE}\b)`,
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
const FORMS = new RegExp(USUAL.join('|'), 'g')
const ALL_FORMS = new RegExp([...RARE, ...USUAL].join('|'), 'g')
/** Whether a text may have a fingerprint, a key, or an address with colons: few have. */
const mayBeRare = (text: string): boolean =>
  ['::', 'SHA256:', 'MD5:', 'AAAA'].some((sign) => text.includes(sign)) || /(?:[0-9a-fA-F]{1,4}:){5}/.test(text)

/** Passes over a text until nothing in it is a name; where a stand-in and what is beside it make one, a second is needed. */
const PASSES = 4
/** Names of which every printed form is looked for. */
const FORMS_MOST = 5_000
/** Lines that are remembered, and how long they may be. */
const LINES_MOST = 20_000
const LINE_MOST = 2_000

export class TextRedactor {
  readonly #standIns: StandIns
  readonly #addresses: Addresses
  readonly #conditions: ConditionRedactor
  #matcher: NameMatcher<string> | undefined
  readonly #lines = new Map<string, string>()
  #isAcrossLines = false

  constructor(standIns: StandIns, addresses: Addresses, conditions: ConditionRedactor) {
    this.#standIns = standIns
    this.#addresses = addresses
    this.#conditions = conditions
  }

  of(text: string, found?: Found): string {
    if (text === '') return text
    this.#matching()
    // Commands repeat: most lines of an audit are there many times. A name with a line break in it is only found in the whole.
    if (found || this.#isAcrossLines) return this.#whole(text, found)
    if (!text.includes('\n')) return this.#line(text)
    return text
      .split('\n')
      .map((line) => this.#line(line))
      .join('\n')
  }

  #line(line: string): string {
    const known = this.#lines.get(line)
    if (known !== undefined) return known
    const made = this.#whole(line, undefined)
    if (line.length <= LINE_MOST) {
      if (this.#lines.size >= LINES_MOST) this.#lines.clear()
      this.#lines.set(line, made)
    }
    return made
  }

  #whole(text: string, found: Found | undefined): string {
    let now = text
    for (let i = 0; i < PASSES; i++) {
      // A name may begin in what is a name by its form and end behind it: it is looked for in the whole, too.
      const formed = this.#pass(now, i === 0 ? found : undefined)
      const next = this.#known(formed, 0, formed.length, i === 0 ? found : undefined)
      if (next === now) return now
      now = next
    }
    return now
  }

  #pass(text: string, found: Found | undefined): string {
    let out = ''
    let from = 0
    for (const m of text.matchAll(mayBeRare(text) ? ALL_FORMS : FORMS)) {
      const to = this.#form(m.groups ?? {}, m[0])
      if (to === undefined) continue
      out += this.#known(text, from, m.index, found) + to
      if (to !== m[0]) found?.(m[0], to)
      from = m.index + m[0].length
    }
    return out + this.#known(text, from, text.length, found)
  }

  /** What stands for something that is a name by its form; undefined where it is none after all. */
  #form(groups: Readonly<Record<string, string | undefined>>, all: string): string | undefined {
    const { conditions, rule, name, key, address, six, job, known, uid, id, head } = groups
    if (conditions !== undefined) return this.#conditions.of(conditions)
    if (rule !== undefined || name !== undefined) return this.#standIns.rule((rule ?? name) as string)
    if (key !== undefined) return this.#standIns.of('key', all)
    if (six !== undefined) return this.#addresses.of(all)
    if (address !== undefined) return isIpv4(all) ? this.#addresses.of(all) : undefined
    if (job !== undefined) return this.#standIns.part(job, true, true)
    // As in the conditions of a rule: 0 is root's, the two last are nobody's.
    if (id !== undefined) return /^0+$|^429496729[45]$/.test(id) ? undefined : this.#standIns.of('id', id)
    const isJob = (text: string): boolean => this.#jobNumbers().has(text)
    for (const number of [known, head])
      if (number !== undefined && isJob(number)) return this.#standIns.part(number, true, true)
    return uid !== undefined && this.#userNumbers().has(uid) ? this.#standIns.of('user', uid) : undefined
  }

  /** Known names in [from, to); what is beside the stretch tells whether a word goes on. */
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

  #standInOf(kind: PlainKind, name: string): string {
    const standIns = this.#standIns
    if (kind === 'address') return this.#addresses.of(name)
    if (kind === 'target') return targetStandIn(standIns, name, (rest) => rest)
    // A number at the beginning of an id is a job; a whole id is made of its parts.
    return kind === 'job' ? standIns.job(name) : standIns.of(kind, name)
  }

  #numbers: { readonly job: ReadonlySet<string>; readonly user: ReadonlySet<string> } | undefined
  #numbersOf(): { readonly job: ReadonlySet<string>; readonly user: ReadonlySet<string> } {
    const of = (kind: 'job' | 'user'): Set<string> => new Set(this.#standIns.namesOf(kind).filter(isNumber))
    return (this.#numbers ??= { job: of('job'), user: of('user') })
  }
  #jobNumbers = (): ReadonlySet<string> => this.#numbersOf().job
  #userNumbers = (): ReadonlySet<string> => this.#numbersOf().user

  #matching(): NameMatcher<string> {
    if (this.#matcher) return this.#matcher
    const matcher = (this.#matcher = new NameMatcher<string>())
    const standIns = this.#standIns
    standIns.settle()
    // What was put there already stays, also where a name is a part of it.
    for (const given of standIns.given()) matcher.add(given, given.length < 5 ? 'word' : 'anywhere', given)
    for (const fs of standIns.namesOf('filesystem')) {
      const to = standIns.of('filesystem', fs)
      for (const kind of ['OST', 'MDT']) matcher.add(`${fs}-${kind}`, 'anywhere', `${to}-${kind}`)
    }
    const isFew = standIns.names.size > FORMS_MOST
    for (const kind of KINDS) {
      for (const name of standIns.namesOf(kind)) {
        if (isProductWord(name) || isNumber(name)) continue
        const to = this.#standInOf(kind, name)
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
