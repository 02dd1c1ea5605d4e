/**
 * Answers of real servers, where they are at hand: SLUICE_CORPUS names a folder of *.jsonl, one record a line with
 * `command`, `exit` and `stdout` as { text } or { b64 }.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatJobId, parseJobId } from './job-id.ts'
import { parseJobStats } from './job-stats.ts'
import { splitParams } from './lctl.ts'
import { parseNrsPolicies } from './nrs-policies.ts'
import { parseNrsTbfRule } from './nrs-tbf-rule.ts'
import { parseVersion } from './version.ts'

interface AnswerRecord {
  id: string
  lustre: string
  command: string
  exit: number
  stdout: { text?: string; b64?: string }
}

const folder = process.env.SLUICE_CORPUS ?? ''
const files = folder === '' ? [] : readdirSync(folder).filter((f) => f.endsWith('.jsonl'))
if (folder === '') console.log('corpus.test.ts: skipped, SLUICE_CORPUS does not name a folder of answers')

/** Output as bytes, one char code each. */
const bytesOf = ({ text, b64 }: AnswerRecord['stdout']): string =>
  b64 === undefined ? Buffer.from(text ?? '', 'utf8').toString('latin1') : Buffer.from(b64, 'base64').toString('latin1')

// Options change the layout, and a pipe or a second command is not lctl's answer alone.
const isPlainRead = (r: AnswerRecord): boolean =>
  r.exit === 0 && /^(?:\/usr\/sbin\/)?lctl get_param (?!-)/.test(r.command) && !/[|;&<>]/.test(r.command)

describe.skipIf(folder === '')('answers of real servers', () => {
  const records = files.flatMap((file) =>
    readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => ({ file, ...(JSON.parse(line) as AnswerRecord) })),
  )
  const values = records
    .filter(isPlainRead)
    .flatMap((r) =>
      [...splitParams(bytesOf(r.stdout))].map(([name, value]) => ({ at: `${r.file} ${r.id}`, name, value })),
    )
  const of = (attribute: string): typeof values => values.filter(({ name }) => name.endsWith(`.${attribute}`))

  it('are at hand', () => {
    expect(files.length).toBeGreaterThan(0)
    for (const a of ['job_stats', 'nrs_policies', 'nrs_tbf_rule']) expect(of(a).length).toBeGreaterThan(0)
  })

  it('of job_stats are read to the last line', () => {
    let jobs = 0
    for (const { at, name, value } of of('job_stats')) {
      const { entries, skipped } = parseJobStats(value)
      expect(skipped, `${at} ${name}`).toEqual([])
      expect(entries.length, `${at} ${name}`).toBe(value.split('\n').filter((l) => l.startsWith('- job_id:')).length)
      jobs += entries.length
    }
    expect(jobs).toBeGreaterThan(0)
  })

  it('of job_stats since 2.16 name jobs as this program would', () => {
    for (const { at, value } of of('job_stats')) {
      if (at.startsWith('lustre-2.15')) continue
      for (const line of value.split('\n').filter((l) => l.startsWith('- job_id:'))) {
        const printed = line.slice('- job_id:          '.length)
        expect(formatJobId(parseJobId(printed)), at).toBe(printed)
      }
    }
  })

  it('of nrs_policies are read to the last line', () => {
    for (const { at, name, value } of of('nrs_policies')) {
      const { policies, skipped } = parseNrsPolicies(value)
      expect(skipped, `${at} ${name}`).toEqual([])
      expect(policies.length, `${at} ${name}`).toBe(value.split('\n').filter((l) => l.includes('- name:')).length)
      expect(
        policies.every((p) => p.state !== ''),
        `${at} ${name}`,
      ).toBe(true)
    }
  })

  it('of nrs_tbf_rule are read to the last line', () => {
    for (const { at, name, value } of of('nrs_tbf_rule')) {
      const { rules, skipped } = parseNrsTbfRule(value)
      expect(skipped, `${at} ${name}`).toEqual([])
      expect(rules.length, `${at} ${name}`).toBe(value.split('\n').filter((l) => l.includes(', ref ')).length)
    }
  })

  it('of version hold a version', () => {
    const versions = values.filter(({ name }) => name === 'version')
    for (const { at, value } of versions) expect(parseVersion(value), at).toMatchObject({ major: 2 })
  })
})
