/** Line diff of two texts. */

export interface DiffLine {
  readonly op: 'add' | 'del' | 'keep'
  readonly text: string
}

/** Lines on either side up to which a shortest diff is computed; above it all lines are removed and added. */
const LINES_MAX = 1_500

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

/**
 * A shortest difference of two texts, line by line, in the order of the new one; removed lines before added ones.
 *
 * @complexity O(n m) in the lines between their common beginning and end.
 */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = linesOf(before)
  const b = linesOf(after)
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  const keep = (text: string): DiffLine => ({ op: 'keep', text })
  return [
    ...a.slice(0, head).map(keep),
    ...between(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(keep),
  ]
}

function between(a: readonly string[], b: readonly string[]): DiffLine[] {
  const del = (text: string): DiffLine => ({ op: 'del', text })
  const add = (text: string): DiffLine => ({ op: 'add', text })
  if (a.length > LINES_MAX || b.length > LINES_MAX) return [...a.map(del), ...b.map(add)]
  // common[i * width + j]: length of the longest common subsequence of a from i and b from j.
  const width = b.length + 1
  const common = new Uint16Array((a.length + 1) * width)
  const at = (i: number, j: number): number => common[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const out: DiffLine[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ op: 'keep', text: a[i] as string })
      i++
      j++
    } else if (j === b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) out.push(del(a[i++] as string))
    else out.push(add(b[j++] as string))
  }
  return out
}
