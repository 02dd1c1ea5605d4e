/** Process that reads foreign files, one task after another; it ends with its parent. */
import { Worker } from 'node:worker_threads'
import * as z from 'zod'
import { answerOf } from './program.ts'
import { foreignTask, type fromForeign } from './task.ts'

type Answer = z.infer<typeof fromForeign>

/** Port of Electron's utility process to main. */
interface ParentPort {
  on(event: 'message', listener: (event: { readonly data: unknown }) => void): void
  postMessage(message: Answer): void
}

const request = z.object({
  number: z.number().int(),
  task: foreignTask,
  answerChars: z.number().positive(),
  timeMs: z.number().positive(),
})

/** Delay after the parent's own kill timeout. */
const LATER_MS = 5_000
/** Kills the process from a worker thread: the parent may be gone, and a loop inside SQLite receives no messages. */
const WATCH = `const { parentPort } = require('node:worker_threads')
let timer
parentPort.on('message', (ms) => {
  clearTimeout(timer)
  if (ms > 0) timer = setTimeout(() => process.kill(process.pid, 'SIGKILL'), ms)
})`
const watch = new Worker(WATCH, { eval: true, execArgv: [] })
watch.unref()

const { parentPort } = process as { readonly parentPort?: ParentPort }
const reply = (message: Answer): void => {
  if (parentPort) parentPort.postMessage(message)
  else process.send?.(message)
}

async function hear(message: unknown): Promise<void> {
  const { number, task, answerChars, timeMs } = request.parse(message)
  watch.postMessage(timeMs + LATER_MS)
  const text = await answerOf(task, answerChars)
  watch.postMessage(0)
  reply({ type: 'answer', number, text })
}

// A defect of the program ends the process, which the parent reports as a crash.
if (parentPort) parentPort.on('message', ({ data }) => void hear(data))
else {
  process.on('message', (message) => void hear(message))
  process.on('disconnect', () => process.exit(0))
}
reply({ type: 'ready' })
