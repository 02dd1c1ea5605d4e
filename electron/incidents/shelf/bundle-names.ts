/** Valid names of bundles in their folder: file names on every system, and never a path. */
import { join } from 'node:path'
import { fileNameRule, isFileName } from '#core/base/file-name.ts'
import { fail, ok, type Result } from '#core/base/result.ts'

export const SUFFIX = '.zip'
const NAME_MAX = 120

/** Path of a bundle of that name. Failures: BUNDLE_NAME. */
export function bundlePath(folder: string, name: string): Result<string> {
  const bare = bareName(name)
  if (isFileName(bare, NAME_MAX)) {
    return ok(join(folder, bare + SUFFIX))
  }
  return fail({
    code: 'BUNDLE_NAME',
    what: 'This name is not valid for a bundle',
    why: fileNameRule(NAME_MAX),
    next: 'Choose another name.',
  })
}

export const bareName = (name: string): string => (name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : name)

const stamp = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace(/[-:]/g, '').replace('T', ' ')

/** Default name from the incident and the beginning of the range; contains no names of people. */
export const usualName = (incident: string | null, fromMs: number): string =>
  `${incident ?? 'snapshot'} ${stamp(fromMs)}`
