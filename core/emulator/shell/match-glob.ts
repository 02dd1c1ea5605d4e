/**
 * fnmatch(3) of a whole text, with `*`, `?` and backslash escapes; all other characters match themselves.
 *
 * @complexity  O(pattern × text), without recursion.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const want = pattern.match(/\\.|[^]/g) ?? []
  let p = 0
  let t = 0
  let star = -1
  let from = 0
  while (t < text.length) {
    const w = want[p]
    if (w === '*') {
      star = p++
      from = t
    } else if (w !== undefined && (w === '?' || w.slice(-1) === text[t])) {
      p++
      t++
    } else if (star >= 0) {
      p = star + 1
      t = ++from
    } else return false
  }
  while (want[p] === '*') p++
  return p === want.length
}
