/** Folder of recordings: its contents, and valid names. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileNameRule, isFileName } from '#core/base/file-name.ts'
import { fail, ok, type Result } from '#core/base/result.ts'

const SUFFIX = '.qosrec'
const NAME_MAX = 80
const LISTED_MAX = 500

export class Recordings {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  /** Path of a recording of that name. Failures: RECORDING_NAME. */
  pathOf(name: string): Result<string> {
    const bare = name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : name
    if (isFileName(bare, NAME_MAX)) {
      return ok(join(this.folder, bare + SUFFIX))
    }
    return fail({
      code: 'RECORDING_NAME',
      what: 'This is not a valid name for a recording',
      why: fileNameRule(NAME_MAX),
      next: 'Choose another name.',
    })
  }

  /** Removes a recording. Failures: RECORDING_NAME, RECORDING_KEPT if it cannot be removed. */
  remove(name: string): Result<undefined> {
    const path = this.pathOf(name)
    if (!path.ok) return path
    try {
      rmSync(path.value)
      return ok(undefined)
    } catch (e) {
      return fail({
        code: 'RECORDING_KEPT',
        what: 'The recording was not removed',
        why: e instanceof Error ? e.message : String(e),
        next: 'Check the folder and its permissions.',
      })
    }
  }

  /** Names of the recordings. */
  names(): string[] {
    try {
      const names = readdirSync(this.folder).filter((n) => n.endsWith(SUFFIX))
      return names.map((n) => n.slice(0, -SUFFIX.length)).slice(0, LISTED_MAX)
    } catch {
      // The folder does not exist before the first recording.
      return []
    }
  }
}
