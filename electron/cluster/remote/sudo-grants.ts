/**
 * Evaluation of sudo grants: patterns of sudoers against a program and its arguments, the last match counts.
 *
 * Source: sudoers(5), "Wildcards" and "Regular expressions". Deviation: a regular expression (sudo 1.9.10) is not
 * evaluated, because it is the server's text; it counts as a match if it names the first argument. sudo itself decides
 * in the end.
 */
import type { SudoGrant } from './sudo-scope.ts'

type Token = { readonly kind: 'text'; readonly c: string } | { readonly kind: 'one' | 'any' } | SetToken
interface SetToken {
  readonly kind: 'set'
  readonly isNot: boolean
  readonly chars: string
}

function tokens(pattern: string): Token[] {
  const out: Token[] = []
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i] as string
    if (c === '\\' && i + 1 < pattern.length) out.push({ kind: 'text', c: pattern[++i] as string })
    else if (c === '*') {
      if (out.at(-1)?.kind !== 'any') out.push({ kind: 'any' })
    } else if (c === '?') out.push({ kind: 'one' })
    else if (c === '[' && pattern.indexOf(']', i + 2) > 0) {
      const end = pattern.indexOf(']', i + 2)
      const inner = pattern.slice(i + 1, end)
      const isNot = inner.startsWith('!') || inner.startsWith('^')
      out.push({ kind: 'set', isNot, chars: isNot ? inner.slice(1) : inner })
      i = end
    } else out.push({ kind: 'text', c })
  }
  return out
}

function inSet({ chars, isNot }: SetToken, c: string): boolean {
  for (let i = 0; i < chars.length; i++) {
    const isRange = chars[i + 1] === '-' && i + 2 < chars.length
    const to = isRange ? (chars[i + 2] as string) : (chars[i] as string)
    if (c >= (chars[i] as string) && c <= to) return !isNot
    if (isRange) i += 2
  }
  return isNot
}

const matchesToken = (t: Token, c: string, isPath: boolean): boolean =>
  t.kind === 'text' ? t.c === c : !(isPath && c === '/') && (t.kind === 'one' || (t.kind === 'set' && inSet(t, c)))

/**
 * fnmatch(3) as used by sudo.
 *
 * @param isPath      a wildcard does not match `/` then.
 * @complexity        O(pattern × text), without recursion: both may be a server's text.
 */
export function matchesSudoPattern(pattern: string, text: string, isPath: boolean): boolean {
  const want = tokens(pattern)
  let p = 0
  let t = 0
  let star = -1
  let from = 0
  while (t < text.length) {
    const token = want[p]
    if (token?.kind === 'any') {
      star = p++
      from = t
    } else if (token && matchesToken(token, text[t] as string, isPath)) {
      p++
      t++
    } else if (star >= 0 && !(isPath && text[from] === '/')) {
      p = star + 1
      t = ++from
    } else return false
  }
  while (want[p]?.kind === 'any') p++
  return p === want.length
}

function matchesProgram(pattern: string, program: string): boolean {
  if (pattern === 'ALL') return true
  if (pattern.endsWith('/')) return program.startsWith(pattern) && !program.slice(pattern.length).includes('/')
  return matchesSudoPattern(pattern, program, true)
}

function matchesArgs(pattern: string | undefined, args: readonly string[]): boolean {
  if (pattern === undefined) return true
  if (pattern.startsWith('^') && pattern.endsWith('$')) return args.length > 0 && pattern.includes(args[0] as string)
  return matchesSudoPattern(pattern, args.join(' '), false)
}

/** True if sudo runs `program args` as root without a password. */
export function isGranted(grants: readonly SudoGrant[], program: string, args: readonly string[]): boolean {
  const last = grants.findLast((g) => matchesProgram(g.program, program) && matchesArgs(g.args, args))
  return last !== undefined && !last.isDenied
}
