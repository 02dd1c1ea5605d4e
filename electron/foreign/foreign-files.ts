/**
 * Foreign files: recordings, histories and bundles. Each is first read in another process, limited in time, memory and
 * output; only the result of that check is opened here.
 */
import { createReadStream } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import * as z from 'zod'
import { verdictOfBundle, type VerdictOfBundle } from '#core/api/incidents.ts'
import { notice } from '#core/api/parts.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { checkedFile, openChecked, type CheckedFile, type OpenedFile } from '../history/open-recording.ts'
import { queryAnswer, type QueryAnswer, type SqlQuery } from '../history/sql.ts'
import type { UnpackHistory } from '../incidents/bundle/unpack-history.ts'
import type { VerifyBundle } from '../incidents/bundle/verify.ts'
import { dropFolder, privateFolder, sweep } from '../incidents/shelf/private-folder.ts'
import { startNodeProcess } from './node-process.ts'
import { ForeignProcesses, type RunForeign } from './processes.ts'
import { ROWS_FILE, type ForeignTask } from './task.ts'

const resultOf = <T extends z.ZodType>(value: T) =>
  z.union([z.object({ ok: z.literal(true), value }), z.object({ ok: z.literal(false), error: notice })])
const checkedResult = resultOf(checkedFile)
const verdictResult = resultOf(verdictOfBundle)
const queryResult = resultOf(queryAnswer)

const unreadable = (file: string): Failure => ({
  code: 'FILE_CRASHED',
  what: `${file} was not opened`,
  why: 'the reader process returned an invalid answer',
  unaffected: 'It was not changed.',
  next: 'Copy the file again from its origin.',
})

/** Age from which files of killed processes are considered unused, ms. */
const LEFTOVER_AGE_MS = 86_400_000

/** Private folder for unpacked or copied files. */
function processFolder(): string {
  sweep(tmpdir(), LEFTOVER_AGE_MS)
  return privateFolder(tmpdir())
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export interface QueryOptions {
  /** Name of the cluster; by default the newest. */
  readonly cluster?: string | undefined
  readonly query: SqlQuery
  /** Time limit. */
  readonly seconds: number
}

/** Rows of a query, which are kept in a file until `close`. */
export interface QueryRows extends QueryAnswer {
  /** JSON arrays, in order. */
  readonly lines: () => AsyncIterable<string>
  readonly close: () => void
}

export class ForeignFiles {
  readonly #run: RunForeign
  readonly #close: () => void

  /**
   * @param run    runs a task in its own process.
   * @param close  ends those processes.
   */
  constructor(run: RunForeign, close: () => void = () => undefined) {
    this.#run = run
    this.#close = close
  }

  /** Uses processes forked by Node. */
  static ofNode(): ForeignFiles {
    const processes = new ForeignProcesses(startNodeProcess)
    return new ForeignFiles(processes.run, () => processes.close())
  }

  /**
   * Checks a recording, or a history, of this version. Failures: those of `checkFile`, FILE_TOO_SLOW, _TOO_LARGE,
   * _CRASHED.
   */
  check(file: string): Promise<Result<CheckedFile>> {
    return this.#checked({ kind: 'check', file: resolve(file) })
  }

  /**
   * Opens a recording, or a history. A file of an older Sluice is opened as an upgraded private copy, which is removed
   * on close: the file itself is never written. Failures: those of `check`, and of `copyUpgraded`.
   */
  async open(file: string): Promise<Result<OpenedFile>> {
    const checked = await this.check(file)
    if (checked.ok) return openChecked(checked.value)
    if (checked.error.code !== 'RECORDING_OLDER') return checked
    const folder = processFolder()
    const upgraded = await this.#checked({ kind: 'upgrade', file: resolve(file), folder })
    const opened = upgraded.ok ? openChecked(upgraded.value) : upgraded
    if (!opened.ok) {
      dropFolder(folder)
      return opened
    }
    const close = (): void => {
      opened.value.close()
      dropFolder(folder)
    }
    return ok({ ...opened.value, close })
  }

  /** Reports the contents of a file without keeping it open; includes files of an older Sluice. */
  async inspect(file: string): Promise<Result<CheckedFile>> {
    const checked = await this.check(file)
    if (checked.ok || checked.error.code !== 'RECORDING_OLDER') return checked
    const opened = await this.open(file)
    if (!opened.ok) return opened
    opened.value.close()
    return ok(opened.value.checked)
  }

  /** Failures: those of `verifyBundle`, FILE_TOO_SLOW, _TOO_LARGE, _CRASHED. */
  readonly verify: VerifyBundle = async (file): Promise<Result<VerdictOfBundle>> => {
    const folder = processFolder()
    try {
      const answer = await this.#run({ kind: 'verify', file: resolve(file), folder })
      if (!answer.ok) return answer
      const read = verdictResult.safeParse(parsed(answer.value))
      return read.success ? read.data : fail(unreadable(file))
    } finally {
      dropFolder(folder)
    }
  }

  /** Failures: those of `openChecked`, `readerOf` and `runQuery`, QUERY_TOO_SLOW, _TOO_LARGE, _CRASHED. */
  async query(checked: CheckedFile, options: QueryOptions): Promise<Result<QueryRows>> {
    const folder = processFolder()
    const answer = await this.#run({ kind: 'query', file: checked.file, folder, checked, ...options })
    const read = answer.ok ? queryResult.safeParse(parsed(answer.value)) : undefined
    if (answer.ok && read?.success === true && read.data.ok) {
      const file = join(folder, ROWS_FILE)
      return ok({
        ...read.data.value,
        lines: () => createInterface({ input: createReadStream(file), crlfDelay: Infinity }),
        close: () => dropFolder(folder),
      })
    }
    dropFolder(folder)
    if (!answer.ok) return answer
    return read?.success === true && !read.data.ok ? fail(read.data.error) : fail(unreadable(checked.file))
  }

  readonly unpack: UnpackHistory = (file, folder) => this.#checked({ kind: 'unpack', file: resolve(file), folder })

  /** Ends running tasks. */
  close(): void {
    this.#close()
  }

  async #checked(task: ForeignTask): Promise<Result<CheckedFile>> {
    const answer = await this.#run(task)
    if (!answer.ok) return answer
    const read = checkedResult.safeParse(parsed(answer.value))
    return read.success ? read.data : fail(unreadable(task.file))
  }
}
