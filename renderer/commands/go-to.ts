/**
 * Go-to line: `:jobs user=ana`, `:rules`, `:job 4690`, `:ost OST0003`, `:incident 12`, `:set theme light`. The first
 * word may be abbreviated while it is unambiguous; errors have a column.
 */
import { visitedViews, type VisitedView } from './views.ts'

/** Kinds of named things, with synonyms. */
const things = {
  job: 'job',
  rule: 'rule',
  incident: 'incident',
  cluster: 'cluster',
  user: 'user',
  account: 'account',
  target: 'target',
  ost: 'target',
  mdt: 'target',
  node: 'node',
  server: 'node',
  scenario: 'scenario',
} as const
export type GoToThing = (typeof things)[keyof typeof things]

export type GoTo =
  | { readonly kind: 'view'; readonly view: VisitedView; readonly filter: string }
  | { readonly kind: 'thing'; readonly thing: GoToThing; readonly id: string }
  | { readonly kind: 'set'; readonly name: string; readonly value: string }
  | { readonly kind: 'help'; readonly page: string }
export type ReadGoTo =
  | { readonly ok: true; readonly to: GoTo }
  /** `column`: from 1, in the text without the colon. */
  | { readonly ok: false; readonly column: number; readonly why: string; readonly isUnfinished: boolean }

/** Settings that can be set, with their values. */
export type GoToSettings = ReadonlyMap<string, readonly string[]>

const verbs = [...visitedViews.map((v) => v.id), ...Object.keys(things), 'set', 'help'] as readonly string[]
const fault = (column: number, why: string, isUnfinished = false): ReadGoTo => ({
  ok: false,
  column,
  why,
  isUnfinished,
})

/** Resolves an abbreviation: the exact name or the only one with this prefix, else all candidates. */
function meant(word: string, all: readonly string[]): string | readonly string[] {
  const low = word.toLowerCase()
  const same = all.find((one) => one.toLowerCase() === low)
  if (same !== undefined) return same
  const begun = all.filter((one) => one.toLowerCase().startsWith(low))
  return begun.length === 1 ? (begun[0] as string) : begun
}
const listed = (all: readonly string[]): string => all.slice(0, 8).join(', ')

/** Converts `user=ana` to the filter syntax `user:ana`. */
const filterOf = (text: string): string => text.replaceAll(/(^|\s)(-?[a-z]+)=(?=\S)/gi, '$1$2:')
/** Expands the number of an incident: `12` to `INC-0012`. */
const incidentOf = (text: string): string =>
  /^\d{1,6}$/.test(text) ? `INC-${text.padStart(4, '0')}` : text.toUpperCase()

function readSet(words: readonly { text: string; column: number }[], end: number, settings: GoToSettings): ReadGoTo {
  const [name, value, more] = words
  if (!name) return fault(end, `enter a setting: ${listed([...settings.keys()])}`, true)
  const known = meant(name.text, [...settings.keys()])
  if (typeof known !== 'string')
    return fault(name.column, known.length > 0 ? `ambiguous: ${listed(known)}` : `unknown setting ${name.text}`)
  const values = settings.get(known) ?? []
  if (!value) return fault(end, `${known} is one of ${listed(values)}`, true)
  if (more) return fault(more.column, 'unexpected text after the value')
  const chosen = meant(value.text, values)
  return typeof chosen === 'string'
    ? { ok: true, to: { kind: 'set', name: known, value: chosen } }
    : fault(value.column, `${known} is one of ${listed(values)}`)
}

/** @param text  without the colon */
export function readGoTo(text: string, settings: GoToSettings): ReadGoTo {
  const words = [...text.matchAll(/\S+/g)].map((m) => ({ text: m[0], column: m.index + 1 }))
  const [first, ...rest] = words
  const end = text.length + 1
  if (!first) return fault(1, 'enter a view, or job, rule, target, incident, cluster, set', true)
  const verb = meant(first.text, verbs)
  if (typeof verb !== 'string')
    return fault(
      first.column,
      verb.length > 0 ? `ambiguous: ${listed(verb)}` : `unknown destination ${first.text}`,
      verb.length > 0,
    )
  const tail = rest[0] ? text.slice(rest[0].column - 1).trim() : ''
  if (verb === 'set') return readSet(rest, end, settings)
  if (verb === 'help') return { ok: true, to: { kind: 'help', page: tail } }
  if (Object.hasOwn(things, verb)) {
    const thing = things[verb as keyof typeof things]
    if (tail === '') return fault(end, `enter the name of the ${verb}`, true)
    return { ok: true, to: { kind: 'thing', thing, id: thing === 'incident' ? incidentOf(tail) : tail } }
  }
  const view = visitedViews.find((v) => v.id === verb)
  if (!view) return fault(first.column, `unknown destination ${first.text}`)
  if (tail !== '' && !view.hasFilter) return fault(rest[0]?.column ?? end, `unexpected text after ${verb}`)
  return { ok: true, to: { kind: 'view', view: view.id, filter: filterOf(tail) } }
}

/** Completions of the last word, as whole lines. */
export function completeGoTo(text: string, settings: GoToSettings): string[] {
  const begun = /^(\s*)(?:(\S+)(?:(\s+)(?:(\S+)(?:\s+(\S*))?)?)?)?$/.exec(text)
  if (!begun) return []
  const [, , first = '', gap, second = '', third] = begun
  const matches = (word: string) => (one: string) => one.toLowerCase().startsWith(word.toLowerCase())
  if (gap === undefined) return verbs.filter(matches(first))
  if (meant(first, verbs) !== 'set') return []
  if (third === undefined) return [...settings.keys()].filter(matches(second)).map((name) => `set ${name}`)
  const name = meant(second, [...settings.keys()])
  return typeof name === 'string'
    ? (settings.get(name) ?? []).filter(matches(third)).map((v) => `set ${name} ${v}`)
    : []
}
/** Kind of thing in a line, and the name typed so far, to search for. */
export function searchedThing(text: string): { readonly thing: GoToThing; readonly name: string } | null {
  const [, verb = '', name = ''] = /^\s*(\S+)\s+(.*)$/.exec(text) ?? []
  const known = verb === '' ? '' : meant(verb, verbs)
  return typeof known === 'string' && Object.hasOwn(things, known)
    ? { thing: things[known as keyof typeof things], name: name.trim() }
    : null
}
