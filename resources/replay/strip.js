/** Time strip: clock, total RPC rate with gaps and events below it, draggable cursor, and playback buttons. */
import { all, data, gapAt, largest, N, nearestTo } from './data.js'
import { clock, day, lengthOf, local, number } from './figures.js'
import { el, setText, svg } from './make.js'
import { clockTicks, hatch, msOf, paths, xOf } from './plot.js'
import { cursorAt, follow, goTo, setSpeed, step, toEvent, togglePlay, watchPlay } from './time.js'

const STRIP_PX = 56
const FLOOR = 31
const LANE = 38

/** Shapes distinguish kinds without color; the product draws the same. */
const SHAPES = /** @type {Record<string, string>} */ ({
  start: 'M-3.5 3h7L0-3z',
  change: 'M0-3.6L3.6 0 0 3.6-3.6 0z',
  stop: 'M-3-3h6v6h-6z',
  alarm: 'M-4 3.5h8L0-3.5z',
  lost: 'M-3-3l6 6m0-6l-6 6',
  mode: 'M0-3.6L3.6 0 0 3.6-3.6 0z',
  controller: 'M-1.8 0a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0-3.6 0z',
  job: 'M-2.4 0a2.4 2.4 0 1 0 4.8 0a2.4 2.4 0 1 0-4.8 0z',
  note: 'M-2 4v-8h6L2-1.8 4 .4h-6',
})
const RANK = ['alarm', 'note', 'lost', 'start', 'stop', 'change', 'mode', 'job', 'controller']

/** @param {string} kind */
export const glyph = (kind) => svg('path', { d: SHAPES[kind] ?? SHAPES['job'] ?? '', class: `mark ${kind}` })

/**
 * Merges overlapping events into one mark, with the shape of the most important kind.
 *
 * @param {import('./plot.js').Box} box
 */
function marks(box) {
  /** @type {{ x: number, kinds: string[] }[]} */
  const groups = []
  for (const e of data.events) {
    const x = xOf(box, e.atMs)
    const last = groups.at(-1)
    if (last && x - last.x < 9) last.kinds.push(e.kind)
    else groups.push({ x, kinds: [e.kind] })
  }
  return groups.map(({ x, kinds }) => {
    const kind = RANK.find((k) => kinds.includes(k)) ?? 'job'
    return svg('g', { transform: `translate(${Math.round(x * 2) / 2} ${LANE})` }, glyph(kind))
  })
}

/**
 * @param {string} label
 * @param {string} path
 * @param {() => void} act
 */
