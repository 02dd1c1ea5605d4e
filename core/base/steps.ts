/** Computation in steps, as a generator: the caller may yield to other work between steps. */
export type Steps<T> = Generator<undefined, T, void>

/** Runs all steps at once. */
export function ended<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
