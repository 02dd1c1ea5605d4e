/**
 * Creates a file with the history's tables. It is written under a temporary name and renamed when complete: an interruption leaves
 * nothing behind.
 */
import Database from 'better-sqlite3'
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { fail, ok, type Result } from '#core/base/result.ts'
import { takeName } from '../files/atomic-file.ts'
import { migrate } from './schema.ts'

/** Texts for failures of a new file. */
export interface NewFileMessages {
  /** Prefix of its failure codes: `<code>_EXISTS`, `<code>_FAILED`, `<code>_CANCELLED`. */
  readonly code: string
  /** `The recording was not written`. */
  readonly what: string
  /** Remedy for a full disk. */
  readonly next: string
}

export interface NewFileOptions {
  /** Largest size in pages of 4 KiB. */
  readonly pagesMax?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Aborts the writing of a file with a message for the operator. */
export class Refusal extends Error {
  readonly result: Result<never>

  constructor(result: Result<never>) {
    super('refused')
    this.result = result
  }
}

/** Renames a complete file; false if the name was taken meanwhile. @throws errors of the file system. */
function settle(part: string, file: string): boolean {
  const handle = openSync(part, 'r+')
  fsyncSync(handle)
  closeSync(handle)
  return takeName(part, file)
}

/**
 * Creates a file and fills it; its folder is created too.
 *
 * @param fill  writes it; a `Refusal` that it throws is returned as the failure.
 * @returns     the result of `fill`, and the size. Failures: those of NewFileMessages, and of `fill`.
 */
export async function writeNewFile<T>(
  file: string,
  messages: NewFileMessages,
  options: NewFileOptions,
  fill: (db: Database.Database) => Promise<T>,
): Promise<Result<{ readonly made: T; readonly bytes: number }>> {
  const { code, what } = messages
  const taken = (): Result<never> =>
    fail({
      code: `${code}_EXISTS`,
      what,
      why: `${file} already exists`,
      unaffected: 'It was not changed.',
      next: 'Choose another name.',
    })
  if (existsSync(file)) return taken()
  const part = `${file}.${randomBytes(4).toString('hex')}.part`
  let out: Database.Database | undefined
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    closeSync(openSync(part, 'wx', 0o600))
    out = new Database(part)
    out.pragma('journal_mode = OFF')
    out.pragma('synchronous = OFF')
    out.pragma('foreign_keys = OFF')
    migrate(out)
    if (options.pagesMax !== undefined) out.pragma(`max_page_count = ${options.pagesMax}`)
    const made = await fill(out)
    out.close()
    out = undefined
    if (!settle(part, file)) return taken()
    return ok({ made, bytes: statSync(file).size })
  } catch (e) {
    if (e instanceof Refusal) return e.result
    if (options.signal?.aborted === true) {
      return fail({ code: `${code}_CANCELLED`, what, why: 'it was canceled', unaffected: 'No file was left.' })
    }
    return fail({
      code: `${code}_FAILED`,
      what,
      why: e instanceof Error ? e.message : String(e),
      next: messages.next,
      unaffected: 'The history is unchanged; no partial file was left.',
    })
  } finally {
    out?.close()
    for (const remnant of [part, `${part}-journal`]) rmSync(remnant, { force: true })
  }
}
