/**
 * Host lists as abbreviated by batch systems and admins, and for display: `oss[01-12]`, `n[1,3,7-9].hpc`, several brackets per name.
 *
 * Source: Slurm's hostlist expressions, clush and pdsh. Leading zeros give the width. Bounded: the text is untrusted.
 */

/** Splits at commas outside brackets. */
export function splitHostList(text: string): string[] {
  const out: string[] = []
  let depth = 0
  let from = 0
  for (let i = 0; i <= text.length; i++) {
    const c = text[i]
    if (c === '[') depth++
    else if (c === ']') depth--
    if (c === undefined || (c === ',' && depth === 0)) {
      out.push(text.slice(from, i))
      from = i + 1
    }
  }
  return out
}

/** Returns the numbers in one bracket as texts; undefined if it is not a list of numbers and ranges, or has more than `most`. */
function numbersOf(inner: string, most: number): string[] | undefined {
  const out: string[] = []
  for (const range of inner.split(',')) {
    const [, first, last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(range) ?? []
    if (first === undefined || last === undefined) return undefined
    const a = Number(first)
    const b = Number(last)
    if (b < a || out.length + b - a >= most) return undefined
    for (let n = a; n <= b; n++) out.push(String(n).padStart(first.length, '0'))
  }
  return out
}

/** Reason why a name cannot be expanded: an invalid bracket, or too many names. */
export interface HostListFault {
  readonly reason: 'bracket' | 'count'
  readonly piece: string
}

/** Returns the names that one expression expands to, at most `most`. */
export function expandHostName(word: string, most: number): readonly string[] | HostListFault {
  let names = ['']
  for (const piece of word.split(/(\[[^\][]*\])/)) {
    if (piece === '') continue
    const isBracket = piece.startsWith('[') && piece.endsWith(']')
    const tails = isBracket ? numbersOf(piece.slice(1, -1), most) : /[[\]]/.test(piece) ? undefined : [piece]
    if (!tails) return { reason: 'bracket', piece }
    if (names.length * tails.length > most) return { reason: 'count', piece }
    names = names.flatMap((name) => tails.map((tail) => name + tail))
  }
  return names
}

/** Hosts with consecutive numbers, first to last. */
export interface HostRun {
  readonly hosts: readonly string[]
  readonly stem: string
  /** Digits of the first and the last host. */
  readonly from: string
  readonly to: string
  readonly tail: string
}

/** Joins hosts that differ only by a consecutive number, in their order. */
export function foldHosts(hosts: readonly string[]): HostRun[] {
  const runs: HostRun[] = []
  for (const host of hosts) {
    const [, stem = host, digits = '', tail = ''] = /^([^.]*?)(\d+)(\..*)?$/.exec(host) ?? []
    const run = runs.at(-1)
    const follows =
      run !== undefined &&
      digits !== '' &&
      run.to !== '' &&
      run.stem === stem &&
      run.tail === tail &&
      Number(digits) === Number(run.to) + 1 &&
      (run.to.length === digits.length || !run.to.startsWith('0'))
    if (follows) runs[runs.length - 1] = { ...run, hosts: [...run.hosts, host], to: digits }
    else runs.push({ hosts: [host], stem, from: digits, to: digits, tail })
  }
  return runs
}

/** Formats runs of three or more by their ends, other hosts by name: `oss01 to oss04, oss07`. */
export const shortHosts = (hosts: readonly string[], ofRun: (run: HostRun) => string): string =>
  foldHosts(hosts)
    .flatMap((run) => (run.hosts.length < 3 ? run.hosts : [ofRun(run)]))
    .join(', ')
