import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { expandBraces, globPattern } from '../glob.ts'
import { parseCommandLine, type PathGlob } from './command-line.ts'

const wordsOf = (line: string, glob?: PathGlob): (readonly string[])[] => {
  const steps = parseCommandLine(line, glob)
  if (!steps.ok) throw new Error(`${line}: ${steps.error}`)
  return steps.value.map((s) => s.words)
}

const refusal = (line: string): string => {
  const r = parseCommandLine(line)
  if (r.ok) throw new Error(`${line} is accepted`)
  return r.error
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
      `a{b,c}d{e,f} {x} 'a{b,c}' a{b,'c,d'} a\\{b,c}`,
      `x{a,{b,c}}y {,} a#b # a comment`,
      `nid={*@nosuch} obdfilter.*.stats [a-b]`,
    ]
    for (const line of lines) {
      const out = execFileSync('bash', ['--norc', '-c', `printf '%s\\0' ${line}`], {
        encoding: 'utf8',
        cwd: '/sys',
        input: '',
      })
      expect(wordsOf(`echo ${line}`), line).toEqual([['echo', ...out.split('\0').slice(0, -1)]])
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
    expect(wordsOf('# nothing\na')).toEqual([['a']])
  })

  it('keeps pipes and redirections with their commands', () => {
    expect(parseCommandLine('a x 2>&1 | b -c | d >/x; e </dev/null 2>>"/y z" 1>&2 3')).toEqual({
      ok: true,
      value: [
        {
          words: ['a', 'x'],
          redirections: [{ fd: 2, to: '&1' }],
          after: ';',
          pipe: [{ words: ['b', '-c'] }, { words: ['d'], redirections: [{ fd: 1, to: '/x' }] }],
        },
        {
          words: ['e', '3'],
          redirections: [
            { fd: 0, to: '/dev/null' },
            { fd: 2, to: '/y z' },
            { fd: 1, to: '&2' },
          ],
          after: ';',
        },
      ],
    })
    expect(wordsOf("echo a2>/x '2'>/x")).toEqual([['echo', 'a2', '2']])
  })

  it('reads subshells and the text after them', () => {
    const steps = parseCommandLine("(a ')';(b)|c) </dev/null 2>&1 && d; X=1 Y='2 3'")
    expect(steps.ok && steps.value).toMatchObject([
      {
        words: [],
        group: [{ words: ['a', ')'] }, { group: [{ words: ['b'] }], pipe: [{ words: ['c'] }] }],
        redirections: [
          { fd: 0, to: '/dev/null' },
          { fd: 2, to: '&1' },
        ],
      },
      { words: ['d'], after: '&&' },
      { words: [] },
    ])
  })

  it('asks for the paths of absolute patterns only, and keeps the word where there are none', () => {
    const patterns: string[] = []
    const glob: PathGlob = (pattern) => {
      patterns.push(pattern)
      return pattern === '/p/*' ? ['/p/a', '/p/b'] : []
    }
    expect(wordsOf(`cat /p/* '/p/*' /q/? x/* /p/\\* /{p,q}/*`, glob)).toEqual([
      ['cat', '/p/a', '/p/b', '/p/*', '/q/?', 'x/*', '/p/*', '/p/a', '/p/b', '/q/*'],
    ])
    expect(patterns).toEqual(['/p/*', '/q/?', '/p/*', '/q/*'])
  })

  it('refuses what it would misread, by name', () => {
    const lines = [
      'a & b',
      'a |& b',
      'a << b',
      'a <(b)',
      'a >| b',
      'a &>/x',
      'a 3>/x',
      'a >&-',
      'echo $HOME',
      'echo `id`',
      'a "$x"',
      'a "`id`"',
      'for x in a',
      'if a',
      '! a',
      '{ a; }',
      'time a',
      'A=1 b',
      'cat ~/x',
    ]
    for (const line of lines) expect(refusal(line), line).toMatch(/not supported/)
    for (const line of ['a (b)', '(a) b', '()', 'a)', '(a', '(a;b', '(a &&)'])
      expect(refusal(line), line).toMatch(/unexpected/)
    for (const line of [`a 'b`, `a "b`]) expect(refusal(line)).toBe('Unterminated quoted string')
    const broken = [
      '&& a',
      'a &&',
      'a || ; b',
      'a && && b',
      '; || a',
      'a &&\nb',
      'a |',
      '| a',
      'a | | b',
      'a >',
      'a > | b',
    ]
    for (const line of broken) expect(refusal(line), line).toMatch(/unexpected/)
  })
})

describe('names of parameters', () => {
  const braces = (text: string): string[] => expandBraces({ text }).map((w) => w.text)

  it('have braces, also several and nested ones, taken apart in order', () => {
    expect(braces('a.{b,c}.{d,e}')).toEqual(['a.b.d', 'a.b.e', 'a.c.d', 'a.c.e'])
    expect(braces('x{a,b{c,d}}y')).toEqual(['xay', 'xbcy', 'xbdy'])
    expect(braces('a.b')).toEqual(['a.b'])
    expect(braces('a{b}c{,d}')).toEqual(['abc', 'abcd'])
    expect(braces('a.{b')).toEqual(['a.{b'])
    expect(braces('a.b}{c,d}')).toEqual(['a.b}c', 'a.b}d'])
  })

  it('match part by part, and what else a pattern holds is literal', () => {
    const matches = (word: string, name: string): boolean => globPattern(word).test(name)
    expect(matches('*OST000[0-1]', 'testfs-OST0001')).toBe(true)
    expect(matches('OST000[!0-1]', 'OST0001')).toBe(false)
    expect(matches('OST000[^0-1]', 'OST0002')).toBe(true)
    expect(matches('[]x]', ']')).toBe(true)
    expect(matches('a?c', 'abc')).toBe(true)
    expect(matches('a.c', 'abc')).toBe(false)
    expect(matches('a[', 'a[')).toBe(true)
    expect(matches('[z-a]', 'b')).toBe(false)
    expect(matches('a\\*', 'a*')).toBe(true)
    expect(matches('a\\*', 'ab')).toBe(false)
    expect(matches('a+(b|c)$', 'aab')).toBe(false)
    expect(matches('a+(b|c)$', 'a+(b|c)$')).toBe(true)
  })
})
