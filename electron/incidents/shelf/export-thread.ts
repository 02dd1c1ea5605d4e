/**
 * Writes a bundle in a thread with its own connection, so that sampling and the window are not delayed; reports
 * progress.
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { ExportInput } from '#core/api/incidents.ts'
import type { Result } from '#core/base/result.ts'
import type { Incident } from '#core/snapshot/notebook.ts'
import { openSpec, type SourceSpec } from './source-spec.ts'
import { pseudonymCode } from '../redaction/pseudonym-key.ts'
import { writeBundle, type WrittenBundle } from '../bundle/write-bundle.ts'

/** Input of the thread. */
export interface ExportTask {
  readonly spec: SourceSpec
  readonly input: ExportInput
  readonly incident: Incident | null
  readonly file: string
  readonly work: string
  readonly dataDir: string | undefined
  readonly version: string
  readonly nowMs: number
}

export type ExportMessage =
  | { readonly kind: 'progress'; readonly what: string; readonly done: number }
  | { readonly kind: 'end'; readonly result: Result<WrittenBundle> }

/** Minimum interval of progress messages, ms. */
const REPORT_MS = 50

async function run(
  task: ExportTask,
  signal: AbortSignal,
  post: (m: ExportMessage) => void,
): Promise<Result<WrittenBundle>> {
  const source = openSpec(task.spec)
  if (!source.ok) return source
  const code = pseudonymCode(task.dataDir)
  if (!code.ok) return code
  let reportedMs = -Infinity
  let last = ''
  const progress = (what: string, done: number): void => {
    if (what === last && performance.now() - reportedMs < REPORT_MS) return
    reportedMs = performance.now()
    last = what
    post({ kind: 'progress', what, done })
  }
  try {
    return await writeBundle(source.value, task.input, { ...task, code: code.value, signal, progress })
  } finally {
    source.value.db.close()
  }
}

const port = parentPort
if (port) {
  const stop = new AbortController()
  port.once('message', () => stop.abort())
  const post = (m: ExportMessage): void => port.postMessage(m)
  void run(workerData as ExportTask, stop.signal, post).then((result) => {
    post({ kind: 'end', result })
    port.close()
  })
}
