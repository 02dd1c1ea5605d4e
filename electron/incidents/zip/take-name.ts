/** Failure for a bundle name that is already taken. */
import { fail, ok, type Result } from '#core/base/result.ts'
import { takeName } from '../../files/atomic-file.ts'

export const taken = (file: string): Result<never> =>
  fail({
    code: 'BUNDLE_EXISTS',
    what: 'The bundle was not written',
    why: `${file} already exists`,
    unaffected: 'It was not changed.',
    next: 'Choose another name.',
  })

/** Renames a complete bundle. Failures: BUNDLE_EXISTS. @throws any other file system error. */
export const takeBundleName = (part: string, file: string): Result<undefined> =>
  takeName(part, file) ? ok(undefined) : taken(file)
