/** The folder of recordings: what is in it, and which names a recording may have. */
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

  /** Where a recording of that name lies, or would. Failures: RECORDING_NAME. */
  pathOf(name: string): Result<string> {
    const bare = name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : name
    if (isFileName(bare, NAME_MAX)) {
      return ok(join(this.folder, bare + SUFFIX))
    }
    return fail({
      code: 'RECORDING_NAME',
      what: 'This name cannot be taken for a recording',
      why: fileNameRule(NAME_MAX),
      next: 'Choose another name.',
    })
  }

  /** Failures: RECORDING_NAME, RECORDING_KEPT when it cannot be removed. */
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
        next: 'Check the folder and its rights.',
      })
    }
  }

  /** Names of what is in it. */
  names(): string[] {
    try {
      const names = readdirSync(this.folder).filter((n) => n.endsWith(SUFFIX))
      return names.map((n) => n.slice(0, -SUFFIX.length)).slice(0, LISTED_MAX)
    } catch {
      // There is no folder until the first recording.
      return []
    }
  }
}
