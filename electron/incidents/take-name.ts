/** Gives a whole file its name without ever replacing another one, and removes what was half written. */
import { existsSync, linkSync, renameSync, rmSync } from 'node:fs'
import { fail, ok, type Result } from '#core/base/result.ts'

export const taken = (file: string): Result<never> =>
  fail({
    code: 'BUNDLE_EXISTS',
    what: 'The bundle was not written',
    why: `${file} is there already`,
    unaffected: 'It was not changed.',
    next: 'Choose another name.',
  })

/** Failures: BUNDLE_EXISTS. @throws what the file system says otherwise. */
export function takeName(part: string, file: string): Result<undefined> {
  try {
    linkSync(part, file)
    rmSync(part)
  } catch (e) {
    if (e instanceof Error && 'code' in e && e.code === 'EEXIST') return taken(file)
    // A file system without links.
    if (existsSync(file)) return taken(file)
    renameSync(part, file)
  }
  return ok(undefined)
}
