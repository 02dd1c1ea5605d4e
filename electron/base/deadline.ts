import { formatTimeout } from '#core/base/figure-text.ts'
import { fail, type Result } from '#core/base/result.ts'

/** Limits the wait for an answer, wall ms; the promise itself continues. Failures: its own, and ANSWER_LATE. */
export function within<T>(answer: Promise<Result<T>>, ms: number): Promise<Result<T>> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => resolve(fail({ code: 'ANSWER_LATE', what: `no answer for ${formatTimeout(ms)}` })),
      ms,
    )
    answer.then(resolve, reject).finally(() => clearTimeout(late))
  })
}

/** True if the work ends in time, wall ms; rejects as the work does. The work itself continues. */
export async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
