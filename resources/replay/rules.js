/** Rules in effect at the cursor, in match order, with changes since the beginning. */
import { data } from './data.js'
import { number } from './figures.js'
import { el, panel, setText } from './make.js'
import { follow } from './time.js'

/** @typedef {{ key: string, name: string, conditions: string, rate: number, queue: string, place: number, servers: number }} Standing */

/** First time at which rules of the span are known: those read then are not a change. */
const FIRST = data.rules.reduce((first, r) => r.stood.reduce((m, [, , from]) => Math.min(m, from), first), Infinity)

/**
 * Rules in effect at a time. A rule with several rates on several servers has several entries.
 *
 * @param {number} ms
 * @returns {Map<string, Standing[]>}
 */
function standing(ms) {
  /** @type {Map<string, Standing[]>} */
  const out = new Map()
  for (const r of data.rules) {
    const now = r.stood.filter(([, , from, to]) => from <= ms && (to === null || to > ms))
    if (now.length === 0) continue
    const key = JSON.stringify([r.queue, r.name])
    const place = now.reduce((m, [, p]) => Math.min(m, p), Infinity)
    const servers = new Set(now.map(([server]) => server)).size
    const own = out.get(key) ?? []
    own.push({ key, name: r.name, conditions: r.conditions, rate: r.rate, queue: r.queue, place, servers })
    out.set(key, own)
  }
  return out
}

/** @param {readonly Standing[]} rules */
const textOf = (rules) => JSON.stringify(rules.map((r) => [r.conditions, r.rate]).sort())

const SIGN = { add: '+', mod: '~', del: '\u2212', same: '' }
const WORD = { add: 'added: ', mod: 'changed: ', del: 'gone: ', same: '' }

export function rules() {
  const list = el('ul', { class: 'diff' })
  const start = standing(Math.max(data.t[0] ?? data.fromMs, FIRST === Infinity ? 0 : FIRST))
  const { element, note } = panel(
    'Rules',
    '',
    el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Rules at the cursor' }, list),
  )
  let before = ''

  /**
   * @param {Standing} r
   * @param {keyof typeof SIGN} kind
   * @param {string} rate
   */
  const line = (r, kind, rate) =>
    el(
      'li',
      { class: kind },
      el('b', {}, SIGN[kind], el('span', { class: 'hid' }, WORD[kind])),
      el('code', {}, el('bdi', {}, r.name), ' ', el('bdi', { class: 't2' }, r.conditions)),
      el(
        'span',
        { class: 'num' },
        rate,
        el('small', {}, r.servers < data.servers.length ? `${r.servers}/${data.servers.length} servers` : ''),
      ),
    )

  follow((i) => {
    const now = standing(data.t[i] ?? data.fromMs)
    const keys = [...new Set([...start.keys(), ...now.keys()])]
    const signature = keys
      .map((k) => `${k}${textOf(now.get(k) ?? [])}${(now.get(k) ?? []).map((r) => r.servers).join()}`)
      .join()
    if (signature === before) return
    before = signature
    const counts = { add: 0, mod: 0, del: 0, same: 0 }
    const lines = keys.flatMap((key) => {
      const a = start.get(key) ?? []
      const b = now.get(key) ?? []
      const kind = b.length === 0 ? 'del' : a.length === 0 ? 'add' : textOf(a) === textOf(b) ? 'same' : 'mod'
      counts[kind]++
      const was = a.map((r) => number(r.rate)).join(', ')
      return (b.length === 0 ? a : b).map((r) => {
        const rate = kind === 'mod' && was !== number(r.rate) ? `${was} \u2192 ${number(r.rate)}` : number(r.rate)
        return { place: r.place, queue: r.queue, row: line(r, kind, rate) }
      })
    })
    lines.sort((x, y) => (x.queue < y.queue ? 1 : x.queue > y.queue ? -1 : x.place - y.place))
    list.replaceChildren(...lines.map((l) => l.row))
    if (lines.length === 0) list.append(el('li', { class: 't3' }, el('b', {}), 'No rule stood.', el('span', {})))
    const changed = counts.add + counts.mod + counts.del
    setText(
      note,
      changed === 0
        ? 'RPC/s per class, as at the beginning'
        : `RPC/s per class, ${changed} changed since the beginning`,
    )
  })
  return element
}
