/** What is said where a bundle's name is another one's already. */
import { fail, ok, type Result } from '#core/base/result.ts'
import { takeName } from '../../files/whole-file.ts'

export const taken = (file: string): Result<never> =>
  fail({
    code: 'BUNDLE_EXISTS',
    what: 'The bundle was not written',
    why: `${file} is there already`,
    unaffected: 'It was not changed.',
    next: 'Choose another name.',
  })

/** Gives a whole bundle its name. Failures: BUNDLE_EXISTS. @throws what the file system says otherwise. */
export const takeBundleName = (part: string, file: string): Result<undefined> =>
  takeName(part, file) ? ok(undefined) : taken(file)
