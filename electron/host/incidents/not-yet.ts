import { fail, type Result } from '#core/base/result.ts'

export const notYet = (what: string): Result<never> =>
  fail({ code: 'NOT_YET', what, why: 'this part is not there yet' })
