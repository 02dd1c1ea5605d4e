/**
 * Patterns of ssh_config(5) and known_hosts: `*` any run of characters, `?` one character, and lists in which a
 * matching negated pattern excludes the whole list.
 */

/** Runs in O(pattern x text) for any pattern, so that no file can block the console. */
export function matchesPattern(pattern: string, text: string): boolean {
  let p = 0
  let t = 0
  let star = -1
  let resume = 0
  while (t < text.length) {
    if (p < pattern.length && (pattern[p] === '?' || (pattern[p] !== '*' && pattern[p] === text[t]))) {
      p++
      t++
    } else if (pattern[p] === '*') {
      star = p++
      resume = t
    } else if (star >= 0) {
      p = star + 1
      t = ++resume
    } else return false
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}

/** @returns `negated` if a pattern with `!` matches, whatever the others do. */
export function matchesList(patterns: readonly string[], text: string): 'yes' | 'no' | 'negated' {
  let found = false
  for (const pattern of patterns) {
    if (pattern.startsWith('!')) {
      if (matchesPattern(pattern.slice(1), text)) return 'negated'
    } else if (matchesPattern(pattern, text)) found = true
  }
  return found ? 'yes' : 'no'
}
