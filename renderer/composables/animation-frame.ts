/**
 * One animation frame for all streams. Their frames arrive at any time; painting for each would cost a paint per
 * stream, so those that arrive within one interval are rendered together, in one pass.
 */
const waiting = new Set<() => void>()
const beside = new Set<() => void>()
let handle: number | undefined
let timer: ReturnType<typeof setTimeout> | undefined
let lastMs = -Infinity
/** Number of passes in the last second from which they are dense. */
const DENSE = 4
/** Times of the last passes, oldest first, at most DENSE. */
const passes: number[] = []

/** True while passes follow each other quickly: several in the last second. */
export const areFramesDense = (): boolean =>
  passes.length === DENSE && performance.now() - (passes[0] ?? -Infinity) < 1000

function run(): void {
  handle = undefined
  lastMs = performance.now()
  if (passes.push(lastMs) > DENSE) passes.shift()
  const due = [...waiting]
  waiting.clear()
  for (const task of due) task()
  for (const listener of beside) listener()
}

/** Calls `listener` with every pass, so that its changes are drawn with it. @returns unsubscribes */
export function withEachPass(listener: () => void): () => void {
  beside.add(listener)
  return () => beside.delete(listener)
}

function schedule(): void {
  timer = undefined
  handle ??= requestAnimationFrame(run)
}

/**
 * Frames of one pace arrive slightly early or late: from this fraction of the interval on, a due update joins the
 * current frame.
 */
export const NEARLY = 0.8
/**
 * Additional delay of the last value of an update that waits for its interval, ms: while frames arrive, it joins one of
 * them instead of its own paint.
 */
export const EXTRA_DELAY_MS = 1200
/**
 * Fraction of the interval for which the first frame of a sample waits for those of other streams, which arrive one
 * after the other.
 */
const JOINED = 1 / 8

/**
 * Calls `task` in an animation frame, once, however often it is requested before.
 *
 * @param gapMs  shortest time since the previous pass; 0 = the next animation frame, for direct responses to input.
 */
export function onAnimationFrame(task: () => void, gapMs = 0): void {
  waiting.add(task)
  if (handle !== undefined) return
  if (gapMs === 0) {
    clearTimeout(timer)
    schedule()
  } else timer ??= setTimeout(schedule, Math.max(gapMs * JOINED, lastMs + gapMs - performance.now()))
}
