/** Time cursor: the time that everything on the page shows. */
import { count, data, indexAt } from './data.ts'

const followers: ((i: number) => void)[] = []
const watchers: ((isPlaying: boolean) => void)[] = []
let cursor = 0
let speed = 1
let playedMs = 0
let isPlaying = false
let frame = 0

export const cursorAt = (): number => cursor

/** Calls `show` now and whenever the cursor moves. */
export function follow(show: (i: number) => void): void {
  followers.push(show)
  show(cursor)
}

/** Calls `watch` when playback starts or stops. */
export const watchPlay = (watch: (isPlaying: boolean) => void): number => watchers.push(watch)

function put(i: number): void {
  const next = Math.max(0, Math.min(count - 1, i))
  if (next === cursor) return
  cursor = next
  for (const show of followers) show(cursor)
}

/** Moves the cursor; playback continues from there. */
export function goTo(i: number): void {
  put(i)
  playedMs = data.t[cursor] ?? 0
}

export const step = (steps: number): void => goTo(cursor + steps)

/** Moves to the next or the previous event. */
export function toEvent(direction: 1 | -1): void {
  const places = data.events.map(({ atMs }) => indexAt(atMs))
  const found = direction > 0 ? places.find((p) => p > cursor) : places.findLast((p) => p < cursor)
  if (found !== undefined) goTo(found)
}

export function setSpeed(factor: number): void {
  speed = factor
}

function setPlaying(isOn: boolean): void {
  isPlaying = isOn
  for (const watch of watchers) watch(isOn)
}

/** Starts or stops playback; restarts at the end. */
export function togglePlay(): void {
  if (isPlaying) {
    cancelAnimationFrame(frame)
    setPlaying(false)
    return
  }
  if (cursor >= count - 1) put(0)
  playedMs = data.t[cursor] ?? 0
  setPlaying(true)
  let before = performance.now()
  const turn = (now: number): void => {
    // A hidden tab must not make time jump.
    playedMs += Math.min(now - before, 250) * speed
    before = now
    put(indexAt(playedMs))
    if (cursor >= count - 1) setPlaying(false)
    else frame = requestAnimationFrame(turn)
  }
  frame = requestAnimationFrame(turn)
}
