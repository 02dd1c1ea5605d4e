/**
 * Text tools used after lctl in a pipe: grep, head, tail, wc, sort, uniq, cat, echo, printf.
 *
 * They support the options below, work on bytes in the C locale, and refuse every other option by name.
 */
import type { ByteText } from '../../lustre/text.ts'
import { done, exitWith } from '../exec.ts'
import { grep } from './grep.ts'
import { linesOf, readAll, unknownOption, type TextTool } from './text-input.ts'

const joined = (lines: readonly string[]): ByteText => lines.map((l) => `${l}\n`).join('')

/** Tool that filters its whole input, with single-letter options without values. */
const filter =
  (tool: string, letters: string, run: (text: ByteText, has: (c: string) => boolean) => ByteText): TextTool =>
  (args, stdin, readFile) => {
    const options = args.filter((a) => a.startsWith('-') && a.length > 1)
    const wrong = options.find((o) => ![...o.slice(1)].every((c) => letters.includes(c)))
    if (wrong !== undefined) return unknownOption(tool, wrong)
    const files = args.filter((a) => !options.includes(a))
    const { texts, stderr } = readAll(tool, files, stdin, readFile)
    const text = texts.map((t) => t.text).join('')
    return exitWith(
      stderr === '' ? 0 : 1,
      stderr,
      run(text, (c) => options.some((o) => o.includes(c))),
    )
  }

/** `head` and `tail`: `-N`, `-n N`, `-c N`; default ten lines. */
const ends =
  (tool: 'head' | 'tail'): TextTool =>
  (args, stdin, readFile) => {
    let unit: 'lines' | 'bytes' = 'lines'
    let count = 10
    const files: string[] = []
    for (let i = 0; i < args.length; i++) {
      const m = /^-(?:([nc])?(\d+)|([nc]))$/.exec(args[i] as string)
      if (!m) {
        if ((args[i] as string).startsWith('-') && args[i] !== '-') return unknownOption(tool, args[i] as string)
        files.push(args[i] as string)
        continue
      }
      unit = (m[1] ?? m[3]) === 'c' ? 'bytes' : 'lines'
      const number = m[2] ?? args[++i] ?? ''
      if (!/^\d+$/.test(number)) return unknownOption(tool, `-${m[3] ?? ''} ${number}`)
      count = Number(number)
    }
    if (files.length > 1) return unknownOption(tool, 'more than one file')
    const { texts, stderr } = readAll(tool, files, stdin, readFile)
    const text = texts[0]?.text ?? ''
    const cut = <T extends string | string[]>(all: T): T =>
      (tool === 'head' ? all.slice(0, count) : count === 0 ? all.slice(0, 0) : all.slice(-count)) as T
    return exitWith(stderr === '' ? 0 : 1, stderr, unit === 'bytes' ? cut(text) : joined(cut(linesOf(text))))
  }

const sort = filter('sort', 'rnu', (text, has) => {
  const lines = linesOf(text)
  const number = (l: string): number => Number.parseFloat(l) || 0
  lines.sort((a, b) => (has('n') ? number(a) - number(b) : 0) || (a < b ? -1 : a > b ? 1 : 0))
  if (has('r')) lines.reverse()
  return joined(has('u') ? lines.filter((l, i) => l !== lines[i - 1]) : lines)
})

const uniq = filter('uniq', 'cd', (text, has) => {
  const runs: { line: string; count: number }[] = []
  for (const line of linesOf(text)) {
    const last = runs.at(-1)
    if (last?.line === line) last.count++
    else runs.push({ line, count: 1 })
  }
  const printed = has('d') ? runs.filter((r) => r.count > 1) : runs
  return joined(printed.map((r) => (has('c') ? `${String(r.count).padStart(7)} ${r.line}` : r.line)))
})

const wc: TextTool = (args, stdin, readFile) => {
  const letter = args[0] === '-l' ? 'l' : args[0] === '-c' ? 'c' : undefined
  if (letter === undefined || args.length > 2) return unknownOption('wc', args.join(' '))
  const { texts, stderr } = readAll('wc', args.slice(1), stdin, readFile)
  const counted = texts.map(({ path, text }) => {
    const n = letter === 'c' ? text.length : text.split('\n').length - 1
    return path === '-' ? `${n}\n` : `${n} ${path}\n`
  })
  return exitWith(stderr === '' ? 0 : 1, stderr, counted.join(''))
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\', '"': '"' }

/** Backslash escapes of printf and `echo -e`; \xHH and \0NNN are bytes. */
const unescape = (text: string): string =>
  text.replace(/\\(?:x([0-9a-fA-F]{1,2})|0([0-7]{1,3})|([ntr"\\]))/g, (_, hex?: string, oct?: string, c?: string) =>
    hex !== undefined
      ? String.fromCharCode(Number.parseInt(hex, 16))
      : oct !== undefined
        ? String.fromCharCode(Number.parseInt(oct, 8) & 0xff)
        : (ESCAPES[c ?? ''] ?? ''),
  )

const echo: TextTool = (args) => {
  let from = 0
  while (/^-[neE]+$/.test(args[from] ?? '')) from++
  const options = args.slice(0, from).join('')
  const text = args.slice(from).join(' ')
  return done(`${options.includes('e') ? unescape(text) : text}${options.includes('n') ? '' : '\n'}`)
}

const printf: TextTool = ([format, ...args]) => {
  if (format === undefined) return exitWith(2, 'printf: usage: printf format [arguments]\n')
  const wrong = /%.?/.exec(format.replace(/%[sd%]/g, ''))
  if (wrong) return unknownOption('printf', wrong[0])
  let next = 0
  let stdout = ''
  do {
    stdout += unescape(format).replace(/%([sd%])/g, (_, c: string) =>
      c === '%' ? '%' : (args[next++] ?? (c === 'd' ? '0' : '')),
    )
  } while (next > 0 && next < args.length)
  return done(stdout)
}

export const TEXT_TOOLS: Readonly<Record<string, TextTool>> = {
  grep,
  head: ends('head'),
  tail: ends('tail'),
  wc,
  sort,
  uniq,
  cat: filter('cat', '', (text) => text),
  echo,
  printf,
}
