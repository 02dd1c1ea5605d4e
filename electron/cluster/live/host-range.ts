/** Ranges of host names as admins write them: `oss[01-12]`, `oss[1,3,7-9].hpc`, and commas between names. */
import { fail, ok, type Result } from '#core/base/result.ts'

const HOSTS = 512

const refuse = (text: string, why: string): Result<never> =>
  fail({ code: 'HOST_RANGE', what: `${text.slice(0, 80)} does not name servers`, why: `${text.slice(0, 80)}: ${why}` })

/** Numbers of one bracket, with leading zeros kept. */
function numbersIn(body: string): string[] | undefined {
  const out: string[] = []
  for (const part of body.split(',')) {
    const m = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part)
    if (!m) return undefined
    const [from, to] = [Number(m[1]), Number(m[2] ?? m[1])]
    if (to < from || to - from >= HOSTS) return undefined
    const width = (m[1] as string).length
    for (let n = from; n <= to; n++) out.push(String(n).padStart(width, '0'))
    if (out.length > HOSTS) return undefined
  }
  return out
}

/** Splits at commas that stand outside of brackets. */
function words(text: string): string[] {
  const out: string[] = []
  let depth = 0
  let word = ''
  for (const c of text) {
    if (c === '[') depth++
    if (c === ']') depth--
    if (c === ',' && depth === 0) {
      out.push(word)
      word = ''
    } else word += c
  }
  return [...out, word].map((w) => w.trim()).filter((w) => w !== '')
}

/** The names of a range, in order; at most 512. Failure: HOST_RANGE. */
export function expandHosts(text: string): Result<string[]> {
  const out: string[] = []
  for (const word of words(text)) {
    let names = ['']
    for (const piece of word.split(/(\[[^\][]*\])/)) {
      if (piece === '') continue
      const isRange = piece.startsWith('[') && piece.endsWith(']')
      const next = isRange ? numbersIn(piece.slice(1, -1)) : /[[\]]/.test(piece) ? undefined : [piece]
      if (!next) return refuse(text, `${piece.slice(0, 40)} is no range; \`[01-12]\` and \`[1,3,7-9]\` are`)
      if (names.length * next.length > HOSTS) return refuse(text, `more than ${HOSTS} servers`)
      names = names.flatMap((name) => next.map((n) => name + n))
    }
    out.push(...names)
    if (out.length > HOSTS) return refuse(text, `more than ${HOSTS} servers`)
  }
  return out.length === 0 ? refuse(text, 'it is empty') : ok(out)
}
