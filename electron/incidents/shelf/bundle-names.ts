/** Which names a bundle may have in its folder: names of files on every system, and no path. */
import { join } from 'node:path'
import { fileNameRule, isFileName } from '#core/base/file-name.ts'
import { fail, ok, type Result } from '#core/base/result.ts'

export const SUFFIX = '.zip'
const NAME_MAX = 120

/** Where a bundle of that name lies, or would. Failures: BUNDLE_NAME. */
export function bundlePath(folder: string, name: string): Result<string> {
  const bare = bareName(name)
  if (isFileName(bare, NAME_MAX)) {
    return ok(join(folder, bare + SUFFIX))
  }
  return fail({
    code: 'BUNDLE_NAME',
    what: 'This name cannot be taken for a bundle',
    why: fileNameRule(NAME_MAX),
    next: 'Choose another name.',
  })
}

export const bareName = (name: string): string => (name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : name)

const stamp = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace(/[-:]/g, '').replace('T', ' ')

/** A name that says when and what, and nobody's: of the incident and the beginning of the stretch. */
export const usualName = (incident: string | null, fromMs: number): string =>
  `${incident ?? 'snapshot'} ${stamp(fromMs)}`
