/**
 * A new file of the history's tables. It is written beside its name and takes that name when it is whole: whatever ends it before
 * leaves nothing behind.
 */
import Database from 'better-sqlite3'
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { fail, ok, type Result } from '#core/base/result.ts'
import { takeName } from '../files/whole-file.ts'
import { migrate } from './schema.ts'

/** What the file is called where it fails. */
export interface NewFileWords {
  /** Begins its failures' codes: `<code>_EXISTS`, `<code>_FAILED`, `<code>_CANCELLED`. */
  readonly code: string
  /** `The recording was not written`. */
  readonly what: string
  /** What to do where there is no room. */
  readonly next: string
}

export interface NewFileOptions {
  /** Largest size in pages of 4 KiB. */
  readonly pagesMax?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Ends the writing of a file by what is said to the operator. */
export class Refusal extends Error {
  readonly result: Result<never>

  constructor(result: Result<never>) {
    super('refused')
    this.result = result
  }
}

/** Gives a whole file its name; false: one took it meanwhile. @throws what the file system says. */
function settle(part: string, file: string): boolean {
  const handle = openSync(part, 'r+')
  fsyncSync(handle)
  closeSync(handle)
  return takeName(part, file)
}

/**
 * Makes a file and has it filled; the folder is made, too.
 *
 * @param fill  writes it; what it throws as a `Refusal` is what this returns.
 * @returns     what `fill` did, and the size. Failures: those of NewFileWords, and of `fill`.
 */
export async function writeNewFile<T>(
  file: string,
  words: NewFileWords,
  options: NewFileOptions,
  fill: (db: Database.Database) => Promise<T>,
): Promise<Result<{ readonly made: T; readonly bytes: number }>> {
  const { code, what } = words
  const taken = (): Result<never> =>
    fail({
      ...{ code: `${code}_EXISTS`, what, why: `${file} is there already` },
      ...{ unaffected: 'It was not changed.', next: 'Choose another name.' },
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
      return fail({ code: `${code}_CANCELLED`, what, why: 'it was cancelled', unaffected: 'Nothing was left of it.' })
    }
    return fail({
      ...{ code: `${code}_FAILED`, what, why: e instanceof Error ? e.message : String(e), next: words.next },
      unaffected: 'The history is as it was; nothing half-written was left.',
    })
  } finally {
    out?.close()
    for (const left of [part, `${part}-journal`]) rmSync(left, { force: true })
  }
}
