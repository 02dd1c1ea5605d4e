/** The tables of alerts in docs/incidents.md: one row per rule of the registry, by plane. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { KINDS, RULES, type RuleFacts } from '#core/alerts/rules.ts'

const text = readFileSync(join(import.meta.dirname, '../../docs/incidents.md'), 'utf8')

function rowOf({ title, about, unit, clear, holdS, usual }: RuleFacts): string {
  const begins = usual.forS === 0 ? 'immediate' : `${usual.forS} s`
  const level = clear === 0 ? 'at 0' : `below ${clear * usual.threshold}`
  const ends = holdS === 0 ? level : `${level} for ${holdS} s`
  return `| ${title} | ${about} | ${usual.threshold} ${unit} | ${begins} | ${ends} |`
}

it('list every alert with its measure, default threshold, duration and end', () => {
  const rows = text.split('\n').filter((line) => KINDS.some((k) => line.startsWith(`| ${RULES[k].title} |`)))
  expect(rows).toEqual(KINDS.map((k) => rowOf(RULES[k])))
})
