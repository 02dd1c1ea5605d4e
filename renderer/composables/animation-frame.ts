/**
 * One animation frame for all streams. Their frames come at any moment; painting for each of them would cost a paint per
 * stream, so what comes within one gap is rendered together, in one pass.
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

/** Calls `listener` with every pass, so that what it changes is drawn with it. @returns how to stop */
export function withEachPass(listener: () => void): () => void {
  beside.add(listener)
  return () => beside.delete(listener)
}

function ask(): void {
  timer = undefined
  handle ??= requestAnimationFrame(run)
}

/** Frames of one pace come a little sooner or later than it: from this part of it on, what is due goes with the frame that is here. */
export const NEARLY = 0.8
/** Part of the gap for which the first of a sample waits for the frames of other streams: they come one after the other. */
const JOINED = 1 / 8

/**
 * Calls `task` in an animation frame; once, however often it is asked for before.
 *
 * @param gapMs  least time since the pass before; 0 = the next animation frame, for what a hand waits for.
 */
export function onAnimationFrame(task: () => void, gapMs = 0): void {
  waiting.add(task)
  if (handle !== undefined) return
  if (gapMs === 0) {
    clearTimeout(timer)
    ask()
  } else timer ??= setTimeout(ask, Math.max(gapMs * JOINED, lastMs + gapMs - performance.now()))
}
