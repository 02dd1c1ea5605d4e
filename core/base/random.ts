/**
 * Seeded, named random streams.
 *
 * Every consumer has its own stream by name, so adding one never changes the numbers of another, and two streams of one seed are
 * uncorrelated. Source: sfc32 (C. Doty-Humphrey, PractRand), seeded through the 128-bit mix cyrb128. Deviations: none that matter; the
 * first 12 outputs are discarded as its author advises.
 */
export interface RandomStream {
  /** Uniform in [0, 1), 32 bits of resolution. */
  uniform(): number
  /** Uniform integer in [0, n); n in 1..2^32. */
  below(n: number): number
  /** Exponentially distributed with the given mean, > 0. */
  exponential(mean: number): number
}

/** Derives four 32-bit words from a text: any change of the text changes all of them. */
function hashWords(text: string): [number, number, number, number] {
  let a = 1779033703
  let b = 3144134277
  let c = 1013904242
  let d = 2773480762
  for (let i = 0; i < text.length; i++) {
    const k = text.charCodeAt(i)
    a = b ^ Math.imul(a ^ k, 597399067)
    b = c ^ Math.imul(b ^ k, 2869860233)
    c = d ^ Math.imul(c ^ k, 951274213)
    d = a ^ Math.imul(d ^ k, 2716044179)
  }
  a = Math.imul(c ^ (a >>> 18), 597399067)
  b = Math.imul(d ^ (b >>> 22), 2869860233)
  c = Math.imul(a ^ (c >>> 17), 951274213)
  d = Math.imul(b ^ (d >>> 19), 2716044179)
  return [(a ^ b ^ c ^ d) >>> 0, (b ^ a) >>> 0, (c ^ a) >>> 0, (d ^ a) >>> 0]
}

/**
 * Returns the stream `name` under `seed`.
 *
 * @param seed  the scenario's seed, any safe integer.
 * @param name  the consumer, for example `job/4690/think`.
 */
export function randomStream(seed: number, name: string): RandomStream {
  let [a, b, c, d] = hashWords(`${seed}\u0000${name}`)
  const next = (): number => {
    const t = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + t) | 0
    return t >>> 0
  }
  for (let i = 0; i < 12; i++) next()
  const uniform = (): number => next() / 4294967296
  return {
    uniform,
    below: (n) => Math.floor(uniform() * n),
    exponential: (mean) => -mean * Math.log(1 - uniform()),
  }
}
