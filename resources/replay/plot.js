/** Path data of lines and areas over time; round axis limits. */
import { data, N } from './data.js'

/** @param {number} v */
const px = (v) => String(Math.round(v * 10) / 10)

/**
 * Coordinates of times and values.
 *
 * @typedef {{ left: number, right: number, top: number, bottom: number, max: number }} Box
 * @param {Box} box
 * @param {number} ms
 */
export const xOf = (box, ms) =>
  box.left + ((ms - data.fromMs) / (data.toMs - data.fromMs || 1)) * (box.right - box.left)

/**
 * @param {Box} box
 * @param {number} x
 */
export const msOf = (box, x) => data.fromMs + ((x - box.left) / (box.right - box.left || 1)) * (data.toMs - data.fromMs)

/**
 * @param {Box} box
 * @param {number} v
 */
const yOf = (box, v) => box.bottom - (Math.max(0, Math.min(v, box.max)) / (box.max || 1)) * (box.bottom - box.top)

/** Runs of indices without a gap.
 *
 * @param {readonly (number | null)[]} values
 * @returns {[number, number][]}
 */
function runs(values) {
  /** @type {[number, number][]} */
  const out = []
  let from = -1
  for (let i = 0; i <= N; i++) {
    const isGap = i === N || (values[i] ?? null) === null
    const isHole = i > 0 && (data.t[i] ?? 0) - (data.t[i - 1] ?? 0) > 3.5 * data.stepMs
    if (from >= 0 && (isGap || isHole)) {
      out.push([from, i - 1])
      from = -1
    }
    if (!isGap && from < 0) from = i
  }
  return out
}

/**
 * Path data of a series' line, and of the area between it and its baseline.
 *
 * @param {Box} box
 * @param {readonly (number | null)[]} top
 * @param {readonly number[]} [under]
 */
export function paths(box, top, under) {
  let line = ''
  let area = ''
  for (const [from, to] of runs(top)) {
    let d = ''
    for (let i = from; i <= to; i++)
      d += `${d === '' ? 'M' : 'L'}${px(xOf(box, data.t[i] ?? 0))} ${px(yOf(box, top[i] ?? 0))}`
    line += from === to ? `${d}h.01` : d
    area += d
    if (under)
      for (let i = to; i >= from; i--) area += `L${px(xOf(box, data.t[i] ?? 0))} ${px(yOf(box, under[i] ?? 0))}`
    else area += `L${px(xOf(box, data.t[to] ?? 0))} ${box.bottom}L${px(xOf(box, data.t[from] ?? 0))} ${box.bottom}`
    area += 'Z'
  }
  return { line, area }
}

/**
 * Slanted strokes over the ranges without samples.
 *
 * @param {Box} box
 */
export function hatch(box) {
  let d = ''
  const h = box.bottom - box.top
  for (const gap of data.gaps) {
    const x0 = Math.max(box.left, xOf(box, gap.fromMs))
    const x1 = Math.min(box.right, xOf(box, gap.toMs))
    for (let c = x0 - h; c < x1; c += 6) {
      const a = Math.max(c, x0)
      const b = Math.min(c + h, x1)
      if (b > a) d += `M${px(a)} ${px(box.bottom - (a - c))}L${px(b)} ${px(box.bottom - (b - c))}`
    }
  }
  return d
}

const LEADS = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]
const CUTS = [5, 3, 4, 5, 3, 4, 5, 3, 4, 5]

/**
 * Round axis limit at or above a value, and the tick distance below it.
 *
 * @param {number} value
 */
export function niceEnd(value) {
  if (!(value > 0)) return { max: 1, step: 1 }
  const power = 10 ** Math.floor(Math.log10(value) + 1e-9)
  const k = LEADS.findIndex((lead) => lead * power >= value * 0.999999)
  const max = Number(((LEADS[k] ?? 10) * power).toPrecision(12))
  return { max, step: max / (CUTS[k] ?? 5) }
}

const STEPS_S = [1, 2, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400]

/**
 * Round clock times, at most about `most` of them.
 *
 * @param {number} most
 */
export function clockTicks(most) {
  const span = data.toMs - data.fromMs
  const found = STEPS_S.find((s) => span / (s * 1000) <= most)
  const every = (found ?? 86400 * Math.ceil(span / 86400000 / most)) * 1000
  const out = []
  for (let t = Math.ceil(data.fromMs / every) * every; t <= data.toMs; t += every) out.push(t)
  return { out, every }
}
