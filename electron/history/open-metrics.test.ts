import { expect, it } from 'vitest'
import { PLANE_TABLES, planeTable, type PlaneTable } from '#core/series/plane-tables.ts'
import type { History } from './history.ts'
import { openMetrics, planeMetrics } from './open-metrics.ts'
import { planeRow } from '#tests/kits/electron/history/plane-samples.ts'
import { facts, newFile, NOW, openAt } from '#tests/kits/electron/history/samples.ts'

const TABLES: readonly PlaneTable[] = PLANE_TABLES
const SAMPLE = /^([a-z][a-z0-9_]*)(\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*\}) (-?[\d.]+(?:e[+-]?\d+)?) (\d+\.\d{3})$/

interface Parsed {
  readonly unit: string
  readonly help: string
  readonly samples: Map<string, number>
}

/** Reads OpenMetrics text as its grammar demands: one block per family, metadata first, no sample twice. */
function parse(text: string): Map<string, Parsed> {
  const families = new Map<string, Parsed>()
  const lines = text.split('\n')
  expect(lines.slice(-2)).toEqual(['# EOF', ''])
  let name = ''
  let unit = ''
  let help = ''
  for (const line of lines.slice(0, -2)) {
    const [, kind, of, rest] = /^# (TYPE|UNIT|HELP) (\S+) (.+)$/.exec(line) ?? []
    if (kind === 'TYPE') {
      name = of ?? ''
      unit = ''
      expect(families.has(name), name).toBe(false)
      expect(rest).toBe('gauge')
    } else if (kind === 'UNIT') {
      unit = rest ?? ''
      expect(name.endsWith(`_${unit}`), line).toBe(true)
    } else if (kind === 'HELP') {
      help = rest ?? ''
      expect(of).toBe(name)
      families.set(name, { unit, help, samples: new Map() })
    } else {
      const [, of, labels = '', value] = SAMPLE.exec(line) ?? []
      expect(of, line).toBe(name)
      const { samples } = families.get(name) as Parsed
      expect(samples.has(labels), line).toBe(false)
      samples.set(labels, Number(value))
    }
  }
  return families
}

function historyOf(write: (history: History) => void): Map<string, Parsed> {
  const history = openAt(newFile())
  history.beginSource('LIVE', 'altair', '', NOW)
  history.record(NOW, [], [], facts)
  write(history)
  history.flush()
  const text = openMetrics(history.reader(), { nowMs: NOW + 500, jobs: 1 })
  history.close()
  return parse(text)
}

it('every column of every plane is a metric with the unit of its name, and its own value', () => {
  const families = historyOf((history) => {
    for (const { id, columns } of TABLES)
      history.recordPlane(id as (typeof PLANE_TABLES)[number]['id'], NOW, [
        { name: 'a', place: 'p', jobId: 'j', values: columns.map((_, i) => i + 1) },
      ])
  })
  for (const table of TABLES) {
    for (const { name, column, scale, number, unit } of planeMetrics(table)) {
      const labels = ['cluster="altair"', 'name="a"']
      if (table.placeIs !== '') labels.push('place="p"')
      if (table.hasJob) labels.push('job="j"')
      if (number !== undefined) labels.push(`check="${number}"`)
      expect(families.get(name)?.samples.get(`{${labels.join(',')}}`), name).toBeCloseTo((column + 1) * scale, 9)
      expect(families.get(name)?.unit).toBe(unit)
    }
  }
  const columns = TABLES.flatMap((table) => table.columns)
  expect([...families.values()].reduce((n, { samples }) => n + samples.size, 0)).toBe(columns.length)
})

it('metrics are named as Prometheus does: base units last, one name for what differs in a label', () => {
  const names = TABLES.flatMap((table) => planeMetrics(table).map(({ name }) => name))
  for (const name of [
    'sluice_lock_resource_grants_per_second',
    'sluice_lock_resource_wait_p95_seconds',
    'sluice_lock_server_convoy_ratio',
    'sluice_metadata_job_waited_seconds_per_second',
    'sluice_metadata_channel_waited_ratio',
    'sluice_token_client_used_tokens',
    'sluice_token_node_epoch',
  ])
    expect(names).toContain(name)
  expect(names.filter((name) => name === 'sluice_token_node_pool_check_tokens')).toHaveLength(10)
  expect(new Set(names).size).toBe(names.length - 9)
})

it('the number of samples is bounded by the tables, whatever the number of series', () => {
  const { most } = planeTable('lock_resources')
  const families = historyOf((history) => {
    const rows = Array.from({ length: 2000 }, (_, i) =>
      planeRow('lock_resources', { name: `r${i}`, place: 'ls0' }, { grants_per_s: i + 1 }),
    )
    history.recordPlane('lock_resources', NOW, rows)
  })
  const samples = families.get('sluice_lock_resource_grants_per_second')?.samples ?? new Map<string, number>()
  expect(samples.size).toBe(most + 1)
  expect([...samples.values()].reduce((a, b) => a + b, 0)).toBe((2000 * 2001) / 2)
})

it('attack: names that a label cannot tell apart are one sample, and quotes stay inside', () => {
  const names = ['x\u0001', 'x\u0002', 'a"} 1\n# EOF', 'back\\slash']
  const families = historyOf((history) => {
    const rows = names.map((name) => planeRow('token_clients', { name, place: 'dn', jobId: name }, { used_pool: 1 }))
    history.recordPlane('token_clients', NOW, rows)
  })
  expect(families.get('sluice_token_client_used_pool_tokens')?.samples.size).toBe(3)
})

it('rows older than a minute are not exported', () => {
  const history = openAt(newFile())
  history.beginSource('LIVE', 'altair', '', NOW)
  history.record(NOW, [], [], facts)
  history.recordPlane('lock_servers', NOW, [planeRow('lock_servers', { name: 's' }, { holders: 1 })])
  history.flush()
  const at = (nowMs: number): string => openMetrics(history.reader(), { nowMs, jobs: 1 })
  expect(at(NOW + 59_000)).toContain('sluice_lock_server_holders{')
  expect(at(NOW + 3_600_000)).toBe('# EOF\n')
  history.close()
})
