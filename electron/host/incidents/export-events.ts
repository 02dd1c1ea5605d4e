/** Export as events of the contract: in a thread if the source is a file, else in the host's thread with pauses. */
import { existsSync } from 'node:fs'
import type { ExportEvent, ExportInput } from '#core/api/incidents.ts'
import type { Failure, Result } from '#core/base/result.ts'
import type { Incident } from '#core/snapshot/notebook.ts'
import { exportInThread, type RunEvent } from '../../incidents/shelf/export-run.ts'
import { pseudonymCode } from '../../incidents/redaction/pseudonym-key.ts'
import { specOf } from '../../incidents/shelf/source-spec.ts'
import { taken } from '../../incidents/zip/take-name.ts'
import { writeBundle, type WrittenBundle } from '../../incidents/bundle/write-bundle.ts'
import { toNotice } from '../views/status.ts'
import type { ScreenSource } from './screen-source.ts'

export interface ExportParts {
  readonly source: ScreenSource
  readonly input: ExportInput
  readonly incident: Incident | null
  readonly name: string
  readonly file: string
  readonly work: string
  readonly dataDir: string | undefined
  readonly version: string
}

export async function* exportEvents(parts: ExportParts, signal: AbortSignal): AsyncGenerator<ExportEvent, void, void> {
  // Checked before anything is read; a name taken meanwhile is refused when the bundle is renamed.
  if (existsSync(parts.file)) {
    yield endOf(taken(parts.file), parts)
    return
  }
  for await (const e of events(parts, signal)) {
    if (e.kind === 'progress') yield e
    else yield endOf(e.result, parts)
  }
}

function endOf(result: Result<WrittenBundle>, { name, file }: ExportParts): ExportEvent {
  if (!result.ok) return failed(result.error)
  const { bytes, sha256, content, missing } = result.value
  return { kind: 'done', name, file, bytes, sha256, content, missing: [...missing] }
}

const failed = (error: Failure): ExportEvent => ({ kind: 'failed', notice: toNotice(error) })

function events(parts: ExportParts, signal: AbortSignal): AsyncGenerator<RunEvent, void, void> {
  const { source, input, incident, file, work, dataDir, version } = parts
  const nowMs = Date.now()
  if (source.file === undefined) return here(parts, nowMs, signal)
  const spec = specOf(source, source.file, input.span)
  return exportInThread({ spec, input, incident, file, work, dataDir, version, nowMs }, signal)
}

/** In-memory data is available in this thread only. */
async function* here(parts: ExportParts, nowMs: number, signal: AbortSignal): AsyncGenerator<RunEvent, void, void> {
  const { source, input, incident, file, work, dataDir, version } = parts
  const code = pseudonymCode(dataDir)
  if (!code.ok) {
    yield { kind: 'end', result: code }
    return
  }
  const stop = new AbortController()
  const waiting: RunEvent[] = []
  let wake: (() => void) | undefined
  const put = (e: RunEvent): void => {
    if (waiting.at(-1)?.kind === 'progress') waiting.pop()
    waiting.push(e)
    wake?.()
  }
  const options = {
    incident,
    file,
    work,
    version,
    nowMs,
    code: code.value,
    signal: AbortSignal.any([signal, stop.signal]),
  }
  const written = writeBundle(source, input, {
    ...options,
    progress: (what, done, items) => put({ kind: 'progress', what, done, ...(items ? { items } : {}) }),
  })
  void written.then((result) => put({ kind: 'end', result }))
  try {
    for (;;) {
      const e = waiting.shift()
      if (e) {
        yield e
        if (e.kind === 'end') return
      } else await new Promise<void>((done) => (wake = done))
    }
  } finally {
    stop.abort()
    await written
  }
}
