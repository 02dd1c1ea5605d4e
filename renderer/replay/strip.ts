/** Strip at the top: the span with its events, the cursor as a slider, its time, and the playback buttons. */
import { formatClock, formatDate } from '#core/base/clock-text.ts'
import { formatNumber, formatSpan, formatTimeout } from '#core/base/figure-text.ts'
import { valuesOf } from '#core/snapshot/column.ts'
import { groupMarks } from '../charts/mark-shape.ts'
import type { Picture, PlotArea, Size } from '../charts/picture.ts'
import { largest } from '../charts/scale.ts'
import type { Palette } from '../theme/palette.ts'
import { coursesOf } from './courses.ts'
import { cursorAt, follow, goTo, setSpeed, step, toEvent, togglePlay, watchPlay } from './cursor.ts'
import { count, data, gapAt, nearestTo } from './data.ts'
import { el, setText, svg } from './elements.ts'
import { glyph, kindOf } from './events.ts'
import { localClock } from './measures.ts'
import { sheetOf, spanPicture, timeAt } from './sheet.ts'

const STRIP_PX = 56
/** Floor of the curve, center of the events, and the line below them, px from the top. */
const FLOOR_PX = 31
const EVENTS_PX = 38
const LANE_PX = 44.5
/** Distance up to which events are merged, px. */
const REACH_PX = 9

const PLAY = 'M4 2.5v11l9-5.5z'
const PAUSE = 'M4 2.5h3v11H4zM9 2.5h3v11H9z'

const button = (label: string, path: string, act: () => void): HTMLElement =>
  el(
    'button',
    { type: 'button', class: 'icon', 'aria-label': label, title: label, click: act },
    svg('svg', { viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true' }, svg('path', { d: path })),
  )

function controls(): HTMLElement {
  const play = button('Play (Space)', PLAY, togglePlay)
  watchPlay((isPlaying) => {
    const label = isPlaying ? 'Pause (Space)' : 'Play (Space)'
    play.setAttribute('aria-label', label)
    play.title = label
    play.querySelector('path')?.setAttribute('d', isPlaying ? PAUSE : PLAY)
  })
  const speeds = [1, 2, 4, 8, 16].map((factor) => el('option', { value: factor }, `${factor}\u00D7`))
  const speed = el('select', { 'aria-label': 'Speed' }, ...speeds)
  speed.addEventListener('change', () => setSpeed(Number(speed.value)))
  const each = data.meanOf > 1 || data.tier !== 'raw' ? 'means' : 'samples'
  const interval = data.stepMs < 60_000 ? formatTimeout(data.stepMs) : formatSpan(data.stepMs)
  return el(
    'div',
    { class: 'play' },
    button('Previous event ([)', 'M3 3v10h1.6V3zM13 3v10L6 8z', () => toEvent(-1)),
    button('Previous sample (Left)', 'M11 3v10L4 8z', () => step(-1)),
    play,
    button('Next sample (Right)', 'M5 3v10l7-5z', () => step(1)),
    button('Next event (])', 'M13 3v10h-1.6V3zM3 3v10l7-5z', () => toEvent(1)),
    speed,
    el('span', { class: 't3 each' }, `${interval} ${each}`),
  )
}

const rpcs = valuesOf(data.cluster.rpcs, count)
function picture(p: Palette, size: Size): Picture {
  const courses = coursesOf([rpcs], size)
  return {
    ...spanPicture(),
    ends: { min: 0, max: largest(rpcs) * 1.12 || 1, step: 0 },
    margins: { left: 0, right: 8, top: 4, bottom: STRIP_PX - FLOOR_PX },
    hasTicks: false,
    labelPx: STRIP_PX - FLOOR_PX - 10,
    layers: [
      {
        t: courses.t,
        values: courses.values[0] ?? [],
        fill: { color: p.water, opacity: 0.16 },
        stroke: { color: p.water, width: 1.3 },
      },
    ],
  }
}

/** Overlapping events are one mark, with the shape of the most important kind. */
function eventMarks(area: PlotArea | undefined): SVGElement[] {
  if (!area) return []
  const marks = data.events.map(({ atMs, kind, subject, text, where }) => ({
    atMs,
    kind: kindOf(kind),
    level: 'idle' as const,
    subject,
    text,
    where,
  }))
  return groupMarks(marks, area.x, REACH_PX).map(({ x, kind }) =>
    svg('g', { transform: `translate(${Math.round(x * 2) / 2} ${EVENTS_PX})` }, glyph(kind)),
  )
}

export function strip(): void {
  const decimals = data.stepMs < 1000 ? 1 : 0
  const time = el('b', { class: 'clock' })
  const where = el('span', { class: 't3' })
  const at = el('span', { class: 't3' })
  const above = svg('svg', { class: 'above', 'aria-hidden': 'true' })
  const head = svg(
    'g',
    { class: 'head' },
    svg('line', { y1: 4, y2: STRIP_PX - 13 }),
    svg('path', { d: 'M-5 0h10v7l-5 4-5-4z' }),
  )
  const placeHead = (): void => {
    const x = sheet.area()?.x(data.t[cursorAt()] ?? data.fromMs) ?? 0
    head.setAttribute('transform', `translate(${Math.round(x * 2) / 2} 0)`)
  }
  const sheet = sheetOf(picture, ({ width }) => {
    above.setAttribute('viewBox', `0 0 ${width} ${STRIP_PX}`)
    const lane = svg('line', { x1: 0, x2: width, y1: LANE_PX, y2: LANE_PX, class: 'grid' })
    above.replaceChildren(lane, ...eventMarks(sheet.area()), head)
    placeHead()
  })
  const slider = el(
    'div',
    {
      class: 'flows',
      role: 'slider',
      tabindex: 0,
      'aria-label': 'Time',
      'aria-valuemin': 0,
      'aria-valuemax': Math.max(0, count - 1),
    },
    sheet.element,
    above,
  )

  function show(i: number): void {
    const t = data.t[i] ?? data.fromMs
    placeHead()
    const gap = gapAt(i)
    const flow = gap === undefined ? `${formatNumber(rpcs[i])} RPC/s` : `gap: ${gap}`
    const clock = formatClock(t, true, decimals)
    setText(time, clock)
    const local = localClock(t)
    setText(where, `${formatDate(t)}, UTC${local === '' ? '' : ` \u00B7 ${local}`}`)
    setText(at, gap === undefined ? `${i + 1} of ${count}` : flow)
    at.classList.toggle('gapped', gap !== undefined)
    slider.setAttribute('aria-valuenow', String(i))
    slider.setAttribute('aria-valuetext', `${clock} UTC, ${flow}`)
  }
  const take = (event: PointerEvent): void => {
    const area = sheet.area()
    if (area) goTo(nearestTo(timeAt(area, event.clientX - sheet.element.getBoundingClientRect().left)))
  }
  slider.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return
    slider.setPointerCapture(event.pointerId)
    take(event)
  })
  slider.addEventListener('pointermove', (event) => {
    if (slider.hasPointerCapture(event.pointerId)) take(event)
  })
  const now = el(
    'div',
    { class: 'now' },
    el('p', {}, time, el('span', { class: 'src' }, 'RECORDED')),
    el('p', {}, where),
  )
  const right = el('div', { class: 'right' }, controls(), el('p', { class: 'place' }, at))
  document.getElementById('strip')?.append(now, slider, right)
  follow(show)
}
