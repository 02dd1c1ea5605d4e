import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { expandBraces, globPattern } from './glob.ts'
import { parseCommandLine } from './words.ts'

const wordsOf = (line: string): (readonly string[])[] => {
  const steps = parseCommandLine(line)
  if (!steps.ok) throw new Error(`${line}: ${steps.error}`)
  return steps.value.map((s) => s.words)
}

describe('parseCommandLine', () => {
  it('reads words as a real shell does', () => {
    const lines = [
      `a  b\tc`,
      `'a b' "c d" e\\ f`,
      `a'b'"c"d`,
      `'' "" x`,
      `"\\" \\\\ \\x"`,
      `'\\n' \\'`,
      `a=b=c --x=1,2`,
      `'it'\\''s'`,
      `"a'b" 'c"d'`,
    ]
    for (const line of lines) {
      const out = execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' })
      expect(wordsOf(line), line).toEqual([out.split('\0').slice(0, -1)])
    }
  })

  it('joins steps by ;, newline, && and ||', () => {
    const steps = parseCommandLine('a 1; b &&c||d\n\ne ;')
    expect(steps.ok && steps.value.map((s) => [s.after, ...s.words])).toEqual([
      [';', 'a', '1'],
      [';', 'b'],
      ['&&', 'c'],
      ['||', 'd'],
      [';', 'e'],
    ])
    expect(wordsOf('  \n ')).toEqual([])
  })

  it('refuses what it would misread, by name', () => {
    for (const line of ['a | b', 'a & b', 'a > b', 'a < b', 'echo $HOME', 'echo `id`', '(a)', 'a "$x"', 'a "`id`"']) {
      const r = parseCommandLine(line)
      expect(!r.ok && r.error, line).toMatch(/not supported/)
    }
    for (const line of [`a 'b`, `a "b`])
      expect(parseCommandLine(line)).toEqual({ ok: false, error: 'Unterminated quoted string' })
    for (const line of ['&& a', 'a &&', 'a || ; b', 'a && && b', '; || a', 'a &&\nb']) {
      const r = parseCommandLine(line)
      expect(!r.ok && r.error, line).toMatch(/unexpected/)
    }
  })
})

describe('names of parameters', () => {
  it('have braces, also several and nested ones, taken apart in order', () => {
    expect(expandBraces('a.{b,c}.{d,e}')).toEqual(['a.b.d', 'a.b.e', 'a.c.d', 'a.c.e'])
    expect(expandBraces('a.b')).toEqual(['a.b'])
    expect(expandBraces('a.{b')).toEqual(['a.{b'])
  })

  it('match part by part, and what else a pattern holds is literal', () => {
    const matches = (word: string, name: string): boolean => globPattern(word).test(name)
    expect(matches('obdfilter.*.job_stats', 'obdfilter.t-OST0000.job_stats')).toBe(true)
    expect(matches('obdfilter.*', 'obdfilter.t-OST0000.job_stats')).toBe(false)
    expect(matches('*.OST000[0-1]', 'x.OST0001')).toBe(true)
    expect(matches('*.OST000[!0-1]', 'x.OST0001')).toBe(false)
    expect(matches('a?c', 'abc')).toBe(true)
    expect(matches('a?c', 'a.c')).toBe(false)
    expect(matches('a.c', 'abc')).toBe(false)
    expect(matches('a[', 'a[')).toBe(false)
    expect(matches('a+(b|c)$', 'aab')).toBe(false)
  })
})
