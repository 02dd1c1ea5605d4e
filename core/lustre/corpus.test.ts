/** Parses all recorded output of real servers completely, including bytes that are not UTF-8. */
import { describe, expect, it } from 'vitest'
import { bytesOf, CORPUS, corpusRecords, printedParams } from '../../tests/corpus.ts'
import { formatJobId, parseJobId } from './job-id.ts'
import type { JobEntry } from './job-entry.ts'
import { JobStatsScanner } from './job-stats-scanner.ts'
import { JobStatsReader } from './job-stats-reader.ts'
import { parseJobStats } from './job-stats.ts'
import { parseNrsPolicies } from './nrs-policies.ts'
import { parseNrsTbfRule } from './nrs-tbf-rule.ts'
import { profile } from './profile.ts'
import { parseStatsTable } from './stats-table.ts'
import { parseVersion } from './version.ts'

if (CORPUS === '') console.log('corpus.test.ts: skipped, SLUICE_CORPUS does not name a folder of answers')

interface Scanned {
  readonly tables: { readonly param: string | undefined; readonly entries: JobEntry[] }[]
  readonly skipped: readonly unknown[]
}

function scan(text: string, size: number): Scanned {
  const tables: Scanned['tables'] = []
  const scanner = new JobStatsScanner(
    {
      target: (param) => void tables.push({ param, entries: [] }),
      entry: (e) => void tables.at(-1)?.entries.push(e),
    },
    { zeros: true },
  )
  const bytes = Buffer.from(text, 'latin1')
  for (let at = 0; at < bytes.length; at += size) scanner.push(bytes.subarray(at, at + size))
  scanner.end()
  return { tables, skipped: scanner.skipped.lines }
}

/** Reference parser for entries: splits every line at its separators. */
function plainly(text: string): object[] {
  const entries: { id: string; times: string[]; counters: string[][] }[] = []
  for (const line of text.split('\n').map((l) => l.replace(/^[\w.-]+\.job_stats=(?=.)/, ''))) {
    if (line.startsWith('- job_id:')) entries.push({ id: line.slice(19), times: [], counters: [] })
    const m = /^ {2}(\w+): +(.*)$/.exec(line)
    if (!m) continue
    const [, name = '', value = ''] = m
    if (value.startsWith('{')) entries.at(-1)?.counters.push([name, ...value.split(/[{}:, ]+/).filter((w) => w !== '')])
    else entries.at(-1)?.times.push(value.split(' ')[0] ?? '')
  }
  return entries
}

const asPlain = (e: JobEntry, printedId: string): object => ({
  id: printedId,
  times: [e.snapshotTime, e.startTime, e.elapsedTime].filter((t) => t !== undefined && t !== ''),
  counters: [...e.counters].map(([name, c]) => [
    name,
    ...c.fields.flatMap((f) => {
      if (f !== 'hist') return [f, f === 'unit' ? c.unit : (c.exact?.get(f) ?? String(c[f]))]
      return [f, ...[...(c.hist ?? [])].flatMap(([bin, n]) => [labelOf(bin), String(n)])]
    }),
  ]),
})
const labelOf = (bin: number): string => `${2 ** (bin % 10)}${['', 'K', 'M', 'G'][Math.floor(bin / 10)] ?? ''}`

