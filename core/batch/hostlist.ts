/**
 * Lists of nodes as batch systems shorten them: `node[001-003,7],login1` of Slurm, with several brackets a name.
 *
 * Source: Slurm's hostlist expressions. Zeros in front give the width. Bounded: the text comes from outside.
 */

/** Names that one list may stand for. */
export const HOSTS_MAX = 4096
const TEXT_MAX = 65_536
const NAME_MAX = 253

/** Splits at commas outside of brackets; undefined where brackets do not fit. */
function parts(text: string): string[] | undefined {
  const out: string[] = []
  let [depth, from] = [0, 0]
  for (let i = 0; i <= text.length; i++) {
    const c = text[i]
    if (c === '[') depth++
    else if (c === ']') depth--
    if (depth < 0 || depth > 1) return undefined
    if ((c === ',' && depth === 0) || c === undefined) {
      out.push(text.slice(from, i))
      from = i + 1
    }
  }
  return depth === 0 ? out : undefined
}

/** The numbers of one bracket as texts; undefined where it is none. */
function numbers(inner: string, room: number): string[] | undefined {
  const out: string[] = []
  for (const range of inner.split(',')) {
    const m = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(range)
    if (!m) return undefined
    const [, first = '', last = first] = m
    const [a, b] = [Number(first), Number(last)]
    if (b < a) return undefined
    for (let n = a; n <= b && out.length <= room; n++) out.push(String(n).padStart(first.length, '0'))
  }
  return out
}

/**
 * The names that a list stands for, each once, in its order.
 *
 * @returns  undefined for a text that is no list, and for one of more than `HOSTS_MAX` names.
 */
export function expandHostlist(text: string): string[] | undefined {
  if (text === '' || text.length > TEXT_MAX) return text === '' ? [] : undefined
  const names = new Set<string>()
  for (const part of parts(text) ?? ['[']) {
    let open = ['']
    for (const piece of part.split(/(\[[^\]]*\])/)) {
      if (!piece.startsWith('[')) {
        if (!/^[A-Za-z0-9._-]*$/.test(piece)) return undefined
        open = open.map((o) => o + piece)
        continue
      }
      const inner = numbers(piece.slice(1, -1), HOSTS_MAX)
      if (!inner || inner.length * open.length > HOSTS_MAX) return undefined
      open = open.flatMap((o) => inner.map((n) => o + n))
    }
    for (const name of open) {
      if (name === '' || name.length > NAME_MAX) return undefined
      names.add(name)
    }
    if (names.size > HOSTS_MAX) return undefined
  }
  return [...names]
}
