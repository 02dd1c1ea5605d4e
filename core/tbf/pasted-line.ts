/**
 * Parses text pasted into the editor: any lctl line, a redirection into a parameter's file, output of get_param or set_param, a
 * bare value, or the syntax of 2013. Returns the value in modern form.
 *
 * Checks are limited to finding the value; `diagnoseRule` does the rest. Text in, text out: a server is sent the UTF-8 bytes of
 * the value.
 */
import { ok, type Result } from '../base/result.ts'
import type { Queue } from '../lustre/nrs-policies.ts'
import { POLICIES } from './policy-command.ts'
import { RPC_OPCODES } from './rpc-opcodes.ts'
import type { Field } from './request-key.ts'
import { fault, shown, type RuleFault } from './rule-fault.ts'

/** A value that was found, or the reason that none was; `notes` list changes and omissions. */
export type PastedLine = { readonly notes: readonly string[] } & (
  | {
      readonly parameter: 'nrs_tbf_rule' | 'nrs_policies'
      /** Service named in the line, for example `ost_io` or `mdt`; absent if it names none, or several. */
      readonly service?: string
      /** Queue that the value selects. */
      readonly queue?: Queue
      /** Value to write to the parameter. */
      readonly value: string
      readonly fault?: undefined
    }
  | {
      /** Fault with its place in the text. */
      readonly fault: RuleFault
      readonly value?: undefined
      readonly service?: undefined
      readonly queue?: undefined
    }
)

const TEXT_MAX = 16_384
const SERVICES =
  /^(?:ost|ost_io|ost_create|ost_out|ost_seq|mdt|mdt_readpage|mdt_out|mdt_seqs|mdt_seqm|mdt_fld|mdt_io|ldlm_canceld|ldlm_cbd|mgs)$/
