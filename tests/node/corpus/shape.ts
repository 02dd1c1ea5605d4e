/**
 * Comparison of two answers except for their values.
 *
 * A value is a number that stands by itself, a time, a UUID, or the address in the name of a client's device. It may
 * differ, and then either the blanks around it are the same, or it fills its column to the same width, from the left or
 * from the right. Everything else is compared byte by byte: names with their digits, NIDs, units, signs, blanks, order.
 */

/** A number by itself, with the blanks around it; no part of a name, an address, a version or a label such as `4K:`. */
const VALUE =
  /( *)(?<![\w@./\\%+-])(-?\d+(?:\.\d+)?|0x[0-9a-f]+|x\d{12,}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?:(?=s ago)|(?![\w@%\\]|[.:/-]\w))( *)/g

/** Addresses in names of client devices differ from mount to mount; all have the same length. */
const plain = (text: string): string => text.replace(/ffff[0-9a-f]{12}\b/g, 'ffff888000000000')

interface Pieces {
  readonly fixed: readonly string[]
  readonly values: readonly { before: number; value: string; after: number }[]
}

function pieces(line: string): Pieces {
  const fixed: string[] = []
  const values: Pieces['values'][number][] = []
  let from = 0
  for (const m of line.matchAll(VALUE)) {
    fixed.push(line.slice(from, m.index))
    values.push({ before: m[1]?.length ?? 0, value: m[2] ?? '', after: m[3]?.length ?? 0 })
    from = m.index + m[0].length
  }
  return { fixed: [...fixed, line.slice(from)], values }
}

/** Compares two lines except for their values. */
export function isSameLine(a: string, b: string): boolean {
  if (a === b) return true
  const x = pieces(a)
  const y = pieces(b)
  if (x.fixed.length !== y.fixed.length || x.fixed.some((f, i) => f !== y.fixed[i])) return false
  return x.values.every((v, i) => {
    const w = y.values[i] as (typeof y.values)[number]
    const isSpaced = v.before === w.before && v.after === w.after
    const isRightAligned = v.before + v.value.length === w.before + w.value.length && v.after === w.after
    const isLeftAligned = v.before === w.before && v.value.length + v.after === w.value.length + w.after
    return isSpaced || isRightAligned || isLeftAligned
  })
}

export interface Difference {
  /** Line number, from 1. */
  readonly line: number
  readonly expected: string | undefined
  readonly actual: string | undefined
}

/** The first line in which two texts differ, other than in values unless those must be the same too. */
export function firstDifference(expected: string, actual: string, isExact: boolean): Difference | undefined {
  if (expected === actual) return undefined
  const e = plain(expected).split('\n')
  const a = plain(actual).split('\n')
  for (let i = 0; i < Math.max(e.length, a.length); i++) {
    const x = e[i]
    const y = a[i]
    if (x === undefined || y === undefined || !(isExact ? x === y : isSameLine(x, y)))
      return { line: i + 1, expected: x, actual: y }
  }
  return undefined
}
