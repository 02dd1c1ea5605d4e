/** Work in steps: between two of them others may have their turn, or not. */
export type Steps<T> = Generator<undefined, T, void>

/** All of it at once. */
export function ended<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