describe.skipIf(CORPUS === '')('answers of real servers', () => {
  const answers = corpusRecords().map((r) => ({ ...r, text: bytesOf(r.stdout) }))
  const params = printedParams()
  const of = (...attributes: string[]): typeof params =>
    params.filter(({ name }) => attributes.some((a) => name.endsWith(`.${a}`)))
  const files = new Set(answers.map((r) => r.file))

  it('are at hand', () => {
    expect(files.size).toBeGreaterThan(0)
    for (const a of ['job_stats', 'nrs_policies', 'nrs_tbf_rule', 'stats']) expect(of(a).length).toBeGreaterThan(0)
  })

  it('that have jobs in them are read to the last digit, in chunks of any size', () => {
    const withJobs = answers.filter((r) => r.text.includes('- job_id:'))
    expect(new Set(withJobs.map((r) => r.file))).toEqual(files)
    let odd = 0
    for (const { file, id, text } of withJobs) {
      const { tables, skipped } = scan(text, 65_536)
      expect(skipped, `${file} ${id}`).toEqual([])
      const entries = tables.flatMap((t) => t.entries)
      const plain = plainly(text) as { id: string }[]
      expect(entries.length, `${file} ${id}`).toBe(plain.length)
      entries.forEach((e, i) => {
        const printedId = plain[i]?.id ?? ''
        expect(asPlain(e, printedId), `${file} ${id}`).toEqual(plain[i])
        expect(e.jobId).toBe(parseJobId(printedId))
        if (Buffer.from(Buffer.from(printedId, 'latin1').toString('utf8')).toString('latin1') !== printedId) odd++
      })
      for (const size of [1, 7, 1000]) {
        if (text.length < 200_000 || size > 7) expect(scan(text, size), `${file} ${id}`).toEqual({ tables, skipped })
      }
    }
    // Ids whose printed bytes are not UTF-8.
    expect(odd).toBeGreaterThan(5)
  })

  it('of several targets are distinguished by name', () => {
    let several = 0
    for (const r of answers) {
      if (r.exit !== 0 || !/^lctl get_param '\S*\*\S*job_stats'$/.test(r.command)) continue
      const names = r.text.split('\n').flatMap((l) => /^(\S+\.job_stats)=/.exec(l)?.[1] ?? [])
      expect(
        scan(r.text, 65_536).tables.map((t) => t.param),
        `${r.file} ${r.id}`,
      ).toEqual(names)
      if (names.length > 1) several++
    }
    expect(several).toBeGreaterThan(5)
  })

  it('of job_stats are read by the console as by the scanner', () => {
    let jobs = 0
    for (const { at, value } of of('job_stats')) {
      const parsed = parseJobStats(value)
      expect(parsed.skipped, at).toEqual([])
      const reader = new JobStatsReader()
      for (let i = 0; i < 2; i++) expect(reader.read(value), at).toEqual(parsed)
      jobs += parsed.entries.length
    }
    expect(jobs).toBeGreaterThan(0)
  })

  it('of job_stats since 2.16 name jobs as this program would', () => {
    for (const { at, value, profile: p } of of('job_stats')) {
      if (p.release === '2.15') continue
      for (const line of value.split('\n').filter((l) => l.startsWith('- job_id:'))) {
        const printed = line.slice('- job_id:          '.length)
        expect(formatJobId(parseJobId(printed), profile('dev').text.jobStats.ids), at).toBe(printed)
      }
    }
  })

  it('of stats, md_stats and their likes are read to the last line', () => {
    let rows = 0
    for (const { at, value } of of('stats', 'md_stats', 'ldlm_stats', 'pool.stats')) {
      const table = parseStatsTable(value)
      expect(table.skipped, at).toEqual([])
      rows += table.rows.length
    }
    expect(rows).toBeGreaterThan(100)
  })

  it('of nrs_policies are read to the last line', () => {
    for (const { at, value } of of('nrs_policies')) {
      const { policies, skipped } = parseNrsPolicies(value)
      expect(skipped, at).toEqual([])
      expect(policies.length, at).toBe(value.split('\n').filter((l) => l.includes('- name:')).length)
      for (const p of policies) expect(p.state, at).not.toBe('')
    }
  })

  it('of nrs_tbf_rule are read to the last line', () => {
    for (const { at, value } of of('nrs_tbf_rule')) {
      const { rules, skipped } = parseNrsTbfRule(value)
      expect(skipped, at).toEqual([])
      expect(rules.length, at).toBe(value.split('\n').filter((l) => l.includes(', ref ')).length)
    }
  })

  it('of version hold a version', () => {
    for (const { at, value } of params.filter(({ name }) => name === 'version')) {
      expect(parseVersion(value), at).toMatchObject({ major: 2 })
    }
  })
})
