/** Rule as text and as a form: each is derived from the other, even if the input is not a valid rule. */
import type { RuleForm } from '#core/api/rule-edits.ts'
import type { QueueChoice, RuleEdit } from '#core/control/rule-edit.ts'
import type { RuleCommand } from '#core/tbf/rule-command.ts'

/** nrs_tbf_rule value of a form. */
export function valueOfForm(f: RuleForm): string {
  const selector = f.queue === 'both' ? '' : `${f.queue} `
  const rate = f.rate === '' ? '' : ` rate=${f.rate}`
  const rank = f.rank === '' ? '' : ` rank=${f.rank}`
  if (f.verb === 'stop') return `${selector}stop ${f.name}`
  if (f.verb === 'change') return `${selector}change ${f.name}${rate}${rank}`
  return `${selector}start ${f.name} ${f.conditions}${rate}${rank}${f.realtime ? ' realtime=1' : ''}`
}

const COMMAND = /^(?:(reg|hp) )?\s*(start|change|stop)\b ?/
const pairOf = (text: string, key: string): string => new RegExp(`(?:^| )${key}=(\\S*)`).exec(text)?.[1] ?? ''

/** Parses a form from a value, part by part; missing parts are empty, so that a half-typed rule keeps the rest. */
export function formOfValue(value: string): RuleForm {
  const head = COMMAND.exec(value)
  const queue = (head?.[1] ?? 'both') as QueueChoice
  const verb = (head?.[2] ?? 'start') as RuleForm['verb']
  const rest = value.slice(head?.[0].length ?? 0)
  const nameEnd = rest.indexOf(' ')
  const name = nameEnd < 0 ? rest : rest.slice(0, nameEnd)
  const tail = nameEnd < 0 ? '' : rest.slice(nameEnd + 1)
  const brace = verb === 'start' ? tail.lastIndexOf('}') : -1
  const pairs = tail.slice(brace + 1)
  return {
    verb,
    queue,
    name,
    conditions:
      verb === 'start'
        ? (brace < 0 ? tail.replace(/ ?\b(?:rate|rank|realtime)=.*$/, '') : tail.slice(0, brace + 1)).trim()
        : '',
    rate: pairOf(pairs, 'rate'),
    rank: pairOf(pairs, 'rank'),
    realtime: Number(pairOf(pairs, 'realtime')) > 0,
  }
}

/** Edit of a parsed command; a start without a rate gets the server's default rate. */
export function editOfCommand(c: RuleCommand, defaultRate: number): RuleEdit {
  const head = { name: c.name, queue: c.queue ?? ('both' as const) }
  if (c.verb === 'stop') return { verb: 'stop', ...head }
  if (c.verb === 'change') return { verb: 'change', ...head, rate: c.rate, rank: c.rank }
  return {
    verb: 'start',
    ...head,
    conditions: c.conditions.trim(),
    rate: c.rate ?? defaultRate,
    rank: c.rank,
    realtime: c.realtime,
  }
}

/** Edit of a form that only replaces the expiry of a rule; undefined for any other form. */
export function renewalOfForm(f: RuleForm, renews: boolean | undefined): RuleEdit | undefined {
  const isOnly = renews === true && f.verb === 'change' && f.rate === '' && f.rank === ''
  return isOnly ? { verb: 'change', name: f.name, queue: f.queue } : undefined
}

/** Form of an edit. */
export const formOfEdit = (e: RuleEdit): RuleForm => ({
  verb: e.verb,
  queue: e.queue,
  name: e.name,
  conditions: e.verb === 'start' ? e.conditions : '',
  rate: e.verb === 'stop' || e.rate === undefined ? '' : String(e.rate),
  rank: e.verb === 'stop' ? '' : (e.rank ?? ''),
  realtime: e.verb === 'start' ? (e.realtime ?? false) : false,
})
