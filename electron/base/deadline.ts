import { formatTimeout } from '#core/base/figure-text.ts'

/** An answer that must come within a time, wall ms; the promise itself goes on. */
export function within<T>(answer: Promise<T>, ms: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no answer for ${formatTimeout(ms)}`)), ms)
    answer.then(resolve, reject).finally(() => clearTimeout(late))
  })
}

/** Whether work ends within a time, wall ms; rejects as the work does. The work itself continues. */
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
