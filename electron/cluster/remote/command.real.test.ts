import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { setParamCommand } from '#core/lustre/lctl.ts'
import { SERVICES } from '../../base/service.ts'
import { readLine } from './command.ts'

const RULES = SERVICES.ost_io.rules

/** Bytes that are special to a shell are frequent. */
const hostileId = fc.string({
  unit: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...'\'"`$\\;|&<>(){}[]*?!#~=% \t\n\r-a1.@_') },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 255 }).map((c) => String.fromCharCode(c)) },
  ),
  minLength: 1,
  maxLength: 40,
})

/** Arguments as they arrive in a real sh, in bytes. */
function argvOf(words: string): string[] {
  const script = Buffer.from(`for w in ${words}; do printf '%s\\0' "$w"; done`, 'latin1')
  return execFileSync('/bin/sh', [], { input: script }).toString('latin1').split('\0').slice(0, -1)
}

describe('exploit: job ids that are shell code', () => {
  // One id per rule, through the text of the rule and the quoting that all commands use; 10,000 of them.
  const ids = fc.sample(hostileId, { numRuns: 10_000, seed: 20_261_121 })
  const rule = (id: string): string => `reg start sl_x jobid={${id}} rate=5`

  it('arrive in the argv of a real sh as they were, every byte', () => {
    for (let i = 0; i < ids.length; i += 500) {
      const values = ids.slice(i, i + 500).map(rule)
      const words = values.map((v) => setParamCommand(RULES, v).slice('lctl set_param '.length))
      expect(argvOf(words.join(' '))).toEqual(values.map((v) => `${RULES}=${v}`))
    }
  })
})

describe('words of a line', () => {
  it('are those that a real sh sees, or none at all', () => {
    const piece = fc.constantFrom(
      'lctl',
      "'",
      "\\'",
      ' ',
      '; ',
      'a=b',
      '$x',
      '`',
      '"',
      '*',
      '\\',
      '~',
      '#',
      "'a b'",
      "'$(x)'",
      '-n',
    )
    const lines = fc.sample(
      fc.array(piece, { minLength: 1, maxLength: 8 }).map((p) => p.join('')),
      { numRuns: 4000, seed: 7 },
    )
    const read = lines.flatMap((line) => {
      const commands = readLine(line)
      return commands?.length === 1 && commands[0] ? [{ line, words: commands[0].map((w) => w.text) }] : []
    })
    expect(read.length).toBeGreaterThan(100)
    const seen = argvOf(read.map((r) => `${r.line} END`).join(' '))
    expect(seen).toEqual(read.flatMap((r) => [...r.words, 'END']))
  })
})