const button = (label, path, act) =>
  el(
    'button',
    { type: 'button', class: 'icon', 'aria-label': label, title: label, click: act },
    svg('svg', { viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true' }, svg('path', { d: path })),
  )

const PLAY = 'M4 2.5v11l9-5.5z'
const PAUSE = 'M4 2.5h3v11H4zM9 2.5h3v11H9z'

function controls() {
  const play = button('Play (Space)', PLAY, togglePlay)
  watchPlay((isOn) => {
    const label = isOn ? 'Pause (Space)' : 'Play (Space)'
    play.setAttribute('aria-label', label)
    play.title = label
    play.querySelector('path')?.setAttribute('d', isOn ? PAUSE : PLAY)
  })
  const speeds = [1, 2, 4, 8, 16].map((f) => el('option', { value: f }, `${f}\u00D7`))
  const speed = el('select', { 'aria-label': 'Speed' }, ...speeds)
  speed.addEventListener('change', () => setSpeed(Number(speed.value)))
  const each = data.meanOf > 1 || data.tier !== 'raw' ? 'means' : 'samples'
  return el(
    'div',
    { class: 'play' },
    button('Previous event ([)', 'M3 3v10h1.6V3zM13 3v10L6 8z', () => toEvent(-1)),
    button('One sample back (Left)', 'M11 3v10L4 8z', () => step(-1)),
    play,
    button('One sample on (Right)', 'M5 3v10l7-5z', () => step(1)),
    button('Next event (])', 'M13 3v10h-1.6V3zM3 3v10l7-5z', () => toEvent(1)),
    speed,
    el('span', { class: 't3 each' }, `${lengthOf(data.stepMs)} ${each}`),
  )
}

export function strip() {
  const decimals = data.stepMs < 1000 ? 1 : 0
  const time = el('b', { class: 'clock' })
  const where = el('span', { class: 't3' })
  const at = el('span', { class: 't3' })
  const rpcs = all(data.cluster.rpcs)
  const picture = svg('svg', { class: 'flow', height: STRIP_PX, 'aria-hidden': 'true' })
  const cursor = svg(
    'g',
    { class: 'head' },
    svg('line', { y1: 4, y2: STRIP_PX - 13 }),
    svg('path', { d: 'M-5 0h10v7l-5 4-5-4z' }),
  )
  const slider = el(
    'div',
    {
      class: 'flows',
      role: 'slider',
      tabindex: 0,
      'aria-label': 'Time',
      'aria-valuemin': 0,
      'aria-valuemax': Math.max(0, N - 1),
    },
    picture,
  )
  let box = { left: 0, right: 800, top: 4, bottom: FLOOR, max: largest(rpcs) * 1.12 || 1 }

  function draw() {
    const width = Math.max(200, slider.clientWidth)
    box = { ...box, right: width - 8 }
    picture.setAttribute('viewBox', `0 0 ${width} ${STRIP_PX}`)
    const { line, area } = paths(box, rpcs)
    /** @type {Element[]} */
    const words = []
    const { out, every } = clockTicks(Math.max(2, Math.min(8, Math.floor(width / 110))))
    for (const t of out) {
      const x = xOf(box, t)
      const text = every >= 86400000 ? day(t) : clock(t, every < 60000)
      if (x > 26 && x < width - 30) words.push(svg('text', { x, y: 53.5, class: 'mid' }, text))
    }
    picture.replaceChildren(
      svg('path', { d: hatch(box), class: 'hatch' }),
      svg('path', { d: area, class: 'water area' }),
      svg('path', { d: line, class: 'water line' }),
      svg('line', { x1: 0, x2: width, y1: FLOOR + 0.5, y2: FLOOR + 0.5, class: 'grid' }),
      svg('line', { x1: 0, x2: width, y1: 44.5, y2: 44.5, class: 'grid' }),
      ...marks(box),
      ...words,
      cursor,
    )
    show(cursorAt())
  }
  /** @param {number} i */
  function show(i) {
    const t = data.t[i] ?? data.fromMs
    cursor.setAttribute('transform', `translate(${Math.round(xOf(box, t) * 2) / 2} 0)`)
    const gap = gapAt(i)
    const flow = gap === undefined ? `${number(rpcs[i])} RPC/s` : `gap: ${gap}`
    setText(time, clock(t, true, decimals))
    const own = local(t)
    setText(where, `${day(t)}, UTC${own === '' ? '' : ` \u00B7 ${own}`}`)
    setText(at, gap === undefined ? `${i + 1} of ${N}` : flow)
    at.classList.toggle('gapped', gap !== undefined)
    slider.setAttribute('aria-valuenow', String(i))
    slider.setAttribute('aria-valuetext', `${clock(t, true, decimals)} UTC, ${flow}`)
  }
  /** @param {PointerEvent} event */
  const take = (event) => goTo(nearestTo(msOf(box, event.clientX - slider.getBoundingClientRect().left)))
  slider.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return
    slider.setPointerCapture(event.pointerId)
    take(event)
  })
  slider.addEventListener('pointermove', (event) => {
    if (slider.hasPointerCapture(event.pointerId)) take(event)
  })
  new ResizeObserver(draw).observe(slider)
  const now = el(
    'div',
    { class: 'now' },
    el('p', {}, time, el('span', { class: 'src' }, 'RECORDED')),
    el('p', {}, where),
  )
  const right = el('div', { class: 'right' }, controls(), el('p', { class: 'place' }, at))
  document.getElementById('strip')?.append(now, slider, right)
  draw()
  follow(show)
}
