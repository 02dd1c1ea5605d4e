/**
 * Replaces the names in a rule's conditions; the result is still a rule that matches the same jobs. Grammar: `field={items}`
 * joined by `,` and `&`, or `{items}` alone under a list type; items are separated by blanks.
 *
 * A star stays where it replaces whole parts of a job id (`*.bwa.*`, `4690.*`). A star inside a part (`py*`) has no equivalent:
 * pseudonyms do not preserve prefixes. Patterns that match other jobs than before are counted, so that the bundle can report
 * them.
 */
import type { Addresses } from './redact-address.ts'
import { isAddress } from './redact-address.ts'
import { starPattern } from '../base/star-pattern.ts'
import { splitJob, pseudonymSeparator } from './job-parts.ts'
import { isVerbatim } from './names.ts'
import type { PseudonymTable } from './pseudonym-table.ts'

const FIELDS = ['jobid', 'nid', 'uid', 'gid', 'projid', 'opcode', 'nodemap'] as const
type Field = (typeof FIELDS)[number]
const isField = (text: string): text is Field => (FIELDS as readonly string[]).includes(text)

const OPCODE = /^(?:ost|mds|ldlm|mgs|obd|llog|quota|sec|out|seq|fld)_[a-z0-9_]+$/
/** Maximum number of patterns compared with all known jobs. */
const CHECKS_MOST = 256

/** Balanced braces. */
const BALANCED = /^[^{}]*(?:\{[^{}]*\}[^{}]*)*$/
const LIST = /(?:(?<![A-Za-z_])([A-Za-z_]{1,32})(\s{0,8}=\s{0,8}))?\{([^{}]*)\}/g

/** Items of conditions by field; the field is empty for a bare list. */
export function itemsOf(text: string): { readonly field: string; readonly item: string }[] {
  const found: { field: string; item: string }[] = []
  for (const [, field = '', , list = ''] of text.matchAll(LIST)) {
    for (const item of list.split(/[\s,&]+/)) if (item !== '') found.push({ field, item })
  }
  return found
}

export class ConditionRedactor {
  readonly #pseudonyms: PseudonymTable
  readonly #addresses: Addresses
  readonly #patterns = new Map<string, string>()
  /** Number of job id patterns that match, or may match, other jobs than before. */
  inexact = 0
  #checked = 0

  constructor(pseudonyms: PseudonymTable, addresses: Addresses) {
    this.#pseudonyms = pseudonyms
    this.#addresses = addresses
  }

  of(text: string): string {
    if (!BALANCED.test(text)) return this.#broken(text)
    let out = ''
    let from = 0
    for (const m of text.matchAll(LIST)) {
      const [all, field, equals = '', list = ''] = m
      out += this.#between(text.slice(from, m.index))
      const items = list.replace(/[^\s,&]+/g, (item) => this.#item(field ?? '', item))
      const head = field === undefined ? '' : (isField(field) ? field : this.#word(field)) + equals
      out += `${head}{${items}}`
      from = m.index + all.length
    }
    return out + this.#between(text.slice(from))
  }

  /** Conditions that no server accepts: every token outside the grammar is treated as a name. */
  #broken = (text: string): string => text.replace(/[^\s{},&|=]+/g, (word) => this.#word(word))

  #between(text: string): string {
    return /^[\s,&|*]*$/.test(text) ? text : this.#broken(text)
  }

  #word(word: string): string {
    if (isField(word) || word === 'rate' || OPCODE.test(word)) return word
    return isAddress(word) ? this.#addresses.of(word) : this.#jobs(word)
  }

  #item(field: string, item: string): string {
    if (isVerbatim(item) || OPCODE.test(item)) return item
    if (field === 'nid' || (field !== 'jobid' && isAddress(item))) {
      return item === '255.255.255.255@tcp' ? item : this.#addresses.of(item)
    }
    if (field === 'uid' || field === 'gid' || field === 'projid') {
      // 0 is root; the last two are the reserved ids.
      return /^0+$|^429496729[45]$/.test(item) ? item : this.#pseudonyms.of('id', item)
    }
    if (field === 'nodemap') return this.#pseudonyms.of('nodemap', item)
    return this.#jobs(item)
  }

  #jobs(item: string): string {
    if (!item.includes('*')) return this.#pseudonyms.job(item)
    const known = this.#patterns.get(item)
    if (known !== undefined) return known
    const { made, isExact } = this.#pattern(item)
    if (!this.#patterns.has(made)) this.#patterns.set(made, made)
    this.#patterns.set(item, made)
    if (item !== '*' && !(isExact && this.#matchesAlike(item, made))) this.inexact++
    return made
  }

  #pattern(item: string): { made: string; isExact: boolean } {
    const { parts, separators } = splitJob(item, this.#pseudonyms.isPart)
    let isExact = true
    let made = ''
    parts.forEach((part, i) => {
      if (!part.includes('*')) made += this.#pseudonyms.part(part, i === 0, false)
      else {
        const literals = part.split('*')
        if (literals.some((l) => l !== '' && !this.#pseudonyms.isGiven(l))) isExact = false
        made += literals.map((l) => (l === '' ? l : this.#pseudonyms.part(l, i === 0, false))).join('*')
      }
      if (i < separators.length) made += pseudonymSeparator(separators[i] as string)
    })
    return { made, isExact }
  }

  #matchesAlike(item: string, made: string): boolean {
    if (++this.#checked > CHECKS_MOST) return false
    const before = starPattern(item)
    const after = starPattern(made)
    for (const id of this.#pseudonyms.names.of('job')) {
      if (before(id) !== after(this.#pseudonyms.job(id))) return false
    }
    return true
  }
}
