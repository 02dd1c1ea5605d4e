/** One animation frame for all streams: what several of them bring in is rendered in one pass. */
const waiting = new Set<() => void>()
let handle: number | undefined

function run(): void {
  handle = undefined
  const due = [...waiting]
  waiting.clear()
  for (const task of due) task()
}

/** Calls `task` in the next animation frame; once, however often it is asked for before. */
export function onAnimationFrame(task: () => void): void {
  waiting.add(task)
  handle ??= requestAnimationFrame(run)
}
