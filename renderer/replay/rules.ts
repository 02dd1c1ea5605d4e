/** Rules in effect at the cursor, in match order, with changes since the beginning. */
import { formatNumber } from '#core/base/figure-text.ts'
import { follow } from './cursor.ts'
import { data } from './data.ts'
import { el, panel, scrollBox, setText } from './elements.ts'

interface ActiveRule {
  readonly name: string
  readonly conditions: string
  readonly rate: number
  readonly queue: string
  readonly place: number
  readonly servers: number
}

/** First time at which rules of the span are known: those read then are not a change. */
const FIRST = data.rules.reduce((first, { stood }) => Math.min(first, ...stood.map(([, , from]) => from)), Infinity)

/** Rules in effect at a time, by queue and name. A rule with several rates on several servers has several entries. */
function activeAt(ms: number): Map<string, ActiveRule[]> {
  const found = new Map<string, ActiveRule[]>()
  for (const { queue, name, conditions, rate, stood } of data.rules) {
    const now = stood.filter(([, , from, to]) => from <= ms && (to === null || to > ms))
    if (now.length === 0) continue
    const key = JSON.stringify([queue, name])
    const place = Math.min(...now.map(([, position]) => position))
    const servers = new Set(now.map(([server]) => server)).size
    const own = found.get(key) ?? []
    own.push({ name, conditions, rate, queue, place, servers })
    found.set(key, own)
  }
  return found
}

const textOf = (rules: readonly ActiveRule[]): string =>
  JSON.stringify(rules.map(({ conditions, rate }) => [conditions, rate]).sort())

type Change = 'add' | 'mod' | 'del' | 'same'
const SIGNS: Readonly<Record<Change, string>> = { add: '+', mod: '~', del: '\u2212', same: '' }
const WORDS: Readonly<Record<Change, string>> = { add: 'added: ', mod: 'changed: ', del: 'removed: ', same: '' }

function changeOf(before: readonly ActiveRule[], now: readonly ActiveRule[]): Change {
  if (now.length === 0) return 'del'
  if (before.length === 0) return 'add'
  return textOf(before) === textOf(now) ? 'same' : 'mod'
}

function lineOf({ name, conditions, servers }: ActiveRule, change: Change, rate: string): HTMLElement {
  const of = servers < data.servers.length ? `${servers}/${data.servers.length} servers` : ''
  return el(
    'li',
    { class: change },
    el('b', {}, SIGNS[change], el('span', { class: 'hid' }, WORDS[change])),
    el('code', {}, el('bdi', {}, name), ' ', el('bdi', { class: 't2' }, conditions)),
    el('span', { class: 'num' }, rate, el('small', {}, of)),
  )
}

export function rules(): HTMLElement {
  const list = el('ul', { class: 'diff' })
  const start = activeAt(Math.max(data.t[0] ?? data.fromMs, FIRST === Infinity ? 0 : FIRST))
  const { element, note } = panel('Rules', '', scrollBox('Rules at the cursor', '', list))
  let before = ''

  follow((i) => {
    const now = activeAt(data.t[i] ?? data.fromMs)
    const signature = JSON.stringify([...now])
    if (signature === before) return
    before = signature
    let changed = 0
    const lines = [...new Set([...start.keys(), ...now.keys()])].flatMap((key) => {
      const old = start.get(key) ?? []
      const active = now.get(key) ?? []
      const change = changeOf(old, active)
      if (change !== 'same') changed++
      const was = old.map(({ rate }) => formatNumber(rate)).join(', ')
      return (change === 'del' ? old : active).map((rule) => {
        const rate = formatNumber(rule.rate)
        return { rule, row: lineOf(rule, change, change === 'mod' && was !== rate ? `${was} \u2192 ${rate}` : rate) }
      })
    })
    lines.sort(({ rule: a }, { rule: b }) => (a.queue < b.queue ? 1 : a.queue > b.queue ? -1 : a.place - b.place))
    list.replaceChildren(...lines.map(({ row }) => row))
    if (lines.length === 0) list.append(el('li', { class: 't3' }, el('b'), 'No rules.', el('span')))
    setText(
      note,
      changed === 0
        ? 'RPC/s per class, unchanged since the start'
        : `RPC/s per class, ${changed} changed since the start`,
    )
  })
  return element
}
