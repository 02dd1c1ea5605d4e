/**
 * Random numbers of the published workload: mulberry32 (T. Ettinger) and Box-Muller on the same stream. The traces are
 * defined by these draws, so `base/random.ts` cannot replace them; nothing else should use them.
 */

/** Uniform in [0, 1), 32 bits; the same sequence for the same seed (its low 32 bits). */
export function mulberry32(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Standard normal numbers in pairs of two draws: the cosine first, the sine kept for the next call. */
export function boxMuller(uniform: () => number): () => number {
  let spare: number | undefined
  return () => {
    if (spare !== undefined) {
      const normal = spare
      spare = undefined
      return normal
    }
    // A draw of 0 has no logarithm; the smallest draw above it is used instead (once in 4 billion, in neither of the
    // traces).
    const radius = Math.sqrt(-2 * Math.log(uniform() || 2 ** -32))
    const angle = 2 * Math.PI * uniform()
    spare = radius * Math.sin(angle)
    return radius * Math.cos(angle)
  }
}
