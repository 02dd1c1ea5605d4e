/**
 * One animation frame for all streams. Their frames arrive at any time; painting for each would cost a paint per
 * stream, so those that arrive within one interval are rendered together, in one pass.
 */
const waiting = new Set<() => void>()
const beside = new Set<() => void>()
let handle: number | undefined
let timer: ReturnType<typeof setTimeout> | undefined
let lastMs = -Infinity

function run(): void {
  handle = undefined
  lastMs = performance.now()
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

function ask(): void {
  timer = undefined
  handle ??= requestAnimationFrame(run)
}

/**
 * Frames of one pace arrive slightly early or late: from this fraction of the interval on, a due update joins the
 * current frame.
 */
export const NEARLY = 0.8
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
    ask()
  } else timer ??= setTimeout(ask, Math.max(gapMs * JOINED, lastMs + gapMs - performance.now()))
}