const PRINTED_RULE = /^(\S+) (.*) (\d+), ref -?\d+$/
/** `[root@oss1 ~]# `, `root@oss1:~# `, `oss1# `, `$ `, `> `. */
const PROMPT = /^(?:\[[^\]\n]{1,80}\] ?|[\w.@:~/-]{0,80})[#$%>] +/

/** Field of a list without one: the running type's, else guessed from its items. */
function guessField(list: string, type: readonly Field[]): Field {
  const [only] = type
  if (type.length === 1 && only) return only
  const items = list.split(' ').filter((i) => i !== '')
  if (items.some((i) => i.includes('@'))) return 'nid'
  return items.length > 0 && items.every((i) => RPC_OPCODES.has(i)) ? 'opcode' : 'jobid'
}

/** Adds the field to a bare `{items}`; anything else stays. */
function withField(conditions: string, type: readonly Field[], notes: string[]): string {
  if (!conditions.startsWith('{')) return conditions
  const field = guessField(conditions.slice(1, -1), type)
  notes.push(`${field}= is written before the list`)
  return `${field}=${conditions}`
}

/** Collapses blanks outside braces and trims both ends: servers refuse two in a row. */
function tidy(value: string, notes: string[]): string {
  let out = ''
  let depth = 0
  for (const c of value.trim()) {
    const isSpace = /\s/.test(c)
    if (c === '{') depth++
    else if (c === '}') depth = Math.max(0, depth - 1)
    if (isSpace && depth === 0 && out.endsWith(' ')) continue
    out += isSpace ? ' ' : c
  }
  if (out !== value) notes.push('blanks and line breaks were corrected')
  return out
}

const SELECTOR = /^(reg|hp) /

/** True if a value is a rule command rather than a policy. */
const isRuleValue = (value: string): boolean => /^(?:(?:reg|hp)\s+)?(?:start|change|stop)(?:\s|$)/.test(value.trim())
const isPolicyValue = (value: string): boolean =>
  (POLICIES as readonly string[]).includes(value.trim().split(/\s/, 1)[0] ?? '')

/**
 * Converts a rule command in the syntax of 2013, `start loginnode {192.168.1.1@tcp} 10000` and `change loginnode 1000`, to modern form;
 * adds each change to `notes`.
 *
 * Source: NRS TBF policy, version 1.0 (29 July 2013), section 3; spec/lustre 1.2 and 8. Servers refuse the old form since 2.8.54.
 */
function modernRule(value: string, type: readonly Field[], notes: string[]): string {
  const tidied = tidy(value, notes)
  const selector = SELECTOR.exec(tidied)?.[0] ?? ''
  const [verb = '', name = '', ...args] = tidied.slice(selector.length).split(' ')
  const tail = args.join(' ')
  const rate = (text: string): string => {
    if (!/^\d+$/.test(text)) return text
    notes.push(`the rate is written rate=${text}`)
    return `rate=${text}`
  }
  const head = `${selector}${verb} ${name}`
  if (verb === 'change') return tail === '' ? tidied : `${head} ${rate(tail)}`
  const brace = tail.lastIndexOf('}')
  if (verb !== 'start' || brace < 0) return tidied
  const after = tail.slice(brace + 1).trim()
  const conditions = withField(tail.slice(0, brace + 1), type, notes)
  return `${head} ${conditions}${after === '' ? '' : ` ${rate(after)}`}`
}

interface Found {
  readonly value: string
  /** Name or path of the parameter, if any. */
  readonly name?: string
}

/** Normalizes typographic quotes, odd blanks and broken lines to terminal input. */
function straighten(text: string, notes: string[]): string {
  const straight = text
    .replace(/[\u2018\u2019\u201a\u2032]/g, "'")
    .replace(/[\u201c\u201d\u201e\u2033\u00ab\u00bb]/g, '"')
    .replace(/[\u00a0\u2007\u202f]/g, ' ')
    .replace(/[\u200b-\u200d\ufeff]/g, '')
    .replace(/[\u2013\u2014](?=[nPtdF]\b)/g, '-')
  if (straight !== text) notes.push('typographic quotes, dashes and blanks were replaced')
  return straight
    .replace(/\r\n?/g, '\n')
    .replace(/\\\n[ \t]*/g, ' ')
    .trim()
}

/** Word of a pasted command line. */
interface ShellWord {
  readonly text: string
  /** Offset in the line. */
  readonly at: number
  /** True if any of it was quoted. */
  readonly isQuoted: boolean
}

/** True for redirections and pipes between blanks. */
const isOperator = (w: ShellWord): boolean =>
  !w.isQuoted && ['>', '>>', '|', '<<<', ';', '&&', '||', '2>&1'].includes(w.text)

/**
 * Splits a pasted command line into words: removes quotes and tolerates text that a shell would reject. `isOpen` if a quote is
 * unterminated, which then extends to the end.
 */
export function splitWords(line: string): { words: ShellWord[]; isOpen: boolean } {
  const words: ShellWord[] = []
  let isOpen = false
  let i = 0
  const isSpace = (c: string | undefined): boolean => c === ' ' || c === '\t' || c === '\n'
  while (i < line.length) {
    if (isSpace(line[i])) {
      i++
      continue
    }
    const at = i
    let text = ''
    let isQuoted = false
    while (i < line.length && !isSpace(line[i])) {
      const c = line[i] as string
      if (c === "'" || c === '"') {
        isQuoted = true
        let end = i + 1
        for (; end < line.length && line[end] !== c; end++) {
          if (c === '"' && line[end] === '\\' && '"\\$`'.includes(line[end + 1] ?? ' ')) end++
          text += line[end] ?? ''
        }
        if (end >= line.length) isOpen = true
        i = end + 1
      } else if (c === '\\' && i + 1 < line.length) {
        text += line[i + 1] as string
        i += 2
      } else {
        text += c
        i++
      }
    }
    words.push({ text, at, isQuoted })
  }
  return { words, isOpen }
}

const isAssignment = (text: string): boolean => /^[\w.*?/{},[\]-]*nrs_(?:tbf_rule|policies)=/.test(text)

/** Arguments of `lctl set_param`: `NAME=VALUE`, quoted or not, or `NAME VALUE`. */
function ofSetParam(words: readonly ShellWord[], notes: string[]): Result<Found, RuleFault> {
  let i = 0
  for (; (words[i]?.text ?? '').startsWith('-'); i++) {
    const option = (words[i] as ShellWord).text
    if (/^-[a-zA-Z]*P/.test(option)) notes.push('-P, which stores the value for every mount, was removed')
    if (/^-[a-zA-Z]*[dF]/.test(option))
      return fault((words[i] as ShellWord).at, option.length, `${option} writes no value`)
  }
  const first = words[i]
  if (!first) return fault(0, 0, 'set_param writes nothing')
  const end = words.findIndex((w, k) => k > i && (isOperator(w) || isAssignment(w.text)))
  if (end > 0 && !isOperator(words[end] as ShellWord)) notes.push('only the first of several assignments is used')
  const more = words.slice(i + 1, end < 0 ? undefined : end).map((w) => w.text)
  const equals = first.text.indexOf('=')
  if (equals < 0)
    return more.length === 0
      ? fault(first.at, first.text.length, `${shown(first.text)} has no value`)
      : ok({ name: first.text, value: more.join(' ') })
  if (more.length > 0) notes.push('a shell needs quotes around the value')
  return ok({ name: first.text.slice(0, equals), value: [first.text.slice(equals + 1), ...more].join(' ') })
}

/** `echo VALUE > PATH`, `echo VALUE | sudo tee PATH`, `tee PATH <<< VALUE`, printf likewise. */
function ofRedirection(words: readonly ShellWord[]): Found | undefined {
  const path = words.find((w) => /\/nrs_(?:tbf_rule|policies)$/.test(w.text))
  const command = words[0]?.text
  if (!path) return undefined
  if (command === 'tee') {
    const from = words.findIndex((w) => w.text === '<<<')
    return from < 0
      ? undefined
      : {
          name: path.text,
          value: words
            .slice(from + 1)
            .map((w) => w.text)
            .join(' '),
        }
  }
  if (command !== 'echo' && command !== 'printf') return undefined
  const end = words.findIndex((w) => isOperator(w) || (!w.isQuoted && w.text.startsWith('>')))
  const args = words.slice(1, end < 0 ? undefined : end).map((w) => w.text)
  while (command === 'echo' && /^-[neE]+$/.test(args[0] ?? '')) args.shift()
  let value = args.join(' ')
  while (value.endsWith('\\n')) value = value.slice(0, -2)
  return { name: path.text, value }
}

/** Skips programs that run the rest of the line, with their options. */
function skipWrappers(words: readonly ShellWord[]): readonly ShellWord[] {
  let i = 0
  for (;;) {
    const word = words[i]?.text ?? ''
    if (word === 'sudo') {
      i++
      while ((words[i]?.text ?? '').startsWith('-')) i += /^-[ugh]$/.test((words[i] as ShellWord).text) ? 2 : 1
    } else if (/^(?:ssh|pdsh|clush)$/.test(word)) {
      const takesHost = word === 'ssh'
      i++
      while ((words[i]?.text ?? '').startsWith('-'))
        i += /^-(?:[lpiwoFJgx])$/.test((words[i] as ShellWord).text) ? 2 : 1
      if (takesHost) i++
    } else if (word === 'time' || word === 'exec' || /^[A-Z_]+=\S*$/.test(word)) i++
    else return words.slice(i)
  }
}

function find(line: string, notes: string[], depth = 0): Result<Found, RuleFault> {
  const { words, isOpen } = splitWords(line)
  if (isOpen) notes.push('a closing quote was missing')
  const rest = skipWrappers(words)
  const [first, second] = rest
  if (!first) return fault(0, line.length, 'nothing was pasted')
  // A quoted command, as for ssh and pdsh, or a quoted value.
  if (rest.length === 1 && first.isQuoted && /\s/.test(first.text) && depth < 3)
    return find(first.text.trim(), notes, depth + 1)
  if (/(?:^|\/)lctl$/.test(first.text)) {
    if (second?.text === 'set_param') return ofSetParam(rest.slice(2), notes)
    return fault(
      first.at,
      first.text.length,
      `lctl ${shown(second?.text ?? '')} writes nothing, expected lctl set_param`,
    )
  }
  if (first.text === 'set_param') return ofSetParam(rest.slice(1), notes)
  const redirected = ofRedirection(rest)
  if (redirected) return ok(redirected)
  const from = line.slice(first.at)
  if (isAssignment(from)) {
    const equals = from.indexOf('=')
    const value = from.slice(equals + 1)
    return ok({ name: from.slice(0, equals), value: first.isQuoted ? (splitWords(value).words[0]?.text ?? '') : value })
  }
  if (isRuleValue(from) || isPolicyValue(from)) return ok({ value: from })
  return fault(0, line.length, `${shown(line)} is not an lctl set_param line, a rule or a command`)
}

/** The rule in the output of get_param, if there is exactly one; header lines are skipped. */
function printedRule(
  lines: readonly string[],
  type: readonly Field[],
  notes: string[],
): Result<Found, RuleFault> | undefined {
  const rules = lines.filter((l) => PRINTED_RULE.test(l))
  const heads = lines.filter((l) => /^(?:CPT \d+:|regular_requests:|high_priority_requests:|.*nrs_tbf_rule=)$/.test(l))
  if (rules.length === 0 || rules.length + heads.length !== lines.length) return undefined
  if (rules.length > 1) return fault(0, 0, `${rules.length} rules were pasted, expected one`)
  const [, name = '', conditions = '', rate = ''] = PRINTED_RULE.exec(rules[0] as string) ?? []
  const title = heads.find((l) => l.endsWith('='))
  const named = title === undefined ? {} : { name: title.slice(0, -1) }
  if (name === 'default') {
    notes.push('the built-in rule is always there: its rate is changed')
    return ok({ ...named, value: `change default rate=${rate}` })
  }
  notes.push('a printed rule shows neither realtime nor its position')
  return ok({ ...named, value: `start ${name} ${withField(conditions, type, notes)} rate=${rate}` })
}

/** Parameter and service of a name with dots, or of a path. */
function parameterOf(name: string): { parameter: 'nrs_tbf_rule' | 'nrs_policies'; service?: string } | undefined {
  const parts = name.split(/[./]/)
  const parameter = parts.pop()
  if (parameter !== 'nrs_tbf_rule' && parameter !== 'nrs_policies') return undefined
  const service = parts.pop() ?? ''
  return { parameter, ...(SERVICES.test(service) ? { service } : {}) }
}

/**
 * Parses pasted text.
 *
 * @param type  fields of the running TBF type, for lists without a field.
 */
export function readPastedLine(text: string, type: readonly Field[] = []): PastedLine {
  const notes: string[] = []
  const refuse = (fault: RuleFault): PastedLine => ({ fault, notes })
  if (text.length > TEXT_MAX) {
    return refuse(fault(TEXT_MAX, text.length - TEXT_MAX, `more than ${TEXT_MAX} characters were pasted`).error)
  }
  const straight = straighten(text, notes)
  const lines = straight.split('\n').map((l) => l.trim())
  const line = straight.replace(PROMPT, '').trimStart()
  const printed = lines.filter((l) => l !== '')
  const found = printedRule(printed, type, notes) ?? find(line, notes)
  if (!found.ok) {
    const shift = Math.max(0, text.indexOf(line))
    return refuse({ ...found.error, at: Math.min(text.length, found.error.at + shift) })
  }
  const { name, value } = found.value
  const named = name === undefined ? undefined : parameterOf(name)
  if (name !== undefined && !named) {
    const why = `${shown(name)} is neither nrs_tbf_rule nor nrs_policies`
    return refuse(fault(Math.max(0, text.indexOf(name)), name.length, why).error)
  }
  const isRule = isRuleValue(value)
  const parameter = isRule
    ? 'nrs_tbf_rule'
    : isPolicyValue(value)
      ? 'nrs_policies'
      : (named?.parameter ?? 'nrs_tbf_rule')
  if (named && named.parameter !== parameter) notes.push(`it is written to ${parameter}, not to ${named.parameter}`)
  const modern = isRule ? modernRule(value, type, notes) : value.trim()
  const selector = (isRule ? /^(reg|hp) /.exec(modern) : /^\S+ (reg|hp)(?: |$)/.exec(modern))?.[1]
  return {
    parameter,
    ...(named?.service === undefined ? {} : { service: named.service }),
    ...(selector === undefined ? {} : { queue: selector as Queue }),
    value: modern,
    notes: [...new Set(notes)],
  }
}
