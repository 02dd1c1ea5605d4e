/** Star patterns as in `jobid={...}` of a rule. */

/** Compiles a pattern. `*` matches any run of bytes, also none; everything else is literal and case-sensitive. Linear in the id. */
export function starPattern(item: string): (id: string) => boolean {
  if (!item.includes('*')) return (id) => id === item
  const parts = item.split('*')
  const first = parts[0] as string
  const last = parts[parts.length - 1] as string
  const middle = parts.slice(1, -1).filter((p) => p !== '')
  return (id) => {
    if (id.length < first.length + last.length || !id.startsWith(first) || !id.endsWith(last)) return false
    let from = first.length
    for (const part of middle) {
      const at = id.indexOf(part, from)
      if (at < 0 || at + part.length > id.length - last.length) return false
      from = at + part.length
    }
    return true
  }
}
