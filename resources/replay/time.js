/** Time cursor: the time that everything on the page shows. */
import { data, indexAt, N } from './data.js'

/** @type {((i: number) => void)[]} */
const followers = []
/** @type {((isPlaying: boolean) => void)[]} */
const watchers = []
let cursor = 0
let speed = 1
let playedMs = 0
let isPlaying = false
let frame = 0

export const cursorAt = () => cursor

/** Calls `show` now and whenever the cursor moves.
 *
 * @param {(i: number) => void} show
 */
export function follow(show) {
  followers.push(show)
  show(cursor)
}

/** @param {(isPlaying: boolean) => void} watch */
export const watchPlay = (watch) => watchers.push(watch)

/** @param {number} i */
function put(i) {
  const next = Math.max(0, Math.min(N - 1, i))
  if (next === cursor) return
  cursor = next
  for (const show of followers) show(cursor)
}

/**
 * Moves the cursor; playback continues from there.
 *
 * @param {number} i
 */
export function goTo(i) {
  put(i)
  playedMs = data.t[cursor] ?? 0
}

/** @param {number} steps */
export const step = (steps) => goTo(cursor + steps)

/**
 * Moves to the next or the previous event.
 *
 * @param {1 | -1} direction
 */
export function toEvent(direction) {
  const places = data.events.map((e) => indexAt(e.atMs))
  const found = direction > 0 ? places.find((p) => p > cursor) : places.findLast((p) => p < cursor)
  if (found !== undefined) goTo(found)
}

/** @param {number} factor */
export const setSpeed = (factor) => {
  speed = factor
}

/** @param {boolean} on */
function setPlaying(on) {
  isPlaying = on
  for (const watch of watchers) watch(on)
}

/** Starts or stops playback; restarts at the end. */
export function togglePlay() {
  if (isPlaying) {
    cancelAnimationFrame(frame)
    setPlaying(false)
    return
  }
  if (cursor >= N - 1) put(0)
  playedMs = data.t[cursor] ?? 0
  setPlaying(true)
  let before = performance.now()
  /** @param {number} now */
  const turn = (now) => {
    // A hidden tab must not make time jump.
    playedMs += Math.min(now - before, 250) * speed
    before = now
    put(indexAt(playedMs))
    if (cursor >= N - 1) setPlaying(false)
    else frame = requestAnimationFrame(turn)
  }
  frame = requestAnimationFrame(turn)
}
