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
const TELL_MS = 50

async function run(
  task: ExportTask,
  signal: AbortSignal,
  tell: (m: ExportMessage) => void,
): Promise<Result<WrittenBundle>> {
  const source = openSpec(task.spec)
  if (!source.ok) return source
  const code = pseudonymCode(task.dataDir)
  if (!code.ok) return code
  let told = -Infinity
  let last = ''
  const progress = (what: string, done: number): void => {
    if (what === last && performance.now() - told < TELL_MS) return
    told = performance.now()
    last = what
    tell({ kind: 'progress', what, done })
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
  const tell = (m: ExportMessage): void => port.postMessage(m)
  void run(workerData as ExportTask, stop.signal, tell).then((result) => {
    tell({ kind: 'end', result })
    port.close()
  })
}
