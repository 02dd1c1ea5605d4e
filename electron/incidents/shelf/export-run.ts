/** Export in a thread, as events: progress, then the result. Closing the stream cancels it. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { fail, type Result } from '#core/base/result.ts'
import { bundledPath } from '../../files/resources.ts'
import type { ExportMessage, ExportTask } from './export-thread.ts'
import type { WrittenBundle } from '../bundle/write-bundle.ts'

/** Time for the thread of a canceled export to remove its files, ms. */
const END_MS = 5_000

function threadFile(): string {
  const source = join(import.meta.dirname, 'export-thread.ts')
  return existsSync(source) ? source : bundledPath('snapshot-export.js')
}

const crashed = (why: string): Result<never> =>
  fail({
    code: 'BUNDLE_FAILED',
    what: 'The bundle was not written',
    why: `its thread ended: ${why}`,
    unaffected: 'Sampling, the history and everything else in this console continue.',
    next: 'Export a shorter range.',
  })

export type RunEvent = ExportMessage

/** @param thread  program of the thread (tests). */
export async function* exportInThread(
  task: ExportTask,
  signal?: AbortSignal,
  thread: string = threadFile(),
): AsyncGenerator<RunEvent, void, void> {
  const worker = new Worker(thread, { workerData: task, execArgv: [] })
  const waiting: ExportMessage[] = []
  let wake: (() => void) | undefined
  let isOver = false
  const take = (m: ExportMessage): void => {
    if (isOver) return
    // Unread progress is replaced.
    if (waiting.at(-1)?.kind === 'progress') waiting.pop()
    waiting.push(m)
    if (m.kind === 'end') isOver = true
    wake?.()
  }
  const end = (result: Result<WrittenBundle>): void => take({ kind: 'end', result })
  const ended = new Promise<void>((done) => worker.once('exit', () => done()))
  worker.on('message', take)
  worker.on('error', (e) => end(crashed(e instanceof Error ? e.message : String(e))))
  worker.on('exit', (code) => end(crashed(`code ${code}`)))
  const cancel = (): void => worker.postMessage('cancel')
  signal?.addEventListener('abort', cancel, { once: true })
  if (signal?.aborted) cancel()
  try {
    for (;;) {
      const m = waiting.shift()
      if (m) {
        yield m
        if (m.kind === 'end') return
      } else await new Promise<void>((done) => (wake = done))
    }
  } finally {
    signal?.removeEventListener('abort', cancel)
    if (!isOver) cancel()
    const late = setTimeout(() => void worker.terminate(), END_MS)
    await ended
    clearTimeout(late)
  }
}
