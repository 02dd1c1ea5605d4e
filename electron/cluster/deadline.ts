import { formatTimeout } from '#core/base/figure-text.ts'

/** An answer that must come within a time, wall ms; the promise itself goes on. */
export function within<T>(answer: Promise<T>, ms: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no answer for ${formatTimeout(ms)}`)), ms)
    answer.then(resolve, reject).finally(() => clearTimeout(late))
  })
}
