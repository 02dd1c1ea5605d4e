/** Inline elements of the handbook: code, strong, emphasis, links. */
export type Inline =
  | { readonly kind: 'text' | 'code' | 'strong' | 'emphasis'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string }

// In this order: the content of code is not parsed further.
const PARTS =
  /(`+)(?<code>.+?)\1(?!`)|\*\*(?<strong>[^*]+)\*\*|(?<![*\w])\*(?<emphasis>[^*\s][^*]*)\*(?![*\w])|\[(?<label>(?:[^\]`]|`[^`]*`)+)\]\((?<href>[^)\s]+)\)/g

const plain = (text: string): string => text.replaceAll('`', '')

export function inlineOf(line: string): Inline[] {
  const found: Inline[] = []
  let at = 0
  const text = (to: number): void => {
    if (to > at) found.push({ kind: 'text', text: line.slice(at, to) })
  }
  for (const m of line.matchAll(PARTS)) {
    text(m.index)
    at = m.index + m[0].length
    const { code, strong, emphasis, label, href } = m.groups ?? {}
    if (code !== undefined) found.push({ kind: 'code', text: code.replace(/^ (.*) $/, '$1') })
    else if (strong !== undefined) found.push({ kind: 'strong', text: plain(strong) })
    else if (emphasis !== undefined) found.push({ kind: 'emphasis', text: plain(emphasis) })
    else found.push({ kind: 'link', text: plain(label ?? ''), href: href ?? '' })
  }
  text(line.length)
  return found
}
