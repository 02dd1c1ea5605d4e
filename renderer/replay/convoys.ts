/** Kept convoys lock by lock: each lock's wait and hold as a lane, and the messages between clients and the lock server. */
import { formatClock } from '#core/base/clock-text.ts'
import { formatNumber } from '#core/base/figure-text.ts'
import type { ReplayConvoy } from '#core/snapshot/replay-data.ts'
import { follow, goTo } from './cursor.ts'
import { data, indexAt } from './data.ts'
import { el, panel, scrollBox, svg } from './elements.ts'

/** Size of a lane, in units of the drawing. */
const LANE = 12
const WIDTH = 1000

const ms = (value: number | null): string => (value === null ? '' : formatNumber(value, 3))

/** Range of the drawing, ms from the convoy's start: the convoy, and the locks that were held before and after it. */
function rangeOf({ fromMs, toMs, lives }: ReplayConvoy): { readonly from: number; readonly length: number } {
  const lengthMs = Math.max(1e-3, toMs - fromMs)
  const times = [...lives.asked, ...lives.granted, ...lives.released].filter((t) => t !== null)
  const from = Math.max(-lengthMs, Math.min(0, ...times))
  const to = Math.min(2 * lengthMs, Math.max(lengthMs, ...times))
  return { from, length: to - from }
}

function lanesOf(convoy: ReplayConvoy): HTMLElement {
  const { lives } = convoy
  const { from, length } = rangeOf(convoy)
  const x = (t: number): number => Math.max(0, Math.min(WIDTH, ((t - from) / length) * WIDTH))
  const end = from + length
  const drawing = svg('svg', {
    viewBox: `0 0 ${WIDTH} ${Math.max(1, lives.client.length) * LANE}`,
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
    height: Math.max(1, lives.client.length) * LANE,
  })
  const bar = (i: number, start: number, stop: number, kind: string): void => {
    if (stop < from || start > end) return
    const width = Math.max(1, x(stop) - x(start))
    drawing.append(svg('rect', { x: x(start), y: i * LANE + 2, width, height: LANE - 4, class: kind }))
  }
  lives.client.forEach((_, i) => {
    const asked = lives.asked[i] ?? from
    const granted = lives.granted[i] ?? null
    bar(i, asked, granted ?? end, 'waits')
    if (granted !== null) bar(i, granted, lives.released[i] ?? end, 'holds')
  })
  const legend = el(
    'p',
    { class: 'foot t3' },
    el('span', { class: 'lane waits' }),
    'waits',
    el('span', { class: 'lane holds' }),
    'holds',
    el('span', { class: 'said' }, `${ms(from)} to ${ms(end)} ms from the start of the convoy`),
  )
  const box = scrollBox('Lanes of the convoy', 'lanes', drawing)
  return el('div', {}, box, legend)
}

function livesTable({ lives, livesMore }: ReplayConvoy): HTMLElement {
  const heads = ['Client', 'Job', 'Mode', 'Requested', 'Granted', 'Waited', 'Released']
  const rows = lives.client.map((client, i) => {
    const asked = lives.asked[i] ?? null
    const granted = lives.granted[i] ?? null
    const waited = asked === null || granted === null ? null : granted - asked
    return el(
      'tr',
      {},
      el('th', { scope: 'row' }, el('bdi', {}, client)),
      el('td', { class: 'word' }, el('bdi', {}, lives.job[i] ?? '')),
      el('td', { class: 'word' }, lives.mode[i] ?? ''),
      ...[asked, granted, waited, lives.released[i] ?? null].map((value) => el('td', {}, ms(value))),
    )
  })
  return details(`Locks, ${lives.client.length}`, heads, 3, rows, livesMore)
}

function messagesTable({ messages, messagesMore }: ReplayConvoy): HTMLElement {
  const rows = messages.sent.map((sent, i) =>
    el(
      'tr',
      {},
      el('th', { scope: 'row' }, el('bdi', {}, messages.client[i] ?? '')),
      el('td', { class: 'word' }, messages.isUp[i] === true ? 'to the server' : 'from the server'),
      el('td', { class: 'word' }, el('bdi', {}, messages.text[i] ?? '')),
      el('td', {}, ms(sent)),
      el('td', {}, ms(messages.arrived[i] ?? null)),
    ),
  )
  const heads = ['Client', 'Direction', 'Message', 'Sent', 'Arrived']
  return details(`Messages, ${messages.sent.length}`, heads, 3, rows, messagesMore)
}

/** Folded table; from `numbers` on its columns are times in ms from the start of the convoy. */
function details(
  title: string,
  heads: readonly string[],
  numbers: number,
  rows: readonly HTMLElement[],
  more: number,
): HTMLElement {
  const head = heads.map((text, k) =>
    k < numbers
      ? el('th', { scope: 'col', class: 'word' }, text)
      : el('th', { scope: 'col' }, text, el('small', {}, 'ms')),
  )
  const table = el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows))
  const rest = more > 0 ? [el('p', { class: 't3' }, `${formatNumber(more)} more only in history.qosrec.`)] : []
  return el('details', {}, el('summary', {}, title), scrollBox(title, '', table), ...rest)
}

/** Panel of the kept convoys: a click moves the cursor to one, and the cursor selects the one at its time. */
export function convoys(): HTMLElement[] {
  const { convoys: all, convoysMore } = data
  if (all.length === 0) return []
  let shown = -1
  const detail = el('div')
  const rows = all.map((convoy, k) =>
    el(
      'button',
      { type: 'button', class: 'event convoy', click: () => choose(k, true) },
      el('time', {}, formatClock(convoy.fromMs, true)),
      el('bdi', { class: 't2' }, convoy.resource),
      el('bdi', { class: 't2' }, convoy.server),
      el(
        'span',
        { class: 'num' },
        `${formatNumber(convoy.toMs - convoy.fromMs, 1)} ms, ${formatNumber(convoy.waiting)} waiting`,
      ),
    ),
  )
  function choose(k: number, isAsked: boolean): void {
    const convoy = all[k]
    if (!convoy) return
    if (k !== shown) {
      shown = k
      rows.forEach((row, n) => {
        row.classList.toggle('on', n === k)
        if (n === k) row.setAttribute('aria-current', 'true')
        else row.removeAttribute('aria-current')
      })
      const hasLives = convoy.lives.client.length > 0
      detail.replaceChildren(
        ...(hasLives
          ? [lanesOf(convoy), livesTable(convoy), messagesTable(convoy)]
          : [el('p', { class: 't3 pad' }, 'Its messages cannot be read.')]),
      )
    }
    if (isAsked) goTo(indexAt(convoy.fromMs))
  }
  const more = convoysMore > 0 ? `, ${formatNumber(convoysMore)} shorter ones only in history.qosrec` : ''
  const { element } = panel(
    'Convoys',
    `the longest of the range${more}`,
    scrollBox('List of convoys', '', ...rows),
    detail,
  )
  follow((i) => {
    const from = data.t[i] ?? data.fromMs
    const to = data.t[i + 1] ?? from + data.stepMs
    const isIn = (convoy: ReplayConvoy): boolean => convoy.fromMs < to && convoy.toMs >= from
    // One that was chosen by a click stays if several are at the cursor.
    const current = all[shown]
    if (current && isIn(current)) return
    const found = all.findIndex(isIn)
    choose(found >= 0 ? found : Math.max(0, shown), false)
  })
  return [element]
}
